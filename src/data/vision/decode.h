// Decoding from the values of a row.
#pragma once

#include <functional>
#include <span>

#include "data/value.h"
#include "data/vision/jpeg.h"

namespace mycel::data::vision {

// The bytes of a file in a value: uint8 [n], or one string. They live as long as the value.
std::span<const uint8_t> encoded(const Value& v);
// The rectangle that `choose` takes of height and width, as RGB; of a JPEG nothing else is decoded.
Tensor decode_crop(std::span<const uint8_t> data,
                   const std::function<Crop(int64_t, int64_t)>& choose);

}  // namespace mycel::data::vision
