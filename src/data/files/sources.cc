// The list of sources that read files.
#include "data/media/rooms.h"

namespace mycel::data {

SourceDefs file_sources() { return {}; }

}  // namespace mycel::data
