// What a tensor's values look like over all samples, and the range of reals that its integers are
// to cover.
#pragma once

#include <cstdint>
#include <vector>

#include "lite/quantize.h"

namespace mycel::lite {

struct RealRange {
  double low = 0, high = 0;  // low <= 0 <= high
};

class RangeObserver {
 public:
  RangeObserver(Observer kind, double percentile) : kind_(kind), percentile_(percentile) {}
  void see(const Tensor& t);  // float32
  RealRange range() const;

 private:
  static constexpr int kBins = 4096;  // over [-reach, reach]

  void widen(double reach);
  RealRange by_percentile() const;
  RealRange by_entropy() const;
  // Bins of |x|, kBins / 2 of them.
  std::vector<double> magnitudes() const;

  Observer kind_;
  double percentile_;
  bool any_ = false;
  RealRange seen_;
  double reach_ = 0;
  std::vector<double> bins_;
};

// The integers for a range.
struct IntegerCode {
  double scale = 1;
  int64_t zero = 0;
  DType dtype = DType::kInt8;
};
IntegerCode code_of(RealRange r, bool symmetric);

}  // namespace mycel::lite
