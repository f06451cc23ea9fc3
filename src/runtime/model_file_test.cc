#include "runtime/model_file.h"

#include <cstring>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.h"
#include "mycel/ops.h"
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

TEST_F(ModelFile, ComputesTheSameBitsAsTheCompiledFunction) {
  save();
  Model m = Model::load(path_);
  EXPECT_EQ(m.input_names(), std::vector<std::string>{"x"});
  ASSERT_EQ(m.weights().size(), 2u);
  EXPECT_EQ(m.weights()[0].first, "weight");
  EXPECT_EQ(m.weights()[1].first, "bias");
  const Tensor x[] = {x_};
  Tensors got = m(x), want = Jit(function())(x);
  ASSERT_EQ(got.size(), 2u);
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].bytes(), want[i].bytes());
    EXPECT_EQ(std::memcmp(got[i].raw(), want[i].raw(), got[i].bytes()), 0);
  }
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
  EXPECT_NE(load_error().find(path_), std::string::npos);
  std::ofstream(path_) << "nonsense, but long enough to hold a length";
  EXPECT_NE(load_error().find(path_), std::string::npos);
  save_safetensors(path_, {{{"w", w_}}, {}});
  EXPECT_NE(load_error().find("'" + path_ + "': this file holds tensors but no network"),
            std::string::npos);
  save_safetensors(path_, {{}, {{"mycel.model", "999"}}});
  EXPECT_NE(load_error().find("written in layout 999"), std::string::npos);
  save_safetensors(
      path_, {{}, {{"mycel.model", "1"}, {"mycel.inputs", "0"}, {"mycel.graph", "graph main("}}});
  EXPECT_NE(load_error().find("'" + path_ + "': graph text, line 1"), std::string::npos);
  save_safetensors(path_, {{}, {{"mycel.model", "1"}, {"mycel.inputs", "-1"}}});
  EXPECT_NE(load_error().find("'mycel.inputs' is no number"), std::string::npos);
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
