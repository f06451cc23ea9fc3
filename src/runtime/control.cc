#include "runtime/control.h"

#include <unordered_map>

#include "base/error.h"
#include "ir/structural.h"
#include "runtime/graph_function.h"
#include "runtime/loop_plan.h"
#include "runtime/stack_ops.h"
#include "runtime/trace.h"

namespace mycel::runtime {
namespace {

bool known(const Tensor& t) { return primal(t).concrete(); }

bool truth(const Tensor& t) { return concrete(t, "condition").item() != 0; }

bool all_known(std::span<const Tensor> in) {
  for (const Tensor& t : in) {
    if (t && !known(t)) return false;
  }
  return true;
}

Tensors infer(const ir::Op& op, std::span<const Tensor> in, const ir::Attrs& attrs) {
  std::vector<ir::Type> types;
  std::vector<const ir::Type*> pointers;
  types.reserve(in.size());
  for (const Tensor& t : in) {
    types.push_back(t ? ir::type_of(t) : ir::Type());
    pointers.push_back(t ? &types.back() : nullptr);
  }
  Tensors results;
  for (const ir::Type& t : ir::infer_types(op, pointers, attrs)) {
    results.push_back(ir::abstract_of(t));
  }
  return results;
}

// One node for whoever watches the operands: `run` gives the results on what is underneath.
Tensors recorded(const ir::Op& op, std::span<const Tensor> in, const ir::Attrs& attrs,
                 Tensors (*run)(const ir::Op&, Tensors, const ir::Attrs&)) {
  Tensors plain(in.begin(), in.end());
  Traced* top = innermost_trace(plain);
  if (!top) return all_known(plain) ? run(op, std::move(plain), attrs) : infer(op, plain, attrs);
  Ref<Level> level = top->level;
  Tensors results = recorded(op, primals_at(level, plain), attrs, run);
  level->recorder->record(op, plain, attrs, results);
  return results;
}

Tensors never_run(const ir::Op& op, Tensors, const ir::Attrs&) {
  MYCEL_CHECK(false, "{} on known values is recorded as one node", op.name);
  return {};
}

Tensors run_cond(const ir::Op& op, std::span<const Tensor> in, const ir::Attrs& attrs) {
  if (!known(in[0])) return recorded(op, in, attrs, never_run);
  return run_graph(*attrs[truth(in[0]) ? 0 : 1].graph(), in.subspan(1));
}

// Loops met before, by structure: a loop in an eager step is compiled once.
std::shared_ptr<const LoopPlan> loop_plan(const ir::GraphPtr& condition, const ir::GraphPtr& body) {
  struct Entry {
    ir::GraphPtr condition, body;
    std::shared_ptr<const LoopPlan> plan;
  };
  constexpr size_t kMaxLoops = 256;
  thread_local std::unordered_multimap<size_t, Entry> loops;
  size_t key = ir::structure_hash(*condition) * 31 + ir::structure_hash(*body);
  for (auto [it, end] = loops.equal_range(key); it != end; ++it) {
    const Entry& e = it->second;
    if (ir::structurally_equal(*e.condition, *condition) && ir::structurally_equal(*e.body, *body))
      return e.plan;
  }
  auto plan = LoopPlan::build(*condition, *body);
  if (loops.size() >= kMaxLoops) loops.clear();
  loops.emplace(key, Entry{condition, body, plan});
  return plan;
}

Tensors run_while(const ir::Op& op, std::span<const Tensor> in, const ir::Attrs& attrs) {
  return recorded(op, in, attrs, [](const ir::Op&, Tensors now, const ir::Attrs& a) {
    return loop_plan(a[0].graph(), a[1].graph())->run(std::move(now));
  });
}

Tensors run_stack(const ir::Op& op, std::span<const Tensor> in, const ir::Attrs& attrs) {
  return recorded(op, in, attrs, [](const ir::Op& o, Tensors now, const ir::Attrs& a) {
    return run_stack_op(o, now, a);
  });
}

Tensors run_callback(const ir::Op&, std::span<const Tensor> in, const ir::Attrs& attrs) {
  return (*attrs[0].callback())(in);
}

// The function runs on the primals of the innermost recorder that watches an operand, unseen by it;
// the recorder gets one node. Outer recorders see what runs inside.
Tensors run_custom_gradient(const ir::Op& op, std::span<const Tensor> in, const ir::Attrs& attrs) {
  Tensors plain(in.begin(), in.end());
  Traced* top = innermost_trace(plain);
  if (!top) return (*attrs[0].callback())(plain);
  Ref<Level> level = top->level;
  Tensors primals = primals_at(level, plain);
  Tensors results = call(op, primals, attrs);
  level->recorder->record(op, plain, attrs, results);
  return results;
}

// A host function as a closed graph over `operands` and whatever else it reads (`captured`).
struct Region {
  std::shared_ptr<ir::Graph> graph;
  Tensors captured;
};

Region trace_region(const Fn& f, std::span<const Tensor> operands, const char* name) {
  Recorder r(name, true);
  Tensors params;
  for (const Tensor& t : operands) params.push_back(r.watch(ir::abstract_of(ir::type_of(t))));
  std::vector<ir::Value> results;
  for (const Tensor& t : f(params)) results.push_back(r.value_of(t));
  r.graph().set_results(std::move(results));
  Tensors all = r.param_primals();
  return {r.graph_ptr(), {all.begin() + static_cast<int64_t>(operands.size()), all.end()}};
}

// The same region with parameters (operands…, before…, its own captures…, after…).
std::shared_ptr<ir::Graph> widen(const Region& r, size_t operands, const Tensors& before,
                                 const Tensors& after, bool pass_on) {
  auto g = std::make_shared<ir::Graph>(r.graph->name());
  std::vector<ir::Value> args, extra;
  for (size_t i = 0; i < operands; ++i) args.push_back(g->add_param(r.graph->params()[i].type()));
  for (const Tensor& t : before) extra.push_back(g->add_param(ir::type_of(t)));
  for (size_t i = operands; i < r.graph->params().size(); ++i) {
    args.push_back(g->add_param(r.graph->params()[i].type()));
    extra.push_back(args.back());
  }
  for (const Tensor& t : after) extra.push_back(g->add_param(ir::type_of(t)));
  std::vector<ir::Value> results = ir::inline_graph(*r.graph, *g, args);
  if (pass_on) results.insert(results.end(), extra.begin(), extra.end());
  g->set_results(std::move(results));
  return g;
}

}  // namespace

RegionKernel region_kernel(const ir::Op& op) {
  static const std::unordered_map<std::string, RegionKernel> kernels = {
      {"cond", run_cond},
      {"while_loop", run_while},
      {"call", run_call},
      {"callback", run_callback},
      {"custom_gradient", run_custom_gradient}};
  if (is_stack_op(op)) return run_stack;
  auto it = kernels.find(op.name);
  MYCEL_CHECK(it != kernels.end(), "op {} holds code but runtime/control.cc cannot run it",
              op.name);
  return it->second;
}

Tensors cond(const Tensor& pred, const Fn& then, const Fn& otherwise,
             std::span<const Tensor> operands) {
  if (known(pred)) return truth(pred) ? then(operands) : otherwise(operands);
  Region a = trace_region(then, operands, "then");
  Region b = trace_region(otherwise, operands, "otherwise");
  Tensors in{pred};
  in.insert(in.end(), operands.begin(), operands.end());
  in.insert(in.end(), a.captured.begin(), a.captured.end());
  in.insert(in.end(), b.captured.begin(), b.captured.end());
  ir::GraphPtr ga = widen(a, operands.size(), {}, b.captured, false);
  ir::GraphPtr gb = widen(b, operands.size(), a.captured, {}, false);
  return call(ir::op_named("cond"), in, {ir::Attr(ga), ir::Attr(gb)});
}

Tensors while_loop(const Fn& condition, const Fn& body, std::span<const Tensor> carried) {
  Region c = trace_region(condition, carried, "condition");
  Region b = trace_region(body, carried, "body");
  if (b.graph->results().size() != carried.size())
    value_error("while_loop: {} values are carried, the body gives {}", carried.size(),
                b.graph->results().size());
  Tensors in(carried.begin(), carried.end());
  in.insert(in.end(), c.captured.begin(), c.captured.end());
  in.insert(in.end(), b.captured.begin(), b.captured.end());
  ir::GraphPtr gc = widen(c, carried.size(), {}, b.captured, false);
  ir::GraphPtr gb = widen(b, carried.size(), c.captured, {}, true);
  Tensors out = call(ir::op_named("while_loop"), in, {ir::Attr(gc), ir::Attr(gb)});
  out.resize(carried.size());
  return out;
}

Tensors fori_loop(int64_t begin, int64_t end,
                  const std::function<Tensors(const Tensor& i, std::span<const Tensor>)>& body,
                  std::span<const Tensor> carried) {
  Tensors state{Tensor::scalar(DType::kInt32, begin)};
  state.insert(state.end(), carried.begin(), carried.end());
  Tensor last = Tensor::scalar(DType::kInt32, end), one = Tensor::scalar(DType::kInt32, int64_t{1});
  const ir::Op& less = ir::op_named("less");
  const ir::Op& add = ir::op_named("add");
  Tensors out =
      while_loop([&](std::span<const Tensor> s) { return Tensors{call1(less, {s[0], last})}; },
                 [&](std::span<const Tensor> s) {
                   Tensors next{call1(add, {s[0], one})};
                   for (Tensor& t : body(s[0], s.subspan(1))) next.push_back(std::move(t));
                   return next;
                 },
                 state);
  out.erase(out.begin());
  return out;
}

}  // namespace mycel::runtime
