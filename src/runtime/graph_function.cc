#include "runtime/graph_function.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "ir/core_ops.h"
#include "runtime/dispatch.h"
#include "runtime/plan.h"
#include "runtime/region.h"
#include "runtime/trace.h"

namespace mycel::runtime {
namespace {

// Each level of a recursion takes some kilobytes of the thread's stack.
constexpr int kMaxDepth = 1000;
thread_local int g_depth = 0;
// The function whose body this thread is tracing. What is declared meanwhile may call it: one
// family.
thread_local ir::FunctionPtr g_defining;

class Defining {
 public:
  explicit Defining(ir::FunctionPtr f) : outer_(std::exchange(g_defining, std::move(f))) {}
  ~Defining() { g_defining = std::move(outer_); }

 private:
  ir::FunctionPtr outer_;
};

class Deeper {
 public:
  explicit Deeper(const ir::Function& f) {
    if (++g_depth > kMaxDepth) {
      --g_depth;
      throw UserError(ErrorKind::kRuntime,
                      fmt::format("call: @{} calls itself more than {} times", f.name, kMaxDepth),
                      "Write the recursion as a loop, or make it end earlier.");
    }
  }
  ~Deeper() { --g_depth; }
};

bool known(const Tensor& t) { return !t || primal(t).concrete(); }

std::shared_ptr<const Plan> plan_of(ir::Function& f) {
  std::lock_guard lock(f.mutex);
  if (!f.plan) f.plan = Plan::build(*f.body);
  return std::static_pointer_cast<const Plan>(f.plan);
}

void check_results(const ir::Function& f, const std::vector<ir::Value>& results) {
  if (results.size() != f.results.size()) {
    value_error("call: @{} is declared with {} results and gives {}", f.name, f.results.size(),
                results.size());
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (!(results[i].type() == f.results[i])) {
      value_error("call: result {} of @{} is declared as {} and is {}", i, f.name,
                  f.results[i].str(), results[i].type().str());
    }
  }
}

bool calls(const ir::Graph& g, const ir::FunctionPtr& f) {
  for (const ir::Node& n : g.nodes()) {
    for (size_t i = 0; i < n.attrs.size(); ++i) {
      const ir::Attr& a = n.attrs[i];
      if (a.is<ir::FunctionPtr>() && a.function() == f) return true;
      if (a.is<ir::GraphPtr>() && calls(*a.graph(), f)) return true;
    }
  }
  return false;
}

// Copies `g` into `out`, its parameters replaced by `args`; every call of `f`, in regions too,
// takes `extra` as further operands.
std::vector<ir::Value> pass_on(const ir::Graph& g, ir::Graph& out, std::vector<ir::Value> args,
                               const ir::FunctionPtr& f, const std::vector<ir::Value>& extra) {
  std::vector<ir::Node*> made(g.size(), nullptr);
  std::vector<ir::Value> param(g.size());
  for (size_t i = 0; i < args.size(); ++i) param[g.params()[i].node->id] = args[i];
  auto at = [&](const ir::Value& v) -> ir::Value {
    if (!v) return {};
    return v.node->is_param() ? param[v.node->id] : ir::Value{made[v.node->id], v.index};
  };
  for (const ir::Node& n : g.nodes()) {
    if (n.is_param()) continue;
    std::vector<ir::Value> in;
    for (const ir::Value& v : n.inputs) in.push_back(at(v));
    ir::Attrs attrs = n.attrs;
    ir::Types types = n.types;
    bool takes = false, loop = n.op == ir::core_ops().while_loop;
    for (size_t i = 0; i < attrs.size(); ++i) {
      if (attrs[i].is<ir::FunctionPtr>()) takes |= attrs[i].function() == f;
      if (attrs[i].is<ir::GraphPtr>()) takes |= calls(*attrs[i].graph(), f);
    }
    for (size_t i = 0; takes && i < attrs.size(); ++i) {
      if (!attrs[i].is<ir::GraphPtr>()) continue;
      const ir::Graph& region = *attrs[i].graph();
      auto wider = std::make_shared<ir::Graph>(region.name());
      std::vector<ir::Value> own, more;
      for (const ir::Value& p : region.params())
        own.push_back(wider->add_param(p.type(), p.node->name));
      for (const ir::Value& v : extra) more.push_back(wider->add_param(v.type()));
      std::vector<ir::Value> results = pass_on(region, *wider, own, f, more);
      if (loop && i == 1) results.insert(results.end(), more.begin(), more.end());
      wider->set_results(std::move(results));
      attrs.set(i, ir::Attr(ir::GraphPtr(wider)));
    }
    if (takes) in.insert(in.end(), extra.begin(), extra.end());
    for (const ir::Value& v : extra) {
      if (takes && loop) types.push_back(v.type());
    }
    made[n.id] = out.add_typed(*n.op, std::move(in), std::move(attrs), std::move(types), n.loc);
  }
  std::vector<ir::Value> results;
  for (const ir::Value& v : g.results()) results.push_back(at(v));
  return results;
}

}  // namespace

struct GraphFunction::State {
  ir::FunctionPtr f;
  size_t declared = 0;  // parameters, before the captured ones
  Tensors captured;
};

GraphFunction::GraphFunction(std::string name, ir::Types params, ir::Types results)
    : state_(std::make_shared<State>()) {
  state_->declared = params.size();
  state_->f = ir::make_function(std::move(name), std::move(params), std::move(results), g_defining);
}

bool GraphFunction::defined() const { return state_->f->body != nullptr; }
const ir::FunctionPtr& GraphFunction::function() const { return state_->f; }

void GraphFunction::define(const Fn& body) {
  State& s = *state_;
  ir::Function& f = *s.f;
  if (f.body) value_error("call: @{} is defined already", f.name);
  Recorder r(f.name, true);
  Tensors params;
  for (const ir::Type& t : f.params) params.push_back(r.watch(ir::abstract_of(t)));
  std::vector<ir::Value> results;
  Defining now(s.f);
  for (const Tensor& y : body(params)) results.push_back(r.value_of(y));
  check_results(f, results);
  r.graph().set_results(std::move(results));
  r.close();
  auto graph = std::make_shared<ir::Graph>(f.name);
  std::vector<ir::Value> args, extra;
  for (size_t i = 0; i < r.param_primals().size(); ++i) {
    const Tensor& t = r.param_primals()[i];
    if (i >= s.declared && !t.trace() && t.concrete() && !t.is_stack()) {
      args.push_back(graph->constant(t));
      continue;
    }
    args.push_back(graph->add_param(ir::type_of(t)));
    if (i < s.declared) continue;
    extra.push_back(args.back());
    s.captured.push_back(t);
    f.params.push_back(ir::type_of(t));
  }
  graph->set_results(pass_on(r.graph(), *graph, args, s.f, extra));
  ir::set_body(s.f, graph);
}

Tensors GraphFunction::operator()(std::span<const Tensor> args) const {
  const State& s = *state_;
  if (args.size() != s.declared) {
    value_error("call: @{} takes {} values, {} given", s.f->name, s.declared, args.size());
  }
  Tensors in(args.begin(), args.end());
  in.insert(in.end(), s.captured.begin(), s.captured.end());
  static const ir::Op& op = ir::op_named("call");
  return call(op, in, {ir::Attr(s.f)});
}

Tensors run_call(const ir::Op& op, std::span<const Tensor> in, const ir::Attrs& attrs) {
  if (!std::all_of(in.begin(), in.end(), known)) return record_node(op, in, attrs);
  ir::FunctionPtr function = attrs[0].function();
  ir::Function& f = *function;
  if (!f.body) {
    throw UserError(ErrorKind::kRuntime,
                    fmt::format("call: @{} is called before it is defined", f.name),
                    "Define it first.");
  }
  Deeper guard(f);
  Tensors plain(in.begin(), in.end());
  if (innermost_trace(plain)) return run_graph(*ir::owning(f.body), in);
  return plan_of(f)->run(plain);
}

}  // namespace mycel::runtime
