// Recording. A Recorder writes every op on tensors that it watches into a graph, while the ops
// themselves still run on the values underneath (the primals). Recorders nest: ops on the values of
// an inner one may be recorded by an outer one, which is how transforms compose to any order. A
// recorder over abstract tensors only infers types: that is how C++ functions and composite steps
// become graphs.
#pragma once

#include <unordered_map>
#include <vector>

#include "ir/graph.h"
#include "tensor/tensor.h"

namespace mycel::runtime {

class Recorder;

// One nesting level; outlives its recorder so that a tensor that escapes is recognised as plain.
struct Level : RefCounted {
  Recorder* recorder = nullptr;  // null once closed
  int depth = 0;
};

class Traced final : public Trace {
 public:
  Ref<Level> level;
  ir::Value value;
  Tensor primal;
};

class Recorder {
 public:
  // closed: the graph is a region or function of its own. Ops on its values are not seen by outer
  // recorders, even where an operand comes from one of those.
  explicit Recorder(std::string name = "main", bool closed = false);
  ~Recorder();
  Recorder(const Recorder&) = delete;

  // A traced tensor for `primal`, which becomes a parameter of the graph.
  Tensor watch(const Tensor& primal, std::string name = {});
  // The value of a tensor in this graph. One that is not traced here becomes a captured parameter.
  ir::Value value_of(const Tensor& t);
  // Wraps results of a recorded node.
  Tensor wrap(ir::Value value, const Tensor& primal);
  // Records one op whose results on the primals are `results`.
  void record(const ir::Op& op, std::span<const Tensor> inputs, const ir::Attrs& attrs,
              Tensors& results);
  // Stops recording; traced tensors become as good as their primals.
  void close();

  bool closed() const { return closed_; }
  // Records composite ops that have a loop nest as they are, instead of what they are made of: for
  // a program that only runs. A transform of its graph expands them first.
  void keep_kernels() { keeps_kernels_ = true; }
  bool keeps_kernels() const { return keeps_kernels_; }
  // Records every composite op as it is: for a reader of the graph who looks for what the program
  // said.
  void keep_composites() { keeps_composites_ = true; }
  bool keeps_composites() const { return keeps_composites_; }
  ir::Graph& graph() { return *graph_; }
  std::shared_ptr<ir::Graph> graph_ptr() { return graph_; }
  const Ref<Level>& level() const { return level_; }
  // The tensor that a value stands for (empty for values that transforms added).
  const Tensor& primal_of(ir::Value v) const;
  // Parameters in order with what they stand for.
  const Tensors& param_primals() const { return param_primals_; }

 private:
  std::shared_ptr<ir::Graph> graph_;
  const bool closed_;
  bool keeps_kernels_ = false, keeps_composites_ = false;
  Ref<Level> level_;
  std::vector<uint32_t> first_primal_;  // by node id
  Tensors primals_;
  Tensors param_primals_;
  std::unordered_map<const TensorImpl*, ir::Value> captured_;
};

// The trace of `t` that counts: null when it has none or only closed ones; `t` is replaced by the
// primal underneath closed traces.
Traced* live_trace(Tensor& t);
// `t` as a captured parameter of the graph in which `traced` is: what is computed from it is
// recorded there instead of being done now. `t` itself where `traced` is in none, or t is traced
// already.
Tensor captured_beside(const Tensor& t, const Tensor& traced);
// The innermost live trace among the tensors, null when there is none; closed traces are looked
// through in place.
Traced* innermost_trace(Tensors& tensors);
// The tensors with those of `level` replaced by their primals; for a closed recorder, every traced
// one by its type.
Tensors primals_at(const Ref<Level>& level, const Tensors& tensors);
// Looks through all traces: the tensor with the values. May be abstract.
Tensor primal(const Tensor& t);
// primal(t), or a ValueError when the value is not known because a graph is being compiled;
// `what` names the use: "bool()", "asnumpy()".
Tensor concrete(const Tensor& t, const char* what);

}  // namespace mycel::runtime
