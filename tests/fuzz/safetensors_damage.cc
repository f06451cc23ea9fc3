// Damaged checkpoint files in any number: each must load or end in a UserError that names the file,
// and with the address sanitizer no allocation may be larger than four times the file. Build with
// -DMYCEL_SANITIZE=address,undefined:
//   mycel_safetensors_damage COUNT SEED
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "mutated_safetensors.h"
#include "tensor/safetensors.h"

extern "C" __attribute__((weak)) int __sanitizer_install_malloc_and_free_hooks(
    void (*)(const volatile void*, size_t), void (*)(const volatile void*));

namespace {

std::atomic<size_t> largest{0};

void seen(const volatile void*, size_t size) {
  if (size > largest) largest = size;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: mycel_safetensors_damage COUNT SEED\n");
    return 2;
  }
  const bool watched = __sanitizer_install_malloc_and_free_hooks &&
                       __sanitizer_install_malloc_and_free_hooks(seen, [](const volatile void*) {});
  // Tables that are made once, and texts of errors, however small the file is.
  constexpr size_t kAnyway = 64 << 10;
  const std::vector<mycel::Bytes> whole = mycel::whole_safetensors();
  mycel::Philox draw(std::strtoull(argv[2], nullptr, 10));
  unsigned long long loaded = 0, refused = 0;
  for (uint64_t i = 0, n = std::strtoull(argv[1], nullptr, 10); i < n; ++i) {
    const mycel::Bytes b = mycel::damaged_safetensors(whole, i, &draw);
    largest = 0;
    try {
      const mycel::Checkpoint c = mycel::parse_safetensors(std::as_bytes(std::span(b)), "f");
      ++loaded;
      for (const auto& [name, t] : c.tensors) (void)t.str();
    } catch (const mycel::UserError& e) {
      if (e.message().find("f: ") == std::string::npos) std::abort();
      ++refused;
    }
    if (largest > 4 * b.size() + kAnyway) {
      std::fprintf(stderr, "input %llu: %zu bytes allocated for a file of %zu\n",
                   static_cast<unsigned long long>(i), largest.load(), b.size());
      return 1;
    }
  }
  std::printf("%llu loaded, %llu refused%s\n", loaded, refused,
              watched ? ", allocations watched" : "");
  return 0;
}
