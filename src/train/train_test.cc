// Pipeline, loop and checkpoints from C++: order, resuming to the same bits, errors of files.
#include <filesystem>
#include <functional>
#include <stdexcept>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.h"
#include "data/operators.h"
#include "mycel/ops.h"
#include "nn/layer.h"
#include "train/model.h"

namespace mycel::train {
namespace {

namespace fs = std::filesystem;

struct Folder {
  Folder() {
    char name[] = "/tmp/mycel_train_XXXXXX";
    path = mkdtemp(name);
  }
  ~Folder() { fs::remove_all(path); }
  std::string file(const std::string& name) const { return path + "/" + name; }
  std::string path;
};

data::DatasetPtr numbers(int64_t n) {
  std::vector<float> x(n * 2), y(n);
  for (int64_t i = 0; i < n; ++i) {
    x[2 * i] = static_cast<float>(i % 7) / 7;
    x[2 * i + 1] = static_cast<float>(i % 5) / 5;
    y[i] = 2 * x[2 * i] - x[2 * i + 1];
  }
  return data::tensor_dataset({{"x", Tensor::from(x, {n, 2})}, {"y", Tensor::from(y, {n, 1})}});
}

struct Example {
  Example() {
    runtime::set_seed(5);
    network = nn::CellPtr(nn::make("Dense", {2, 1}));
    optimizer =
        nn::make_optimizer("Adam", network->trainable_params(), {}, {{"learning_rate", 0.05}});
    model = std::make_unique<Model>(network, nn::CellPtr(nn::make("MSELoss")), optimizer,
                                    std::vector<std::string>{"loss"});
    dataset = data::batch(data::shuffle(numbers(40), 40, 3), 8);
  }
  std::vector<float> weights() const {
    std::vector<float> out;
    for (const auto& p : network->parameters()) {
      auto d = p->value.data<float>();
      out.insert(out.end(), d.begin(), d.end());
    }
    return out;
  }
  nn::CellPtr network;
  nn::OptimizerPtr optimizer;
  std::unique_ptr<Model> model;
  data::DatasetPtr dataset;
};

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const UserError& e) {
    return e.message();
  }
  return "no error";
}

CallbackPtr at_step_end(std::function<void(RunContext&)> f) {
  std::map<Moment, std::function<void(RunContext&)>> functions;
  functions[Moment::kTrainStepEnd] = std::move(f);
  return std::make_shared<LambdaCallback>(std::move(functions));
}

TEST(Model, LearnsAndEvaluates) {
  Example s;
  double before = s.model->eval(s.dataset)["loss"];
  s.model->train(20, s.dataset);
  EXPECT_LT(s.model->eval(s.dataset)["loss"], before / 10);
}

TEST(Model, StopsWhenAsked) {
  Example s;
  int64_t steps = 0;
  auto stop = [&](RunContext& r) {
    if (++steps == 7) r.request_stop();
  };
  s.model->train(3, s.dataset, {at_step_end(stop)});
  EXPECT_EQ(steps, 7);
}

TEST(Model, LostRunResumesToTheSameBits) {
  Example whole;
  whole.model->train(4, whole.dataset);
  Folder folder;
  {
    Example s;
    auto lose = [](RunContext& r) {
      if (r.step == 11) throw std::runtime_error("lost");
    };
    Callbacks callbacks = {
        std::make_shared<ModelCheckpoint>("m", folder.path, CheckpointConfig{.every_steps = 3}),
        at_step_end(lose)};
    EXPECT_THROW(s.model->train(4, s.dataset, callbacks), std::runtime_error);
  }
  Example s;
  runtime::set_seed(99);                       // the file brings its own
  s.model->resume(folder.file("m-2_4.ckpt"));  // step 9 of 5 an epoch
  s.model->train(4, s.dataset);
  EXPECT_EQ(s.weights(), whole.weights());
}

// Data sinks change when callbacks run, never what is computed.
TEST(Model, SinksComputeTheSameBits) {
  Example plain;
  plain.model->train(4, plain.dataset);
  Example by_epoch;
  int calls = 0;
  auto count = std::make_shared<LambdaCallback>(std::map<Moment, std::function<void(RunContext&)>>{
      {Moment::kTrainStepEnd, [&](RunContext& r) {
         ++calls;
         EXPECT_EQ(r.step, 5 * calls);
         EXPECT_EQ(r.steps, 5);
       }}});
  by_epoch.model->train(4, by_epoch.dataset, {count}, kSinkEpoch);
  EXPECT_EQ(calls, 4);
  EXPECT_EQ(by_epoch.weights(), plain.weights());
  Example by_four;  // 5 epochs of 4 steps: 4 of the dataset's
  by_four.model->train(5, by_four.dataset, {}, 4);
  EXPECT_EQ(by_four.weights(), plain.weights());
}

