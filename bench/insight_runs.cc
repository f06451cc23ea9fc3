// Makes event files to try the index and the server with: RUNS x TAGS x POINTS numbers, then reads
// them and asks the questions of a first chart. Usage: insight_runs [FOLDER RUNS TAGS POINTS]; a
// folder that is there already is only read, with a new index.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/random.h"
#include "insight/index.h"
#include "insight/recorder.h"

namespace {

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void write_run(const std::string& folder, int64_t run, int64_t tags, int64_t points) {
  mycel::insight::Recorder r(fmt::format("{}/group{}/run{}", folder, run / 100, run));
  mycel::Philox noise(7, static_cast<uint64_t>(run));
  std::vector<std::string> names;
  for (int64_t t = 0; t < tags; ++t) names.push_back(fmt::format("part{}/value{}", t / 10, t));
  for (int64_t p = 0; p < points; ++p) {
    for (int64_t t = 0; t < tags; ++t) {
      const double x = static_cast<double>(p) / static_cast<double>(points);
      const double u = static_cast<double>(noise.next32()) * 0x1p-32;
      r.scalar(names[static_cast<size_t>(t)], std::exp(-3 * x) + 0.1 * u, p);
    }
  }
  r.close();
}

}  // namespace

int main(int argc, char** argv) {
  using namespace mycel::insight;  // NOLINT
  if (argc != 5 && argc != 1) {
    std::fprintf(stderr, "usage: insight_runs [FOLDER RUNS TAGS POINTS]\n");
    return 2;
  }
  const std::string place =
      (std::filesystem::temp_directory_path() / fmt::format("insight_runs.{}", getpid())).string();
  const std::string folder = argc == 5 ? argv[1] : place + "/runs";
  const int64_t runs = argc == 5 ? std::atoll(argv[2]) : 100;
  const int64_t tags = argc == 5 ? std::atoll(argv[3]) : 20;
  const int64_t points = argc == 5 ? std::atoll(argv[4]) : 2000;
  double begin = seconds();
  if (!std::filesystem::exists(folder)) {
    for (int64_t r = 0; r < runs; ++r) write_run(folder, r, tags, points);
    fmt::print("wrote {} points in {:.1f} s\n", runs * tags * points, seconds() - begin);
  }
  const std::string database = folder + "/../insight_runs.sqlite";
  for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(database + end);
  begin = seconds();
  auto index = open_index(folder, {database});
  fmt::print("opened the index in {:.2f} s\n", seconds() - begin);
  begin = seconds();
  index->update();
  fmt::print("update: {:.1f} s\n", seconds() - begin);
  begin = seconds();
  index->update();
  fmt::print("update without news: {:.3f} s\n", seconds() - begin);
  begin = seconds();
  const size_t known = index->series().size();
  fmt::print("{} runs, {} series in {:.3f} s\n", index->runs().size(), known, seconds() - begin);
  for (int64_t shown : {1, 10, 100, 1000}) {
    if (shown > runs) break;
    begin = seconds();
    size_t drawn = 0;
    for (int64_t r = 1; r <= shown; ++r)
      drawn +=
          index->curve(index->find(r, Kind::kScalar, "part0/value1").id, {.columns = 800}).size();
    fmt::print("a chart of {} runs: {} points in {:.3f} s\n", shown, drawn, seconds() - begin);
  }
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  fmt::print("peak of the resident set: {} MB; index {} MB\n", use.ru_maxrss / 1024,
             std::filesystem::file_size(database) >> 20);
  index.reset();
  if (argc == 1) std::filesystem::remove_all(place);
  return 0;
}
