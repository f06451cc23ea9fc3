#include "lite/runtime/processor.h"

#include <cstdlib>
#include <cstring>

#include "lite/runtime/gemm.h"
#include "lite/runtime/lanes.h"

namespace mycel::lite {
namespace {

Isa detect() {
#if defined(__x86_64__)
  Isa best = Isa::kPlain;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) best = Isa::kAvx2;
  if (best == Isa::kAvx2 && __builtin_cpu_supports("avx512f") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw")) {
    best = Isa::kAvx512;
  }
  const char* wish = std::getenv("MYCEL_LITE_ISA");
  if (wish && !std::strcmp(wish, "plain")) return Isa::kPlain;
  if (wish && !std::strcmp(wish, "avx2") && best != Isa::kPlain) return Isa::kAvx2;
  return best;
#else
  return Isa::kPlain;
#endif
}

}  // namespace

Isa isa() {
  static const Isa found = detect();
  return found;
}

// Wider ones would gain little: rows come from memory.
extern const Lanes kPlainLanes, kAvx2Lanes;

const Lanes& lanes() {
#if defined(__x86_64__)
  if (isa() != Isa::kPlain) return kAvx2Lanes;
#endif
  return kPlainLanes;
}

extern const Gemm kPlainGemm, kAvx2Gemm, kAvx512Gemm;

const Gemm& gemm() {
#if defined(__x86_64__)
  if (isa() == Isa::kAvx512) return kAvx512Gemm;
  if (isa() == Isa::kAvx2) return kAvx2Gemm;
#endif
  return kPlainGemm;
}

}  // namespace mycel::lite
