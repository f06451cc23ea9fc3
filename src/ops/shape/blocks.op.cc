// Ops that exchange blocks of pixels with channels.

#include "ir/expansion.h"
#include "ir/type_rule.h"
#include "ops/batching.h"
#include "ops/shape/moves.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Adjoint;
using ir::check;
using ir::Expansion;
using ir::TypeRuleCtx;

using ir::Value;
using Ints = ir::Attr::Ints;

namespace {

constexpr int64_t kMaxBlock = int64_t{1} << 30;  // its square still has a size

void depth_to_space_type(TypeRuleCtx& c) {
  Shape s = c.shape(0);
  int64_t b = c.attrs.integer("block_size");
  if (s.rank() < 3) c.fail("the operand needs channel, height and width dims");
  if (b < 1 || b > kMaxBlock) c.fail("block_size must be 1 to {}, got {}", kMaxBlock, b);
  int64_t channels = s[-3];
  if (channels != kUnknownDim && channels % (b * b) != 0)
    c.fail("{} channels are no multiple of {}", channels, b * b);
  if (channels != kUnknownDim) s.set(-3, channels / (b * b));
  for (int d : {-2, -1}) {
    if (s[d] != kUnknownDim) s.set(d, s[d] * b);
  }
  c.result(c.dtype(0), s);
}

void space_to_depth_type(TypeRuleCtx& c) {
  Shape s = c.shape(0);
  int64_t b = c.attrs.integer("block_size");
  if (s.rank() < 3) c.fail("the operand needs channel, height and width dims");
  if (b < 1 || b > kMaxBlock) c.fail("block_size must be 1 to {}, got {}", kMaxBlock, b);
  if (s[-3] != kUnknownDim) s.set(-3, s[-3] * b * b);
  for (int d : {-2, -1}) {
    if (s[d] == kUnknownDim) continue;
    if (s[d] % b != 0) c.fail("height and width must be multiples of block_size {}", b);
    s.set(d, s[d] / b);
  }
  c.result(c.dtype(0), s);
}

// The six-dim copy between [c, h, w] blocks and pixels; `deep` is the shape with many channels.
void block_move(MoveCtx& c, const Shape& deep, const Shape& flat, bool to_flat) {
  int64_t b = c.attrs.integer("block_size"), channels = flat[-3], h = deep[-2], w = deep[-1];
  bool depth_first =
      c.attrs.string("mode") == "DCR";  // block index outside the channel, or inside it
  int64_t plane = h * w, deep_image = deep[-3] * plane, flat_image = flat[-3] * flat[-2] * flat[-1];
  int64_t block = depth_first ? channels * plane : plane,
          channel = depth_first ? plane : b * b * plane;
  Move& m = c.add();
  auto dim = [&](int64_t n, int64_t in_deep, int64_t in_flat) {
    m.dim(n, to_flat ? in_deep : in_flat, to_flat ? in_flat : in_deep);
  };
  dim(deep.size(0, deep.rank() - 3), deep_image, flat_image);
  dim(channels, channel, flat[-2] * flat[-1]);
  dim(h, w, b * flat[-1]);
  dim(b, b * block, flat[-1]);
  dim(w, 1, b);
  dim(b, block, 1);
}

// [before, after] per blocked dim, as two lists.
void pairs_of(const Expansion& e, const char* name, size_t dims, Ints* low, Ints* high) {
  const Ints& pairs = e.attrs.ints(name);
  if (pairs.size() != 2 * dims)
    value_error("{}: {} needs {} pairs, got {}", e.op.name, name, dims, e.attrs[name].str());
  for (size_t i = 0; i < pairs.size(); i += 2) {
    if (pairs[i] < 0 || pairs[i + 1] < 0)
      value_error("{}: {} must not be negative", e.op.name, name);
    low->push_back(pairs[i]);
    high->push_back(pairs[i + 1]);
  }
}

// The blocked dims are the last ones; what lies between them and the batch is kept.
Ints blocks_of(const Expansion& e, const char* name) {
  Ints blocks = e.attrs.ints(name);
  const Shape s = e.x(0).shape();
  if (!s.known())
    value_error("{}: the shape must be known, got {}", e.op.name, e.x(0).type().str());
  if (static_cast<int>(blocks.size()) >= s.rank())
    value_error("{}: {} block sizes for {} dims", e.op.name, blocks.size(), s.rank());
  if (s.rank() + static_cast<int>(blocks.size()) > kMaxRank)
    value_error("{}: too many dims: {}", e.op.name, s.str());
  for (int64_t b : blocks) {
    if (b < 1)
      value_error("{}: block sizes must be 1 or more, got {}", e.op.name, e.attrs[name].str());
  }
  return blocks;
}

// [n, keep.., h·b, w·c] to [b·c·n, keep.., h, w].
void expand_space_to_batch(Expansion& e) {
  Ints blocks = blocks_of(e, "block_size"), low, high;
  size_t m = blocks.size();
  pairs_of(e, "paddings", m, &low, &high);
  Value x = e.x(0);
  int rank = x.rank(), first = rank - static_cast<int>(m);
  low.insert(low.begin(), static_cast<size_t>(first), 0);
  high.insert(high.begin(), static_cast<size_t>(first), 0);
  x = kPadNd({x}, {low, high});
  Ints split, perm, result;
  int64_t batch = x.shape()[0];
  for (int d = 0; d < first; ++d) split.push_back(x.shape()[d]);
  for (size_t k = 0; k < m; ++k) {
    int64_t n = x.shape()[first + static_cast<int>(k)];
    if (n % blocks[k] != 0)
      value_error("{}: padded size {} is no multiple of block size {}", e.op.name, n, blocks[k]);
    split.push_back(n / blocks[k]);
    split.push_back(blocks[k]);
    perm.push_back(first + 2 * static_cast<int64_t>(k) + 1);
    batch *= blocks[k];
  }
  for (int d = 0; d < first; ++d) perm.push_back(d);
  for (size_t k = 0; k < m; ++k) perm.push_back(first + 2 * static_cast<int64_t>(k));
  result.push_back(batch);
  for (int d = 1; d < first; ++d) result.push_back(x.shape()[d]);
  for (size_t k = 0; k < m; ++k) result.push_back(split[static_cast<size_t>(first) + 2 * k]);
  e.result(kReshape({kTranspose({kReshape({x}, {split})}, {perm})}, {result}));
}

void expand_batch_to_space(Expansion& e) {
  Ints blocks = blocks_of(e, "block_shape"), low, high;
  size_t m = blocks.size();
  pairs_of(e, "crops", m, &low, &high);
  Value x = e.x(0);
  int first = x.rank() - static_cast<int>(m);
  int64_t product = 1;
  for (int64_t b : blocks) product *= b;
  if (x.shape()[0] % product != 0)
    value_error("{}: batch {} is no multiple of {}", e.op.name, x.shape()[0], product);
  Ints split = blocks, perm, result;
  split.push_back(x.shape()[0] / product);
  for (int d = 1; d < x.rank(); ++d) split.push_back(x.shape()[d]);
  int64_t at = static_cast<int64_t>(m);
  for (int d = 0; d < first; ++d) perm.push_back(at + d);
  result.push_back(split[m]);
  for (int d = 1; d < first; ++d) result.push_back(x.shape()[d]);
  Ints crop_low(static_cast<size_t>(first), 0), crop_high(static_cast<size_t>(first), 0);
  for (size_t k = 0; k < m; ++k) {
    perm.push_back(at + first + static_cast<int64_t>(k));
    perm.push_back(static_cast<int64_t>(k));
    result.push_back(x.shape()[first + static_cast<int>(k)] * blocks[k]);
    crop_low.push_back(-low[k]);
    crop_high.push_back(-high[k]);
  }
  x = kReshape({kTranspose({kReshape({x}, {split})}, {perm})}, {result});
  e.result(kPadNd({x}, {crop_low, crop_high}));
}

}  // namespace

