#include "runtime/region.h"

#include <unordered_map>

#include "base/error.h"
#include "runtime/dispatch.h"
#include "runtime/random_state.h"

namespace mycel::runtime {
namespace {

thread_local Recorder* g_region = nullptr;
thread_local uint32_t g_loc = 0;

// A captured tensor up to this size whose value is known becomes a constant inside the region.
constexpr int64_t kSmallConstant = 1024;

bool embeds(const Tensor& t) { return !t.trace() && t.concrete() && t.size() <= kSmallConstant; }

// The captures of several regions, each tensor once.
class Captures {
 public:
  void add(const Tensors& primals, size_t operands) {
    for (size_t i = operands; i < primals.size(); ++i) {
      if (embeds(primals[i])) continue;
      if (places_.emplace(primals[i].impl().get(), tensors.size()).second)
        tensors.push_back(primals[i]);
    }
  }
  size_t place(const Tensor& t) const { return places_.at(t.impl().get()); }

  Tensors tensors;

 private:
  std::unordered_map<const TensorImpl*, size_t> places_;
};

// The region's graph with parameters (operands…, captures…); with pass_on the captures are results
// too.
std::shared_ptr<ir::Graph> over(Recorder& r, size_t operands, const Captures& captures,
                                bool pass_on) {
  const ir::Graph& from = r.graph();
  auto g = std::make_shared<ir::Graph>(from.name());
  std::vector<ir::Value> args, extra;
  for (size_t i = 0; i < operands; ++i) args.push_back(g->add_param(from.params()[i].type()));
  for (const Tensor& t : captures.tensors) extra.push_back(g->add_param(ir::type_of(t)));
  const Tensors& primals = r.param_primals();
  for (size_t i = operands; i < primals.size(); ++i) {
    args.push_back(embeds(primals[i]) ? g->constant(primals[i])
                                      : extra[captures.place(primals[i])]);
  }
  std::vector<ir::Value> results = ir::inline_graph(from, *g, args);
  if (pass_on) results.insert(results.end(), extra.begin(), extra.end());
  g->set_results(std::move(results));
  return g;
}

}  // namespace

Recorder* active_region() { return g_region; }
void set_current_loc(uint32_t loc) { g_loc = loc; }
uint32_t current_loc() { return g_loc; }

OpenRegion::OpenRegion(std::span<const Tensor> operands, const std::string& name)
    : recorder_(name), outer_(g_region) {
  for (const Tensor& t : operands)
    params_.push_back(recorder_.watch(ir::abstract_of(ir::type_of(t))));
  g_region = &recorder_;
}

OpenRegion::~OpenRegion() { suspend(); }

void OpenRegion::suspend() {
  if (!active_) return;
  active_ = false;
  MYCEL_CHECK(g_region == &recorder_, "regions must be left in the order of their nesting");
  g_region = outer_;
}

void OpenRegion::finish(std::span<const Tensor> results) {
  suspend();
  std::vector<ir::Value> values;
  for (const Tensor& t : results) values.push_back(recorder_.value_of(t));
  recorder_.graph().set_results(std::move(values));
  recorder_.close();
}

Tensors record_node(const ir::Op& op, std::span<const Tensor> in, const ir::Attrs& attrs) {
  Tensors plain(in.begin(), in.end());
  Traced* top = innermost_trace(plain);
  std::vector<ir::Type> types;
  std::vector<const ir::Type*> pointers;
  types.reserve(plain.size());
  for (const Tensor& t : plain) {
    types.push_back(t ? ir::type_of(t) : ir::Type());
    pointers.push_back(t ? &types.back() : nullptr);
  }
  Tensors results;
  for (const ir::Type& t : ir::infer_types(op, pointers, attrs))
    results.push_back(ir::abstract_of(t));
  if (g_region && (!top || top->level->depth <= g_region->level()->depth)) {
    g_region->record(op, plain, attrs, results);
    return results;
  }
  if (!top) return results;
  Ref<Level> level = top->level;
  Tensors primals = primals_at(level, plain);
  bool outer = false;
  for (const Tensor& t : primals) outer |= t && static_cast<bool>(t.trace());
  if (outer) results = record_node(op, primals, attrs);
  level->recorder->record(op, plain, attrs, results);
  return results;
}

Tensors cond_of(const Tensor& pred, const OpenRegion& then, const OpenRegion& otherwise) {
  auto& a = const_cast<Recorder&>(then.recorder_);
  auto& b = const_cast<Recorder&>(otherwise.recorder_);
  Captures captures;
  captures.add(a.param_primals(), 0);
  captures.add(b.param_primals(), 0);
  Tensors in{pred};
  in.insert(in.end(), captures.tensors.begin(), captures.tensors.end());
  const ir::Op& op = ir::op_named("cond");
  return record_node(op, in,
                     op.complete({ir::Attr(ir::GraphPtr(over(a, 0, captures, false))),
                                  ir::Attr(ir::GraphPtr(over(b, 0, captures, false)))}));
}

Tensors while_of(const OpenRegion& condition, const OpenRegion& body,
                 std::span<const Tensor> carried) {
  auto& c = const_cast<Recorder&>(condition.recorder_);
  auto& b = const_cast<Recorder&>(body.recorder_);
  Captures captures;
  captures.add(c.param_primals(), carried.size());
  captures.add(b.param_primals(), carried.size());
  Tensors in(carried.begin(), carried.end());
  in.insert(in.end(), captures.tensors.begin(), captures.tensors.end());
  const ir::Op& op = ir::op_named("while_loop");
  Tensors out =
      record_node(op, in,
                  op.complete({ir::Attr(ir::GraphPtr(over(c, carried.size(), captures, false))),
                               ir::Attr(ir::GraphPtr(over(b, carried.size(), captures, true)))}));
  out.resize(carried.size());
  return out;
}

IterationKeys::IterationKeys(const Tensor& counter) : counter_(counter) {
  source_ = std::make_unique<KeySource>([this](uint64_t seed) {
    ++drawn_;
    Tensor base = source_->outer_key(seed);
    static const ir::Op& cast = ir::op_named("cast");
    static const ir::Op& mul = ir::op_named("mul");
    static const ir::Op& add = ir::op_named("add");
    const uint32_t words[2] = {1, 0};
    Tensor first = Tensor::from(std::span<const uint32_t>(words, 2), Shape{2});
    Tensor count = call1(cast, {counter_}, {ir::Attr(DType::kUInt32)});
    return call1(add, {base, call1(mul, {first, count})});
  });
}

IterationKeys::~IterationKeys() = default;

void IterationKeys::close() { source_.reset(); }

}  // namespace mycel::runtime
