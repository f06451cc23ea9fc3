// Tables of a profile. Every moment of the thread that trains belongs to exactly one row: the
// innermost slice that ran then, or what was not attributed; so rows add up to the time that
// passed.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "insight/profile/profile.h"

namespace mycel::insight::profile {

// What the time of a step goes to.
enum class Part : uint8_t {
  kData,  // making or waiting for rows
  kForward,
  kBackward,
  kUpdate,
  kCompile,
  kCallbacks,
  kHost,   // a compiled program between its kernels: arguments, arena, results
  kOther,  // nothing that is recorded: Python, mostly
};
constexpr int kPartCount = 8;
const char* name_of(Part p);

struct StepRow {
  int64_t number = 0, start = 0, length = 0;  // ns
  std::array<int64_t, kPartCount> parts{};    // sum to `length`
};

// All runs of one kernel, op or other thing on operands of one set of types, on the thread that
// trains.
struct Row {
  timeline::Id what = 0;                          // the first of them
  int64_t lines = 1;                              // of the program that it stands for
  int64_t runs = 0, ns = 0, least = 0, most = 0;  // ns without what ran inside
  double gflops = 0, gbytes = 0;                  // reached
  double share_of_limit = 0;                      // 0: not known
  bool by_memory = false;                         // which limit that is
};
// The same by name.
struct OpRow {
  std::string name;
  timeline::Kind kind = timeline::Kind::kKernel;
  int64_t runs = 0, ns = 0;
};

struct ThreadRow {
  std::string name;
  int64_t slices = 0, dropped = 0, busy = 0, waiting = 0;  // ns
};

// Of data pipelines, over all threads.
struct DataRow {
  std::string name;
  int64_t rows = 0, ns = 0, own_ns = 0;
};
struct WaitRow {
  std::string name;
  int64_t count = 0, ns = 0;
};

struct AliveRow {
  std::string name, types, where, place;  // place: "arena of train_step", "", …
  int64_t bytes = 0, blocks = 0;
};
struct Memory {
  bool recorded = false;
  int64_t peak = 0, peak_when = 0;
  std::vector<int64_t> when, bytes;  // the curve: the highest of each of its columns
  std::vector<AliveRow> alive;       // at the peak, largest first
};

struct Analysis {
  size_t main_track = 0;
  int64_t wall = 0;          // ns that were recorded
  int64_t unattributed = 0;  // of that, in no slice but a step's own
  std::vector<StepRow> steps;
  bool steps_guessed = false;  // no loop told them: they are the runs of a program
  std::vector<Row> rows;       // slowest first
  std::vector<OpRow> ops;
  std::vector<ThreadRow> threads;
  std::vector<DataRow> data;
  std::vector<WaitRow> waits;
  double queue_empty = -1, queue_mean = 0;  // share of times that no row was ready; -1: no queue
  // Parallel loops: time of the slowest threads, and how much less the mean thread took.
  int64_t loops_ns = 0, imbalance_ns = 0;
  int64_t compiles = 0, late_compiles = 0, late_compile_ns = 0;  // late: not in the first step
  Memory memory;
  // The mean step behind the first, or the only one.
  StepRow typical() const;
};

Analysis analyse(const Profile& profile);

// Slices of a track as they nest: in order of their starts, parents first.
struct Nested {
  size_t event = 0;
  int depth = 0;
  int64_t own = 0;      // ns without those inside
  int64_t parent = -1;  // place in this list
};
// Without `all`, shares of parallel loops count as the slice around them.
std::vector<Nested> nest(const timeline::Recording& recording, const timeline::Track& track,
                         bool all);
timeline::Phase phase_of(const timeline::What& what, const timeline::Event& event);

}  // namespace mycel::insight::profile
