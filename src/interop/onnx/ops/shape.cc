// Shapes: what a tensor's is, tensors made from shapes, elements moved about.
#include <cmath>
#include <limits>

#include "interop/onnx/ops/build.h"

namespace mycel::interop::onnx {
namespace {

Values shape(Call& c) {
  Tensor x = c.x(0);
  int rank = x.rank();
  auto clamp = [&](int64_t v) { return std::clamp<int64_t>(v < 0 ? v + rank : v, 0, rank); };
  int64_t start = clamp(c.integer("start", 0)), end = clamp(c.integer("end", rank));
  if (x.shape().known()) {
    Ints dims(x.shape().begin() + start, x.shape().begin() + std::max(start, end));
    return one(ints_tensor(dims));
  }
  return one(ops::narrow(as(runtime::call1(ir::op_named("shape_of"), {x}), DType::kInt64), 0, start,
                         std::max<int64_t>(end - start, 0)));
}

Values size(Call& c) {
  Tensor x = c.x(0);
  if (x.shape().known()) return one(Tensor::scalar(DType::kInt64, x.size()));
  return one(ops::reduce_prod(as(runtime::call1(ir::op_named("shape_of"), {x}), DType::kInt64)));
}

// What the axes of the input and -1 leave open is filled in here: 0 copies a dim.
Values reshape(Call& c) {
  Tensor x = c.x(0);
  Ints to = c.opset < 5 ? c.ints("shape") : c.known_ints(1);
  if (!c.flag("allowzero", false)) {
    for (size_t i = 0; i < to.size(); ++i) {
      if (to[i] != 0) continue;
      if (static_cast<int>(i) >= x.rank())
        c.fail("dim {} is 0; the input has {} dims", i, x.rank());
      to[i] = c.dims(x)[i];
    }
  }
  return one(ops::reshape(x, to));
}

Values flatten(Call& c) {
  Tensor x = c.x(0);
  int64_t axis = c.integer("axis", 1);
  if (axis < 0) axis += x.rank();
  if (axis < 0 || axis > x.rank()) c.fail("axis {} of a tensor with {} dims", axis, x.rank());
  if (!x.shape().known() && axis == 1) return one(ops::reshape(x, {0, -1}));
  (void)c.dims(x);
  int at = static_cast<int>(axis);
  return one(ops::reshape(x, {x.shape().size(0, at), x.shape().size(at, x.rank())}));
}

Ints axes_input(Call& c) { return c.has(1) ? c.known_ints(1) : c.ints("axes"); }

Values squeeze(Call& c) {
  Tensor x = c.x(0);
  Ints axes = axes_input(c);
  if (axes.empty() && !c.has(1) && !c.has_attr("axes")) return one(ops::squeeze(x));
  if (axes.empty()) return one(x);
  return one(ops::squeeze(x, ir::Attr(axes)));
}

Values unsqueeze(Call& c) {
  Tensor x = c.x(0);
  Ints axes = axes_input(c);
  int rank = x.rank() + static_cast<int>(axes.size());
  axes = axes_of(c, axes, rank);
  std::sort(axes.begin(), axes.end());
  for (int64_t a : axes) x = ops::expand_dims(x, a);
  return one(x);
}

Values transpose(Call& c) {
  Tensor x = c.x(0);
  Ints perm = c.ints("perm");
  if (perm.empty()) {
    perm = counted(x.rank());
    std::reverse(perm.begin(), perm.end());
  }
  return one(x.rank() == 0 ? x : ops::transpose(x, ir::Attr(perm)));
}

Values concat(Call& c) {
  Tensors parts;
  for (int i = 0; i < c.inputs(); ++i) parts.push_back(c.x(i));
  return one(ops::concat(parts, c.integer("axis", 1)));
}

Values split(Call& c) {
  Tensor x = c.x(0);
  int axis = axis_of(c, c.integer("axis", 0), x.rank());
  Ints sizes = c.has(1) ? c.known_ints(1) : c.ints("split");
  if (sizes.empty()) {
    int64_t n = c.dims(x)[static_cast<size_t>(axis)], parts = c.integer("num_outputs", c.outputs());
    if (parts < 1 || parts != c.outputs()) c.fail("{} parts, {} results", parts, c.outputs());
    int64_t each = (n + parts - 1) / parts;
    for (int64_t left = n, i = 0; i < parts; ++i, left -= sizes.back())
      sizes.push_back(std::max<int64_t>(std::min(each, left), 0));
  }
  Tensors out;
  int64_t at = 0;
  for (int64_t s : sizes) {
    out.push_back(ops::narrow(x, axis, at, s));
    at += s;
  }
  if (dims_differ(at, x.dim(axis))) c.fail("the parts have {} rows, the input {}", at, x.dim(axis));
  return many(out);
}

// Bounds are clipped as Python's slices do.
Values slice(Call& c) {
  Tensor x = c.x(0);
  bool old = c.opset < 10;
  Ints starts = old ? c.ints("starts") : c.known_ints(1);
  Ints ends = old ? c.ints("ends") : c.known_ints(2);
  Ints axes = old ? c.ints("axes") : c.has(3) ? c.known_ints(3) : Ints();
  Ints steps = c.has(4) ? c.known_ints(4) : Ints(starts.size(), 1);
  if (axes.empty()) axes = counted(static_cast<int64_t>(starts.size()));
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    c.fail("{} starts, {} ends, {} axes, {} steps", starts.size(), ends.size(), axes.size(),
           steps.size());
  auto rank = static_cast<size_t>(x.rank());
  Ints begin(rank, 0), end(rank, std::numeric_limits<int64_t>::max()), step(rank, 1);
  for (size_t i = 0; i < starts.size(); ++i) {
    auto axis = static_cast<size_t>(axis_of(c, axes[i], x.rank()));
    if (steps[i] == 0) c.fail("a step is 0");
    begin[axis] = starts[i];
    end[axis] = ends[i];
    step[axis] = steps[i];
  }
  static const ir::Op& op = ir::op_named("basic_slice");
  return one(runtime::call1(op, {x}, {ir::Attr(begin), ir::Attr(end), ir::Attr(step)}));
}

Values expand(Call& c) {
  Tensor x = c.x(0);
  Ints to = c.known_ints(1);
  Shape out, want(to);
  if (!broadcast(x.shape(), want, &out))
    c.fail("{} and {} do not broadcast", x.shape().str(), want.str());
  return one(ops::broadcast_to(x, {out.begin(), out.end()}));
}

Values tile(Call& c) {
  return one(c.x(0).rank() == 0 ? c.x(0) : ops::tile(c.x(0), c.known_ints(1)));
}

Tensor padded(const Tensor& x, Ints low, Ints high, const std::string& mode, double value) {
  // Negative numbers of elements cut off.
  Tensor y = x;
  for (int d = 0; d < x.rank(); ++d) {
    auto i = static_cast<size_t>(d);
    int64_t cut_low = std::max<int64_t>(-low[i], 0), cut_high = std::max<int64_t>(-high[i], 0);
    if (cut_low || cut_high) y = ops::narrow(y, d, cut_low, x.dim(d) - cut_low - cut_high);
    low[i] = std::max<int64_t>(low[i], 0);
    high[i] = std::max<int64_t>(high[i], 0);
  }
  if (std::ranges::all_of(low, [](int64_t v) { return v == 0; }) &&
      std::ranges::all_of(high, [](int64_t v) { return v == 0; }))
    return y;
  static const ir::Op& op = ir::op_named("pad_nd");
  return runtime::call1(op, {y}, {ir::Attr(low), ir::Attr(high), ir::Attr(mode), ir::Attr(value)});
}

Values pad(Call& c) {
  Tensor x = c.x(0);
  Ints pads = c.opset < 11 ? c.ints("pads") : c.known_ints(1);
  double value = c.opset < 11 ? c.real("value", 0) : 0;
  if (c.opset >= 11 && c.has(2) && c.x(2).size() > 0) value = c.known_reals(2).at(0);
  Ints axes = c.has(3) ? axes_of(c, c.known_ints(3), x.rank()) : counted(x.rank());
  if (pads.size() != 2 * axes.size())
    c.fail("{} pads for {} dims; two each are allowed", pads.size(), axes.size());
  auto rank = static_cast<size_t>(x.rank());
  Ints low(rank, 0), high(rank, 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    low[static_cast<size_t>(axes[i])] = pads[i];
    high[static_cast<size_t>(axes[i])] = pads[i + axes.size()];
  }
  return one(padded(x, low, high, c.text("mode", "constant"), value));
}

Values center_crop_pad(Call& c) {
  Tensor x = c.x(0);
  Ints to = c.known_ints(1);
  Ints axes = c.has_attr("axes") ? axes_of(c, c.ints("axes"), x.rank()) : counted(x.rank());
  if (axes.size() != to.size()) c.fail("{} sizes for {} axes", to.size(), axes.size());
  auto rank = static_cast<size_t>(x.rank());
  Ints low(rank, 0), high(rank, 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    auto a = static_cast<size_t>(axes[i]);
    int64_t more = to[i] - c.dims(x)[a];
    low[a] = more >= 0 ? more / 2 : -(-more / 2);
    high[a] = more - low[a];
  }
  return one(padded(x, low, high, "constant", 0));
}

Values constant_of_shape(Call& c) {
  Tensor value = c.has_attr("value") ? c.tensor("value") : number(0, DType::kFloat32);
  return one(ops::broadcast_to(ops::reshape(value, {}), c.known_ints(0)));
}

Values eye_like(Call& c) {
  Tensor x = c.x(0);
  DType d = c.has_attr("dtype") ? dtype_of_code(c.integer("dtype"), c.title()) : x.dtype();
  Dims dims = c.dims(x);
  if (dims.size() != 2) c.fail("the input has {} dims; 2 are allowed", dims.size());
  int64_t k = c.integer("k", 0);
  Tensor out = Tensor::zeros(d, x.shape());
  for (int64_t i = 0; i < dims[0]; ++i) {
    if (i + k >= 0 && i + k < dims[1]) set_element(out.mutable_raw(), d, i * dims[1] + i + k, 1.0);
  }
  return one(out);
}

Values range(Call& c) {
  Tensor start = c.known(0), limit = c.known(1), delta = c.known(2);
  DType d = start.dtype();
  if (is_int(d)) {
    int64_t from = start.item_int(), to = limit.item_int(), step = delta.item_int();
    if (step == 0) c.fail("the step is 0");
    int64_t n = std::max<int64_t>((to - from + step + (step > 0 ? -1 : 1)) / step, 0);
    Tensor out = Tensor::empty(d, Shape{n});
    for (int64_t i = 0; i < n; ++i) set_element(out.mutable_raw(), d, i, from + i * step);
    return one(out);
  }
  double from = start.item(), step = delta.item();
  if (step == 0) c.fail("the step is 0");
  double count = std::ceil((limit.item() - from) / step);
  auto n = static_cast<int64_t>(std::max(count, 0.0));
  Tensor out = Tensor::empty(d, Shape{n});
  for (int64_t i = 0; i < n; ++i)
    set_element(out.mutable_raw(), d, i, from + static_cast<double>(i) * step);
  return one(out);
}

Values trilu(Call& c) {
  int64_t k = c.has(1) ? c.known_ints(1).at(0) : 0;
  Tensor x = c.x(0);
  if (x.shape().known() && x.size() == 0) return one(x);
  return one(c.flag("upper", true) ? ops::triu(x, k) : ops::tril(x, k));
}

Values depth_to_space(Call& c) {
  Tensor x = c.x(0);
  int64_t b = c.integer("blocksize");
  Dims n = c.dims(x);
  if (n.size() != 4 || b < 1 || n[1] % (b * b) != 0)
    c.fail("{} in blocks of {}", x.shape().str(), b);
  int64_t depth = n[1] / (b * b);
  bool crd = c.text("mode", "DCR") == "CRD";
  Ints split = crd ? Ints{n[0], depth, b, b, n[2], n[3]} : Ints{n[0], b, b, depth, n[2], n[3]};
  Ints perm = crd ? Ints{0, 1, 4, 2, 5, 3} : Ints{0, 3, 4, 1, 5, 2};
  return one(ops::reshape(ops::transpose(ops::reshape(x, split), ir::Attr(perm)),
                          {n[0], depth, n[2] * b, n[3] * b}));
}

Values space_to_depth(Call& c) {
  Tensor x = c.x(0);
  int64_t b = c.integer("blocksize");
  Dims n = c.dims(x);
  if (n.size() != 4 || b < 1 || n[2] % b || n[3] % b)
    c.fail("{} in blocks of {}", x.shape().str(), b);
  bool crd = c.text("mode", "DCR") == "CRD";
  Ints perm = crd ? Ints{0, 1, 3, 5, 2, 4} : Ints{0, 3, 5, 1, 2, 4};
  Tensor parts = ops::reshape(x, {n[0], n[1], n[2] / b, b, n[3] / b, b});
  return one(ops::reshape(ops::transpose(parts, ir::Attr(perm)),
                          {n[0], n[1] * b * b, n[2] / b, n[3] / b}));
}

Values constant(Call& c) {
  if (c.has_attr("value")) return one(c.tensor("value"));
  if (c.has_attr("value_float")) return one(number(c.real("value_float", 0), DType::kFloat32));
  if (c.has_attr("value_int")) return one(Tensor::scalar(DType::kInt64, c.integer("value_int")));
  if (c.has_attr("value_ints")) return one(ints_tensor(c.ints("value_ints")));
  if (c.has_attr("value_floats")) {
    std::vector<double> v = c.reals("value_floats");
    std::vector<float> f(v.begin(), v.end());
    return one(Tensor::from(f, Shape{static_cast<int64_t>(f.size())}));
  }
  c.unsupported("the constant is neither a tensor nor numbers");
}

constexpr Record kRecords[] = {
    {"Shape", shape},
    {"Size", size},
    {"Reshape", reshape, "1"},
    {"Flatten", flatten},
    {"Squeeze", squeeze, "1"},
    {"Unsqueeze", unsqueeze, "1"},
    {"Transpose", transpose},
    {"Concat", concat},
    {"Split", split, "1"},
    {"Slice", slice, "1 2 3 4"},
    {"Expand", expand, "1"},
    {"Tile", tile, "1"},
    {"Pad", pad, "1 2 3"},
    {"CenterCropPad", center_crop_pad, "1"},
    {"ConstantOfShape", constant_of_shape, "0"},
    {"EyeLike", eye_like},
    {"Range", range, "0 1 2"},
    {"Trilu", trilu, "1"},
    {"DepthToSpace", depth_to_space},
    {"SpaceToDepth", space_to_depth},
    {"Constant", constant},
};

}  // namespace

Records shape_records() { return kRecords; }

}  // namespace mycel::interop::onnx
