#include "lite/quantize.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "ir/core_ops.h"
#include "lite/quantize/bake.h"
#include "lite/quantize/observer.h"
#include "passes/pass.h"
#include "runtime/dispatch.h"
#include "runtime/plan.h"

namespace mycel::lite {
namespace {

using ir::Attr;
using ir::Node;
using ir::Value;
using ValueKey = std::pair<uint32_t, uint32_t>;
ValueKey key_of(const Value& v) { return {v.node->id, v.index}; }

bool is(const Node& n, const char* name) { return !n.is_param() && n.op->name == name; }

// A convolution or product whose second operand is a weight.
struct Layer {
  const Node* node = nullptr;
  std::string name;
  Tensor weight;
  int axis = 0;  // of output channels in the weight
  int out = 1;   // in the result
  QuantizedLayer report;
  Tensor q, scale;  // of the weight
};

// Values whose elements come from one operand, in order or as the largest of several.
bool moves_elements(const Node& n) {
  if (n.is_param() || n.inputs.empty() || n.types.size() != 1) return false;
  return n.op->def.view || n.op->name == "max_pool2d" || n.op->name == "max_pool1d" ||
         n.op->name == "max_pool3d";
}

double decibels(double signal, double noise) {
  return noise <= 0 ? 999 : 10 * std::log10(std::max(signal, 1e-300) / noise);
}

struct Ratio {
  double signal = 0, noise = 0;
  void see(const Tensor& want, const Tensor& got) {
    for (int64_t i = 0; i < want.size(); ++i) {
      const double w = element_as_double(want.raw(), want.dtype(), i);
      const double d = element_as_double(got.raw(), got.dtype(), i) - w;
      signal += w * w, noise += d * d;
    }
  }
  double db() const { return decibels(signal, noise); }
};

class Quantizer {
 public:
  Quantizer(runtime::TracedModel model, const QuantizeOptions& options)
      : model_(std::move(model)), g_(*model_.graph), o_(options), uses_(g_.size(), 0) {
    for (size_t i = 0; i < model_.weights.size(); ++i) {
      weight_of_[g_.params()[model_.inputs.size() + i].node->id] = i;
    }
    for (const Node& n : g_.nodes()) {
      for (const Value& v : n.inputs) {
        if (v) ++uses_[v.node->id];
      }
    }
    for (const Value& v : g_.results()) ++uses_[v.node->id];
    find_layers();
  }

  QuantizedModel run(std::span<const Tensors> samples) {
    for (Layer& l : layers_) {
      if (l.report.quantized) quantize_weight(l);
    }
    find_stored();
    calibrate(samples);
    QuantizedModel out;
    out.model = rebuilt();
    out.report = report(out.model, samples);
    return out;
  }

 private:
  const Tensor* weight(const Value& v) const {
    auto it = v ? weight_of_.find(v.node->id) : weight_of_.end();
    return it == weight_of_.end() ? nullptr : &model_.weights[it->second].second;
  }

  void find_layers() {
    for (const Node& n : g_.nodes()) {
      const bool conv = is(n, "conv1d") || is(n, "conv2d") || is(n, "conv3d");
      const bool product = is(n, "batch_matmul");
      if (!conv && !product && !is(n, "dense")) continue;
      const Tensor* w = weight(n.inputs[1]);
      if (!w) continue;
      Layer l;
      l.node = &n;
      l.name = model_.weights[weight_of_.at(n.inputs[1].node->id)].first;
      l.weight = *w;
      l.out = n.types[0].shape.rank() - 1;
      if (conv && n.view().string("layout") != "channel_last") l.out = 1;
      if (product) l.axis = n.attrs[1].boolean() ? w->rank() - 2 : w->rank() - 1;
      l.report.name = l.name;
      l.report.op = n.op->name;
      l.report.why = reason_against(l, product);
      l.report.quantized = l.report.why.empty();
      layers_.push_back(std::move(l));
    }
  }

  std::string reason_against(const Layer& l, bool product) const {
    for (const std::string& s : o_.skip) {
      if (l.name.starts_with(s)) return fmt::format("skipped: '{}'", s);
    }
    if (l.weight.dtype() != DType::kFloat32) return "the weight is not float32";
    if (l.node->inputs[0].dtype() != DType::kFloat32) return "the input is not float32";
    if (product && l.weight.rank() != 2) return "the weight has more than two dims";
    if (!l.node->types[0].shape.known()) return "its shape is not known";
    if (is(*l.node, "dense") && l.node->inputs[0].rank() < 2) return "the input has one dim";
    return "";
  }