void depth_to_space_moves(MoveCtx& c) { block_move(c, c.in(), c.out(), true); }
void space_to_depth_moves(MoveCtx& c) { block_move(c, c.out(), c.in(), false); }

constexpr OpDef kDepthToSpace = check({
    .name = "depth_to_space",
    .doc = "Spreads blocks of block_size² channels over pixels: [.., b·b·c, h, w] to [.., c, h·b, "
           "w·b]; DCR takes the "
           "block index from the slowest part of the channel, CRD from the fastest.",
    .in = {"x: any"},
    .attr = {"block_size: int", "mode: str(DCR|CRD) = DCR"},
    .type = depth_to_space_type,
    .shard = "none",
    .grad =
        [](Adjoint& a) {
          a.dx(0) += kSpaceToDepth({a.dy()}, {a.attrs()["block_size"], a.attrs()["mode"]});
        },
    .loops = move_loops<depth_to_space_moves>,
    .batch = batch_leading,
    .cases = "x[2, 8, 2, 3] [4, 1, 2]; block_size = 2; mode = DCR CRD; bad x[2, 3, 2, 2]; bad x[4, "
             "4]; bad block_size = "
             "0; skip zero_size: channels come in blocks; skip scalar: three dims are needed",
    .onnx = "DepthToSpace",
    .primitive = "DepthToSpace(block_size)",
});

