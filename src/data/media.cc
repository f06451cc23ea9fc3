#include "data/media.h"

#include "base/shared_library.h"

namespace mycel::data {

const Media& media() {
  static const Media* loaded = reinterpret_cast<const Media* (*)()>(
      symbol_of_library("libmycel_media.so", "mycel_media", "reads files and transforms data"))();
  return *loaded;
}

}  // namespace mycel::data
