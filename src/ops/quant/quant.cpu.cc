// Contractions of 8-bit integers through oneDNN (VNNI, AMX), alone or with everything up to the
// 8-bit result. The numbers are those of the loop nests: sums are exact; behind them the same
// float32 operations in the same order, but for a bias in int32, which is added to sums that are
// float32 already: above 2^24 that may round.
#include <fmt/format.h>

#include "backend/cpu/onednn/integer_matmul.h"
#include "ops/all_kernels.cpu.h"
#include "ops/conv/convolution.cpu.h"
#include "ops/conv/geometry.h"
#include "ops/quant/integers.cpu.h"

namespace mycel::ops {
namespace {

using cpu::Joined;
using cpu::Problem;
using cpu::onednn::Convolution;
using cpu::onednn::IntegerMatmul;

bool is_integer_convolution(const ir::Op& op) {
  return op.name == "conv1d_integer" || op.name == "conv2d_integer" || op.name == "conv3d_integer";
}
bool is_integer_product(const ir::Op& op) { return op.name == "matmul_integer"; }

// Operands of the records.
constexpr int kConvBias = 2, kConvXZero = 3, kConvWZero = 4, kProductXZero = 2, kProductWZero = 3;

Convolution convolution(const Contraction& c, const Requantizing& r, int y_at) {
  std::vector<const ir::Type*> in = c.in;
  in.resize(2);
  Convolution d = describe_convolution({*c.op, in, c.sums, *c.attrs});
  d.dtype = DType::kFloat32;
  d.integers = r.integers;
  d.bias = r.bias;
  d.post = r.post;
  d.x_at = c.at[0], d.w_at = c.at[1], d.bias_at = r.bias_at, d.y_at = y_at;
  return d;
}

// Nothing when the operands do not lie as oneDNN takes them.
std::optional<IntegerMatmul> product(const Contraction& c, const Requantizing& r, int y_at) {
  const Shape &a = c.in[0]->shape, &b = c.in[1]->shape;
  const ir::AttrsView attrs{*c.op, *c.attrs};
  if (attrs.boolean("transpose_a")) return {};
  IntegerMatmul m;
  m.transposed = attrs.boolean("transpose_b");
  m.k = a[-1];
  m.n = b[m.transposed ? -2 : -1];
  if (b.rank() == 2) {
    m.m = a.size() / m.k;
  } else if (a.rank() == b.rank()) {
    m.m = a[-2];
    m.batch = a.size() / (m.m * m.k);
    if (b.size() != m.batch * m.n * m.k) return {};
  } else {
    return {};
  }
  m.bias = r.bias;
  m.integers = r.integers;
  m.a_at = c.at[0], m.b_at = c.at[1], m.bias_at = r.bias_at, m.y_at = y_at;
  m.post = r.post;
  for (cpu::onednn::PostOp& op : m.post) {
    int64_t size = 1;
    for (int64_t n : op.dims) size *= n;
    if (op.at < 0) continue;
    if (size == 1) {
      op.dims = {1, 1, 1};
    } else if (size == m.batch * m.m * m.n) {
      op.dims = {m.batch, m.m, m.n};
    } else {
      op.dims = {1, 1, m.n};
    }
  }
  return m;
}

std::string convolution_refuses(const Problem& p) {
  Contraction c = contraction_of(p);
  std::string why = unsuited_integers(c, kConvXZero, kConvWZero);
  if (!why.empty()) return why;
  int y_at = static_cast<int>(p.in.size());
  return cpu::onednn::refuses(convolution(c, of_operands(c, kConvXZero, p.out[0]), y_at));
}

// oneDNN would add a bias to sums that it has made float32: it is added behind it.
class ThenBias final : public cpu::Prepared {
 public:
  ThenBias(std::shared_ptr<const cpu::Prepared> sums, const ir::Type& y, bool channel_last, int at,
           int y_at)
      : sums_(std::move(sums)), at_(at), y_at_(y_at) {
    const Shape& s = y.shape;
    const int axis = channel_axis(s.rank() - 2, channel_last);
    channels_ = s[axis];
    for (int d = axis + 1; d < s.rank(); ++d) inner_ *= s[d];
    outer_ = s.size() / (channels_ * inner_);
  }
  void run(void* const* buffers) const override {
    sums_->run(buffers);
    const auto* bias = static_cast<const int32_t*>(buffers[at_]);
    auto* y = static_cast<uint32_t*>(buffers[y_at_]);  // which wraps around
    for (int64_t i = 0; i < outer_; ++i) {
      for (int64_t c = 0; c < channels_; ++c) {
        for (int64_t k = 0; k < inner_; ++k) *y++ += static_cast<uint32_t>(bias[c]);
      }
    }
  }
  const char* implementation() const override { return sums_->implementation(); }
  std::optional<Packed> packed(int operand) const override {
    auto own = sums_->packed(operand);
    if (own) {
      auto whole = std::make_shared<ThenBias>(*this);
      whole->sums_ = own->kernel;
      own->kernel = std::move(whole);
    }
    return own;
  }

