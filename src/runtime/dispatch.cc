#include "runtime/dispatch.h"

#include <iterator>
#include <memory>

#include <fmt/format.h>

#include "backend/cpu/kernel.h"
#include "base/error.h"
#include "base/timeline.h"
#include "ir/core_ops.h"
#include "ir/expansion.h"
#include "ir/operands.h"
#include "ir/phase.h"
#include "runtime/control.h"
#include "runtime/node_facts.h"
#include "runtime/region.h"
#include "runtime/tap.h"
#include "runtime/trace.h"

namespace mycel::runtime {
namespace {

constexpr size_t kBuckets = 4096;
constexpr int kMaxOperands = 64;  // more go through the heap

// What is known about one signature: everything that a call needs besides memory.
struct Entry {
  const ir::Op* op;
  size_t hash;
  std::vector<ir::Type> in;  // absent operands have rank -1, see absent()
  std::vector<bool> present;
  ir::Attrs given, full;
  bool promotes = false;
  DType common{};  // when promotes
  ir::Types out;
  bool empty_result = false;  // every result has zero elements
  bool static_shapes = true;
  std::shared_ptr<const cpu::Prepared> prepared;
  const cpu::KernelDef* host = nullptr;
  std::shared_ptr<ir::Graph> expansion;
  timeline::Mark mark;
  Entry* next = nullptr;
};

struct Cache {
  std::vector<std::unique_ptr<Entry>> entries;
  // On the heap: thread-local storage of a library that Python loads late is scarce.
  std::vector<Entry*> buckets = std::vector<Entry*>(kBuckets);
  DispatchStats stats;
  // Entries whose op runs other ops now, which may fill the cache: those dropped meanwhile wait.
  int running = 0;
  std::vector<std::unique_ptr<Entry>> dropped;
};
// Only a pointer lies in thread-local storage: a library loaded later (from Python) finds little
// room there.
thread_local constinit Cache* t_cache __attribute__((tls_model("initial-exec"))) = nullptr;

Cache& make_cache() {
  thread_local std::unique_ptr<Cache> owner = std::make_unique<Cache>();
  t_cache = owner.get();
  return *t_cache;
}
inline Cache& cache() { return t_cache ? *t_cache : make_cache(); }

// While it lives, no entry is destroyed.
class KeepEntries {
 public:
  KeepEntries() : cache_(cache()) { ++cache_.running; }
  ~KeepEntries() {
    if (--cache_.running == 0) cache_.dropped.clear();
  }
  KeepEntries(const KeepEntries&) = delete;

