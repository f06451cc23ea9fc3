// CPU time per node of what happens to a graph before it runs: tracing with its gradient, text,
// file, verifier, every pass, and the plan with its kernels. A linear compiler has the same figures
// in every row.
//   passes [nodes...]     (1000 10000 100000)
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "ir/graph_file.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "mycel/ops.h"
#include "passes/pass.h"
#include "runtime/control.h"
#include "runtime/dispatch.h"
#include "runtime/jit.h"
#include "runtime/plan.h"
#include "runtime/transforms.h"

namespace {

using namespace mycel;  // NOLINT: a measurement

Tensors evaluate(const ir::Op& op, std::span<const Tensor> in, const ir::Attrs& attrs) {
  return runtime::call(op, in, attrs);
}

// A block of a network: a product, elementwise work, a reduction, moves that cancel, a constant;
// every tenth has a branch, every thirtieth a loop.
Tensor block(const Tensor& h, const Tensor& w, int i) {
  const ir::Attr swap(ir::Attr::Ints{1, 0});
  Tensor y = ops::matmul(h, w);
  y = ops::mul(y, Tensor::scalar(DType::kFloat32, 0.5 + 1e-6 * i));
  y = ops::tanh(ops::add(y, h));
  y = ops::transpose(ops::transpose(y, swap), swap);
  y = ops::sub(y, ops::reduce_mean(y, ir::Attr(ir::Attr::Ints{-1}), true));
  y = ops::reshape(ops::reshape(y, {-1}), {8, 16});
  if (i % 10 == 9) {
    Tensor big = ops::greater(ops::reduce_sum(y), Tensor::scalar(DType::kFloat32, 0.0));
    y = runtime::cond(
        big, [](std::span<const Tensor> x) { return Tensors{ops::relu(x[0])}; },
        [](std::span<const Tensor> x) { return Tensors{ops::neg(x[0])}; }, Tensors{y})[0];
  }
  if (i % 30 == 29) {
    y = runtime::while_loop(
        [](std::span<const Tensor> x) {
          return Tensors{ops::less(x[0], Tensor::scalar(DType::kInt32, int64_t{3}))};
        },
        [](std::span<const Tensor> x) {
          return Tensors{ops::add(x[0], Tensor::scalar(DType::kInt32, int64_t{1})), ops::sin(x[1])};
        },
        Tensors{Tensor::scalar(DType::kInt32, int64_t{0}), y})[1];
  }
  return ops::add(h, y);
}

// Of this thread alone, so that what else runs on the machine counts little.
double cpu_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// About `nodes` nodes, gradient included.
void measure(int nodes, bool print) {
  Tensor x = ops::full({8, 16}, 0.1, DType::kFloat32),
         w = ops::full({16, 16}, 0.1, DType::kFloat32);
  int blocks = std::max(1, nodes / 28);
  runtime::Fn loss = [&](std::span<const Tensor> in) {
    Tensor h = in[0];
    for (int i = 0; i < blocks; ++i) h = block(h, in[1], i);
    return Tensors{ops::reduce_sum(h)};
  };
  runtime::Jit step([&](std::span<const Tensor> in) {
    return runtime::value_and_grad(loss, in, {.wrt = {1}}).inputs;
  });
  std::shared_ptr<const ir::Graph> g;
  std::vector<std::pair<std::string, double>> rows;
  auto row = [&](const std::string& name, const std::function<void()>& f) {
    double start = cpu_seconds();
    f();
    rows.emplace_back(name, cpu_seconds() - start);
  };
  Tensors args{x, w};
  row("trace, gradient", [&] { g = step.graph(args); });
  std::string text, file;
  row("text", [&] { text = g->str(); });
  row("parse", [&] { ir::parse(text); });
  row("file", [&] {
    file =
        ir::encode_graph_file({std::const_pointer_cast<ir::Graph>(g), g->params().size(), {}, {}});
  });
  row("verify", [&] { MYCEL_CHECK(ir::problem_of(*g).empty(), "an unsound graph"); });
  passes::GraphOut now;
  auto pass = [&](const char* name, passes::GraphOut (*run)(const ir::Graph&)) {
    row(name, [&] { now = run(now ? *now : *g); });
  };
  pass("expand_composites", passes::expand_composites);
  pass("simplify_algebra", passes::simplify_algebra);
  row("fold_constants", [&] { now = passes::fold_constants(*now, evaluate); });
  pass("inline_regions", passes::inline_regions);
  pass("hoist_loop_invariants", passes::hoist_loop_invariants);
  pass("merge_duplicates", passes::merge_duplicates);
  pass("merge_gradient_sums", passes::merge_gradient_sums);
  pass("eliminate_dead_code", passes::eliminate_dead_code);
  pass("fuse_elementwise", passes::fuse_elementwise);
  size_t left = now->size();
  now.reset();
  row("all passes", [&] { passes::optimize(*g, evaluate); });
  row("all passes and plan", [&] { runtime::Plan::build(*g); });
  if (!print) return;
  fmt::print("{} nodes, {} after the passes\n", g->size(), left);
  for (const auto& [name, time] : rows) {
    fmt::print("  {:<22} {:8.3f} us a node\n", name, time * 1e6 / static_cast<double>(g->size()));
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<int> sizes;
  for (int i = 1; i < argc; ++i) sizes.push_back(std::atoi(argv[i]));
  if (sizes.empty()) sizes = {1000, 10000, 100000};
  measure(1000, false);  // compiles the kernels
  for (int n : sizes) measure(n, true);
}
