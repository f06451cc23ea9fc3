// What a row of a dataset holds in a column: a tensor, or an array of strings. Strings are UTF-8
// and may hold any bytes; a column of encoded files (JPEG, say) is a uint8 tensor.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensor/tensor.h"

namespace mycel::data {

// Strings in row-major order; a single string has the shape ().
struct StringArray {
  std::vector<std::string> values;
  Shape shape;
};

class Value {
 public:
  Value() = default;                          // nothing: `if (v)` is false
  Value(Tensor t) : tensor_(std::move(t)) {}  // NOLINT(google-explicit-constructor)
  Value(std::string s)
      : Value(StringArray{{std::move(s)}, Shape{}}) {}  // NOLINT(google-explicit-constructor)
  Value(const char* s) : Value(std::string(s)) {}       // NOLINT(google-explicit-constructor)
  Value(StringArray s) : strings_(std::make_shared<const StringArray>(std::move(s))) {}  // NOLINT
  // A 1-d array of strings.
  static Value list(std::vector<std::string> values) {
    const auto n = static_cast<int64_t>(values.size());
    return StringArray{std::move(values), Shape{n}};
  }

  explicit operator bool() const { return tensor_ || strings_; }
  bool is_tensor() const { return static_cast<bool>(tensor_); }
  bool is_strings() const { return strings_ != nullptr; }
  // TypeError ("expected a tensor, got strings [3]") when it holds the other kind.
  const Tensor& tensor() const;
  const StringArray& strings() const;
  // The string of a value of shape (); ValueError for an array.
  const std::string& string() const;
  const Shape& shape() const { return is_tensor() ? tensor_.shape() : strings().shape; }
  // Bytes of memory that its elements take.
  size_t bytes() const;
  // "float32 [3, 4]", "strings [2]", for messages.
  std::string describe() const;

 private:
  Tensor tensor_;
  std::shared_ptr<const StringArray> strings_;
};

// One value a column.
using Row = std::vector<Value>;

// The tensors of a row; TypeError naming the column that holds strings.
Tensors to_tensors(const Row& row, const std::vector<std::string>& columns, const char* what);
Row to_row(Tensors tensors);

}  // namespace mycel::data
