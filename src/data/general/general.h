// The records of this room, file by file.
#pragma once

#include "data/media/rooms.h"

namespace mycel::data {

TransformDefs number_transforms();
TransformDefs array_transforms();
TransformDefs compound_transforms();

}  // namespace mycel::data
