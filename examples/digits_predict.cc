// Reads digits with a network that digits.py or digits.cc exported: libmycel alone, no Python.
//   digits_predict <digits.mindir> <images.safetensors>
#include <algorithm>
#include <cmath>
#include <cstdio>

#include <fmt/format.h>

#include "base/error.h"
#include "runtime/model_file.h"
#include "tensor/safetensors.h"
#include "train/terminal.h"

namespace {

using namespace mycel;  // NOLINT: an example

// The largest score's place and its share of the softmax.
std::pair<int, double> answer(std::span<const float> scores) {
  auto best = std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (float s : scores) sum += std::exp(s - *best);
  return {static_cast<int>(best - scores.begin()), 1 / sum};
}

void run(const std::string& model_file, const std::string& image_file) {
  auto model = runtime::Model::load(model_file);
  auto tensors = load_safetensors(image_file).tensors;
  if (tensors.size() != 1)
    value_error("'{}' holds {} tensors; expected the images alone", image_file, tensors.size());
  const Tensor in[] = {tensors[0].second};
  Tensor scores = model(in).at(0);
  int64_t n = scores.dim(0), classes = scores.dim(1),
          pixels = in[0].size() / std::max<int64_t>(n, 1);
  for (int64_t i = 0; i < n; ++i) {
    auto [digit, share] = answer(scores.data<float>().subspan(i * classes, classes));
    fmt::print("{}C++ says: {} ({:.1f}% sure)\n\n",
               train::picture(in[0].data<float>().subspan(i * pixels, pixels), 8, 8, 1.0), digit,
               100 * share);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: digits_predict <digits.mindir> <images.safetensors>\n");
    return 2;
  }
  try {
    run(argv[1], argv[2]);
  } catch (const std::exception& e) {
    fmt::print(stderr, "digits_predict: {}\n", e.what());
    return 1;
  }
  return 0;
}
