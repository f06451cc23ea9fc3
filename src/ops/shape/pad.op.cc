// Padding. Every mode is a list of moves: the operand in the middle, and per padded axis copies,
// mirrored copies, repetitions or a constant around it.
#include <algorithm>

#include "ir/expansion.h"
#include "ir/type_rule.h"
#include "ops/shape/batching.h"
#include "ops/shape/moves.h"
#include "ops/shape/shape.h"
#include "ops/value.h"

namespace mycel::ops {

using ir::Adjoint;
using ir::Attr;
using ir::check;
using ir::Expansion;
using ir::TypeRuleCtx;
using ir::Value;
using Ints = Attr::Ints;

namespace {

void pad_type(TypeRuleCtx& c) {
  const Shape& s = c.shape(0);
  const Ints &low = c.attrs.ints("low"), &high = c.attrs.ints("high");
  const std::string& mode = c.attrs.string("mode");
  if (static_cast<int>(low.size()) != s.rank() || static_cast<int>(high.size()) != s.rank()) {
    c.fail("low and high need {} entries each", s.rank());
  }
  Shape out;
  for (int d = 0; d < s.rank(); ++d) {
    if (mode != "constant" && (low[d] < 0 || high[d] < 0))
      c.fail("mode {} takes no negative padding", mode);
    int64_t n = s[d], most = std::max(low[d], high[d]);
    if (n == kUnknownDim) {
      out.push_back(n);
      continue;
    }
    if (mode == "reflect" && most > 0 && most >= n)
      c.fail("mode reflect pads axis {} by less than its size {}", d, n);
    if ((mode == "symmetric" || mode == "wrap") && most > n)
      c.fail("mode {} pads axis {} by at most its size {}", mode, d, n);
    if (mode == "edge" && most > 0 && n == 0) c.fail("axis {} is empty: it has no edge", d);
    if (low[d] + n + high[d] < 0) c.fail("padding of axis {} removes more than its size {}", d, n);
    out.push_back(low[d] + n + high[d]);
  }
  c.result(c.dtype(0), out);
}

Value padded(Value x, Ints low, Ints high, const char* mode = "constant") {
  return kPadNd({x}, {std::move(low), std::move(high), mode});
}

// The part of dy that came from one side of an axis, as positions of x: length `n`, put at `at`.
Value back_on(const Value& part, int axis, int64_t at, int64_t size, int64_t length) {
  Ints low(part.rank(), 0), high(part.rank(), 0);
  low[axis] = at;
  high[axis] = size - at - length;
  return padded(part, low, high);
}

// The adjoint of padding one axis: the middle, plus what the two borders copied from inside.
Value unpadded(Value g, int axis, int64_t low, int64_t n, int64_t high, const std::string& mode) {
  Value middle = sliced(g, axis, low, n);
  for (bool front : {true, false}) {
    int64_t k = front ? low : high;
    if (k == 0) continue;
    Value part = sliced(g, axis, front ? 0 : low + n, k);
    if (mode == "edge") {
      Value sum;
      for (int64_t i = 0; i < k; ++i) {
        Value slice = sliced(part, axis, i, 1);
        sum = sum ? sum + slice : slice;
      }
      middle = middle + back_on(sum, axis, front ? 0 : n - 1, n, 1);
    } else if (mode == "wrap") {
      middle = middle + back_on(part, axis, front ? n - k : 0, n, k);
    } else {
      int64_t skip = mode == "reflect" ? 1 : 0;  // reflect leaves the edge itself out
      middle =
          middle + back_on(kFlip({part}, {Ints{axis}}), axis, front ? skip : n - k - skip, n, k);
    }
  }
  return middle;
}

void pad_grad(Adjoint& a) {
  const Shape& s = a.x_type(0).shape;
  Ints low = a.attrs().ints("low"), high = a.attrs().ints("high");
  const std::string& mode = a.attrs().string("mode");
  Value g = a.dy();
  if (mode == "constant") {
    for (int64_t& v : low) v = -v;
    for (int64_t& v : high) v = -v;
    a.dx(0) += padded(g, low, high);
    return;
  }
  for (int d = 0; d < s.rank(); ++d) {
    if (low[d] == 0 && high[d] == 0) continue;
    if (s[d] == kUnknownDim)
      value_error("pad: the gradient of mode {} needs a known size of axis {}", mode, d);
    g = unpadded(g, d, low[d], s[d], high[d], mode);
  }
  a.dx(0) += g;
}

const char* core_mode(const std::string& mode) {
  if (mode == "constant") return "constant";
  if (mode == "reflect" || mode == "REFLECT") return "reflect";
  if (mode == "symmetric" || mode == "SYMMETRIC") return "symmetric";
  return mode == "circular" || mode == "wrap" ? "wrap" : "edge";
}

// Pairs from the last dim backwards, as published for `pad`.
void expand_pad(Expansion& e) {
  const Ints& pairs = e.attrs.ints("padding");
  int rank = e.x(0).rank();
  if (pairs.size() % 2 != 0 || static_cast<int>(pairs.size()) > 2 * rank) {
    value_error("pad: padding needs pairs for at most the {} dims of the operand, got {}", rank,
                e.attrs["padding"].str());
  }
  const char* mode = core_mode(e.attrs.string("mode"));
  const Attr& value = e.attrs["value"];
  if (std::string_view(mode) != "constant" && !value.none()) {
    value_error("pad: mode {} takes no value", e.attrs.string("mode"));
  }
  Ints low(rank, 0), high(rank, 0);
  for (size_t i = 0; i < pairs.size(); i += 2) {
    low[rank - 1 - static_cast<int>(i / 2)] = pairs[i];
    high[rank - 1 - static_cast<int>(i / 2)] = pairs[i + 1];
  }
  e.result(kPadNd({e.x(0)}, {low, high, mode, value.none() ? 0.0 : value.real()}));
}

// [before, after] per dim, flattened, from the first dim on.
void expand_pairs(Expansion& e, const char* mode) {
  const Ints& pairs = e.attrs.ints("paddings");
  int rank = e.x(0).rank();
  if (static_cast<int>(pairs.size()) != 2 * rank) {
    value_error("{}: paddings needs a pair for each of the {} dims, got {}", e.op.name, rank,
                e.attrs["paddings"].str());
  }
  Ints low, high;
  for (size_t i = 0; i < pairs.size(); i += 2) {
    low.push_back(pairs[i]);
    high.push_back(pairs[i + 1]);
  }
  e.result(kPadNd({e.x(0)}, {low, high, mode}));
}

// One stretch of one axis: where it lies in the result and how it reads the operand.
struct Stretch {
  int64_t at, count, from, step;
};

std::vector<Stretch> stretches(int64_t n, int64_t low, int64_t high, const std::string& mode) {
  if (mode == "constant") {
    int64_t first = std::max<int64_t>(0, -low), last = std::min(n, n + high);
    return {{std::max<int64_t>(0, low), std::max<int64_t>(0, last - first), first, 1}};
  }
  std::vector<Stretch> parts{{low, n, 0, 1}};
  if (mode == "edge") {
    parts.push_back({0, low, 0, 0});
    parts.push_back({low + n, high, n - 1, 0});
  } else if (mode == "wrap") {
    parts.push_back({0, low, n - low, 1});
    parts.push_back({low + n, high, 0, 1});
  } else {
    int64_t skip = mode == "reflect" ? 1 : 0;
    parts.push_back({0, low, low - 1 + skip, -1});
    parts.push_back({low + n, high, n - 1 - skip, -1});
  }
  return parts;
}

// A border of constants: per axis the two slabs, inside the middle of the axes before it.
void constant_border(MoveCtx& c, const std::vector<Stretch>& middle) {
  const Shape& out = c.out();
  Strides to = row_strides(out);
  for (int d = 0; d < out.rank(); ++d) {
    int64_t after = middle[d].at + middle[d].count;
    for (auto [at, count] :
         {std::pair(int64_t{0}, middle[d].at), std::pair(after, out[d] - after)}) {
      if (count <= 0) continue;
      Move& m = c.add(kFromConstant);
      for (int k = 0; k < out.rank(); ++k) {
        m.dim(k < d ? middle[k].count : k == d ? count : out[k], 0, to[k]);
        m.dst_offset += to[k] * (k < d ? middle[k].at : k == d ? at : 0);
      }
    }
  }
}

}  // namespace

void pad_moves(MoveCtx& c) {
  const Ints &low = c.attrs.ints("low"), &high = c.attrs.ints("high");
  const std::string& mode = c.attrs.string("mode");
  c.constant = c.attrs.real("value");
  Strides from = row_strides(c.in()), to = row_strides(c.out());
  std::vector<Move> moves(1);
  std::vector<Stretch> middle;
  for (int d = 0; d < c.in().rank(); ++d) {
    std::vector<Stretch> parts = stretches(c.in()[d], low[d], high[d], mode);
    middle.push_back(parts[0]);
    std::vector<Move> next;
    for (const Move& m : moves) {
      for (const Stretch& s : parts) {
        if (s.count == 0 && &s != &parts[0]) continue;
        Move more = m;
        more.dim(s.count, s.step * from[d], to[d]);
        more.src_offset += s.from * from[d];
        more.dst_offset += s.at * to[d];
        next.push_back(more);
      }
    }
    moves = std::move(next);
  }
  c.moves = std::move(moves);
  if (mode == "constant") constant_border(c, middle);
}

constexpr OpDef kPadNd = check({
    .name = "pad_nd",
    .doc = "Adds low[d] elements before and high[d] behind axis d: a constant (negative amounts "
           "cut off), the operand "
           "mirrored without (reflect) or with (symmetric) its edge, its edge repeated, or the "
           "operand wrapped round.",
    .in = {"x: any"},
    .attr = {"low: int[]", "high: int[]",
             "mode: str(constant|reflect|symmetric|edge|wrap) = constant", "value: float = 0"},
    .type = pad_type,
    .shard = "none",
    .moves = "m -> m : low each, high each",
    .grad = pad_grad,
    .loops = move_loops<pad_moves>,
    .batch = batch_pad,
    .cases = "x[4, 3]; low = [0, 0] [1, 2]; high = [0, 1] [2, 0]; mode = constant reflect "
             "symmetric edge wrap; bad low = "
             "[1] | x[4, 3]; low = [-1, 2]; high = [3, -2]; mode = constant; value = 1.5; bad low "
             "= [-9, 0]; skip zero_size: modes need "
             "elements; skip scalar: paddings per dim",
    .onnx = "Pad",
    .internal = true,
});

constexpr OpDef kPad = check({
    .name = "pad",
    .doc = "Pads the last dims: padding holds pairs (before, after) from the last dim backwards. "
           "Modes: constant (value, "
           "0 by default; negative amounts cut off), reflect, symmetric, replicate (edge) and "
           "circular (wrap).",
    .in = {"input_x: any"},
    .attr = {"padding: int[]",
             "mode: str(constant|reflect|symmetric|replicate|edge|circular|wrap) = constant",
             "value: float? = None"},
    .shard = "none",
    .expand = expand_pad,
    .cases = "input_x[4, 3]; padding = [1, 2] [0, 1, 2, 0]; mode = constant reflect replicate "
             "circular; bad padding = [1]; "
             "bad padding = [1, 1, 1, 1, 1, 1] | padding = [1, -1]; mode = constant; value = 2.5; "
             "skip zero_size: modes need elements; skip "
             "scalar: paddings per dim",
});

constexpr OpDef kConstantPad = check({
    .name = "zero_pad",
    .doc = "Pads with zeros: paddings holds (before, after) for each dim, from the first on.",
    .in = {"x: any"},
    .attr = {"paddings: int[][2]"},
    .shard = "none",
    .expand = [](Expansion& e) { expand_pairs(e, "constant"); },
    .cases =
        "x[4, 3]; paddings = [1, 2, 0, 1]; bad paddings = [1, 2]; skip scalar: paddings per dim",
    .primitive = "Pad(paddings)",
    .internal = true,
});

constexpr OpDef kMirrorPad = check({
    .name = "mirror_pad",
    .doc = "Pads with the mirrored operand, without (REFLECT) or with (SYMMETRIC) its edge: "
           "paddings holds (before, after) "
           "for each dim.",
    .in = {"input_x: any"},
    .attr = {"paddings: int[][2]", "mode: str(REFLECT|SYMMETRIC) = REFLECT"},
    .shard = "none",
    .expand = [](Expansion& e) { expand_pairs(e, core_mode(e.attrs.string("mode"))); },
    .cases = "input_x[4, 3]; paddings = [1, 2, 0, 1]; mode = REFLECT SYMMETRIC; bad paddings = [5, "
             "0, 0, 0]; bad paddings = "
             "[1, 2]; skip zero_size: mirroring needs elements; skip scalar: paddings per dim",
});

}  // namespace mycel::ops
