// Trains a small convolutional network on handwritten digits: digits.py in C++, step for step. With
// one seed both end in the same bits, which the printed checksum of the weights shows.
//   digits <digits.safetensors> [epochs] [seed] [folder for the results]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>

#include <fmt/format.h>

#include "mycel/ops.h"
#include "nn/arith.h"
#include "nn/layer.h"
#include "nn/optimizer.h"
#include "nn/train_step.h"
#include "runtime/dispatch.h"
#include "runtime/jit.h"
#include "runtime/model_file.h"
#include "runtime/random_state.h"
#include "tensor/safetensors.h"
#include "train/terminal.h"

namespace {

using namespace mycel;  // NOLINT: an example

constexpr int64_t kHeldOut = 360, kBatch = 32;
constexpr double kPeakRate = 0.003;

struct Net : nn::Cell {
  nn::CellPtr conv1 = add("conv1", nn::make("Conv2d", {1, 32, 3}, {{"weight_init", "HeUniform"}}));
  nn::CellPtr conv2 = add("conv2", nn::make("Conv2d", {32, 64, 3}, {{"weight_init", "HeUniform"}}));
  nn::CellPtr relu = add("relu", nn::make("ReLU"));
  nn::CellPtr pool = add("pool", nn::make("MaxPool2d", {2, 2}));
  nn::CellPtr flatten = add("flatten", nn::make("Flatten"));
  nn::CellPtr dense = add("dense", nn::make("Dense", {256, 128}, {{"weight_init", "HeUniform"}}));
  nn::CellPtr head = add("head", nn::make("Dense", {128, 10}, {{"weight_init", "HeUniform"}}));

  Tensors construct(nn::Inputs in) override {
    Tensor x = pool(relu(conv1(in[0])));
    x = pool(relu(conv2(x)));
    return {head(relu(dense(flatten(x))))};
  }
};

// The network's loss on (images, labels).
struct NetWithLoss : nn::Cell {
  explicit NetWithLoss(std::shared_ptr<Net> n) : net(add("net", std::move(n))) {}
  std::shared_ptr<Net> net;
  nn::CellPtr loss = add("loss", nn::make("SoftmaxCrossEntropyWithLogits", {},
                                          {{"sparse", true}, {"reduction", "mean"}}));
  Tensors construct(nn::Inputs in) override { return {loss((*net)(in[0]), in[1])}; }
};

struct Digits {
  Tensor images, labels;
  int64_t size() const { return images.dim(0); }
  Digits rows(const Tensor& order) const {
    return {ops::gather(images, order, 0), ops::gather(labels, order, 0)};
  }
  Digits slice(int64_t from, int64_t n) const {
    return {images.view({n, 1, 8, 8}, from * 64), labels.view({n}, from)};
  }
};

Tensor permutation(int64_t n) {
  return runtime::call1(ir::op_named("keyed_permutation"), {runtime::next_key()}, {n});
}

Digits read_digits(const std::string& path) {
  Digits all;
  for (const auto& [name, t] : load_safetensors(path).tensors) {
    if (name == "images")
      all.images = ops::reshape(ops::cast(t, DType::kFloat32), {t.dim(0), 1, 8, 8}) / 16.0;
    if (name == "labels") all.labels = ops::cast(t, DType::kInt32);
  }
  if (!all.images || !all.labels) value_error("'{}' holds no digits", path);
  return all;
}

// The step of an optimizer as one compiled call.
runtime::Jit compiled_step(NetWithLoss& net, nn::Optimizer& optimizer) {
  auto variables = [&net, &optimizer] {
    std::vector<Tensor*> places;
    std::set<const void*> seen;
    for (const nn::Cell* c : {static_cast<nn::Cell*>(&net), static_cast<nn::Cell*>(&optimizer)}) {
      for (const nn::Parameter& p : c->parameters()) {
        if (seen.insert(p.get()).second) places.push_back(&p->value);
      }
    }
    return places;
  };
  auto step = [&](std::span<const Tensor> in) { return nn::train_step(net, optimizer, in); };
  return runtime::Jit(step, "step", variables);
}

std::vector<double> train(const std::shared_ptr<Net>& net, const Digits& data, int epochs,
                          train::Screen& screen) {
  int64_t batches = data.size() / kBatch;
  NetWithLoss whole(net);
  whole.set_train();
  auto rate = nn::make("CosineDecayLR", {0.0, kPeakRate, epochs * batches});
  auto optimizer =
      nn::make_optimizer("Adam", net->trainable_params(), {}, {{"learning_rate", rate}});
  runtime::Jit step = compiled_step(whole, *optimizer);
  std::vector<double> history;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    Digits shuffled = data.rows(permutation(data.size()));
    double total = 0;
    for (int64_t b = 0; b < batches; ++b) {
      Digits batch = shuffled.slice(b * kBatch, kBatch);
      const Tensor in[] = {batch.images, batch.labels};
      total += step(in)[0].item();
      double done =
          static_cast<double>(epoch * batches + b + 1) / static_cast<double>(epochs * batches);
      screen.show(fmt::format("epoch {:2}/{} {} loss {:.4f}", epoch + 1, epochs,
                              train::bar(done, 30), total / static_cast<double>(b + 1)));
    }
    history.push_back(total / static_cast<double>(batches));
    if ((epoch + 1) % 10 == 0 || epoch + 1 == epochs) {
      screen.print(fmt::format("epoch {:2}/{}  loss {:.4f}", epoch + 1, epochs, history.back()));
    }
  }
  net->set_train(false);
  return history;
}

