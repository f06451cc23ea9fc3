#include "tensor/dtype.h"

#include <bit>
#include <cmath>
#include <complex>
#include <cstring>

#include "base/error.h"

namespace mycel {
namespace {

constexpr std::string_view kNames[kDTypeCount] = {
    "bool",   "int8",    "int16",    "int32",   "int64",   "uint8",     "uint16",    "uint32",
    "uint64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"};

// The narrowest signed integer type of at least `bytes` bytes; float64 when there is none, as in
// NumPy.
DType signed_of(size_t bytes) {
  switch (bytes) {
    case 1:
      return DType::kInt8;
    case 2:
      return DType::kInt16;
    case 4:
      return DType::kInt32;
    case 8:
      return DType::kInt64;
    default:
      return DType::kFloat64;
  }
}

DType promote_ints(DType a, DType b) {
  if (is_signed_int(a) == is_signed_int(b)) return size_of(a) >= size_of(b) ? a : b;
  const DType s = is_signed_int(a) ? a : b;
  const DType u = is_signed_int(a) ? b : a;
  return size_of(s) > size_of(u) ? s : signed_of(2 * size_of(u));
}

DType promote_floats(DType a, DType b) {
  if (size_of(a) == size_of(b)) return a == b ? a : DType::kFloat32;  // float16 with bfloat16
  return size_of(a) > size_of(b) ? a : b;
}

// Truncation with a defined result where C leaves it open: NaN and values outside int64 give the
// smallest int64, which is what x86 hardware and NumPy give.
int64_t truncate(double v) {
  constexpr double kLimit = 9223372036854775808.0;  // 2^63
  return v >= -kLimit && v < kLimit ? static_cast<int64_t>(v) : INT64_MIN;
}

uint64_t truncate_unsigned(double v) {
  constexpr double kHalf = 9223372036854775808.0;  // 2^63
  if (v >= kHalf && v < 2 * kHalf) return static_cast<uint64_t>(v - kHalf) + (uint64_t{1} << 63);
  return static_cast<uint64_t>(truncate(v));
}

// To float, with an odd last bit whenever inexact, so that rounding once more to 16 bits gives what
// rounding the double directly would.
float round_to_odd(double value) {
  const float f = static_cast<float>(value);
  if (!std::isfinite(f) || static_cast<double>(f) == value) return f;
  const bool away = std::fabs(static_cast<double>(f)) > std::fabs(value);
  const uint32_t bits = std::bit_cast<uint32_t>(f);
  return std::bit_cast<float>((away ? bits - 1 : bits) | 1u);
}

template <typename T>
T load(const void* data, int64_t i) {
  T v;
  std::memcpy(&v, static_cast<const char*>(data) + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return v;
}

template <typename T>
void store(void* data, int64_t i, T v) {
  std::memcpy(static_cast<char*>(data) + i * static_cast<int64_t>(sizeof(T)), &v, sizeof(T));
}

}  // namespace

std::string_view name_of(DType t) { return kNames[static_cast<int>(t)]; }

bool parse_dtype(std::string_view name, DType* out) {
  for (int i = 0; i < kDTypeCount; ++i) {
    if (kNames[i] != name) continue;
    *out = static_cast<DType>(i);
    return true;
  }
  return false;
}

DType promote(DType a, DType b) {
  if (a == b || is_bool(b)) return a;
  if (is_bool(a)) return b;
  if (is_int(a) && is_int(b)) return promote_ints(a, b);
  if (is_int(a)) return b;
  if (is_int(b)) return a;
  if (!is_complex(a) && !is_complex(b)) return promote_floats(a, b);
  const DType real = promote_floats(real_part_of(a), real_part_of(b));
  return real == DType::kFloat64 ? DType::kComplex128 : DType::kComplex64;
}

float half_to_float(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1Fu;
  const uint32_t mantissa = bits & 0x3FFu;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000u | mantissa << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;  // zero and subnormals: exact
  return sign ? -magnitude : magnitude;
}

uint16_t float_to_half(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const uint16_t sign = static_cast<uint16_t>(bits >> 16 & 0x8000u);
  const uint32_t magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) {  // NaN stays NaN, with its upper payload bits
    return static_cast<uint16_t>(sign | 0x7E00u | (magnitude >> 13 & 0x1FFu));
  }
  if (magnitude >= 0x477FF000u) return sign | 0x7C00u;  // 65520 and more round to infinity
  if (magnitude < 0x38800000u) {
    // Below 2^-14: adding 0.5 leaves multiples of 2^-24 in the low mantissa bits, rounded by the
    // FPU.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3F000000u));
  }
  const uint32_t odd = magnitude >> 13 & 1u;
  return static_cast<uint16_t>(sign | (magnitude - 0x38000000u + 0xFFFu + odd) >> 13);
}

float bfloat16_to_float(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

uint16_t float_to_bfloat16(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return static_cast<uint16_t>(bits >> 16 | 0x40u);
  return static_cast<uint16_t>((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
}

double element_as_double(const void* data, DType t, int64_t i) {
  switch (t) {
    case DType::kBool:
      return load<uint8_t>(data, i) != 0;
    case DType::kInt8:
      return load<int8_t>(data, i);
    case DType::kInt16:
      return load<int16_t>(data, i);
    case DType::kInt32:
      return load<int32_t>(data, i);
    case DType::kInt64:
      return static_cast<double>(load<int64_t>(data, i));
    case DType::kUInt8:
      return load<uint8_t>(data, i);
    case DType::kUInt16:
      return load<uint16_t>(data, i);
    case DType::kUInt32:
      return load<uint32_t>(data, i);
    case DType::kUInt64:
      return static_cast<double>(load<uint64_t>(data, i));
    case DType::kFloat16:
      return half_to_float(load<uint16_t>(data, i));
    case DType::kBFloat16:
      return bfloat16_to_float(load<uint16_t>(data, i));
    case DType::kFloat32:
      return load<float>(data, i);
    case DType::kFloat64:
      return load<double>(data, i);
    case DType::kComplex64:
      return load<std::complex<float>>(data, i).real();
    case DType::kComplex128:
      return load<std::complex<double>>(data, i).real();
  }
  MYCEL_CHECK(false, "dtype {} is not in the list", static_cast<int>(t));
  return 0;
}

int64_t element_as_int(const void* data, DType t, int64_t i) {
  // The 64-bit integers do not fit a double.
  if (t == DType::kInt64) return load<int64_t>(data, i);
  if (t == DType::kUInt64) return static_cast<int64_t>(load<uint64_t>(data, i));
  return truncate(element_as_double(data, t, i));
}

void set_element(void* data, DType t, int64_t i, double value) {
  switch (t) {
    case DType::kBool:
      return store<uint8_t>(data, i, value != 0);
    case DType::kUInt64:
      return store(data, i, truncate_unsigned(value));
    case DType::kFloat16:
      return store(data, i, float_to_half(round_to_odd(value)));
    case DType::kBFloat16:
      return store(data, i, float_to_bfloat16(round_to_odd(value)));
    case DType::kFloat32:
      return store(data, i, static_cast<float>(value));
    case DType::kFloat64:
      return store(data, i, value);
    case DType::kComplex64:
      return store(data, i, std::complex<float>(static_cast<float>(value)));
    case DType::kComplex128:
      return store(data, i, std::complex<double>(value));
    default:
      return set_element(data, t, i, truncate(value));
  }
}

void set_element(void* data, DType t, int64_t i, int64_t value) {
  switch (t) {
    case DType::kBool:
      return store<uint8_t>(data, i, value != 0);
    case DType::kInt8:
    case DType::kUInt8:
      return store(data, i, static_cast<uint8_t>(value));
    case DType::kInt16:
    case DType::kUInt16:
      return store(data, i, static_cast<uint16_t>(value));
    case DType::kInt32:
    case DType::kUInt32:
      return store(data, i, static_cast<uint32_t>(value));
    case DType::kInt64:
    case DType::kUInt64:
      return store(data, i, value);
    case DType::kFloat32:
      return store(data, i, static_cast<float>(value));  // rounded once
    default:
      return set_element(data, t, i, static_cast<double>(value));
  }
}

}  // namespace mycel
