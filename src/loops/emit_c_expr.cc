#include "loops/emit_c_expr.h"

#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "loops/formulas.h"

namespace mycel::loops {
namespace {

std::string name(DType t) { return std::string(mycel::name_of(t)); }

// The unsigned type in which arithmetic wraps without undefined behaviour (never promoted to int).
const char* unsigned_type(DType t) { return size_of(t) == 8 ? "uint64_t" : "uint32_t"; }

std::string literal(const Expr* e) {
  if (is_float(e->dtype)) {
    const double v = e->real();
    const char* type = c_type(e->dtype);
    if (std::isnan(v)) return fmt::format("({})NAN", type);
    if (std::isinf(v)) return fmt::format("({})({}INFINITY)", type, v < 0 ? "-" : "");
    std::string text = fmt::format("{:a}{}", v, e->dtype == DType::kFloat32 ? "f" : "");
    return std::signbit(v) ? "(" + text + ")" : text;
  }
  if (e->dtype == DType::kInt64) {
    if (e->bits == INT64_MIN) return "(-INT64_C(9223372036854775807) - 1)";
    return e->bits < 0 ? fmt::format("(-INT64_C({}))", -e->bits)
                       : fmt::format("INT64_C({})", e->bits);
  }
  if (e->dtype == DType::kUInt64)
    return fmt::format("UINT64_C({})", static_cast<uint64_t>(e->bits));
  if (e->dtype == DType::kUInt32)
    return fmt::format("UINT32_C({})", static_cast<uint32_t>(e->bits));
  if (e->bits == INT32_MIN) return "(-INT32_C(2147483647) - 1)";
  return e->bits < 0 ? fmt::format("({})", e->bits) : fmt::format("{}", e->bits);
}

}  // namespace

const char* c_type(DType t) {
  static constexpr const char* kTypes[] = {"uint8_t", "int8_t",   "int16_t",  "int32_t",  "int64_t",
                                           "uint8_t", "uint16_t", "uint32_t", "uint64_t", "float",
                                           "float",   "float",    "double",   "float",    "double"};
  return kTypes[static_cast<int>(t)];
}
const char* c_memory_type(DType t) {
  return t == DType::kFloat16 || t == DType::kBFloat16 ? "uint16_t" : c_type(t);
}

void collect_used(const Expr* e, std::set<const Expr*>* used) {
  if (!e || !used->insert(e).second) return;
  for (int k = 0; k < e->count; ++k) collect_used(e->arg[k], used);
}

bool CExpressions::need(const std::string& key) { return known_.insert(key).second; }

void CExpressions::helper(const std::string& name, const std::string& definition) {
  helpers_ +=
      fmt::format("#ifndef {0}_DEFINED\n#define {0}_DEFINED\n{1}\n#endif\n", name, definition);
}

std::string CExpressions::ref(const Expr* e) {
  switch (e->op) {
    case Op::kLiteral:
      return literal(e);
    case Op::kNumber:
      return fmt::format("n{}", e->index);
    case Op::kArgument:
      return fmt::format("x{}", e->index);
    default:
      return fmt::format("t{}", e->id);
  }
}

std::string CExpressions::text(const Expr* e) {
  auto a = [&](int k) { return ref(e->arg[k]); };
  switch (e->op) {
    case Op::kVar:
      return fmt::format("v{}", e->index);
    case Op::kSelect:
      return fmt::format("{} ? {} : {}", a(0), a(1), a(2));
    case Op::kCast:
      return cast(e);
    case Op::kBitcast: {
      const DType from = e->arg[0]->dtype;
      if (!is_float(from) && !is_float(e->dtype))
        return fmt::format("({}){}", c_type(e->dtype), a(0));
      const DType real = is_float(from) ? from : e->dtype;
      const std::string base = bits(real);
      if (is_float(from)) return fmt::format("({}){}_word({})", c_type(e->dtype), base, a(0));
      return fmt::format("{}_real(({}){})", base, unsigned_type(real), a(0));
    }
    case Op::kLt:
      return fmt::format("{} < {}", a(0), a(1));
    case Op::kLe:
      return fmt::format("{} <= {}", a(0), a(1));
    case Op::kEq:
      return fmt::format("{} == {}", a(0), a(1));
    case Op::kNe:
      return fmt::format("{} != {}", a(0), a(1));
    case Op::kMin:
    case Op::kMax:
      return min_max(e);
    default:
      break;
  }
  if (is_function(e->op)) return function(e);
  if (is_float(e->dtype)) return real(e);
  switch (e->op) {
    case Op::kAdd:
      return wrapping(e, "+");
    case Op::kSub:
      return wrapping(e, "-");
    case Op::kMul:
      return wrapping(e, "*");
    case Op::kDiv:
    case Op::kRem:
      return guarded_integer(e);
    case Op::kAnd:
      return fmt::format("{} & {}", a(0), a(1));
    case Op::kOr:
      return fmt::format("{} | {}", a(0), a(1));
    case Op::kXor:
      return fmt::format("{} ^ {}", a(0), a(1));
    case Op::kShl:
    case Op::kShr:
      return shift(e);
    case Op::kMulHi:
      return fmt::format("(uint32_t)(((uint64_t){} * (uint64_t){}) >> 32)", a(0), a(1));
    case Op::kNeg:
      return fmt::format("({})(0 - ({}){})", c_type(e->dtype), unsigned_type(e->dtype), a(0));
    case Op::kNot:
      return is_bool(e->dtype) ? "!" + a(0) : fmt::format("({})~{}", c_type(e->dtype), a(0));
    case Op::kAbs:
      return fmt::format("({})({} < 0 ? 0 - ({}){} : ({}){})", c_type(e->dtype), a(0),
                         unsigned_type(e->dtype), a(0), unsigned_type(e->dtype), a(0));
    default:
      internal_error(__FILE__, __LINE__, "integer operation", name_of(e->op));
  }
}

std::string CExpressions::wrapping(const Expr* e, const char* op) {
  const char* u = unsigned_type(e->dtype);
  return fmt::format("({})(({}){} {} ({}){})", c_type(e->dtype), u, ref(e->arg[0]), op, u,
                     ref(e->arg[1]));
}

std::string CExpressions::guarded_integer(const Expr* e) {
  const bool quotient = e->op == Op::kDiv;
  const std::string key = fmt::format("mycel_{}_{}", quotient ? "div" : "rem", name(e->dtype));
  const char* t = c_type(e->dtype);
  if (need(key)) {
    std::string body = "if (y == 0) return 0;\n";
    if (is_signed_int(e->dtype)) {
      body += quotient ? fmt::format("  if (y == -1) return ({})(0 - ({})x);\n", t,
                                     unsigned_type(e->dtype))
                       : "  if (y == -1) return 0;\n";
    }
    helper(key,
           fmt::format("static inline {0} {1}({0} x, {0} y) {{\n  {2}  return ({0})(x {3} y);\n}}",
                       t, key, body, quotient ? "/" : "%"));
  }
  return fmt::format("{}({}, {})", key, ref(e->arg[0]), ref(e->arg[1]));
}

std::string CExpressions::shift(const Expr* e) {
  const bool left = e->op == Op::kShl;
  const std::string key = fmt::format("mycel_{}_{}", left ? "shl" : "shr", name(e->dtype));
  const char* t = c_type(e->dtype);
  const size_t width = 8 * size_of(e->dtype);
  const Expr* by = e->arg[1];
  if (by->is_literal() && by->bits >= 0 && by->bits < static_cast<int64_t>(width)) {
    if (left)
      return fmt::format("({})(({}){} << {})", t, unsigned_type(e->dtype), ref(e->arg[0]),
                         by->bits);
    return fmt::format("({})({} >> {})", t, ref(e->arg[0]), by->bits);
  }
  if (need(key)) {
    // Right shifts of negative numbers are arithmetic in every C compiler of note, not by the
    // standard.
    const std::string plain = left ? fmt::format("({})(({})x << y)", t, unsigned_type(e->dtype))
                                   : fmt::format("({})(x >> y)", t);
    const std::string inside = is_signed_int(e->dtype) ? fmt::format("y >= 0 && y < {}", width)
                                                       : fmt::format("y < {}", width);
    const char* outside = !left && is_signed_int(e->dtype) ? "(x < 0 ? -1 : 0)" : "0";
    helper(key,
           fmt::format("static inline {0} {1}({0} x, {0} y) {{\n  return {2} ? {3} : ({0}){4};\n}}",
                       t, key, inside, plain, outside));
  }
  return fmt::format("{}({}, {})", key, ref(e->arg[0]), ref(e->arg[1]));
}

std::string CExpressions::min_max(const Expr* e) {
  const std::string x = ref(e->arg[0]), y = ref(e->arg[1]);
  const char* op = e->op == Op::kMin ? "<" : ">";
  if (!is_float(e->dtype)) return fmt::format("{0} {2} {1} ? {0} : {1}", x, y, op);
  return fmt::format("{0} != {0} || {0} {2} {1} ? {0} : {1}", x, y, op);  // NaN wins
}

std::string CExpressions::bits(DType t) {
  const std::string key = "mycel_bits_" + name(t);
  if (need(key)) {
    helper(key,
           fmt::format("typedef union {{ {0} real; {1} word; }} {2};\n"
                       "static inline {1} {2}_word({0} x) {{ {2} u; u.real = x; return u.word; }}\n"
                       "static inline {0} {2}_real({1} w) {{ {2} u; u.word = w; return u.real; }}",
                       c_type(t), unsigned_type(t), key));
  }
  return key;
}

std::string CExpressions::cast(const Expr* e) {
  const DType from = e->arg[0]->dtype, to = e->dtype;
  const std::string x = ref(e->arg[0]);
  if (!is_float(from) || is_float(to)) return fmt::format("({}){}", c_type(to), x);
  // Saturating, NaN to 0.
  const std::string key = fmt::format("mycel_{}_from_{}", name(to), name(from));
  if (need(key)) {
    const int width = 8 * static_cast<int>(size_of(to)),
              top = is_signed_int(to) ? width - 1 : width;
    const std::string low = is_signed_int(to) ? fmt::format("-{:a}", std::ldexp(1.0, top)) : "0";
    const std::string least =
        is_signed_int(to) ? fmt::format("(-INT{}_C({}) - 1)", width, INT64_MAX >> (64 - width))
                          : "0";
    const std::string most = is_signed_int(to)
                                 ? fmt::format("INT{}_C({})", width, INT64_MAX >> (64 - width))
                                 : fmt::format("UINT{}_C({})", width, UINT64_MAX >> (64 - width));
    helper(key, fmt::format("static inline {0} {1}({2} x) {{\n  if (x != x) return 0;\n  if (x <= "
                            "{3}) return {4};\n"
                            "  if (x >= {5:a}) return {6};\n  return ({0})x;\n}}",
                            c_type(to), key, c_type(from), low, least, std::ldexp(1.0, top), most));
  }
  return fmt::format("{}({})", key, x);
}

std::string CExpressions::real(const Expr* e) {
  auto a = [&](int k) { return ref(e->arg[k]); };
  const char* suffix = e->dtype == DType::kFloat32 ? "f" : "";
  switch (e->op) {
    case Op::kAdd:
      return fmt::format("{} + {}", a(0), a(1));
    case Op::kSub:
      return fmt::format("{} - {}", a(0), a(1));
    case Op::kMul:
      return fmt::format("{} * {}", a(0), a(1));
    case Op::kDiv:
      return fmt::format("{} / {}", a(0), a(1));
    case Op::kRem:
      return fmt::format("fmod{}({}, {})", suffix, a(0), a(1));
    case Op::kNeg:
      return fmt::format("-{}", a(0));
    case Op::kAbs:
      return fmt::format("fabs{}({})", suffix, a(0));
    case Op::kFma:
      return fmt::format("fma{}({}, {}, {})", suffix, a(0), a(1), a(2));
    case Op::kMulAdd: {
      const std::string key = std::string("mycel_muladd_") + name(e->dtype);
      if (need(key)) {
        helper(key,
               fmt::format("#ifdef FP_FAST_FMA{2}\n#define {0}(a, b, c) fma{1}(a, b, c)\n#else\n"
                           "#define {0}(a, b, c) ((a) * (b) + (c))\n#endif",
                           key, suffix, *suffix ? "F" : ""));
      }
      return fmt::format("{}({}, {}, {})", key, a(0), a(1), a(2));
    }
    case Op::kFloor:
    case Op::kCeil:
    case Op::kTrunc:
    case Op::kRint:
    case Op::kSqrt:
      return fmt::format("{}{}({})", name_of(e->op), suffix, a(0));
    default:
      internal_error(__FILE__, __LINE__, "real operation", name_of(e->op));
  }
}

std::string CExpressions::function(const Expr* e) {
  std::string args = ref(e->arg[0]);
  if (e->count == 2) args += ", " + ref(e->arg[1]);
  if (!formula_for(e->op, e->dtype)) {  // the C library, in double
    return fmt::format("({}){}({})", c_type(e->dtype), name_of(e->op), args);
  }
  const std::string key = fmt::format("mycel_{}_{}", name_of(e->op), name(e->dtype));
  if (need(key)) formula(key, e);
  return fmt::format("{}({})", key, args);
}

void CExpressions::formula(const std::string& key, const Expr* e) {
  const Formula& f = *formula_for(e->op, e->dtype);
  const char* type = c_type(e->dtype);
  std::set<const Expr*> used;
  collect_used(f.result, &used);
  std::string body;
  for (const Stmt* s = f.nest.impl().preamble; s; s = s->next) {
    if (!used.contains(s->a)) continue;
    body += fmt::format("  const {} t{} = {};\n", c_type(s->a->dtype), s->a->id, text(s->a));
  }
  helper(key, fmt::format("static inline {0} {1}({0} x0{2}) {{\n{3}  return {4};\n}}", type, key,
                          e->count == 2 ? fmt::format(", {} x1", type) : "", body, ref(f.result)));
}

std::string CExpressions::from_memory(const std::string& element, DType stored) {
  if (stored == DType::kBool) return element + " != 0";
  if (stored != DType::kFloat16 && stored != DType::kBFloat16) return element;
  const std::string base = bits(DType::kFloat32);
  if (stored == DType::kBFloat16) return fmt::format("{}_real((uint32_t){} << 16)", base, element);
  if (need("mycel_from_float16")) {
    helper(
        "mycel_from_float16",
        "static inline float mycel_from_float16(uint16_t h) {\n"
        "  const uint32_t magnitude = (uint32_t)(h & 0x7fff) << 13, sign = (uint32_t)(h & 0x8000) "
        "<< 16;\n"
        "  if (magnitude >= (UINT32_C(0x7c00) << 13)) return mycel_bits_float32_real(magnitude | "
        "0x7f800000 | sign);\n"
        "  return mycel_bits_float32_real(\n"
        "      mycel_bits_float32_word(mycel_bits_float32_real(magnitude) * 0x1p112f) | sign);\n}");
  }
  return fmt::format("mycel_from_float16({})", element);
}

std::string CExpressions::to_memory(const std::string& value, DType stored) {
  if (stored == DType::kBFloat16 && need("mycel_to_bfloat16")) {
    bits(DType::kFloat32);
    helper("mycel_to_bfloat16",
           "static inline uint16_t mycel_to_bfloat16(float x) {\n"
           "  const uint32_t w = mycel_bits_float32_word(x);\n"
           "  if (x != x) return (uint16_t)(w >> 16 | 0x40);\n"
           "  return (uint16_t)((w + 0x7fff + (w >> 16 & 1)) >> 16);\n}");
  }
  if (stored == DType::kFloat16 && need("mycel_to_float16")) {
    bits(DType::kFloat32);
    helper("mycel_to_float16",
           "static inline uint16_t mycel_to_float16(float x) {\n"
           "  const uint32_t all = mycel_bits_float32_word(x), sign = all >> 16 & 0x8000, w = all "
           "& 0x7fffffff;\n"
           "  if (w > 0x7f800000) return (uint16_t)(sign | 0x7e00 | (w >> 13 & 0x3ff));\n"
           "  if (w >= (UINT32_C(143) << 23)) return (uint16_t)(sign | 0x7c00);\n"
           "  if (w < (UINT32_C(113) << 23))  /* adding 0.5 rounds at the right bit */\n"
           "    return (uint16_t)(sign | (mycel_bits_float32_word(mycel_bits_float32_real(w) + "
           "0.5f) - 0x3f000000));\n"
           "  return (uint16_t)(sign | (w + 0xc8000fff + (w >> 13 & 1)) >> 13);\n}");
  }
  if (stored == DType::kBFloat16) return fmt::format("mycel_to_bfloat16({})", value);
  if (stored == DType::kFloat16) return fmt::format("mycel_to_float16({})", value);
  return value;
}

}  // namespace mycel::loops
