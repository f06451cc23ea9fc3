// MATLAB's files of version 5 (MAT-File Format, The MathWorks): real arrays of numbers by name,
// also sparse ones, those in a struct ("GTcls.Segmentation") and those in a cell array; also packed
// by zlib. Files of version 7.3 are HDF5 and refused.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "data/files/bytes.h"

namespace mycel::data {

struct MatArray {
  std::vector<int64_t> dims;  // the first one changes fastest
  DType dtype = DType::kFloat64;
  std::string bytes;
  std::vector<MatArray> cells;  // of a cell array, which has no numbers of its own
};

// The arrays named `wanted`; OsError naming the file when one is missing, or is no real array.
std::map<std::string, MatArray> read_mat(const Bytes& file, const std::vector<std::string>& wanted);

}  // namespace mycel::data
