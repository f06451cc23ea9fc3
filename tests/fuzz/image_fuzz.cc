// Damaged image files in any number, through every decoder.
//   mycel_image_fuzz [first [count]]
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "mutated_images.h"

int main(int argc, char** argv) {
  const uint64_t first = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 0;
  const uint64_t count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 100000;
  const auto samples = mycel::sample_images();
  uint64_t good = 0;
  for (uint64_t i = first; i < first + count; ++i) {
    try {
      good += mycel::decodes(mycel::mutated_image(samples, i)) ? 1 : 0;
    } catch (const std::exception& e) {
      std::printf("file %llu: %s\n", static_cast<unsigned long long>(i), e.what());
      return 1;
    }
    if ((i - first) % 10000 == 9999) {
      std::printf("%llu files\n", static_cast<unsigned long long>(i + 1));
      std::fflush(stdout);
    }
  }
  std::printf("%llu files, %llu of them still images\n", static_cast<unsigned long long>(count),
              static_cast<unsigned long long>(good));
  return 0;
}
