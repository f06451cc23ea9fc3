#include "insight/collector.h"

#include <filesystem>

#include <gtest/gtest.h>
#include <unistd.h>

#include "data/operators.h"
#include "insight/index.h"
#include "nn/layer.h"
#include "train/model.h"

namespace mycel::insight {
namespace {

TEST(Collector, RecordsARunOfCpp) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("mycel_collector_test." + std::to_string(getpid()));
  std::vector<float> x(64 * 3), y(64);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7) / 7;
  for (size_t i = 0; i < y.size(); ++i) y[i] = x[3 * i] - x[3 * i + 1];
  auto rows =
      data::tensor_dataset({{"x", Tensor::from(x, {64, 3})}, {"y", Tensor::from(y, {64, 1})}});
  auto batches = data::batch(rows, 8);
  auto network = nn::CellPtr(nn::make("Dense", {3, 1}));
  auto optimizer =
      nn::make_optimizer("SGD", network->trainable_params(), {}, {{"learning_rate", 0.1}});
  train::Model model(network, nn::CellPtr(nn::make("MSELoss")), optimizer);
  std::vector<double> losses;
  auto seen = std::make_shared<train::LambdaCallback>(
      std::map<train::Moment, std::function<void(train::RunContext&)>>{
          {train::Moment::kTrainStepEnd,
           [&](train::RunContext& run) { losses.push_back(run.loss()); }}});
  Collector::Options options;
  options.every = 2;
  options.facts = {{"who", std::string("me")}};
  options.pipeline = batches;
  auto collector = std::make_shared<Collector>((folder / "runs").string(), options);
  model.train(2, batches, {collector, seen});
  EXPECT_EQ(collector->recorder(), nullptr);

  auto index = open_index((folder / "runs").string(), {(folder / "index").string()});
  index->update();
  const auto points = index->curve(index->find(1, Kind::kScalar, "loss/auto").id, {});
  ASSERT_EQ(points.size(), 9u);  // steps 1, 2, 4, …, 16
  for (const CurvePoint& p : points)
    EXPECT_NEAR(p.mean, losses[static_cast<size_t>(p.step - 1)], 1e-6 * p.mean);
  EXPECT_EQ(index->find(1, Kind::kHistogram, "weight/auto").count, 9);
  EXPECT_GE(index->find(1, Kind::kRecord, "dataset_graph/train").count, 1);
  index->read(index->item(index->find(1, Kind::kRecord, "dataset_graph/train").id,
                          index->find(1, Kind::kRecord, "dataset_graph/train").count - 1),
              [](const Recorded& r) {
                EXPECT_NE(std::string(r.content).find("\"made\":16"), std::string::npos);
              });
  std::map<std::string, HParam> facts;
  for (const Fact& f : index->facts()) facts[f.key] = f.value;
  EXPECT_EQ(facts["who"], HParam(std::string("me")));
  EXPECT_EQ(facts["state"], HParam(std::string("ended")));
  EXPECT_EQ(facts["parameters"], HParam(4.0));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace mycel::insight
