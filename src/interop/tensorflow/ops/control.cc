// If and While: where what decides is known, the branch or the turns simply run; while a graph is
// traced they become cond and while_loop, with gradients and plans like any other.
#include "runtime/control.h"

#include "interop/tensorflow/ops/build.h"
#include "runtime/trace.h"

namespace mycel::interop::tensorflow {
namespace {

constexpr int64_t kMaxTurns = 1'000'000;  // of a loop whose condition is known

Tensor truth(Call& c, Tensor v) {
  if (v.shape().known() && v.size() != 1) c.fail("a condition {}", v.describe());
  if (v.rank() > 0) v = ops::reshape(v, {});
  return as(v, DType::kBool);
}

Tensors branch(Call& c) {
  Tensor chosen = truth(c, c.x(0));
  const Graph &yes = c.region("then_branch"), &no = c.region("else_branch");
  Tensors operands(c.all().begin() + 1, c.all().end());
  auto run = [&](const Graph& g) { return run_graph(c.file, g, operands, c.depth + 1); };
  if (runtime::primal(chosen).concrete())
    return run(c.known(chosen, "the condition").item() != 0 ? yes : no);
  try {
    return runtime::cond(
        chosen, [&](std::span<const Tensor>) { return run(yes); },
        [&](std::span<const Tensor>) { return run(no); });
  } catch (NotCompilable&) {
    throw;
  } catch (UserError& e) {
    throw NotCompilable(c.title() + ": " + e.message(), chosen);  // branches of different shapes
  }
}

Tensors loop(Call& c) {
  const Graph &condition = c.region("cond"), &body = c.region("body");
  auto goes_on = [&](std::span<const Tensor> state) {
    Tensors out = run_graph(c.file, condition, state, c.depth + 1);
    if (out.size() != 1) c.fail("its condition has {} results", out.size());
    return truth(c, out[0]);
  };
  auto turn = [&](std::span<const Tensor> state) {
    Tensors out = run_graph(c.file, body, state, c.depth + 1);
    if (out.size() != state.size())
      c.fail("its body has {} results for {} values", out.size(), state.size());
    return out;
  };
  Tensors state = c.all();
  Tensor go = goes_on(state);
  if (runtime::primal(go).concrete()) {
    // As long as the condition follows from known values.
    bool known = true;
    for (const Tensor& t : state) known = known && runtime::primal(t).concrete();
    if (known) {
      int64_t turns = 0;
      while (c.known(go, "the condition").item() != 0) {
        if (++turns > kMaxTurns) c.fail("it has not ended after {} turns", kMaxTurns);
        state = turn(state);
        go = goes_on(state);
      }
      return state;
    }
  }
  try {
    return runtime::while_loop([&](std::span<const Tensor> s) { return Tensors{goes_on(s)}; }, turn,
                               state);
  } catch (NotCompilable&) {
    throw;
  } catch (UserError& e) {
    throw NotCompilable(c.title() + ": " + e.message(), Tensor());  // types that change
  }
}

Tensors call(Call& c) { return run_graph(c.file, c.region("f"), c.all(), c.depth + 1); }

constexpr Record kRecords[] = {
    {118, "IF", "If", branch, moves},     {-1, "", "StatelessIf", branch},
    {119, "WHILE", "While", loop, moves}, {-1, "", "StatelessWhile", loop},
    {-1, "", "PartitionedCall", call},    {-1, "", "StatefulPartitionedCall", call},
};

}  // namespace

Records control_records() { return kRecords; }

}  // namespace mycel::interop::tensorflow
