// In the program of pipeline tests the rooms of images and files are linked in, and nothing is
// loaded: a sanitizer sees all of it. Text and sound share no state between threads; they are left
// out, because compiling them takes as long as the rest.
#include "data/media.h"
#include "data/media/rooms.h"

namespace mycel::data {

const Media& media() {
  static const Media linked = [] {
    Media m;
    m.transforms = general_transforms();
    const auto images = vision_transforms();
    m.transforms.insert(m.transforms.end(), images.begin(), images.end());
    m.sources = file_sources();
    m.records = record_format();
    m.fused = vision_fused;
    return m;
  }();
  return linked;
}

}  // namespace mycel::data
