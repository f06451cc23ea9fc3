// The patterns that are layers of mycel.nn.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "interop/script/match.h"
#include "interop/script/python_text.h"
#include "mycel/ops.h"

namespace mycel::interop::script {
namespace {

using Ints = ir::Attr::Ints;

Literal positional(std::string name, std::string text) {
  return {std::move(name), std::move(text), "", true};
}
Literal keyword(std::string name, std::string text, std::string otherwise) {
  return {std::move(name), std::move(text), std::move(otherwise), false};
}

void layer(Reader& r, Unit& u, const Node& n, const char* cls, const Value& x,
           const Value& weight = {}) {
  u.kind = Unit::Kind::kLayer;
  u.callee = fmt::format("nn.{}", cls);
  u.operands = {Operand::of(r.id(x))};
  u.results = {r.id({const_cast<Node*>(&n), 0})};
  u.path = r.path(n, weight);
}

void store(Reader& r, Unit& u, const char* role, const Value& v, bool trainable = true) {
  u.stored.push_back({role, r.tensor(v), trainable && !r.statistic(v)});
}

// A matrix that this layer alone reads.
bool own_matrix(Reader& r, const Value& v) {
  return r.is_weight(v) && is_float(v.dtype()) && r.uses(v) == 1;
}
bool vector_of(Reader& r, const Value& v, int64_t size) {
  return r.folded(v) && is_float(v.dtype()) && v.shape().size() == size &&
         (v.rank() == 0 || v.shape()[v.rank() - 1] == size);
}

bool other_results_used(Reader& r, const Node& n) {
  for (uint32_t i = 1; i < n.types.size(); ++i) {
    if (r.uses({const_cast<Node*>(&n), i})) return true;
  }
  return false;
}

// -- products with a matrix

struct Product {
  Value x, matrix, bias;
  bool turned = false;  // the matrix is [in, out]
  std::vector<const Node*> nodes;
};

bool product_at(Reader& r, const Node& n, Product* p) {
  if (n.is_param()) return false;
  const std::string& op = n.op->name;
  if (op == "dense") {
    if (n.inputs.size() < 2 || r.folded(n.inputs[0]) || !own_matrix(r, n.inputs[1])) return false;
    p->x = n.inputs[0];
    p->matrix = n.inputs[1];
    if (n.inputs.size() > 2 && n.inputs[2]) p->bias = n.inputs[2];
    if (p->bias && !r.folded(p->bias)) return false;
  } else if (op == "matmul") {
    if (r.folded(n.inputs[0]) || !own_matrix(r, n.inputs[1])) return false;
    if (n.view().boolean("transpose_a") || n.inputs[0].rank() < 2) return false;
    p->x = n.inputs[0];
    p->matrix = n.inputs[1];
    p->turned = !n.view().boolean("transpose_b");
  } else if (op == "add") {
    for (int side : {0, 1}) {
      const Node* m = r.inner(n.inputs[static_cast<size_t>(side)], "matmul");
      const Value& b = n.inputs[static_cast<size_t>(1 - side)];
      if (!m || !product_at(r, *m, p)) continue;
      int64_t out = m->types[0].shape[m->types[0].shape.rank() - 1];
      if (!vector_of(r, b, out) || b.rank() != 1) return false;
      p->bias = b;
      p->nodes.push_back(&n);
      return true;
    }
    return false;
  } else {
    return false;
  }
  if (p->matrix.rank() != 2 || p->x.dtype() != p->matrix.dtype()) return false;
  p->nodes.push_back(&n);
  return true;
}

bool dense(Reader& r, const Node& n, Unit& u) {
  Product p;
  std::vector<const Node*> around;
  Value x;
  if (n.op->name == "reshape") {
    // Rows are made of all dims but the last, and dims of the rows again.
    if (n.inputs[0].node->is_param() || r.uses(n.inputs[0]) != 1 || r.claimed(*n.inputs[0].node))
      return false;
    if (!product_at(r, *n.inputs[0].node, &p)) return false;
    const Node* rows = r.inner(p.x, "reshape");
    if (!rows) return false;
    x = rows->inputs[0];
    const Shape &from = x.shape(), &to = n.types[0].shape;
    bool same = from.rank() == to.rank() && from.rank() >= 2 && p.x.rank() == 2 &&
                from[from.rank() - 1] == p.x.shape()[1] &&
                to[to.rank() - 1] == n.inputs[0].shape()[1];
    for (int d = 0; same && d + 1 < from.rank(); ++d) same = from[d] == to[d];
    if (!same) return false;
    around = {&n, rows};
  } else {
    if (!product_at(r, n, &p)) return false;
    x = p.x;
  }
  layer(r, u, n, "Dense", x, p.matrix);
  Tensor w = r.tensor(p.matrix);
  if (p.turned) w = ops::transpose(w, ir::Attr(Ints{1, 0}));
  u.made_with = {positional("in_channels", literal(w.dim(1))),
                 positional("out_channels", literal(w.dim(0))),
                 keyword("has_bias", literal(static_cast<bool>(p.bias)), "True")};
  u.stored.push_back({"weight", w, !r.statistic(p.matrix)});
  if (p.bias) {
    store(r, u, "bias", p.bias);
    if (u.path.empty()) u.path = r.path(n, p.bias);
  }
  for (const Node* k : p.nodes) r.claim(*k);
  for (const Node* k : around) r.claim(*k);
  return true;
}

// -- convolutions

bool conv(Reader& r, const Node& n, Unit& u) {
  const std::string& op = n.op->name;
  if (op != "conv1d" && op != "conv2d" && op != "conv3d") return false;
  const Value &x = n.inputs[0], &w = n.inputs[1];
  Value b = n.inputs.size() > 2 ? n.inputs[2] : Value();
  if (r.folded(x) || !own_matrix(r, w) || (b && !r.folded(b)) || r.depends(n)) return false;
  auto a = n.view();
  if (n.op->attr_index("layout") >= 0 && a.string("layout") != "channel_first") return false;
  int spatial = op[4] - '0';
  if (x.rank() != spatial + 2) return false;
  layer(r, u, n, op == "conv1d" ? "Conv1d" : op == "conv2d" ? "Conv2d" : "Conv3d", x, w);
  Tensor weight = r.tensor(w);
  int64_t groups = a.integer("groups");
  Ints kernel;
  for (int d = 2; d < weight.rank(); ++d) kernel.push_back(weight.dim(d));
  if (spatial == 1) weight = weight.view(Shape{weight.dim(0), weight.dim(1), 1, weight.dim(2)});
  Ints pad = a.ints("padding");
  bool padded = a.string("pad_mode") == "pad" && std::ranges::any_of(pad, [](auto p) { return p; });
  // Plain windows are padded by nothing: then all convolutions of a network read alike.
  std::string mode = a.string("pad_mode") == "same" ? "same" : "pad";
  u.made_with = {positional("in_channels", literal(weight.dim(1) * groups)),
                 positional("out_channels", literal(weight.dim(0))),
                 positional("kernel_size", window(kernel)),
                 keyword("stride", window(a.ints("stride")), "1"),
                 keyword("pad_mode", literal(std::string_view(mode)), "\"same\""),
                 keyword("padding", padded ? window(pad) : "0", "0"),
                 keyword("dilation", window(a.ints("dilation")), "1"),
                 keyword("group", literal(groups), "1"),
                 keyword("has_bias", literal(static_cast<bool>(b)), "False")};
  u.stored.push_back({"weight", weight, !r.statistic(w)});
  if (b) store(r, u, "bias", b);
  r.claim(n);
  return true;
}

// -- normalizations

bool batch_norm(Reader& r, const Node& n, Unit& u) {
  if (n.op->name != "batch_norm" || n.view().boolean("training")) return false;
  const Value& x = n.inputs[0];
  for (size_t i = 1; i < 5; ++i) {
    if (!n.inputs[i] || !r.folded(n.inputs[i])) return false;
  }
  if (r.folded(x) || n.view().integer("axis") != 1) return false;
  static const char* const names[] = {"BatchNorm1d", "", "BatchNorm2d", "BatchNorm3d"};
  if (x.rank() < 2 || x.rank() > 5 || x.rank() == 3) return false;
  layer(r, u, n, names[x.rank() - 2], x, n.inputs[3]);
  u.made_with = {positional("num_features", literal(x.shape()[1])),
                 keyword("eps", literal(n.view().real("eps")), "1e-05")};
  store(r, u, "moving_mean", n.inputs[1], false);
  store(r, u, "moving_variance", n.inputs[2], false);
  store(r, u, "gamma", n.inputs[3]);
  store(r, u, "beta", n.inputs[4]);
  r.claim(n);
  return true;
}

bool layer_norm(Reader& r, const Node& n, Unit& u) {
  if (n.op->name != "layer_norm" || other_results_used(r, n)) return false;
  const Value& x = n.inputs[0];
  Value g = n.inputs.size() > 1 ? n.inputs[1] : Value(),
        b = n.inputs.size() > 2 ? n.inputs[2] : Value();
  if (r.folded(x) || !g || !b || !r.folded(g) || !r.folded(b) || r.depends(n)) return false;
  int64_t begin = n.view().integer("begin_norm_axis");
  if (begin < 0) begin += x.rank();
  Ints dims;
  for (int d = static_cast<int>(begin); d < x.rank(); ++d) dims.push_back(x.shape()[d]);
  if (g.shape() != Shape(dims) || b.shape() != Shape(dims)) return false;
  layer(r, u, n, "LayerNorm", x, g);
  std::string axis = literal(begin - x.rank());
  u.made_with = {positional("normalized_shape", literal(dims)),
                 keyword("begin_norm_axis", axis, "-1"), keyword("begin_params_axis", axis, "-1"),
                 keyword("epsilon", literal(n.view().real("epsilon")), "1e-07")};
  store(r, u, "gamma", g);
  store(r, u, "beta", b);
  r.claim(n);
  return true;
}

// -- tables

bool embedding(Reader& r, const Node& n, Unit& u) {
  if (n.op->name != "gather" || n.view().integer("axis") != 0) return false;
  const Value& table = n.inputs[0];
  if (table.rank() != 2 || !own_matrix(r, table) || n.view().integer("batch_dims") != 0)
    return false;
  std::vector<const Node*> nodes{&n};
  Value at = places_of(r, n.inputs[1], nodes);
  if (r.folded(at) && at.rank() == 0) return false;
  layer(r, u, n, "Embedding", at, table);
  u.made_with = {positional("vocab_size", literal(table.shape()[0])),
                 positional("embedding_size", literal(table.shape()[1]))};
  store(r, u, "embedding_table", table);
  for (const Node* k : nodes) r.claim(*k);
  return true;
}

// -- windows

bool pool(Reader& r, const Node& n, Unit& u) {
  bool max = n.op->name == "max_pool2d", mean = n.op->name == "avg_pool2d";
  if ((!max && !mean) || r.folded(n.inputs[0]) || r.depends(n) || other_results_used(r, n))
    return false;
  auto a = n.view();
  auto flag = [&](const char* name) {
    return n.op->attr_index(name) >= 0 && a[name].is<bool>() && a.boolean(name);
  };
  if (flag("ceil_mode") || flag("return_indices")) return false;
  if (n.op->attr_index("layout") >= 0 && a.string("layout") != "channel_first") return false;
  if (mean && a["divisor_override"].is<int64_t>() && a.integer("divisor_override")) return false;
  Ints pad = a.ints("padding"), kernel = a.ints("kernel_size");
  Ints stride = a["stride"].none() ? kernel : a.ints("stride");
  bool none = std::ranges::all_of(pad, [](auto p) { return p == 0; });
  bool even = std::ranges::all_of(pad, [&](auto p) { return p == pad[0]; });
  std::string mode = n.op->attr_index("pad_mode") >= 0 ? a.string("pad_mode") : "pad";
  if (mode == "pad" && none) mode = "valid";
  if (mode == "pad" && !even) return false;
  if (max && a.ints("dilation") != Ints{1, 1}) return false;
  layer(r, u, n, max ? "MaxPool2d" : "AvgPool2d", n.inputs[0]);
  u.made_with = {keyword("kernel_size", window(kernel), "1"),
                 keyword("stride", window(stride), "1"),
                 keyword("pad_mode", literal(std::string_view(mode)), "\"valid\""),
                 keyword("padding", mode == "pad" ? literal(pad[0]) : "0", "0")};
  if (mean)
    u.made_with.push_back(
        keyword("count_include_pad", literal(none || a.boolean("count_include_pad")), "True"));
  r.claim(n);
  return true;
}

bool global_pool(Reader& r, const Node& n, Unit& u) {
  if (n.op->name != "reduce_mean" || n.inputs[0].rank() != 4 || r.folded(n.inputs[0])) return false;
  Ints axes = n.view().ints("axis");
  for (auto& d : axes) d = d < 0 ? d + 4 : d;
  std::sort(axes.begin(), axes.end());
  if (axes != Ints{2, 3} || !n.view().boolean("keep_dims")) return false;
  layer(r, u, n, "AdaptiveAvgPool2d", n.inputs[0]);
  u.made_with = {positional("output_size", "1")};
  r.claim(n);
  return true;
}

bool flatten(Reader& r, const Node& n, Unit& u) {
  if (n.op->name != "reshape" || r.folded(n.inputs[0])) return false;
  const Shape &x = n.inputs[0].shape(), &y = n.types[0].shape;
  if (x.rank() < 3 || y.rank() != 2 || x[0] != y[0]) return false;
  // Only where the first dim may be anything, or the file says so of every dim.
  auto batch = r.from.dims.find({n.inputs[0].node->id, n.inputs[0].index, 0});
  if (batch == r.from.dims.end() && x[0] != kUnknownDim) return false;
  layer(r, u, n, "Flatten", n.inputs[0]);
  r.claim(n);
  return true;
}

// -- activations

struct Activation {
  const char *op, *cls;
};
constexpr Activation kActivations[] = {
    {"relu", "ReLU"}, {"sigmoid", "Sigmoid"}, {"tanh", "Tanh"},        {"relu6", "ReLU6"},
    {"silu", "SiLU"}, {"mish", "Mish"},       {"hardswish", "HSwish"}, {"hardsigmoid", "HSigmoid"},
    {"selu", "SeLU"},
};

bool activation(Reader& r, const Node& n, Unit& u) {
  if (n.inputs.empty() || r.folded(n.inputs[0])) return false;
  for (const Activation& a : kActivations) {
    if (n.op->name != a.op) continue;
    layer(r, u, n, a.cls, n.inputs[0]);
    r.claim(n);
    return true;
  }
  if (n.op->name == "gelu") {
    layer(r, u, n, "GELU", n.inputs[0]);
    u.made_with = {
        keyword("approximate", literal(n.view().string("approximate") == "tanh"), "True")};
  } else if (n.op->name == "softmax") {
    const ir::Attr& axis = n.view()["axis"];
    if (!axis.is<int64_t>()) return false;
    int64_t d = axis.integer();
    layer(r, u, n, "Softmax", n.inputs[0]);
    u.made_with = {keyword("axis", literal(d == n.inputs[0].rank() - 1 ? -1 : d), "-1")};
  } else if (n.op->name == "leaky_relu") {
    layer(r, u, n, "LeakyReLU", n.inputs[0]);
    u.made_with = {keyword("alpha", literal(n.view()[n.op->attrs[0].name].real()), "0.2")};
  } else if (n.op->name == "elu") {
    layer(r, u, n, "ELU", n.inputs[0]);
    u.made_with = {keyword("alpha", literal(n.view()[n.op->attrs[0].name].real()), "1.0")};
  } else {
    return false;
  }
  r.claim(n);
  return true;
}

// min(max(x, 0), 6)
bool relu6(Reader& r, const Node& n, Unit& u) {
  if (n.op->name != "minimum" || !r.is_number(n.inputs[1], 6)) return false;
  const Node* low = r.inner(n.inputs[0], "maximum");
  if (!low || !r.is_number(low->inputs[1], 0) || !r.is_scalar(low->inputs[1])) return false;
  layer(r, u, n, "ReLU6", low->inputs[0]);
  r.claim(n);
  r.claim(*low);
  return true;
}

// x * sigmoid(x)
bool silu(Reader& r, const Node& n, Unit& u) {
  if (n.op->name != "mul") return false;
  for (size_t side : {0, 1}) {
    const Node* gate = r.inner(n.inputs[side], "sigmoid");
    if (!gate || !gate->inputs[0].same(n.inputs[1 - side])) continue;
    layer(r, u, n, "SiLU", gate->inputs[0]);
    r.claim(n);
    r.claim(*gate);
    return true;
  }
  return false;
}

// The factors of a product of nodes that nobody else reads; constants are multiplied into `number`.
void factors(Reader& r, const Value& v, bool root, std::vector<Value>& out, double& number,
             std::vector<const Node*>& nodes) {
  if (auto n = r.number(v); n && r.is_scalar(v)) {
    number *= *n;
    return;
  }
  const Node* m = root ? r.maker(v, "mul") : r.inner(v, "mul");
  const Node* d = root ? r.maker(v, "div") : r.inner(v, "div");
  if (m) {
    nodes.push_back(m);
    for (const Value& i : m->inputs) factors(r, i, false, out, number, nodes);
  } else if (auto by = d ? r.number(d->inputs[1]) : std::nullopt; by && *by != 0) {
    nodes.push_back(d);
    number /= *by;
    factors(r, d->inputs[0], false, out, number, nodes);
  } else {
    out.push_back(v);
  }
}

// x^3, as a power or as products.
bool is_cube(Reader& r, const Value& v, const Value& x, std::vector<const Node*>& nodes) {
  if (const Node* p = r.inner(v, "pow");
      p && p->inputs[0].same(x) && r.is_number(p->inputs[1], 3)) {
    nodes.push_back(p);
    return true;
  }
  return false;
}

// 0.5 x (1 + erf(x / sqrt 2)), or with the hyperbolic tangent.
bool gelu(Reader& r, const Node& n, Unit& u) {
  if (n.op->name != "mul") return false;
  std::vector<const Node*> nodes;
  std::vector<Value> parts;
  double number = 1;
  factors(r, {const_cast<Node*>(&n), 0}, true, parts, number, nodes);
  if (parts.size() != 2 || std::abs(number - 0.5) > 1e-4) return false;
  for (size_t side : {0, 1}) {
    const Value& x = parts[1 - side];
    const Node* one = r.inner(parts[side], "add");
    if (!one) continue;
    size_t at = r.is_number(one->inputs[1], 1) ? 0 : 1;
    if (!r.is_number(one->inputs[1 - at], 1)) continue;
    std::vector<const Node*> inside{one};
    std::vector<Value> of;
    double scale = 1;
    bool approximate = false;
    if (const Node* erf = r.inner(one->inputs[at], "erf")) {
      inside.push_back(erf);
      factors(r, erf->inputs[0], false, of, scale, inside);
      if (of.size() != 1 || !of[0].same(x) || std::abs(scale - std::sqrt(0.5)) > 1e-4) continue;
    } else if (const Node* tanh = r.inner(one->inputs[at], "tanh")) {
      approximate = true;
      inside.push_back(tanh);
      factors(r, tanh->inputs[0], false, of, scale, inside);
      if (of.size() != 1 || std::abs(scale - 0.7978845608) > 1e-4) continue;
      const Node* sum = r.inner(of[0], "add");
      if (!sum) continue;
      inside.push_back(sum);
      size_t plain = sum->inputs[0].same(x) ? 0 : 1;
      if (!sum->inputs[plain].same(x)) continue;
      std::vector<Value> cubes;
      double c = 1;
      factors(r, sum->inputs[1 - plain], false, cubes, c, inside);
      if (std::abs(c - 0.044715) > 1e-5) continue;
      bool cube = cubes.size() == 3 && cubes[0].same(x) && cubes[1].same(x) && cubes[2].same(x);
      if (!cube && (cubes.size() != 1 || !is_cube(r, cubes[0], x, inside))) continue;
    } else {
      continue;
    }
    layer(r, u, n, "GELU", x);
    u.made_with = {keyword("approximate", literal(approximate), "True")};
    for (const Node* k : nodes) r.claim(*k);
    for (const Node* k : inside) r.claim(*k);
    return true;
  }
  return false;
}

constexpr std::array<Pattern, 12> kPatterns = {dense,     conv, batch_norm,  layer_norm,
                                               embedding, pool, global_pool, flatten,
                                               gelu,      silu, relu6,       activation};

}  // namespace

Value places_of(Reader& r, const Value& at, std::vector<const Node*>& nodes) {
  const Node* s = r.maker(at, "select");
  if (!s) return at;
  const Node *less = r.maker(s->inputs[0], "less"), *add = r.maker(s->inputs[1], "add");
  if (!less || !add || !r.is_number(less->inputs[1], 0)) return at;
  if (!less->inputs[0].same(s->inputs[2]) || !add->inputs[0].same(s->inputs[2])) return at;
  if (r.uses(at) == 1) nodes.insert(nodes.end(), {s, less, add});
  return s->inputs[2];
}

std::span<const Pattern> layer_patterns() { return kPatterns; }

}  // namespace mycel::interop::script
