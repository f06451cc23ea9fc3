// Ops that only say how elements lie: shapes, transposes, joins, blocks, padding.
#include "interop/tensorflow/ops/build.h"
#include "interop/tensorflow/ops/quantized.h"

namespace mycel::interop::tensorflow {
namespace {

Tensors reshape(Call& c) {
  Tensor x = c.x(0);
  Ints to = c.has(1) ? c.known_ints(1) : c.ints("shape");
  if (!c.has(1) && !c.has_attr("shape")) c.fail("it says no shape");
  return {ops::reshape(x, to)};
}

Tensors shape_of(Call& c) {
  Dims d = c.dims(c.x(0));
  return {ints_tensor(d, c.dtype("out_type", DType::kInt32))};
}
Tensors shapes_of(Call& c) {
  Tensors out;
  for (int i = 0; i < c.inputs(); ++i)
    out.push_back(ints_tensor(c.dims(c.x(i)), c.dtype("out_type", DType::kInt32)));
  return out;
}
Tensors rank_of(Call& c) { return {number(c.x(0).rank(), DType::kInt32)}; }
Tensors size_of_tensor(Call& c) {
  int64_t n = 1;
  for (int64_t d : c.dims(c.x(0))) n *= d;
  return {Tensor::scalar(c.dtype("out_type", DType::kInt32), n)};
}

Tensors squeeze(Call& c) {
  Tensor x = c.x(0);
  Dims dims = c.dims(x);
  Ints axes = c.ints("squeeze_dims"), to;
  for (int64_t& a : axes) {
    a = axis_of(c, a, x.rank());
    if (dims[static_cast<size_t>(a)] != 1) c.fail("dim {} of {} is not 1", a, x.shape().str());
  }
  for (int d = 0; d < x.rank(); ++d) {
    const int64_t n = dims[static_cast<size_t>(d)];
    const bool named = std::find(axes.begin(), axes.end(), d) != axes.end();
    if (axes.empty() ? n != 1 : !named) to.push_back(n);
  }
  return {ops::reshape(x, to)};
}

Tensors expand_dims(Call& c) {
  Tensor x = c.x(0);
  return {ops::expand_dims(x, axis_of(c, c.known_int(1), x.rank() + 1))};
}

Tensors transpose(Call& c) {
  Tensor x = c.x(0);
  Ints perm = c.known_ints(1);
  for (int64_t& p : perm) p = axis_of(c, p, x.rank());
  return {ops::transpose(x, ir::Attr(perm))};
}

Tensor concatenated(Call& c, const Tensors& parts, int64_t axis) {
  if (parts.empty()) c.fail("it has no inputs");
  const int at = axis_of(c, axis, parts[0].rank());
  return parts.size() == 1 ? parts[0] : ops::concat(parts, at);
}
Tensors concat(Call& c) {
  if (c.lite()) return {activated(c, concatenated(c, c.all(), c.integer("axis", 0)))};
  const bool last = c.node.op == "ConcatV2";  // where the axis stands
  const int n = c.inputs() - 1;
  if (n < 1) c.fail("{} inputs", c.inputs());
  Tensors parts(c.all().begin() + (last ? 0 : 1), c.all().begin() + (last ? n : n + 1));
  return {concatenated(c, parts, c.known_int(last ? n : 0))};
}
Tensors pack(Call& c) {
  const int rank = c.x(0).rank() + 1;
  return {ops::stack(c.all(), axis_of(c, c.integer("axis", 0), rank))};
}
Tensors unpack(Call& c) {
  Tensor x = c.x(0);
  return ops::unstack(x, axis_of(c, c.integer("axis", 0), x.rank()));
}

Tensors tile(Call& c) { return {ops::tile(c.x(0), c.known_ints(1))}; }
Tensors broadcast_to(Call& c) { return {ops::broadcast_to(c.x(0), c.known_ints(1))}; }
Tensors broadcast_args(Call& c) {
  Ints a = c.known_ints(0), b = c.known_ints(1);
  Shape out;
  if (!broadcast(Shape(a), Shape(b), &out)) c.fail("the shapes do not broadcast");
  return {ints_tensor(Ints(out.begin(), out.end()), c.x(0).dtype())};
}

Tensors fill(Call& c) {
  Ints dims = c.known_ints(0);
  Tensor v = c.x(1);
  if (v.rank() != 0) v = ops::reshape(v, {});
  return {ops::broadcast_to(v, dims)};
}

Tensors range(Call& c) {
  Tensor first = c.known(0);
  const DType d = first.dtype();
  auto at = [&](int i) { return element_as_double(c.known(i).raw(), c.known(i).dtype(), 0); };
  for (int i = 0; i < 3; ++i) {
    if (c.known(i).size() != 1) c.fail("input {} is no number", i);
  }
  if (at(2) == 0) c.fail("a step of 0");
  return {ops::arange(at(0), at(1), at(2), d)};
}

Tensors pad_with(Call& c, double value) {
  Tensor x = c.x(0);
  Ints flat = c.known_ints(1);
  if (flat.size() != 2 * static_cast<size_t>(x.rank()))
    c.fail("{} paddings for {} dims", flat.size(), x.rank());
  Ints low, high;
  for (size_t d = 0; d < flat.size(); d += 2) {
    if (flat[d] < 0 || flat[d + 1] < 0) c.fail("a padding of {} {}", flat[d], flat[d + 1]);
    low.push_back(flat[d]), high.push_back(flat[d + 1]);
  }
  return {padded(x, low, high, value)};
}
Tensors pad(Call& c) { return pad_with(c, 0); }
Tensors pad_v2(Call& c) {
  Tensor v = c.known(2);
  if (v.size() != 1) c.fail("a padding value {}", v.describe());
  return pad_with(c, element_as_double(v.raw(), v.dtype(), 0));
}
// Zero of what the numbers stand for.
Tensors quantized_pad(Call& c) {
  if (c.node.op == "PADV2") return pad_v2(c);
  return pad_with(c, static_cast<double>(c.in_slot(0).quantization.zero.at(0)));
}

Tensors mirror_pad(Call& c) {
  Ints flat = c.known_ints(1);
  return {ops::mirror_pad(c.x(0), flat, c.text("mode", "REFLECT"))};
}

// Blocks of channels and pixels, channels last: b b c.
Tensors space_to_depth(Call& c) {
  Tensor x = c.x(0);
  if (channels_first(c)) return {ops::space_to_depth(x, c.integer("block_size", 0))};
  const int64_t b = c.integer("block_size", 0);
  Dims d = c.dims(x);
  if (x.rank() != 4 || b < 1 || d[1] % b || d[2] % b)
    c.fail("blocks of {} in {}", b, x.shape().str());
  x = ops::reshape(x, {d[0], d[1] / b, b, d[2] / b, b, d[3]});
  x = ops::transpose(x, ir::Attr(Ints{0, 1, 3, 2, 4, 5}));
  return {ops::reshape(x, {d[0], d[1] / b, d[2] / b, b * b * d[3]})};
}
Tensors depth_to_space(Call& c) {
  Tensor x = c.x(0);
  if (channels_first(c)) return {ops::depth_to_space(x, c.integer("block_size", 0))};
  const int64_t b = c.integer("block_size", 0);
  Dims d = c.dims(x);
  if (x.rank() != 4 || b < 1 || d[3] % (b * b)) c.fail("blocks of {} in {}", b, x.shape().str());
  x = ops::reshape(x, {d[0], d[1], d[2], b, b, d[3] / (b * b)});
  x = ops::transpose(x, ir::Attr(Ints{0, 1, 3, 2, 4, 5}));
  return {ops::reshape(x, {d[0], d[1] * b, d[2] * b, d[3] / (b * b)})};
}

// Spatial dims cut into blocks that go to the batch, block index first.
Tensors space_to_batch(Call& c) {
  Tensor x = c.x(0);
  Ints block = c.known_ints(1), pads = c.known_ints(2);
  const size_t m = block.size();
  if (pads.size() != 2 * m || static_cast<size_t>(x.rank()) < m + 1)
    c.fail("{} blocks, {} paddings for {}", m, pads.size(), x.shape().str());
  Ints low(static_cast<size_t>(x.rank()), 0), high = low;
  for (size_t k = 0; k < m; ++k) low[k + 1] = pads[2 * k], high[k + 1] = pads[2 * k + 1];
  const double zero = c.lite() && !c.in_slot(0).quantization.zero.empty()
                          ? static_cast<double>(c.in_slot(0).quantization.zero[0])
                          : 0;
  x = padded(x, low, high, zero);
  Dims d = c.dims(x);
  Ints split{d[0]}, perm, to{d[0]};
  for (size_t k = 0; k < m; ++k) {
    if (block[k] < 1 || d[k + 1] % block[k]) c.fail("blocks of {} in {}", block[k], d[k + 1]);
    split.insert(split.end(), {d[k + 1] / block[k], block[k]});
    perm.push_back(static_cast<int64_t>(2 * k) + 2);
    to[0] *= block[k];
  }
  perm.push_back(0);
  for (size_t k = 0; k < m; ++k) {
    perm.push_back(static_cast<int64_t>(2 * k) + 1);
    to.push_back(d[k + 1] / block[k]);
  }
  for (size_t k = m + 1; k < d.size(); ++k) {
    perm.push_back(static_cast<int64_t>(split.size()));
    split.push_back(d[k]);
    to.push_back(d[k]);
  }
  return {ops::reshape(ops::transpose(ops::reshape(x, split), ir::Attr(perm)), to)};
}
Tensors batch_to_space(Call& c) {
  Tensor x = c.x(0);
  Ints block = c.known_ints(1), crops = c.known_ints(2);
  const size_t m = block.size();
  Dims d = c.dims(x);
  int64_t blocks = 1;
  for (int64_t b : block) blocks *= b;
  if (crops.size() != 2 * m || d.size() < m + 1 || blocks < 1 || d[0] % blocks)
    c.fail("{} blocks, {} crops for {}", m, crops.size(), x.shape().str());
  Ints split(block.begin(), block.end()), perm{static_cast<int64_t>(m)}, to{d[0] / blocks};
  split.push_back(d[0] / blocks);
  for (size_t k = 1; k < d.size(); ++k) split.push_back(d[k]);
  for (size_t k = 0; k < m; ++k) {
    perm.push_back(static_cast<int64_t>(m + 1 + k));
    perm.push_back(static_cast<int64_t>(k));
    to.push_back(d[k + 1] * block[k]);
  }
  for (size_t k = m + 1; k < d.size(); ++k) {
    perm.push_back(static_cast<int64_t>(m + k));
    to.push_back(d[k]);
  }
  x = ops::reshape(ops::transpose(ops::reshape(x, split), ir::Attr(perm)), to);
  for (size_t k = 0; k < m; ++k) {
    const int64_t n = to[k + 1] - crops[2 * k] - crops[2 * k + 1];
    if (crops[2 * k] < 0 || crops[2 * k + 1] < 0 || n < 0) c.fail("crops beyond dim {}", k + 1);
    x = ops::narrow(x, static_cast<int64_t>(k) + 1, crops[2 * k], n);
  }
  return {x};
}

constexpr Record kRecords[] = {
    {22, "RESHAPE", "Reshape", reshape, moves, "1"},
    {77, "SHAPE", "Shape", shape_of, moves},
    {-1, "", "ShapeN", shapes_of},
    {110, "RANK", "Rank", rank_of, moves},
    {-1, "", "Size", size_of_tensor},
    {43, "SQUEEZE", "Squeeze", squeeze, moves},
    {70, "EXPAND_DIMS", "ExpandDims", expand_dims, moves, "1"},
    {39, "TRANSPOSE", "Transpose", transpose, moves, "1"},
    {2, "CONCATENATION", "ConcatV2", concat, quantized_concat},
    {-1, "", "Concat", concat},
    {83, "PACK", "Pack", pack, moves},
    {88, "UNPACK", "Unpack", unpack, moves},
    {69, "TILE", "Tile", tile, moves, "1"},
    {130, "BROADCAST_TO", "BroadcastTo", broadcast_to, moves, "1"},
    {145, "BROADCAST_ARGS", "BroadcastArgs", broadcast_args, nullptr, "0 1"},
    {94, "FILL", "Fill", fill, moves, "0"},
    {96, "RANGE", "Range", range, nullptr, "0 1 2"},
    {34, "PAD", "Pad", pad, quantized_pad, "1"},
    {60, "PADV2", "PadV2", pad_v2, quantized_pad, "1 2"},
    {100, "MIRROR_PAD", "MirrorPad", mirror_pad, moves, "1"},
    {26, "SPACE_TO_DEPTH", "SpaceToDepth", space_to_depth, moves},
    {5, "DEPTH_TO_SPACE", "DepthToSpace", depth_to_space, moves},
    {38, "SPACE_TO_BATCH_ND", "SpaceToBatchND", space_to_batch, moves, "1 2"},
    {37, "BATCH_TO_SPACE_ND", "BatchToSpaceND", batch_to_space, moves, "1 2"},
};

}  // namespace

Records shape_records() { return kRecords; }

}  // namespace mycel::interop::tensorflow