  // Elements of one output channel: offset, step between runs, and their length.
  template <typename F>
  static void each_of_channel(const Layer& l, int64_t channel, F f) {
    int64_t inner = 1, outer = 1;
    for (int d = l.axis + 1; d < l.weight.rank(); ++d) inner *= l.weight.dim(d);
    for (int d = 0; d < l.axis; ++d) outer *= l.weight.dim(d);
    const int64_t channels = l.weight.dim(l.axis);
    for (int64_t i = 0; i < outer; ++i) {
      for (int64_t k = 0; k < inner; ++k) f((i * channels + channel) * inner + k);
    }
  }

  void quantize_weight(Layer& l) {
    const int64_t channels = l.weight.dim(l.axis);
    const auto* w = static_cast<const float*>(l.weight.raw());
    l.q = Tensor::empty(DType::kInt8, l.weight.shape());
    l.scale = Tensor::empty(DType::kFloat32, Shape{channels});
    auto* q = static_cast<int8_t*>(l.q.mutable_raw());
    auto* scale = static_cast<float*>(l.scale.mutable_raw());
    float all = 0;
    for (int64_t c = 0; c < channels; ++c) {
      float largest = 0;
      each_of_channel(l, c, [&](int64_t i) { largest = std::max(largest, std::fabs(w[i])); });
      scale[c] = largest;
      all = std::max(all, largest);
    }
    Ratio ratio;
    for (int64_t c = 0; c < channels; ++c) {
      const float s = (o_.per_channel ? scale[c] : all) / 127;
      scale[c] = s > 0 ? s : 1;
      each_of_channel(l, c, [&](int64_t i) {
        const float r = std::nearbyint(w[i] / scale[c]);
        q[i] = static_cast<int8_t>(std::clamp(r, -127.0f, 127.0f));
        const double d = q[i] * static_cast<double>(scale[c]) - w[i];
        ratio.signal += static_cast<double>(w[i]) * w[i], ratio.noise += d * d;
      });
    }
    l.report.weight_sqnr = ratio.db();
  }

  // -- which values are stored as integers

  const Layer* layer_of(const Node* n) const {
    for (const Layer& l : layers_) {
      if (l.node == n) return &l;
    }
    return nullptr;
  }
  // A layer's result with nothing but ReLU and additions of vectors behind it.
  bool is_layer_result(const Value& v) const {
    const Node* n = v.node;
    while (!n->is_param() && !layer_of(n)) {
      if (uses_[n->id] != 1 && n != v.node) return false;
      if (!is(*n, "relu") && !(is(*n, "add") && weight(n->inputs[1]))) return false;
      n = n->inputs[0].node;
    }
    const Layer* l = layer_of(n);
    return l && l->report.quantized;
  }

  void find_stored() {
    for (const Layer& l : layers_) {
      if (l.report.quantized) stored_.insert(key_of(l.node->inputs[0]));
    }
    // Of two results that are added one is stored first; the other is added where it is made.
    for (const Node& n : g_.nodes()) {
      if (!is(n, "add") || n.inputs[0].shape() != n.inputs[1].shape()) continue;
      const Value &a = n.inputs[0], &b = n.inputs[1];
      if (stored_.count(key_of(a)) || stored_.count(key_of(b))) continue;
      if (!is_layer_result(a) || !is_layer_result(b)) continue;
      stored_.insert(key_of(a.node->id < b.node->id ? a : b));
    }
  }

  // -- calibration

