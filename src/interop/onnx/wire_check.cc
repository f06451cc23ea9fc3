#include "interop/onnx/wire_check.h"

#include "interop/wire_check.h"

namespace mycel::interop::onnx {
namespace {

enum Kind : uint8_t {
  kModel,
  kGraph,
  kNode,
  kAttribute,
  kTensor,
  kSparse,
  kValueInfo,
  kType,
  kTensorType,
  kElement,
  kMap,
  kShape,
  kDimension,
  kEntry,
  kFunction,
  kOperatorSet,
  kKinds
};

// The messages of onnx.proto.
const std::vector<WireMessage>& kinds() {
  static const std::vector<WireMessage> all = [] {
    std::vector<WireMessage> m(kKinds);
    m[kModel] = {160, {{7, kGraph}, {8, kOperatorSet}, {25, kFunction}}, {}};
    m[kGraph] = {200,
                 {{1, kNode},
                  {5, kTensor},
                  {11, kValueInfo},
                  {12, kValueInfo},
                  {13, kValueInfo},
                  {15, kSparse}},
                 {}};
    m[kNode] = {136, {{5, kAttribute}}, {1, 2}};
    m[kAttribute] = {
        248,
        {{5, kTensor}, {6, kGraph}, {10, kTensor}, {11, kGraph}, {14, kType}, {22, kSparse}},
        {9}};
    m[kTensor] = {232, {{13, kEntry}}, {6}};
    m[kSparse] = {64, {{1, kTensor}, {2, kTensor}}, {}};
    m[kValueInfo] = {48, {{2, kType}}, {}};
    m[kType] = {
        32, {{1, kTensorType}, {4, kElement}, {5, kMap}, {8, kTensorType}, {9, kElement}}, {}};
    m[kTensorType] = {40, {{2, kShape}}, {}};
    m[kElement] = {32, {{1, kType}}, {}};
    m[kMap] = {40, {{2, kType}}, {}};
    m[kShape] = {48, {{1, kDimension}}, {}};
    m[kDimension] = {32, {}, {}};
    m[kEntry] = {40, {}, {}};
    m[kFunction] = {232, {{7, kNode}, {9, kOperatorSet}, {11, kAttribute}}, {4, 5, 6}};
    m[kOperatorSet] = {40, {}, {}};
    return m;
  }();
  return all;
}

}  // namespace

void check_wire(std::string_view bytes) { interop::check_wire(bytes, kinds(), "ONNX"); }

}  // namespace mycel::interop::onnx
