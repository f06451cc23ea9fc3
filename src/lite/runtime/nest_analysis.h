// Chooses which loop of each stage runs on lanes, and says of every value inside it how it varies
// from lane to lane; then gives each its place in a thread's memory.
#pragma once

#include <optional>
#include <vector>

#include "lite/runtime/nest_program.h"

namespace mycel::lite {

class NestAnalysis {
 public:
  explicit NestAnalysis(NestProgram& p) : p_(p) {}
  void run();

 private:
  using E = NestProgram::E;
  using S = NestProgram::S;

  void find_known();
  // Time of statements whose loops may still become lanes; marks those that should.
  double plain(int32_t list);
  double loop(int32_t at);
  // Time of statements on n lanes.
  double on_lanes(int32_t list, double n) const;
  double cost_of(const E& e, double n) const;
  double trips(int32_t extent) const;
  // Classes of all values when the loop with this index and body runs on lanes.
  void classify(int32_t induction, int32_t body);
  bool visit(int32_t list, bool varying);
  void classify_value(E& e);
  // Whether a reduction's variables can be combined over lanes; marks the sets that do so.
  bool foldable(int32_t body);
  void collect(int32_t list, bool inside, std::vector<int32_t>& sets, std::vector<int32_t>& order,
               bool& bad);
  void clear(int32_t list);
  void settle(int32_t list, bool in_lanes);
  void spread(int32_t e);
  void place();

  NestProgram& p_;
  std::vector<std::optional<int64_t>> known_;
  std::vector<int> readers_;
};

}  // namespace mycel::lite
