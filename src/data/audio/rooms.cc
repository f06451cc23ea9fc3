#include "data/media/rooms.h"

namespace mycel::data {

TransformDefs audio_transforms() { return {}; }

}  // namespace mycel::data
