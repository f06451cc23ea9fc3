#include "data/reader.h"

#include <algorithm>
#include <fstream>
#include <mutex>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/log.h"
#include "base/threads.h"
#include "base/timeline.h"

namespace mycel::data {
namespace {

constexpr int64_t kSlowRow = 50'000;  // ns: more than handing a row from thread to thread costs
constexpr int64_t kTrialRows = 2;

struct Settings {
  std::mutex mutex;
  ReaderSettings held;
  int written = 0;  // files of found_prefix
};
Settings& settings() {
  static Settings s;
  return s;
}

}  // namespace

void set_reader_settings(ReaderSettings s) {
  std::lock_guard lock(settings().mutex);
  if (s.found_prefix != settings().held.found_prefix) settings().written = 0;
  settings().held = std::move(s);
}

ReaderSettings reader_settings() {
  std::lock_guard lock(settings().mutex);
  return settings().held;
}

// The jobs of epoch after epoch, an empty one at the end of each.
class Reader::Jobs {
 public:
  Jobs(DatasetPtr dataset, Position start, int64_t epochs, int64_t rows)
      : dataset_(std::move(dataset)), at_(start), epochs_(epochs), rows_left_(rows) {}

  bool next(Job* job) {
    *job = nullptr;
    if (rows_left_ == 0 || (epochs_ >= 0 && static_cast<int64_t>(at_.epoch) >= epochs_))
      return false;
    if (!rows_) open();
    if (!rows_->next(job)) {
      if (at_.position == 0) value_error("dataset: epoch {} has no rows", at_.epoch + 1);
      *job = nullptr;
      rows_.reset();
      at_ = {at_.epoch + 1, 0};
      return true;
    }
    ++at_.position;
    if (rows_left_ > 0) --rows_left_;
    return true;
  }

 private:
  void open() {
    rows_ = dataset_->iterate(at_.epoch);
    const int64_t skipped = rows_->skip(at_.position);
    if (skipped < at_.position) {
      value_error(
          "dataset: a run cannot go on at row {} of an epoch: there are only {}\n  It was saved "
          "with another dataset.",
          at_.position, skipped);
    }
  }

  DatasetPtr dataset_;
  Position at_;
  int64_t epochs_, rows_left_;
  RowsPtr rows_;
};

Reader::Reader(DatasetPtr dataset, Position start, ReaderOptions options)
    : dataset_(std::move(dataset)), options_(std::move(options)), at_(start) {
  if (dataset_->size() == 0) value_error("dataset: there are no rows");
  if (at_.position < 0)
    value_error("dataset: the position must not be negative, got {}", at_.position);
  jobs_ = std::make_shared<Jobs>(dataset_, start, options_.epochs, options_.rows);
  if (options_.gates) gates_ = gates_of(*dataset_);
  if (!gates_.empty()) options_.workers = 0;  // what waits for the program is not made ahead
  const int asked = options_.workers == kAutoWorkers ? dataset_->workers() : options_.workers;
  if (asked > 0) start_workers(asked);
}

Reader::~Reader() {
  if (workers_ && !settings_.found_prefix.empty()) write_found();
  if (!workers_) return;
  Dataset::Queue& q = dataset_->queue();
  q.threads = q.ahead = q.bytes = 0;
}

void Reader::publish_queue() const {
  const Workers::Stats s = workers_->stats();
  Dataset::Queue& q = dataset_->queue();
  q.threads = s.threads;
  q.ahead = s.ahead;
  q.ahead_at_most = s.ahead_at_most;
  q.bytes = static_cast<int64_t>(s.bytes);
  q.rows = s.rows;
  q.waits = s.waits;
  q.wait_ns = s.wait_ns;
}

void Reader::write_found() const {
  std::string path;
  {
    std::lock_guard lock(settings().mutex);
    path = fmt::format("{}_{}.json", settings_.found_prefix, settings().written++);
  }
  const Workers::Stats s = workers_->stats();
  const nlohmann::ordered_json found = {{"numParallelWorkers", s.threads},
                                        {"prefetchSize", s.ahead_at_most},
                                        {"rows", s.rows},
                                        {"waits", s.waits},
                                        {"waitSeconds", static_cast<double>(s.wait_ns) * 1e-9}};
  std::ofstream out(path);
  out << found.dump(2) << '\n';
  if (!out.flush())
    log(Level::kWarning, "user", fmt::format("dataset: '{}' cannot be written", path));
}

void Reader::start_workers(int threads) {
  Workers::Limits limits{.threads = threads,
                         .rows = options_.ahead > 0 ? options_.ahead : settings_.ahead,
                         .bytes = options_.bytes > 0 ? options_.bytes : settings_.bytes,
                         .tune = settings_.tune && options_.ahead <= 0,
                         .interval = settings_.interval,
                         .poll = options_.poll};
  workers_ = std::make_unique<Workers>([jobs = jobs_](Job* job) { return jobs->next(job); },
                                       std::move(limits));
}

void Reader::pass_gates() {
  if (gates_.empty()) return;
  if (!begun_) {
    for (const GatePtr& g : gates_) g->begin();
    begun_ = true;
  }
  if (at_.position == dataset_->size()) return;  // the end needs no release
  for (const GatePtr& g : gates_) g->pass(options_.poll);
}

Workers::Found Reader::take(Row* row) {
  if (workers_) {
    const Workers::Found found = workers_->next(row);
    publish_queue();
    return found;
  }
  Job job;
  const int64_t start = clock_ns();
  if (!jobs_->next(&job)) return Workers::Found::kEnd;
  if (!job) return Workers::Found::kMark;
  *row = job();
  ++made_;
  made_ns_ += clock_ns() - start;
  if (options_.workers == kAutoWorkers && made_ >= kTrialRows && made_ns_ > kSlowRow * made_)
    start_workers(std::max(1, static_cast<int>(std::thread::hardware_concurrency())));
  return Workers::Found::kRow;
}

bool Reader::next(Row* row) {
  Workers::Found found = Workers::Found::kEnd;
  if (!done_) pass_gates();
  try {
    found = take(row);
  } catch (...) {
    ++at_.position;  // the row that could not be made
    throw;
  }
  switch (found) {
    case Workers::Found::kRow:
      ++at_.position;
      return true;
    case Workers::Found::kMark:
      at_ = {at_.epoch + 1, 0};
      begun_ = false;
      return false;
    case Workers::Found::kEnd:
      break;
  }
  done_ = true;
  return false;
}

bool Reader::next(Tensors* row) {
  static timeline::Mark mark;
  timeline::Slice slice(timeline::on(timeline::kData) ? mark.get([] {
    return timeline::What{.kind = timeline::Kind::kData, .name = "next row"};
  })
                                                      : 0);
  Row values;
  if (!next(&values)) return false;
  *row = to_tensors(values, dataset_->columns(), "dataset");
  return true;
}

Workers::Stats Reader::stats() const { return workers_ ? workers_->stats() : Workers::Stats{}; }

}  // namespace mycel::data
