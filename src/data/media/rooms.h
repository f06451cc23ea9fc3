// The rooms of libmycel_media: each gives its records.
#pragma once

#include <vector>

#include "data/mindrecord.h"
#include "data/source.h"
#include "data/transform.h"

namespace mycel::data {

using TransformDefs = std::vector<const TransformDef*>;
using SourceDefs = std::vector<const SourceDef*>;

TransformDefs general_transforms();  // mycel.dataset.transforms
TransformDefs vision_transforms();   // mycel.dataset.vision
TransformDefs text_transforms();     // mycel.dataset.text
TransformDefs audio_transforms();    // mycel.dataset.audio
std::vector<TransformPtr> vision_fused(std::vector<TransformPtr> transforms);
SourceDefs file_sources();  // mycel.dataset.*Dataset
const RecordFormat* record_format();

}  // namespace mycel::data