 private:
  std::shared_ptr<const cpu::Prepared> sums_;
  int at_, y_at_;
  int64_t outer_ = 1, channels_ = 1, inner_ = 1;
};

std::unique_ptr<cpu::Prepared> prepare_convolution(const Problem& p) {
  Contraction c = contraction_of(p);
  int y_at = static_cast<int>(p.in.size());
  Convolution d = convolution(c, of_operands(c, kConvXZero, p.out[0]), y_at);
  auto sums = cpu::onednn::prepare(d);
  if (!c.has(kConvBias)) return sums;
  return std::make_unique<ThenBias>(std::move(sums), p.out[0], d.channel_last, kConvBias, y_at);
}

std::optional<IntegerMatmul> product(const Problem& p, std::string* why) {
  Contraction c = contraction_of(p);
  *why = unsuited_integers(c, kProductXZero, kProductWZero);
  if (!why->empty()) return {};
  auto m = product(c, of_operands(c, kProductXZero, p.out[0]), static_cast<int>(p.in.size()));
  if (!m) *why = "transposed or broadcast operands";
  return m;
}
std::string product_refuses(const Problem& p) {
  std::string why;
  auto m = product(p, &why);
  return m ? cpu::onednn::refuses(*m) : why;
}
std::unique_ptr<cpu::Prepared> prepare_product(const Problem& p) {
  std::string why;
  return cpu::onednn::prepare(*product(p, &why));
}

// A joined node: exactly one of the two, or the reason why neither.
struct Whole {
  std::optional<Convolution> convolution;
  std::optional<IntegerMatmul> product;
  std::string why;
};

Whole whole_of(const Problem& p) {
  Joined joined(*p.attrs[0].graph());
  const ir::Op& op = *joined.op->op;
  const bool conv = is_integer_convolution(op);
  if (!conv && !is_integer_product(op)) return {{}, {}, op.name + " sums no products of integers"};
  Contraction c = contraction_of(joined, p);
  const int x_zero = conv ? kConvXZero : kProductXZero;
  Whole w;
  w.why = unsuited_integers(c, x_zero, conv ? kConvWZero : kProductWZero);
  if (!w.why.empty()) return w;
  auto steps = cpu::steps_of(joined);
  Requantizing r = of_operands(c, x_zero, p.out[0]);
  const Shape& y = p.out[0].shape;
  if (conv && steps && c.has(kConvBias)) {
    steps->insert(steps->begin(), {cpu::EpilogueStep::Kind::kAdd, c.at[kConvBias], 0});
  }
  if (!steps || !add_steps(*steps, p, y[y.rank() - 1], r)) {
    w.why = "what follows the sums is no chain that oneDNN has";
    return w;
  }
  const int y_at = static_cast<int>(p.in.size());
  if (conv) {
    w.convolution = convolution(c, r, y_at);
    w.why = w.convolution->channel_last ? cpu::onednn::refuses(*w.convolution)
                                        : "channels do not come last";
  } else {
    w.product = product(c, r, y_at);
    w.why = w.product ? cpu::onednn::refuses(*w.product) : "transposed or broadcast operands";
  }
  return w;
}

std::string joined_refuses(const Problem& p) { return whole_of(p).why; }
std::unique_ptr<cpu::Prepared> prepare_joined(const Problem& p) {
  Whole w = whole_of(p);
  return w.convolution ? cpu::onednn::prepare(*w.convolution) : cpu::onednn::prepare(*w.product);
}

constexpr cpu::KernelDef kKernels[] = {
    {"conv1d_integer", "onednn", convolution_refuses, prepare_convolution},
    {"conv2d_integer", "onednn", convolution_refuses, prepare_convolution},
    {"conv3d_integer", "onednn", convolution_refuses, prepare_convolution},
    {"matmul_integer", "onednn", product_refuses, prepare_product},
    {"joined", "integers", joined_refuses, prepare_joined},
};

}  // namespace

void register_quant_kernels() { cpu::register_kernels(kKernels); }

}  // namespace mycel::ops
