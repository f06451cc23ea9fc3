#include "runtime/node_facts.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/core_ops.h"
#include "ir/flops.h"
#include "ir/phase.h"

namespace mycel::runtime {
namespace {

int64_t bytes_of(const ir::Type& t) {
  return t.shape.known() ? t.shape.size() * static_cast<int64_t>(size_of(t.dtype)) : 0;
}

}  // namespace

std::string name_of(const ir::Node& n) {
  // Ops that are one kernel of several: fused, joined.
  if (n.attrs.size() != 1 || !n.attrs[0].is<ir::GraphPtr>()) return n.op->name;
  std::vector<std::string> parts;
  for (const ir::Node& inside : n.attrs[0].graph()->nodes()) {
    if (inside.op && inside.op != ir::core_ops().constant) parts.push_back(inside.op->name);
  }
  return fmt::format("{}({})", n.op->name, fmt::join(parts, ", "));
}

std::string types_of(const ir::Node& n) {
  std::vector<std::string> in, out;
  for (const ir::Value& v : n.inputs) in.push_back(v ? v.type().str() : "-");
  for (const ir::Type& t : n.types) out.push_back(t.str());
  return fmt::format("{} -> {}", fmt::join(in, ", "), fmt::join(out, ", "));
}

int64_t flops_of(const ir::Node& n) {
  if (n.op->holds_code) return -1;
  auto known = [](const ir::Type& t) { return t.shape.known(); };
  bool all = std::all_of(n.types.begin(), n.types.end(), known);
  for (const ir::Value& v : n.inputs) all = all && (!v || known(v.type()));
  return all ? ir::flops(n) : -1;
}

int64_t bytes_of(const ir::Node& n) {
  int64_t bytes = 0;
  for (const ir::Value& v : n.inputs) bytes += v ? bytes_of(v.type()) : 0;
  for (const ir::Type& t : n.types) bytes += bytes_of(t);
  return bytes;
}

timeline::What describe(const ir::Node& n, const char* implementation) {
  return {.kind = timeline::Kind::kKernel,
          .phase = ir::phase_of(n.loc),
          .name = name_of(n),
          .types = types_of(n),
          .implementation = implementation,
          .where = ir::loc_text(n.loc),
          .flops = flops_of(n),
          .bytes = bytes_of(n)};
}

timeline::What describe(const ir::Op& op, std::span<const ir::Type* const> in,
                        std::span<const ir::Type> out, const ir::Attrs& attrs,
                        const char* implementation) {
  ir::Graph g;
  ir::ValueList values;
  for (const ir::Type* t : in) values.push_back(t ? g.add_param(*t) : ir::Value());
  timeline::What what = describe(
      *g.add_typed(op, values, attrs, ir::Types(out.begin(), out.end()), 0), implementation);
  what.kind = timeline::Kind::kEager;
  return what;
}

}  // namespace mycel::runtime
