// The bundled handwritten digits: 1,797 images of 8 x 8 pixels with values 0 to 16, and labels 0
// to 9.
#pragma once

#include <string>

#include "tensor/tensor.h"

namespace mycel::data {

struct Digits {
  Tensor images;  // uint8 [1797, 8, 8]
  Tensor labels;  // uint8 [1797]
};

// `path`: the file, or a folder with digits.safetensors; empty: the environment variable
// MYCEL_DATA, then the places beside the library (share/mycel/data, the Python package's data
// folder). OsError listing where it was looked for.
Digits load_digits(const std::string& path = {});

}  // namespace mycel::data
