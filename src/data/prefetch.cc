#include "data/prefetch.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "base/error.h"

namespace mycel::data {
namespace {

// One answer of the cursor.
struct Answer {
  Tensors row;
  bool end_of_epoch = false;
  Position after;
};

}  // namespace

struct Prefetch::Shared {
  Shared(DatasetPtr dataset, Position start, Limits l, size_t d)
      : cursor(std::move(dataset), start), at(start), limits(l), depth(d) {}

  bool wanted(int64_t rows) const {
    if (limits.rows >= 0 && rows >= limits.rows) return false;
    return limits.epochs < 0 || static_cast<int64_t>(cursor.position().epoch) < limits.epochs;
  }
  void read_ahead();

  Cursor cursor;  // the thread's
  Position at;    // after the last row given
  const Limits limits;
  const size_t depth;
  std::mutex mutex;
  std::condition_variable room, filled;
  std::deque<Answer> answers;
  std::exception_ptr error;
  bool finished = false, stopping = false;
  std::thread thread;
};

void Prefetch::Shared::read_ahead() {
  std::exception_ptr failure;
  try {
    for (int64_t rows = 0; wanted(rows);) {
      {
        std::unique_lock lock(mutex);
        room.wait(lock, [&] { return stopping || answers.size() < depth; });
        if (stopping) return;
      }
      Answer a;
      a.end_of_epoch = !cursor.next(&a.row);
      a.after = cursor.position();
      rows += !a.end_of_epoch;
      std::lock_guard lock(mutex);
      answers.push_back(std::move(a));
      filled.notify_one();
    }
  } catch (...) {
    failure = std::current_exception();
  }
  std::lock_guard lock(mutex);
  error = failure;
  finished = true;
  filled.notify_one();
}

Prefetch::Prefetch(DatasetPtr dataset, Position start, Limits limits, size_t depth)
    : shared_(std::make_unique<Shared>(std::move(dataset), start, limits, depth)) {
  shared_->thread = std::thread([s = shared_.get()] { s->read_ahead(); });
}

Prefetch::~Prefetch() {
  {
    std::lock_guard lock(shared_->mutex);
    shared_->stopping = true;
  }
  shared_->room.notify_one();
  shared_->thread.join();
}

bool Prefetch::next(Tensors* row) {
  Shared& s = *shared_;
  std::unique_lock lock(s.mutex);
  s.filled.wait(lock, [&] { return s.finished || !s.answers.empty(); });
  if (s.answers.empty()) {
    if (s.error) std::rethrow_exception(s.error);
    return false;
  }
  Answer a = std::move(s.answers.front());
  s.answers.pop_front();
  s.room.notify_one();
  s.at = a.after;
  if (a.end_of_epoch) return false;
  *row = std::move(a.row);
  return true;
}

Position Prefetch::position() const { return shared_->at; }

}  // namespace mycel::data
