#include <algorithm>
#include <vector>

#include "ir/core_ops.h"
#include "passes/pass.h"
#include "passes/rewrite.h"
#include "passes/simplify.h"

namespace mycel::passes {
namespace {

using ir::Node;
using ir::Value;
using ir::ValueList;

struct Range {
  int64_t low, high;
};
Range range_of(DType d) {
  const int64_t width = int64_t{1} << (8 * size_of(d) - (is_signed_int(d) ? 1 : 0));
  return {is_signed_int(d) ? -width : 0, width - 1};
}

bool is_sum(const Value& v) {
  if (v.dtype() != DType::kInt32 || v.node->is_param()) return false;
  const std::string& name = v.node->op->name;
  return name == "matmul_integer" || (name.starts_with("conv") && name.ends_with("_integer"));
}

// One number, or one for each index of one dim.
bool is_vector(const Value& v) {
  if (!v.shape().known()) return false;
  int long_dims = 0;
  for (int64_t n : v.shape()) long_dims += n != 1;
  return long_dims <= 1;
}

// An expression over which a factor spreads: sums of products times scales, numbers by channel, one
// other quantized tensor; under additions, ReLU and clipping at constants.
class Expression {
 public:
  explicit Expression(const std::vector<uint32_t>& uses) : uses_(uses) {}

  bool read(const Value& v) {
    if (is_constant(v)) return true;
    const Node& n = *v.node;
    if (n.is_param() || v.dtype() != DType::kFloat32) return false;
    if (made_by(v, "dequantize_elements")) {
      residual = &n;
      return ++residuals == 1 && size_of(n.inputs[0].dtype()) == 1 && n.inputs[1].rank() == 0 &&
             n.inputs[0].shape() == v.shape();
    }
    if (uses_[n.id] != 1) return false;
    if (is_scaled_sum(v)) {
      ++sums;
      return true;
    }
    if (made_by(v, "relu")) return read(n.inputs[0]);
    if (clips(v)) return read(n.inputs[0]);
    if (!made_by(v, "add")) return false;
    // A bias seldom changes, if ever: to scale it costs nothing.
    const Value& last = n.inputs[1];
    const bool bias = is_vector(last) && last.dtype() == DType::kFloat32 && !is_scaled_sum(last) &&
                      !made_by(last, "dequantize_elements");
    return read(n.inputs[0]) && (bias || read(last));
  }

  static bool clips(const Value& v) {
    return (made_by(v, "maximum") || made_by(v, "minimum")) && is_constant(v.node->inputs[1]);
  }
  // cast(sums) * scales
  static bool is_scaled_sum(const Value& v) {
    return made_by(v, "mul") && made_by(v.node->inputs[0], "cast") &&
           is_sum(v.node->inputs[0].node->inputs[0]);
  }

  int sums = 0, residuals = 0;
  const Node* residual = nullptr;

 private:
  const std::vector<uint32_t>& uses_;
};

class Folder {
 public:
  explicit Folder(const ir::Graph& g) : g_(g), uses_(g.size(), 0), r_(g) {
    for (const Node& n : g.nodes()) {
      for (const Value& v : n.inputs) {
        if (v) ++uses_[v.node->id];
      }
    }
    for (const Value& v : g.results()) ++uses_[v.node->id];
  }

  GraphOut run() {
    for (const Node& n : g_.nodes()) {
      loc_ = n.loc;
      Value v = quantized(n);
      if (!v) v = requantized(n);
      if (v) {
        r_.replace(n, ValueList{v});
      } else {
        r_.copy(n);
      }
    }
    return r_.finish();
  }

 private:
  Value emit(const char* op, ValueList in, ir::Attrs attrs = {}) {
    return r_.out().add(ir::op_named(op), std::move(in), std::move(attrs), loc_)->out();
  }
  Value number(double v) { return emit("fill_constant", {}, {v, Shape(), DType::kFloat32}); }
  // `by`: one number, none for 1.
  Value times(Value v, Value by) { return by ? emit("mul", {v, by}) : v; }
  Value ratio(Value a, Value b) { return emit("div", {a, b}); }
  Value saturated(Value v, int64_t zero, Range r, DType to) {
    return emit("round_saturate", {v}, {zero, r.low, r.high, to});
  }

