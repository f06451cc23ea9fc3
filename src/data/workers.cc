#include "data/workers.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include <unistd.h>

#include "base/error.h"
#include "base/threads.h"
#include "base/timeline.h"

namespace mycel::data {
namespace {

struct Slot {
  Row row;
  std::exception_ptr error;
  bool ready = false, mark = false;
  size_t bytes = 0;
};

timeline::Id waits(const char* what) {
  return timeline::on(timeline::kData) ? timeline::named(timeline::Kind::kWait, what) : 0;
}

size_t bytes_of(const Row& row) {
  size_t n = 0;
  for (const Value& v : row) n += v.bytes();
  return n;
}

// How many rows may be ahead, by what the reader found in the last rows.
class Depth {
 public:
  Depth(int64_t rows, bool tune, int64_t interval)
      : rows_(rows), least_(rows), tune_(tune), interval_(interval) {}
  int64_t rows() const { return rows_; }
  // A thread stood still because so many were ahead.
  void was_full() { full_ = true; }
  // The reader took a row: whether it had to wait, and how many more were ready. `fit`: rows that
  // memory has room for; `busy`: more threads may still help.
  void taken(bool waited, int64_t ready, int64_t fit, bool more_threads) {
    if (!tune_) return;
    waits_ += waited;
    fewest_ = std::min(fewest_, ready);
    if (++seen_ < interval_) return;
    const int64_t most = std::max(least_, std::min(kMost, fit));
    if (waits_ * 20 > seen_ && full_ && !more_threads) {
      rows_ = std::min(2 * rows_, most);
      quiet_ = 0;
    } else if (waits_ == 0 && fewest_ > rows_ / 2 && ++quiet_ >= kQuiet) {
      rows_ = std::max(least_, rows_ - rows_ / 4);
      quiet_ = 0;
    } else if (waits_ > 0) {
      quiet_ = 0;
    }
    rows_ = std::min(rows_, most);
    seen_ = waits_ = 0;
    fewest_ = kMost;
    full_ = false;
  }

 private:
  static constexpr int64_t kMost = 4096;
  static constexpr int kQuiet = 8;  // intervals without a wait before memory is given back
  int64_t rows_;
  const int64_t least_;
  const bool tune_;
  const int64_t interval_;
  int64_t seen_ = 0, waits_ = 0, fewest_ = kMost;
  int quiet_ = 0;
  bool full_ = false;
};

int64_t rows_at_first(const Workers::Limits& l) { return l.rows > 0 ? l.rows : 2 * l.threads + 2; }

}  // namespace

struct Workers::Shared {
  Shared(Source s, Limits l)
      : source(std::move(s)),
        limits(std::move(l)),
        process(getpid()),
        depth(rows_at_first(limits), limits.tune,
              limits.interval > 0 ? limits.interval : kTuneRows) {}

  // A row takes as much as the mean of those before.
  size_t mean_bytes() const { return made ? made_bytes / static_cast<size_t>(made) : 0; }
  bool room() {
    const auto ahead = static_cast<int64_t>(slots.size());
    if (ahead == 0) return true;
    if (ahead >= depth.rows()) {
      depth.was_full();
      return false;
    }
    // Before the first row its size is not known; then each thread makes one.
    return bytes + (static_cast<size_t>(ahead - ready) + 1) * mean_bytes() <= limits.bytes;
  }
  void work();
  void add_thread() {
    threads.emplace_back([this] { work(); });
  }

