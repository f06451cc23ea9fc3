// oneDNN's convolutions against loops in double written here, on odd sizes.
#include "backend/cpu/onednn/convolution.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "tensor/tensor.h"

namespace mycel::cpu::onednn {
namespace {

using Pass = Convolution::Pass;
using Ints = std::vector<int64_t>;

int64_t product(const Ints& v) {
  int64_t n = 1;
  for (int64_t x : v) n *= x;
  return n;
}

struct Size {
  const char* name;
  int64_t batch, groups, in_channels, out_channels;
  Ints in, kernel, stride, dilation, pad_begin, pad_end;
};

const Size kSizes[] = {
    {"plain", 2, 1, 3, 5, {7, 9}, {3, 3}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
    {"padded", 1, 1, 16, 32, {13, 11}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {"uneven padding", 2, 1, 4, 6, {9, 6}, {3, 2}, {2, 1}, {1, 1}, {0, 1}, {1, 2}},
    {"dilated", 2, 1, 7, 3, {12, 11}, {3, 3}, {1, 2}, {2, 3}, {2, 3}, {2, 3}},
    {"grouped", 2, 3, 9, 6, {8, 8}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
    {"depthwise", 2, 16, 16, 16, {10, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {"depthwise multiplied", 1, 5, 5, 10, {10, 7}, {5, 3}, {2, 1}, {1, 1}, {2, 1}, {2, 1}},
    {"pointwise", 3, 1, 17, 33, {5, 7}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
    {"pointwise, many channels", 1, 1, 1030, 129, {3, 5}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
    {"leftover rows", 1, 1, 8, 8, {10, 10}, {3, 3}, {4, 3}, {1, 1}, {0, 0}, {0, 0}},
    {"line", 2, 1, 6, 4, {23}, {5}, {2}, {2}, {3}, {1}},
    {"volume", 1, 1, 4, 3, {5, 6, 7}, {3, 2, 3}, {1, 2, 1}, {1, 1, 1}, {1, 0, 1}, {1, 0, 0}},
};

Convolution describe(const Size& s, Pass pass, DType dtype, bool channel_last) {
  Convolution c;
  c.pass = pass;
  c.dtype = dtype;
  c.batch = s.batch, c.groups = s.groups;
  c.in_channels = s.in_channels, c.out_channels = s.out_channels;
  c.in = s.in, c.kernel = s.kernel, c.stride = s.stride, c.dilation = s.dilation;
  c.pad_begin = s.pad_begin, c.pad_end = s.pad_end;
  for (size_t d = 0; d < s.in.size(); ++d) {
    c.out.push_back(
        (s.in[d] + s.pad_begin[d] + s.pad_end[d] - s.dilation[d] * (s.kernel[d] - 1) - 1) /
            s.stride[d] +
        1);
  }
  c.channel_last = channel_last;
  c.x_at = 0, c.w_at = 1, c.y_at = 2, c.bias_at = 3;
  return c;
}

// Visits every index below `extent`.
template <typename F>
void each(const Ints& extent, F f) {
  Ints at(extent.size(), 0);
  for (int64_t i = 0; i < product(extent); ++i) {
    f(at);
    for (size_t d = extent.size(); d-- > 0;) {
      if (++at[d] < extent[d]) break;
      at[d] = 0;
    }
  }
}

int64_t offset(int64_t n, int64_t c, int64_t channels, const Ints& at, const Ints& extent,
               bool channel_last) {
  int64_t inner = 0;
  for (size_t d = 0; d < at.size(); ++d) inner = inner * extent[d] + at[d];
  return channel_last ? (n * product(extent) + inner) * channels + c
                      : (n * channels + c) * product(extent) + inner;
}

// Calls f(x index, w index, y index) for every product of the convolution.
template <typename F>
void each_product(const Convolution& c, F f) {
  int64_t ig = c.in_channels / c.groups, og = c.out_channels / c.groups;
  Ints extent = {c.batch, c.out_channels, ig};
  for (int64_t n : c.out) extent.push_back(n);
  for (int64_t n : c.kernel) extent.push_back(n);
  size_t rank = c.in.size();
  each(extent, [&](const Ints& i) {
    Ints p(i.begin() + 3, i.begin() + 3 + rank), k(i.begin() + 3 + rank, i.end()), q(rank);
    for (size_t d = 0; d < rank; ++d) {
      q[d] = p[d] * c.stride[d] + k[d] * c.dilation[d] - c.pad_begin[d];
      if (q[d] < 0 || q[d] >= c.in[d]) return;
    }
    f(offset(i[0], i[1] / og * ig + i[2], c.in_channels, q, c.in, c.channel_last),
      offset(i[1], i[2], ig, k, c.kernel, false),
      offset(i[0], i[1], c.out_channels, p, c.out, c.channel_last));
  });
}

Tensor random(DType dtype, int64_t n, uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Tensor t = Tensor::empty(dtype, {n});
  for (int64_t i = 0; i < n; ++i) set_element(t.mutable_raw(), dtype, i, uniform(generator));
  return t;
}

std::vector<double> doubles(const Tensor& t) {
  std::vector<double> v(t.size());
  for (size_t i = 0; i < v.size(); ++i) v[i] = element_as_double(t.raw(), t.dtype(), i);
  return v;
}

struct Buffers {
  Tensor x, w, y, bias;
  Buffers(const Convolution& c)
      : x(random(c.dtype, c.batch * c.in_channels * product(c.in), 1)),
        w(random(c.dtype, c.out_channels * (c.in_channels / c.groups) * product(c.kernel), 2)),
        y(random(c.dtype, c.batch * c.out_channels * product(c.out), 3)),
        bias(random(c.dtype, c.out_channels, 4)) {}
  std::vector<void*> buffers() const {
    return {x.mutable_raw(), w.mutable_raw(), y.mutable_raw(), bias.mutable_raw()};
  }
  Tensor& result(Pass p) { return p == Pass::kForward ? y : p == Pass::kBackwardData ? x : w; }
};

std::vector<double> expected(const Convolution& c, Buffers& r) {
  std::vector<double> x = doubles(r.x), w = doubles(r.w), y = doubles(r.y), bias = doubles(r.bias);
  std::vector<double> out(r.result(c.pass).size(), 0.0);
  each_product(c, [&](int64_t xi, int64_t wi, int64_t yi) {
    if (c.pass == Pass::kForward) out[yi] += x[xi] * w[wi];
    if (c.pass == Pass::kBackwardData) out[xi] += y[yi] * w[wi];
    if (c.pass == Pass::kBackwardWeights) out[wi] += x[xi] * y[yi];
  });
  if (c.bias) {
    for (size_t i = 0; i < out.size(); ++i) {
      out[i] += bias[c.channel_last ? i % c.out_channels : i / product(c.out) % c.out_channels];
    }
  }
  return out;
}

// Largest difference, relative to the largest expected value.
double error_of(const std::vector<double>& want, const std::vector<double>& got) {
  double worst = 0, scale = 1e-30;
  for (size_t i = 0; i < want.size(); ++i) {
    worst = std::max(worst, std::abs(want[i] - got[i]));
    scale = std::max(scale, std::abs(want[i]));
  }
  return worst / scale;
}

void check(const Convolution& c, const std::string& name, double tolerance) {
  SCOPED_TRACE(name);
  std::string why = refuses(c);
  if (!why.empty()) {
    // Our own loops take over; what must never happen is a silent reference kernel.
    std::printf("refused: %s: %s\n", name.c_str(), why.c_str());
    return;
  }
  std::unique_ptr<Prepared> kernel = prepare(c);
  EXPECT_EQ(std::string(kernel->implementation()).find("ref"), std::string::npos)
      << kernel->implementation();
  Buffers r(c);
  std::vector<double> want = expected(c, r);
  kernel->run(r.buffers().data());
  EXPECT_LT(error_of(want, doubles(r.result(c.pass))), tolerance) << kernel->implementation();
}

TEST(OneDnnConvolution, ThreePassesAgreeWithLoopsInDouble) {
  for (const Size& s : kSizes) {
    for (Pass pass : {Pass::kForward, Pass::kBackwardData, Pass::kBackwardWeights}) {
      for (bool channel_last : {false, true}) {
        Convolution c = describe(s, pass, DType::kFloat32, channel_last);
        c.bias = pass == Pass::kForward && channel_last;
        std::string name = std::string(s.name) + " pass " + std::to_string(static_cast<int>(pass));
        check(c, name + (channel_last ? " channel last" : ""), 2e-6);
      }
    }
  }
}

TEST(OneDnnConvolution, BFloat16RoundsOnlyTheResult) {
  for (Pass pass : {Pass::kForward, Pass::kBackwardData, Pass::kBackwardWeights}) {
    check(describe(kSizes[1], pass, DType::kBFloat16, false), "bfloat16", 8e-3);
    check(describe(kSizes[8], pass, DType::kBFloat16, true), "bfloat16 pointwise", 8e-3);
  }
}

// max(x, 0) and min(x, a) written out, NaN kept.
double after(const PostOp& p, double x, double other) {
  if (p.kind == PostOp::Kind::kAdd) return x + other;
  if (std::isnan(x)) return x;
  x = std::max(x, 0.0);
  return p.kind == PostOp::Kind::kClip ? std::min(x, p.a) : x;
}

// A sum, ReLU, clipping or both around another sum; NaN and both infinities among the inputs, the
// weights packed or not, on one thread or shared out.
TEST(OneDnnConvolution, StepsThatClipKeepNaNAndTouchNothingElse) {
  const Size sizes[] = {
      {"serial", 2, 1, 16, 32, {13, 11}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {"shared out", 2, 1, 48, 64, {29, 31}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}}};
  for (const Size& s : sizes) {
    SCOPED_TRACE(s.name);
    Convolution c = describe(s, Pass::kForward, DType::kFloat32, true);
    c.bias = true;
    PostOp clip{PostOp::Kind::kClip}, relu{PostOp::Kind::kRelu}, sum{PostOp::Kind::kAdd};
    clip.a = 0.75;
    sum.at = 4;
    sum.dims = {s.batch, s.in[0], s.in[1], c.out_channels};
    c.post = {relu, sum, clip};
    Buffers r(c);
    Tensor more = random(DType::kFloat32, r.y.size(), 9);
    const double inf = std::numeric_limits<double>::infinity();
    const double planted[] = {std::nan(""), inf, -inf};
    for (bool damaged : {false, true, false}) {
      r.x = random(DType::kFloat32, r.x.size(), 1);
      for (int64_t i = 0; damaged && i < 3; ++i)
        set_element(r.x.mutable_raw(), DType::kFloat32, 100 + 700 * i, planted[i]);
      std::vector<double> want = expected(c, r), others = doubles(more);
      for (int64_t i = 0; i < r.y.size(); ++i) {
        for (const PostOp& p : c.post) want[i] = after(p, want[i], others[i]);
      }
      std::shared_ptr<const Prepared> kernel = prepare(c);
      auto buffers = r.buffers();
      buffers.push_back(more.mutable_raw());
      kernel->run(buffers.data());
      std::vector<double> got = doubles(r.y);
      for (int64_t i = 0; i < r.y.size(); ++i) {
        ASSERT_EQ(std::isnan(want[i]), std::isnan(got[i])) << i;
        if (!std::isnan(want[i])) {
          ASSERT_NEAR(want[i], got[i], 1e-5) << i;
        }
      }
      auto packed = kernel->packed(1);
      if (!packed) continue;
      std::vector<char> memory(packed->bytes + 64);
      void* at = memory.data() + 64 - reinterpret_cast<uintptr_t>(memory.data()) % 64;
      void* pack[] = {buffers[1], at};
      packed->pack->run(pack);
      buffers[1] = at;
      Tensor first = r.y;
      r.y = random(DType::kFloat32, r.y.size(), 5);
      buffers[2] = r.y.mutable_raw();
      packed->kernel->run(buffers.data());
      EXPECT_EQ(std::memcmp(first.raw(), r.y.raw(), sizeof(float) * r.y.size()), 0);
    }
  }
}

TEST(OneDnnConvolution, OneKernelRunsInManyThreads) {
  Convolution c = describe(kSizes[1], Pass::kForward, DType::kFloat32, false);
  std::shared_ptr<Prepared> kernel = prepare(c);
  Buffers reference(c);
  std::vector<double> want = expected(c, reference);
  std::vector<double> errors(4, 1.0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Buffers r(c);
      for (int i = 0; i < 20; ++i) kernel->run(r.buffers().data());
      errors[t] = error_of(want, doubles(r.y));
    });
  }
  for (std::thread& t : threads) t.join();
  for (double e : errors) EXPECT_LT(e, 2e-6);
}

TEST(OneDnnConvolution, PreparingAgainIsALookUp) {
  Convolution c = describe(kSizes[2], Pass::kForward, DType::kFloat32, false);
  std::unique_ptr<Prepared> a = prepare(c), b = prepare(c);
  EXPECT_EQ(a->implementation(), b->implementation());  // the same program
}

}  // namespace
}  // namespace mycel::cpu::onednn
