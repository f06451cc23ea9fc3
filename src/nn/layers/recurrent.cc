// Recurrent layers. The products of all steps with the input weights are one matmul; the steps
// themselves follow one another.
#include <cmath>

#include "mycel/ops.h"
#include "nn/arith.h"
#include "nn/layer.h"
#include "nn/layers/calls.h"
#include "nn/random.h"

namespace mycel::nn {
namespace {

enum class Kind { kRnn, kGru, kLstm };

struct State {
  Tensor h, c;  // c of LSTMs only
};

// One step from the two products (Elman 1990; Cho et al. 2014; Hochreiter and Schmidhuber 1997).
State advance(Kind kind, const std::string& nonlinearity, const Tensor& from_input,
              const Tensor& from_state, const State& s) {
  if (kind == Kind::kRnn) {
    Tensor sum = from_input + from_state;
    return {nonlinearity == "relu" ? ops::relu(sum) : ops::tanh(sum), {}};
  }
  if (kind == Kind::kGru) return {run_op("gru_step", {from_input, from_state, s.h}), {}};
  Tensors next = run_ops("lstm_step", {from_input, from_state, s.c});
  return {next[0], next[1]};
}

int64_t gates_of(Kind kind) { return kind == Kind::kRnn ? 1 : kind == Kind::kGru ? 3 : 4; }

// Weights and offsets of one cell, named with a suffix.
void add_cell(Layer& l, int64_t in, int64_t hidden, int64_t gates, const std::string& suffix) {
  Init init = Init::named("Uniform", {1 / std::sqrt(static_cast<double>(hidden))});
  l.add("weight_ih" + suffix, Shape{gates * hidden, in}, init);
  l.add("weight_hh" + suffix, Shape{gates * hidden, hidden}, init);
  if (!l.args.boolean("has_bias")) return;
  l.add("bias_ih" + suffix, Shape{gates * hidden}, init);
  l.add("bias_hh" + suffix, Shape{gates * hidden}, init);
}

struct Weights {
  Tensor ih, hh, bias_ih, bias_hh;
  Weights(const Layer& l, const std::string& suffix)
      : ih(l.value("weight_ih" + suffix)), hh(l.value("weight_hh" + suffix)) {
    if (!l.has("bias_ih" + suffix)) return;
    bias_ih = l.value("bias_ih" + suffix);
    bias_hh = l.value("bias_hh" + suffix);
  }
};

std::string nonlinearity_of(const Layer& l) {
  bool has = l.args.signature().index("nonlinearity") >= 0;
  return has ? l.args.string("nonlinearity") : "tanh";
}

// -- single steps
// ----------------------------------------------------------------------------------

template <Kind kind>
void setup_step(Layer& l) {
  add_cell(l, l.args.positive("input_size"), l.args.positive("hidden_size"), gates_of(kind), "");
}

template <Kind kind>
Tensors step(Layer& l, Inputs x) {
  Weights w(l, "");
  State s{x[1], kind == Kind::kLstm ? x[2] : Tensor()};
  State next = advance(kind, nonlinearity_of(l), ops::dense(x[0], w.ih, w.bias_ih),
                       ops::dense(s.h, w.hh, w.bias_hh), s);
  if (kind == Kind::kLstm) return {next.h, next.c};
  return {next.h};
}

constexpr LayerDef kRNNCell = check({
    .name = "RNNCell",
    .doc = "h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu. x: [n, input_size], hx: [n, "
           "hidden_size].",
    .args = {"input_size: int", "hidden_size: int", "has_bias: bool = True",
             "nonlinearity: str(tanh|relu) = tanh"},
    .in = {"x", "hx"},
    .setup = setup_step<Kind::kRnn>,
    .construct = step<Kind::kRnn>,
});
constexpr LayerDef kGRUCell = check({
    .name = "GRUCell",
    .doc = "One step of a gated recurrent unit (Cho et al. 2014). x: [n, input_size], hx: [n, "
           "hidden_size]; gates in the "
           "order reset, update, new.",
    .args = {"input_size: int", "hidden_size: int", "has_bias: bool = True"},
    .in = {"x", "hx"},
    .setup = setup_step<Kind::kGru>,
    .construct = step<Kind::kGru>,
});
constexpr LayerDef kLSTMCell = check({
    .name = "LSTMCell",
    .doc = "One step of long short-term memory (Hochreiter and Schmidhuber 1997): (h', c'). x: [n, "
           "input_size], hx: (h, c), "
           "each [n, hidden_size]; gates in the order input, forget, cell, output.",
    .args = {"input_size: int", "hidden_size: int", "has_bias: bool = True"},
    .in = {"x", "hx", "cx"},
    .setup = setup_step<Kind::kLstm>,
    .construct = step<Kind::kLstm>,
});

// -- sequences
// -------------------------------------------------------------------------------------

template <Kind kind>
void setup_sequence(Layer& l) {
  int64_t in = l.args.positive("input_size"), hidden = l.args.positive("hidden_size");
  int64_t directions = l.args.boolean("bidirectional") ? 2 : 1;
  l.args.within("dropout", 0, 1, "[)");
  for (int64_t layer = 0; layer < l.args.positive("num_layers"); ++layer) {
    for (int64_t d = 0; d < directions; ++d) {
      std::string suffix = fmt::format("_l{}{}", layer, d ? "_reverse" : "");
      add_cell(l, layer ? hidden * directions : in, hidden, gates_of(kind), suffix);
    }
  }
}

struct Run {
  Tensor outputs;  // [t, n, hidden]
  State last;
};

// One layer in one direction over x [t, n, in]. Steps at or behind a sample's length leave its
// state as it is and give zeros.
Run run_direction(Kind kind, const Layer& l, const std::string& suffix, const Tensor& x, State s,
                  bool reverse, const Tensor& lengths) {
  Weights w(l, suffix);
  std::string nonlinearity = nonlinearity_of(l);
  // Cut at once: the gradients of steps taken one by one would each be as long as the sequence.
  Tensors from_input = ops::unstack(ops::dense(x, w.ih, w.bias_ih), 0);
  int64_t steps = x.dim(0);
  Tensors outputs(steps);
  for (int64_t k = 0; k < steps; ++k) {
    int64_t t = reverse ? steps - 1 - k : k;
    State next = advance(kind, nonlinearity, from_input[t], ops::dense(s.h, w.hh, w.bias_hh), s);
    outputs[t] = next.h;
    if (lengths) {
      Tensor runs =
          ops::expand_dims(ops::greater(lengths, number(lengths, static_cast<double>(t))), -1);
      outputs[t] = ops::select(runs, next.h, ops::zeros_like(next.h));
      next.h = ops::select(runs, next.h, s.h);
      if (next.c) next.c = ops::select(runs, next.c, s.c);
    }
    s = next;
  }
  return {ops::stack(outputs), s};
}

Tensor nth(const Tensor& stacked, int64_t i) {
  return ops::squeeze(ops::narrow(stacked, 0, i, 1), ir::Attr(ir::Attr::Ints{0}));
}

// Inputs: x, h0, c0 (LSTM), lengths; the last three may be absent. Results: outputs, h_n, (c_n).
template <Kind kind>
Tensors sequence(Layer& l, Inputs in) {
  auto input = [&](size_t i) { return in.size() > i ? in[i] : Tensor(); };
  bool batch_first = l.args.boolean("batch_first"), both = l.args.boolean("bidirectional");
  Tensor x = in[0], h0 = input(1), c0 = input(2), lengths = input(3);
  if (x.rank() != 3)
    l.fail("x must be [{}], got {}", batch_first ? "batch, time, in" : "time, batch, in",
           x.describe());
  ir::Attr swap = ir::Attr::Ints{1, 0, 2};
  if (batch_first) x = ops::transpose(x, swap);
  int64_t hidden = l.args.integer("hidden_size"), layers = l.args.integer("num_layers"),
          directions = both ? 2 : 1;
  double dropout = l.args.real("dropout");
  Tensors hs, cs;
  for (int64_t layer = 0; layer < layers; ++layer) {
    Tensors outputs;
    for (int64_t d = 0; d < directions; ++d) {
      Tensor zero = Tensor::zeros(x.dtype(), Shape{x.dim(1), hidden});
      int64_t at = layer * directions + d;
      State s{h0 ? nth(h0, at) : zero, kind == Kind::kLstm ? (c0 ? nth(c0, at) : zero) : Tensor()};
      Run r = run_direction(kind, l, fmt::format("_l{}{}", layer, d ? "_reverse" : ""), x, s,
                            d == 1, lengths);
      outputs.push_back(r.outputs);
      hs.push_back(r.last.h);
      if (kind == Kind::kLstm) cs.push_back(r.last.c);
    }
    x = outputs.size() == 1 ? outputs[0] : ops::concat(outputs, -1);
    if (dropout > 0 && layer + 1 < layers && l.training()) x = random_dropout(x, dropout);
  }
  Tensors result{batch_first ? ops::transpose(x, swap) : x, ops::stack(hs)};
  if (kind == Kind::kLstm) result.push_back(ops::stack(cs));
  return result;
}

#define MYCEL_SEQUENCE_ARGS                                                              \
  "input_size: int", "hidden_size: int", "num_layers: int = 1", "has_bias: bool = True", \
      "batch_first: bool = False", "dropout: float = 0.0", "bidirectional: bool = False"

constexpr LayerDef kRNN = check({
    .name = "RNN",
    .doc = "RNNCell over the steps of x [t, n, input_size] (batch_first: [n, t, input_size]), "
           "num_layers deep, with dropout "
           "between layers. Gives (outputs [t, n, directions * hidden_size], h_n [layers * "
           "directions, n, hidden_size]); "
           "seq_length [n] stops each sample at its length.",
    .args = {MYCEL_SEQUENCE_ARGS, "nonlinearity: str(tanh|relu) = tanh"},
    .in = {"x", "hx?", "cx?", "seq_length?"},
    .setup = setup_sequence<Kind::kRnn>,
    .construct = sequence<Kind::kRnn>,
});
constexpr LayerDef kGRU = check({
    .name = "GRU",
    .doc = "GRUCell over the steps of x; shapes as RNN.",
    .args = {MYCEL_SEQUENCE_ARGS},
    .in = {"x", "hx?", "cx?", "seq_length?"},
    .setup = setup_sequence<Kind::kGru>,
    .construct = sequence<Kind::kGru>,
});
constexpr LayerDef kLSTM = check({
    .name = "LSTM",
    .doc =
        "LSTMCell over the steps of x; shapes as RNN. hx: (h_0, c_0); gives (outputs, (h_n, c_n)).",
    .args = {MYCEL_SEQUENCE_ARGS},
    .in = {"x", "hx?", "cx?", "seq_length?"},
    .setup = setup_sequence<Kind::kLstm>,
    .construct = sequence<Kind::kLstm>,
});

#undef MYCEL_SEQUENCE_ARGS

}  // namespace

LayerDefs recurrent_layers() { return {&kRNNCell, &kGRUCell, &kLSTMCell, &kRNN, &kGRU, &kLSTM}; }

}  // namespace mycel::nn
