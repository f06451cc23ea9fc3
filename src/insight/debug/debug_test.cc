#include <cmath>
#include <filesystem>
#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/error.h"
#include "data/operators.h"
#include "insight/debug/debugger.h"
#include "insight/debug/desk.h"
#include "nn/layer.h"
#include "train/model.h"

namespace mycel::insight::debug {
namespace {

using Json = nlohmann::ordered_json;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

Tensor floats(std::vector<float> v) {
  const auto n = static_cast<int64_t>(v.size());
  return Tensor::from(v, {n});
}

TEST(Statistics, AreThoseOfTheFormulas) {
  const Statistics s = statistics_of(floats({1, -2, 0, 4, kNan, kInf, -kInf, 0}));
  EXPECT_EQ(s.count, 8);
  EXPECT_EQ(s.nan, 1);
  EXPECT_EQ(s.positive_inf, 1);
  EXPECT_EQ(s.negative_inf, 1);
  EXPECT_EQ(s.zero, 2);
  EXPECT_EQ(s.negative, 2);  // -2 and -inf
  EXPECT_EQ(s.min, -2);
  EXPECT_EQ(s.max, 4);
  EXPECT_DOUBLE_EQ(s.mean, 3.0 / 5);
  EXPECT_DOUBLE_EQ(s.abs_mean, 7.0 / 5);
  EXPECT_DOUBLE_EQ(s.l2, std::sqrt(21.0));
  EXPECT_NEAR(s.deviation, std::sqrt(21.0 / 5 - 0.36), 1e-12);
  EXPECT_EQ(statistics_of(floats({kNan})).max, 0);
  EXPECT_EQ(statistics_of(Tensor::zeros(DType::kFloat32, {0})).count, 0);
  EXPECT_EQ(statistics_of(Tensor::full(DType::kBFloat16, {3}, -1.5)).mean, -1.5);
  EXPECT_EQ(statistics_of(Tensor::full(DType::kInt8, {3}, -5)).l2, std::sqrt(75.0));
}

TEST(Statistics, ChangesAndQuantiles) {
  const Tensor a = floats({1, 2, 3, kNan}), b = floats({1, 1, 5, kNan});
  const Change c = change_of(a, b);
  EXPECT_EQ(c.count, 3);
  EXPECT_DOUBLE_EQ(c.abs_mean, 1);
  EXPECT_DOUBLE_EQ(c.before_mean, 7.0 / 3);
  EXPECT_EQ(c.max, 2);
  EXPECT_EQ(changed_elements(a, b, 0, 0), 2);
  EXPECT_EQ(changed_elements(a, b, 0, 1), 1);
  EXPECT_EQ(changed_elements(a, floats({1}), 0, 0), -1);
  EXPECT_EQ(quantiles_of(floats({5, 1, 3, kInf}), {0, 0.5, 0.75, 1}),
            (std::vector<double>{1, 3, 4, 5}));
  EXPECT_DOUBLE_EQ(percent_inside(floats({0, 1, 2, kNan}), 0, 1), 50);
}

TEST(Watchpoints, NamesScopesAndParameters) {
  Entry e;
  e.name = "Net/block/fc1/matmul-0";
  for (const char* p : {"Net", "Net/block", "*", "*fc1*", "Net/*/fc?", "Net/block/fc1/matmul-0"})
    EXPECT_TRUE(matches(p, e)) << p;
  for (const char* p : {"", "Ne", "block", "fc1", "Net/block/fc1/matmul", "?"})
    EXPECT_FALSE(matches(p, e)) << p;
  e.role = Role::kGradient;
  e.name = "ParameterGradients/block.fc1.weight";
  for (const char* p : {"block.fc1.weight", "block", "block.*", "ParameterGradients"})
    EXPECT_TRUE(matches(p, e)) << p;
  EXPECT_FALSE(matches("weight", e));
  // No pattern takes long.
  e.name = std::string(2000, 'a');
  std::string stars;
  for (int i = 0; i < 300; ++i) stars += "*a";
  EXPECT_FALSE(matches(stars + "b", e));
}

TEST(Watchpoints, ParametersAreThoseOfTheRecord) {
  const ConditionRecord& c = condition_named("tensor_too_large");
  EXPECT_EQ(complete(c, {}), (Given{{"abs_mean_gt", 1e3}}));
  // A test that is named is the only one.
  EXPECT_EQ(complete(c, {{"max_gt", 5}}), (Given{{"max_gt", 5}}));
  EXPECT_THROW(complete(c, {{"max", 5}}), UserError);
  EXPECT_THROW(complete(c, {{"max_gt", kInf}}), UserError);
  EXPECT_THROW(complete(condition_named("tensor_general"), {}), UserError);
  EXPECT_THROW(condition_named("tensor_large"), UserError);
  EXPECT_GE(conditions().size(), 22u);
  // A tensor of NaN alone is neither large nor small.
  for (const char* name : {"tensor_too_large", "tensor_too_small", "gradient_vanishing"}) {
    Facts facts(floats({kNan, kInf}), {}, true, true);
    EXPECT_TRUE(check(condition_named(name), complete(condition_named(name), {}), facts).empty());
  }
}

TEST(Debugger, SeesARunOfCpp) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("mycel_debugger_test." + std::to_string(getpid()));
  std::vector<float> x(32 * 3), y(32);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7) / 7;
  x[40] = kNan;
  auto rows =
      data::tensor_dataset({{"x", Tensor::from(x, {32, 3})}, {"y", Tensor::from(y, {32, 1})}});
  auto network = nn::CellPtr(nn::make("Dense", {3, 1}));
  auto optimizer =
      nn::make_optimizer("SGD", network->trainable_params(), {}, {{"learning_rate", 0.1}});
  train::Model model(network, nn::CellPtr(nn::make("MSELoss")), optimizer);
  SessionOptions options;
  options.folder = folder.string();
  options.online = false;
  options.dump.on = true;
  options.watchpoints = {{.condition = "weight_overflow"}, {.condition = "loss_overflow"}};
  auto debugger = std::make_shared<Debugger>(options);
  model.train(1, data::batch(rows, 8), {debugger});
  std::map<std::string, int64_t> first;
  for (const Hit& h : debugger->session()->hits()) first.try_emplace(h.condition, h.step);
  EXPECT_EQ(first, (std::map<std::string, int64_t>{{"loss_overflow", 2}, {"weight_overflow", 2}}));
  EXPECT_FALSE(runtime::tap::attached);
  EXPECT_FALSE(runtime::tap::on);

