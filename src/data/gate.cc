#include "data/gate.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "base/error.h"
#include "data/operators/wrapper.h"

namespace mycel::data {
namespace {

constexpr double kPatience = 60;  // seconds

class Gated final : public Wrapper {
 public:
  Gated(DatasetPtr source, GatePtr gate) : Wrapper(std::move(source)), gate_(std::move(gate)) {}
  std::string describe() const override {
    return fmt::format("sync_wait({}, {})", gate_->name(), gate_->rows());
  }
  const GatePtr& gate() const { return gate_; }

 protected:
  Row make_row(uint64_t epoch, int64_t i) const override { return source_->row(epoch, i); }
  RowsPtr stream(uint64_t epoch) const override { return source_->iterate(epoch); }

 private:
  GatePtr gate_;
};

void add_gates(const Dataset& dataset, std::vector<GatePtr>* out) {
  if (auto* gated = dynamic_cast<const Gated*>(&dataset)) {
    if (std::find(out->begin(), out->end(), gated->gate()) == out->end())
      out->push_back(gated->gate());
  }
  for (const DatasetPtr& input : dataset.inputs()) add_gates(*input, out);
}

}  // namespace

Gate::Gate(std::string name, int64_t rows, std::function<double()> patience)
    : name_(std::move(name)), rows_(rows), patience_(std::move(patience)), allowed_(rows) {
  if (rows < 1) value_error("sync_wait: at least 1 row must be released, got {}", rows);
}

void Gate::begin() {
  std::lock_guard lock(mutex_);
  given_ = 0;
  allowed_ = rows_;
}

void Gate::pass(const std::function<void()>& poll) {
  using Clock = std::chrono::steady_clock;
  std::unique_lock lock(mutex_);
  const auto open = [&] { return given_ < allowed_; };
  if (!open()) {
    lock.unlock();
    const std::chrono::duration<double> patience(patience_ ? patience_() : kPatience);
    const auto start = Clock::now();
    lock.lock();
    while (!open()) {
      if (Clock::now() - start >= patience) {
        fail(ErrorKind::kRuntime,
             "sync_wait: {} rows were given and no more were released in {:.3g} s; call "
             "sync_update('{}') behind every {}",
             given_, patience.count(), name_, rows_);
      }
      released_.wait_for(lock, std::chrono::milliseconds(20), open);
      if (!poll) continue;
      lock.unlock();
      poll();
      lock.lock();
    }
  }
  ++given_;
}

void Gate::release(int64_t rows) {
  {
    std::lock_guard lock(mutex_);
    allowed_ += rows > 0 ? rows : rows_;
  }
  released_.notify_all();
}

DatasetPtr sync_wait(DatasetPtr source, GatePtr gate) {
  return std::make_shared<Gated>(std::move(source), std::move(gate));
}

std::vector<GatePtr> gates_of(const Dataset& dataset) {
  std::vector<GatePtr> out;
  add_gates(dataset, &out);
  return out;
}

}  // namespace mycel::data
