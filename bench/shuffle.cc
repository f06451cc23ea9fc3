// Time of a global shuffle of many rows: to make the order of an epoch, to read its first place,
// and to read all places, with 1 and 2 threads, as a pipeline reads them; against std::shuffle of
// an array of indices.
//   build/bench/shuffle [rows]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "data/order.h"

using namespace mycel::data;

namespace {

double seconds(const auto& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t rows = argc > 1 ? std::atoll(argv[1]) : 100'000'000;
  OrderPtr order;
  int64_t first = 0;
  std::printf("%lld rows\n", static_cast<long long>(rows));  // NOLINT(google-runtime-int)
  std::printf("%-36s %10.7f s\n", "order made, first place read", seconds([&] {
                order = random_order(1);
                first = order->at(0, rows, 0);
              }));
  for (const int threads : {1, 2}) {
    std::vector<uint64_t> sums(static_cast<size_t>(threads));
    const double took = seconds([&] {
      std::vector<std::thread> all;
      for (int t = 0; t < threads; ++t) {
        all.emplace_back([&, t] {
          uint64_t sum = 0;
          for (int64_t i = rows * t / threads; i < rows * (t + 1) / threads; ++i)
            sum += static_cast<uint64_t>(order->at(0, rows, i));
          sums[static_cast<size_t>(t)] = sum;
        });
      }
      for (std::thread& t : all) t.join();
    });
    const uint64_t sum = std::accumulate(sums.begin(), sums.end(), uint64_t{0});
    const auto n = static_cast<uint64_t>(rows);
    if (sum != n * (n - 1) / 2) {
      std::fprintf(stderr, "the places are no permutation\n");
      return 1;
    }
    std::printf("all places read, %d thread%s %*s %10.3f s\n", threads, threads > 1 ? "s" : "",
                threads > 1 ? 10 : 11, "", took);
  }
  std::vector<int64_t> index(static_cast<size_t>(rows));
  std::printf("%-36s %10.3f s\n", "std::shuffle of an array of indices", seconds([&] {
                std::iota(index.begin(), index.end(), 0);
                std::shuffle(index.begin(), index.end(), std::mt19937_64(1));
              }));
  return first < rows ? 0 : 1;
}
