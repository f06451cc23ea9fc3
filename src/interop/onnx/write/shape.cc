// Ops that make tensors from shapes and move elements about. Several ops of Mycel may be one of
// ONNX's; their attributes tell which they are.
#include <algorithm>
#include <limits>

#include "interop/onnx/tensors.h"
#include "interop/onnx/writing.h"
#include "runtime/dispatch.h"

namespace mycel::interop::onnx {
namespace {

using Ints = std::vector<int64_t>;

// Whatever takes the elements in order to another shape.
void write_reshape(Writing& w) {
  Ints to(w.result_type().shape.begin(), w.result_type().shape.end());
  if (std::count(to.begin(), to.end(), kUnknownDim) > 1) {
    if (!w.has_attr("shape")) w.fail("more than one dim is unknown");
    to = w.attrs.ints("shape");
    if (std::count(to.begin(), to.end(), int64_t{-1}) > 1) w.fail("more than one dim is unknown");
  }
  w.result(w.emit("Reshape", {w.in(0), w.ints(to)}));
}

void write_unsqueeze(Writing& w) {
  w.result(w.emit("Unsqueeze", {w.in(0), w.ints({w.attrs.integer("axis")})}));
}

void write_squeeze(Writing& w) {
  const ir::Attr& axis = w.attrs["axis"];
  if (axis.none()) return write_reshape(w);
  w.result(w.emit("Squeeze", {w.in(0), w.ints(axis.ints())}));
}

void write_transpose(Writing& w) {
  const ir::Attr& perm = w.attrs["input_perm"];
  WrittenAttrs with;
  if (!perm.none()) {
    Ints p = perm.ints();
    for (int64_t& d : p) d += d < 0 ? static_cast<int64_t>(p.size()) : 0;
    with.emplace_back("perm", p);
  }
  w.result(w.emit("Transpose", {w.in(0)}, with));
}

std::string sliced(Writing& w, const std::string& x, const Ints& begin, const Ints& end,
                   const Ints& axes, const Ints& steps);

// Rows that leave at one end of a dim come in at the other.
std::string rolled(Writing& w, const std::string& x, int64_t shift, int64_t axis) {
  int64_t n = w.type(0).shape[static_cast<int>(axis)];
  if (n == kUnknownDim) w.fail("the extent of axis {} must be known", axis);
  int64_t cut = n == 0 ? 0 : (n - shift % n) % n;
  if (cut == 0) return x;
  std::string behind = sliced(w, x, {cut}, {n}, {axis}, {1}),
              front = sliced(w, x, {0}, {cut}, {axis}, {1});
  return w.emit("Concat", {behind, front}, {{"axis", axis}});
}

void write_concat(Writing& w) {
  if (w.has_attr("shifts")) {
    std::string x = w.in(0);
    const Ints &shifts = w.attrs.ints("shifts"), &dims = w.attrs.ints("dims");
    for (size_t i = 0; i < shifts.size(); ++i) x = rolled(w, x, shifts[i], dims[i]);
    return w.result(x);
  }
  std::vector<std::string> in;
  for (int i = 0; i < w.inputs(); ++i) in.push_back(w.in(i));
  w.result(w.emit("Concat", in, {{"axis", w.attrs.integer("axis")}}));
}

void write_split(Writing& w) {
  bool equal = w.has_attr("output_num");
  int64_t axis = w.attrs.integer(equal ? "axis" : "split_dim");
  if (axis < 0) axis += w.type(0).shape.rank();
  Ints sizes;
  for (const ir::Type& t : w.node.types) {
    if (t.shape[static_cast<int>(axis)] == kUnknownDim) w.fail("the parts must be known");
    sizes.push_back(t.shape[static_cast<int>(axis)]);
  }
  std::vector<std::string> parts = w.emit_many("Split", {w.in(0), w.ints(sizes)},
                                               static_cast<int>(sizes.size()), {{"axis", axis}});
  for (size_t i = 0; i < parts.size(); ++i) w.result(parts[i], static_cast<int>(i));
}

constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();

std::string sliced(Writing& w, const std::string& x, const Ints& begin, const Ints& end,
                   const Ints& axes, const Ints& steps) {
  return w.emit("Slice", {x, w.ints(begin), w.ints(end), w.ints(axes), w.ints(steps)});
}

// Slices, and dims turned round.
void write_slice(Writing& w) {
  Ints axes;
  if (w.has_attr("dims")) {
    axes = w.attrs.ints("dims");
    return w.result(sliced(w, w.in(0), Ints(axes.size(), -1), Ints(axes.size(), -kEnd), axes,
                           Ints(axes.size(), -1)));
  }
  Ints begin, end, steps;
  const Ints &b = w.attrs.ints("begin"), &e = w.attrs.ints("end"), &s = w.attrs.ints("strides");
  for (size_t d = 0; d < b.size(); ++d) {
    if (b[d] == 0 && e[d] == kEnd && s[d] == 1) continue;
    axes.push_back(static_cast<int64_t>(d));
    begin.push_back(b[d]);
    end.push_back(e[d]);
    steps.push_back(s[d]);
  }
  w.result(axes.empty() ? w.in(0) : sliced(w, w.in(0), begin, end, axes, steps));
}

void write_pad(Writing& w) {
  std::string mode = w.attrs.string("mode");
  if (mode == "symmetric") w.fail("mode '{}'", mode);
  Ints pads = w.attrs.ints("low"), high = w.attrs.ints("high");
  pads.insert(pads.end(), high.begin(), high.end());
  std::string value = mode == "constant" ? w.number(w.attrs.real("value"), w.type(0).dtype) : "";
  w.result(w.emit("Pad", {w.in(0), w.ints(pads), value}, {{"mode", mode}}));
}

// A dim that is unknown is one that the operand has.
void write_expand(Writing& w) {
  if (!w.has_attr("shape"))
    return w.result(w.emit("Expand", {w.in(0), w.emit("Shape", {w.in(1)})}));
  Ints to(w.result_type().shape.begin(), w.result_type().shape.end());
  for (int64_t& d : to) d = d == kUnknownDim ? 1 : d;
  w.result(w.emit("Expand", {w.in(0), w.ints(to)}));
}

void write_tile(Writing& w) {
  Ints times = w.attrs.ints("multiples");
  auto rank = static_cast<size_t>(w.type(0).shape.rank());
  std::string x = w.in(0);
  if (times.size() > rank) {
    Ints wider(times.size() - rank, 1);
    for (int64_t d : w.known_dims(w.type(0))) wider.push_back(d);
    x = w.emit("Reshape", {x, w.ints(wider)});
  }
  times.insert(times.begin(), rank > times.size() ? rank - times.size() : 0, 1);
  w.result(w.emit("Tile", {x, w.ints(times)}));
}

// zeros_like, ones_like, full_like: which number it is tells the value on one element.
void write_constant_of_shape(Writing& w) {
  Tensor one = Tensor::zeros(w.type(0).dtype, Shape());
  Tensor value = runtime::call1(*w.node.op, std::span<const Tensor>(&one, 1), w.node.attrs);
  w.result(w.emit("Expand", {w.out.constant(value), w.emit("Shape", {w.in(0)})}));
}

void write_shape(Writing& w) {
  w.result(w.cast(w.emit("Shape", {w.in(0)}), DType::kInt64, w.result_type().dtype));
}

void write_trilu(Writing& w) {
  constexpr int64_t kFar = int64_t{1} << 40;
  int64_t first = w.attrs.integer("first"), last = w.attrs.integer("last");
  std::string x = w.in(0);
  auto cut = [&](int64_t k, int64_t upper) {
    x = w.emit("Trilu", {x, w.out.constant(Tensor::scalar(DType::kInt64, k))}, {{"upper", upper}});
  };
  if (first > -kFar) cut(first, 1);
  if (last < kFar) cut(last, 0);
  w.result(x);
}

void write_depth(Writing& w) {
  bool to_space = std::string_view(w.node.op->def.onnx).starts_with("Depth");
  WrittenAttrs with{{"blocksize", w.attrs.integer("block_size")}};
  if (to_space)
    with.emplace_back("mode", w.attrs.string("mode"));
  else if (w.attrs.string("mode") != "DCR")
    w.fail("mode '{}'", w.attrs.string("mode"));
  w.result(w.emit(to_space ? "DepthToSpace" : "SpaceToDepth", {w.in(0)}, with));
}

constexpr Writer kWriters[] = {
    {"Reshape", write_reshape},
    {"Unsqueeze", write_unsqueeze},
    {"Squeeze", write_squeeze},
    {"Transpose", write_transpose},
    {"Concat", write_concat},
    {"Split", write_split},
    {"Slice", write_slice},
    {"Pad", write_pad},
    {"Expand", write_expand},
    {"Tile", write_tile},
    {"ConstantOfShape", write_constant_of_shape},
    {"Shape", write_shape},
    {"Trilu", write_trilu},
    {"DepthToSpace", write_depth},
    {"SpaceToDepth", write_depth},
};

}  // namespace

Writers shape_writers() { return kWriters; }

}  // namespace mycel::interop::onnx
