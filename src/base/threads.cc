#include "base/threads.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <utility>

#include <omp.h>

#include "base/error.h"

namespace mycel {
namespace {

std::atomic<int> g_threads{0};
thread_local bool t_inside = false;

int initial_count() {
  if (const char* text = std::getenv("MYCEL_NUM_THREADS")) {
    const int n = std::atoi(text);
    if (n >= 1) return n;
  }
  return std::max(1, omp_get_max_threads());
}

struct Inside {
  bool before = std::exchange(t_inside, true);
  ~Inside() { t_inside = before; }
};

}  // namespace

int thread_count() {
  int n = g_threads.load(std::memory_order_relaxed);
  if (n == 0) {
    int expected = 0;
    g_threads.compare_exchange_strong(expected, initial_count());
    n = g_threads.load(std::memory_order_relaxed);
    omp_set_num_threads(n);
  }
  return n;
}

void set_thread_count(int n) {
  if (n < 1) value_error("set_thread_count: {} threads; expected at least 1", n);
  g_threads.store(n, std::memory_order_relaxed);
  omp_set_num_threads(n);  // what oneDNN reads; per calling thread
}

bool in_parallel() { return t_inside || omp_in_parallel(); }

void parallel_ranges(int64_t n, int64_t grain, RangeFn fn, void* context) {
  if (n <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  const int64_t blocks = (n - 1) / grain + 1;
  const int threads = static_cast<int>(std::min<int64_t>(thread_count(), blocks));
  if (threads <= 1 || in_parallel()) {
    Inside inside;
    return fn(context, 0, n);
  }
  std::exception_ptr error;
  std::atomic<bool> failed{false};
  // Contiguous static shares: consecutive kernels then find their part in the same core's cache.
#pragma omp parallel num_threads(threads)
  {
    Inside inside;
    const int64_t t = omp_get_thread_num(), team = omp_get_num_threads();
    const int64_t begin = blocks * t / team * grain,
                  end = std::min(n, blocks * (t + 1) / team * grain);
    if (begin < end) {
      try {
        fn(context, begin, end);
      } catch (...) {
        if (!failed.exchange(true)) error = std::current_exception();
      }
    }
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace mycel
