// Reads frozen TensorFlow graphs: the nodes that the outputs need, in an order in which they can
// run, and the functions that their control flow calls.
#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "base/error.h"
#include "interop/tensorflow/graph_tensors.h"
#include "interop/tensorflow/record.h"
#include "interop/wire_check.h"

namespace mycel::interop::tensorflow {
namespace {

using PbNodes = google::protobuf::RepeatedPtrField<pb::Node>;
using Names = std::vector<std::string>;

enum Kind : uint8_t {
  kGraph,
  kNode,
  kEntry,
  kAttr,
  kList,
  kShape,
  kDim,
  kTensor,
  kFunc,
  kLibrary,
  kFunction,
  kOpDef,
  kArg,
  kRet,
  kKinds
};

void check_bytes(std::string_view bytes) {
  static const std::vector<WireMessage> kinds = [] {
    std::vector<WireMessage> m(kKinds);
    m[kGraph] = {120, {{1, kNode}, {2, kLibrary}}, {}};
    m[kNode] = {160, {{5, kEntry}}, {3}};
    m[kEntry] = {96, {{2, kAttr}}, {}};
    m[kAttr] = {48, {{1, kList}, {7, kShape}, {8, kTensor}, {10, kFunc}}, {}};
    m[kList] = {160, {{7, kShape}}, {2}};
    m[kShape] = {48, {{2, kDim}}, {}};
    m[kDim] = {32, {}, {}};
    m[kTensor] = {232, {{2, kShape}}, {}};
    m[kFunc] = {40, {}, {}};
    m[kLibrary] = {48, {{1, kFunction}}, {}};
    m[kFunction] = {200, {{1, kOpDef}, {3, kNode}, {4, kRet}, {5, kEntry}}, {}};
    m[kOpDef] = {96, {{2, kArg}, {3, kArg}}, {}};
    m[kArg] = {120, {}, {}};
    m[kRet] = {96, {}, {}};
    return m;
  }();
  check_wire(bytes, kinds, "TensorFlow");
}

// "^a": what must run before, which means nothing where no node has side effects.
bool is_control(const std::string& input) { return input.starts_with("^"); }

struct Edge {
  std::string node;
  int index = 0;
};

// Results that functions call by name.
int result_index(const std::string& op, const std::string& result) {
  static const std::map<std::string, Names> named = {
      {"TopKV2", {"values", "indices"}},
      {"Unique", {"y", "idx"}},
      {"FusedBatchNorm", {"y", "batch_mean", "batch_variance"}},
      {"FusedBatchNormV2", {"y", "batch_mean", "batch_variance"}},
      {"FusedBatchNormV3", {"y", "batch_mean", "batch_variance"}},
  };
  auto it = named.find(op);
  if (it == named.end()) return 0;
  auto at = std::find(it->second.begin(), it->second.end(), result);
  return at == it->second.end() ? 0 : static_cast<int>(at - it->second.begin());
}

class Builder {
 public:
  Builder(const std::map<std::string, int>& functions, std::vector<std::string>& wanted)
      : functions_(functions), wanted_(wanted) {}

  Graph whole(const pb::Graph& from, const Names& inputs, const Names& outputs) {
    where_ = "TensorFlow";
    graph_.name = "main";
    index(from.node());
    for (const std::string& name : inputs) add_input(edge(name, false));
    if (inputs.empty()) {
      for (const pb::Node& n : from.node()) {
        if (n.op() == "Placeholder") add_input({n.name(), 0});
      }
    }
    for (const Edge& e : outputs.empty() ? last_results(from.node()) : edges(outputs))
      graph_.outputs.push_back(visit(e));
    if (graph_.outputs.empty()) value_error("{}: the graph has no outputs", where_);
    return std::move(graph_);
  }

  Graph function(const pb::Function& f) {
    where_ = fmt::format("TensorFlow: function '{}'", f.signature().name());
    graph_.name = f.signature().name();
    in_function_ = true;
    index(f.node_def());
    for (const pb::Arg& a : f.signature().input_arg()) {
      if (!a.number_attr().empty() || !a.type_list_attr().empty())
        fail(ErrorKind::kUnsupported, "{}: argument '{}' is a list", where_, a.name());
      arguments_[a.name()] = static_cast<int>(graph_.slots.size());
      graph_.inputs.push_back(static_cast<int>(graph_.slots.size()));
      graph_.slots.push_back({a.name()});
    }
    for (const pb::Arg& a : f.signature().output_arg()) {
      auto it = f.ret().find(a.name());
      if (it == f.ret().end()) value_error("{}: nothing gives '{}'", where_, a.name());
      graph_.outputs.push_back(visit(edge(it->second, true)));
    }
    return std::move(graph_);
  }

