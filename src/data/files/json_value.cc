#include "data/files/json_value.h"

#include <vector>

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace mycel::data {
namespace {

using nlohmann::json;

// The leaves in row-major order; false when the lists are no array.
bool flatten(const json& j, size_t depth, std::vector<int64_t>* dims, bool* ragged,
             std::vector<const json*>* out) {
  if (!j.is_array()) {
    out->push_back(&j);
    return dims->size() == depth;
  }
  if (depth >= kMaxRank) return false;
  const auto n = static_cast<int64_t>(j.size());
  if (dims->size() == depth) {
    if (!out->empty()) return false;  // a list where there was a number before
    dims->push_back(n);
  } else if ((*dims)[depth] != n) {
    *ragged = true;
  }
  for (const json& e : j) {
    if (!flatten(e, depth + 1, dims, ragged, out)) return false;
  }
  return true;
}

enum class Kind { kBool, kInt, kReal, kText, kOther };
Kind kind_of(const json& j) {
  if (j.is_boolean()) return Kind::kBool;
  if (j.is_number_unsigned() && j.get<uint64_t>() > INT64_MAX) return Kind::kReal;
  if (j.is_number_integer()) return Kind::kInt;
  if (j.is_number()) return Kind::kReal;
  return j.is_string() ? Kind::kText : Kind::kOther;
}

template <typename T>
Value numbers(const std::vector<const json*>& leaves, const Shape& shape) {
  Tensor t = Tensor::empty(dtype_of<T>(), shape);
  T* out = static_cast<T*>(t.mutable_raw());
  for (const json* j : leaves) *out++ = j->get<T>();
  return t;
}

}  // namespace

Value json_value(const json& j, const std::string& file, const std::string& column) {
  std::vector<int64_t> dims;
  std::vector<const json*> leaves;
  bool ragged = false;
  if (!flatten(j, 0, &dims, &ragged, &leaves)) return Value(j.dump());
  if (ragged)
    fail(ErrorKind::kOs, "'{}': the lists of column '{}' have different lengths", file, column);
  if (leaves.empty()) return Tensor::empty(DType::kInt64, Shape(dims));
  Kind kind = kind_of(*leaves[0]);
  for (const json* leaf : leaves) {
    const Kind k = kind_of(*leaf);
    if (k == kind) continue;
    const bool numeric =
        (k == Kind::kInt || k == Kind::kReal) && (kind == Kind::kInt || kind == Kind::kReal);
    kind = numeric ? Kind::kReal : Kind::kOther;
    if (kind == Kind::kOther) break;
  }
  const Shape shape(dims);
  switch (kind) {
    case Kind::kBool:
      return numbers<bool>(leaves, shape);
    case Kind::kInt:
      return numbers<int64_t>(leaves, shape);
    case Kind::kReal:
      return numbers<double>(leaves, shape);
    case Kind::kText: {
      StringArray s{{}, shape};
      for (const json* leaf : leaves) s.values.push_back(leaf->get<std::string>());
      return s;
    }
    case Kind::kOther:
      break;
  }
  return Value(j.dump());
}

}  // namespace mycel::data