  void calibrate(std::span<const Tensors> samples) {
    auto graph = std::make_shared<ir::Graph>("calibrate");
    std::vector<Value> at = copied(*graph);
    std::vector<Value> results;
    std::vector<ValueKey> keys(stored_.begin(), stored_.end());
    for (const ValueKey& k : keys) results.push_back({at[k.first].node, k.second});
    Tensors weights = weight_tensors();
    std::vector<Layer*> corrected;
    for (Layer& l : layers_) {
      if (!l.report.quantized || !o_.bias_correction) continue;
      corrected.push_back(&l);
      ir::ValueList in = {at_value(at, l.node->inputs[0]),
                          graph->add_param({DType::kFloat32, l.weight.shape()})};
      weights.push_back(weight_error(l));
      Value y = graph->add(*l.node->op, std::move(in), l.node->attrs)->out();
      Attr::Ints axes;
      for (int d = 0; d < y.rank(); ++d) {
        if (d != l.out) axes.push_back(d);
      }
      results.push_back(graph->add(ir::op_named("reduce_mean"), {y}, {axes})->out());
    }
    graph->set_results(results);
    auto plan = plan_of(*graph);
    std::vector<RangeObserver> observers(keys.size(), RangeObserver(o_.observer, o_.percentile));
    std::vector<std::vector<double>> means(corrected.size());
    for (const Tensors& sample : samples) {
      Tensors args = sample;
      args.insert(args.end(), weights.begin(), weights.end());
      Tensors seen = plan->run(args);
      for (size_t i = 0; i < keys.size(); ++i) observers[i].see(seen[i]);
      for (size_t i = 0; i < corrected.size(); ++i) {
        const Tensor& m = seen[keys.size() + i];
        means[i].resize(static_cast<size_t>(m.size()), 0);
        for (int64_t k = 0; k < m.size(); ++k) {
          means[i][static_cast<size_t>(k)] +=
              element_as_double(m.raw(), m.dtype(), k) / static_cast<double>(samples.size());
        }
      }
    }
    for (size_t i = 0; i < keys.size(); ++i) {
      codes_[keys[i]] = code_of(observers[i].range(), o_.symmetric);
    }
    for (size_t i = 0; i < corrected.size(); ++i) {
      corrections_[corrected[i]->node->id] = std::move(means[i]);
    }
  }

  Tensor weight_error(const Layer& l) const {
    Tensor e = Tensor::empty(DType::kFloat32, l.weight.shape());
    auto* to = static_cast<float*>(e.mutable_raw());
    const auto* w = static_cast<const float*>(l.weight.raw());
    const auto* q = static_cast<const int8_t*>(l.q.raw());
    const auto* scale = static_cast<const float*>(l.scale.raw());
    for (int64_t c = 0; c < l.scale.size(); ++c) {
      each_of_channel(l, c, [&](int64_t i) { to[i] = q[i] * scale[c] - w[i]; });
    }
    return e;
  }

  Tensors weight_tensors() const {
    Tensors all;
    for (const auto& [name, t] : model_.weights) all.push_back(t);
    return all;
  }
  std::shared_ptr<const runtime::Plan> plan_of(const ir::Graph& g) const {
    runtime::PlanOptions options;
    options.donated.assign(g.params().size(), false);
    options.steady.assign(g.params().size(), true);
    std::fill_n(options.steady.begin(), model_.inputs.size(), false);
    return runtime::Plan::build(g, options);
  }

  // The graph again; by node id, result 0 there.
  std::vector<Value> copied(ir::Graph& to) const {
    std::vector<Value> at(g_.size());
    for (const Node& n : g_.nodes()) {
      if (n.is_param()) {
        at[n.id] = to.add_param(n.types[0], n.name);
        continue;
      }
      ir::ValueList in;
      for (const Value& v : n.inputs) in.push_back(at_value(at, v));
      at[n.id] = to.add_typed(*n.op, std::move(in), n.attrs, n.types, n.loc)->out();
    }
    return at;
  }
  static Value at_value(const std::vector<Value>& at, const Value& v) {
    return v ? Value{at[v.node->id].node, v.index} : Value();
  }

  // -- the quantized network

  runtime::TracedModel rebuilt() {
    out_ = std::make_shared<ir::Graph>("quantized");
    made_ = runtime::TracedModel{};
    made_.inputs = model_.inputs;
    at_.assign(g_.size(), Value());
    for (size_t i = 0; i < model_.inputs.size(); ++i) {
      const Value& p = g_.params()[i];
      at_[p.node->id] = out_->add_param(p.type(), p.node->name);
    }
    for (const Node& n : g_.nodes()) {
      if (n.is_param()) continue;
      const Layer* l = layer_of(&n);
      at_[n.id] = l && l->report.quantized ? emit_layer(*l) : emit_plain(n);
    }
    std::vector<Value> results;
    for (const Value& v : g_.results()) results.push_back(plain(v));
    out_->set_results(std::move(results));
    made_.graph = out_;
    return std::move(made_);
  }

