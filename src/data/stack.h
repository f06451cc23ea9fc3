// Rows of a batch put together, and values made larger to fit.
#pragma once

#include <string>
#include <vector>

#include "data/value.h"

namespace mycel::data {

// Values of equal type and shape along a new first dim, one after the other, so that each is copied
// while it is in the cache and needs no memory after that.
class Stack {
 public:
  Stack(std::string column, size_t rows) : column_(std::move(column)), rows_(rows) {}
  // ValueError naming the column and the row that differs.
  void add(const Value& v);
  // The stack of all rows, as soon as they are there.
  Value take();

 private:
  std::string column_, first_;
  size_t rows_, there_ = 0;
  Shape shape_;  // of a row
  Tensor tensor_;
  StringArray strings_;
};
// The same of values that are there.
Value stack(const std::vector<Value>& rows, const std::string& column);
// The value in the corner of one of `shape`, the rest filled with `number` (of strings: `text`).
// ValueError naming `what`: another rank, or larger than `shape`.
Value padded(const Value& v, const std::vector<int64_t>& shape, double number,
             const std::string& text, const std::string& what);

}  // namespace mycel::data