constexpr OpDef kSpaceToDepth = check({
    .name = "space_to_depth",
    .doc = "Gathers blocks of block_size² pixels into channels: [.., c, h·b, w·b] to [.., b·b·c, "
           "h, w]; the inverse of "
           "depth_to_space.",
    .in = {"x: any"},
    .attr = {"block_size: int", "mode: str(DCR|CRD) = DCR"},
    .type = space_to_depth_type,
    .shard = "none",
    .grad =
        [](Adjoint& a) {
          a.dx(0) += kDepthToSpace({a.dy()}, {a.attrs()["block_size"], a.attrs()["mode"]});
        },
    .loops = move_loops<space_to_depth_moves>,
    .batch = batch_leading,
    .cases = "x[2, 2, 4, 6] [1, 2, 4]; block_size = 2; mode = DCR CRD; bad x[2, 3, 3, 2]; bad x[4, "
             "4]; bad block_size = "
             "0; skip zero_size: pixels come in blocks; skip scalar: three dims are needed",
    .onnx = "SpaceToDepth",
    .primitive = "SpaceToDepth(block_size)",
});

constexpr OpDef kPixelShuffle = check({
    .name = "pixel_shuffle",
    .doc = "[.., c·r², h, w] to [.., c, h·r, w·r], the block index being the fastest part of the "
           "channel.",
    .in = {"input: any"},
    .attr = {"upscale_factor: int"},
    .shard = "none",
    .expand =
        [](Expansion& e) { e.result(kDepthToSpace({e.x(0)}, {e.attrs["upscale_factor"], "CRD"})); },
    .cases = "input[2, 8, 2, 3]; upscale_factor = 2; bad input[3, 2, 2]; skip zero_size: channels "
             "come in blocks; skip "
             "scalar: three dims are needed",
});

constexpr OpDef kPixelUnshuffle = check({
    .name = "pixel_unshuffle",
    .doc = "[.., c, h·r, w·r] to [.., c·r², h, w]: the inverse of pixel_shuffle.",
    .in = {"input: any"},
    .attr = {"downscale_factor: int"},
    .shard = "none",
    .expand =
        [](Expansion& e) {
          e.result(kSpaceToDepth({e.x(0)}, {e.attrs["downscale_factor"], "CRD"}));
        },
    .cases = "input[2, 2, 4, 6]; downscale_factor = 2; bad input[3, 3, 2]; skip zero_size: pixels "
             "come in blocks; skip "
             "scalar: three dims are needed",
});

constexpr OpDef kSpaceToBatchNd = check({
    .name = "space_to_batch_nd",
    .doc = "Pads the last dims with zeros and moves their blocks into the batch: [n, .., h·b, w·c] "
           "to [b·c·n, .., h, w].",
    .in = {"input_x: any"},
    .attr = {"block_size: int[]", "paddings: int[][2]"},
    .shard = "none",
    .expand = expand_space_to_batch,
    .cases = "input_x[2, 3, 3, 5]; block_size = [2, 3]; paddings = [1, 0, 0, 1]; bad paddings = "
             "[0, 0, 0, 0]; bad paddings = "
             "[1]; bad block_size = [0, 3]; skip zero_size: sizes come in blocks; skip scalar: "
             "dims are needed; skip type: "
             "the shape must be known",
    .primitive = "SpaceToBatchND(block_size, paddings)",
});

constexpr OpDef kBatchToSpaceNd = check({
    .name = "batch_to_space_nd",
    .doc = "The inverse of space_to_batch_nd: blocks of the batch move into the last dims, which "
           "are then cropped.",
    .in = {"input_x: any"},
    .attr = {"block_shape: int[]", "crops: int[][2]"},
    .shard = "none",
    .expand = expand_batch_to_space,
    .cases = "input_x[12, 3, 2, 2]; block_shape = [2, 3]; crops = [1, 0, 0, 1]; bad crops = [1]; "
             "bad crops = [9, 0, 0, 0]; bad "
             "block_shape = [5, 1]; skip zero_size: sizes come in blocks; skip scalar: dims are "
             "needed; skip type: the "
             "shape must be known",
    .primitive = "BatchToSpaceND(block_shape, crops)",
});

}  // namespace mycel::ops
