// Rearrangements that models name: channels dealt out over groups, the last dim filled up, a
// transpose with conjugation, positions and sizes translated between data formats.
#include <string>

#include "base/error.h"
#include "ir/expansion.h"
#include "ops/elementwise/elementwise.h"
#include "ops/index/index.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Attr;
using ir::check;
using ir::Expansion;
using Ints = Attr::Ints;

namespace {

void expand_channel_shuffle(Expansion& e) {
  Value x = e.x(0);
  int64_t groups = e.attrs.integer("groups");
  const Shape& s = x.shape();
  if (s.rank() < 3)
    value_error("channel_shuffle: x must be [n, c, ...] of 3 dims or more, got {}", x.type().str());
  if (groups < 1) value_error("channel_shuffle: 'groups' must be 1 or more, got {}", groups);
  // The dims behind the channels stay together; at most one of the sizes may be unknown.
  int64_t behind = 1;
  for (int d = 2; d < s.rank(); ++d) {
    behind = s[d] == kUnknownDim || behind == kUnknownDim ? kUnknownDim : behind * s[d];
  }
  if (s[1] == kUnknownDim || (s[0] == kUnknownDim && behind == kUnknownDim))
    value_error(
        "channel_shuffle: the channels of x and all other sizes but one must be known, got "
        "{}",
        x.type().str());
  if (s[1] % groups != 0)
    value_error("channel_shuffle: {} groups must divide the channels of x, got {}", groups,
                x.type().str());
  Value cut = kReshape({x}, {Ints{s[0] == kUnknownDim ? -1 : s[0], groups, s[1] / groups,
                                  behind == kUnknownDim ? -1 : behind}});
  e.result(kReshapeLike({kTranspose({cut}, {Ints{0, 2, 1, 3}}), x}));
}

void expand_padding(Expansion& e) {
  Value x = e.x(0);
  int64_t size = e.attrs.integer("pad_dim_size");
  if (size < 1) value_error("padding: pad_dim_size must be 1 or more, got {}", size);
  if (x.rank() < 2 || (x.shape()[-1] != 1 && x.shape()[-1] != kUnknownDim))
    value_error("padding: x must have 2 dims or more, the last of size 1, got {}", x.type().str());
  Ints low(x.rank(), 0), high(x.rank(), 0);
  high.back() = size - 1;
  e.result(kPadNd({x}, {low, high}));
}

// Where the dims of the second format stand in the first.
Tensor positions(const Expansion& e) {
  const std::string &from = e.attrs.string("src_format"), &to = e.attrs.string("dst_format");
  std::vector<int64_t> at;
  for (char c : to) at.push_back(static_cast<int64_t>(from.find(c)));
  Shape length{static_cast<int64_t>(at.size())};
  return Tensor::from(at, length);
}

void expand_dim_map(Expansion& e) {
  Value table = e.graph.constant(positions(e));
  e.result(cast_to(kGather({table, e.x(0)}, {0}), e.x(0).dtype()));
}

void expand_vec_permute(Expansion& e) {
  const Shape& s = e.x(0).shape();
  bool fits = (s.rank() == 1 || (s.rank() == 2 && (s[1] == 2 || s[1] == kUnknownDim))) &&
              (s[0] == 4 || s[0] == kUnknownDim);
  if (!fits)
    value_error("data_format_vec_permute: the operand must be [4] or [4, 2], got {}",
                e.x(0).type().str());
  e.result(kGather({e.x(0), e.graph.constant(positions(e))}, {0}));
}

}  // namespace

constexpr OpDef kChannelShuffle = check({
    .name = "channel_shuffle",
    .doc = "Channels (dim 1) dealt out over groups: [n, g k, ...] read as [n, g, k, ...], turned "
           "to [n, k, g, ...] (Zhang et al. 2018).",
    .in = {"x: any[n, c, h, w]"},
    .attr = {"groups: int"},
    .shard = "none",
    .expand = expand_channel_shuffle,
    .cases = "x[2, 6, 2, 3] [1, 6, 5]; groups = 1 2 3; bad groups = 4; bad groups = 0; bad x[2, 6]",
    .primitive = "ChannelShuffle(groups=group)",
});

constexpr OpDef kPadding = check({
    .name = "padding",
    .doc = "The last dim, of size 1, filled up with zeros behind to pad_dim_size.",
    .in = {"x: any[n, 1]"},
    .attr = {"pad_dim_size: int = 8"},
    .shard = "none",
    .expand = expand_padding,
    .cases = "x[3, 1] [2, 3, 1]; pad_dim_size = 8 1; bad pad_dim_size = 0; bad x[2, 2]; bad x[1]",
    .primitive = "Padding(pad_dim_size)",
});

constexpr OpDef kConjugateTranspose = check({
    .name = "conjugate_transpose",
    .doc = "The dims in the order perm, complex elements conjugated.",
    .in = {"x: any"},
    .attr = {"perm: int[]"},
    .shard = "none",
    .expand = [](Expansion& e) { e.result(conj_of(kTranspose({e.x(0)}, {e.attrs["perm"]}))); },
    .cases = "x[2, 3, 4]; perm = [2, 0, 1] [0, 2, 1]; bad perm = [0, 1]; skip zero_size: perm "
             "names three dims; skip scalar: the same",
    .primitive = "ConjugateTranspose()",
    .internal = true,
});

constexpr OpDef kDataFormatDimMap = check({
    .name = "data_format_dim_map",
    .doc = "Dim numbers x in [-4, 4) translated: the place in src_format of dim x of dst_format.",
    .in = {"input_x: index"},
    .attr = {"src_format: str(NHWC|NCHW) = NHWC", "dst_format: str(NHWC|NCHW) = NCHW"},
    .shard = "none",
    .expand = expand_dim_map,
    .cases = "input_x in ints(-4, 3); src_format = NHWC NCHW; dst_format = NCHW NHWC; bad "
             "src_format = HW",
    .primitive = "DataFormatDimMap(src_format, dst_format)",
    .internal = true,
});

constexpr OpDef kDataFormatVecPermute = check({
    .name = "data_format_vec_permute",
    .doc = "Four sizes, or four pairs, given in the order src_format, in the order dst_format.",
    .in = {"input_x: index[4]"},
    .attr = {"src_format: str(NHWC|NCHW) = NHWC", "dst_format: str(NHWC|NCHW) = NCHW"},
    .shard = "none",
    .expand = expand_vec_permute,
    .cases = "input_x[4] [4, 2]; src_format = NHWC NCHW; dst_format = NCHW NHWC; bad input_x[3]; "
             "bad input_x[4, 3]",
    .primitive = "DataFormatVecPermute(src_format, dst_format)",
    .internal = true,
});

}  // namespace mycel::ops
