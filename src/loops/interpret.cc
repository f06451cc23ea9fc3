#include "loops/interpret.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "loops/expr.h"

namespace mycel::loops {
namespace {

union Cell {
  int64_t i;  // integers and bool; uint64 as its bits
  double f;
};

int64_t wrapped(DType t, int64_t v) {
  switch (t) {
    case DType::kBool:
      return v & 1;
    case DType::kInt8:
      return static_cast<int8_t>(v);
    case DType::kInt16:
      return static_cast<int16_t>(v);
    case DType::kInt32:
      return static_cast<int32_t>(v);
    case DType::kUInt8:
      return static_cast<uint8_t>(v);
    case DType::kUInt16:
      return static_cast<uint16_t>(v);
    case DType::kUInt32:
      return static_cast<uint32_t>(v);
    default:
      return v;
  }
}
double rounded(DType t, double v) {
  return t == DType::kFloat32 ? static_cast<double>(static_cast<float>(v)) : v;
}

double function(Op op, double x, double y) {
  switch (op) {
    case Op::kExp:
      return std::exp(x);
    case Op::kExp2:
      return std::exp2(x);
    case Op::kExpm1:
      return std::expm1(x);
    case Op::kLog:
      return std::log(x);
    case Op::kLog2:
      return std::log2(x);
    case Op::kLog10:
      return std::log10(x);
    case Op::kLog1p:
      return std::log1p(x);
    case Op::kSin:
      return std::sin(x);
    case Op::kCos:
      return std::cos(x);
    case Op::kTan:
      return std::tan(x);
    case Op::kAsin:
      return std::asin(x);
    case Op::kAcos:
      return std::acos(x);
    case Op::kAtan:
      return std::atan(x);
    case Op::kSinh:
      return std::sinh(x);
    case Op::kCosh:
      return std::cosh(x);
    case Op::kTanh:
      return std::tanh(x);
    case Op::kAsinh:
      return std::asinh(x);
    case Op::kAcosh:
      return std::acosh(x);
    case Op::kAtanh:
      return std::atanh(x);
    case Op::kErf:
      return std::erf(x);
    case Op::kErfc:
      return std::erfc(x);
    case Op::kLgamma:
      return std::lgamma(x);
    case Op::kAtan2:
      return std::atan2(x, y);
    case Op::kPow:
      return std::pow(x, y);
    default:
      internal_error(__FILE__, __LINE__, "function", name_of(op));
  }
}

double real_operation(const Expr* e, double x, double y, double z) {
  switch (e->op) {
    case Op::kAdd:
      return x + y;
    case Op::kSub:
      return x - y;
    case Op::kMul:
      return x * y;
    case Op::kDiv:
      return x / y;
    case Op::kRem:
      return std::fmod(x, y);
    case Op::kMin:
      return std::isnan(x) || x < y ? x : y;
    case Op::kMax:
      return std::isnan(x) || x > y ? x : y;
    case Op::kFma:
    case Op::kMulAdd:
      return e->dtype == DType::kFloat32 ? std::fma(float(x), float(y), float(z))
                                         : std::fma(x, y, z);
    case Op::kNeg:
      return -x;
    case Op::kAbs:
      return std::fabs(x);
    case Op::kFloor:
      return std::floor(x);
    case Op::kCeil:
      return std::ceil(x);
    case Op::kTrunc:
      return std::trunc(x);
    case Op::kRint:
      return std::nearbyint(x);
    case Op::kSqrt:
      return std::sqrt(x);
    default:
      return function(e->op, x, y);
  }
}

bool holds(Op op, auto x, auto y) {
  switch (op) {
    case Op::kLt:
      return x < y;
    case Op::kLe:
      return x <= y;
    case Op::kEq:
      return x == y;
    default:
      return x != y;
  }
}

// T is int64_t or uint64_t: the operand type widened, so that / % >> and the order are right.
template <typename T>
int64_t integer_operation(const Expr* e, T x, T y) {
  const uint64_t ux = static_cast<uint64_t>(x), uy = static_cast<uint64_t>(y);
  const uint64_t width = is_bool(e->dtype) ? 1 : 8 * size_of(e->dtype);
  switch (e->op) {
    case Op::kAdd:
      return ux + uy;
    case Op::kSub:
      return ux - uy;
    case Op::kMul:
      return ux * uy;
    case Op::kDiv:
      return y == 0 ? 0 : y == static_cast<T>(-1) && std::is_signed_v<T> ? 0 - ux : x / y;
    case Op::kRem:
      return y == 0 || (y == static_cast<T>(-1) && std::is_signed_v<T>) ? 0 : x % y;
    case Op::kAnd:
      return ux & uy;
    case Op::kOr:
      return ux | uy;
    case Op::kXor:
      return ux ^ uy;
    case Op::kShl:
      return uy < width ? ux << uy : 0;
    case Op::kShr:
      return uy < width ? x >> uy : (x < 0 ? -1 : 0);
    case Op::kMin:
      return x < y ? x : y;
    case Op::kMax:
      return x > y ? x : y;
    case Op::kMulHi:
      return (ux * uy) >> 32;
    case Op::kNeg:
      return 0 - ux;
    case Op::kNot:
      return ~ux;
    case Op::kAbs:
      return x < 0 ? 0 - ux : ux;
    default:
      internal_error(__FILE__, __LINE__, "integer operation", name_of(e->op));
  }
}

int64_t to_integer(DType to, double v) {
  if (std::isnan(v)) return 0;
  const int bits = 8 * static_cast<int>(size_of(to));
  const double top = std::ldexp(1.0, is_signed_int(to) ? bits - 1 : bits),
               low = is_signed_int(to) ? -top : 0;
  v = std::trunc(v);
  if (v <= low) return is_signed_int(to) ? static_cast<int64_t>(low) : 0;
  if (v >= top)
    return wrapped(
        to, is_signed_int(to) ? (int64_t{1} << (bits - 2)) - 1 + (int64_t{1} << (bits - 2)) : -1);
  return is_signed_int(to) ? static_cast<int64_t>(v)
                           : static_cast<int64_t>(static_cast<uint64_t>(v));
}

Cell converted(DType from, DType to, Cell v) {
  Cell r;
  if (is_float(from)) {
    is_float(to) ? void(r.f = rounded(to, v.f)) : void(r.i = to_integer(to, v.f));
  } else if (to == DType::kFloat32) {  // one rounding, not two by way of double
    r.f = from == DType::kUInt64 ? static_cast<float>(static_cast<uint64_t>(v.i))
                                 : static_cast<float>(v.i);
  } else if (is_float(to)) {
    r.f = from == DType::kUInt64 ? static_cast<double>(static_cast<uint64_t>(v.i))
                                 : static_cast<double>(v.i);
  } else {
    r.i = wrapped(to, v.i);
  }
  return r;
}

Cell bits_as(DType from, DType to, Cell v) {
  int64_t bits = v.i;
  if (from == DType::kFloat32) bits = std::bit_cast<int32_t>(static_cast<float>(v.f));
  if (from == DType::kFloat64) bits = std::bit_cast<int64_t>(v.f);
  Cell r;
  if (to == DType::kFloat32) {
    r.f = std::bit_cast<float>(static_cast<int32_t>(bits));
  } else if (to == DType::kFloat64) {
    r.f = std::bit_cast<double>(bits);
  } else {
    r.i = wrapped(to, bits);
  }
  return r;
}

template <typename T>
T read(const void* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <typename T>
void write(void* p, T v) {
  std::memcpy(p, &v, sizeof v);
}

class Machine {
 public:
  Machine(const Nest& nest, void* const* buffers) : nest_(nest), cells_(nest.impl().expr_count) {
    vars_.resize(nest.impl().vars.size());
    for (const auto& info : nest.buffers()) {
      if (info.role != Nest::BufferInfo::kScratch) {
        memory_.push_back(static_cast<char*>(buffers[memory_.size()]));
        continue;
      }
      scratch_.emplace_back(size_of(info.dtype) * static_cast<size_t>(info.scratch_elements) + 1);
      memory_.push_back(scratch_.back().data());
    }
  }

  void run() {
    statements(nest_.impl().preamble);
    for (const Nest::Stage& stage : nest_.stages()) {
      for (int64_t i = 0; i < stage.extent; ++i) {
        cells_[stage.induction->id].i = i;
        statements(stage.body);
      }
    }
  }

 private:
  Cell get(const Expr* e) const {
    if (e->op == Op::kLiteral) return Cell{e->bits};
    if (e->op == Op::kNumber) return Cell{nest_.numbers()[e->index]};
    return cells_[e->id];
  }

  char* address(int buffer, int64_t at) const {
    return memory_[buffer] +
           at * static_cast<int64_t>(size_of(real_part_of(nest_.buffers()[buffer].dtype)));
  }

  Cell load(int buffer, int64_t at) const {
    const char* p = address(buffer, at);
    Cell c;
    switch (real_part_of(nest_.buffers()[buffer].dtype)) {
      case DType::kBool:
        c.i = *p != 0;
        break;
      case DType::kInt8:
        c.i = read<int8_t>(p);
        break;
      case DType::kInt16:
        c.i = read<int16_t>(p);
        break;
      case DType::kInt32:
        c.i = read<int32_t>(p);
        break;
      case DType::kUInt8:
        c.i = read<uint8_t>(p);
        break;
      case DType::kUInt16:
        c.i = read<uint16_t>(p);
        break;
      case DType::kUInt32:
        c.i = read<uint32_t>(p);
        break;
      case DType::kFloat16:
        c.f = half_to_float(read<uint16_t>(p));
        break;
      case DType::kBFloat16:
        c.f = bfloat16_to_float(read<uint16_t>(p));
        break;
      case DType::kFloat32:
        c.f = read<float>(p);
        break;
      case DType::kFloat64:
        c.f = read<double>(p);
        break;
      default:
        c.i = read<int64_t>(p);
    }
    return c;
  }

  void store(int buffer, int64_t at, Cell c) {
    char* p = address(buffer, at);
    switch (real_part_of(nest_.buffers()[buffer].dtype)) {
      case DType::kFloat16:
        return write(p, float_to_half(static_cast<float>(c.f)));
      case DType::kBFloat16:
        return write(p, float_to_bfloat16(static_cast<float>(c.f)));
      case DType::kFloat32:
        return write(p, static_cast<float>(c.f));
      case DType::kFloat64:
        return write(p, c.f);
      default:
        std::memcpy(p, &c.i, size_of(nest_.buffers()[buffer].dtype));  // low bytes first
    }
  }

  Cell evaluate(const Expr* e) const {
    if (e->op == Op::kLoad) return load(e->index, get(e->arg[0]).i);
    if (e->op == Op::kVar) return vars_[e->index];
    Cell v[3] = {};
    for (int k = 0; k < e->count; ++k) v[k] = get(e->arg[k]);
    const DType from = e->arg[0]->dtype;
    Cell r;
    if (e->op == Op::kSelect) return v[0].i ? v[1] : v[2];
    if (e->op == Op::kCast) return converted(from, e->dtype, v[0]);
    if (e->op == Op::kBitcast) return bits_as(from, e->dtype, v[0]);
    if (is_comparison(e->op)) {
      r.i = is_float(from)           ? holds(e->op, v[0].f, v[1].f)
            : from == DType::kUInt64 ? holds(e->op, uint64_t(v[0].i), uint64_t(v[1].i))
                                     : holds(e->op, v[0].i, v[1].i);
    } else if (is_float(e->dtype)) {
      r.f = rounded(e->dtype, real_operation(e, v[0].f, v[1].f, v[2].f));
    } else if (is_signed_int(e->dtype)) {
      r.i = wrapped(e->dtype, integer_operation<int64_t>(e, v[0].i, v[1].i));
    } else {
      r.i = wrapped(e->dtype, integer_operation<uint64_t>(e, uint64_t(v[0].i), uint64_t(v[1].i)));
    }
    return r;
  }

  void statements(const Stmt* s) {
    for (; s; s = s->next) {
      switch (s->kind) {
        case Stmt::kLet:
          cells_[s->a->id] = evaluate(s->a);
          break;
        case Stmt::kStore:
          store(s->index, get(s->a).i, get(s->b));
          break;
        case Stmt::kSet:
          vars_[s->index] = get(s->a);
          break;
        case Stmt::kLoop: {
          const int64_t extent = get(s->a).i;
          for (int64_t i = 0; i < extent; ++i) {
            cells_[s->b->id].i = i;
            statements(s->body);
          }
          break;
        }
        case Stmt::kWhile:
          for (statements(s->other); get(s->a).i; statements(s->other)) statements(s->body);
          break;
        case Stmt::kIf:
          statements(get(s->a).i ? s->body : s->other);
          break;
      }
    }
  }

  const Nest& nest_;
  std::vector<Cell> cells_, vars_;
  std::vector<char*> memory_;
  std::vector<std::vector<char>> scratch_;
};

}  // namespace

void interpret(const Nest& nest, void* const* buffers) { Machine(nest, buffers).run(); }

}  // namespace mycel::loops
