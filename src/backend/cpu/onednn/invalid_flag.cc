#include "backend/cpu/onednn/invalid_flag.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "base/threads.h"

namespace mycel::cpu::onednn {

#if defined(__x86_64__)

void clear_invalid() { _mm_setcsr(_mm_getcsr() & ~static_cast<unsigned>(_MM_EXCEPT_INVALID)); }

namespace {
bool take_own() {
  if ((_mm_getcsr() & _MM_EXCEPT_INVALID) == 0) return false;
  clear_invalid();
  return true;
}
}  // namespace

bool take_invalid(bool alone) {
  if (alone || in_parallel() || thread_count() == 1) return take_own();
  bool raised = false;
#pragma omp parallel reduction(|| : raised)
  raised = take_own();
  return raised;
}

#else

void clear_invalid() {}
bool take_invalid(bool) { return true; }

#endif

}  // namespace mycel::cpu::onednn
