// Runs jobs on threads and gives their rows in the order in which the jobs came. Few rows wait: a
// thread takes a new job only while fewer than `rows` are ahead of the reader, and while those that
// are made, with those that are being made at the mean size so far, are less than `bytes`. Threads
// are added while the reader has to wait, up to `threads`. With `tune` the number of rows ahead
// grows while the reader finds none although threads had stood still for want of room (it reads in
// bursts, or rows differ in what they take), and shrinks again when most of them only lie there.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>

#include "data/dataset.h"

namespace mycel::data {

class Workers {
 public:
  struct Limits {
    int threads = 1;
    int64_t rows = 0;                 // 0: twice the threads, and two
    size_t bytes = size_t{1} << 30;   // of rows ahead; one may always wait
    bool tune = false;                // `rows` is where the search begins
    int64_t interval = 0;             // rows between two decisions of it; 0: kTuneRows
    std::function<void()> poll = {};  // called every 100 ms by a reader that waits; may throw
  };
  // What `next` found: a row, a mark (a job that was empty), the end.
  enum class Found { kRow, kMark, kEnd };
  // Called by one thread at a time, never by two: gives the next job, or an empty one to mark a
  // place; false at the end. What it throws comes out of `next` at its place.
  using Source = std::function<bool(Job*)>;

  Workers(Source source, Limits limits);
  // Waits for the jobs that run. Holders of a lock that jobs need (Python's) let go of it before.
  ~Workers();
  // Throws what a job threw, at its row (or gives it in `row_error` as a row of its own), and what
  // the source threw, at its place and from then on.
  Found next(Row* row, std::exception_ptr* row_error = nullptr);

  struct Stats {
    int threads = 0;
    int64_t rows = 0, waits = 0;  // rows given; how many of them were waited for
    int64_t wait_ns = 0;
    int64_t ahead = 0;          // rows that are made or being made now
    int64_t ahead_at_most = 0;  // as many as may be
    size_t bytes = 0;           // of those that are made
  };
  static constexpr int64_t kTuneRows = 32;
  Stats stats() const;

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

}  // namespace mycel::data
