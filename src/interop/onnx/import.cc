// A model as one graph with the names of its nodes: every node runs on a recorder that keeps
// composite ops, weights being known, inputs abstract.
#include <algorithm>

#include "base/error.h"
#include "interop/onnx/call.h"
#include "interop/onnx/model.h"
#include "interop/onnx/scope.h"
#include "runtime/random_state.h"
#include "runtime/trace.h"

namespace mycel::interop::onnx {
namespace {

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == at)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  std::erase(parts, "");
  return parts;
}

// The items of "['', 'layer1', 'layer1.0']".
std::vector<std::string> items_of(const std::string& text) {
  std::vector<std::string> items;
  size_t at = 0;
  while ((at = text.find('\'', at)) != std::string::npos) {
    size_t end = text.find('\'', at + 1);
    if (end == std::string::npos) break;
    items.push_back(text.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return items;
}

// "['', 'layer1', 'layer1.0', 'layer1.0.conv1', 'conv2d']": each names the module with its path;
// the last is the function inside.
std::vector<std::string> scope_of_list(const std::string& text) {
  std::vector<std::string> items = items_of(text);
  if (items.size() < 2) return {};
  return split(items[items.size() - 2], '.');
}

// "/layer1/layer1.0/conv1/Conv": modules, some with the path to them, and the op.
std::vector<std::string> scope_of_name(const std::string& name) {
  std::vector<std::string> parts = split(name, '/'), out;
  if (parts.size() < 2) return {};
  parts.pop_back();
  for (const std::string& part : parts) {
    std::string last = part;
    std::string before = out.empty() ? "" : out.back();
    // "layer1.0" inside of "layer1" is its child 0.
    if (!before.empty() && part.starts_with(before + "."))
      last = part.substr(before.size() + 1);
    else if (size_t dot = part.rfind('.'); dot != std::string::npos && !before.empty())
      last = part.substr(dot + 1);
    for (const std::string& piece : split(last, '.')) out.push_back(piece);
  }
  return out;
}

std::vector<std::string> scope_of(const pb::Node& n) {
  for (const pb::Entry& e : n.metadata_props()) {
    if (e.key() == "pkg.torch.onnx.name_scopes") return scope_of_list(e.value());
  }
  return scope_of_name(n.name());
}

// Classes of the modules, of torch's class hierarchy beside its scopes; those of torch itself say
// no more than the op.
std::vector<std::pair<std::string, std::string>> classes_of(const pb::Node& n) {
  std::string names, types;
  for (const pb::Entry& e : n.metadata_props()) {
    if (e.key() == "pkg.torch.onnx.name_scopes") names = e.value();
    if (e.key() == "pkg.torch.onnx.class_hierarchy") types = e.value();
  }
  std::vector<std::string> paths = items_of(names), classes = items_of(types);
  std::vector<std::pair<std::string, std::string>> out;
  for (size_t i = 1; i + 1 < paths.size() && paths.size() == classes.size(); ++i) {
    if (classes[i].starts_with("torch.nn.")) continue;
    out.emplace_back(paths[i], classes[i].substr(classes[i].rfind('.') + 1));
  }
  return out;
}

std::string text_of(const pb::Attribute& a) {
  if (a.has_s()) return a.s();
  if (a.has_i()) return std::to_string(a.i());
  if (a.has_f()) return std::to_string(a.f());
  std::string s;
  for (const std::string& item : a.strings()) s += (s.empty() ? "" : " ") + item;
  for (int64_t item : a.ints()) s += (s.empty() ? "" : " ") + std::to_string(item);
  return s;
}

class Origins final : public NodeWatch {
 public:
  explicit Origins(runtime::Recorder& r) : recorder_(r) {}

  void begin(const Call& c) override {
    Origin o;
    o.op = c.node.op_type();
    o.name = c.node.name();
    if (o.name.empty() && c.node.output_size()) o.name = c.node.output(0);
    o.scope = scope_of(c.node);
    o.classes = classes_of(c.node);
    o.begin = static_cast<uint32_t>(recorder_.graph().size());
    for (int i = 0; i < c.inputs(); ++i) {
      bool tensor = c.has(i) && c.value(i).kind == OnnxValue::Kind::kTensor;
      o.given.push_back(tensor ? c.value(i).tensor : Tensor());
      o.in.push_back(value_of(o.given.back()));
    }
    for (const pb::Attribute& a : c.node.attribute()) o.attrs.emplace_back(a.name(), text_of(a));
    list.push_back(std::move(o));
  }
  void end(const Call&, const Values& results) override {
    Origin& o = list.back();
    o.end = static_cast<uint32_t>(recorder_.graph().size());
    for (const Value& v : results)
      o.out.push_back(value_of(v.kind == OnnxValue::Kind::kTensor ? v.tensor : Tensor()));
  }

  std::vector<Origin> list;

 private:
  ir::Value value_of(Tensor t) const {
    runtime::Traced* traced = t ? static_cast<runtime::Traced*>(t.trace().get()) : nullptr;
    if (!traced || traced->level->recorder != &recorder_) return {};
    return traced->value;
  }
  runtime::Recorder& recorder_;
};

}  // namespace

ImportedGraph ReadModel::import_graph(std::span<const Tensor> inputs) const {
  ImportedGraph out;
  if (inputs.size() != inputs_.size())
    value_error("ONNX: {} inputs given, {} expected", inputs.size(), inputs_.size());
  runtime::Recorder r("network", true);
  r.keep_composites();
  Scope scope(file_);
  scope.abstract = true;
  for (size_t i = 0; i < inputs.size(); ++i) {
    out.inputs.push_back(inputs_[i].name);
    scope.set(inputs_[i].name, Value(r.watch(inputs[i], inputs_[i].name)));
  }
  for (const auto& [name, value] : weights_) scope.set(name, Value(r.watch(value, name)));
  size_t known = r.param_primals().size();
  runtime::KeySource source([&](uint64_t) -> Tensor {
    throw UserError(ErrorKind::kUnsupported,
                    "the model draws random numbers, which a converted network does not");
  });
  Origins origins(r);
  scope.watch = &origins;
  Values results = run_nodes(file_.graph(), scope);
  std::vector<ir::Value> values;
  for (const Value& v : results) {
    if (v.kind != OnnxValue::Kind::kTensor)
      throw UserError(ErrorKind::kUnsupported, "a result of the model is no tensor");
    values.push_back(r.value_of(v.tensor));
  }
  r.graph().set_results(std::move(values));
  const Tensors& all = r.param_primals();
  out.weights = weights_;
  out.statistics = statistics_;
  out.captured.assign(all.begin() + static_cast<int64_t>(known), all.end());
  for (const ir::Node& n : r.graph().nodes()) {
    out.first_value.push_back(out.values.size());
    for (uint32_t i = 0; i < n.types.size(); ++i) {
      Tensor p = r.primal_of({const_cast<ir::Node*>(&n), i});
      bool known_now = p && runtime::primal(p).concrete();
      out.values.push_back(known_now ? runtime::primal(p) : Tensor());
    }
  }
  out.origins = std::move(origins.list);
  out.graph = r.graph_ptr();
  r.close();
  return out;
}

}  // namespace mycel::interop::onnx
