// RNN, GRU and LSTM: the products with the inputs are one matrix product for all steps, what
// depends on the state is a scan.
#include "interop/onnx/ops/build.h"
#include "runtime/scan.h"

namespace mycel::interop::onnx {
namespace {

struct Activation {
  std::string name;
  double alpha = 0, beta = 0;

  Tensor operator()(const Tensor& x) const {
    auto v = [&](double d) { return number_like(d, x); };
    if (name == "sigmoid") return ops::sigmoid(x);
    if (name == "tanh") return ops::tanh(x);
    if (name == "relu") return ops::relu(x);
    if (name == "softsign") return ops::softsign(x);
    if (name == "softplus") return as(ops::softplus(x), x.dtype());
    if (name == "affine") return ops::add(ops::mul(x, v(alpha)), v(beta));
    if (name == "scaledtanh") return ops::mul(ops::tanh(ops::mul(x, v(beta))), v(alpha));
    if (name == "leakyrelu") return ops::select(ops::less(x, v(0)), ops::mul(x, v(alpha)), x);
    if (name == "thresholdedrelu") return ops::select(ops::greater(x, v(alpha)), x, v(0));
    if (name == "elu") return ops::select(ops::less(x, v(0)), ops::mul(ops::expm1(x), v(alpha)), x);
    return ops::minimum(ops::maximum(ops::add(ops::mul(x, v(alpha)), v(beta)), v(0)),
                        v(1));  // hardsigmoid
  }
};

const std::pair<const char*, std::pair<double, double>> kActivations[] = {
    {"sigmoid", {0, 0}},
    {"tanh", {0, 0}},
    {"relu", {0, 0}},
    {"softsign", {0, 0}},
    {"softplus", {0, 0}},
    {"affine", {1, 0}},
    {"scaledtanh", {1, 1}},
    {"leakyrelu", {0.01, 0}},
    {"thresholdedrelu", {1, 0}},
    {"elu", {1, 0}},
    {"hardsigmoid", {0.2, 0.5}},
};

std::vector<Activation> activations_of(Call& c, std::vector<std::string> otherwise,
                                       size_t directions) {
  std::vector<std::string> names = c.texts("activations");
  size_t each = otherwise.size();
  if (names.empty()) {
    for (size_t d = 0; d < directions; ++d)
      names.insert(names.end(), otherwise.begin(), otherwise.end());
  }
  if (names.size() != each * directions)
    c.fail("{} activations; {} are needed", names.size(), each * directions);
  std::vector<double> alpha = c.reals("activation_alpha"), beta = c.reals("activation_beta");
  size_t a = 0, b = 0;
  std::vector<Activation> out;
  for (std::string& n : names) {
    std::transform(n.begin(), n.end(), n.begin(), [](char ch) { return std::tolower(ch); });
    auto it = std::ranges::find_if(kActivations, [&](const auto& k) { return n == k.first; });
    if (it == std::end(kActivations)) c.unsupported("activation '{}'", n);
    Activation f{n, it->second.first, it->second.second};
    bool takes_beta = n == "affine" || n == "scaledtanh" || n == "hardsigmoid";
    bool takes_alpha = takes_beta || it->second.first != 0;
    if (takes_alpha && a < alpha.size()) f.alpha = alpha[a++];
    if (takes_beta && b < beta.size()) f.beta = beta[b++];
    out.push_back(f);
  }
  return out;
}

Tensor picked(const Tensor& t, int64_t direction) {  // [directions, …] -> […]
  return ops::squeeze(ops::narrow(t, 0, direction, 1), ir::Attr(Ints{0}));
}

// One direction: everything a step needs.
struct Direction {
  Tensor r;           // [gates * hidden, hidden]
  Tensor state_bias;  // [gates * hidden], or empty
  Tensor peepholes;   // [3 * hidden]
  std::vector<Activation> f;
  double clip = 0;
  bool flag = false;  // GRU: linear_before_reset; LSTM: input_forget
  int64_t hidden = 0;

