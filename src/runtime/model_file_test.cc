#include "runtime/model_file.h"

#include <cstring>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.h"
#include "ir/graph_file.h"
#include "ir/text.h"
#include "mycel/ops.h"
#include "runtime/control.h"
#include "runtime/jit.h"
#include "runtime/random_state.h"
#include "tensor/safetensors.h"

namespace mycel::runtime {
namespace {

namespace fs = std::filesystem;

Tensor sequence(const Shape& s, float from, float step) {
  std::vector<float> v(s.size());
  for (size_t i = 0; i < v.size(); ++i) v[i] = from + step * static_cast<float>(i % 17);
  return Tensor::from(v, s);
}

class ModelFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "mycel_model_XXXXXX";
    folder_ = mkdtemp(name.data());
    path_ = folder_ + "/net.mindir";
  }
  void TearDown() override { fs::remove_all(folder_); }

  Tensors forward(std::span<const Tensor> x) const {
    return {ops::tanh(ops::add(ops::matmul(x[0], w_), b_)), ops::reduce_sum(x[0])};
  }
  Fn function() const {
    return [this](std::span<const Tensor> x) { return forward(x); };
  }
  void save() const {
    const Tensor x[] = {x_};
    save_model(path_, trace_model(function(), x, {{"weight", w_}, {"bias", b_}}, {"x"}));
  }
  std::string load_error() const {
    try {
      Model::load(path_);
      return "";
    } catch (const UserError& e) {
      return e.what();
    }
  }

  Tensor w_ = sequence({5, 3}, -0.5f, 0.07f), b_ = sequence({3}, 0.1f, 0.2f),
         x_ = sequence({2, 5}, -1, 0.3f);
  std::string folder_, path_;
};

void expect_same_bits(const Tensors& got, const Tensors& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].describe(), want[i].describe());
    EXPECT_EQ(std::memcmp(got[i].raw(), want[i].raw(), got[i].bytes()), 0) << "result " << i;
  }
}

TEST_F(ModelFile, ComputesTheSameBitsAsTheCompiledFunction) {
  save();
  Model m = Model::load(path_);
  EXPECT_EQ(m.input_names(), std::vector<std::string>{"x"});
  ASSERT_EQ(m.weights().size(), 2u);
  EXPECT_EQ(m.weights()[0].first, "weight");
  EXPECT_EQ(m.weights()[1].first, "bias");
  const Tensor x[] = {x_};
  expect_same_bits(m(x), Jit(function())(x));
}

TEST_F(ModelFile, RefusesOtherInputs) {
  save();
  Model m = Model::load(path_);
  EXPECT_THROW(m({}), UserError);
  const Tensor other[] = {sequence({3, 5}, 0, 1)};
  try {
    m(other);
    FAIL();
  } catch (const UserError& e) {
    EXPECT_EQ(e.message(),
              "'" + path_ + "': input 'x' is float32(3, 5); it was exported for float32[2, 5]");
  }
}

TEST_F(ModelFile, NamesTheFileThatIsNoModel) {
  EXPECT_NE(load_error().find("cannot read '" + path_ + "'"), std::string::npos);
  std::ofstream(path_) << "";
  EXPECT_NE(load_error().find("'" + path_ + "': this is no exported network"), std::string::npos);
  std::ofstream(path_) << "nonsense, but long enough to hold a length";
  EXPECT_NE(load_error().find("'" + path_ + "': this is no exported network"), std::string::npos);
  save_safetensors(path_, {{{"w", w_}}, {}});
  EXPECT_NE(load_error().find("'" + path_ + "': this is no exported network"), std::string::npos);
  save();
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(8) << char(99);
  file.close();
  EXPECT_NE(load_error().find("'" + path_ +
                              "': written in version 99 of the format; this Mycel "
                              "reads up to 2"),
            std::string::npos)
      << load_error();
}

