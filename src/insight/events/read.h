// The values of one record of an event file, those of other writers included: what is not known is
// left out. Texts and contents are views into the record.
#pragma once

#include <functional>
#include <string_view>

#include "insight/events/values.h"

namespace mycel::insight {

enum class Kind { kScalar, kHistogram, kImage, kTensor, kText, kRecord, kHParams, kGraph };
constexpr int kKindCount = 8;
// "scalar", …
const char* name_of(Kind kind);

struct Recorded {
  Kind kind = Kind::kScalar;
  std::string_view tag;
  double when = 0;
  int64_t step = 0;
  double scalar = 0;
  Distribution distribution;
  int64_t height = 0, width = 0;  // of a picture
  std::string_view content;       // PNG or JPEG file, text, JSON, GraphDef, elements
  DType dtype = DType::kFloat32;  // of a tensor
  std::vector<int64_t> shape;     // of a tensor
  HParams params;
};

// Calls f for each value. False when the bytes are no event.
bool read_event(std::string_view record, const std::function<void(const Recorded&)>& f);

}  // namespace mycel::insight
