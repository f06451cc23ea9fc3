#include "data/stack.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"

namespace mycel::data {
namespace {

// Copies `n` elements at `from` of the one array to `to` of the other, for every line (all dims but
// the last) of a value inside a larger one.
template <typename Copy>
void each_line(const Shape& inner, const Shape& outer, Copy&& copy) {
  const int rank = inner.rank();
  const int64_t line = rank ? inner[rank - 1] : 1;
  const int64_t lines = line ? inner.size() / line : 0;
  for (int64_t l = 0; l < lines; ++l) {
    int64_t rest = l, to = 0, stride = rank ? outer[rank - 1] : 1;
    for (int d = rank - 2; d >= 0; --d) {
      to += rest % inner[d] * stride;
      rest /= inner[d];
      stride *= outer[d];
    }
    copy(l * line, to, line);
  }
}

}  // namespace

void Stack::add(const Value& v) {
  const bool strings = v.is_strings();
  if (there_ == 0) {
    first_ = v.describe();
    shape_ = v.shape();
    Shape shape = shape_;
    shape.insert(0, static_cast<int64_t>(rows_));
    if (strings) {
      strings_.shape = shape;
    } else {
      tensor_ = Tensor::empty(v.tensor().dtype(), shape);
    }
  }
  const bool alike = !tensor_ == strings && v.shape() == shape_ &&
                     (strings || v.tensor().dtype() == tensor_.dtype());
  if (!alike) {
    value_error(
        "batch: column '{}' has rows {} and {} (row {} of the batch); they must be alike\n  Resize "
        "or pad them (pad_info), or leave the column out with project.",
        column_, first_, v.describe(), there_);
  }
  if (strings) {
    strings_.values.insert(strings_.values.end(), v.strings().values.begin(),
                           v.strings().values.end());
  } else if (const size_t bytes = v.tensor().bytes()) {
    std::memcpy(static_cast<char*>(tensor_.mutable_raw()) + there_ * bytes, v.tensor().raw(),
                bytes);
  }
  ++there_;
}

Value Stack::take() {
  MYCEL_CHECK(there_ == rows_, "a stack of {} rows has {}", rows_, there_);
  if (tensor_) return std::move(tensor_);
  return std::move(strings_);
}

Value stack(const std::vector<Value>& rows, const std::string& column) {
  Stack all(column, rows.size());
  for (const Value& v : rows) all.add(v);
  return all.take();
}

Value padded(const Value& v, const std::vector<int64_t>& shape, double number,
             const std::string& text, const std::string& what) {
  const Shape& inner = v.shape();
  bool fits = inner.rank() == static_cast<int>(shape.size()), equal = true;
  for (int d = 0; fits && d < inner.rank(); ++d) {
    fits = inner[d] <= shape[d];
    equal = equal && inner[d] == shape[d];
  }
  if (!fits)
    value_error("{}: {} cannot be padded to ({})", what, v.describe(), fmt::join(shape, ", "));
  if (equal) return v;
  Shape outer;
  for (int64_t d : shape) outer.push_back(d);
  if (v.is_strings()) {
    StringArray out{std::vector<std::string>(static_cast<size_t>(outer.size()), text), outer};
    each_line(inner, outer, [&](int64_t from, int64_t to, int64_t n) {
      const auto& in = v.strings().values;
      std::copy(in.begin() + from, in.begin() + from + n, out.values.begin() + to);
    });
    return out;
  }
  const Tensor& t = v.tensor();
  Tensor out = Tensor::full(t.dtype(), outer, number);
  const size_t size = size_of(t.dtype());
  auto* to_bytes = static_cast<char*>(out.mutable_raw());
  const auto* from_bytes = static_cast<const char*>(t.raw());
  each_line(inner, outer, [&](int64_t from, int64_t to, int64_t n) {
    std::memcpy(to_bytes + to * size, from_bytes + from * size, n * size);
  });
  return out;
}

}  // namespace mycel::data