 private:
  void index(const PbNodes& nodes) {
    for (int i = 0; i < nodes.size(); ++i) {
      if (!nodes_.emplace(nodes[i].name(), i).second)
        value_error("{}: two nodes are called '{}'", where_, nodes[i].name());
    }
    all_ = &nodes;
  }

  // "a", "a:1"; inside functions "a:result:1".
  Edge edge(const std::string& text, bool) const {
    Edge e;
    const size_t first = text.find(':');
    e.node = text.substr(0, first);
    if (first == std::string::npos) return e;
    const size_t last = text.rfind(':');
    const std::string digits = text.substr(last + 1);
    if (digits.empty() || digits.size() > 6 ||
        digits.find_first_not_of("0123456789") != std::string::npos)
      value_error("{}: '{}' names no result of a node", where_, text);
    e.index = std::stoi(digits);
    if (first != last) {
      auto it = nodes_.find(e.node);
      if (it != nodes_.end())
        e.index += result_index((*all_)[it->second].op(), text.substr(first + 1, last - first - 1));
    }
    return e;
  }
  std::vector<Edge> edges(const Names& names) const {
    std::vector<Edge> out;
    for (const std::string& n : names) out.push_back(edge(n, false));
    return out;
  }

  std::vector<Edge> last_results(const PbNodes& nodes) const {
    std::set<std::string> read;
    for (const pb::Node& n : nodes) {
      for (const std::string& i : n.input()) {
        if (!is_control(i)) read.insert(edge(i, false).node);
      }
    }
    std::vector<Edge> out;
    for (const pb::Node& n : nodes) {
      if (!read.count(n.name()) && n.op() != "NoOp" && n.op() != "Const" && n.op() != "Placeholder")
        out.push_back({n.name(), 0});
    }
    return out;
  }

  void add_input(const Edge& e) {
    const pb::Node& n = node(e.node);
    Slot s;
    s.name = e.index ? fmt::format("{}:{}", e.node, e.index) : e.node;
    if (n.op() == "Placeholder") {
      auto type = n.attr().find("dtype");
      if (type != n.attr().end()) {
        s.typed = parse_graph_dtype(type->second.type(), &s.dtype);
        if (!s.typed)
          fail(ErrorKind::kUnsupported, "{}: input '{}' is of {}", where_, s.name,
               graph_dtype_name(type->second.type()));
      }
      auto shape = n.attr().find("shape");
      if (shape != n.attr().end() && !shape->second.shape().unknown_rank() &&
          shape->second.has_shape()) {
        s.ranked = true;
        if (shape->second.shape().dim_size() > kMaxRank)
          value_error("{}: input '{}' has {} dims", where_, s.name,
                      shape->second.shape().dim_size());
        for (const auto& d : shape->second.shape().dim())
          s.shape.push_back(d.size() < 0 ? kUnknownDim : d.size());
      }
    }
    const int at = static_cast<int>(graph_.slots.size());
    if (!slots_.emplace(std::pair{e.node, e.index}, at).second)
      value_error("{}: input '{}' is named twice", where_, s.name);
    graph_.slots.push_back(std::move(s));
    graph_.inputs.push_back(at);
  }

  const pb::Node& node(const std::string& name) const {
    auto it = nodes_.find(name);
    if (it == nodes_.end()) value_error("{}: there is no node '{}'", where_, name);
    return (*all_)[it->second];
  }

  // The slot of a result; its node, and all that it needs, are added first. Without recursion:
  // graphs are as deep as they please.
  int visit(const Edge& root) {
    std::vector<std::string> stack{root.node};
    while (!stack.empty()) {
      const std::string name = stack.back();
      if (done_.count(name) || arguments_.count(name)) {
        stack.pop_back();
        continue;
      }
      const pb::Node& n = node(name);
      bool ready = true;
      if (!open_.count(name)) {
        open_.insert(name);
        for (const std::string& i : n.input()) {
          if (is_control(i)) continue;
          const Edge e = edge(i, in_function_);
          if (slots_.count({e.node, e.index}) || done_.count(e.node) || arguments_.count(e.node))
            continue;
          if (open_.count(e.node)) value_error("{}: node '{}' reads itself", where_, e.node);
          stack.push_back(e.node);
          ready = false;
        }
      }
      if (!ready) continue;
      stack.pop_back();
      // Pushed twice before it was added.
      if (done_.count(name)) continue;
      add(n);
      done_.insert(name);
      open_.erase(name);
    }
    return slot(root);
  }

