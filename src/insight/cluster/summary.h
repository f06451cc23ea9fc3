// What the records of many ranks say together: who is slow, which link is, where memory goes. Fed
// record by record; its size does not grow with the number of steps.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace mycel::insight {

class ClusterSummary {
 public:
  // Takes the JSON of a record; false when it is damaged and was left out.
  bool add(const std::string& record);

  // Ranks by how much they compute longer than the median rank, at most `limit`; the table's
  // totals.
  nlohmann::ordered_json ranks(size_t limit, const std::string& sort) const;
  // Rows of ranks by columns of steps: the largest peak of memory in each cell.
  nlohmann::ordered_json memory() const;
  // Links by lack of bandwidth against the median of their collective, at most `limit`.
  nlohmann::ordered_json links(size_t limit) const;
  // Findings that name what to look at: [{"kind", "what", numbers…}…], the worst first.
  nlohmann::ordered_json advice() const;

 private:
  static constexpr size_t kColumns = 64;
  struct Rank {
    std::string host;
    int64_t steps = 0, last_step = -1, memory = 0, peak = 0, bytes = 0;
    double seconds = 0, compute = 0, wait = 0, communication = 0;
    std::vector<float> peaks;  // by column
    double mean(double sum) const { return steps ? sum / static_cast<double>(steps) : 0; }
  };
  struct Link {
    int64_t count = 0, bytes = 0;
    double seconds = 0;
    double bandwidth() const { return seconds > 0 ? static_cast<double>(bytes) / seconds : 0; }
  };
  struct LinkName {
    std::string collective;
    int64_t rank, peer;
    auto operator<=>(const LinkName&) const = default;
  };
  void put_memory(Rank* r, int64_t step, double peak);
  double median_compute() const;
  std::map<std::string, double> median_bandwidths() const;

  std::map<int64_t, Rank> ranks_;
  std::map<LinkName, Link> links_;
  int64_t first_step_ = -1, last_step_ = -1, expected_ = 0, damaged_ = 0;
  int64_t width_ = 1;  // steps in a column
};

}  // namespace mycel::insight