  Value weight_param(const std::string& name, const Tensor& t) {
    std::string unique = name;
    for (int k = 1; !names_.insert(unique).second; ++k) unique = fmt::format("{}.{}", name, k);
    made_.weights.emplace_back(unique, t);
    return out_->add_param({t.dtype(), t.shape()}, unique);
  }
  // As it was, in floats; but where it is stored as integers everybody reads those.
  Value plain(const Value& v) {
    if (!v) return {};
    if (weight_of_.count(v.node->id)) {
      Value& to = at_[v.node->id];
      if (!to) {
        const auto& [name, t] = model_.weights[weight_of_.at(v.node->id)];
        to = weight_param(name, t);
      }
      return to;
    }
    if (stored_.count(key_of(v))) return integers(v, codes_.at(key_of(v)));
    return at_value(at_, v);
  }
  Value scale_of(const IntegerCode& c) {
    Tensor t = Tensor::scalar(DType::kFloat32, c.scale);
    return out_->add(*ir::core_ops().constant, {}, {Attr(t)})->out();
  }
  Value integers(const Value& v, const IntegerCode& code) {
    Value& there = dequantized_[key_of(v)];
    if (there) return there;
    const Node& n = *v.node;
    if (moves_elements(n) && uses_[n.inputs[0].node->id] == 1 &&
        !stored_.count(key_of(n.inputs[0]))) {
      ir::ValueList in;
      for (const Value& x : n.inputs) in.push_back(plain(x));
      in[0] = integers(n.inputs[0], code);
      return there = out_->add(*n.op, std::move(in), n.attrs, n.loc)->out();
    }
    Value scale = scale_of(code);
    Value q = out_->add(ir::op_named("quantize"), {at_value(at_, v), scale},
                        {int64_t{0}, code.dtype, code.zero}, n.loc)
                  ->out();
    return there = out_->add(ir::op_named("dequantize"), {q, scale}, {int64_t{0}, code.zero}, n.loc)
                       ->out();
  }

  Value emit_plain(const Node& n) {
    ir::ValueList in;
    for (const Value& v : n.inputs) in.push_back(plain(v));
    return out_->add_typed(*n.op, std::move(in), n.attrs, n.types, n.loc)->out();
  }

  Value emit_layer(const Layer& l) {
    const Node& n = *l.node;
    Value q = weight_param(l.name, l.q), scale = weight_param(l.name + ".scale", l.scale);
    Value w =
        out_->add(ir::op_named("dequantize"), {q, scale}, {int64_t{l.axis}, int64_t{0}}, n.loc)
            ->out();
    ir::ValueList in = {plain(n.inputs[0]), w};
    auto it = corrections_.find(n.id);
    const bool takes_bias = !is(n, "batch_matmul");
    Value bias = takes_bias && n.inputs.size() > 2 ? plain(n.inputs[2]) : Value();
    Tensor less;
    if (it != corrections_.end()) {
      less = Tensor::empty(DType::kFloat32, Shape{static_cast<int64_t>(it->second.size())});
      for (int64_t i = 0; i < less.size(); ++i)
        set_element(less.mutable_raw(), DType::kFloat32, i, -it->second[static_cast<size_t>(i)]);
    }
    if (less && takes_bias) {
      const Tensor* own = n.inputs.size() > 2 ? weight(n.inputs[2]) : nullptr;
      if (own) less = runtime::call1(ir::op_named("add"), {*own, less});
      Value shift = weight_param(l.name + ".bias", less);
      bias = bias && !own ? out_->add(ir::op_named("add"), {bias, shift})->out() : shift;
    }
    if (bias) in.push_back(bias);
    Value y = out_->add_typed(*n.op, std::move(in), n.attrs, n.types, n.loc)->out();
    if (less && !takes_bias)
      y = out_->add(ir::op_named("add"), {y, weight_param(l.name + ".bias", less)})->out();
    return y;
  }

  // -- what came of it