  Tensor gate(const Tensor& all, int64_t k) const {
    return ops::narrow(all, -1, k * hidden, hidden);
  }
  Tensor bounded(const Tensor& x) const {
    if (clip <= 0) return x;
    return ops::minimum(ops::maximum(x, number_like(-clip, x)), number_like(clip, x));
  }
  Tensor peep(int64_t k, const Tensor& c) const {
    return ops::mul(ops::narrow(peepholes, 0, k * hidden, hidden), c);
  }
};
// (x_t W^T, state…) -> state…
using Step = Tensors (*)(const Direction&, const Tensor&, std::span<const Tensor>);

Tensor plus(const Tensor& x, const Tensor& b) { return b ? ops::add(x, b) : x; }

Tensors rnn_step(const Direction& d, const Tensor& x, std::span<const Tensor> s) {
  Tensor sum = plus(ops::add(x, ops::matmul(s[0], d.r, false, true)), d.state_bias);
  return {d.f[0](d.bounded(sum))};
}

Tensors gru_step(const Direction& d, const Tensor& x, std::span<const Tensor> s) {
  const Tensor& h = s[0];
  int64_t n = d.hidden;
  auto bias = [&](int64_t k) {
    return d.state_bias ? ops::narrow(d.state_bias, 0, k * n, n) : Tensor();
  };
  auto from_state = [&](const Tensor& v, int64_t k) {
    return plus(ops::matmul(v, ops::narrow(d.r, 0, k * n, n), false, true), bias(k));
  };
  Tensor z = d.f[0](d.bounded(ops::add(d.gate(x, 0), from_state(h, 0))));
  Tensor r = d.f[0](d.bounded(ops::add(d.gate(x, 1), from_state(h, 1))));
  Tensor inner = d.flag ? ops::mul(r, from_state(h, 2)) : from_state(ops::mul(r, h), 2);
  Tensor fresh = d.f[1](d.bounded(ops::add(d.gate(x, 2), inner)));
  return {ops::add(ops::mul(ops::sub(number_like(1, z), z), fresh), ops::mul(z, h))};
}

// Gates in the order input, output, forget, cell.
Tensors lstm_step(const Direction& d, const Tensor& x, std::span<const Tensor> s) {
  const Tensor& cell = s[1];
  Tensor sum = plus(ops::add(x, ops::matmul(s[0], d.r, false, true)), d.state_bias);
  Tensor i = d.gate(sum, 0), o = d.gate(sum, 1), f = d.gate(sum, 2);
  if (d.peepholes) i = ops::add(i, d.peep(0, cell)), f = ops::add(f, d.peep(2, cell));
  i = d.f[0](d.bounded(i));
  f = d.flag ? ops::sub(number_like(1, i), i) : d.f[0](d.bounded(f));
  Tensor next = ops::add(ops::mul(f, cell), ops::mul(i, d.f[1](d.bounded(d.gate(sum, 3)))));
  if (d.peepholes) o = ops::add(o, d.peep(1, next));
  return {ops::mul(d.f[0](d.bounded(o)), d.f[2](next)), next};
}

// xs: [time, batch, gates * hidden]. Steps behind the end of a sample keep its state and give
// zeros.
runtime::Scanned walk(const Direction& d, Step step, const Tensor& xs, const Tensor& lengths,
                      const Tensors& state) {
  Tensors carried{Tensor::scalar(DType::kInt64, int64_t{0})};
  carried.insert(carried.end(), state.begin(), state.end());
  Tensor one_more = Tensor::scalar(DType::kInt64, int64_t{1});
  Tensors rows{xs};
  return runtime::scan(
      [&](std::span<const Tensor> c, std::span<const Tensor> row) {
        Tensors next = step(d, row[0], c.subspan(1));
        Tensor y = next[0];
        if (lengths) {
          Tensor alive = ops::less(c[0], lengths);  // [batch, 1]
          for (size_t k = 0; k < next.size(); ++k) next[k] = ops::select(alive, next[k], c[k + 1]);
          y = ops::select(alive, y, number_like(0, y));
        }
        runtime::Scanned out;
        out.carried = {ops::add(c[0], one_more)};
        out.carried.insert(out.carried.end(), next.begin(), next.end());
        out.results = {y};
        return out;
      },
      carried, rows);
}

Values recurrent(Call& c, int64_t gates, std::vector<std::string> names, Step step,
                 const char* flag, bool cell) {
  Tensor x = c.x(0), w = c.x(1), r = c.x(2), b = c.x_or(3), lengths = c.x_or(4),
         p = cell ? c.x_or(7) : Tensor();
  bool batch_first = c.flag("layout", false);
  if (batch_first) x = ops::transpose(x, ir::Attr(Ints{1, 0, 2}));
  std::string way = c.text("direction", "forward");
  int64_t directions = way == "bidirectional" ? 2 : 1;
  Dims dims = c.dims(x);
  int64_t hidden = r.dim(2), batch = dims.at(1);
  if (w.dim(0) != directions || w.dim(1) != gates * hidden)
    c.fail("the weight is {}; [{}, {}, input] is expected", w.shape().str(), directions,
           gates * hidden);
  std::vector<Activation> f = activations_of(c, names, static_cast<size_t>(directions));
  Tensor ends = lengths ? ops::expand_dims(as(lengths, DType::kInt64), 1) : Tensor();
  Tensors ys, last_h, last_c;
  for (int64_t k = 0; k < directions; ++k) {
    bool backwards = way == "reverse" || k == 1;
    Direction d;
    d.hidden = hidden;
    d.r = picked(r, k);
    d.clip = c.real("clip", 0);
    d.flag = flag && c.flag(flag, false);
    size_t each = names.size();
    d.f.assign(f.begin() + static_cast<int64_t>(k * static_cast<int64_t>(each)),
               f.begin() + static_cast<int64_t>((k + 1) * static_cast<int64_t>(each)));
    if (p) d.peepholes = picked(p, k);
    Tensor xs = x;
    auto turned = [&](const Tensor& t) {
      if (!backwards) return t;
      return lengths ? ops::reverse_sequence(t, as(lengths, DType::kInt64), 0, 1)
                     : ops::flip(t, {0});
    };
    xs = ops::matmul(turned(xs), picked(w, k), false, true);
    if (b) {
      xs = ops::add(xs, ops::narrow(picked(b, k), 0, 0, gates * hidden));
      d.state_bias = ops::narrow(picked(b, k), 0, gates * hidden, gates * hidden);
    }
    Tensors state;
    for (int input : cell ? std::vector<int>{5, 6} : std::vector<int>{5}) {
      Tensor given = c.x_or(input);
      if (given && batch_first) given = ops::transpose(given, ir::Attr(Ints{1, 0, 2}));
      state.push_back(given ? picked(given, k) : Tensor::zeros(x.dtype(), Shape{batch, hidden}));
    }
    runtime::Scanned out = walk(d, step, xs, ends, state);
    ys.push_back(turned(out.results[0]));
    last_h.push_back(out.carried[1]);
    if (cell) last_c.push_back(out.carried[2]);
  }
  Tensor y = ops::stack(ys, 1), h = ops::stack(last_h, 0);  // [time, directions, batch, hidden]
  Tensor last = cell ? ops::stack(last_c, 0) : Tensor();
  if (batch_first) {
    y = ops::transpose(y, ir::Attr(Ints{2, 0, 1, 3}));
    h = ops::transpose(h, ir::Attr(Ints{1, 0, 2}));
    if (cell) last = ops::transpose(last, ir::Attr(Ints{1, 0, 2}));
  }
  Values out{Value(y), Value(h)};
  if (cell) out.emplace_back(last);
  return out;
}

Values rnn(Call& c) { return recurrent(c, 1, {"Tanh"}, rnn_step, nullptr, false); }
Values gru(Call& c) {
  return recurrent(c, 3, {"Sigmoid", "Tanh"}, gru_step, "linear_before_reset", false);
}
Values lstm(Call& c) {
  return recurrent(c, 4, {"Sigmoid", "Tanh", "Tanh"}, lstm_step, "input_forget", true);
}

constexpr Record kRecords[] = {{"RNN", rnn}, {"GRU", gru}, {"LSTM", lstm}};

}  // namespace

Records recurrent_records() { return kRecords; }

}  // namespace mycel::interop::onnx
