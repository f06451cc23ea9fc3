#include "data/stack.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"

namespace mycel::data {
namespace {

bool alike(const Value& a, const Value& b) {
  if (a.is_tensor() != b.is_tensor() || !(a.shape() == b.shape())) return false;
  return !a.is_tensor() || a.tensor().dtype() == b.tensor().dtype();
}

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

Value stack(const std::vector<Value>& rows, const std::string& column) {
  const Value& first = rows[0];
  for (size_t i = 1; i < rows.size(); ++i) {
    if (alike(rows[i], first)) continue;
    value_error(
        "batch: column '{}' has rows {} and {} (row {} of the batch); they must be alike\n  Resize "
        "or pad them (pad_info), or leave the column out with project.",
        column, first.describe(), rows[i].describe(), i);
  }
  Shape shape = first.shape();
  shape.insert(0, static_cast<int64_t>(rows.size()));
  if (first.is_strings()) {
    StringArray out{{}, shape};
    for (const Value& v : rows) {
      out.values.insert(out.values.end(), v.strings().values.begin(), v.strings().values.end());
    }
    return out;
  }
  const size_t bytes = first.tensor().bytes();
  Tensor out = Tensor::empty(first.tensor().dtype(), shape);
  auto* to = static_cast<char*>(out.mutable_raw());
  for (size_t i = 0; i < rows.size() && bytes; ++i)
    std::memcpy(to + i * bytes, rows[i].tensor().raw(), bytes);
  return out;
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