int64_t right_answers(Net& net, const Digits& d) {
  Tensor scores = net(d.images);
  int64_t right = 0;
  for (int64_t i = 0; i < d.size(); ++i) {
    auto row = scores.data<float>().subspan(i * 10, 10);
    right += std::max_element(row.begin(), row.end()) - row.begin() == d.labels.data<int32_t>()[i];
  }
  return right;
}

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

void save(Net& net, const Digits& test, const std::string& folder) {
  runtime::NamedTensors weights;
  for (const auto& [name, p] : net.parameters_and_names()) weights.emplace_back(name, p->value);
  save_safetensors(folder + "/digits.safetensors", {weights, {}});
  const Tensor in[] = {test.slice(0, 3).images};
  auto forward = [&](std::span<const Tensor> x) { return net.run(x); };
  runtime::save_model(folder + "/digits.mindir", runtime::trace_model(forward, in, weights));
}

int run(const std::string& path, int epochs, uint64_t seed, const std::string& folder) {
  train::Screen screen;
  runtime::set_seed(seed);
  Digits all = read_digits(path);
  Tensor order = permutation(all.size());
  Digits data = all.rows(order.view({all.size() - kHeldOut}, kHeldOut)),
         test = all.rows(order.view({kHeldOut}));
  auto net = std::make_shared<Net>();
  screen.print(fmt::format("{} digits to learn from, {} held out", data.size(), kHeldOut));
  auto start = std::chrono::steady_clock::now();
  const train::Series history[] = {{"loss by epoch", train(net, data, epochs, screen)}};
  std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  screen.print(train::curve(history, std::min(screen.width(), 80), 4));
  int64_t right = right_answers(*net, test);
  screen.print(fmt::format("held-out digits: {}/{} right ({:.2f}%), trained in {:.1f} s", right,
                           kHeldOut, 100.0 * static_cast<double>(right) / kHeldOut, time.count()));
  save(*net, test, folder);
  screen.print(fmt::format("weights {:08x}, saved as digits.safetensors, exported as digits.mindir",
                           checksum(*net)));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 5) {
    fmt::print(stderr,
               "usage: digits <digits.safetensors> [epochs] [seed] [folder for the results]\n");
    return 2;
  }
  try {
    return run(argv[1], argc > 2 ? std::atoi(argv[2]) : 30,
               argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1, argc > 4 ? argv[4] : ".");
  } catch (const std::exception& e) {
    fmt::print(stderr, "digits: {}\n", e.what());
    return 1;
  }
}