  Source source;
  Limits limits;
  const pid_t process;
  mutable std::mutex mutex;
  std::condition_variable room_made, row_made;
  std::deque<std::shared_ptr<Slot>> slots;  // in the order of the rows; the first is given next
  size_t bytes = 0;                         // of the rows in `slots` that are made
  int64_t ready = 0;                        // so many
  size_t made_bytes = 0;                    // of all rows
  int64_t made = 0;
  bool taking = false, finished = false, stopping = false;
  std::exception_ptr error;  // of the source
  std::vector<std::thread> threads;
  int64_t given_since_growth = 0;
  Depth depth;
  Stats stats;
};

void Workers::Shared::work() {
  std::unique_lock lock(mutex);
  for (;;) {
    auto may = [&] { return stopping || finished || (!taking && room()); };
    if (!may()) {
      timeline::Slice slice(
          waits(room() ? "another thread takes the next job" : "the queue is full"));
      room_made.wait(lock, may);
    }
    if (stopping || finished) return;
    taking = true;
    lock.unlock();
    Job job;
    bool more = false;
    std::exception_ptr failure;
    try {
      more = source(&job);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    taking = false;
    if (!more) {
      error = failure;
      finished = true;
      room_made.notify_all();
      row_made.notify_one();
      return;
    }
    auto slot = std::make_shared<Slot>();
    slots.push_back(slot);
    if (!job) {
      slot->mark = slot->ready = true;
      ++ready;
      row_made.notify_one();
      continue;
    }
    room_made.notify_one();
    lock.unlock();
    try {
      slot->row = job();
      slot->bytes = bytes_of(slot->row);
    } catch (...) {
      slot->error = std::current_exception();
    }
    job = nullptr;
    lock.lock();
    slot->ready = true;
    ++ready;
    bytes += slot->bytes;
    if (!slot->error) {
      made_bytes += slot->bytes;
      ++made;
    }
    row_made.notify_one();
  }
}

Workers::Workers(Source source, Limits limits)
    : shared_(std::make_unique<Shared>(std::move(source), std::move(limits))) {
  std::lock_guard lock(shared_->mutex);
  shared_->add_thread();
}

Workers::~Workers() {
  Shared& s = *shared_;
  if (getpid() != s.process) {  // a copy made by fork has no threads to wait for
    for (std::thread& t : s.threads) t.detach();
    (void)shared_.release();
    return;
  }
  {
    std::lock_guard lock(s.mutex);
    s.stopping = true;
  }
  s.room_made.notify_all();
  for (std::thread& t : s.threads) t.join();
}

Workers::Found Workers::next(Row* row, std::exception_ptr* row_error) {
  Shared& s = *shared_;
  if (getpid() != s.process) {
    fail(ErrorKind::kRuntime,
         "dataset: an iterator does not work in a process that was forked after it was made"
         "\n  Make the iterator in that process.");
  }
  std::unique_lock lock(s.mutex);
  auto ready = [&] { return s.slots.empty() ? s.finished : s.slots.front()->ready; };
  ++s.given_since_growth;
  if (timeline::on(timeline::kData)) {
    auto made = std::count_if(s.slots.begin(), s.slots.end(), [](auto& x) { return x->ready; });
    timeline::note_queue(timeline::named(timeline::Kind::kQueue, "rows that are ready"),
                         static_cast<uint32_t>(made));
  }
  const bool waited = !ready();
  if (waited) {
    timeline::Slice slice(waits("no row is ready"));
    const int64_t start = clock_ns();
    ++s.stats.waits;
    const int n = static_cast<int>(s.threads.size());
    // Twice in a row waited for, all threads busy: one more may help.
    if (n < s.limits.threads && s.given_since_growth <= 2 * n + 2 && !s.finished) s.add_thread();
    s.given_since_growth = 0;
    while (!s.row_made.wait_for(lock, std::chrono::milliseconds(100), ready)) {
      if (!s.limits.poll) continue;
      lock.unlock();
      s.limits.poll();
      lock.lock();
    }
    s.stats.wait_ns += clock_ns() - start;
  }
  if (s.slots.empty()) {
    if (s.error) std::rethrow_exception(s.error);
    return Found::kEnd;
  }
  std::shared_ptr<Slot> slot = std::move(s.slots.front());
  s.slots.pop_front();
  s.bytes -= slot->bytes;
  --s.ready;
  const size_t each = std::max<size_t>(s.mean_bytes(), 1);
  s.depth.taken(waited, s.ready, static_cast<int64_t>(s.limits.bytes / each),
                static_cast<int>(s.threads.size()) < s.limits.threads);
  s.room_made.notify_one();
  if (slot->mark) return Found::kMark;
  ++s.stats.rows;
  lock.unlock();
  if (slot->error && !row_error) std::rethrow_exception(slot->error);
  if (row_error) *row_error = slot->error;
  *row = std::move(slot->row);
  return Found::kRow;
}

Workers::Stats Workers::stats() const {
  std::lock_guard lock(shared_->mutex);
  Stats out = shared_->stats;
  out.threads = static_cast<int>(shared_->threads.size());
  out.ahead = static_cast<int64_t>(shared_->slots.size());
  out.ahead_at_most = shared_->depth.rows();
  out.bytes = shared_->bytes;
  return out;
}

}  // namespace mycel::data