  int slot(const Edge& e) {
    if (auto it = arguments_.find(e.node); it != arguments_.end()) return it->second;
    if (auto it = slots_.find({e.node, e.index}); it != slots_.end()) return it->second;
    auto owner = made_.find(e.node);
    if (owner == made_.end()) value_error("{}: nothing gives '{}:{}'", where_, e.node, e.index);
    constexpr int kMostResults = 4096;
    if (e.index >= kMostResults) value_error("{}: '{}' has no result {}", where_, e.node, e.index);
    const int at = static_cast<int>(graph_.slots.size());
    slots_[{e.node, e.index}] = at;
    Node& n = graph_.nodes[owner->second];
    if (n.out.size() <= static_cast<size_t>(e.index))
      n.out.resize(static_cast<size_t>(e.index) + 1, -1);
    n.out[static_cast<size_t>(e.index)] = at;
    graph_.slots.push_back({e.index ? fmt::format("{}:{}", e.node, e.index) : e.node});
    return at;
  }

  void add(const pb::Node& from) {
    if (slots_.count({from.name(), 0}) && from.op() == "Placeholder") return;
    const std::string owner = fmt::format("{}: node '{}'", where_, from.name());
    if (from.op() == "Const") return add_constant(from, owner);
    if (from.op() == "Placeholder") value_error("{}: it is no input that was named", owner);
    if (!find_record(false, from.op())) refuse(from, owner);
    Node n;
    n.op = from.op();
    n.name = from.name();
    n.at = nodes_.at(from.name());
    for (const std::string& i : from.input()) {
      if (!is_control(i)) n.in.push_back(slot(edge(i, in_function_)));
    }
    std::map<std::string, const pb::AttrValue*> sorted;
    for (const auto& [key, value] : from.attr()) sorted[key] = &value;
    for (const auto& [key, value] : sorted) add_attr(n, key, *value, owner);
    made_[from.name()] = graph_.nodes.size();
    graph_.nodes.push_back(std::move(n));
  }

  [[noreturn]] static void refuse(const pb::Node& n, const std::string& owner) {
    static const std::set<std::string> older = {
        "Switch", "Merge", "Enter", "Exit", "NextIteration", "LoopCond", "RefSwitch", "RefMerge"};
    if (older.count(n.op()))
      throw UserError(ErrorKind::kUnsupported,
                      fmt::format("{}: op {} is control flow of version 1", owner, n.op()),
                      "Freeze the graph with control flow of version 2 (If, While), or without.");
    throw UserError(ErrorKind::kUnsupported,
                    fmt::format("{}: op {} is not supported", owner, n.op()),
                    n.op().find("Var") != std::string::npos ? "Freeze the variables first." : "");
  }

  void add_constant(const pb::Node& from, const std::string& owner) {
    auto value = from.attr().find("value");
    if (value == from.attr().end() || !value->second.has_tensor())
      value_error("{}: it has no value", owner);
    StoredTensor t = read_graph_tensor(value->second.tensor(), owner);
    const int at = static_cast<int>(graph_.slots.size());
    slots_[{from.name(), 0}] = at;
    Slot s{from.name()};
    s.typed = s.ranked = true;
    s.dtype = t.values.dtype();
    s.shape = t.shape;
    const int64_t have = t.values.size(), want = t.shape.size();
    if (have == want) s.constant = t.values.view(t.shape);
    graph_.slots.push_back(std::move(s));
    if (have != want) add_filled(at, t, owner);
  }

