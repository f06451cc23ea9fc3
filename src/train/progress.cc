#include "train/progress.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "base/error.h"

namespace mycel::train {
namespace {

constexpr double kRedraw = 0.05;  // seconds between two drawings of the passing line

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string duration(double seconds) {
  auto s = static_cast<int64_t>(seconds + 0.5);
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{}:{:02}", s / 60, s % 60);
  return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

}  // namespace

ProgressLines::ProgressLines(int64_t keep_every, std::FILE* out)
    : screen_(out), keep_every_(keep_every) {
  if (keep_every < 0) value_error("ProgressBar: keep_every must be at least 0, got {}", keep_every);
}

void ProgressLines::begin(int64_t epochs) {
  epochs_ = epochs;
  first_epoch_ = steps_ = 0;
  total_ = drawn_ = 0;
  losses_.clear();
  began_ = now();
}

std::string ProgressLines::left(int64_t epoch, double done) const {
  double ran = static_cast<double>(epoch - first_epoch_) + done;
  double rest = static_cast<double>(epochs_ - epoch + 1) - done;
  return duration((now() - began_) * rest / std::max(ran, 1e-9));
}

void ProgressLines::step(int64_t epoch, int64_t position, int64_t batches, double loss) {
  if (!first_epoch_) first_epoch_ = epoch;
  ++steps_;
  total_ += loss;
  double time = now();
  if (!screen_.live() || (time - drawn_ < kRedraw && position != batches)) return;
  drawn_ = time;
  double mean = total_ / static_cast<double>(steps_);
  if (batches < 1) {
    screen_.show(fmt::format("epoch {}/{}  step {}  loss {:.4f}", epoch, epochs_, position, mean));
    return;
  }
  double done = static_cast<double>(position) / static_cast<double>(batches);
  screen_.show(fmt::format("epoch {:{}}/{} {} loss {:.4f}, {} left", epoch,
                           std::to_string(epochs_).size(), epochs_, bar(done, 30), mean,
                           left(epoch, done)));
}

void ProgressLines::epoch_end(int64_t epoch, const std::map<std::string, double>& metrics) {
  if (!steps_) return;
  losses_.push_back(total_ / static_cast<double>(steps_));
  steps_ = 0;
  total_ = 0;
  int64_t every = keep_every_ ? keep_every_ : std::max<int64_t>(1, epochs_ / 10);
  if (epoch % every != 0 && epoch != epochs_ && epoch != 1) return;
  std::string line = fmt::format("epoch {:{}}/{}  loss {:.4f}", epoch,
                                 std::to_string(epochs_).size(), epochs_, losses_.back());
  for (const auto& [name, value] : metrics) line += fmt::format("  {} {:.4f}", name, value);
  screen_.print(line);
}

void ProgressLines::end() {
  if (losses_.size() < 2) return;
  const Series series[] = {{"loss by epoch", losses_}};
  screen_.print(curve(series, std::min(screen_.width(), 80), 4));
}

}  // namespace mycel::train