  QuantizeReport report(const runtime::TracedModel& to, std::span<const Tensors> samples) {
    QuantizeReport r;
    Tensors before = weight_tensors(), after;
    for (const auto& [name, t] : to.weights) after.push_back(t);
    for (const Tensor& t : before) r.bytes_before += static_cast<int64_t>(t.bytes());
    for (const Tensor& t : after) r.bytes_after += static_cast<int64_t>(t.bytes());
    // Results, then those of the layers.
    auto want_graph = std::make_shared<ir::Graph>("before");
    std::vector<Value> at = copied(*want_graph), want, got;
    for (const Value& v : g_.results()) want.push_back(at_value(at, v));
    for (const Value& v : out_->results()) got.push_back(v);
    for (const Layer& l : layers_) {
      want.push_back(at[l.node->id]);
      got.push_back(at_[l.node->id]);
    }
    want_graph->set_results(want);
    auto got_graph = std::make_shared<ir::Graph>("after");
    std::vector<Value> there(out_->size());
    for (const Node& n : out_->nodes()) {
      if (n.is_param()) {
        there[n.id] = got_graph->add_param(n.types[0], n.name);
        continue;
      }
      ir::ValueList in;
      for (const Value& v : n.inputs) in.push_back(at_value(there, v));
      there[n.id] = got_graph->add_typed(*n.op, std::move(in), n.attrs, n.types, n.loc)->out();
    }
    for (Value& v : got) v = at_value(there, v);
    got_graph->set_results(got);
    auto plan_before = plan_of(*want_graph), plan_after = plan_of(*got_graph);
    std::vector<Ratio> ratios(want.size());
    constexpr size_t kMost = 8;
    for (size_t s = 0; s < std::min(samples.size(), kMost); ++s) {
      Tensors a = samples[s], b = samples[s];
      a.insert(a.end(), before.begin(), before.end());
      b.insert(b.end(), after.begin(), after.end());
      Tensors x = plan_before->run(a), y = plan_after->run(b);
      for (size_t i = 0; i < ratios.size(); ++i) ratios[i].see(x[i], y[i]);
    }
    Ratio whole;
    const size_t results = g_.results().size();
    for (size_t i = 0; i < results; ++i) {
      whole.signal += ratios[i].signal, whole.noise += ratios[i].noise;
    }
    r.output_sqnr = whole.db();
    for (size_t i = 0; i < layers_.size(); ++i) {
      Layer& l = layers_[i];
      l.report.output_sqnr = ratios[results + i].db();
      if (l.report.quantized) {
        const IntegerCode& c = codes_.at(key_of(l.node->inputs[0]));
        l.report.input = c.dtype, l.report.input_scale = c.scale, l.report.input_zero = c.zero;
      }
      r.layers.push_back(l.report);
    }
    return r;
  }

  runtime::TracedModel model_;
  const ir::Graph& g_;
  const QuantizeOptions& o_;
  std::vector<uint32_t> uses_;
  std::map<uint32_t, size_t> weight_of_;  // by node id of the parameter
  std::vector<Layer> layers_;
  std::set<ValueKey> stored_;
  std::map<ValueKey, IntegerCode> codes_;
  std::map<uint32_t, std::vector<double>> corrections_;
  // Of the new network.
  std::shared_ptr<ir::Graph> out_;
  runtime::TracedModel made_;
  std::vector<Value> at_;
  std::map<ValueKey, Value> dequantized_;
  std::set<std::string> names_;
};

void check(const runtime::TracedModel& model, std::span<const Tensors> samples) {
  if (samples.empty()) {
    throw UserError(ErrorKind::kValue, "quantize: no samples are given",
                    "int8 needs some inputs of the network, from which ranges are taken.");
  }
  for (const Tensors& s : samples) {
    if (s.size() != model.inputs.size()) {
      value_error("quantize: a sample has {} tensors, the network takes {} inputs", s.size(),
                  model.inputs.size());
    }
    for (size_t i = 0; i < s.size(); ++i) {
      const ir::Type& t = model.graph->params()[i].type();
      if (s[i].dtype() != t.dtype || !(s[i].shape() == t.shape)) {
        value_error("quantize: input '{}' is {}; a sample has {}", model.inputs[i], t.str(),
                    s[i].describe());
      }
    }
  }
}

}  // namespace

Observer observer_named(const std::string& name) {
  if (name == "minmax") return Observer::kMinMax;
  if (name == "moving_average") return Observer::kMovingAverage;
  if (name == "percentile") return Observer::kPercentile;
  if (name == "entropy") return Observer::kEntropy;
  value_error("there is no observer '{}'; observers: minmax, moving_average, percentile, entropy",
              name);
}

QuantizedModel quantize(const runtime::TracedModel& model, std::span<const Tensors> samples,
                        const QuantizeOptions& options) {
  if (options.percentile <= 50 || options.percentile > 100)
    value_error("quantize: percentile {}; allowed are numbers above 50 up to 100",
                options.percentile);
  check(model, samples);
  return Quantizer(baked(model), options).run(samples);
}

std::vector<std::string> QuantizeReport::lines() const {
  std::vector<std::string> out;
  for (const QuantizedLayer& l : layers) {
    out.push_back(l.quantized
                      ? fmt::format("{} {}: input {} scale {:.4g} zero {}, weight {:.1f} dB, "
                                    "output {:.1f} dB",
                                    l.op, l.name, name_of(l.input), l.input_scale, l.input_zero,
                                    l.weight_sqnr, l.output_sqnr)
                      : fmt::format("{} {}: float32, {}; output {:.1f} dB", l.op, l.name, l.why,
                                    l.output_sqnr));
  }
  out.push_back(fmt::format("weights {} -> {} bytes; results {:.1f} dB", bytes_before, bytes_after,
                            output_sqnr));
  return out;
}

}  // namespace mycel::lite