  auto shelf = DumpShelf::open(folder.string(), "debug/dump");
  ASSERT_TRUE(shelf);
  EXPECT_EQ(shelf->steps(), (std::vector<int64_t>{1, 2, 3, 4}));
  bool dense = false;
  for (const Entry& e : shelf->entries(1)) dense |= e.scope.find("Dense") != e.scope.npos;
  EXPECT_TRUE(dense);
  auto gradient = shelf->find(1, "ParameterGradients/weight");
  ASSERT_TRUE(gradient && gradient->value);
  EXPECT_EQ(gradient->shape, (Shape{1, 3}));
  const Json tensor = answer_of(
      *shelf, {{"ask", "tensor"}, {"step", 2}, {"name", "Parameters/weight"}, {"slice", "0,:"}});
  EXPECT_EQ(tensor["statistics"]["nan"], 3);
  EXPECT_EQ(tensor["before"]["step"], 1);
  EXPECT_EQ(tensor["window"]["values"][0][0], "nan");
  for (const Json& wrong :
       {Json::object(), Json(3), Json{{"ask", "x"}}, Json{{"ask", "tree"}, {"step", 9}},
        Json{{"ask", "tensor"}, {"name", "no"}},
        Json{{"ask", "tensor"}, {"name", "Loss"}, {"slice", "0"}},
        Json{{"ask", "check"}, {"watchpoints", 1}}})
    EXPECT_THROW(answer_of(*shelf, wrong), UserError) << wrong.dump();
  EXPECT_EQ(DumpShelf::open(folder.string(), "../" + folder.filename().string()), nullptr);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace mycel::insight::debug
