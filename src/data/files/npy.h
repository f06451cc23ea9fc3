// NumPy's array files (numpy.lib.format, versions 1 to 3): a header that is a Python dict, then the
// numbers.
#pragma once

#include <memory>

#include "data/files/folder.h"
#include "data/value.h"

namespace mycel::data {

// An array whose rows are read where they lie. Numbers in either byte order, bool, strings (kinds
// U and S); in C order. OsError naming the file for anything else.
class NpyFile {
 public:
  explicit NpyFile(BytesPtr file);
  const Shape& shape() const { return shape_; }
  // Rows first to first + count - 1 along the first dim, as an array with that dim.
  Value rows(int64_t first, int64_t count) const;
  Value row(int64_t i) const;
  Value all() const;

 private:
  Value read(int64_t first_item, const Shape& shape) const;
  BytesPtr file_;
  uint64_t begin_ = 0, item_ = 0;  // bytes
  char kind_ = 'f';                // as NumPy names it
  bool swapped_ = false;
  DType dtype_ = DType::kFloat32;
  Shape shape_;
};

Value read_npy(const Bytes& file);

}  // namespace mycel::data
