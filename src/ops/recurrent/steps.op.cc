// Steps of recurrent cells from the products of their weights with input and state: what layers
// and the published fused primitives share.
#include "base/error.h"
#include "ir/expansion.h"
#include "ops/elementwise/elementwise.h"
#include "ops/recurrent/recurrent.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::check;
using ir::Expansion;
using ir::Value;

namespace {

// Part i of the gates, each as wide as the state in operand `state`.
Value gate(const Expansion& e, Value gates, int64_t i, int state, int64_t count) {
  Value s = e.x(state);
  int64_t n = s.rank() > 0 ? s.shape()[-1] : 0;
  if (n == kUnknownDim)
    value_error("{}: the size of the state must be known, got {}", e.op.name, s.type().str());
  if (gates.rank() != s.rank() || s.rank() < 1 ||
      (gates.shape()[-1] != count * n && gates.shape()[-1] != kUnknownDim))
    value_error("{}: gates must be {} times as wide as the state, got {} for {}", e.op.name, count,
                gates.type().str(), s.type().str());
  return sliced(gates, gates.rank() - 1, i * n, n);
}

void expand_lstm_step(Expansion& e) {
  Value gates = e.x(0) + e.x(1), c0 = e.x(2);
  auto part = [&](int64_t i) { return gate(e, gates, i, 2, 4); };
  double bias = e.attrs.real("forget_bias"), clip = e.attrs.real("cell_clip");
  Value forget = part(1);
  if (bias != 0) forget = forget + bias;
  Value c = kSigmoid({forget}) * c0 + kSigmoid({part(0)}) * kTanh({part(2)});
  if (clip > 0) c = where(less(c, -clip), -clip, where(greater(c, clip), clip, c));
  e.result(kSigmoid({part(3)}) * kTanh({c}));
  e.result(c);
}

void expand_gru_step(Expansion& e) {
  Value x = e.x(0), s = e.x(1), h = e.x(2);
  auto of_input = [&](int64_t i) { return gate(e, x, i, 2, 3); };
  auto of_state = [&](int64_t i) { return gate(e, s, i, 2, 3); };
  Value reset = kSigmoid({of_input(0) + of_state(0)});
  Value keep = kSigmoid({of_input(1) + of_state(1)});
  Value fresh = kTanh({of_input(2) + reset * of_state(2)});
  e.result(fresh + keep * (h - fresh));
}

}  // namespace

constexpr OpDef kLstmStep = check({
    .name = "lstm_step",
    .doc = "The next h and c of long short-term memory from gates [n, 4 hidden], the sum of "
           "from_input and from_state in the order input, forget, cell, output: c' = sigmoid(f + "
           "forget_bias) c + sigmoid(i) tanh(g), cut off at +-cell_clip if that is positive; h' = "
           "sigmoid(o) tanh(c') (Hochreiter and Schmidhuber 1997).",
    .in = {"from_input: float[n, g]", "from_state: float[n, g]", "c: float[n, h]"},
    .attr = {"forget_bias: float = 0", "cell_clip: float = -1"},
    .out = {"h", "c"},
    .promote = ir::Promote::kCommon,
    .shard = "none",
    .expand = expand_lstm_step,
    .cases = "from_input[3, 8]; from_state[3, 8]; c[3, 2]; forget_bias = 0.0 1.0; cell_clip = -1.0 "
             "0.3; bad c[3, 3]; skip zero_size: gates belong to states; skip scalar: the same",
    .internal = true,
});

constexpr OpDef kGruStep = check({
    .name = "gru_step",
    .doc = "The next h of a gated recurrent unit from the products [n, 3 hidden] in the order "
           "reset, update, new: h' = n + z (h - n), n = tanh(x_n + r s_n) (Cho et al. 2014).",
    .in = {"from_input: float[n, g]", "from_state: float[n, g]", "h: float[n, h]"},
    .promote = ir::Promote::kCommon,
    .shard = "none",
    .expand = expand_gru_step,
    .cases = "from_input[3, 6]; from_state[3, 6]; h[3, 2]; bad h[3, 3]; skip zero_size: gates "
             "belong to states; skip scalar: the same",
    .internal = true,
});

void register_steps() { ir::register_ops({&kLstmStep, &kGruStep}); }

}  // namespace mycel::ops
