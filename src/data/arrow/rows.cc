#include "data/arrow/rows.h"

#include <algorithm>
#include <list>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "base/error.h"

namespace mycel::data {
namespace {

struct Group {
  std::vector<ArrowBatch> batches;
  std::vector<int64_t> ends;  // of the batches, in rows
  size_t bytes = 0;
};
using GroupPtr = std::shared_ptr<const Group>;

// The groups of the last use.
class KeptGroups {
 public:
  KeptGroups(size_t bytes, size_t groups) : most_bytes_(bytes), least_groups_(groups) {}

  template <typename Read>
  GroupPtr get(size_t g, Read&& read) {
    std::shared_ptr<Entry> entry;
    {
      std::lock_guard lock(mutex_);
      auto [it, fresh] = entries_.try_emplace(g);
      if (fresh) {
        it->second = std::make_shared<Entry>();
        order_.push_front(g);
        it->second->place = order_.begin();
      } else {
        order_.splice(order_.begin(), order_, it->second->place);
      }
      entry = it->second;
    }
    std::lock_guard reading(entry->mutex);  // others wait for the group, not for one another
    if (!entry->group) {
      entry->group = read();
      std::lock_guard lock(mutex_);
      const auto it = entries_.find(g);
      if (it != entries_.end() && it->second == entry) {
        entry->bytes = entry->group->bytes;
        bytes_ += entry->bytes;
      }
      drop_old();
    }
    return entry->group;
  }

 private:
  struct Entry {
    std::mutex mutex;
    GroupPtr group;    // with `mutex`
    size_t bytes = 0;  // what it counts in bytes_
    std::list<size_t>::iterator place;
  };
  void drop_old() {
    while (bytes_ > most_bytes_ && order_.size() > least_groups_) {
      const auto it = entries_.find(order_.back());
      bytes_ -= it->second->bytes;
      entries_.erase(it);
      order_.pop_back();
    }
  }

  const size_t most_bytes_, least_groups_;
  std::mutex mutex_;
  std::map<size_t, std::shared_ptr<Entry>> entries_;
  std::list<size_t> order_;
  size_t bytes_ = 0;
};

std::vector<int64_t> ends_of(const std::vector<int64_t>& sizes) {
  std::vector<int64_t> ends;
  int64_t sum = 0;
  for (int64_t n : sizes) ends.push_back(sum += n);
  return ends;
}

class ArrowRows final : public IndexedDataset {
 public:
  ArrowRows(const ArrowSchema& schema, std::shared_ptr<const ArrowGroups> groups,
            ArrowRowsOptions options)
      : groups_(std::move(groups)),
        options_(std::move(options)),
        ends_(ends_of(groups_->rows())),
        kept_(options_.memory, options_.groups_kept) {
    for (auto& [name, type] : arrow_columns(schema)) {
      columns_.push_back(name);
      types_.push_back(type.str());
    }
    if (columns_.empty()) value_error("{}: there are no columns", options_.owner);
    if (ends_.empty() || ends_.back() == 0) value_error("{}: there are no rows", options_.owner);
    for (const auto& [column, _] : options_.fill) {
      if (std::find(columns_.begin(), columns_.end(), column) == columns_.end())
        value_error("{}: fill_null names the column '{}', which is not read", options_.owner,
                    column);
    }
  }
  const std::vector<std::string>& columns() const override { return columns_; }
  int64_t size() const override { return ends_.back(); }
  int workers() const override { return options_.workers; }
  std::string describe() const override {
    return fmt::format("{}({} groups)", options_.owner, ends_.size());
  }
  Row row(int64_t i) const override {
    const size_t g = std::upper_bound(ends_.begin(), ends_.end(), i) - ends_.begin();
    int64_t at = g == 0 ? i : i - ends_[g - 1];
    try {
      const GroupPtr group = kept_.get(g, [&] { return read(g); });
      const size_t b =
          std::upper_bound(group->ends.begin(), group->ends.end(), at) - group->ends.begin();
      if (b > 0) at -= group->ends[b - 1];
      Row out;
      for (size_t c = 0; c < columns_.size(); ++c)
        out.push_back(group->batches[b].value(c, at, options_.fill));
      return out;
    } catch (UserError& e) {
      e.prefix(fmt::format("{}: sample {} ({}): ", options_.owner, i, groups_->name(g)));
      throw;
    }
  }

 private:
  GroupPtr read(size_t g) const {
    auto group = std::make_shared<Group>();
    group->batches = groups_->read(g);
    int64_t rows = 0;
    for (const ArrowBatch& b : group->batches) {
      check(b);
      group->ends.push_back(rows += b.rows());
      group->bytes += b.bytes();
    }
    if (rows != groups_->rows()[g])
      fail(ErrorKind::kOs, "{} rows were read, {} were there when the dataset was made", rows,
           groups_->rows()[g]);
    return group;
  }
  void check(const ArrowBatch& b) const {
    bool same = b.columns() == columns_;
    for (size_t c = 0; same && c < types_.size(); ++c) {
      if (b.types()[c].str() == types_[c]) continue;
      value_error("column '{}' holds {}, the first file has {}", columns_[c], b.types()[c].str(),
                  types_[c]);
    }
    if (!same) value_error("the columns are not those of the first file");
  }

  std::shared_ptr<const ArrowGroups> groups_;
  ArrowRowsOptions options_;
  std::vector<int64_t> ends_;
  std::vector<std::string> columns_, types_;
  mutable KeptGroups kept_;
};

}  // namespace

DatasetPtr arrow_rows(const ArrowSchema& schema, std::shared_ptr<const ArrowGroups> groups,
                      ArrowRowsOptions options) {
  return std::make_shared<ArrowRows>(schema, std::move(groups), std::move(options));
}

}  // namespace mycel::data
