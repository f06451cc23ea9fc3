#include "data/source.h"

#include <algorithm>

#include <fmt/format.h>

#include "data/media.h"
#include "data/operators/wrapper.h"
#include "data/registry.h"

namespace mycel::data {
namespace {

// A source that asks for threads.
class Asking final : public Wrapper {
 public:
  Asking(DatasetPtr source, int workers) : Wrapper(std::move(source)), workers_(workers) {}
  int workers() const override { return std::max(workers_, source_->workers()); }
  std::string describe() const override { return fmt::format("threads({})", workers_); }

 protected:
  Row make_row(uint64_t epoch, int64_t i) const override { return source_->row(epoch, i); }
  RowsPtr stream(uint64_t epoch) const override { return source_->iterate(epoch); }

 private:
  int workers_;
};

// How many threads the arguments ask for; one, the default of some records, is no wish.
int workers_of(const Options& o) {
  constexpr const char* kName = "num_parallel_workers";
  if (o.specs().index(kName) < 0 || o.none(kName)) return 0;
  const int64_t n = o.positive(kName);
  if (n > (1 << 20)) o.fail(kName, "must be at most {}, got {}", 1 << 20, n);
  return n == 1 ? 0 : static_cast<int>(n);
}

}  // namespace

const std::vector<const SourceDef*>& all_sources() { return media().sources; }
const SourceDef* find_source(const std::string& name) { return find_record(all_sources(), name); }
std::shared_ptr<const OptionSpecs> specs_of(const SourceDef& def) { return specs_of_record(def); }

DatasetPtr open_source(const std::string& name, const NamedOptions& args) {
  const SourceDef& def = record_named(all_sources(), name, "dataset");
  const Options options(specs_of(def), args);
  const int workers = workers_of(options);
  DatasetPtr opened = def.open(options);
  return workers == 0 ? opened : std::make_shared<Asking>(std::move(opened), workers);
}

}  // namespace mycel::data
