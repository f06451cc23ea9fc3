#include "data/cast.h"

#include <limits>
#include <type_traits>

#include "base/error.h"
#include "tensor/element.h"

namespace mycel::data {
namespace {

template <typename To, typename From>
To number(From v) {
  if constexpr (std::is_same_v<To, bool>) {
    return v != From(0);
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    constexpr From kEnd = From(0x1p63);
    if constexpr (std::is_same_v<To, uint64_t>) {
      if (v >= kEnd && v < 2 * kEnd) return static_cast<uint64_t>(v);
    }
    const bool fits = v >= -kEnd && v < kEnd;  // false for NaN
    return static_cast<To>(fits ? static_cast<int64_t>(v) : std::numeric_limits<int64_t>::min());
  } else {
    return static_cast<To>(v);
  }
}

template <typename From, typename To>
void convert(const Tensor& t, Tensor* out) {
  const auto* in = static_cast<const typename From::Stored*>(t.raw());
  auto* to = static_cast<typename To::Stored*>(out->mutable_raw());
  for (int64_t i = 0, n = t.size(); i < n; ++i)
    to[i] = To::store(number<typename To::Number>(From::load(in[i])));
}

}  // namespace

Tensor cast(const Tensor& t, DType to) {
  if (t.dtype() == to) return t;
  if (is_complex(t.dtype()) || is_complex(to))
    type_error("{} to {} is not supported: pipelines hold real numbers", name_of(t.dtype()),
               name_of(to));
  Tensor out = Tensor::empty(to, t.shape());
  with_real_element(t.dtype(), [&](auto from) {
    with_real_element(to, [&](auto target) { convert<decltype(from), decltype(target)>(t, &out); });
  });
  return out;
}

}  // namespace mycel::data
