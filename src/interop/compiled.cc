// Compiling a model: its nodes are run on abstract tensors, which gives a Mycel graph, and that
// becomes a plan.
#include "interop/compiled.h"

#include <cstring>

#include <fmt/format.h>

#include "runtime/random_state.h"
#include "runtime/trace.h"

namespace mycel::interop {
namespace {

// The inputs, by position, whose values the compiler asked for.
struct NeedsValues : UserError {
  NeedsValues(std::string text, std::set<size_t> i)
      : UserError(ErrorKind::kValue, std::move(text)), inputs(std::move(i)) {}
  std::set<size_t> inputs;
};

constexpr size_t kMaxPrograms = 64;          // the oldest goes first
constexpr int64_t kMaxFixedElements = 4096;  // larger inputs decide no shape by their values

void flatten(const OnnxValue& v, Tensors& into) {
  if (v.kind == OnnxValue::Kind::kTensor) into.push_back(v.tensor);
  for (const OnnxValue& item : v.items) flatten(item, into);
}

OnnxValue rebuilt(const OnnxValue& like, const Tensors& tensors, size_t& next) {
  if (like.kind == OnnxValue::Kind::kTensor) return tensors[next++];
  OnnxValue v;
  v.kind = like.kind;
  for (const OnnxValue& item : like.items) v.items.push_back(rebuilt(item, tensors, next));
  return v;
}

OnnxValues rebuilt(std::span<const OnnxValue> like, const Tensors& tensors) {
  OnnxValues out;
  size_t next = 0;
  for (const OnnxValue& v : like) out.push_back(rebuilt(v, tensors, next));
  return out;
}

std::string describe(const OnnxValue& v) {
  if (v.kind == OnnxValue::Kind::kNothing) return "-;";
  if (v.kind == OnnxValue::Kind::kTensor) return v.tensor.describe() + ";";
  std::string s = "[";
  for (const OnnxValue& item : v.items) s += describe(item);
  return s + "]";
}

std::string bytes_of(const Tensor& t) { return {static_cast<const char*>(t.raw()), t.bytes()}; }

// The inputs that a value of the graph is computed from; false when there is none, or when it does
// not belong to this graph.
bool origins(const runtime::Recorder& r, const ir::Graph& g, const Tensor& t,
             const std::vector<size_t>& positions, std::set<size_t>* out) {
  Tensor plain = t;
  runtime::Traced* traced = plain ? static_cast<runtime::Traced*>(plain.trace().get()) : nullptr;
  if (!traced || traced->level->recorder != &r) return false;
  std::vector<const ir::Node*> stack{traced->value.node};
  std::set<const ir::Node*> seen;
  size_t before = out->size();
  while (!stack.empty()) {
    const ir::Node* n = stack.back();
    stack.pop_back();
    if (!n || !seen.insert(n).second) continue;
    if (n->is_param()) {
      for (size_t i = 0; i < positions.size(); ++i) {
        if (g.params()[i].node == n) out->insert(positions[i]);
      }
    }
    for (const ir::Value& v : n->inputs) stack.push_back(v.node);
  }
  return out->size() > before;
}

}  // namespace

std::shared_ptr<const Program> CompiledModel::compile(std::span<const OnnxValue> inputs,
                                                      const std::set<size_t>& fixed) const {
  auto program = std::make_shared<Program>();
  runtime::Recorder r("model", true);
  r.keep_kernels();
  Tensors given, watched;
  for (const OnnxValue& v : inputs) flatten(v, given);
  for (size_t i = 0; i < given.size(); ++i) {
    if (fixed.count(i)) {
      watched.push_back(given[i]);
      continue;
    }
    program->inputs.push_back(i);
    watched.push_back(r.watch(Tensor::abstract(given[i].dtype(), given[i].shape())));
  }
  std::vector<size_t> keys;
  runtime::KeySource source([&](uint64_t) {
    keys.push_back(r.param_primals().size());
    return r.watch(Tensor::abstract(DType::kUInt32, Shape{2}), "key");
  });
  OnnxValues outputs;
  try {
    outputs = evaluate(rebuilt(inputs, watched), {});
  } catch (NotCompilable& e) {
    // Says which inputs it asked for; none: nothing helps.
    std::set<size_t> asked;
    origins(r, r.graph(), e.of, program->inputs, &asked);
    throw NeedsValues(e.message(), std::move(asked));
  }
  Tensors results;
  for (const OnnxValue& v : outputs) flatten(v, results);
  std::vector<ir::Value> values;
  for (const Tensor& t : results) values.push_back(r.value_of(t));
  r.graph().set_results(std::move(values));
  const Tensors& all = r.param_primals();
  program->captured.assign(all.begin() + static_cast<int64_t>(program->inputs.size()), all.end());
  runtime::PlanOptions options;
  options.steady.assign(all.size(), true);
  options.donated.assign(all.size(), false);
  for (size_t i = 0; i < program->inputs.size(); ++i) options.steady[i] = false;
  for (size_t k : keys) {
    options.steady[k] = false;
    program->captured[k - program->inputs.size()] = Tensor();
  }
  program->plan = runtime::Plan::build(r.graph(), options);
  for (const OnnxValue& v : outputs) program->outputs.push_back(v);
  return program;
}

std::shared_ptr<const Program> CompiledModel::program_for(std::span<const OnnxValue> inputs,
                                                          const Tensors& tensors,
                                                          std::string* why) {
  std::string types;
  for (const OnnxValue& v : inputs) types += describe(v);
  if (auto it = uncompiled_.find(types); it != uncompiled_.end()) {
    *why = it->second;
    return nullptr;
  }
  std::set<size_t>& fixed = fixed_[types];
  for (;;) {
    std::string key = types;
    for (size_t i : fixed) key += fmt::format("{}=", i) + bytes_of(tensors[i]);
    if (auto it = programs_.find(key); it != programs_.end()) return it->second;
    try {
      std::shared_ptr<const Program> p = compile(inputs, fixed);
      if (order_.size() >= kMaxPrograms) {
        programs_.erase(order_.front());
        order_.pop_front();
      }
      order_.push_back(key);
      return programs_[key] = p;
    } catch (const NeedsValues& e) {
      bool helps = !e.inputs.empty();
      for (size_t i : e.inputs) helps = helps && tensors[i].size() <= kMaxFixedElements;
      if (!helps) {
        *why = uncompiled_[types] = e.message();
        return nullptr;
      }
      fixed.insert(e.inputs.begin(), e.inputs.end());
    }
  }
}

OnnxValues CompiledModel::run(std::span<const OnnxValue> inputs) {
  check_inputs(inputs);
  Tensors tensors;
  for (const OnnxValue& v : inputs) flatten(v, tensors);
  bool plain = true;
  for (Tensor& t : tensors) plain = !runtime::live_trace(t) && t.concrete() && plain;
  if (!plain) return evaluate(inputs, {});
  std::shared_ptr<const Program> p;
  {
    std::lock_guard lock(mutex_);
    std::string why;
    p = program_for(inputs, tensors, &why);
    how_ = "compiled";
    if (!p)
      how_ = "node by node: " + why;
    else if (p->inputs.size() != tensors.size())
      how_ = fmt::format("compiled for the values of {} inputs", tensors.size() - p->inputs.size());
  }
  if (!p) return evaluate(inputs, {});
  Tensors args;
  for (size_t i : p->inputs) args.push_back(tensors[i]);
  for (const Tensor& t : p->captured) args.push_back(t ? t : runtime::next_key());
  return rebuilt(p->outputs, p->plan->run(args));
}

std::string CompiledModel::how() const {
  std::lock_guard lock(mutex_);
  return how_;
}

}  // namespace mycel::interop
