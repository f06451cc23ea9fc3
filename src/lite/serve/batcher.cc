#include "lite/serve/batcher.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "base/error.h"

namespace mycel::lite {
namespace {

using Clock = std::chrono::steady_clock;

struct Request {
  Tensors inputs, results;
  int64_t rows = 1;
  Clock::time_point due;
  std::exception_ptr error;
  bool done = false;
};

bool open_first_dim(const ir::Type& t) { return t.shape.rank() > 0 && t.shape[0] == kUnknownDim; }

// Whether rows of several requests may be put together.
bool can_join(const runtime::Model& model) {
  const auto& in = model.input_types();
  if (in.empty() || !std::all_of(in.begin(), in.end(), open_first_dim)) return false;
  for (const ir::Value& v : model.graph().results()) {
    if (!open_first_dim(v.type())) return false;
  }
  return true;
}

bool same_rows(const Tensor& a, const Tensor& b) {
  const Shape &s = a.shape(), &t = b.shape();
  return a.dtype() == b.dtype() && s.rank() == t.rank() &&
         std::equal(s.begin() + 1, s.end(), t.begin() + 1);
}

bool fit(const Request& a, const Request& b) {
  if (a.inputs.size() != b.inputs.size()) return false;
  for (size_t i = 0; i < a.inputs.size(); ++i) {
    if (!same_rows(a.inputs[i], b.inputs[i])) return false;
  }
  return true;
}

Shape with_rows(const Shape& s, int64_t rows) {
  std::vector<int64_t> dims(s.begin(), s.end());
  dims[0] = rows;
  return Shape(dims);
}

// Input i of all requests, one below the other; further rows repeat the last one.
Tensor stacked(const std::vector<Request*>& batch, size_t i, int64_t rows) {
  const Tensor& first = batch[0]->inputs[i];
  Tensor all = Tensor::empty(first.dtype(), with_rows(first.shape(), rows));
  auto* to = static_cast<char*>(all.mutable_raw());
  const size_t row = first.bytes() / static_cast<size_t>(batch[0]->rows);
  for (const Request* r : batch) {
    std::memcpy(to, r->inputs[i].raw(), r->inputs[i].bytes());
    to += r->inputs[i].bytes();
  }
  const auto* end = static_cast<const char*>(all.raw()) + all.bytes();
  for (; to < end; to += row) std::memcpy(to, to - row, row);
  return all;
}

Tensor rows_of(const Tensor& all, int64_t first, int64_t rows) {
  Tensor part = Tensor::empty(all.dtype(), with_rows(all.shape(), rows));
  const size_t row = all.shape()[0] == 0 ? 0 : all.bytes() / static_cast<size_t>(all.shape()[0]);
  std::memcpy(part.mutable_raw(),
              static_cast<const char*>(all.raw()) + row * static_cast<size_t>(first), part.bytes());
  return part;
}

}  // namespace

struct Batcher::Worker {
  Worker(std::shared_ptr<const runtime::Model> m, const BatchOptions& o)
      : model(std::move(m)), options(o), joins(o.max_rows > 1 && can_join(*model)) {
    thread = std::thread([this] { work(); });
  }
  ~Worker() { close(); }

  Tensors run(Tensors inputs) {
    Request r;
    r.inputs = std::move(inputs);
    r.rows = joins ? rows_in(r.inputs) : 1;
    r.due = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                               std::chrono::duration<double>(options.max_delay_seconds));
    std::unique_lock lock(mutex);
    if (closing || static_cast<int64_t>(queue.size()) >= options.queue) {
      ++stats.refused;
      fail(ErrorKind::kRuntime, "{}",
           closing ? "the server is ending" : "too many requests are waiting");
    }
    queue.push_back(&r);
    came.notify_one();
    answered.wait(lock, [&] { return r.done; });
    ++(r.error ? stats.failed : stats.requests);
    if (r.error) std::rethrow_exception(r.error);
    return std::move(r.results);
  }

  // Of a request's inputs, which must agree; 0 rows and odd inputs run alone, where the model says
  // what is wrong with them.
  static int64_t rows_in(const Tensors& inputs) {
    int64_t rows = -1;
    for (const Tensor& t : inputs) {
      if (t.shape().rank() == 0 || (rows >= 0 && t.shape()[0] != rows)) return 0;
      rows = t.shape()[0];
    }
    return std::max<int64_t>(rows, 0);
  }

