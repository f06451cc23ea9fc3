// Cells, layer records and training from C++.
#include <gtest/gtest.h>

#include "mycel/ops.h"
#include "nn/arith.h"
#include "nn/layer.h"
#include "nn/optimizer.h"
#include "nn/train_step.h"
#include "runtime/random_state.h"

namespace mycel::nn {
namespace {

Tensor sequence(const Shape& s, float from = -1, float step = 0.1f) {
  std::vector<float> v(s.size());
  for (size_t i = 0; i < v.size(); ++i) v[i] = from + step * static_cast<float>(i % 29);
  return Tensor::from(v, s);
}

struct Net : Cell {
  CellPtr conv =
      add("conv", make("Conv2d", {1, 4, 3}, {{"pad_mode", "valid"}, {"has_bias", true}}));
  CellPtr act = add("act", make("ReLU"));
  CellPtr head = add("head", make("Dense", {4, 3}));
  Tensors construct(Inputs x) override {
    return {head(ops::reduce_mean(act(conv(x[0])), ir::Attr(ir::Attr::Ints{2, 3})))};
  }
};

TEST(Cell, NamesParametersByPath) {
  Net net;
  std::vector<std::string> names, carried;
  for (const auto& [name, p] : net.parameters_and_names()) {
    names.push_back(name);
    carried.push_back(p->name);
  }
  std::vector<std::string> want = {"conv.weight", "conv.bias", "head.weight", "head.bias"};
  EXPECT_EQ(names, want);
  EXPECT_EQ(carried, want);
  EXPECT_EQ(net.parameter("conv.weight")->value.shape(), (Shape{4, 1, 3, 3}));
  net.freeze();
  EXPECT_TRUE(net.trainable_params().empty());
  EXPECT_EQ(net.untrainable_params().size(), 4u);
}

TEST(Cell, ToFloatComputesInAnotherType) {
  Net net;
  net.to_float(DType::kFloat16);
  EXPECT_EQ(net(sequence({2, 1, 8, 8})).dtype(), DType::kFloat16);
  EXPECT_EQ(net.parameter("conv.weight")->value.dtype(), DType::kFloat32);
  CellPtr norm = make("BatchNorm2d", {4});
  norm->to_float(DType::kFloat16);
  norm->set_train();
  EXPECT_EQ(norm(sequence({2, 4, 3, 3})).dtype(), DType::kFloat16);
  EXPECT_EQ(norm->parameter("moving_mean")->value.dtype(), DType::kFloat32);
}

TEST(Cell, ErrorsCarryTheLayerPath) {
  Net net;
  try {
    net(sequence({2, 3, 8, 8}));
    FAIL();
  } catch (const UserError& e) {
    EXPECT_EQ(e.message().find("In Net.conv (Conv2d): "), 0u) << e.message();
  }
}

TEST(Cell, SharedParametersAppearOnce) {
  auto dense = make("Dense", {3, 3});
  SequentialCell s{CellPtr(dense), CellPtr(dense)};
  EXPECT_EQ(s.parameters().size(), 2u);
}

TEST(Layer, RefusesWhatItCannotDo) {
  EXPECT_THROW(make("Dens", {3, 4}), UserError);
  EXPECT_THROW(make("Dense", {3}), UserError);
  EXPECT_THROW(make("Dense", {3, 0}), UserError);
  EXPECT_THROW(make("Dense", {3, 4}, {{"bias", true}}), UserError);
  EXPECT_THROW(make("Conv2d", {3, 4, 3}, {{"padding", 1}}), UserError);  // needs pad_mode pad
  EXPECT_THROW(make("Conv2d", {3, 4, 3}, {{"group", 2}}), UserError);
  EXPECT_THROW(make("Dropout", {1.5}), UserError);
  try {
    make("Dense", {3, 4}, {{"weigth_init", "ones"}});
    FAIL();
  } catch (const UserError& e) {
    EXPECT_NE(std::string(e.what()).find("Did you mean 'weight_init'?"), std::string::npos)
        << e.what();
  }
}

TEST(Layer, DenseIsAnAffineMap) {
  auto dense =
      make("Dense", {2, 3},
           {{"weight_init", Init(Tensor::from(std::vector<float>{1, 2, 3, 4, 5, 6}, {3, 2}))},
            {"bias_init", 1.0}});
  Tensor y = (*dense)(Tensor::from(std::vector<float>{1, -1}, {1, 2}));
  auto v = y.data<float>();
  EXPECT_FLOAT_EQ(v[0], 0);
  EXPECT_FLOAT_EQ(v[1], 0);
  EXPECT_FLOAT_EQ(v[2], 0);
}

TEST(Layer, BatchNormMovesItsStatisticsOnlyWhileTraining) {
  auto bn = make("BatchNorm2d", {2});
  Tensor x = sequence({3, 2, 4, 4});
  (*bn)(x);
  EXPECT_FLOAT_EQ(bn->value("moving_mean").data<float>()[0], 0);
  bn->set_train();
  Tensor y = (*bn)(x);
  // Mean 0 and variance 1 per channel of the result.
  Tensor mean = ops::reduce_mean(y, ir::Attr(ir::Attr::Ints{0, 2, 3}));
  Tensor square = ops::reduce_mean(ops::square(y), ir::Attr(ir::Attr::Ints{0, 2, 3}));
  for (int c = 0; c < 2; ++c) {
    EXPECT_NEAR(mean.data<float>()[c], 0, 1e-5);
    EXPECT_NEAR(square.data<float>()[c], 1, 1e-3);  // eps 1e-5 beside a variance of about 0.7
  }
  Tensor want = ops::reduce_mean(x, ir::Attr(ir::Attr::Ints{0, 2, 3}));
  EXPECT_NEAR(bn->value("moving_mean").data<float>()[0], 0.1f * want.data<float>()[0], 1e-6);
}

TEST(Layer, StatisticsHoldNoTraceAfterADifferentiatedRun) {
  auto bn = make("BatchNorm1d", {3});
  bn->set_train();
  std::vector<Parameter> params = bn->trainable_params();
  value_and_grads([&](Inputs in) { return bn->run(in); }, params,
                  std::vector<Tensor>{sequence({5, 3})});
  EXPECT_TRUE(bn->value("moving_mean").concrete());
  EXPECT_TRUE(params[0]->value.concrete());
}

TEST(Init, SameSeedSameBits) {
  runtime::set_seed(7);
  Tensor a = Init("normal").make({3, 4}), b = Init("normal").make({3, 4});
  runtime::set_seed(7);
  Tensor c = Init("normal").make({3, 4});
  for (int i = 0; i < 12; ++i) EXPECT_EQ(a.data<float>()[i], c.data<float>()[i]);
  EXPECT_NE(a.data<float>()[0], b.data<float>()[0]);
}

TEST(Init, MomentsAndBounds) {
  runtime::set_seed(1);
  auto moments = [](const Tensor& t) {
    double m = 0, s = 0;
    for (float x : t.data<float>()) m += x, s += x * x;
    m /= static_cast<double>(t.size());
    return std::pair(m, std::sqrt(s / static_cast<double>(t.size()) - m * m));
  };
  Shape shape{200,
              250};  // 50,000 draws: means within 4 deviations / sqrt(n), deviations within 2 %
  auto [m1, s1] = moments(Init::named("Normal", {0.5, 2.0}).make(shape));
  EXPECT_NEAR(m1, 2, 0.01);
  EXPECT_NEAR(s1, 0.5, 0.01);
  Tensor cut = Init::named("TruncatedNormal", {1.0}).make(shape);
  for (float x : cut.data<float>()) ASSERT_LE(std::abs(x), 2.0f);
  EXPECT_NEAR(moments(cut).second, 0.8796, 0.0176);
  double bound = std::sqrt(6.0 / 450);
  Tensor xavier = Init("xavier_uniform").make(shape);
  for (float x : xavier.data<float>()) ASSERT_LE(std::abs(x), static_cast<float>(bound));
  EXPECT_NEAR(moments(xavier).second, bound / std::sqrt(3.0), 0.02 * bound);
  EXPECT_NEAR(moments(Init("he_normal").make(shape)).second, std::sqrt(2.0 / 250),
              0.02 * std::sqrt(2.0 / 250));
}

TEST(Init, OrthogonalRows) {
  Tensor q = Init("orthogonal").make({4, 2, 5});
  auto v = q.data<float>();
  for (int a = 0; a < 4; ++a) {
    for (int b = 0; b < 4; ++b) {
      double dot = 0;
      for (int k = 0; k < 10; ++k) dot += v[a * 10 + k] * v[b * 10 + k];
      EXPECT_NEAR(dot, a == b, 1e-6);
    }
  }
}

// Momentum on a quadratic, by hand: g = w, v = 0.9 v + g, w -= 0.1 v.
TEST(Optimizer, MomentumByHand) {
  Parameter w = make_parameter(Tensor::from(std::vector<float>{1, -2}, {2}), "w");
  auto opt = make_optimizer("Momentum", std::vector<Parameter>{w}, {0.1, 0.9});
  double a = 1, v = 0;
  for (int i = 0; i < 5; ++i) {
    std::vector<Tensor> g{w->value};
    opt->step(g);
    v = 0.9 * v + a;
    a -= 0.1 * v;
    EXPECT_NEAR(w->value.data<float>()[0], a, 1e-6);
  }
  EXPECT_EQ(opt->global_step()->value.item_int(), 5);
  EXPECT_EQ(opt->parameter("moments.w")->value.shape(), (Shape{2}));
}

TEST(Optimizer, ListsOfRatesHoldTheirLast) {
  Parameter w = make_parameter(Tensor::from(std::vector<float>{0}, {1}), "w");
  auto opt = make_optimizer("SGD", std::vector<Parameter>{w}, {ir::Attr::Floats{1.0, 0.5}});
  std::vector<Tensor> g{Tensor::from(std::vector<float>{1}, {1})};
  for (float want : {-1.0f, -1.5f, -2.0f}) {
    opt->step(g);
    EXPECT_FLOAT_EQ(w->value.data<float>()[0], want);
  }
}

TEST(Optimizer, GroupsOrderAndDecay) {
  auto p = [](const char* name) {
    return make_parameter(Tensor::full(DType::kFloat32, {1}, 1), name);
  };
  Parameter a = p("a"), b = p("b");
  ParamGroup ga{{a}}, gb{{b}};
  ga.lr = Arg(0.5);
  gb.weight_decay = Arg(0.1);
  auto opt = make_optimizer("SGD", std::vector<ParamGroup>{ga, gb}, {1.0}, {}, {b, a});
  EXPECT_EQ(opt->params()[0], b);
  std::vector<Tensor> g(2, Tensor::full(DType::kFloat32, {1}, 1));
  opt->step(g);
  EXPECT_FLOAT_EQ(a->value.item(), 0.5);
  EXPECT_NEAR(b->value.item(), 1 - 1.1, 1e-6);
  EXPECT_THROW(make_optimizer("SGD", std::vector<ParamGroup>{ga, ga}, {1.0}), UserError);
}

TEST(Training, ANetworkLearns) {
  runtime::set_seed(3);
  Net net;
  net.set_train();
  auto loss = make("SoftmaxCrossEntropyWithLogits", {true, "mean"});
  struct WithLoss : Cell {
    Cell& net;
    CellPtr loss;
    WithLoss(Cell& n, CellPtr l) : net(n), loss(std::move(l)) {}
    Tensors construct(Inputs x) override { return {loss(net(x[0]), x[1])}; }
  } step(net, loss);
  auto opt = make_optimizer("Adam", net.trainable_params(), {0.05});
  Tensor x = sequence({6, 1, 8, 8});
  Tensor y = Tensor::from(std::vector<int32_t>{0, 1, 2, 0, 1, 2}, {6});
  std::vector<Tensor> batch{x, y};
  double first = train_step(step, *opt, batch)[0].item(), last = first;
  for (int i = 0; i < 200; ++i) last = train_step(step, *opt, batch)[0].item();
  EXPECT_LT(last, 0.1 * first);
}

}  // namespace
}  // namespace mycel::nn
