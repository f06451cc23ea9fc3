// The one symbol that libmycel looks up in libmycel_media.
#include "data/media.h"
#include "data/media/rooms.h"

namespace mycel::data {
namespace {

template <typename T>
void append(std::vector<T>* all, const std::vector<T>& more) {
  all->insert(all->end(), more.begin(), more.end());
}

Media everything() {
  Media m;
  append(&m.transforms, general_transforms());
  append(&m.transforms, vision_transforms());
  append(&m.transforms, text_transforms());
  append(&m.transforms, audio_transforms());
  append(&m.sources, file_sources());
  m.records = record_format();
  m.fused = vision_fused;
  return m;
}

}  // namespace
}  // namespace mycel::data

extern "C" const mycel::data::Media* mycel_media() {
  static const mycel::data::Media all = mycel::data::everything();
  return &all;
}
