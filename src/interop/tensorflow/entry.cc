// The entry through which libmycel finds this library.
#include "interop/tensorflow/model.h"
#include "interop/tensorflow/record.h"
#include "interop/tensorflow_library.h"

namespace mycel::interop::tensorflow {
namespace {

std::shared_ptr<OnnxModel> parse_lite(std::string_view bytes) {
  return std::make_shared<ReadModel>(read_lite(bytes));
}

std::shared_ptr<OnnxModel> parse_graph(std::string_view bytes, const Names& inputs,
                                       const Names& outputs) {
  return std::make_shared<ReadModel>(read_graph_def(bytes, inputs, outputs));
}

std::vector<TensorflowOp> ops() {
  std::vector<TensorflowOp> out;
  for (const Record* r : all_records()) out.push_back({r->lite, r->graph, r->quantized != nullptr});
  return out;
}

constexpr TensorflowLibrary kLibrary{parse_lite, parse_graph, ops};

}  // namespace
}  // namespace mycel::interop::tensorflow

extern "C" const mycel::interop::TensorflowLibrary* mycel_tensorflow() {
  return &mycel::interop::tensorflow::kLibrary;
}
