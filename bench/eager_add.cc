// Time of one eager 4x4 addition from C++: the dispatcher alone, without Python.
//   eager_add [repeats]
#include <algorithm>
#include <chrono>
#include <cstdlib>

#include <fmt/format.h>

#include "mycel/ops.h"

int main(int argc, char** argv) {
  using namespace mycel;  // NOLINT: a measurement
  constexpr int kLoops = 200000;
  int repeats = argc > 1 ? std::atoi(argv[1]) : 9;
  Tensor x = ops::full({4, 4}, 1.0, DType::kFloat32), y = ops::full({4, 4}, 2.0, DType::kFloat32);
  double best = 1e30;
  for (int r = 0; r < repeats; ++r) {
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kLoops; ++i) Tensor z = ops::add(x, y);
    std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count() / kLoops);
  }
  fmt::print("add 4x4 from C++: {:.1f} ns\n", best);
}
