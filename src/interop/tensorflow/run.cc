// Runs the nodes of a graph in order, each through its record.
#include <new>
#include <stdexcept>

#include <fmt/format.h>

#include "interop/tensorflow/record.h"

namespace mycel::interop::tensorflow {
namespace {

constexpr int kMaxNesting = 64;  // of control flow

bool is_quantized(const Graph& g, const std::vector<int>& slots) {
  for (int i : slots) {
    if (i < 0) continue;
    const Slot& s = g.slots[static_cast<size_t>(i)];
    const bool narrow =
        s.dtype == DType::kInt8 || s.dtype == DType::kUInt8 || s.dtype == DType::kInt16;
    if (narrow && !s.quantization.scale.empty()) return true;
  }
  return false;
}

Tensors run_node(Call& c) {
  const Record* r = find_record(c.lite(), c.node.op);
  if (!r) c.unsupported("this op is not known");
  const bool quantized =
      c.lite() && (is_quantized(c.graph, c.node.in) || is_quantized(c.graph, c.node.out));
  if (!quantized || r->quantized == moves) return r->build(c);
  if (!r->quantized) c.unsupported("it has no quantized form");
  return r->quantized(c);
}

void run_one(const File& f, const Graph& g, const Node& n, Tensors& values, int depth) {
  Tensors in;
  for (int i : n.in) in.push_back(i < 0 ? Tensor() : values[static_cast<size_t>(i)]);
  Call c(f, g, n, std::move(in), depth);
  Tensors out;
  try {
    out = run_node(c);
  } catch (NotCompilable&) {
    throw;
  } catch (UserError& e) {
    if (e.message().find(c.title()) == std::string::npos) e.prefix(c.title() + ": ");
    throw;
  } catch (const std::logic_error&) {  // of a vector: fewer dims or elements than the op needs
    c.fail("an operand or attribute has too few dims or elements, or asks for too many");
  } catch (const std::bad_alloc&) {
    throw UserError(ErrorKind::kMemory, c.title() + ": there is not enough memory for it");
  }
  for (size_t i = 0; i < n.out.size(); ++i) {
    if (n.out[i] < 0) continue;
    if (i >= out.size()) continue;  // fails where something reads it
    values[static_cast<size_t>(n.out[i])] = std::move(out[i]);
  }
}

}  // namespace

Tensors moves(Call& c) { return find_record(c.lite(), c.node.op)->build(c); }

Tensors run_graph(const File& f, const Graph& g, std::span<const Tensor> inputs, int depth,
                  const Weights* weights) {
  if (depth > kMaxNesting) value_error("graph '{}': nested too deeply", g.name);
  if (inputs.size() != g.inputs.size())
    value_error("graph '{}': {} inputs for {}", g.name, inputs.size(), g.inputs.size());
  Tensors values;
  for (const Slot& s : g.slots) values.push_back(s.constant);
  if (weights) {
    for (const auto& [slot, value] : *weights) values[static_cast<size_t>(slot)] = value;
  }
  for (size_t i = 0; i < inputs.size(); ++i) values[static_cast<size_t>(g.inputs[i])] = inputs[i];
  for (const Node& n : g.nodes) run_one(f, g, n, values, depth);
  Tensors out;
  for (int i : g.outputs) {
    if (!values[static_cast<size_t>(i)])
      value_error("graph '{}': nothing gives its output '{}'", g.name,
                  g.slots[static_cast<size_t>(i)].name);
    out.push_back(values[static_cast<size_t>(i)]);
  }
  return out;
}

}  // namespace mycel::interop::tensorflow
