// New values from old ones: map with transforms or with a function.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/random.h"
#include "data/operators/wrapper.h"

namespace mycel::data {
namespace {

// How many datasets lie below: the place of an operation, which its random bits depend on.
uint64_t depth_of(const Dataset& dataset) {
  uint64_t deepest = 0;
  for (const DatasetPtr& input : dataset.inputs()) deepest = std::max(deepest, depth_of(*input));
  return deepest + 1;
}

class Mapped : public Wrapper {
 public:
  Mapped(DatasetPtr source, std::vector<std::string> inputs, std::vector<std::string> outputs,
         int workers)
      : Wrapper(std::move(source)), workers_(workers) {
    if (inputs.empty()) inputs = source_->columns();
    outputs_ = outputs.empty() ? inputs : std::move(outputs);
    in_ = places_of(*source_, inputs, "map");
    for (size_t c = 0; c < source_->columns().size(); ++c) {
      if (c == in_[0]) columns_.insert(columns_.end(), outputs_.begin(), outputs_.end());
      taken_.push_back(std::find(in_.begin(), in_.end(), c) != in_.end());
      if (!taken_[c]) columns_.push_back(source_->columns()[c]);
    }
    check_distinct(columns_, "map");
  }
  const std::vector<std::string>& columns() const override { return columns_; }
  int workers() const override { return std::max(workers_, source_->workers()); }

 protected:
  // The new values of row i; given those of the inputs.
  virtual Row apply(Row args, uint64_t epoch, int64_t i) const = 0;

  Row make_row(uint64_t epoch, int64_t i) const override {
    return replaced(source_->row(epoch, i), epoch, i);
  }
  RowsPtr stream(uint64_t epoch) const override {
    return each_row(source_->iterate(epoch), [this, epoch](Job job, int64_t i) -> Job {
      return timed(*this,
                   [this, epoch, i, job = std::move(job)] { return replaced(job(), epoch, i); });
    });
  }

 private:
  Row replaced(Row in, uint64_t epoch, int64_t i) const {
    Row args, out;
    for (size_t c : in_) args.push_back(in[c]);
    Row made = apply(std::move(args), epoch, i);
    if (made.size() != outputs_.size()) {
      value_error(
          "map: the operations gave {} values for {} columns ({})\n  Name the new columns "
          "in output_columns.",
          made.size(), outputs_.size(), fmt::join(outputs_, ", "));
    }
    for (size_t c = 0; c < in.size(); ++c) {
      if (c == in_[0])
        for (Value& v : made) out.push_back(std::move(v));
      if (!taken_[c]) out.push_back(std::move(in[c]));
    }
    return out;
  }

  int workers_;
  std::vector<size_t> in_;
  std::vector<bool> taken_;
  std::vector<std::string> outputs_, columns_;
};

class Transformed final : public Mapped {
 public:
  Transformed(DatasetPtr source, std::vector<TransformPtr> transforms,
              std::vector<std::string> inputs, std::vector<std::string> outputs, uint64_t seed,
              int workers)
      : Mapped(std::move(source), std::move(inputs), std::move(outputs), workers),
        seed_(Philox(seed, depth_of(*source_)).next64()) {
    for (const TransformPtr& t : transforms) names_.push_back(t->description());
    transforms_ = fused(std::move(transforms));
  }
  std::string describe() const override { return fmt::format("map({})", fmt::join(names_, ", ")); }
  bool changes() const override {
    return std::any_of(transforms_.begin(), transforms_.end(),
                       [](const TransformPtr& t) { return t->random(); });
  }

 protected:
  Row apply(Row args, uint64_t epoch, int64_t i) const override {
    // Epochs are kept apart by the key, rows by the stream.
    Philox draw(seed_ + epoch * 0x9E3779B97F4A7C15u, static_cast<uint64_t>(i));
    run_all(transforms_, &args, draw);
    return args;
  }

 private:
  uint64_t seed_;
  std::vector<TransformPtr> transforms_;
  std::vector<std::string> names_;
};

class ByFunction final : public Mapped {
 public:
  ByFunction(DatasetPtr source, RowFunction f, std::vector<std::string> inputs,
             std::vector<std::string> outputs, int workers)
      : Mapped(std::move(source), std::move(inputs), std::move(outputs), workers),
        f_(std::move(f)) {}
  std::string describe() const override { return "map(function)"; }

 protected:
  Row apply(Row args, uint64_t, int64_t) const override { return f_(args); }

 private:
  RowFunction f_;
};

}  // namespace

DatasetPtr map(DatasetPtr source, std::vector<TransformPtr> transforms,
               std::vector<std::string> inputs, std::vector<std::string> outputs, uint64_t seed,
               int workers) {
  if (transforms.empty()) value_error("map: there are no operations");
  return std::make_shared<Transformed>(std::move(source), std::move(transforms), std::move(inputs),
                                       std::move(outputs), seed, workers);
}

DatasetPtr map(DatasetPtr source, RowFunction f, std::vector<std::string> inputs,
               std::vector<std::string> outputs, int workers) {
  return std::make_shared<ByFunction>(std::move(source), std::move(f), std::move(inputs),
                                      std::move(outputs), workers);
}

}  // namespace mycel::data
