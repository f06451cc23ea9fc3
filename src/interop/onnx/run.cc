// Runs the nodes of a graph in order, each through its record, the line of an op record, or the
// model's function of its name.
#include <new>
#include <stdexcept>

#include <fmt/format.h>

#include "base/error.h"
#include "interop/onnx/file.h"
#include "interop/onnx/line.h"
#include "interop/onnx/record.h"
#include "interop/onnx/scope.h"

namespace mycel::interop::onnx {
namespace {

using Nodes = google::protobuf::RepeatedPtrField<pb::Node>;

constexpr int kMaxNesting = 64;  // functions that call themselves

void run_each(const Nodes& nodes, Scope& scope);

Values gather_inputs(const pb::Node& n, const Scope& scope) {
  Values in;
  for (const std::string& name : n.input()) {
    if (name.empty()) {
      in.emplace_back();
      continue;
    }
    const Value* v = scope.find(name);
    if (!v) {
      value_error(
          "{} '{}': its input '{}' is no result of a node before it, no input and no "
          "initializer",
          n.op_type(), n.name(), name);
    }
    in.push_back(*v);
  }
  return in;
}

Values call_function(const pb::Function& f, Call& c) {
  if (c.scope.depth > kMaxNesting) c.fail("functions are nested deeper than {}", kMaxNesting);
  Scope inside(c.scope.file);
  inside.calling = &c;
  inside.function = &f;
  inside.depth = c.scope.depth + 1;
  inside.abstract = c.scope.abstract;
  for (int i = 0; i < f.input_size(); ++i)
    inside.set(f.input(i), i < c.inputs() ? c.value(i) : Value());
  Values out;
  run_each(f.node(), inside);
  for (const std::string& name : f.output()) {
    const Value* v = inside.find(name);
    if (!v) c.fail("function '{}' gives no '{}'", f.name(), name);
    out.push_back(*v);
  }
  return out;
}

Values run_node(Call& c) {
  const pb::Node& n = c.node;
  if (const pb::Function* f = c.scope.file.function(n)) return call_function(*f, c);
  std::string domain = domain_of(n.domain());
  if (const Record* r = find_record(domain, n.op_type())) return r->build(c);
  const Line* line = domain.empty() ? find_line(n.op_type()) : nullptr;
  if (!line) c.unsupported("this op is not known");
  return build_from_line(*line, c);
}

void run_each(const Nodes& nodes, Scope& scope) {
  for (const pb::Node& n : nodes) {
    Call c(n, gather_inputs(n, scope), scope.file.opset(domain_of(n.domain()), scope.function),
           scope);
    Values out;
    if (scope.watch) scope.watch->begin(c);
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
    if (scope.watch) scope.watch->end(c, out);
    for (int i = 0; i < n.output_size(); ++i) {
      if (n.output(i).empty()) continue;
      if (i >= static_cast<int>(out.size())) c.fail("it gives no result {}", i);
      scope.set(n.output(i), std::move(out[static_cast<size_t>(i)]));
    }
  }
}

}  // namespace

bool is_known_op(const File& f, const pb::Node& n) {
  std::string domain = domain_of(n.domain());
  return f.function(n) || find_record(domain, n.op_type()) ||
         (domain.empty() && find_line(n.op_type()));
}

Values run_nodes(const pb::Graph& g, Scope& scope) {
  for (const pb::Tensor& t : g.initializer()) {
    if (!scope.holds(t.name())) scope.set(t.name(), Value(scope.file.tensor(t)));
  }
  run_each(g.node(), scope);
  Values out;
  for (const pb::ValueInfo& v : g.output()) {
    const Value* found = scope.find(v.name());
    if (!found) value_error("graph '{}': nothing gives its output '{}'", g.name(), v.name());
    out.push_back(*found);
  }
  return out;
}

Values run_region(const pb::Graph& g, Scope& around, const Values& inputs) {
  if (around.depth > kMaxNesting) value_error("graph '{}': nested too deeply", g.name());
  Scope inside(around.file, &around);
  for (int i = 0; i < g.input_size() && i < static_cast<int>(inputs.size()); ++i)
    inside.set(g.input(i).name(), inputs[static_cast<size_t>(i)]);
  return run_nodes(g, inside);
}

}  // namespace mycel::interop::onnx
