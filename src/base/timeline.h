// Timeline: what every thread did, from when to when. Off, a place that could be recorded costs one
// look at a flag. On, a thread writes slices (and, where asked for, blocks of memory that come and
// go) into buffers of its own, without a lock; all buffers together are bounded, and what does not
// fit is counted. Slices of a thread nest. insight/profile makes tables and advice of a recording.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace mycel::timeline {

enum class Kind : uint8_t {
  kStep,      // of training or evaluation; `number` of the slice is the step's
  kProgram,   // one run of a compiled program
  kKernel,    // a step of a compiled program
  kEager,     // an op that ran at once
  kCompile,   // tracing, passes, choosing kernels
  kData,      // a dataset made a row
  kWait,      // somebody waited: for a row, for room in a queue
  kCallback,  // callbacks of a training
  kShare,     // a thread's part of a parallel loop; `number` tells loops apart
  kQueue,     // no time: `number` rows wait in a data queue
  kArena,     // memory of a compiled program's intermediates
};
constexpr int kKindCount = 11;
const char* name_of(Kind k);

// What a training step spends its time on.
enum class Phase : uint8_t { kForward, kBackward, kUpdate };
constexpr int kPhaseCount = 3;
const char* name_of(Phase p);

// What lives in an arena, from one step of its program to another.
struct Life {
  uint32_t what = 0;  // the step that makes it
  uint64_t bytes = 0;
  int32_t first = 0, last = 0;
};

// What a slice is about.
struct What {
  Kind kind = Kind::kEager;
  Phase phase = Phase::kForward;
  std::string name;            // "fused(mul, add)"
  std::string types;           // of operands and results
  std::string implementation;  // of a kernel
  std::string where;           // the user's line
  int64_t flops = -1;          // of one run; -1: not known
  int64_t bytes = 0;           // of one run: operands and results once
  std::vector<Life> lives;     // of an arena
};
using Id = uint32_t;  // 0: nothing
// Kept as long as the process lives. kMostWhats and more: 0.
Id intern(What what);

// One Id for each kind and name; 0 unless times are recorded.
Id named(Kind kind, const std::string& name);

// The Id of one place in a program, made when it is first recorded.
class Mark {
 public:
  Mark() = default;
  Mark(const Mark& o) : id_(o.id_.load(std::memory_order_relaxed)) {}
  Mark& operator=(const Mark& o) {
    id_.store(o.id_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    return *this;
  }
  template <typename Describe>
  Id get(Describe&& describe) const {
    Id id = id_.load(std::memory_order_relaxed);
    if (id == 0) {
      id = intern(describe());
      id_.store(id, std::memory_order_relaxed);
    }
    return id;
  }

 private:
  mutable std::atomic<Id> id_{0};
};

// One bit a thing that is recorded now.
enum : uint32_t { kTimes = 1, kMemory = 2, kData = 4 };
extern std::atomic<uint32_t> recorded;
inline bool on(uint32_t what = kTimes) {
  return (recorded.load(std::memory_order_relaxed) & what) != 0;
}

// A stretch of time of this thread. With 0 it does nothing.
class Slice {
 public:
  explicit Slice(Id what, uint32_t number = 0);
  ~Slice() {
    if (what_) end();
  }
  Slice(const Slice&) = delete;
  void forget() { what_ = 0; }  // it turned out to be nothing

 private:
  void end();
  Id what_, outer_ = 0;
  uint32_t number_;
  int64_t start_ = 0;
};

// The line of the user's program that this thread runs, where a front end can tell it.
using Where = std::string (*)();
void set_where(Where f);
std::string where_now();

void note_queue(Id queue, uint32_t rows);
// A block of memory of `bytes` begins, or with a negative number ends. Called when on(kMemory).
void note_memory(const void* block, int64_t bytes) noexcept;
// The Id that blocks of memory are noted under, instead of the innermost slice's.
class Owner {
 public:
  explicit Owner(Id what);
  ~Owner();
  Owner(const Owner&) = delete;

 private:
  Id before_;
};

// What the ops of this thread are for, where a transform or an optimizer runs them.
Phase phase();
class InPhase {
 public:
  explicit InPhase(Phase p);
  ~InPhase();
  InPhase(const InPhase&) = delete;

 private:
  Phase before_;
};

// A step begins on this thread, and ends the one before it: a training loop says so.
void begin_step(int64_t number, bool training = true);
void end_step();
void drop_step();  // there was no further one

struct Options {
  uint32_t what = kTimes | kData;
  int64_t most_slices = 4'000'000;                 // of all threads together; 24 bytes each
  int64_t first_step = -1, last_step = INT64_MAX;  // -1: from now on, else while these run
};

struct Event {
  int64_t start = 0, end = 0;  // ns since the recording began
  Id what = 0;
  uint32_t number = 0;
};
struct MemoryEvent {
  int64_t when = 0;
  uint64_t block = 0;
  int64_t bytes = 0;
  Id what = 0;
};
struct Track {
  std::string thread;  // "main", "thread 1234"
  bool main = false;
  std::vector<Event> events;  // in order of their ends
  std::vector<MemoryEvent> memory;
  int64_t dropped = 0;
};
struct Recording {
  int64_t began = 0;               // ns since 1970
  int64_t length = 0, active = 0;  // ns; active: while steps that were asked for ran
  int64_t memory_before = 0;       // bytes that were alive when it began
  std::vector<What> whats;         // by Id
  std::vector<Track> tracks;
  int64_t dropped() const;
};

// RuntimeError when a recording runs. `memory_before`: bytes that are alive now.
void start(const Options& options, int64_t memory_before = 0);
bool running();
uint64_t recording();  // a number that changes with each start and stop
// RuntimeError when none runs.
Recording stop();

}  // namespace mycel::timeline
