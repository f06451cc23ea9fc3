// Element types: the closed list, their sizes, names and NumPy-style promotion.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mycel {

enum class DType : uint8_t {
  kBool,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUInt8,
  kUInt16,
  kUInt32,
  kUInt64,
  kFloat16,
  kBFloat16,
  kFloat32,
  kFloat64,
  kComplex64,
  kComplex128,
};
constexpr int kDTypeCount = 15;

constexpr size_t size_of(DType t) {
  constexpr uint8_t kBytes[kDTypeCount] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};
  return kBytes[static_cast<int>(t)];
}
constexpr bool is_bool(DType t) { return t == DType::kBool; }
constexpr bool is_signed_int(DType t) { return t >= DType::kInt8 && t <= DType::kInt64; }
constexpr bool is_unsigned_int(DType t) { return t >= DType::kUInt8 && t <= DType::kUInt64; }
constexpr bool is_int(DType t) { return t >= DType::kInt8 && t <= DType::kUInt64; }
constexpr bool is_float(DType t) { return t >= DType::kFloat16 && t <= DType::kFloat64; }
constexpr bool is_complex(DType t) { return t >= DType::kComplex64; }
constexpr DType real_part_of(DType t) {
  return t == DType::kComplex64 ? DType::kFloat32 : t == DType::kComplex128 ? DType::kFloat64 : t;
}

// "float32", "bool", … as NumPy spells them ("bfloat16" for the one NumPy lacks).
std::string_view name_of(DType t);
// The inverse; returns false for an unknown name.
bool parse_dtype(std::string_view name, DType* out);

// The smallest type that holds both, by NumPy's rules; bfloat16 with float16 gives float32, and an
// integer with a float keeps the float (int64 with float32 stays float32, as in published networks
// where NumPy would widen to float64).
DType promote(DType a, DType b);

// The C++ storage type of a DType, for host code that reads elements. float16 and bfloat16 have
// none: convert through `element_as_double`.
template <typename T>
constexpr DType dtype_of();
template <> constexpr DType dtype_of<bool>() { return DType::kBool; }
template <> constexpr DType dtype_of<int8_t>() { return DType::kInt8; }
template <> constexpr DType dtype_of<int16_t>() { return DType::kInt16; }
template <> constexpr DType dtype_of<int32_t>() { return DType::kInt32; }
template <> constexpr DType dtype_of<int64_t>() { return DType::kInt64; }
template <> constexpr DType dtype_of<uint8_t>() { return DType::kUInt8; }
template <> constexpr DType dtype_of<uint16_t>() { return DType::kUInt16; }
template <> constexpr DType dtype_of<uint32_t>() { return DType::kUInt32; }
template <> constexpr DType dtype_of<uint64_t>() { return DType::kUInt64; }
template <> constexpr DType dtype_of<float>() { return DType::kFloat32; }
template <> constexpr DType dtype_of<double>() { return DType::kFloat64; }

// Bit patterns of the two 16-bit floats; rounding is to nearest even.
float half_to_float(uint16_t bits);
uint16_t float_to_half(float x);
float bfloat16_to_float(uint16_t bits);
uint16_t float_to_bfloat16(float x);

// Element `i` of a buffer of type `t` (real part of a complex one), and the inverse with C
// conversion.
double element_as_double(const void* data, DType t, int64_t i);
int64_t element_as_int(const void* data, DType t, int64_t i);
void set_element(void* data, DType t, int64_t i, double value);
void set_element(void* data, DType t, int64_t i, int64_t value);

}  // namespace mycel
