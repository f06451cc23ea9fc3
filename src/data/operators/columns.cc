// Which columns: project, rename.
#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "data/operators/wrapper.h"

namespace mycel::data {
namespace {

class Projected final : public Wrapper {
 public:
  Projected(DatasetPtr source, std::vector<std::string> columns)
      : Wrapper(std::move(source)),
        columns_(std::move(columns)),
        places_(places_of(*source_, columns_, "project")) {}
  const std::vector<std::string>& columns() const override { return columns_; }
  std::string describe() const override {
    return fmt::format("project({})", fmt::join(columns_, ", "));
  }

 protected:
  Row make_row(uint64_t epoch, int64_t i) const override { return pick(source_->row(epoch, i)); }
  RowsPtr stream(uint64_t epoch) const override {
    return each_row(source_->iterate(epoch), [this](Job job, int64_t) -> Job {
      return [this, job = std::move(job)] { return pick(job()); };
    });
  }

 private:
  Row pick(const Row& in) const {
    Row out;
    for (size_t p : places_) out.push_back(in[p]);
    return out;
  }
  std::vector<std::string> columns_;
  std::vector<size_t> places_;
};

class Renamed final : public Wrapper {
 public:
  Renamed(DatasetPtr source, std::vector<std::string> columns)
      : Wrapper(std::move(source)), columns_(std::move(columns)) {}
  const std::vector<std::string>& columns() const override { return columns_; }
  std::string describe() const override {
    return fmt::format("rename({})", fmt::join(columns_, ", "));
  }

 protected:
  Row make_row(uint64_t epoch, int64_t i) const override { return source_->row(epoch, i); }
  RowsPtr stream(uint64_t epoch) const override { return source_->iterate(epoch); }

 private:
  std::vector<std::string> columns_;
};

}  // namespace

void check_distinct(const std::vector<std::string>& names, const char* op) {
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second)
      value_error("{}: two columns would be named '{}': {}", op, name, fmt::join(names, ", "));
  }
}

std::vector<size_t> places_of(const Dataset& dataset, const std::vector<std::string>& names,
                              const char* op) {
  std::vector<size_t> places;
  for (const std::string& name : names) {
    const size_t p = column_index(dataset, name, op);
    if (std::find(places.begin(), places.end(), p) != places.end())
      value_error("{}: column '{}' is named twice in {}", op, name, fmt::join(names, ", "));
    places.push_back(p);
  }
  return places;
}

DatasetPtr project(DatasetPtr source, const std::vector<std::string>& columns) {
  if (columns.empty()) value_error("project: no columns are named");
  return std::make_shared<Projected>(std::move(source), columns);
}

DatasetPtr rename(DatasetPtr source, const std::vector<std::string>& from,
                  const std::vector<std::string>& to) {
  if (from.size() != to.size())
    value_error("rename: there are {} columns and {} new names", from.size(), to.size());
  std::vector<std::string> columns = source->columns();
  const std::vector<size_t> places = places_of(*source, from, "rename");
  for (size_t i = 0; i < places.size(); ++i) columns[places[i]] = to[i];
  check_distinct(columns, "rename");
  return std::make_shared<Renamed>(std::move(source), std::move(columns));
}

}  // namespace mycel::data
