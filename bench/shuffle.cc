// Time of a global shuffle of many rows: to make the order of an epoch, to read its first place,
// and to read all places with 1 and 2 threads, one by one as a pipeline does and in runs; against
// std::shuffle of an array of indices.
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

void measure(const Order& order, int64_t rows, int threads, bool runs) {
  std::vector<uint64_t> sums(static_cast<size_t>(threads));
  const double took = seconds([&] {
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t) {
      all.emplace_back([&, t] {
        uint64_t sum = 0;
        std::vector<int64_t> run(runs ? 1 << 14 : 1);
        for (int64_t i = rows * t / threads, end = rows * (t + 1) / threads; i < end;) {
          const auto n = std::min<size_t>(run.size(), static_cast<size_t>(end - i));
          if (runs) {
            order.read(0, rows, i, {run.data(), n});
          } else {
            run[0] = order.at(0, rows, i);
          }
          for (size_t k = 0; k < n; ++k) sum += static_cast<uint64_t>(run[k]);
          i += static_cast<int64_t>(n);
        }
        sums[static_cast<size_t>(t)] = sum;
      });
    }
    for (std::thread& t : all) t.join();
  });
  const uint64_t sum = std::accumulate(sums.begin(), sums.end(), uint64_t{0});
  const auto n = static_cast<uint64_t>(rows);
  if (sum != n * (n - 1) / 2) {
    std::fprintf(stderr, "the places are no permutation\n");
    std::exit(1);
  }
  std::printf("all places %s, %d thread%s %*s %10.3f s\n", runs ? "in runs" : "one by one", threads,
              threads > 1 ? "s" : "", runs ? (threads > 1 ? 7 : 8) : (threads > 1 ? 4 : 5), "",
              took);
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
  for (const int threads : {-1, -2, 1, 2}) {
    const bool runs = threads > 0;
    measure(*order, rows, std::abs(threads), runs);
  }
  std::vector<int64_t> index(static_cast<size_t>(rows));
  std::printf("%-36s %10.3f s\n", "std::shuffle of an array of indices", seconds([&] {
                std::iota(index.begin(), index.end(), 0);
                std::shuffle(index.begin(), index.end(), std::mt19937_64(1));
              }));
  return first < rows ? 0 : 1;
}
