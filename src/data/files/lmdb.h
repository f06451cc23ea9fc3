// Values of an LMDB database (a folder with data.mdb), in the order of their keys. The file is
// mapped into memory, where values are read in place; its index is 16 bytes a value.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace mycel::data {

class LmdbValues {
 public:
  // OsError naming the folder when it is none, or when the file is shorter than it says. Whether
  // pages inside are sound is not checked: LMDB has no checksums.
  explicit LmdbValues(const std::string& folder);
  ~LmdbValues();
  LmdbValues(const LmdbValues&) = delete;
  LmdbValues& operator=(const LmdbValues&) = delete;

  int64_t size() const { return static_cast<int64_t>(values_.size()); }
  // uint8 [bytes]; from many threads at once.
  Tensor value(int64_t i) const;
  const std::string& folder() const { return folder_; }

 private:
  struct Open;
  std::string folder_;
  std::unique_ptr<Open> open_;
  std::vector<std::span<const char>> values_;
};

}  // namespace mycel::data
