// Schema of a file's columns, as the published JSON text says it:
//   {"datasetType": "TF", "numRows": 3, "columns": {"image": {"type": "uint8", "rank": 1}, …}}
// or a list of columns, each with a "name". A shape may hold one -1.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace mycel::data {

struct SchemaColumn {
  std::string name;
  bool string = false;  // else `dtype`
  DType dtype = DType::kInt64;
  std::optional<std::vector<int64_t>> shape;  // none: 1-d, as long as it is
};

struct Schema {
  std::vector<SchemaColumn> columns;
  int64_t rows = 0;  // 0: not said
};

// `text_or_path`: JSON text, or the path of a file with it. Errors name `owner`.
Schema read_schema(const std::string& text_or_path, const std::string& owner);

}  // namespace mycel::data