TEST(Model, ASunkRunResumesToTheSameBits) {
  Folder folder;
  Example whole;
  whole.model->train(6, whole.dataset, {}, 3);
  Example first, second;
  auto stop = std::make_shared<LambdaCallback>(std::map<Moment, std::function<void(RunContext&)>>{
      {Moment::kTrainEpochEnd, [](RunContext& r) {
         if (r.epoch == 4) r.request_stop();
       }}});
  first.model->train(6, first.dataset, {stop}, 3);
  first.model->save(folder.file("part.ckpt"));
  second.model->resume(folder.file("part.ckpt"));
  second.model->train(6, second.dataset, {}, 3);
  EXPECT_EQ(second.weights(), whole.weights());
}

// ReduceLROnPlateau has waited some epochs when the run is saved: what it knows belongs to the run.
TEST(Model, CallbacksGoOnWhereTheyWere) {
  Folder folder;
  auto plateau = [] {
    return std::make_shared<ReduceLROnPlateau>(ReduceLROnPlateau::Options{
        .monitor = "loss", .factor = 0.5, .min_delta = 1, .patience = 3});
  };
  auto history = std::make_shared<History>(), resumed = std::make_shared<History>();
  Example whole;
  whole.model->train(8, whole.dataset, {plateau(), history});
  Example first, second;
  auto save =
      std::make_shared<ModelCheckpoint>("run", folder.path, CheckpointConfig{.every_steps = 5});
  auto stop = std::make_shared<LambdaCallback>(std::map<Moment, std::function<void(RunContext&)>>{
      {Moment::kTrainEpochBegin, [](RunContext& r) {
         if (r.epoch == 6) r.request_stop();
       }}});
  first.model->train(8, first.dataset, {save, plateau(), std::make_shared<History>(), stop});
  second.model->resume(folder.file("run-5_5.ckpt"));
  second.model->train(8, second.dataset, {resumed, plateau()});
  EXPECT_EQ(second.weights(), whole.weights());
  EXPECT_LT(learning_rate(*second.optimizer), 0.05 * 0.9);
  EXPECT_EQ(resumed->epochs(), history->epochs());
  EXPECT_EQ(resumed->values(), history->values());
}

TEST(Checkpoint, UnmatchedEntriesAreErrorsUnlessAskedFor) {
  Example s;
  Loaded file;
  file.file = "a.ckpt";
  file.tensors = {{"weight", Tensor::zeros(DType::kFloat32, {1, 2})},
                  {"other", Tensor::zeros(DType::kFloat32, {1})}};
  auto parameters = s.network->parameters();
  std::string text = message_of([&] { load_parameters(parameters, file); });
  EXPECT_NE(text.find("a.ckpt: there is no entry for parameters bias"), std::string::npos) << text;
  EXPECT_NE(text.find("other"), std::string::npos) << text;
  EXPECT_EQ(load_parameters(parameters, file, {.partial = true}), std::vector<std::string>{"bias"});
}

TEST(Checkpoint, WrongShapeNamesFileEntryAndShapes) {
  Example s;
  Loaded file;
  file.file = "a.ckpt";
  file.tensors = {{"weight", Tensor::zeros(DType::kFloat32, {3, 2})},
                  {"bias", Tensor::zeros(DType::kFloat32, {1})}};
  EXPECT_EQ(message_of([&] { load_parameters(s.network->parameters(), file); }),
            "a.ckpt: entry 'weight' has shape (3, 2); parameter 'weight' has shape (1, 2)");
}

TEST(Checkpoint, TruncatedFileIsRefused) {
  Example s;
  Folder folder;
  std::string path = folder.file("t.ckpt");
  s.model->save(path);
  fs::resize_file(path, fs::file_size(path) - 3);
  EXPECT_NE(message_of([&] { load_checkpoint(path); }).find("t.ckpt"), std::string::npos);
}

}  // namespace
}  // namespace mycel::train
