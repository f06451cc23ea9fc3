#include "loops/llvm/emit_expr.h"

#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Intrinsics.h>

#include "base/error.h"
#include "loops/formulas.h"

namespace mycel::loops {

using llvm::Value;
using llvm::Intrinsic::ID;
namespace intrinsic = llvm::Intrinsic;

llvm::Type* ExprEmitter::type_of(DType t) {
  switch (t) {
    case DType::kBool:
      return b_.getInt1Ty();
    case DType::kFloat32:
      return b_.getFloatTy();
    case DType::kFloat64:
      return b_.getDoubleTy();
    default:
      break;
  }
  MYCEL_CHECK(is_int(t), "no register type for {}", mycel::name_of(t));
  return b_.getIntNTy(8 * size_of(t));
}

llvm::Type* ExprEmitter::memory_type(DType t) {
  if (is_bool(t)) return b_.getInt8Ty();
  if (t == DType::kFloat16 || t == DType::kBFloat16) return b_.getInt16Ty();
  return type_of(real_part_of(t));
}

Value* ExprEmitter::get(const Expr* e) {
  if (Value* known = values_[e->id]) return known;
  switch (e->op) {
    case Op::kLiteral:
      if (is_float(e->dtype)) return llvm::ConstantFP::get(type_of(e->dtype), e->real());
      return llvm::ConstantInt::get(type_of(e->dtype), static_cast<uint64_t>(e->bits));
    case Op::kNumber:
      return numbers[e->index];
    case Op::kArgument:
      return (*arguments_)[e->index];
    default:
      internal_error(__FILE__, __LINE__, "value known",
                     std::string("use before definition of ") + name_of(e->op));
  }
}

Value* ExprEmitter::emit(const Expr* e) {
  if (is_function(e->op)) return function(e);
  Value* x = get(e->arg[0]);
  if (e->count == 1) return unary(e, x);
  Value* y = get(e->arg[1]);
  if (e->count == 2) return arithmetic(e, x, y);
  Value* z = get(e->arg[2]);
  if (e->op == Op::kSelect) return b_.CreateSelect(x, y, z);
  if (e->op == Op::kMulAdd && !traits_.fma) return b_.CreateFAdd(b_.CreateFMul(x, y), z);
  return b_.CreateIntrinsic(intrinsic::fma, {x->getType()}, {x, y, z});
}

Value* ExprEmitter::arithmetic(const Expr* e, Value* x, Value* y) {
  const bool real = is_float(e->dtype);
  if (is_comparison(e->op)) return compare(e, x, y);
  switch (e->op) {
    case Op::kAdd:
    case Op::kMul: {
      if (!real) return e->op == Op::kAdd ? b_.CreateAdd(x, y) : b_.CreateMul(x, y);
      llvm::IRBuilderBase::FastMathFlagGuard guard(b_);
      llvm::FastMathFlags flags;
      flags.setAllowReassoc(reassociable.contains(e));
      b_.setFastMathFlags(flags);
      return e->op == Op::kAdd ? b_.CreateFAdd(x, y) : b_.CreateFMul(x, y);
    }
    case Op::kSub:
      return real ? b_.CreateFSub(x, y) : b_.CreateSub(x, y);
    case Op::kDiv:
      return real ? b_.CreateFDiv(x, y) : divide(e, x, y);
    case Op::kRem:
      return real ? b_.CreateFRem(x, y) : divide(e, x, y);
    case Op::kAnd:
      return b_.CreateAnd(x, y);
    case Op::kOr:
      return b_.CreateOr(x, y);
    case Op::kXor:
      return b_.CreateXor(x, y);
    case Op::kShl:
    case Op::kShr:
      return shift(e, x, y);
    case Op::kMin:
    case Op::kMax:
      return min_max(e, x, y);
    case Op::kMulHi: {
      llvm::Type* wide = b_.getInt64Ty();
      Value* product = b_.CreateMul(b_.CreateZExt(x, wide), b_.CreateZExt(y, wide));
      return b_.CreateTrunc(b_.CreateLShr(product, 32), x->getType());
    }
    default:
      internal_error(__FILE__, __LINE__, "binary", name_of(e->op));
  }
}

// x / 0 = x % 0 = 0, and the smallest integer by -1 wraps: the divisor is replaced where it would
// trap.
Value* ExprEmitter::divide(const Expr* e, Value* x, Value* y) {
  const bool is_signed = is_signed_int(e->dtype), quotient = e->op == Op::kDiv;
  auto plain = [&](Value* d) {
    if (is_signed) return quotient ? b_.CreateSDiv(x, d) : b_.CreateSRem(x, d);
    return quotient ? b_.CreateUDiv(x, d) : b_.CreateURem(x, d);
  };
  const Expr* divisor = e->arg[1];
  if (divisor->is_literal() && divisor->bits != 0 && divisor->bits != -1) return plain(y);
  Value* zero = llvm::ConstantInt::get(x->getType(), 0);
  Value* one = llvm::ConstantInt::get(x->getType(), 1);
  Value* by_zero = b_.CreateICmpEQ(y, zero);
  if (!is_signed) return b_.CreateSelect(by_zero, zero, plain(b_.CreateSelect(by_zero, one, y)));
  Value* by_minus = b_.CreateICmpEQ(y, llvm::ConstantInt::getSigned(x->getType(), -1));
  Value* result = plain(b_.CreateSelect(b_.CreateOr(by_zero, by_minus), one, y));
  result = b_.CreateSelect(by_minus, quotient ? b_.CreateNeg(x) : zero, result);
  return b_.CreateSelect(by_zero, zero, result);
}

Value* ExprEmitter::shift(const Expr* e, Value* x, Value* y) {
  const unsigned width = 8 * size_of(e->dtype);
  const bool left = e->op == Op::kShl, arithmetic_right = !left && is_signed_int(e->dtype);
  auto plain = [&](Value* by) {
    if (left) return b_.CreateShl(x, by);
    return arithmetic_right ? b_.CreateAShr(x, by) : b_.CreateLShr(x, by);
  };
  const Expr* by = e->arg[1];
  if (by->is_literal() && by->bits >= 0 && by->bits < width) return plain(y);
  Value* last = llvm::ConstantInt::get(x->getType(), width - 1);
  Value* inside = b_.CreateICmpULE(y, last);
  Value* result = plain(b_.CreateSelect(inside, y, last));
  return arithmetic_right
             ? result
             : b_.CreateSelect(inside, result, llvm::ConstantInt::get(x->getType(), 0));
}

// x < y of floats. 0 < |b| is said without the modulus: LLVM 19 takes
// select(isnan(|b|), |b|, select(0 < |b|, |b|, 0)), which is max(|b|, 0), for one that asks 0 < b.
Value* ExprEmitter::less(Value* x, Value* y) {
  auto* zero = llvm::dyn_cast<llvm::ConstantFP>(x);
  auto* modulus = llvm::dyn_cast<llvm::IntrinsicInst>(y);
  if (zero && zero->isZero() && modulus && modulus->getIntrinsicID() == intrinsic::fabs)
    return b_.CreateFCmpONE(modulus->getArgOperand(0), x);
  return b_.CreateFCmpOLT(x, y);
}

Value* ExprEmitter::compare(const Expr* e, Value* x, Value* y) {
  const DType t = e->arg[0]->dtype;
  using llvm::CmpInst;
  if (is_float(t)) {
    switch (e->op) {
      case Op::kLt:
        return less(x, y);
      case Op::kLe:
        return b_.CreateFCmpOLE(x, y);
      case Op::kEq:
        return b_.CreateFCmpOEQ(x, y);
      default:
        return b_.CreateFCmpUNE(x, y);
    }
  }
  switch (e->op) {
    case Op::kLt:
      return is_signed_int(t) ? b_.CreateICmpSLT(x, y) : b_.CreateICmpULT(x, y);
    case Op::kLe:
      return is_signed_int(t) ? b_.CreateICmpSLE(x, y) : b_.CreateICmpULE(x, y);
    case Op::kEq:
      return b_.CreateICmpEQ(x, y);
    default:
      return b_.CreateICmpNE(x, y);
  }
}

Value* ExprEmitter::min_max(const Expr* e, Value* x, Value* y) {
  const bool smaller = e->op == Op::kMin;
  if (is_bool(e->dtype)) return smaller ? b_.CreateAnd(x, y) : b_.CreateOr(x, y);
  if (is_int(e->dtype)) {
    const ID id = is_signed_int(e->dtype) ? (smaller ? intrinsic::smin : intrinsic::smax)
                                          : (smaller ? intrinsic::umin : intrinsic::umax);
    return b_.CreateBinaryIntrinsic(id, x, y);
  }
  if (reassociable.contains(e)) {  // the form in which the vectorizer knows the reduction
    Value* result =
        b_.CreateBinaryIntrinsic(smaller ? intrinsic::minimum : intrinsic::maximum, x, y);
    llvm::cast<llvm::Instruction>(result)->setHasNoSignedZeros(true);
    return result;
  }
  // Spelt out, so that vector and scalar code agree on the sign of a zero: of two zeros the second.
  Value* first = smaller ? less(x, y) : less(y, x);
  Value* picked = b_.CreateSelect(first, x, y);
  return b_.CreateSelect(b_.CreateFCmpUNO(x, x), x, picked);
}

Value* ExprEmitter::unary(const Expr* e, Value* x) {
  const bool real = is_float(e->dtype);
  switch (e->op) {
    case Op::kNeg:
      return real ? b_.CreateFNeg(x) : b_.CreateNeg(x);
    case Op::kNot:
      return b_.CreateNot(x);
    case Op::kAbs:
      return real ? b_.CreateUnaryIntrinsic(intrinsic::fabs, x)
                  : b_.CreateBinaryIntrinsic(intrinsic::abs, x, b_.getFalse());
    case Op::kFloor:
      return b_.CreateUnaryIntrinsic(intrinsic::floor, x);
    case Op::kCeil:
      return b_.CreateUnaryIntrinsic(intrinsic::ceil, x);
    case Op::kTrunc:
      return b_.CreateUnaryIntrinsic(intrinsic::trunc, x);
    case Op::kRint:
      return b_.CreateUnaryIntrinsic(intrinsic::rint, x);
    case Op::kSqrt:
      return b_.CreateUnaryIntrinsic(intrinsic::sqrt, x);
    case Op::kBitcast:
      return b_.CreateBitCast(x, type_of(e->dtype));
    case Op::kCast:
      return convert(e->arg[0]->dtype, e->dtype, x);
    default:
      internal_error(__FILE__, __LINE__, "unary", name_of(e->op));
  }
}

Value* ExprEmitter::convert(DType from, DType to, Value* x) {
  llvm::Type* type = type_of(to);
  if (is_float(from) && is_float(to)) return b_.CreateFPCast(x, type);
  if (is_float(from)) {  // saturating, NaN to 0
    const ID id = is_signed_int(to) ? intrinsic::fptosi_sat : intrinsic::fptoui_sat;
    return b_.CreateIntrinsic(id, {type, x->getType()}, {x});
  }
  if (is_float(to))
    return is_signed_int(from) ? b_.CreateSIToFP(x, type) : b_.CreateUIToFP(x, type);
  return b_.CreateIntCast(x, type, is_signed_int(from));
}

Value* ExprEmitter::function(const Expr* e) {
  std::vector<Value*> args;
  for (int i = 0; i < e->count; ++i) args.push_back(get(e->arg[i]));
  if (const Formula* formula = formula_for(e->op, e->dtype)) {
    const auto* outer_arguments = std::exchange(arguments_, &args);
    std::vector<Value*> outer = std::exchange(values_, {});
    begin_function(formula->nest.impl().expr_count);
    for (const Stmt* s = formula->nest.impl().preamble; s; s = s->next) set(s->a, emit(s->a));
    Value* result = get(formula->result);
    values_ = std::move(outer);
    arguments_ = outer_arguments;
    return result;
  }
  // The C library, in double. The name has a prefix, so that LLVM does not rewrite the call.
  llvm::Type* real = b_.getDoubleTy();
  for (Value*& a : args) a = b_.CreateFPCast(a, real);
  auto* type = llvm::FunctionType::get(real, std::vector<llvm::Type*>(args.size(), real), false);
  llvm::FunctionCallee callee =
      module_.getOrInsertFunction(std::string("mycel_") + name_of(e->op), type);
  auto* declared = llvm::cast<llvm::Function>(callee.getCallee());
  declared->setDoesNotAccessMemory();
  declared->setDoesNotThrow();
  declared->setWillReturn();
  return b_.CreateFPCast(b_.CreateCall(callee, args), type_of(e->dtype));
}

// -- memory forms
// ----------------------------------------------------------------------------------

Value* ExprEmitter::from_memory(Value* v, DType stored) {
  switch (stored) {
    case DType::kBool:
      return b_.CreateICmpNE(v, b_.getInt8(0));
    case DType::kBFloat16:
      return b_.CreateBitCast(b_.CreateShl(b_.CreateZExt(v, b_.getInt32Ty()), 16), b_.getFloatTy());
    case DType::kFloat16:
      return half_to_float(v);
    default:
      return v;
  }
}

Value* ExprEmitter::to_memory(Value* v, DType stored) {
  switch (stored) {
    case DType::kBool:
      return b_.CreateZExt(v, b_.getInt8Ty());
    case DType::kBFloat16:
      return round_to_bfloat16(v);
    case DType::kFloat16:
      return float_to_half(v);
    default:
      return v;
  }
}

// To nearest even on the bits; a NaN stays one (quiet). The CPU's own instruction would lose
// denormals.
Value* ExprEmitter::round_to_bfloat16(Value* x) {
  Value* bits = b_.CreateBitCast(x, b_.getInt32Ty());
  Value* odd = b_.CreateAnd(b_.CreateLShr(bits, 16), b_.getInt32(1));
  Value* rounded = b_.CreateLShr(b_.CreateAdd(bits, b_.CreateAdd(odd, b_.getInt32(0x7fff))), 16);
  Value* nan = b_.CreateOr(b_.CreateLShr(bits, 16), b_.getInt32(0x40));
  return b_.CreateTrunc(b_.CreateSelect(b_.CreateFCmpUNO(x, x), nan, rounded), b_.getInt16Ty());
}

Value* ExprEmitter::half_to_float(Value* x) {
  if (traits_.f16c) return b_.CreateFPExt(b_.CreateBitCast(x, b_.getHalfTy()), b_.getFloatTy());
  // Shift the bits into place and scale by 2^112, which also makes denormals right; inf and NaN
  // apart.
  llvm::Type *word = b_.getInt32Ty(), *real = b_.getFloatTy();
  Value* wide = b_.CreateZExt(x, word);
  Value* magnitude = b_.CreateShl(b_.CreateAnd(wide, b_.getInt32(0x7fff)), 13);
  Value* scaled =
      b_.CreateFMul(b_.CreateBitCast(magnitude, real), llvm::ConstantFP::get(real, 0x1p112));
  Value* special = b_.CreateICmpUGE(magnitude, b_.getInt32(0x7c00 << 13));
  Value* bits = b_.CreateSelect(special, b_.CreateOr(magnitude, b_.getInt32(0x7f800000)),
                                b_.CreateBitCast(scaled, word));
  Value* sign = b_.CreateShl(b_.CreateAnd(wide, b_.getInt32(0x8000)), 16);
  return b_.CreateBitCast(b_.CreateOr(bits, sign), real);
}

Value* ExprEmitter::float_to_half(Value* x) {
  if (traits_.f16c) return b_.CreateBitCast(b_.CreateFPTrunc(x, b_.getHalfTy()), b_.getInt16Ty());
  llvm::Type *word = b_.getInt32Ty(), *real = b_.getFloatTy();
  Value* all = b_.CreateBitCast(x, word);
  Value* sign = b_.CreateAnd(b_.CreateLShr(all, 16), b_.getInt32(0x8000));
  Value* bits = b_.CreateAnd(all, b_.getInt32(0x7fffffff));
  // Normal numbers: rebias the exponent and round to nearest even on the bits.
  Value* odd = b_.CreateAnd(b_.CreateLShr(bits, 13), b_.getInt32(1));
  Value* normal = b_.CreateLShr(
      b_.CreateAdd(bits,
                   b_.CreateAdd(odd, b_.getInt32((static_cast<uint32_t>(15 - 127) << 23) + 0xfff))),
      13);
  // Denormals: adding 0.5 makes the hardware round at the right bit.
  Value* shifted = b_.CreateFAdd(b_.CreateBitCast(bits, real), llvm::ConstantFP::get(real, 0.5));
  Value* denormal = b_.CreateSub(b_.CreateBitCast(shifted, word), b_.getInt32(0x3f000000));
  Value* result = b_.CreateSelect(b_.CreateICmpULT(bits, b_.getInt32(113 << 23)), denormal, normal);
  Value* nan = b_.CreateICmpUGT(bits, b_.getInt32(0x7f800000));
  Value* special = b_.CreateSelect(
      nan,
      b_.CreateOr(b_.getInt32(0x7e00), b_.CreateAnd(b_.CreateLShr(bits, 13), b_.getInt32(0x3ff))),
      b_.getInt32(0x7c00));
  result = b_.CreateSelect(b_.CreateICmpUGE(bits, b_.getInt32(143 << 23)), special, result);
  return b_.CreateTrunc(b_.CreateOr(result, sign), b_.getInt16Ty());
}

}  // namespace mycel::loops