  // v times `by`. What the zero point of the quantized tensor takes off is taken from what is added
  // to it, where there is such a thing: `apart`.
  Value scaled(const Value& v, Value by, bool apart = false) {
    const Node& n = *v.node;
    if (made_by(v, "dequantize_elements")) {  // its scale times `by` is 1
      Value whole = emit("cast", {r_.translate(n.inputs[0])}, {DType::kFloat32});
      return apart ? whole : moved(whole);
    }
    if (Expression::is_scaled_sum(v)) {
      return emit("mul", {r_.translate(n.inputs[0]), times(r_.translate(n.inputs[1]), by)});
    }
    if (made_by(v, "relu")) return emit("relu", {scaled(n.inputs[0], by)});
    if (!made_by(v, "add") && !Expression::clips(v)) return times(r_.translate(v), by);
    // The sum comes first: what is added to it can then be done where it is made.
    const bool turned = made_by(n.inputs[0], "dequantize_elements");
    const Value &a = n.inputs[turned ? 1 : 0], &b = n.inputs[turned ? 0 : 1];
    if (!made_by(b, "dequantize_elements")) {
      return emit(n.op->name.c_str(), {scaled(a, by), scaled(b, by)});
    }
    return emit(n.op->name.c_str(), {moved(scaled(a, by)), scaled(b, by, true)});
  }
  Value moved(Value v) { return offset_ == 0 ? v : emit("add", {v, number(-offset_)}); }

  // ReLU changes nothing where the least integer stands for 0.
  static Value without_relu(Value v, int64_t zero, int64_t low) {
    return zero == low && made_by(v, "relu") ? v.node->inputs[0] : v;
  }

  Value quantized(const Node& n) {
    if (n.is_param() || n.op->name != "quantize_elements") return {};
    const DType to = n.types[0].dtype;
    const Value& x = n.inputs[0];
    const Value& scale = n.inputs[1];
    if (scale.rank() != 0 || scale.dtype() != DType::kFloat32 || to == DType::kInt32) return {};
    if (x.dtype() != DType::kFloat32 || !(x.shape() == n.types[0].shape)) return {};
    const int64_t z = n.attrs[0].integer();
    const Range range = range_of(to);
    Value from = without_relu(x, z, range.low);
    Expression e(uses_);
    if (!e.read(from) || e.sums == 0) return {};
    // With another quantized tensor, whose integers are added as they are, everything is in units
    // of its scale first.
    Value to_scale = r_.translate(scale), unit = to_scale, rest;
    offset_ = 0;
    if (e.residual) {
      unit = r_.translate(e.residual->inputs[1]);
      rest = ratio(unit, to_scale);
      offset_ = static_cast<double>(e.residual->attrs[0].integer());
    }
    return saturated(times(scaled(from, ratio(number(1), unit)), rest), z, range, to);
  }

  Value requantized(const Node& n) {
    if (n.is_param() || n.op->name != "requantize_elements") return {};
    const DType to = n.types[0].dtype;
    if (to == DType::kInt32 || !is_sum_and_bias(n.inputs[0])) return {};
    if (n.inputs[1].dtype() != DType::kFloat32) return {};
    Range range = range_of(to);
    if (!n.attrs[2].none()) range.low = std::max(range.low, n.attrs[2].integer());
    if (!n.attrs[3].none()) range.high = std::min(range.high, n.attrs[3].integer());
    Value sums = emit("cast", {r_.translate(n.inputs[0])}, {DType::kFloat32});
    Value x = emit("mul", {sums, r_.translate(n.inputs[1])});
    if (!(x.shape() == n.types[0].shape)) return {};
    return saturated(x, n.attrs[0].integer(), range, to);
  }
  static bool is_sum_and_bias(const Value& v) {
    return is_sum(v) || (made_by(v, "add") && is_sum(v.node->inputs[0]));
  }

  const ir::Graph& g_;
  std::vector<uint32_t> uses_;
  Rewrite r_;
  ir::Loc loc_ = 0;
  double offset_ = 0;  // zero point of the quantized tensor in the expression at hand
};

GraphOut fold_level(const ir::Graph& g) { return Folder(g).run(); }

}  // namespace

GraphOut fold_requantize(const ir::Graph& g) { return at_every_level(g, fold_level); }

}  // namespace mycel::passes