  // The last element stands for those that follow: they are made where they are needed.
  void add_filled(int at, const StoredTensor& t, const std::string& owner) {
    const int64_t have = t.values.size();
    if (have > 1) {
      // Told apart from one number: the elements before stay.
      constexpr int64_t kMost = 1 << 20;
      if (t.shape.size() > kMost)
        value_error("{}: {} of its {} elements are given", owner, have, t.shape.size());
      Tensor whole = Tensor::empty(t.values.dtype(), t.shape);
      const size_t each = size_of(whole.dtype());
      auto* to = static_cast<char*>(whole.mutable_raw());
      const auto* from = static_cast<const char*>(t.values.raw());
      for (int64_t i = 0; i < whole.size(); ++i)
        std::copy_n(from + static_cast<size_t>(std::min(i, have - 1)) * each, each,
                    to + static_cast<size_t>(i) * each);
      graph_.slots[static_cast<size_t>(at)].constant = whole;
      return;
    }
    Node n;
    n.op = "BroadcastTo";
    n.name = graph_.slots[static_cast<size_t>(at)].name;
    n.at = nodes_.at(n.name);
    n.in = {static_cast<int>(graph_.slots.size()), static_cast<int>(graph_.slots.size()) + 1};
    n.out = {at};
    Slot one, dims;
    one.name = n.name + "/value";
    one.constant = have ? t.values.view(Shape()) : Tensor::zeros(t.values.dtype(), Shape());
    dims.name = n.name + "/shape";
    dims.constant = Tensor::from(Ints(t.shape.begin(), t.shape.end()), Shape{t.shape.rank()});
    graph_.slots.push_back(std::move(one));
    graph_.slots.push_back(std::move(dims));
    made_[n.name] = graph_.nodes.size();
    graph_.nodes.push_back(std::move(n));
  }

  void add_attr(Node& n, const std::string& key, const pb::AttrValue& v, const std::string& owner) {
    using Case = pb::AttrValue::ValueCase;
    switch (v.value_case()) {
      case Case::kS:
        n.attrs.emplace_back(key, v.s());
        break;
      case Case::kI:
        n.attrs.emplace_back(key, static_cast<int64_t>(v.i()));
        break;
      case Case::kF:
        n.attrs.emplace_back(key, static_cast<double>(v.f()));
        break;
      case Case::kB:
        n.attrs.emplace_back(key, v.b());
        break;
      case Case::kType: {
        DType d{};
        if (parse_graph_dtype(v.type(), &d)) n.attrs.emplace_back(key, d);
        break;
      }
      case Case::kList:
        if (v.list().f_size())
          n.attrs.emplace_back(key, std::vector<double>(v.list().f().begin(), v.list().f().end()));
        else
          n.attrs.emplace_back(key, Ints(v.list().i().begin(), v.list().i().end()));
        break;
      case Case::kFunc: {
        auto it = functions_.find(v.func().name());
        if (it == functions_.end())
          value_error("{}: there is no function '{}'", owner, v.func().name());
        n.graphs.emplace_back(key, it->second);
        wanted_.push_back(v.func().name());
        break;
      }
      default:
        break;  // shapes and tensors: no op reads them here
    }
  }

  const std::map<std::string, int>& functions_;
  std::vector<std::string>& wanted_;
  Graph graph_;
  std::string where_;
  bool in_function_ = false;
  const PbNodes* all_ = nullptr;
  std::unordered_map<std::string, int> nodes_, arguments_;
  std::unordered_map<std::string, size_t> made_;
  std::map<std::pair<std::string, int>, int> slots_;
  std::set<std::string> open_, done_;
};

}  // namespace

File read_graph_def(std::string_view bytes, const Names& inputs, const Names& outputs) {
  check_bytes(bytes);
  pb::Graph from;
  if (!from.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    value_error("TensorFlow: the {} bytes are no GraphDef", bytes.size());
  if (from.node_size() == 0) value_error("TensorFlow: the graph has no nodes");
  std::map<std::string, int> functions;
  std::vector<const pb::Function*> by_index{nullptr};
  for (const pb::Function& f : from.library().function()) {
    functions[f.signature().name()] = static_cast<int>(by_index.size());
    by_index.push_back(&f);
  }
  File file;
  std::vector<std::string> wanted;
  file.graphs.resize(by_index.size());
  file.graphs[0] = Builder(functions, wanted).whole(from, inputs, outputs);
  std::set<std::string> read;
  while (!wanted.empty()) {
    const std::string name = wanted.back();
    wanted.pop_back();
    if (!read.insert(name).second) continue;
    const auto at = static_cast<size_t>(functions.at(name));
    file.graphs[at] = Builder(functions, wanted).function(*by_index[at]);
  }
  return file;
}

}  // namespace mycel::interop::tensorflow
