#include "runtime/scan.h"

#include "base/error.h"
#include "ir/op.h"
#include "runtime/control.h"
#include "runtime/dispatch.h"
#include "runtime/trace.h"

namespace mycel::runtime {
namespace {

int64_t steps(std::span<const Tensor> xs, int64_t length) {
  for (const Tensor& x : xs) {
    if (x.rank() == 0) value_error("scan: {} has no rows", x.describe());
    if (x.dim(0) == kUnknownDim) {
      value_error("scan: the number of rows of {} must be known", x.describe());
    }
    if (length >= 0 && x.dim(0) != length) {
      value_error("scan: {} has {} rows, {} are expected", x.describe(), x.dim(0), length);
    }
    length = x.dim(0);
  }
  if (length < 0) value_error("scan: without tensors to run over, a length is needed");
  return length;
}

// The types of what a step gives, from a trace that is thrown away.
ir::Types types_of_step(const ScanBody& body, std::span<const Tensor> carried,
                        std::span<const Tensor> xs) {
  Recorder r("step", true);
  Tensors state, rows;
  for (const Tensor& t : carried) state.push_back(r.watch(ir::abstract_of(ir::type_of(t))));
  for (const Tensor& t : xs) {
    Shape row = t.shape();
    row.erase(0);
    rows.push_back(r.watch(Tensor::abstract(t.dtype(), row)));
  }
  ir::Types types;
  for (const Tensor& y : body(state, rows).results) types.push_back(ir::type_of(primal(y)));
  r.close();
  return types;
}

}  // namespace

Scanned scan(const ScanBody& body, std::span<const Tensor> carried, std::span<const Tensor> xs,
             int64_t length) {
  const int64_t count = steps(xs, length);
  const size_t n = carried.size();
  static const ir::Op& less = ir::op_named("less");
  static const ir::Op& add = ir::op_named("add");
  static const ir::Op& reshape = ir::op_named("reshape");
  static const ir::Op& gather = ir::op_named("gather");
  static const ir::Op& update = ir::op_named("tensor_scatter_update");
  const Tensor last = Tensor::scalar(DType::kInt64, count);
  const Tensor one = Tensor::scalar(DType::kInt64, int64_t{1});

  // What the loop carries: the index, the values, a buffer for each result.
  Tensors state{Tensor::scalar(DType::kInt64, int64_t{0})};
  state.insert(state.end(), carried.begin(), carried.end());
  for (const ir::Type& t : types_of_step(body, carried, xs)) {
    Shape all = t.shape;
    all.insert(0, count);
    if (!all.known()) value_error("scan: a step gives {}; its dims must be known", t.str());
    state.push_back(Tensor::zeros(t.dtype, all));
  }
  auto condition = [&](std::span<const Tensor> s) { return Tensors{call1(less, {s[0], last})}; };
  auto step = [&](std::span<const Tensor> s) {
    Tensors rows;
    for (const Tensor& x : xs) rows.push_back(call1(gather, {x, s[0]}, {0}));
    Scanned now = body(s.subspan(1, n), rows);
    MYCEL_CHECK(now.results.size() == s.size() - 1 - n, "scan: a step gives {} results, then {}",
                s.size() - 1 - n, now.results.size());
    if (now.carried.size() != n) {
      value_error("scan: a step takes {} values and carries {} on", n, now.carried.size());
    }
    for (size_t i = 0; i < n; ++i) {
      const ir::Type before = ir::type_of(primal(s[1 + i])),
                     after = ir::type_of(primal(now.carried[i]));
      if (!(before == after)) {
        value_error("scan: value {} is {} before a step and {} after it", i, before.str(),
                    after.str());
      }
    }
    Tensors next{call1(add, {s[0], one})};
    next.insert(next.end(), now.carried.begin(), now.carried.end());
    const Tensor place = call1(reshape, {s[0]}, {ir::Attr(Shape{1, 1})});
    for (size_t i = 0; i < now.results.size(); ++i) {
      const Tensor& buffer = s[1 + n + i];
      Shape row = buffer.shape();
      row.erase(0);
      row.insert(0, 1);
      Tensor y = call1(reshape, {now.results[i]}, {ir::Attr(row)});
      next.push_back(call1(update, {buffer, place, y}));
    }
    return next;
  };
  Tensors out = while_loop(condition, step, state);
  auto split = out.begin() + 1 + static_cast<int64_t>(n);
  return {{out.begin() + 1, split}, {split, out.end()}};
}

}  // namespace mycel::runtime
