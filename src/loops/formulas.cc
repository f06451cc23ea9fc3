#include "loops/formulas.h"

#include <mutex>

#include "loops/formula_parts.h"

namespace mycel::loops {
namespace {

using One = Val (*)(Val);
using Two = Val (*)(Val, Val);

struct Entry {
  Op op;
  One f32, f64;  // null: the C library
};
constexpr Entry kTable[] = {
    {Op::kExp, formula::exp, formula::exp},       {Op::kExp2, formula::exp2, formula::exp2},
    {Op::kExpm1, formula::expm1, formula::expm1}, {Op::kLog, formula::log, formula::log},
    {Op::kLog2, formula::log2, formula::log2},    {Op::kLog10, formula::log10, formula::log10},
    {Op::kLog1p, formula::log1p, formula::log1p}, {Op::kSin, formula::sin32, nullptr},
    {Op::kCos, formula::cos32, nullptr},          {Op::kTan, formula::tan32, nullptr},
    {Op::kAsin, formula::asin, formula::asin},    {Op::kAcos, formula::acos, formula::acos},
    {Op::kAtan, formula::atan, formula::atan},    {Op::kSinh, formula::sinh, formula::sinh},
    {Op::kCosh, formula::cosh, formula::cosh},    {Op::kTanh, formula::tanh, formula::tanh},
    {Op::kAsinh, formula::asinh, formula::asinh}, {Op::kAcosh, formula::acosh, formula::acosh},
    {Op::kAtanh, formula::atanh, formula::atanh}, {Op::kErf, formula::erf, formula::erf},
    {Op::kErfc, formula::erfc, formula::erfc},    {Op::kLgamma, nullptr, nullptr},
};

One unary(Op op, bool wide) {
  for (const Entry& e : kTable) {
    if (e.op == op) return wide ? e.f64 : e.f32;
  }
  return nullptr;
}
Two binary(Op op, bool wide) {
  if (op == Op::kAtan2) return formula::atan2;
  return op == Op::kPow && !wide ? formula::pow32 : nullptr;
}

}  // namespace

// A formula may use functions (tanh uses exp): they are written out in it, since formula::exp and
// not loops::exp is called there.
const Formula* formula_for(Op op, DType dtype) {
  struct Slot {
    std::once_flag once;
    std::unique_ptr<Formula> formula;
  };
  static Slot slots[kOpCount][2];
  const bool wide = dtype == DType::kFloat64;
  Slot& slot = slots[static_cast<int>(op)][wide];
  std::call_once(slot.once, [&] {
    const One one = unary(op, wide);
    const Two two = binary(op, wide);
    if (!one && !two) return;
    slot.formula = std::make_unique<Formula>();
    Nest::Impl& impl = slot.formula->nest.impl();
    const Val x{impl.leaf(Op::kArgument, dtype, 0)};
    slot.formula->result = one ? one(x).n : two(x, Val{impl.leaf(Op::kArgument, dtype, 1)}).n;
  });
  return slot.formula.get();
}

}  // namespace mycel::loops
