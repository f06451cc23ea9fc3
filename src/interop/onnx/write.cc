#include "interop/onnx/write.h"

#include <set>

#include <fmt/format.h>

#include "base/file_io.h"
#include "interop/onnx/expression.h"
#include "interop/onnx/line.h"
#include "interop/onnx/tensors.h"
#include "interop/onnx/writing.h"
#include "mycel/version.h"
#include "passes/pass.h"
#include "runtime/dispatch.h"
#include "runtime/trace.h"

namespace mycel::interop::onnx {
namespace {

constexpr int kIrVersion = 9;  // what opset 20 came with

// An op that is one ONNX op: its attributes under ONNX's names.
void write_line(const Line& line, Writing& w) {
  WrittenAttrs with;
  for (const LineAttr& a : line.attrs) {
    if (a.mycel.empty()) {
      with.emplace_back(a.onnx, a.otherwise);
      continue;
    }
    const ir::Attr& v = w.attrs[a.mycel];
    if (v.is<bool>())
      with.emplace_back(a.onnx, int64_t{v.boolean()});
    else if (v.is<int64_t>())
      with.emplace_back(a.onnx, v.integer());
    else if (v.is<double>())
      with.emplace_back(a.onnx, v.real());
    else if (v.is<std::string>())
      with.emplace_back(a.onnx, v.string());
    else if (v.is<ir::Attr::Ints>())
      with.emplace_back(a.onnx, v.ints());
    else
      w.fail("attribute '{}' = {} cannot be written", a.mycel, v.str());
  }
  std::vector<std::string> in;
  for (int i = 0; i < w.inputs(); ++i) in.push_back(w.has(i) ? w.in(i) : "");
  int results = static_cast<int>(w.node.types.size());
  std::vector<std::string> out = w.emit_many(line.name.c_str(), in, results, with);
  for (int i = 0; i < results; ++i) w.result(out[static_cast<size_t>(i)], i);
}

// ONNX computes with numbers, not with bools: those become int32, and the result what it should be.
void write_plain(Writing& w, const Line* line) {
  const ir::Op& op = *w.node.op;
  bool any_type = line && (line->name == "Equal" || line->name == "Identity");
  for (int i = 0; i < w.inputs(); ++i) {
    if (op.def.scalar.set() && !any_type && w.has(i) && is_bool(w.type(i).dtype))
      w.recast(i, DType::kInt32);
  }
  if (line)
    write_line(*line, w);
  else
    w.result(write_expression(op.def.onnx, w));
  if (!w.is_recast()) return;
  ir::Value y{const_cast<ir::Node*>(&w.node), 0};
  w.result(w.emit("Cast", {w.out.name_of(y)}, {{"to", int64_t{code_of(w.result_type().dtype)}}}));
}

void write_node(const ir::Node& n, GraphWriter& out) {
  Writing w(n, out);
  const ir::Op& op = *n.op;
  if (n.inputs.empty() && !op.def.random && !op.holds_code) {
    // Nothing but attributes: its values are known.
    Tensors made = runtime::call(op, {}, n.attrs);
    for (size_t i = 0; i < made.size(); ++i) w.result(out.constant(made[i]), static_cast<int>(i));
    return;
  }
  for (const ir::Type& t : n.types) {
    if (t.kind != ir::Type::Kind::kTensor) w.fail("ONNX has no stacks");
  }
  if (is_expression(op.def.onnx)) return write_plain(w, nullptr);
  const Line* line = line_of(op);
  if (!line) w.fail("ONNX has no op of this meaning");
  if (Write write = find_writer(line->name)) return write(w);
  write_plain(w, line);
}

void write_type(pb::ValueInfo& info, const std::string& name, const ir::Type& t) {
  info.set_name(name);
  pb::TensorType& tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(code_of(t.dtype));
  pb::TensorShape& shape = *tensor.mutable_shape();
  for (int d = 0; d < t.shape.rank(); ++d) {
    pb::Dimension& dim = *shape.add_dim();
    if (t.shape[d] == kUnknownDim)
      dim.set_dim_param(fmt::format("{}_dim{}", name, d));
    else
      dim.set_dim_value(t.shape[d]);
  }
}

}  // namespace

std::vector<std::string> GraphWriter::write(const ir::Graph& g) {
  for (const ir::Node& n : g.nodes()) {
    if (!n.is_param()) write_node(n, *this);
  }
  std::vector<std::string> results;
  for (const ir::Value& v : g.results()) {
    // Each result is its own: one value may be given twice, or come from outside.
    pb::Node& n = *graph.add_node();
    n.set_op_type("Identity");
    n.add_input(name_of(v));
    results.push_back(fresh());
    n.add_output(results.back());
    n.set_name("Identity_" + results.back());
  }
  return results;
}

void write_region_type(pb::ValueInfo& info, const std::string& name, const ir::Type& t) {
  write_type(info, name, t);
}

void write_model(const std::string& path, const runtime::TracedModel& model) {
  passes::GraphOut g = passes::expand_composites(*model.graph);
  g = passes::merge_duplicates(*passes::eliminate_dead_code(*g));
  pb::Model file;
  file.set_ir_version(kIrVersion);
  file.set_producer_name("mycel");
  file.set_producer_version(version());
  pb::OperatorSet& set = *file.add_opset_import();
  set.set_domain("");
  set.set_version(kWrittenOpset);
  pb::Graph& graph = *file.mutable_graph();
  graph.set_name(model.graph->name());
  GraphWriter out(graph, nullptr);
  size_t inputs = model.inputs.size();
  for (size_t i = 0; i < inputs; ++i) out.reserve(model.inputs[i]);
  std::set<const ir::Node*> used_here;  // what only the program before simplification read goes
  for (const ir::Node& n : g->nodes()) {
    for (const ir::Value& v : n.inputs) used_here.insert(v.node);
  }
  for (const ir::Value& v : g->results()) used_here.insert(v.node);
  for (size_t i = 0; i < g->params().size(); ++i) {
    const ir::Value& p = g->params()[i];
    if (i < inputs) {
      out.set(p, model.inputs[i]);
      write_type(*graph.add_input(), model.inputs[i], p.type());
      continue;
    }
    const auto& [name, tensor] = model.weights[i - inputs];
    if (!used_here.count(p.node)) continue;
    bool free = !out.is_taken(name);
    out.reserve(name);
    std::string own = free ? name : out.fresh();
    out.set(p, own);
    write_tensor(*graph.add_initializer(), runtime::concrete(tensor, "export"), own);
  }
  std::vector<std::string> results = out.write(*g);
  for (size_t i = 0; i < results.size(); ++i) {
    std::string name = results.size() == 1 ? "output" : fmt::format("output{}", i);
    if (out.is_taken(name)) name = results[i];
    // The last nodes are the results' own, in order.
    pb::Node& n = *graph.mutable_node(graph.node_size() - static_cast<int>(results.size() - i));
    n.set_output(0, name);
    write_type(*graph.add_output(), name, g->results()[i].type());
  }
  std::string bytes;
  if (file.ByteSizeLong() > static_cast<size_t>(INT32_MAX) || !file.SerializeToString(&bytes))
    value_error("export to ONNX: the model has {} bytes; a file holds less than 2 GiB",
                file.ByteSizeLong());
  AtomicFile writer(path);
  writer.write(bytes.data(), bytes.size());
  writer.commit();
}

}  // namespace mycel::interop::onnx
