#include "ops/pool/inner_loops.h"

#include <algorithm>
#include <functional>
#include <vector>

namespace mycel::ops {
namespace {

using loops::Buf;
using loops::LoopKind;
using loops::Nest;
using loops::Val;

constexpr int64_t kMostElements = 27;  // of a window that is written out
constexpr int64_t kChannelBlock = 32;  // channels of one task

int64_t product(const std::vector<int64_t>& v) { return Shape(v).size(); }

// Offsets in a buffer: the step of each dim, of a channel and of an image, and of each element of a
// window from its first.
struct Places {
  Places(Nest& nest, const PoolGeometry& g, const std::vector<int64_t>& extent)
      : steps(extent.size()) {
    int64_t now = g.channel_last ? g.channels : 1;
    for (size_t d = extent.size(); d-- > 0; now *= extent[d]) steps[d] = nest.number(now);
    image = nest.number(g.channels * product(extent));
    plane = nest.number(g.channel_last ? 1 : product(extent));
  }
  std::vector<Val> steps;
  Val image, plane;
};

std::vector<Val> window_offsets(Nest& nest, const PoolGeometry& g, const Places& x) {
  std::vector<Val> offsets = {nest.index(0)};
  for (int d = 0; d < g.rank(); ++d) {
    std::vector<Val> next;
    for (const Val& from : offsets) {
      for (int64_t k = 0; k < g.kernel[d]; ++k)
        next.push_back(from + x.steps[d] * (k * g.dilation[d]));
    }
    offsets = std::move(next);
  }
  return offsets;
}

Val largest(Nest& nest, Buf x, Val from, const std::vector<Val>& offsets) {
  Val best = nest.load(x, from);
  for (size_t k = 1; k < offsets.size(); ++k) best = max(best, nest.load(x, from + offsets[k]));
  return best;
}

}  // namespace

bool windows_inside(const PoolGeometry& g) {
  if (g.adaptive() || product(g.kernel) > kMostElements) return false;
  for (int d = 0; d < g.rank(); ++d) {
    int64_t end = (g.out[d] - 1) * g.stride[d] + (g.kernel[d] - 1) * g.dilation[d];
    if (g.pad_begin[d] != 0 || end >= g.in[d]) return false;
  }
  return true;
}

bool windows_apart(const PoolGeometry& g) {
  for (int d = 0; d < g.rank(); ++d) {
    if (g.stride[d] <= (g.kernel[d] - 1) * g.dilation[d]) return false;
  }
  return true;
}

void emit_inner_max(Nest& nest, const PoolGeometry& g, Buf x, Buf y) {
  Places in(nest, g, g.in);
  const std::vector<Val> offsets = window_offsets(nest, g, in);
  // A task is a row of the result: positions along the last dim, or the channels of one position.
  const int walked = g.channel_last ? g.rank() : g.rank() - 1;
  const int64_t width = g.channel_last ? g.channels : g.out.back();
  const int64_t outer = g.channel_last ? g.batch : g.batch * g.channels;
  int64_t rows = outer;
  for (int d = 0; d < walked; ++d) rows *= g.out[d];
  Val row = nest.number(width), outer_step = g.channel_last ? in.image : in.plane;
  std::vector<Val> extent;
  for (int d = 0; d < walked; ++d) extent.push_back(nest.number(g.out[d]));
  const int64_t lane_step = g.channel_last ? 1 : g.stride.back();
  nest.parallel(rows, width * static_cast<int64_t>(offsets.size()), [&](Val task) {
    Val from = nest.index(0), rest = task;
    for (int d = walked; d-- > 0;) {
      from = from + rest % extent[d] * in.steps[d] * g.stride[d];
      rest = rest / extent[d];
    }
    from = from + rest * outer_step;
    nest.loop(row, LoopKind::kVector, [&](Val i) {
      nest.store(y, task * row + i, largest(nest, x, from + i * lane_step, offsets));
    });
  });
}

namespace {

// What one task of emit_inner_scatter owns: a plane, or a block of channels of an image. Offsets of
// its first elements in x and u, and the lanes of a vector loop.
struct Owned {
  Val x, u, width;
};

// Gives `du` to the first maximum of each window of a row and 0 to its other elements.
void scatter_row(Nest& nest, Buf x, Buf u, Buf dx, const Owned& row, int64_t lane_step,
                 const std::vector<Val>& offsets) {
  nest.loop(row.width, LoopKind::kVector, [&](Val i) {
    Val at = row.x + i * lane_step, best = largest(nest, x, at, offsets);
    Val du = nest.load(u, row.u + i), none = loops::constant(du, int64_t{0});
    Val found = nest.literal(DType::kBool, int64_t{0});
    for (const Val& offset : offsets) {
      Val v = nest.load(x, at + offset);
      Val here = !found && (v == best || v != v);
      nest.store(dx, at + offset, select(here, du, none));
      found = found || here;
    }
  });
}

}  // namespace

void emit_inner_scatter(Nest& nest, const PoolGeometry& g, Buf x, Buf u, Buf dx) {
  Places in(nest, g, g.in), out(nest, g, g.out);
  const std::vector<Val> offsets = window_offsets(nest, g, in);
  const int64_t blocks =
      g.channel_last ? (g.channels + kChannelBlock - 1) / kChannelBlock : g.channels;
  const int64_t positions = product(g.in), lanes = g.channel_last ? kChannelBlock : 1;
  const int64_t lane_step = g.channel_last ? 1 : g.stride.back();
  const int walked = g.channel_last ? g.rank() : g.rank() - 1;
  std::vector<Val> extent;
  for (int d = 0; d < walked; ++d) extent.push_back(nest.number(g.out[d]));
  Val block_count = nest.number(blocks), channels = nest.number(g.channels);
  Val last = nest.number(g.out.back()), plane = nest.number(positions);

  auto task_of = [&](Val task) -> Owned {
    Val image = task / block_count, block = task % block_count;
    if (!g.channel_last) {
      return {image * in.image + block * in.plane, image * out.image + block * out.plane, last};
    }
    Val first = block * kChannelBlock;
    return {image * in.image + first, image * out.image + first,
            min(channels - first, kChannelBlock)};
  };
  auto clear = [&](const Owned& t) {
    auto zero = [&](Val at) { nest.store(dx, at, loops::constant(nest.load(x, at), int64_t{0})); };
    if (!g.channel_last) {
      return nest.loop(plane, LoopKind::kVector, [&](Val i) { zero(t.x + i); });
    }
    nest.loop(plane, LoopKind::kSequential, [&](Val p) {
      nest.loop(t.width, LoopKind::kVector, [&](Val i) { zero(t.x + p * channels + i); });
    });
  };
  std::function<void(int, const Owned&)> rows = [&](int d, const Owned& t) {
    if (d == walked) return scatter_row(nest, x, u, dx, t, lane_step, offsets);
    nest.loop(extent[d], LoopKind::kSequential, [&](Val i) {
      rows(d + 1, {t.x + i * in.steps[d] * g.stride[d], t.u + i * out.steps[d], t.width});
    });
  };
  const int64_t cost = lanes * (positions + 3 * product(g.out) * product(g.kernel));
  nest.parallel(g.batch * blocks, cost, [&](Val task) {
    Owned t = task_of(task);
    clear(t);
    rows(0, t);
  });
}

}  // namespace mycel::ops