  void close() {
    {
      std::lock_guard lock(mutex);
      closing = true;
      came.notify_all();
    }
    if (thread.joinable()) thread.join();
  }

  void work() {
    std::unique_lock lock(mutex);
    for (;;) {
      came.wait(lock, [&] { return closing || !queue.empty(); });
      if (queue.empty()) return;
      if (joins && !closing) {
        came.wait_until(lock, queue.front()->due,
                        [&] { return closing || waiting_rows() >= options.max_rows; });
      }
      std::vector<Request*> batch = take();
      lock.unlock();
      const auto start = Clock::now();
      compute(batch);
      const double took = std::chrono::duration<double>(Clock::now() - start).count();
      lock.lock();
      stats.run_seconds += took;
      for (Request* r : batch) {
        stats.rows += r->rows;
        r->done = true;
      }
      answered.notify_all();
    }
  }

  int64_t waiting_rows() const {
    int64_t rows = 0;
    for (const Request* r : queue) rows += r->rows;
    return rows;
  }

  // The first request and those after it that go with it.
  std::vector<Request*> take() {
    std::vector<Request*> batch = {queue.front()};
    queue.pop_front();
    int64_t rows = batch[0]->rows;
    for (auto it = queue.begin(); joins && rows > 0 && it != queue.end();) {
      const bool goes =
          (*it)->rows > 0 && rows + (*it)->rows <= options.max_rows && fit(*batch[0], **it);
      if (!goes) {
        ++it;
        continue;
      }
      rows += (*it)->rows;
      batch.push_back(*it);
      it = queue.erase(it);
    }
    return batch;
  }

  void compute(const std::vector<Request*>& batch) {
    if (!joins || batch[0]->rows == 0) return alone(*batch[0]);
    try {
      together(batch);
    } catch (...) {
      // One request may have spoilt it for the others.
      for (Request* r : batch) alone(*r);
    }
  }

  void alone(Request& r) {
    try {
      count_run();
      r.results = (*model)(r.inputs);
    } catch (...) {
      r.error = std::current_exception();
    }
  }

  void together(const std::vector<Request*>& batch) {
    int64_t rows = 0;
    for (const Request* r : batch) rows += r->rows;
    const auto padded = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(rows)));
    Tensors inputs;
    for (size_t i = 0; i < batch[0]->inputs.size(); ++i)
      inputs.push_back(stacked(batch, i, padded));
    count_run();
    const Tensors results = (*model)(inputs);
    for (const Tensor& t : results) {
      MYCEL_CHECK(t.shape().rank() > 0 && t.shape()[0] == padded,
                  "a result has no row per request");
    }
    int64_t first = 0;
    for (Request* r : batch) {
      for (const Tensor& t : results) r->results.push_back(rows_of(t, first, r->rows));
      first += r->rows;
    }
  }

  void count_run() {
    std::lock_guard lock(mutex);
    ++stats.runs;
  }

  std::shared_ptr<const runtime::Model> model;
  const BatchOptions options;
  const bool joins;
  mutable std::mutex mutex;
  std::condition_variable came, answered;
  std::deque<Request*> queue;
  BatchStats stats;
  bool closing = false;
  std::thread thread;
};

Batcher::Batcher(std::shared_ptr<const runtime::Model> model, const BatchOptions& options) {
  if (options.max_rows < 1)
    value_error("a batch must have at least 1 row, got {}", options.max_rows);
  if (options.queue < 1)
    value_error("the queue must hold at least 1 request, got {}", options.queue);
  if (!(options.max_delay_seconds >= 0 && options.max_delay_seconds <= 60)) {
    value_error("requests must wait 0 to 60 seconds for others, got {}", options.max_delay_seconds);
  }
  worker_ = std::make_unique<Worker>(std::move(model), options);
}
Batcher::~Batcher() = default;

Tensors Batcher::run(Tensors inputs) { return worker_->run(std::move(inputs)); }
void Batcher::close() { worker_->close(); }
bool Batcher::joins() const { return worker_->joins; }
BatchStats Batcher::stats() const {
  std::lock_guard lock(worker_->mutex);
  BatchStats s = worker_->stats;
  s.waiting = static_cast<int64_t>(worker_->queue.size());
  return s;
}

}  // namespace mycel::lite
