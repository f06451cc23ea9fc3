#include "base/threads.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <system_error>
#include <thread>
#include <utility>

#include <omp.h>

#include "base/error.h"
#include "base/timeline.h"

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

// Other programs may hold the cores. A thread that the system has taken off its core then makes all
// others wait for it at the end of each region, and as libgomp lets them burn up to 300,000 turns
// before they sleep, the system takes their cores away too: steps become a hundred times slower.
// libgomp is patient only while it has no more threads than there are cores. So when long waits
// take more than half of the time, a thread that does nothing holds a team that makes them more,
// for two seconds; waking threads that sleep is what that costs.
class Crowd {
 public:
  static constexpr int64_t kLongWait = 1'000'000, kWindow = 200'000'000,
                           kHold = 2'000'000'000;  // ns

  void waited(int64_t ns) {
    if (ns < kLongWait || holds_.load(std::memory_order_relaxed)) return;
    const int64_t now = clock_ns(), begun = window_.load(std::memory_order_relaxed);
    if (now - begun > kWindow) {
      window_.store(now - ns, std::memory_order_relaxed);
      lost_.store(ns, std::memory_order_relaxed);
    } else if (lost_.fetch_add(ns, std::memory_order_relaxed) + ns > kWindow / 2) {
      if (!holds_.exchange(true)) gather();
    }
  }

 private:
  void gather() {
    try {
      std::thread([this] { stand(); }).detach();
    } catch (const std::system_error&) {
      holds_ = false;  // no thread to be had: waits stay long
    }
  }
  void stand() {
    const int extra = std::max(0, omp_get_num_procs() - thread_count()) + 3;
    std::atomic<int> there{0};  // an empty region would be optimized away
#pragma omp parallel num_threads(extra)
    ++there;
    std::this_thread::sleep_for(std::chrono::nanoseconds(kHold));
    lost_ = 0;
    holds_ = false;
  }  // libgomp drops the team together with its thread

  std::atomic<bool> holds_{false};
  std::atomic<int64_t> window_{0}, lost_{0};  // the waits since then
};

Crowd& crowd() {
  static auto* c = new Crowd;  // its thread may outlive main
  return *c;
}

timeline::Id share_id() {
  static timeline::Mark mark;
  return mark.get([] {
    return timeline::What{.kind = timeline::Kind::kShare, .name = "share of a parallel loop"};
  });
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

int64_t clock_ns() { return std::chrono::steady_clock::now().time_since_epoch().count(); }
void waited_for_threads(int64_t ns) { crowd().waited(ns); }

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
  static std::atomic<uint32_t> loops{0};
  const timeline::Id share = timeline::on() ? share_id() : 0;
  const uint32_t loop = share ? loops.fetch_add(1, std::memory_order_relaxed) : 0;
  int64_t done = 0;  // when the calling thread had done its share
  // Contiguous static shares: consecutive kernels then find their part in the same core's cache.
#pragma omp parallel num_threads(threads)
  {
    Inside inside;
    const int64_t t = omp_get_thread_num(), team = omp_get_num_threads();
    const int64_t begin = blocks * t / team * grain,
                  end = std::min(n, blocks * (t + 1) / team * grain);
    if (begin < end) {
      try {
        timeline::Slice slice(share, loop);
        fn(context, begin, end);
      } catch (...) {
        if (!failed.exchange(true)) error = std::current_exception();
      }
    }
    if (t == 0) done = clock_ns();
  }
  waited_for_threads(clock_ns() - done);
  if (error) std::rethrow_exception(error);
}

}  // namespace mycel
