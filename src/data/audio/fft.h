// Fourier transforms of many real frames of one length at once: a vector holds one sample of each
// frame, so that every length is computed in whole vectors. Double precision.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/audio/samples.h"

namespace mycel::data {

class FrameTransform {
 public:
  static constexpr int64_t kFrames = 16;

  explicit FrameTransform(int64_t n);
  int64_t size() const { return n_; }

  // Sample i of frame f at in[i * kFrames + f]; for every frequency k <= n / 2 the number of frame
  // f goes to real[k * kFrames + f] and imag[k * kFrames + f].
  void run(const double* in, double* real, double* imag);

 private:
  struct Stage {
    int64_t radix, points, stride;  // points: of the transforms that this stage takes apart
    size_t twiddles;                // where its factors begin
  };
  int64_t n_;
  std::vector<Stage> stages_;
  std::vector<double> factors_;  // cosine, sine
  Samples space_;
};

}  // namespace mycel::data
