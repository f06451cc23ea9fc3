// The thread pool: OpenMP's, so that our loops and oneDNN's share one set of threads. The count
// comes from MYCEL_NUM_THREADS, else OMP_NUM_THREADS, else the machine. How work is split never
// changes a result; that is the duty of the bodies.
#pragma once

#include <cstdint>
#include <type_traits>

namespace mycel {

int thread_count();
// n >= 1, for parallel regions that begin after the call (from any thread). ValueError otherwise.
void set_thread_count(int n);
// True inside a body of parallel_for; a nested parallel_for then runs serially.
bool in_parallel();

// Tells how long a region took beyond its work, because other programs held the cores: then threads
// sleep where they would spin. parallel_ranges tells it by itself.
void waited_for_threads(int64_t ns);
int64_t clock_ns();  // a steady clock

using RangeFn = void (*)(void* context, int64_t begin, int64_t end);
// Calls fn over disjoint ranges that cover [0, n), each but the last a multiple of `grain`, in
// parallel. When n <= grain or one thread is allowed: one call, no region. The first exception of a
// body is rethrown in the caller once all threads have stopped.
void parallel_ranges(int64_t n, int64_t grain, RangeFn fn, void* context);

template <typename F>
void parallel_for(int64_t n, int64_t grain, F&& body) {
  using Body = std::remove_reference_t<F>;
  parallel_ranges(
      n, grain,
      [](void* context, int64_t begin, int64_t end) { (*static_cast<Body*>(context))(begin, end); },
      const_cast<void*>(static_cast<const void*>(&body)));
}

}  // namespace mycel
