#include "data/value.h"

#include <fmt/format.h>

#include "base/error.h"

namespace mycel::data {

const Tensor& Value::tensor() const {
  if (!is_tensor()) type_error("expected a tensor, got {}", describe());
  return tensor_;
}

const StringArray& Value::strings() const {
  if (!is_strings()) type_error("expected strings, got {}", describe());
  return *strings_;
}

const std::string& Value::string() const {
  const StringArray& s = strings();
  if (s.shape.rank() != 0) value_error("expected one string, got {}", describe());
  return s.values[0];
}

size_t Value::bytes() const {
  if (is_tensor()) return tensor_.bytes();
  size_t n = 0;
  if (strings_) {
    for (const std::string& s : strings_->values) n += s.size() + sizeof(std::string);
  }
  return n;
}

std::string Value::describe() const {
  if (is_tensor()) return tensor_.describe();
  return strings_ ? fmt::format("strings {}", strings_->shape.str()) : "nothing";
}

Tensors to_tensors(const Row& row, const std::vector<std::string>& columns, const char* what) {
  Tensors out;
  out.reserve(row.size());
  for (size_t i = 0; i < row.size(); ++i) {
    if (!row[i].is_tensor())
      type_error("{}: column '{}' holds {}; turn it into numbers or leave it out with project",
                 what, i < columns.size() ? columns[i] : std::to_string(i), row[i].describe());
    out.push_back(row[i].tensor());
  }
  return out;
}

Row to_row(Tensors tensors) {
  Row out;
  out.reserve(tensors.size());
  for (Tensor& t : tensors) out.emplace_back(std::move(t));
  return out;
}

}  // namespace mycel::data
