// libFuzzer entry: any bytes must load or end in a UserError. Needs clang; from the repository:
//   sources=$(ls src/base/*.cc src/tensor/*.cc | grep -v _test.cc)
//   defines="-DFMT_HEADER_ONLY -DSPDLOG_FMT_EXTERNAL -DXXH_INLINE_ALL"
//   clang++ -std=c++20 -O1 -fopenmp -fsanitize=fuzzer,address,undefined $defines -Isrc
//     tests/fuzz/safetensors_fuzz.cc $sources -o build/safetensors_fuzz
//   mkdir -p build/corpus && cp tests/data/every_dtype.safetensors build/corpus
//   build/safetensors_fuzz -max_len=4096 build/corpus
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/error.h"
#include "tensor/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const mycel::Checkpoint c =
        mycel::parse_safetensors(std::as_bytes(std::span(data, size)), "input");
    for (const auto& [name, tensor] : c.tensors) (void)tensor.str();
  } catch (const mycel::UserError&) {
  }
  return 0;
}
