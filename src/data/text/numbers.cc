// Strings that are numbers.
#include <charconv>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "data/cast.h"
#include "data/text/text.h"

namespace mycel::data {
namespace {

std::string_view stripped(std::string_view s) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  const size_t from = s.find_first_not_of(kSpace);
  if (from == s.npos) return {};
  return s.substr(from, s.find_last_not_of(kSpace) + 1 - from);
}

template <typename T>
T parsed(const std::string& given, DType dtype) {
  std::string_view s = stripped(given);
  if (s.starts_with('+')) s.remove_prefix(1);
  T out{};
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), out);
  if (error == std::errc::result_out_of_range)
    value_error("'{}' is out of the range of {}", given, name_of(dtype));
  if (error != std::errc() || end != s.data() + s.size())
    value_error("'{}' is not a number of type {}", given, name_of(dtype));
  return out;
}

template <typename T>
Tensor numbers(const StringArray& in, DType dtype) {
  Tensor out = Tensor::empty(dtype, in.shape);
  auto to = out.mutable_data<T>();
  for (size_t i = 0; i < to.size(); ++i) to[i] = parsed<T>(in.values[i], dtype);
  return out;
}

Tensor to_numbers(const StringArray& in, DType dtype) {
  switch (dtype) {
    case DType::kInt8:
      return numbers<int8_t>(in, dtype);
    case DType::kInt16:
      return numbers<int16_t>(in, dtype);
    case DType::kInt32:
      return numbers<int32_t>(in, dtype);
    case DType::kInt64:
      return numbers<int64_t>(in, dtype);
    case DType::kUInt8:
      return numbers<uint8_t>(in, dtype);
    case DType::kUInt16:
      return numbers<uint16_t>(in, dtype);
    case DType::kUInt32:
      return numbers<uint32_t>(in, dtype);
    case DType::kUInt64:
      return numbers<uint64_t>(in, dtype);
    case DType::kFloat64:
      return numbers<double>(in, dtype);
    default:
      break;
  }
  const Tensor wide = numbers<float>(in, DType::kFloat32);
  if (dtype == DType::kFloat32) return wide;
  const Tensor narrow = cast(wide, dtype);
  const Tensor back = cast(narrow, DType::kFloat32);
  for (int64_t i = 0; i < wide.size(); ++i) {
    if (std::isfinite(wide.data<float>()[static_cast<size_t>(i)]) &&
        !std::isfinite(back.data<float>()[static_cast<size_t>(i)]))
      value_error("'{}' is out of the range of {}", in.values[static_cast<size_t>(i)],
                  name_of(dtype));
  }
  return narrow;
}

const TransformDef kToNumber{
    .name = "text.ToNumber",
    .doc =
        "The numbers that strings stand for, in decimal, with white space around them allowed. "
        "Any shape. ValueError: a string that is no number of the type ('1.5' for an int), or is "
        "out of its range. TypeError: bool and complex types.",
    .args = {"data_type: dtype"},
    .make =
        [](const Options& o) {
          const DType dtype = o.dtype("data_type");
          if (dtype == DType::kBool || is_complex(dtype))
            type_error("ToNumber: 'data_type' must be a type of ints or floats, got {}",
                       name_of(dtype));
          return each_value(
              [dtype](const Value& v) -> Value { return to_numbers(v.strings(), dtype); });
        },
};

}  // namespace

TransformDefs string_number_transforms() { return {&kToNumber}; }

}  // namespace mycel::data