 private:
  Cache& cache_;
};

inline size_t mix(size_t h, size_t v) { return (h ^ v) * 0x9e3779b97f4a7c15ull; }

inline size_t hash_call(const ir::Op& op, std::span<const Tensor> in, const ir::Attrs& attrs) {
  size_t h = static_cast<size_t>(op.id) + 1;
  for (const Tensor& t : in) {
    if (!t) {
      h = mix(h, 0x55);
      continue;
    }
    h = mix(h, static_cast<size_t>(t.dtype()) * 16 + t.rank());
    for (int64_t d : t.shape()) h = mix(h, static_cast<size_t>(d) + 7);
  }
  if (!attrs.empty()) h = mix(h, attrs.hash());
  return h ^ (h >> 29);
}

inline bool matches(const Entry& e, size_t hash, const ir::Op& op, std::span<const Tensor> in,
                    const ir::Attrs& attrs) {
  if (e.hash != hash || e.op != &op || e.in.size() != in.size()) return false;
  for (size_t i = 0; i < in.size(); ++i) {
    if (e.present[i] != static_cast<bool>(in[i])) return false;
    if (in[i] && (e.in[i].dtype != in[i].dtype() || !(e.in[i].shape == in[i].shape())))
      return false;
  }
  return e.given == attrs;
}

bool common_dtype(const ir::Op& op, std::span<const Tensor> in, DType* common) {
  bool any = false, differ = false;
  for (const Tensor& t : in) {
    if (!t) continue;
    if (any && t.dtype() != *common) differ = true;
    *common = any ? promote(*common, t.dtype()) : t.dtype();
    any = true;
  }
  if (any && op.def.promote == ir::Promote::kFloat && (is_int(*common) || is_bool(*common))) {
    *common = DType::kFloat32;
    differ = true;
  }
  return any && differ;
}

Tensors cast_all(std::span<const Tensor> in, DType to) {
  Tensors out;
  out.reserve(in.size());
  for (const Tensor& t : in) {
    out.push_back(t && t.dtype() != to ? call1(*ir::core_ops().cast, {t}, {to}) : t);
  }
  return out;
}

std::vector<const ir::Type*> type_pointers(const Entry& e) {
  std::vector<const ir::Type*> p;
  for (size_t i = 0; i < e.in.size(); ++i) p.push_back(e.present[i] ? &e.in[i] : nullptr);
  return p;
}

std::shared_ptr<ir::Graph> expansion_graph(const ir::Op& op, std::span<const ir::Type* const> in,
                                           const ir::Attrs& full) {
  auto g = std::make_shared<ir::Graph>(op.name);
  std::vector<ir::Value> params;
  for (const ir::Type* t : in) params.push_back(t ? g->add_param(*t) : ir::Value());
  g->set_results(ir::expand(*g, op, std::move(params), full));
  return g;
}

std::unique_ptr<Entry> make_entry(const ir::Op& op, size_t hash, std::span<const Tensor> in,
                                  const ir::Attrs& attrs) {
  auto e = std::make_unique<Entry>();
  e->op = &op;
  e->hash = hash;
  for (const Tensor& t : in) {
    e->present.push_back(static_cast<bool>(t));
    e->in.push_back(t ? ir::Type(t.dtype(), t.shape()) : ir::Type());
  }
  e->given = attrs;
  e->full = op.complete(attrs);
  if (op.def.promote != ir::Promote::kNone && common_dtype(op, in, &e->common)) {
    e->promotes = true;
    return e;
  }
  auto types = type_pointers(*e);
  e->out = ir::infer_types(op, types, e->full);
  e->empty_result = !e->out.empty();
  for (const ir::Type& t : e->out) {
    e->static_shapes &= t.shape.known();
    e->empty_result &= t.shape.known() && t.shape.size() == 0;
  }
  if (e->empty_result || op.def.view) return e;
  cpu::Chosen chosen = cpu::choose({op, types, e->out, e->full});
  e->prepared = chosen.prepared;
  e->host = chosen.host;
  if (e->prepared && !e->static_shapes) {  // an attribute said "unknown" of what is here
    for (const ir::Type& t : e->out) {
      if (!t.shape.known())
        value_error("{}: the shape of its result, {}, is not known", op.name, t.shape.str());
    }
  }
  if (!e->prepared && !e->host) e->expansion = expansion_graph(op, types, e->full);
  return e;
}

Entry& lookup(const ir::Op& op, std::span<const Tensor> in, const ir::Attrs& attrs) {
  Cache& c = cache();
  size_t hash = hash_call(op, in, attrs);
  Entry*& head = c.buckets[hash % kBuckets];
  for (Entry* e = head; e; e = e->next) {
    if (matches(*e, hash, op, in, attrs)) {
      ++c.stats.hits;
      return *e;
    }
  }
  ++c.stats.misses;
  timeline::Slice slice(
      timeline::on() ? timeline::named(timeline::Kind::kCompile, "prepare " + op.name) : 0);
  std::unique_ptr<Entry> made = make_entry(op, hash, in, attrs);
  if (c.entries.size() >= 4 * kBuckets) clear_dispatch_cache();
  made->next = c.buckets[hash % kBuckets];  // making it may have called other ops
  c.buckets[hash % kBuckets] = made.get();
  c.entries.push_back(std::move(made));
  return *c.entries.back();
}

// Memory for result j; the op is named where there is none.
Tensor result_of(const Entry& e, size_t j) {
  try {
    return Tensor::empty(e.out[j].dtype, e.out[j].shape);
  } catch (UserError& error) {
    error.prefix(e.op->name + ": ");
    throw;
  }
}

void run_prepared(const Entry& e, std::span<const Tensor> in, Tensor* out) {
  void* local[kMaxOperands];
  std::vector<void*> heap;
  size_t count = in.size() + e.out.size();
  void** buffers = local;
  if (count > kMaxOperands) {
    heap.resize(count);
    buffers = heap.data();
  }
  for (size_t i = 0; i < in.size(); ++i) buffers[i] = in[i] ? in[i].impl()->data : nullptr;
  for (size_t j = 0; j < e.out.size(); ++j) {
    out[j] = result_of(e, j);
    buffers[in.size() + j] = out[j].impl()->data;
  }
  e.prepared->run(buffers);
}

// Runs what a composite op is made of; an error found in the values names the op that the user
// called.
Tensors run_expansion(const ir::Op& op, const ir::Graph& g, std::span<const Tensor> args) {
  try {
    return run_graph(g, args);
  } catch (UserError& e) {
    e.name(op.name);
    throw;
  }
}

Tensors run_host(const Entry& e, std::span<const Tensor> in) {
  std::vector<const ir::Type*> types = type_pointers(e);
  try {
    return e.host->host({*e.op, types, e.out, e.full}, in);
  } catch (UserError& error) {
    error.name(e.op->name);
    throw;
  }
}

Tensors run_entry(const Entry& e, std::span<const Tensor> in) {
  if (e.promotes) {
    KeepEntries keep;
    return call(*e.op, cast_all(in, e.common), e.full);
  }
  Tensors out(e.out.size());
  if (e.empty_result) {
    for (size_t j = 0; j < out.size(); ++j) out[j] = Tensor::empty(e.out[j].dtype, e.out[j].shape);
    return out;
  }
  if (e.op->def.view) {
    out[0] = in[0].view(e.out[0].shape);
    return out;
  }
  if (e.prepared) {
    run_prepared(e, in, out.data());
    return out;
  }
  KeepEntries keep;
  if (e.host) {
    return run_host(e, in);
  }
  Tensors args;
  for (const Tensor& t : in) {
    if (t) args.push_back(t);
  }
  return run_expansion(*e.op, *e.expansion, args);
}

timeline::Id id_of(const Entry& e) {
  return e.mark.get([&] {
    const char* way = e.prepared       ? e.prepared->implementation()
                      : e.host         ? e.host->name
                      : e.op->def.view ? "view"
                                       : "made of others";
    if (e.promotes || e.out.empty())
      return timeline::What{.kind = timeline::Kind::kEager, .name = e.op->name};
    timeline::What what = describe(*e.op, type_pointers(e), e.out, e.full, way);
    what.where = timeline::where_now();  // of the first call of this signature
    return what;
  });
}

// The same, timed.
Tensors run_watched(const Entry& e, std::span<const Tensor> in) {
  timeline::Slice slice(id_of(e), static_cast<uint32_t>(timeline::phase()));
  return run_entry(e, in);
}

// How far the operands are from plain values with memory.
enum class Watch { kPlain, kAbstract, kTraced };

Watch watch_of(std::span<const Tensor> in) {
  Watch w = Watch::kPlain;
  for (const Tensor& t : in) {
    if (!t) continue;
    if (t.trace()) return Watch::kTraced;
    if (!t.impl()->data) w = Watch::kAbstract;
  }
  return w;
}

Tensors infer_abstract(const ir::Op& op, std::span<const Tensor> in, const ir::Attrs& full) {
  std::vector<ir::Type> types;
  std::vector<const ir::Type*> pointers;
  types.reserve(in.size());
  for (const Tensor& t : in) {
    types.emplace_back(t ? ir::Type(t.dtype(), t.shape()) : ir::Type());
    pointers.push_back(t ? &types.back() : nullptr);
  }
  Tensors out;
  for (const ir::Type& t : ir::infer_types(op, pointers, full)) {
    out.push_back(Tensor::abstract(t.dtype, t.shape));
  }
  return out;
}

Tensors call_expansion(const ir::Op& op, std::span<const Tensor> in, const ir::Attrs& full) {
  std::vector<ir::Type> types;
  std::vector<const ir::Type*> pointers;
  types.reserve(in.size());
  Tensors args;
  for (const Tensor& t : in) {
    types.emplace_back(t ? ir::Type(t.dtype(), t.shape()) : ir::Type());
    pointers.push_back(t ? &types.back() : nullptr);
    if (t) args.push_back(t);
  }
  ir::check_operands(op, pointers, full);
  return run_expansion(op, *expansion_graph(op, pointers, full), args);
}

// Slow path: some operand is traced or abstract.
Tensors call_watched(const ir::Op& op, std::span<const Tensor> in, const ir::Attrs& attrs) {
  ir::Attrs full = op.complete(attrs);
  DType common{};
  if (op.def.promote != ir::Promote::kNone && common_dtype(op, in, &common)) {
    return call(op, cast_all(in, common), full);
  }
  Tensors plain(in.begin(), in.end());
  Traced* top = innermost_trace(plain);
  // A composite is recorded as what it is made of, so that transforms see only primitives.
  bool kept = top && !active_region() &&
              ((op.def.loops && top->level->recorder->keeps_kernels()) ||
               top->level->recorder->keeps_composites());
  if (op.def.composite() && !kept) return call_expansion(op, plain, full);
  if (!top) {
    return watch_of(plain) == Watch::kAbstract ? infer_abstract(op, plain, full)
                                               : call(op, plain, full);
  }
  // An active region has no values underneath, and an op on operands of its surroundings belongs to
  // the region all the same.
  if (Recorder* region = active_region(); region && top->level->depth <= region->level()->depth) {
    Tensors results = infer_abstract(op, plain, full);
    region->record(op, plain, full, results);
    return results;
  }
  Ref<Level> level = top->level;
  Tensors primals = primals_at(level, plain);
  Tensors results = call(op, primals, full);
  level->recorder->record(op, plain, full, results);
  return results;
}

void show(const ir::Op& op, std::span<const Tensor> in, std::span<const Tensor> out) {
  const ir::Loc at = current_place();
  for (size_t j = 0; j < out.size(); ++j)
    tap::show({&op, nullptr, static_cast<uint32_t>(j), at, in}, out[j]);
}

// The node that run_graph runs is where the program is, while somebody debugs.
class AtNode {
 public:
  explicit AtNode(const ir::Node& n) : set_(n.loc && tap::attached.load()), before_(current_loc()) {
    if (set_) set_current_loc(n.loc);
  }
  ~AtNode() {
    if (set_) set_current_loc(before_);
  }
  AtNode(const AtNode&) = delete;

