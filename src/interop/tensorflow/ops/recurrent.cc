// LSTM over a sequence, as TFLite writes it: one operator with the weights of each gate apart. The
// state starts at zero in every run.
#include <array>

#include "interop/tensorflow/ops/build.h"
#include "runtime/scan.h"

namespace mycel::interop::tensorflow {
namespace {

enum Gate { kInput, kForget, kCell, kOutput };

class Lstm {
 public:
  explicit Lstm(Call& c) : c_(c) {
    for (int g = 0; g < 4; ++g) {
      from_input_[static_cast<size_t>(g)] = weight(1 + g);
      from_state_[static_cast<size_t>(g)] = weight(5 + g);
      bias_[static_cast<size_t>(g)] = c.x_or(12 + g);
    }
    for (int g = 0; g < 3; ++g) peephole_[static_cast<size_t>(g)] = weight(9 + g);
    for (int i = 20; i < 24; ++i) {
      if (c.has(i)) c.unsupported("layer normalization");
    }
    if (c.flag("diagonal", false)) c.unsupported("diagonal recurrent weights");
    cell_clip_ = c.real("cell_clip", 0);
    projection_clip_ = c.real("proj_clip", 0);
    if (!from_input_[kForget] || !from_input_[kCell] || !from_input_[kOutput])
      c.fail("the weights of a gate are missing");
  }

  // (output, cell) of the next step.
  Tensors step(const Tensor& x, const Tensor& h, const Tensor& cell) {
    Tensor f = ops::sigmoid(gate(kForget, x, h, cell));
    Tensor i = from_input_[kInput] ? ops::sigmoid(gate(kInput, x, h, cell))
                                   : ops::sub(number_like(1, f), f);
    Tensor g = activated(c_, gate(kCell, x, h, {}));
    Tensor next = ops::add(ops::mul(f, cell), ops::mul(i, g));
    if (cell_clip_ > 0) next = clipped(next, cell_clip_);
    Tensor o = ops::sigmoid(gate(kOutput, x, h, next));
    Tensor y = ops::mul(o, activated(c_, next));
    if (c_.has(16)) {
      y = ops::matmul(y, weight(16), false, true);
      if (c_.has(17)) y = ops::add(y, c_.x(17));
      if (projection_clip_ > 0) y = clipped(y, projection_clip_);
    }
    return {y, next};
  }

 private:
  Tensor weight(int i) { return c_.has(i) ? widened_weight(c_, i) : Tensor(); }
  static Tensor clipped(const Tensor& x, double v) {
    return ops::minimum(ops::maximum(x, number_like(-v, x)), number_like(v, x));
  }
  Tensor gate(Gate g, const Tensor& x, const Tensor& h, const Tensor& cell) {
    const auto k = static_cast<size_t>(g);
    Tensor y = ops::add(ops::matmul(x, from_input_[k], false, true),
                        ops::matmul(h, from_state_[k], false, true));
    const size_t p = g == kOutput ? 2 : k;
    if (cell && peephole_[p]) y = ops::add(y, ops::mul(cell, peephole_[p]));
    return bias_[k] ? ops::add(y, bias_[k]) : y;
  }

  Call& c_;
  std::array<Tensor, 4> from_input_, from_state_, bias_;
  std::array<Tensor, 3> peephole_;
  double cell_clip_ = 0, projection_clip_ = 0;
};

Tensors sequence_lstm(Call& c) {
  Tensor x = c.x(0);
  if (x.rank() != 3) c.fail("an input {}", x.describe());
  const bool time_first = c.flag("time_major", false);
  if (!time_first) x = ops::transpose(x, ir::Attr(Ints{1, 0, 2}));
  Lstm cell(c);
  runtime::Scanned out = runtime::scan(
      [&](std::span<const Tensor> state, std::span<const Tensor> now) {
        runtime::Scanned step;
        step.carried = cell.step(now[0], state[0], state[1]);
        step.results = {step.carried[0]};
        return step;
      },
      Tensors{c.x(18), c.x(19)}, Tensors{x}, c.dims(x)[0]);
  Tensor y = out.results[0];
  return {time_first ? y : ops::transpose(y, ir::Attr(Ints{1, 0, 2}))};
}

constexpr Record kRecords[] = {
    {44, "UNIDIRECTIONAL_SEQUENCE_LSTM", "", sequence_lstm},
};

}  // namespace

Records recurrent_records() { return kRecords; }

}  // namespace mycel::interop::tensorflow
