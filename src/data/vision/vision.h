// The records of this room, file by file.
#pragma once

#include "data/media/rooms.h"

namespace mycel::data::vision {

TransformDefs decode_transforms();
TransformDefs size_transforms();
TransformDefs crop_transforms();
TransformDefs flip_transforms();
TransformDefs number_transforms();
TransformDefs colour_transforms();
TransformDefs histogram_transforms();
TransformDefs random_colour_transforms();
TransformDefs hsv_transforms();
TransformDefs blur_transforms();
TransformDefs warp_transforms();
TransformDefs erase_transforms();
TransformDefs mix_transforms();
TransformDefs box_transforms();
TransformDefs augment_transforms();
TransformDefs file_transforms();

}  // namespace mycel::data::vision
