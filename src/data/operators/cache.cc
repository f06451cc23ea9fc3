// Rows that are made once and kept, in memory or in a file.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <optional>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "data/operators/wrapper.h"

namespace mycel::data {
namespace {

// A file without a name: it goes with its last user, however the process ends.
class Spill {
 public:
  explicit Spill(const std::string& folder) {
    std::string path = folder + "/mycel-cache-XXXXXX";
    file_ = mkstemp(path.data());
    if (file_ < 0) fail(ErrorKind::kOs, "cache: no file can be made in '{}'", folder);
    unlink(path.c_str());
  }
  ~Spill() { close(file_); }
  Spill(const Spill&) = delete;
  Spill& operator=(const Spill&) = delete;

  int64_t write(const void* data, size_t bytes) {
    const int64_t at = end_.fetch_add(static_cast<int64_t>(bytes));
    const auto* from = static_cast<const char*>(data);
    for (size_t done = 0; done < bytes;) {
      const ssize_t n = pwrite(file_, from + done, bytes - done, at + static_cast<int64_t>(done));
      if (n <= 0) fail(ErrorKind::kOs, "cache: its file cannot be written (is the disk full?)");
      done += static_cast<size_t>(n);
    }
    return at;
  }
  void read(int64_t at, void* data, size_t bytes) const {
    auto* to = static_cast<char*>(data);
    for (size_t done = 0; done < bytes;) {
      const ssize_t n = pread(file_, to + done, bytes - done, at + static_cast<int64_t>(done));
      if (n <= 0) fail(ErrorKind::kOs, "cache: its file cannot be read");
      done += static_cast<size_t>(n);
    }
  }

 private:
  int file_;
  std::atomic<int64_t> end_ = 0;
};

// A value of a row in the file: what is needed to read it again.
struct Place {
  int64_t at = 0;
  bool strings = false;
  DType dtype = DType::kBool;
  Shape shape;
  std::vector<size_t> lengths = {};  // of strings
};

class Cached final : public Wrapper {
 public:
  Cached(DatasetPtr source, size_t bytes, const std::string& folder)
      : Wrapper(std::move(source)), limit_(bytes), rows_(static_cast<size_t>(source_->size())) {
    if (!folder.empty()) {
      std::error_code failed;
      std::filesystem::create_directories(folder, failed);
      spill_ = std::make_unique<Spill>(folder);
      places_.resize(rows_.size());
    }
  }
  std::string describe() const override {
    return fmt::format("cache({} of {} rows, {} MB{})", kept_.load(), rows_.size(),
                       bytes_.load() / 1000000, spill_ ? " in a file" : "");
  }

 protected:
  Row make_row(uint64_t epoch, int64_t i) const override {
    const auto at = static_cast<size_t>(i);
    {
      std::lock_guard lock(lock_of(at));
      if (rows_[at]) return *rows_[at];
      if (spill_ && places_[at]) return read(*places_[at]);
    }
    Row row = source_->row(epoch, i);
    size_t bytes = 0;
    for (const Value& v : row) bytes += v.bytes();
    if (!spill_ && limit_ && bytes_ + bytes > limit_) return row;
    std::lock_guard lock(lock_of(at));
    if (rows_[at] || (spill_ && places_[at])) return row;  // another thread was first
    bytes_ += bytes;
    ++kept_;
    if (spill_) {
      places_[at] = write(row);
    } else {
      for (Value& v : row) {
        // Not a view that keeps a whole file or batch alive.
        if (v.is_tensor() && !v.tensor().sole_owner()) v = copy_of(v.tensor());
      }
      rows_[at] = row;
    }
    return row;
  }
  RowsPtr stream(uint64_t epoch) const override { return source_->iterate(epoch); }

 private:
  std::mutex& lock_of(size_t i) const { return locks_[i % std::size(locks_)]; }

  static Tensor copy_of(const Tensor& t) {
    Tensor out = Tensor::empty(t.dtype(), t.shape());
    if (t.bytes()) std::memcpy(out.mutable_raw(), t.raw(), t.bytes());
    return out;
  }

  std::vector<Place> write(const Row& row) const {
    std::vector<Place> places;
    for (const Value& v : row) {
      Place p{.strings = v.is_strings(), .shape = v.shape()};
      if (v.is_tensor()) {
        p.dtype = v.tensor().dtype();
        p.at = spill_->write(v.tensor().raw(), v.tensor().bytes());
      } else {
        std::string all;
        for (const std::string& s : v.strings().values) {
          p.lengths.push_back(s.size());
          all += s;
        }
        p.at = spill_->write(all.data(), all.size());
      }
      places.push_back(std::move(p));
    }
    return places;
  }

  Row read(const std::vector<Place>& places) const {
    Row row;
    for (const Place& p : places) {
      if (!p.strings) {
        Tensor t = Tensor::empty(p.dtype, p.shape);
        spill_->read(p.at, t.mutable_raw(), t.bytes());
        row.emplace_back(std::move(t));
        continue;
      }
      StringArray s{{}, p.shape};
      int64_t at = p.at;
      for (size_t n : p.lengths) {
        s.values.emplace_back(n, '\0');
        spill_->read(at, s.values.back().data(), n);
        at += static_cast<int64_t>(n);
      }
      row.emplace_back(std::move(s));
    }
    return row;
  }

  size_t limit_;
  mutable std::mutex locks_[64];
  mutable std::vector<std::optional<Row>> rows_;
  mutable std::vector<std::optional<std::vector<Place>>> places_;
  mutable std::atomic<size_t> bytes_ = 0, kept_ = 0;
  std::unique_ptr<Spill> spill_;
};

// Why rows of `d` differ from epoch to epoch; "" when they do not.
std::string changing(const Dataset& d) {
  if (d.changes()) return d.describe();
  for (const DatasetPtr& input : d.inputs()) {
    if (std::string why = changing(*input); !why.empty()) return why;
  }
  return "";
}

}  // namespace

DatasetPtr cache(DatasetPtr source, size_t bytes, const std::string& folder) {
  if (!source->indexable()) {
    value_error("cache: '{}' is read from begin to end; a cache needs rows with numbers",
                source->describe());
  }
  if (std::string why = changing(*source); !why.empty()) {
    value_error(
        "cache: '{}' gives other rows in each epoch, which would be kept from the first one\n  Put "
        "it behind the cache.",
        why);
  }
  return std::make_shared<Cached>(std::move(source), bytes, folder);
}

}  // namespace mycel::data
