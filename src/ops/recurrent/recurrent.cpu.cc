// The loop kernels of alignment losses behind a check of labels and lengths, which must not become
// silent numbers, and the decoder, whose results have the size that the values ask for.
#include <algorithm>

#include <fmt/format.h>

#include "backend/cpu/function_kernel.h"
#include "base/error.h"
#include "ops/all_kernels.cpu.h"

namespace mycel::ops {
namespace {

using cpu::Prepared;
using cpu::Problem;

// An operand of whole numbers that must lie in [0, limit).
struct Bounded {
  int operand;
  int64_t limit;
  const char* what;
};

void check_bounds(const std::string& op, const Bounded& b, const ir::Type& type, const void* data) {
  for (int64_t i = 0; i < type.shape.size(); ++i) {
    int64_t v = element_as_int(data, type.dtype, i);
    if (v < 0 || v >= b.limit)
      value_error("{}: {} {} at position {} is outside [0, {})", op, b.what, v, i, b.limit);
  }
}

template <std::vector<Bounded> (*bounds)(const Problem&)>
std::unique_ptr<Prepared> checked(const Problem& p) {
  std::shared_ptr<const Prepared> loops = cpu::choose_named(p, "loops").prepared;
  std::vector<std::pair<Bounded, ir::Type>> all;
  for (const Bounded& b : bounds(p)) all.emplace_back(b, *p.in[b.operand]);
  return cpu::prepared_by("checked loops", [loops, all, op = p.op.name](void* const* buffers) {
    for (const auto& [b, type] : all) check_bounds(op, b, type, buffers[b.operand]);
    loops->run(buffers);
  });
}

std::vector<Bounded> ctc_bounds(const Problem& p) {
  const Shape &x = p.in[0]->shape, &targets = p.in[1]->shape;
  return {{1, x[2], "class"}, {2, x[0] + 1, "input length"}, {3, targets[1] + 1, "target length"}};
}

std::vector<Bounded> rnnt_bounds(const Problem& p) {
  const Shape& x = p.in[0]->shape;
  return {{1, x[3], "label"}, {2, x[1] + 1, "input length"}, {3, x[2], "label length"}};
}

Tensors greedy(const Problem& p, std::span<const Tensor> in) {
  const Shape& s = in[0].shape();
  int64_t frames = s[0], batch = s[1], classes = s[2], longest = 0;
  bool merge = p.view().boolean("merge_repeated");
  check_bounds(p.op.name, {1, frames + 1, "sequence length"}, *p.in[1], in[1].raw());
  std::vector<int64_t> indices, values;
  Tensor scores = Tensor::zeros(in[0].dtype(), {batch, 1});
  void* score = scores.mutable_raw();
  for (int64_t n = 0; n < batch; ++n) {
    int64_t length = element_as_int(in[1].raw(), in[1].dtype(), n), before = -1, count = 0;
    double sum = 0;
    for (int64_t t = 0; t < length; ++t) {
      auto value = [&](int64_t k) {
        return element_as_double(in[0].raw(), in[0].dtype(), (t * batch + n) * classes + k);
      };
      int64_t best = 0;
      for (int64_t k = 1; k < classes; ++k) {
        if (value(k) > value(best)) best = k;
      }
      sum -= value(best);
      if (best != classes - 1 && !(merge && best == before)) {
        indices.push_back(n), indices.push_back(count++);
        values.push_back(best);
      }
      before = best;
    }
    longest = std::max(longest, count);
    set_element(score, in[0].dtype(), n, sum);
  }
  int64_t k = static_cast<int64_t>(values.size());
  return {Tensor::from(indices, Shape{k, 2}), Tensor::from(values, Shape{k}),
          Tensor::from(std::vector<int64_t>{batch, longest}, Shape{2}), scores};
}

constexpr cpu::KernelDef kKernels[] = {
    {"ctc_forward", "checked", nullptr, checked<ctc_bounds>},
    {"rnnt_forward", "checked", nullptr, checked<rnnt_bounds>},
    {"ctc_greedy_decode", "host", nullptr, nullptr, greedy},
};

}  // namespace

void register_recurrent_kernels() { cpu::register_kernels(kKernels); }

}  // namespace mycel::ops
