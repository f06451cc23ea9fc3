// Ops that exchange blocks of pixels with channels.

#include "ir/expansion.h"
#include "ir/type_rule.h"
#include "ops/shape/moves.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Adjoint;
using ir::check;
using ir::Expansion;
using ir::TypeRuleCtx;

namespace {

void depth_to_space_type(TypeRuleCtx& c) {
  Shape s = c.shape(0);
  int64_t b = c.attrs.integer("block_size");
  if (s.rank() < 3) c.fail("the operand needs channel, height and width dims");
  if (b < 1) c.fail("block_size must be 1 or more, got {}", b);
  int64_t channels = s[-3];
  if (channels != kUnknownDim && channels % (b * b) != 0) c.fail("{} channels are no multiple of {}", channels, b * b);
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
  if (b < 1) c.fail("block_size must be 1 or more, got {}", b);
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
  bool depth_first = c.attrs.string("mode") == "DCR";  // block index outside the channel, or inside it
  int64_t plane = h * w, deep_image = deep[-3] * plane, flat_image = flat[-3] * flat[-2] * flat[-1];
  int64_t block = depth_first ? channels * plane : plane, channel = depth_first ? plane : b * b * plane;
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

}  // namespace

void depth_to_space_moves(MoveCtx& c) { block_move(c, c.in(), c.out(), true); }
void space_to_depth_moves(MoveCtx& c) { block_move(c, c.out(), c.in(), false); }

constexpr OpDef kDepthToSpace = check({
    .name = "depth_to_space",
    .doc = "Spreads blocks of block_size² channels over pixels: [.., b·b·c, h, w] to [.., c, h·b, w·b]; DCR takes the "
           "block index from the slowest part of the channel, CRD from the fastest.",
    .in = {"x: any"},
    .attr = {"block_size: int", "mode: str(DCR|CRD) = DCR"},
    .type = depth_to_space_type,
    .shard = "none",
    .grad = [](Adjoint& a) {
          a.dx(0) += kSpaceToDepth({a.dy()}, {a.attrs()["block_size"], a.attrs()["mode"]});
        },
    .loops = move_loops<depth_to_space_moves>,
    .cases = "x[2, 8, 2, 3] [4, 1, 2]; block_size = 2; mode = DCR CRD; bad x[2, 3, 2, 2]; bad x[4, 4]; bad block_size = "
             "0; skip zero_size: channels come in blocks; skip scalar: three dims are needed",
    .onnx = "DepthToSpace",
    .primitive = "DepthToSpace(block_size)",
});

constexpr OpDef kSpaceToDepth = check({
    .name = "space_to_depth",
    .doc = "Gathers blocks of block_size² pixels into channels: [.., c, h·b, w·b] to [.., b·b·c, h, w]; the inverse of "
           "depth_to_space.",
    .in = {"x: any"},
    .attr = {"block_size: int", "mode: str(DCR|CRD) = DCR"},
    .type = space_to_depth_type,
    .shard = "none",
    .grad = [](Adjoint& a) {
          a.dx(0) += kDepthToSpace({a.dy()}, {a.attrs()["block_size"], a.attrs()["mode"]});
        },
    .loops = move_loops<space_to_depth_moves>,
    .cases = "x[2, 2, 4, 6] [1, 2, 4]; block_size = 2; mode = DCR CRD; bad x[2, 3, 3, 2]; bad x[4, 4]; bad block_size = "
             "0; skip zero_size: pixels come in blocks; skip scalar: three dims are needed",
    .onnx = "SpaceToDepth",
    .primitive = "SpaceToDepth(block_size)",
});

constexpr OpDef kPixelShuffle = check({
    .name = "pixel_shuffle",
    .doc = "[.., c·r², h, w] to [.., c, h·r, w·r], the block index being the fastest part of the channel.",
    .in = {"input: any"},
    .attr = {"upscale_factor: int"},
    .shard = "none",
    .expand =
        [](Expansion& e) { e.result(kDepthToSpace({e.x(0)}, {e.attrs["upscale_factor"], "CRD"})); },
    .cases = "input[2, 8, 2, 3]; upscale_factor = 2; bad input[3, 2, 2]; skip zero_size: channels come in blocks; skip "
             "scalar: three dims are needed",
});

constexpr OpDef kPixelUnshuffle = check({
    .name = "pixel_unshuffle",
    .doc = "[.., c, h·r, w·r] to [.., c·r², h, w]: the inverse of pixel_shuffle.",
    .in = {"input: any"},
    .attr = {"downscale_factor: int"},
    .shard = "none",
    .expand =
        [](Expansion& e) { e.result(kSpaceToDepth({e.x(0)}, {e.attrs["downscale_factor"], "CRD"})); },
    .cases = "input[2, 2, 4, 6]; downscale_factor = 2; bad input[3, 3, 2]; skip zero_size: pixels come in blocks; skip "
             "scalar: three dims are needed",
});

}  // namespace mycel::ops
