// A few threads of one model that share loops: begun once, asleep between runs. A loop is cut by
// its size alone or gives the same result however it is cut.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace mycel::lite {

class Threads {
 public:
  explicit Threads(int count);
  ~Threads();
  Threads(const Threads&) = delete;

  int count() const { return static_cast<int>(workers_.size()) + 1; }
  using Body = std::function<void(int worker, int64_t begin, int64_t end)>;
  // body over [0, extent), in pieces of `grain` or more iterations.
  void run(int64_t extent, int64_t grain, const Body& body);

 private:
  void work(int worker);
  void take(int worker);

  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable begin_, end_;
  const Body* body_ = nullptr;
  int64_t extent_ = 0, grain_ = 1, next_ = 0;
  uint64_t round_ = 0;
  int busy_ = 0;
  bool stop_ = false;
};

}  // namespace mycel::lite
