// A loop nest in the table form of .lite files.
#pragma once

#include "lite/runtime/lite_file_generated.h"
#include "loops/nest.h"

namespace mycel::lite {

flatbuffers::Offset<file::Nest> write_nest(flatbuffers::FlatBufferBuilder& to,
                                           const loops::Nest& nest);

}  // namespace mycel::lite
