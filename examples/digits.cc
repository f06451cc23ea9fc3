// Trains a small convolutional network on handwritten digits: digits.py in C++, step for step. With
// one seed both end in the same bits, which the printed checksum of the weights shows.
//   digits [--epochs N] [--seed N] [--out FOLDER]
#include "data/digits.h"

#include <chrono>
#include <cstdio>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "data/operators.h"
#include "mycel/nn.h"
#include "runtime/model_file.h"
#include "runtime/random_state.h"
#include "train/checkpoint.h"
#include "train/model.h"
#include "train/progress.h"

namespace {

using namespace mycel;  // NOLINT: an example

constexpr int64_t kBatch = 32;
constexpr double kPeakRate = 0.003;

struct Net : nn::Cell {
  nn::CellPtr conv1 = add("conv1", nn::make("Conv2d", {1, 32, 3}, {{"weight_init", "HeUniform"}}));
  nn::CellPtr conv2 = add("conv2", nn::make("Conv2d", {32, 64, 3}, {{"weight_init", "HeUniform"}}));
  nn::CellPtr relu = add("relu", nn::relu());
  nn::CellPtr pool = add("pool", nn::max_pool2d(2, 2));
  nn::CellPtr flatten = add("flatten", nn::flatten());
  nn::CellPtr dense = add("dense", nn::dense(256, 128, "HeUniform"));
  nn::CellPtr head = add("head", nn::dense(128, 10, "HeUniform"));

  Tensors construct(nn::Inputs in) override {
    Tensor x = pool(relu(conv1(in[0])));
    x = pool(relu(conv2(x)));
    return {head(relu(dense(flatten(x))))};
  }
};

// CRC-32 of all weights, in order.
uint32_t checksum(const nn::Cell& net) {
  uint32_t crc = ~0u;
  for (const nn::Parameter& p : net.parameters()) {
    const auto* bytes = static_cast<const unsigned char*>(p->value.raw());
    for (size_t i = 0; i < p->value.bytes(); ++i) {
      crc ^= bytes[i];
      for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0xEDB88320u : 0);
    }
  }
  return ~crc;
}

// The weights as a checkpoint, the network as a model that any program of ours can run.
void save(Net& net, const std::string& folder) {
  runtime::NamedTensors weights = train::entries_of(net.parameters());
  train::save_checkpoint(folder + "/digits.ckpt", weights);
  net.set_train(false);
  const Tensor images[] = {data::digits("test").images.view({3, 1, 8, 8})};
  auto forward = [&](std::span<const Tensor> x) { return net.run(x); };
  runtime::save_model(folder + "/digits.mindir", runtime::trace_model(forward, images, weights));
}

void run(int64_t epochs, uint64_t seed, const std::string& folder) {
  runtime::set_seed(seed);
  auto digits = data::batch(data::shuffle(data::digits_dataset("train"), 2, seed), kBatch, true);
  auto held_out = data::batch(data::digits_dataset("test"), 360);
  auto net = std::make_shared<Net>();
  auto rate = nn::make("CosineDecayLR", {0.0, kPeakRate, epochs * digits->size()});
  auto loss =
      nn::make("SoftmaxCrossEntropyWithLogits", {}, {{"sparse", true}, {"reduction", "mean"}});
  auto adam = nn::make_optimizer("Adam", net->trainable_params(), {}, {{"learning_rate", rate}});
  train::Model model(net, loss, adam, {"acc"});

  auto start = std::chrono::steady_clock::now();
  model.train(epochs, digits, {std::make_shared<train::ProgressBar>()});
  std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  double right = model.eval(held_out).at("acc");
  fmt::print("held-out digits: {:.2f}% of 360 right, trained in {:.1f} s\n", 100 * right,
             time.count());
  save(*net, folder);
  fmt::print("weights {:08x}, saved as digits.ckpt, exported as digits.mindir\n", checksum(*net));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Trains a digit classifier.", "digits");
  int64_t epochs = 30;
  uint64_t seed = 1;
  std::string out = ".";
  app.add_option("--epochs", epochs, "Passes over the digits");
  app.add_option("--seed", seed, "Of weights and data order");
  app.add_option("--out", out, "Folder for digits.ckpt and digits.mindir");
  CLI11_PARSE(app, argc, argv);
  try {
    run(epochs, seed, out);
  } catch (const std::exception& e) {
    fmt::print(stderr, "digits: {}\n", e.what());
    return 1;
  }
  return 0;
}
