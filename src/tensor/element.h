// How host kernels read and write elements of a dtype known only at run time. `with_element(dtype,
// f)` calls f with an Element<…>: `Stored` is what lies in memory, `Number` what is computed with
// (float for the 16-bit floats), load and store convert between them.
#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>

#include "base/error.h"
#include "tensor/dtype.h"

namespace mycel {

template <typename T>
struct Element {
  using Stored = T;
  using Number = T;
  static Number load(Stored v) { return v; }
  static Stored store(Number v) { return v; }
};
struct HalfElement {
  using Stored = uint16_t;
  using Number = float;
  static Number load(Stored v) { return half_to_float(v); }
  static Stored store(Number v) { return float_to_half(v); }
};
struct BFloat16Element {
  using Stored = uint16_t;
  using Number = float;
  static Number load(Stored v) { return bfloat16_to_float(v); }
  static Stored store(Number v) { return float_to_bfloat16(v); }
};
// A bool is one byte, 0 or 1.
struct BoolElement {
  using Stored = uint8_t;
  using Number = bool;
  static Number load(Stored v) { return v != 0; }
  static Stored store(Number v) { return v ? 1 : 0; }
};

// Real dtypes; complex ones are our bug here (the record's input class keeps them out).
template <typename F>
decltype(auto) with_real_element(DType d, F&& f) {
  switch (d) {
    case DType::kBool:
      return f(BoolElement{});
    case DType::kInt8:
      return f(Element<int8_t>{});
    case DType::kInt16:
      return f(Element<int16_t>{});
    case DType::kInt32:
      return f(Element<int32_t>{});
    case DType::kInt64:
      return f(Element<int64_t>{});
    case DType::kUInt8:
      return f(Element<uint8_t>{});
    case DType::kUInt16:
      return f(Element<uint16_t>{});
    case DType::kUInt32:
      return f(Element<uint32_t>{});
    case DType::kUInt64:
      return f(Element<uint64_t>{});
    case DType::kFloat16:
      return f(HalfElement{});
    case DType::kBFloat16:
      return f(BFloat16Element{});
    case DType::kFloat32:
      return f(Element<float>{});
    case DType::kFloat64:
      return f(Element<double>{});
    default:
      break;
  }
  MYCEL_CHECK(false, "dtype {} is not real", name_of(d));
  return f(Element<float>{});
}

template <typename F>
decltype(auto) with_element(DType d, F&& f) {
  if (d == DType::kComplex64) return f(Element<std::complex<float>>{});
  if (d == DType::kComplex128) return f(Element<std::complex<double>>{});
  return with_real_element(d, f);
}

// An unsigned integer of the size of an element, for code that only moves elements.
struct Bytes16 {
  uint64_t low, high;
};
template <typename F>
decltype(auto) with_element_size(size_t bytes, F&& f) {
  switch (bytes) {
    case 1:
      return f(uint8_t{});
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    case 8:
      return f(uint64_t{});
    default:
      return f(Bytes16{});
  }
}

}  // namespace mycel