TEST_F(ModelFile, EveryChangedByteIsAnError) {
  save();
  std::string good;
  {
    std::ifstream in(path_, std::ios::binary);
    good.assign(std::istreambuf_iterator<char>(in), {});
  }
  for (size_t i = 0; i < good.size(); ++i) {
    Tensor bytes = Tensor::empty(DType::kUInt8, {static_cast<int64_t>(good.size())});
    auto* at = static_cast<char*>(bytes.mutable_raw());
    std::memcpy(at, good.data(), good.size());
    at[i] = static_cast<char>(at[i] ^ (1 << (i % 8)));
    std::span<std::byte> all(reinterpret_cast<std::byte*>(at), good.size());
    EXPECT_THROW(ir::decode_graph_file(all, bytes.impl()), UserError) << "byte " << i;
  }
}

TEST_F(ModelFile, WeightsAreTheFileItself) {
  save();
  Model m = Model::load(path_);
  for (const auto& [name, tensor] : m.weights()) {
    EXPECT_TRUE(tensor.impl()->storage->foreign()) << name;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.raw()) % 64, 0u) << name;
  }
  // The model outlives its file and a replaced file.
  Tensors before = m(std::vector<Tensor>{x_});
  save_model(path_, trace_model([](auto x) { return Tensors{x[0]}; }, std::vector<Tensor>{x_}));
  fs::remove(path_);
  expect_same_bits(m(std::vector<Tensor>{x_}), before);
}

// Sums x while the sum is below 10, and takes a branch: control flow, captured tensors, constants.
Tensors with_control_flow(std::span<const Tensor> x) {
  Tensor limit = Tensor::scalar(DType::kFloat32, 10.0), zero = Tensor::scalar(DType::kFloat32, 0.0);
  Tensors s = while_loop([&](std::span<const Tensor> c) { return Tensors{ops::less(c[0], limit)}; },
                         [&](std::span<const Tensor> c) {
                           return Tensors{ops::add(c[0], ops::reduce_sum(ops::mul(c[1], c[1]))),
                                          ops::mul(c[1], Tensor::scalar(DType::kFloat32, 1.5))};
                         },
                         std::vector<Tensor>{zero, x[0]});
  Tensors y = cond(
      ops::greater(ops::reduce_sum(x[0]), zero),
      [&](std::span<const Tensor> v) { return Tensors{ops::exp(v[0])}; },
      [&](std::span<const Tensor> v) { return Tensors{ops::neg(v[0])}; },
      std::vector<Tensor>{x[0]});
  return {s[0], s[1], y[0]};
}

TEST_F(ModelFile, KeepsControlFlow) {
  save_model(path_, trace_model(with_control_flow, std::vector<Tensor>{x_}));
  Model m = Model::load(path_);
  EXPECT_NE(m.graph().str().find("while_loop"), std::string::npos);
  EXPECT_NE(m.graph().str().find("cond"), std::string::npos);
  for (float from : {-1.0f, 0.5f}) {
    Tensor x[] = {sequence({2, 5}, from, 0.1f)};
    expect_same_bits(m(x), with_control_flow(x));
  }
}

TEST_F(ModelFile, UnknownDimsTakeAnyExtent) {
  const Tensor x[] = {Tensor::abstract(DType::kFloat32, {kUnknownDim, 5})};
  save_model(path_, trace_model(function(), x, {{"weight", w_}, {"bias", b_}}, {"x"}));
  Model m = Model::load(path_);
  EXPECT_EQ(m.input_types()[0].str(), "float32[?, 5]");
  for (int64_t n : {1, 7, 64, 7}) {
    const Tensor in[] = {sequence({n, 5}, -0.7f, 0.01f)};
    expect_same_bits(m(in), Jit(function())(in));
  }
  EXPECT_EQ(m.plans(), 3u);
  const Tensor narrow[] = {sequence({3, 4}, 0, 1)};
  EXPECT_THROW(m(narrow), UserError);
}

