// Page Cluster: what the records of all ranks add up to.
#include "insight/cluster/summary.h"
#include "insight/server/arguments.h"
#include "insight/server/follow_records.h"

namespace mycel::insight::server {
namespace {

struct Known {
  ClusterSummary summary;
  int64_t next = 0;
};

// {"read": [done, all], "ranks", "memory", "links", "advice"}
Answer cluster(Index& index, const Arguments& a) {
  static PerRun<Known> known;
  const RunInfo run = run_of(index, a);
  const std::string* sort = find(a, "sort");
  const auto limit = number_or<size_t>(a, "limit", 100);
  if (limit > 4096) value_error("'limit' must be at most 4096");
  return known.with(index, run.id, [&](Known& k) {
    const Reading r = read_records(index, run.id, "cluster/steps", k.next,
                                   [&](const std::string& text) { k.summary.add(text); });
    k.next = r.done;
    return answer({{"read", {r.done, r.all}},
                   {"ranks", k.summary.ranks(limit, sort ? *sort : "compute")},
                   {"memory", k.summary.memory()},
                   {"links", k.summary.links(100)},
                   {"advice", k.summary.advice()}});
  });
}

}  // namespace

Questions cluster_questions() { return {{"cluster", cluster}}; }

}  // namespace mycel::insight::server
