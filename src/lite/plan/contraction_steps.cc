#include "lite/plan/contraction_steps.h"

#include <algorithm>
#include <cmath>

#include "ir/core_ops.h"
#include "lite/runtime/contractions.h"
#include "lite/runtime/gemm.h"

namespace mycel::lite {
namespace {

using ir::Node;
using ir::Value;

int64_t product(const std::vector<int64_t>& v) {
  int64_t n = 1;
  for (int64_t x : v) n *= x;
  return n;
}

bool all_float32(const Node& n) {
  for (const Value& v : n.inputs) {
    if (v && v.dtype() != DType::kFloat32) return false;
  }
  return n.types.size() == 1 && n.types[0].dtype == DType::kFloat32;
}

bool product_of(const Node& n, bool dense, Contraction& c) {
  c.x = n.inputs[0], c.w = n.inputs[1];
  if (dense && n.inputs.size() > 2) c.bias = n.inputs[2];
  const Shape &x = c.x.shape(), &w = c.w.shape();
  if (x.rank() < (dense ? 1 : 2) || w.rank() < 2 || (dense && w.rank() != 2)) return false;
  c.x_transposed = !dense && n.view().boolean("transpose_a");
  c.w_transposed = dense || n.view().boolean("transpose_b");
  const int xr = x.rank(), wr = w.rank();
  c.rows = xr == 1 ? 1 : x[c.x_transposed ? xr - 1 : xr - 2];
  c.terms = x[c.x_transposed ? xr - 2 : xr - 1];
  c.columns = w[c.w_transposed ? wr - 2 : wr - 1];
  if (wr == 2) {
    c.packing = c.w_transposed ? Packing::kRows : Packing::kColumns;
    if (!c.x_transposed) {
      // One matrix on the right: all rows of all batches go through it together.
      c.rows = c.terms > 0 ? x.size() / c.terms
                           : n.types[0].shape.size() / std::max<int64_t>(c.columns, 1);
      return c.terms > 0 && c.columns > 0;
    }
  }
  // Matrices of the batch, broadcast.
  const Shape& y = n.types[0].shape;
  int64_t x_step = 1, w_step = 1;
  for (int d = y.rank() - 3; d >= 0; --d) {
    const int xd = d - (y.rank() - xr), wd = d - (y.rank() - wr);
    const int64_t xn = xd >= 0 ? x[xd] : 1, wn = wd >= 0 ? w[wd] : 1;
    c.batch.insert(c.batch.begin(), y[d]);
    c.x_stride.insert(c.x_stride.begin(), xn == 1 ? 0 : x_step);
    c.w_stride.insert(c.w_stride.begin(), wn == 1 ? 0 : w_step);
    x_step *= xn;
    w_step *= wn;
  }
  return c.terms > 0 && c.columns > 0;
}

bool convolution_of(const Node& n, Contraction& c) {
  const ir::AttrsView a = n.view();
  if (a.string("layout") != "channel_last") return false;
  c.convolution = true;
  c.x = n.inputs[0], c.w = n.inputs[1];
  if (n.inputs.size() > 2) c.bias = n.inputs[2];
  const Shape &x = c.x.shape(), &w = c.w.shape(), &y = n.types[0].shape;
  const int rank = x.rank() - 2;
  c.images = x[0];
  c.in_channels = x[rank + 1];
  c.out_channels = y[rank + 1];
  c.groups = a.integer("groups");
  c.stride = a.ints("stride");
  c.dilation = a.ints("dilation");
  const std::string mode = a.string("pad_mode");
  const std::vector<int64_t>& padding = a.ints("padding");
  for (int d = 0; d < rank; ++d) {
    const int64_t in = x[d + 1], k = w[d + 2], out = y[d + 1];
    const auto at = static_cast<size_t>(d);
    int64_t before = 0;
    if (mode == "same") {
      before =
          std::max<int64_t>((out - 1) * c.stride[at] + c.dilation[at] * (k - 1) + 1 - in, 0) / 2;
    } else if (mode == "pad") {
      const bool two = padding.size() == 2 * static_cast<size_t>(rank);
      before = padding.size() == 1 ? padding[0] : padding[two ? 2 * at : at];
    }
    c.in.push_back(in), c.kernel.push_back(k), c.out.push_back(out), c.pad.push_back(before);
  }
  c.depthwise = c.groups == c.in_channels && c.groups == c.out_channels && c.groups > 1;
  c.packing = c.depthwise ? Packing::kDepthwise : Packing::kWindows;
  return rank >= 1 && rank <= 3 && product(c.kernel) <= 4096 && product(c.kernel) > 0 &&
         x.size() > 0 && c.in_channels > 0 && c.out_channels > 0 &&
         std::none_of(c.pad.begin(), c.pad.end(), [](int64_t p) { return p < 0; });
}

// One number per column, along the last dim.
bool is_bias(const Value& v, const Contraction& c) {
  const int64_t n = c.convolution ? c.out_channels : c.columns;
  return v.dtype() == DType::kFloat32 && v.rank() > 0 && v.shape().size() == n &&
         v.shape()[v.rank() - 1] == n;
}

bool clamp(const Node& n, Contraction& c) {
  const bool six = n.op->name == "relu6";
  if (!six && n.op->name != "relu") return false;
  if (!std::isinf(c.high) || !std::isinf(c.low)) return false;
  c.low = 0;
  if (six) c.high = 6;
  return true;
}

}  // namespace

bool contraction_of(const Node& n, Contraction& c) {
  const std::string& op = n.op->name;
  const bool dense = op == "dense", matmul = op == "batch_matmul";
  const bool conv = op == "conv1d" || op == "conv2d" || op == "conv3d";
  if ((!dense && !matmul && !conv) || !all_float32(n)) return false;
  if (n.inputs.size() < 2 || !n.inputs[0] || !n.inputs[1] || n.types[0].shape.size() == 0)
    return false;
  return conv ? convolution_of(n, c) : product_of(n, dense, c);
}

bool joins(const Node& user, const Value& y, Contraction& c,
           const std::function<bool(const Value&)>& steady) {
  if (user.types.size() != 1 || !(user.types[0] == y.type())) return false;
  Contraction next = c;
  // A bias that is added before anything else.
  auto add = [&](const Value& other) {
    if (next.bias || !std::isinf(next.low) || !steady(other) || !is_bias(other, next)) return false;
    next.bias = other;
    return true;
  };
  const ir::CoreOps& core = ir::core_ops();
  if (user.op == core.add) {
    if (!add(user.inputs[user.inputs[0].same(y) ? 1 : 0])) return false;
  } else if (user.op == core.fused) {
    const ir::Graph& body = *user.attrs[0].graph();
    if (body.results().size() != 1) return false;
    Value now;
    for (size_t i = 0; i < user.inputs.size(); ++i) {
      if (user.inputs[i].same(y)) now = body.params()[i];
    }
    for (const Node& n : body.nodes()) {
      if (n.is_param()) continue;
      const bool first = n.inputs.size() > 0 && n.inputs[0].same(now);
      const bool second = n.inputs.size() > 1 && n.inputs[1].same(now);
      if (first == second || !(n.types[0] == y.type())) return false;
      if (n.op == core.add) {
        const Value& other = n.inputs[first ? 1 : 0];
        size_t from = 0;
        while (from < body.params().size() && !body.params()[from].same(other)) ++from;
        if (from == body.params().size() || !add(user.inputs[from])) return false;
      } else if (!clamp(n, next)) {
        return false;
      }
      now = {const_cast<Node*>(&n), 0};
    }
    if (!body.results()[0].same(now)) return false;
  } else if (!clamp(user, next)) {
    return false;
  }
  c = next;
  return true;
}

void write_numbers(const Contraction& c, bool packed, std::vector<int64_t>& numbers,
                   std::vector<float>& reals) {
  reals = {c.low, c.high};
  auto append = [&](const std::vector<int64_t>& v) {
    numbers.insert(numbers.end(), v.begin(), v.end());
  };
  if (c.convolution) {
    numbers = {c.images,
               c.groups,
               c.in_channels,
               c.out_channels,
               (c.bias ? kBiasFlag : 0) | (c.depthwise ? kDepthwiseFlag : 0),
               static_cast<int64_t>(c.in.size())};
    for (const auto* v : {&c.in, &c.kernel, &c.out, &c.stride, &c.dilation, &c.pad}) append(*v);
    return;
  }
  numbers = {c.rows, c.columns, c.terms,
             (c.bias ? kBiasFlag : 0) | (packed ? kPackedFlag : 0) |
                 (c.x_transposed ? kXTransposedFlag : 0) | (c.w_transposed ? kWTransposedFlag : 0),
             static_cast<int64_t>(c.batch.size())};
  for (const auto* v : {&c.batch, &c.x_stride, &c.w_stride}) append(*v);
}

std::vector<uint64_t> scratch_of(const Contraction& c, bool packed) {
  if (c.convolution) return {4 * static_cast<uint64_t>(c.in_channels)};
  std::vector<uint64_t> list;
  if (!packed) list.push_back(4 * static_cast<uint64_t>(panels_of(c.columns) * kPanel * c.terms));
  if (c.x_transposed) list.push_back(4 * static_cast<uint64_t>(c.rows * c.terms));
  return list;
}

}  // namespace mycel::lite
