// Sliding patches of images as columns (im2col) and their sum back into images (col2im): a gather
// and a scatter over one table of places, each the gradient of the other.
#include <algorithm>

#include "base/error.h"
#include "base/memory_limit.h"
#include "ir/expansion.h"
#include "ops/index/index.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Attr;
using ir::check;
using ir::Expansion;
using ir::Value;
using Ints = Attr::Ints;

namespace {

struct Patches {
  int64_t rows, columns;  // of the image
  int64_t size, count;    // elements of a patch; patches
  Tensor places;          // [size * count] positions in the flat image, outside it -1
};

// Positions are few and known while compiling, so the table is a constant.
Patches patches_of(const Expansion& e, int64_t rows, int64_t columns) {
  const Ints &k = e.attrs.ints("kernel_size"), &d = e.attrs.ints("dilation"),
             &p = e.attrs.ints("padding"), &s = e.attrs.ints("stride");
  for (int i = 0; i < 2; ++i) {
    if (k[i] < 1 || d[i] < 1 || s[i] < 1 || p[i] < 0)
      value_error("{}: kernel_size, dilation and stride must be 1 or more and padding not negative",
                  e.op.name);
    constexpr int64_t kMax = int64_t{1} << 30;
    if (std::max({k[i], d[i], s[i], p[i]}) > kMax)
      value_error("{}: kernel_size, dilation, stride and padding must be at most {}, got {}",
                  e.op.name, kMax, std::max({k[i], d[i], s[i], p[i]}));
  }
  int64_t high = (rows + 2 * p[0] - d[0] * (k[0] - 1) - 1) / s[0] + 1;
  int64_t wide = (columns + 2 * p[1] - d[1] * (k[1] - 1) - 1) / s[1] + 1;
  if (rows + 2 * p[0] < d[0] * (k[0] - 1) + 1 || columns + 2 * p[1] < d[1] * (k[1] - 1) + 1)
    value_error(
        "{}: a patch of {} by {} elements with dilation {} and {} does not fit into {} by {} with "
        "padding {} and {}",
        e.op.name, k[0], k[1], d[0], d[1], rows, columns, p[0], p[1]);
  double bytes = sizeof(int64_t) * static_cast<double>(k[0]) * static_cast<double>(k[1]) *
                 static_cast<double>(high) * static_cast<double>(wide);
  if (bytes > static_cast<double>(memory_limit())) {
    fail(ErrorKind::kMemory, "{}: out of memory: {} patches of {} by {} elements need {}",
         e.op.name, static_cast<double>(high) * static_cast<double>(wide), k[0], k[1],
         human_bytes(bytes));
  }
  std::vector<int64_t> at;
  for (int64_t i = 0; i < k[0]; ++i) {
    for (int64_t j = 0; j < k[1]; ++j) {
      for (int64_t y = 0; y < high; ++y) {
        for (int64_t x = 0; x < wide; ++x) {
          int64_t r = y * s[0] - p[0] + i * d[0], c = x * s[1] - p[1] + j * d[1];
          bool inside = r >= 0 && r < rows && c >= 0 && c < columns;
          at.push_back(inside ? r * columns + c : -1);
        }
      }
    }
  }
  Shape length{static_cast<int64_t>(at.size())};
  return {rows, columns, k[0] * k[1], high * wide, Tensor::from(at, length)};
}

void need_known(const Expansion& e, int rank) {
  Value x = e.x(0);
  if (x.rank() != rank || !x.shape().known())
    value_error("{}: the operand must have {} dims of known size, got {}", e.op.name, rank,
                x.type().str());
}

void expand_unfold(Expansion& e) {
  need_known(e, 4);
  const Shape& s = e.x(0).shape();
  Patches p = patches_of(e, s[2], s[3]);
  Value flat = kReshape({e.x(0)}, {Ints{s[0], s[1], s[2] * s[3]}});
  Value y = kGather({flat, e.graph.constant(p.places)}, {2, 0, "skip"});
  e.result(kReshape({y}, {Ints{s[0], s[1] * p.size, p.count}}));
}

void expand_fold(Expansion& e) {
  need_known(e, 3);
  const Shape& s = e.x(0).shape();
  const Ints& out = e.attrs.ints("output_size");
  if (out[0] < 1 || out[1] < 1) value_error("fold: output_size must be positive");
  Patches p = patches_of(e, out[0], out[1]);
  if (s[1] % p.size != 0)
    value_error("fold: the {} rows of {} are no multiple of the {} elements of a patch", s[1],
                e.x(0).type().str(), p.size);
  if (s[2] != p.count)
    value_error("fold: {} patches belong to an image of {} by {}, got {}", p.count, out[0], out[1],
                e.x(0).type().str());
  int64_t channels = s[1] / p.size;
  Value zeros = filled(e.graph, 0, {s[0], channels, out[0] * out[1]}, e.x(0).dtype());
  Value columns = kReshape({e.x(0)}, {Ints{s[0], channels, p.size * p.count}});
  Value y = kAxisScatterAdd({zeros, e.graph.constant(p.places), columns}, {2, 0, "skip"});
  e.result(kReshape({y}, {Ints{s[0], channels, out[0], out[1]}}));
}

}  // namespace

constexpr OpDef kUnfold = check({
    .name = "unfold",
    .doc = "The sliding patches of images [n, c, h, w] as columns [n, c * patch size, patches]; "
           "padding counts as 0.",
    .in = {"input: number[n, c, h, w]"},
    .attr = {"kernel_size: int[2]", "dilation: int[2] = 1", "padding: int[2] = 0",
             "stride: int[2] = 1"},
    .shard = "none",
    .expand = expand_unfold,
    .cases = "input[2, 3, 5, 6]; kernel_size = [2, 3] 2; dilation = 1 2; padding = 0 1; stride = 1 "
             "[2, 1]; bad input[3, 4]; bad kernel_size = 0; bad kernel_size = 9; bad stride = 0; "
             "skip zero_size: a patch must fit; skip scalar: images have four dims",
    .method = "unfold",
});

constexpr OpDef kFold = check({
    .name = "fold",
    .doc = "The inverse of unfold: columns [n, c * patch size, patches] added up at their places "
           "in images [n, c, output_size].",
    .in = {"input: number[n, r, l]"},
    .attr = {"output_size: int[2]", "kernel_size: int[2]", "dilation: int[2] = 1",
             "padding: int[2] = 0", "stride: int[2] = 1"},
    .shard = "none",
    .expand = expand_fold,
    .cases = "input[2, 12, 20]; output_size = [5, 6]; kernel_size = 2; bad input[2, 12, 19]; bad "
             "input[2, 11, 20]; bad kernel_size = 0; skip zero_size: sizes belong together; skip "
             "scalar: columns have three dims | input[2, 8, 12]; output_size = [5, 6]; kernel_size "
             "= 2; padding = 1; stride = 2; bad padding = -1",
    .method = "fold",
});

}  // namespace mycel::ops
