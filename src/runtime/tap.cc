#include "runtime/tap.h"

#include <mutex>

#include "ir/phase.h"
#include "ir/scope.h"
#include "runtime/dispatch.h"
#include "runtime/region.h"
#include "runtime/trace.h"

namespace mycel::runtime {
namespace {

std::mutex g_mutex;
std::shared_ptr<Tap>& tap_slot() {
  static auto* slot = new std::shared_ptr<Tap>;
  return *slot;
}
std::function<std::string()>& where_slot() {
  static auto* slot = new std::function<std::string()>;
  return *slot;
}

std::shared_ptr<Tap> current() {
  std::lock_guard lock(g_mutex);
  return tap_slot();
}

std::string& scope_here() {
  thread_local std::string scope;
  return scope;
}

thread_local bool g_showing = false;  // what a tap itself computes is not shown

class Showing {
 public:
  Showing() { g_showing = true; }
  ~Showing() { g_showing = false; }
};

}  // namespace

void attach_tap(std::shared_ptr<Tap> tap) {
  tap::attached = tap != nullptr;
  if (!tap) tap::on = false;
  std::lock_guard lock(g_mutex);
  tap_slot().swap(tap);
}

void watch_with_tap(bool on) { tap::on = on && tap::attached; }

std::string set_scope(std::string scope) {
  scope_here().swap(scope);
  return scope;
}

ir::Loc current_place() {
  ir::Loc at = current_loc();
  if (!tap::attached.load(std::memory_order_relaxed)) return at;
  if (!ir::has_line(at) && where_slot()) at = ir::intern_loc(where_slot()());
  const std::string& scope = scope_here();
  return scope.empty() || !ir::loc_scope(at).empty() ? at : ir::scoped_loc(at, scope);
}

namespace tap {

std::atomic<bool> on{false};
std::atomic<bool> attached{false};

void show(const Seen& seen, const Tensor& value) {
  if (g_showing || !value || value.is_stack() || !value.concrete()) return;
  if (std::shared_ptr<Tap> t = current()) {
    Showing showing;
    t->computed(seen, value);
  }
}

void mark(const char* kind, const std::string& name, const Tensor& value) {
  if (!attached.load(std::memory_order_relaxed) || !value) return;
  Tensor watched = value;
  const Traced* trace = live_trace(watched);
  const ir::Loc at = trace && trace->value.node ? trace->value.node->loc : 0;
  auto shown = [kind = std::string(kind), name, at](const Tensor& v) {
    if (g_showing || !on || !v.concrete()) return;
    if (std::shared_ptr<Tap> t = current()) {
      Showing showing;
      t->named(kind, name, at, v);
    }
  };
  if (const Tensor plain = primal(value); plain.concrete()) return shown(plain);
  // Being compiled: a call of the host at this place of the program.
  auto call = std::make_shared<const ir::Callback>([shown](std::span<const Tensor> in) {
    shown(in[1]);
    return Tensors{in[0]};
  });
  const ir::Op& op = ir::op_named("callback");
  record_node(op, Tensors{Tensor::scalar(DType::kFloat32, 0.0), value},
              op.complete({ir::Attr(ir::CallbackPtr(call)), ir::Attr(ir::Attr::Ints{0})}));
}

void set_where(std::function<std::string()> where) { where_slot() = std::move(where); }

}  // namespace tap
}  // namespace mycel::runtime
