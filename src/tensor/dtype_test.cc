#include "tensor/dtype.h"

#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace mycel {
namespace {

DType of(const std::string& name) {
  DType t{};
  EXPECT_TRUE(parse_dtype(name, &t)) << name;
  return t;
}

TEST(DType, NamesAndSizesRoundTrip) {
  constexpr size_t kBytes[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto t = static_cast<DType>(i);
    EXPECT_EQ(of(std::string(name_of(t))), t);
    EXPECT_EQ(size_of(t), kBytes[i]);
  }
  DType t{};
  EXPECT_FALSE(parse_dtype("float", &t));
  EXPECT_FALSE(parse_dtype("", &t));
}

// numpy.promote_types over the ints, bool and the floats among themselves.
TEST(DType, PromotesAsNumPy) {
  const char* const kTable[][3] = {{"bool", "bool", "bool"},
                                   {"bool", "int8", "int8"},
                                   {"bool", "float16", "float16"},
                                   {"int8", "int64", "int64"},
                                   {"uint8", "uint32", "uint32"},
                                   {"int8", "uint8", "int16"},
                                   {"int16", "uint8", "int16"},
                                   {"int8", "uint16", "int32"},
                                   {"int32", "uint16", "int32"},
                                   {"int32", "uint32", "int64"},
                                   {"int64", "uint32", "int64"},
                                   {"int64", "uint64", "float64"},
                                   {"int8", "uint64", "float64"},
                                   {"float16", "float32", "float32"},
                                   {"float32", "float64", "float64"},
                                   {"complex64", "float64", "complex128"},
                                   {"complex64", "float32", "complex64"},
                                   {"complex64", "complex128", "complex128"}};
  for (const auto& row : kTable) {
    EXPECT_EQ(name_of(promote(of(row[0]), of(row[1]))), row[2]) << row[0] << " " << row[1];
    EXPECT_EQ(name_of(promote(of(row[1]), of(row[0]))), row[2]) << row[1] << " " << row[0];
  }
}

TEST(DType, PromotesWhereNumPyIsLeft) {
  EXPECT_EQ(promote(DType::kInt64, DType::kFloat32), DType::kFloat32);
  EXPECT_EQ(promote(DType::kFloat16, DType::kInt32), DType::kFloat16);
  EXPECT_EQ(promote(DType::kInt64, DType::kBFloat16), DType::kBFloat16);
  EXPECT_EQ(promote(DType::kFloat16, DType::kBFloat16), DType::kFloat32);
  EXPECT_EQ(promote(DType::kBFloat16, DType::kFloat32), DType::kFloat32);
  EXPECT_EQ(promote(DType::kInt64, DType::kComplex64), DType::kComplex64);
}

TEST(DType, PromotionIsCommutativeAndIdempotent) {
  for (int i = 0; i < kDTypeCount; ++i) {
    for (int j = 0; j < kDTypeCount; ++j) {
      const auto a = static_cast<DType>(i), b = static_cast<DType>(j);
      EXPECT_EQ(promote(a, b), promote(b, a)) << name_of(a) << " " << name_of(b);
      EXPECT_EQ(promote(promote(a, b), b), promote(a, b)) << name_of(a) << " " << name_of(b);
    }
  }
}

// The value of a half by the definition in IEEE 754, computed apart from the code under test.
double half_value(uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const double magnitude = exponent == 0    ? std::ldexp(mantissa, -24)
                           : exponent == 31 ? (mantissa ? NAN : INFINITY)
                                            : std::ldexp(1024 + mantissa, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

TEST(DType, EveryHalfRoundTrips) {
  for (int i = 0; i < 65536; ++i) {
    const auto bits = static_cast<uint16_t>(i);
    const float f = half_to_float(bits);
    if (std::isnan(half_value(bits))) {
      EXPECT_TRUE(std::isnan(f));
      EXPECT_TRUE(std::isnan(half_to_float(float_to_half(f))));
      continue;
    }
    ASSERT_EQ(static_cast<double>(f), half_value(bits)) << i;
    ASSERT_EQ(float_to_half(f), bits);
  }
}

// Between two neighbouring halves: the nearer one, at the middle the even one.
TEST(DType, HalfRoundsToNearestEven) {
  for (int i = 0; i < 0x7C00; ++i) {
    const auto low = static_cast<uint16_t>(i), high = static_cast<uint16_t>(i + 1);
    const float below = half_to_float(low);
    const double above = high == 0x7C00 ? 65536 : half_value(high);
    const auto middle = static_cast<float>((static_cast<double>(below) + above) / 2);
    ASSERT_EQ(float_to_half(middle), i % 2 == 0 ? low : high) << i;
    ASSERT_EQ(float_to_half(std::nextafter(middle, 0.0f)), low) << i;
    ASSERT_EQ(float_to_half(std::nextafter(middle, INFINITY)), high) << i;
    ASSERT_EQ(float_to_half(-std::nextafter(middle, INFINITY)), high | 0x8000) << i;
  }
  EXPECT_EQ(float_to_half(1e30f), 0x7C00);
  EXPECT_EQ(float_to_half(-INFINITY), 0xFC00);
}

TEST(DType, Bfloat16RoundsToNearestEven) {
  EXPECT_EQ(float_to_bfloat16(1.0f), 0x3F80);
  EXPECT_EQ(float_to_bfloat16(std::bit_cast<float>(0x3F808000u)), 0x3F80);  // tie, even below
  EXPECT_EQ(float_to_bfloat16(std::bit_cast<float>(0x3F818000u)), 0x3F82);  // tie, even above
  EXPECT_EQ(float_to_bfloat16(std::bit_cast<float>(0x3F808001u)), 0x3F81);
  EXPECT_EQ(float_to_bfloat16(std::numeric_limits<float>::max()), 0x7F80);
  EXPECT_TRUE(std::isnan(bfloat16_to_float(float_to_bfloat16(std::bit_cast<float>(0x7F800001u)))));
  for (int i = 0; i < 65536; ++i) {
    const float f = bfloat16_to_float(static_cast<uint16_t>(i));
    if (!std::isnan(f)) {
      ASSERT_EQ(float_to_bfloat16(f), i);
    }
  }
}

TEST(DType, DoublesAreRoundedOnceTo16Bits) {
  uint16_t bits = 0;
  // Just above the middle of 1 and the next half; as a float it would be the middle itself.
  set_element(&bits, DType::kFloat16, 0, 1 + 0x1p-11 + 0x1p-40);
  EXPECT_EQ(bits, 0x3C01);
  set_element(&bits, DType::kBFloat16, 0, 1 + 0x1p-8 + 0x1p-40);
  EXPECT_EQ(bits, 0x3F81);
  set_element(&bits, DType::kBFloat16, 0, 1 + 0x1p-8 - 0x1p-40);
  EXPECT_EQ(bits, 0x3F80);
}

TEST(DType, ElementsOfEveryTypeRoundTrip) {
  alignas(16) char buffer[64];
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto t = static_cast<DType>(i);
    const double want = is_bool(t) ? 1 : is_unsigned_int(t) ? 100 : -100;
    set_element(buffer, t, 2, want);
    EXPECT_EQ(element_as_double(buffer, t, 2), want) << name_of(t);
    EXPECT_EQ(element_as_int(buffer, t, 2), static_cast<int64_t>(want)) << name_of(t);
    set_element(buffer, t, 1, static_cast<int64_t>(want));
    EXPECT_EQ(element_as_double(buffer, t, 1), want) << name_of(t);
  }
  set_element(buffer, DType::kInt64, 0, INT64_MAX);
  EXPECT_EQ(element_as_int(buffer, DType::kInt64, 0), INT64_MAX);  // would not fit a double
  set_element(buffer, DType::kUInt64, 0, 18446744073709549568.0);
  EXPECT_EQ(static_cast<uint64_t>(element_as_int(buffer, DType::kUInt64, 0)),
            18446744073709549568u);
}

TEST(DType, ConversionsOutOfRangeAreDefined) {
  int64_t v = 0;
  set_element(&v, DType::kInt64, 0, std::nan(""));
  EXPECT_EQ(v, INT64_MIN);
  set_element(&v, DType::kInt64, 0, 1e300);
  EXPECT_EQ(v, INT64_MIN);
  int8_t small = 0;
  set_element(&small, DType::kInt8, 0, 300.7);
  EXPECT_EQ(small, 44);  // 300 modulo 256
}

}  // namespace
}  // namespace mycel
