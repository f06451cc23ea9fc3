// ONNX models through the public header: values against the formula, weights as arguments,
// gradients, and damaged bytes.
#include "interop/onnx.h"

#include <cstdio>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "base/error.h"
#include "ir/op.h"
#include "runtime/transforms.h"
#include "test_paths.h"

namespace mycel::interop {
namespace {

std::string model_bytes(const std::string& name = "two_layers") {
  std::ifstream file(MYCEL_SOURCE_DIR "/tests/data/" + name + ".onnx", std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Tensor counting(const Shape& shape) {
  Tensor t = Tensor::empty(DType::kFloat32, shape);
  for (int64_t i = 0; i < t.size(); ++i)
    set_element(t.mutable_raw(), DType::kFloat32, i, 0.25 * static_cast<double>(i) - 1);
  return t;
}

// relu(x @ w1 + b1) @ w2
std::vector<double> by_hand(const Tensor& x, std::span<const Tensor> w) {
  std::vector<double> out;
  auto at = [](const Tensor& t, int64_t i) { return element_as_double(t.raw(), t.dtype(), i); };
  for (int64_t n = 0; n < x.dim(0); ++n) {
    for (int64_t o = 0; o < w[2].dim(1); ++o) {
      double sum = 0;
      for (int64_t h = 0; h < w[1].size(); ++h) {
        double v = at(w[1], h);
        for (int64_t i = 0; i < x.dim(1); ++i) v += at(x, n * 3 + i) * at(w[0], i * 4 + h);
        sum += std::max(v, 0.0) * at(w[2], h * 2 + o);
      }
      out.push_back(sum);
    }
  }
  return out;
}

Tensors weights_of(const OnnxModel& m) {
  Tensors out;
  for (const auto& [name, tensor] : m.weights()) out.push_back(tensor);
  return out;
}

TEST(Onnx, RunsAndEvaluatesAsTheFormula) {
  auto model = parse_onnx(model_bytes());
  ASSERT_EQ(model->inputs().size(), 1u);
  EXPECT_EQ(model->inputs()[0].type, "float32[batch, 3]");
  for (int64_t batch : {1, 4}) {
    OnnxValues in{counting(Shape{batch, 3})};
    std::vector<double> want = by_hand(in[0].tensor, weights_of(*model));
    for (const OnnxValues& out : {model->run(in), model->evaluate(in)}) {
      ASSERT_EQ(out[0].tensor.size(), static_cast<int64_t>(want.size()));
      for (size_t i = 0; i < want.size(); ++i)
        EXPECT_NEAR(out[0].tensor.data<float>()[i], want[i], 1e-5);
    }
  }
  EXPECT_EQ(model->how(), "compiled");
}

TEST(Onnx, WeightsMayBeGivenAndDifferentiated) {
  auto model = parse_onnx(model_bytes());
  Tensors w = weights_of(*model);
  Tensor x = counting(Shape{2, 3});
  runtime::Fn f = [&](std::span<const Tensor> weights) {
    return Tensors{model->evaluate(OnnxValues{x}, weights)[0].tensor};
  };
  runtime::GradOptions options;
  options.wrt = {2};
  Tensor slope = runtime::value_and_grad(f, w, options).inputs[0];
  const double step = 1e-2;
  for (int64_t i = 0; i < w[2].size(); ++i) {
    double sums[2];
    for (int side : {0, 1}) {
      Tensor moved = Tensor::empty(DType::kFloat32, w[2].shape());
      for (int64_t k = 0; k < moved.size(); ++k)
        moved.mutable_data<float>()[k] = w[2].data<float>()[k];
      moved.mutable_data<float>()[i] += static_cast<float>(side ? step : -step);
      std::vector<double> y = by_hand(x, Tensors{w[0], w[1], moved});
      sums[side] = y[0] + y[1] + y[2] + y[3];
    }
    EXPECT_NEAR(slope.data<float>()[i], (sums[1] - sums[0]) / (2 * step), 1e-3);
  }
}

TEST(Onnx, WhatIsWrittenReadsBackTheSame) {
  auto model = parse_onnx(model_bytes());
  runtime::Fn f = [&](std::span<const Tensor> x) {
    return Tensors{model->evaluate(OnnxValues{x[0]}, weights_of(*model))[0].tensor};
  };
  Tensor x = counting(Shape{2, 3});
  std::string path = testing::TempDir() + "/written.onnx";
  save_onnx(path, runtime::trace_model(f, Tensors{x}, model->weights()));
  auto again = load_onnx(path);
  ASSERT_EQ(again->weights().size(), 3u);
  EXPECT_EQ(again->weights()[0].first, "w1");
  std::vector<double> want = by_hand(x, weights_of(*model));
  OnnxValues out = again->run(OnnxValues{x});
  for (size_t i = 0; i < want.size(); ++i)
    EXPECT_NEAR(out[0].tensor.data<float>()[i], want[i], 1e-5);
  std::remove(path.c_str());
}

// "= Reciprocal(Sqrt(input))": every name is an op of ONNX, an operand or an attribute.
TEST(Onnx, LinesOfRecordsNameTheirOperands) {
  ir::ensure_ops();
  int seen = 0;
  for (const ir::Op* op : ir::all_ops()) {
    std::string line = op->def.onnx;
    if (!line.starts_with("=")) continue;
    ++seen;
    const std::regex word("[A-Za-z_][A-Za-z_0-9]*(\\(?)");
    for (std::sregex_iterator it(line.begin(), line.end(), word), end; it != end; ++it) {
      std::string name = it->str();
      if (name == "int" || name.ends_with("(")) continue;
      bool known = op->attr_index(name) >= 0;
      for (const ir::InputSpec& in : op->inputs) known = known || in.name == name;
      EXPECT_TRUE(known) << op->name << ": " << line << ": " << name;
    }
  }
  EXPECT_GT(seen, 30);
}

TEST(Onnx, EveryCutAndEveryChangedByteEndsInAnErrorOrAModel) {
  for (const char* name : {"two_layers", "every_part"}) {
    std::string whole = model_bytes(name);
    ASSERT_FALSE(whole.empty());
    OnnxValues in{counting(name[0] == 't' ? Shape{2, 3} : Shape{2})};
    int refused = 0;
    auto look = [&](const std::string& bytes) {
      try {
        auto model = parse_onnx(bytes);
        model->run(in);
      } catch (const UserError& e) {
        EXPECT_FALSE(e.message().empty());
        ++refused;
      }
    };
    for (size_t n = 0; n < whole.size(); ++n) look(whole.substr(0, n));
    EXPECT_GT(refused, static_cast<int>(whole.size()) * 9 / 10);
    for (size_t i = 0; i < whole.size(); ++i) {
      for (int bit : {0, 3, 7}) {
        std::string changed = whole;
        changed[i] = static_cast<char>(changed[i] ^ (1 << bit));
        look(changed);
      }
    }
  }
}

TEST(Onnx, ManyEmptyMessagesAreRefusedBeforeTheyTakeMemory) {
  std::string graph;  // nodes of two bytes each
  for (int i = 0; i < 2'000'000; ++i) graph += std::string("\x0a\x00", 2);
  std::string file("\x3a", 1);
  for (size_t n = graph.size(); n; n >>= 7)
    file += static_cast<char>((n & 0x7f) | (n >> 7 ? 0x80 : 0));
  EXPECT_THROW(
      {
        try {
          parse_onnx(file + graph);
        } catch (const UserError& e) {
          EXPECT_NE(e.message().find("in memory"), std::string::npos);
          throw;
        }
      },
      UserError);
}

}  // namespace
}  // namespace mycel::interop
