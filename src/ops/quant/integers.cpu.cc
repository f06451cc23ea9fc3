#include "ops/quant/integers.cpu.h"

#include <limits>

#include <fmt/format.h>

#include "ops/conv/post_ops.cpu.h"
#include "ops/quant/spread.h"

namespace mycel::ops {

using cpu::EpilogueStep;
using cpu::Problem;
using cpu::onednn::PostOp;
using Kind = EpilogueStep::Kind;
using Steps = std::vector<EpilogueStep>;

Contraction contraction_of(const Problem& p) {
  Contraction c{&p.op, &p.attrs, {p.in.begin(), p.in.end()}, {}, {p.out[0]}};
  for (size_t i = 0; i < p.in.size(); ++i) c.at.push_back(static_cast<int>(i));
  return c;
}

Contraction contraction_of(const cpu::Joined& joined, const Problem& p) {
  Contraction c{joined.op->op, &joined.op->attrs, {}, {}, joined.op->types};
  int next = 0;
  for (const ir::Value& v : joined.op->inputs) {
    c.in.push_back(v ? p.in[static_cast<size_t>(next)] : nullptr);
    c.at.push_back(v ? next++ : -1);
  }
  return c;
}

std::string unsuited_integers(const Contraction& c, int x_zero, int w_zero) {
  for (int i : {0, 1}) {
    if (c.in[static_cast<size_t>(i)]->shape.size() == 0) return "a dimension is 0";
  }
  if (c.sums[0].shape.size() == 0) return "a dimension is 0";
  if (c.in[1]->dtype != DType::kInt8) return "the second operand is not int8";
  if (c.has(w_zero)) return "the second operand has a zero point";
  if (!c.has(x_zero)) return "";
  const ir::Type& zero = *c.in[static_cast<size_t>(x_zero)];
  return zero.dtype != DType::kInt32 || zero.shape.size() != 1
             ? "the zero point is not one number of int32"
             : "";
}

Requantizing of_operands(const Contraction& c, int x_zero, const ir::Type& y) {
  Requantizing r;
  r.integers.x = c.in[0]->dtype;
  r.integers.w = c.in[1]->dtype;
  r.integers.y = y.dtype;
  if (c.has(x_zero)) r.integers.x_zero_at = c.at[static_cast<size_t>(x_zero)];
  return r;
}

namespace {

PostOp within(double low, double high) {
  PostOp op;
  op.kind = PostOp::Kind::kRange;
  op.a = low, op.b = high;
  return op;
}

// What stands at the end of steps that give integers: the range, rounding, a zero point.
struct Tail {
  double zero = 0, low = 0, high = 0;
};
std::optional<Tail> take_tail(Steps& steps) {
  auto take = [&](Kind kind, double* number) {
    if (steps.empty() || steps.back().kind != kind || steps.back().operand >= 0) return false;
    *number = steps.back().number;
    steps.pop_back();
    return true;
  };
  Tail t;
  double none = 0;
  if (!take(Kind::kAdd, &t.zero) || !take(Kind::kRound, &none)) return {};
  if (!take(Kind::kMin, &t.high) || !take(Kind::kMax, &t.low)) return {};
  t.low += t.zero, t.high += t.zero;
  return t;
}

class Describer {
 public:
  Describer(const Problem& p, int64_t channels, Requantizing& to)
      : p_(p), channels_(channels), to_(to) {}

  bool add(const EpilogueStep& s) {
    if (s.operand < 0) return add_number(s);
    const ir::Type& t = *p_.in[static_cast<size_t>(s.operand)];
    const bool plain = t.dtype == DType::kFloat32 && to_.post.empty();
    if (plain && s.kind == Kind::kMul && to_.integers.scale_at < 0 && !to_.bias &&
        (by_channel(t.shape) || t.shape.size() == 1)) {
      to_.integers.scale_at = s.operand;
      to_.integers.scale_by_channel = t.shape.size() != 1;
      return true;
    }
    if (plain && s.kind == Kind::kAdd && !to_.bias && by_channel(t.shape)) {
      to_.bias = true;
      to_.bias_at = s.operand;
      return true;
    }
    return add_operand(s, t);
  }

 private:
  bool by_channel(const Shape& s) const {
    return s.rank() > 0 && s.size() == channels_ && s[s.rank() - 1] == channels_;
  }

  bool add_number(const EpilogueStep& s) {
    switch (s.kind) {
      case Kind::kAdd:
      case Kind::kSub:
      case Kind::kMul:
        to_.post.push_back(*number_step(s));
        return true;
      case Kind::kMax:
        if (s.number == 0) {
          to_.post.emplace_back().kind = PostOp::Kind::kRelu;
        } else {
          to_.post.push_back(within(s.number, std::numeric_limits<float>::max()));
        }
        return true;
      case Kind::kMin:
        to_.post.push_back(within(std::numeric_limits<float>::lowest(), s.number));
        return true;
      case Kind::kRound:
        to_.post.emplace_back().kind = PostOp::Kind::kRound;
        return true;
      default:
        return false;
    }
  }

  bool add_operand(const EpilogueStep& s, const ir::Type& t) {
    const Shape& y = p_.out[0].shape;
    const bool known = t.dtype == DType::kFloat32 || t.dtype == DType::kInt32 ||
                       t.dtype == DType::kInt8 || t.dtype == DType::kUInt8;
    std::optional<PostOp> op = operand_step(s, t, y.rank());
    if (!known || !op) return false;
    // One number, one for each channel, or one for each element: what oneDNN is fast with.
    if (t.shape.size() != 1 && !by_channel(t.shape) && !(t.shape.size() == y.size())) return false;
    to_.post.push_back(std::move(*op));
    return true;
  }

  const Problem& p_;
  int64_t channels_;
  Requantizing& to_;
};

}  // namespace

bool add_steps(Steps steps, const Problem& p, int64_t channels, Requantizing& to) {
  const DType y = p.out[0].dtype;
  std::optional<Tail> tail;
  if (is_int(y)) {
    if (size_of(y) != 1) return false;
    tail = take_tail(steps);
    if (!tail) return false;
  } else if (y != DType::kFloat32) {
    return false;
  }
  Describer describer(p, channels, to);
  for (const EpilogueStep& s : steps) {
    if (!describer.add(s)) return false;
  }
  if (!tail) return true;
  const IntRange all = range_of(y);
  const bool narrow =
      tail->low > static_cast<double>(all.low) || tail->high < static_cast<double>(all.high);
  // Rounded before the zero point is added, as ONNX has it: a half would go to another side.
  if (tail->zero != 0) to.post.emplace_back().kind = PostOp::Kind::kRound;
  if (narrow) to.post.push_back(within(tail->low - tail->zero, tail->high - tail->zero));
  to.integers.y_zero = static_cast<int32_t>(tail->zero);
  return true;
}

}  // namespace mycel::ops
