// The bundled handwritten digits: 1,797 images of 8 x 8 pixels with values 0 to 16, and labels 0
// to 9.
#pragma once

#include <string>

#include "data/dataset.h"

namespace mycel::data {

struct Digits {
  Tensor images;  // uint8 [1797, 8, 8]
  Tensor labels;  // uint8 [1797]
};

// `path`: the file, or a folder with digits.safetensors; empty: the environment variable
// MYCEL_DATA, then the places beside the library (share/mycel/data, the Python package's data
// folder). OsError listing where it was looked for.
Digits load_digits(const std::string& path = {});

// The same, ready to learn from: image float32 [n, 1, 8, 8] from 0 to 1, label int32 [n]. `usage`:
// "all", "test" (every fifth row, 360) or "train" (the other 1,437). ValueError for another one.
Digits digits(const std::string& usage, const std::string& path = {});
// Its rows as columns "image" and "label".
DatasetPtr digits_dataset(const std::string& usage, const std::string& path = {});

}  // namespace mycel::data