TEST_F(ModelFile, UnknownDimsInControlFlow) {
  const Tensor x[] = {Tensor::abstract(DType::kFloat32, {kUnknownDim, kUnknownDim})};
  save_model(path_, trace_model(with_control_flow, x));
  Model m = Model::load(path_);
  for (int64_t n : {2, 3}) {
    const Tensor in[] = {sequence({n, n + 1}, 0.3f, 0.1f)};
    expect_same_bits(m(in), with_control_flow(in));
  }
}

TEST_F(ModelFile, KeepsFunctionsThatCallThemselves) {
  auto g = ir::parse(
      "graph main(%0: int32[] \"n\") {\n  %1 = call(%0) {function=@sum} : int32[]\n"
      "  return %1\n}\n"
      "@sum(int32[]) -> int32[] = graph sum(%0: int32[]) {\n"
      "  %1 = fill_constant() {value=0.0, shape=[], dtype=int32} : int32[]\n"
      "  %2 = greater(%0, %1) : bool[]\n"
      "  %3 = cond(%2, %0) {then=graph then(%0: int32[]) {\n"
      "    %1 = fill_constant() {value=1.0, shape=[], dtype=int32} : int32[]\n"
      "    %2 = sub(%0, %1) : int32[]\n"
      "    %3 = call(%2) {function=@sum} : int32[]\n"
      "    %4 = add(%0, %3) : int32[]\n"
      "    return %4\n"
      "  }, otherwise=graph otherwise(%0: int32[]) {\n    return %0\n  }} : int32[]\n"
      "  return %3\n}\n");
  ir::write_graph_file(path_, {g, 1, {}, {}});
  EXPECT_EQ(ir::read_graph_file(path_).graph->str(), g->str());
}

TEST_F(ModelFile, AttributesOfEveryKindSurvive) {
  // A host function cannot be kept; everything else is.
  auto g = ir::parse(
      "graph main(%0: float32[2, 3] \"x\", %1: stack<int32[?]> \"odd\\\"name\\n\") {\n"
      "  %2 = constant() {value=tensor float32[2] \"0000803f0000c07f\"} : float32[2] "
      "@\"net.py:3 in f\"\n"
      "  %3 = reduce_sum(%0) {axis=[1]} : float32[2]\n"
      "  %4 = cast(%2) {dtype=bfloat16} : bfloat16[2]\n"
      "  return %3, %4, %1\n}\n");
  ir::write_graph_file(path_, {g, 2, {}, {}});
  ir::GraphFile back = ir::read_graph_file(path_);
  EXPECT_EQ(back.graph->str(), g->str());
  EXPECT_TRUE(back.producer.starts_with("mycel "));
  auto callback = std::make_shared<const ir::Callback>(
      [](std::span<const Tensor> t) { return Tensors(t.begin(), t.end()); });
  auto h = std::make_shared<ir::Graph>();
  h->add(ir::op_named("callback"), {h->add_param({DType::kFloat32, {2}})},
         {ir::Attr(callback), ir::Attr(ir::Attr::Ints{0})});
  try {
    ir::write_graph_file(path_, {h, 1, {}, {}});
    FAIL();
  } catch (const UserError& e) {
    EXPECT_NE(e.message().find("callback: attribute 'function'"), std::string::npos) << e.what();
  }
}

TEST_F(ModelFile, EveryTruncationIsAnError) {
  save();
  for (uintmax_t n = fs::file_size(path_); n > 0;) {
    n -= std::min<uintmax_t>(n, 7);
    fs::resize_file(path_, n);
    EXPECT_NE(load_error(), "") << n << " bytes";
  }
}

TEST_F(ModelFile, RandomNetworksAreNotExported) {
  const Tensor x[] = {x_};
  auto draws = [](std::span<const Tensor> in) -> Tensors { return {in[0], next_key()}; };
  EXPECT_THROW(trace_model(draws, x), UserError);
}

}  // namespace
}  // namespace mycel::runtime