 private:
  const bool set_;
  const ir::Loc before_;
};

}  // namespace

Tensors call(const ir::Op& op, std::span<const Tensor> in, const ir::Attrs& attrs) {
  if (op.holds_code) return region_kernel(op)(op, in, op.complete(attrs));
  if (watch_of(in) != Watch::kPlain) return call_watched(op, in, attrs);
  const Entry& e = lookup(op, in, attrs);
  Tensors out = timeline::on() ? run_watched(e, in) : run_entry(e, in);
  if (tap::on.load(std::memory_order_relaxed)) show(op, in, out);
  return out;
}

Tensor call1(const ir::Op& op, std::span<const Tensor> in, const ir::Attrs& attrs) {
  if (!op.holds_code && watch_of(in) == Watch::kPlain) {
    Entry& e = lookup(op, in, attrs);
    if (e.prepared && e.out.size() == 1 && !timeline::on()) {
      Tensor out;
      run_prepared(e, in, &out);
      if (tap::on.load(std::memory_order_relaxed)) show(op, in, {&out, 1});
      return out;
    }
    Tensors out = timeline::on() ? run_watched(e, in) : run_entry(e, in);
    if (tap::on.load(std::memory_order_relaxed)) show(op, in, out);
    MYCEL_CHECK(out.size() == 1, "op {} gave {} results where one was expected", op.name,
                out.size());
    return std::move(out[0]);
  }
  Tensors out = call(op, in, attrs);
  MYCEL_CHECK(out.size() == 1, "op {} gave {} results where one was expected", op.name, out.size());
  return std::move(out[0]);
}

Tensors run_graph(const ir::Graph& g, std::span<const Tensor> args) {
  MYCEL_CHECK(args.size() == g.params().size(), "graph {} takes {} arguments, {} given", g.name(),
              g.params().size(), args.size());
  std::vector<uint32_t> uses(g.size(), 0);
  for (const ir::Node& n : g.nodes()) {
    for (const ir::Value& v : n.inputs) {
      if (v) ++uses[v.node->id];
    }
  }
  for (const ir::Value& v : g.results()) ++uses[v.node->id];
  std::vector<Tensors> values(g.size());
  for (size_t i = 0; i < args.size(); ++i) values[g.params()[i].node->id] = {args[i]};
  Tensors in;
  for (const ir::Node& n : g.nodes()) {
    if (n.is_param()) continue;
    if (uses[n.id] == 0 && !n.op->def.side_effect) continue;
    in.clear();
    for (const ir::Value& v : n.inputs) {
      if (!v) {
        in.emplace_back();
        continue;
      }
      in.push_back(values[v.node->id][v.index]);
      if (--uses[v.node->id] == 0) values[v.node->id].clear();
    }
    try {
      const AtNode at(n);
      values[n.id] = call(*n.op, in, n.attrs);
    } catch (UserError& e) {
      if (ir::has_line(n.loc)) e.set_where("At " + ir::loc_text(n.loc));
      throw;
    }
  }
  Tensors results;
  for (const ir::Value& v : g.results()) results.push_back(values[v.node->id][v.index]);
  return results;
}

DispatchStats dispatch_stats() {
  DispatchStats s = cache().stats;
  s.signatures = cache().entries.size();
  return s;
}

void clear_dispatch_cache() {
  Cache& c = cache();
  std::fill(c.buckets.begin(), c.buckets.end(), nullptr);
  if (c.running) {
    std::move(c.entries.begin(), c.entries.end(), std::back_inserter(c.dropped));
  }
  c.entries.clear();
}

}  // namespace mycel::runtime
