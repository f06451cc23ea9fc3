// Time to turn JPEG files into tensors for training, on one thread: decode, random resized crop to
// 224, flip, normalize, channels first; joined in one pass, and transform by transform.
//   build/bench/images FOLDER [seconds]
// A folder of 300 JPEGs of 500 x 375 pixels is made by the peers' side of the benchmark.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "base/error.h"
#include "data/transform.h"

using namespace mycel;
using namespace mycel::data;

namespace {

std::vector<Tensor> files_in(const char* folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& e : std::filesystem::recursive_directory_iterator(folder)) {
    if (e.path().extension() == ".jpg") paths.push_back(e.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Tensor> out;
  for (const auto& p : paths) {
    std::ifstream in(p, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
    const auto* first = reinterpret_cast<const uint8_t*>(bytes.data());
    out.push_back(Tensor::from(std::vector<uint8_t>(first, first + bytes.size()),
                               {static_cast<int64_t>(bytes.size())}));
  }
  return out;
}

// The best of many passes over all files, in milliseconds a file.
double time_of(const std::vector<TransformPtr>& steps, const std::vector<Tensor>& files,
               double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  double best = 1e30;
  for (uint64_t epoch = 0; epoch == 0 || Clock::now() < end; ++epoch) {
    const auto start = Clock::now();
    for (size_t i = 0; i < files.size(); ++i) {
      Row row{files[i]};
      Philox draw(epoch, i);
      run_all(steps, &row, draw);
    }
    const std::chrono::duration<double, std::milli> took = Clock::now() - start;
    best = std::min(best, took.count() / static_cast<double>(files.size()));
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: images FOLDER [seconds]\n");
    return 2;
  }
  const double seconds = argc > 2 ? std::atof(argv[2]) : 5;
  try {
    const std::vector<Tensor> files = files_in(argv[1]);
    if (files.empty()) fail(ErrorKind::kOs, "no .jpg file in {}", argv[1]);
    const Option mean = Option::List{123.675, 116.28, 103.53},
                 std = Option::List{58.395, 57.12, 57.375};
    const std::vector<TransformPtr> train = {
        make_transform("vision.Decode"),
        make_transform("vision.RandomResizedCrop", {{"size", 224}}),
        make_transform("vision.RandomHorizontalFlip"),
        make_transform("vision.Normalize", {{"mean", mean}, {"std", std}}),
        make_transform("vision.HWC2CHW")};
    const std::vector<TransformPtr> eval = {
        make_transform("vision.Decode"), make_transform("vision.Resize", {{"size", 256}}),
        make_transform("vision.CenterCrop", {{"size", 224}}),
        make_transform("vision.Normalize", {{"mean", mean}, {"std", std}}),
        make_transform("vision.HWC2CHW")};
    const std::vector<TransformPtr> decode = {make_transform("vision.Decode")};
    std::printf("%-28s %8.3f ms\n", "decode alone", time_of(decode, files, seconds));
    std::printf("%-28s %8.3f ms\n", "train, one by one", time_of(train, files, seconds));
    std::printf("%-28s %8.3f ms\n", "train, joined", time_of(fused(train), files, seconds));
    std::printf("%-28s %8.3f ms\n", "evaluation, one by one", time_of(eval, files, seconds));
    std::printf("%-28s %8.3f ms\n", "evaluation, joined", time_of(fused(eval), files, seconds));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}
