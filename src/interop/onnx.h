// ONNX files in and out. A model that is read is a function on tensors: run op by op it can be
// watched (differentiated, traced into another graph), and `run` compiles it for the types that
// come. What reads and writes the format is in libmycel_onnx, loaded with the first call.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "interop/imported.h"
#include "ir/type.h"
#include "runtime/model_file.h"

namespace mycel::interop {

// What an input or a result may be: a tensor, a sequence of values, or nothing (an optional that is
// empty).
struct OnnxValue {
  enum class Kind : uint8_t { kNothing, kTensor, kSequence };

  Kind kind = Kind::kNothing;
  Tensor tensor;
  std::vector<OnnxValue> items;

  OnnxValue() = default;
  OnnxValue(Tensor t) : kind(Kind::kTensor), tensor(std::move(t)) {}  // NOLINT
  static OnnxValue sequence(std::vector<OnnxValue> items) {
    OnnxValue v;
    v.kind = Kind::kSequence;
    v.items = std::move(items);
    return v;
  }
};
using OnnxValues = std::vector<OnnxValue>;

struct OnnxPort {
  std::string name;
  std::string type;  // "float32[batch, 3]", "sequence of float32", …
  // Of a tensor with a known rank: what the file says of it. A dim of -1 is open, and called as
  // `symbols` says where the file gives it a name.
  bool tensor = false;
  DType dtype = DType::kFloat32;
  std::vector<int64_t> dims;
  std::vector<std::string> symbols;
  // Of TFLite's quantized tensors: real = scale (stored - zero_point); scale 0 for all others.
  double scale = 0;
  int64_t zero_point = 0;
};

class OnnxModel {
 public:
  virtual ~OnnxModel() = default;

  virtual const std::vector<OnnxPort>& inputs() const = 0;  // those without an initializer
  virtual const std::vector<OnnxPort>& outputs() const = 0;
  // Initializers that a training step may change: floats with dims whose values decide no shape.
  virtual const runtime::NamedTensors& weights() const = 0;
  // Of each weight: whether it is a statistic, not to be moved along a gradient.
  virtual const std::vector<bool>& statistics() const = 0;
  // Runs the nodes one by one. Operands and weights may be traced or abstract. `weights` as in
  // weights(), or empty: the model's own. UserError names the node.
  virtual OnnxValues evaluate(std::span<const OnnxValue> inputs,
                              std::span<const Tensor> weights = {}) const = 0;
  // Compiled for the types of the inputs, and for the values of those that decide shapes; where
  // shapes follow from what is computed, node by node. Safe to call from several threads.
  virtual OnnxValues run(std::span<const OnnxValue> inputs) = 0;
  // The model as a graph for inputs of these types, with its nodes' names: for converters. The dims
  // need not be those that the file says. UserError as `evaluate`.
  virtual ImportedGraph import_graph(std::span<const Tensor> inputs) const = 0;
  // How `run` ran the inputs of the last call: "compiled", "compiled for values of 'shape'",
  // "node by node: …".
  virtual std::string how() const = 0;
};

// UserError kOs when the file cannot be opened; kValue naming node or offset when it is damaged or
// holds what Mycel cannot run. External data is read beneath the file's folder alone.
std::shared_ptr<OnnxModel> load_onnx(const std::string& path);
// `folder`: where external data lies; "": there may be none.
std::shared_ptr<OnnxModel> parse_onnx(std::string_view bytes, const std::string& folder = "");

// Writes a traced network as a model of opset 20. UserError kUnsupported naming the op that ONNX
// has no words for; kOs when the file cannot be written, the old one stays then.
void save_onnx(const std::string& path, const runtime::TracedModel& model);

// Names of the ONNX ops that can be read, "domain::Op" outside of the default domain.
std::vector<std::string> onnx_ops();

}  // namespace mycel::interop

namespace mycel {
using interop::load_onnx;
using interop::OnnxModel;
using interop::OnnxValue;
using interop::parse_onnx;
using interop::save_onnx;
}  // namespace mycel
