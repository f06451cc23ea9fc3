#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "ir/core_ops.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace mycel::passes {
namespace {

using ir::Node;
using ir::Value;

// Ops whose kernels compute in float32 whatever the listed operands are. Result `follows` has the
// dtype of the first of them; the other results do not depend on it.
struct Reader {
  std::string_view op;
  std::array<int, 2> operands;  // -1: none
  int follows;                  // -1: none
};
constexpr Reader kReaders[] = {
    {"batch_moments", {0, -1}, -1},
    {"batch_norm_train_dx", {0, 4}, 0},
    {"layer_norm_dx", {0, 4}, 0},
};

bool is_short(DType d) { return is_float(d) && size_of(d) == 2; }
bool is_cast(const Node& n) { return !n.is_param() && n.op == ir::core_ops().cast; }
bool widens(const Node& n) {
  return is_cast(n) && is_short(n.inputs[0].dtype()) && n.types[0].dtype == DType::kFloat32;
}
bool shortens(const Node& n) {
  return is_cast(n) && n.inputs[0].dtype() == DType::kFloat32 && is_short(n.types[0].dtype);
}
// What `v` is without the cast that made it float32.
Value before_widening(const Value& v) { return v && widens(*v.node) ? v.node->inputs[0] : Value(); }

class Absorber {
 public:
  explicit Absorber(const ir::Graph& g) : g_(g), users_(g.size()), r_(g) {
    for (const Node& n : g.nodes()) {
      for (const Value& v : n.inputs) {
        if (v) users_[v.node->id].push_back(&n);
      }
    }
  }

  GraphOut run() {
    for (const Node& n : g_.nodes()) {
      if (!read_short(n) && !drop_shortening(n) && !shorten_later(n)) copy(n);
    }
    return r_.finish();
  }

 private:
  static const Reader* reader_of(const Node& n) {
    if (n.is_param()) return nullptr;
    for (const Reader& reader : kReaders) {
      if (n.op->name == reader.op) return &reader;
    }
    return nullptr;
  }

  bool is_result(const Node& n, int index) const {
    return std::any_of(g_.results().begin(), g_.results().end(), [&](const Value& v) {
      return v.node == &n && v.index == static_cast<uint32_t>(index);
    });
  }

  // Whether nobody wants more of a result than its 16-bit form.
  bool only_short(const Node& n, int result, DType dtype) const {
    bool any = false;
    for (const Node* user : users_[n.id]) {
      for (const Value& v : user->inputs) {
        if (v.node != &n || v.index != static_cast<uint32_t>(result)) continue;
        if (!shortens(*user) || user->types[0].dtype != dtype) return false;
        any = true;
      }
    }
    return any && !is_result(n, result);
  }

  // The op on the 16-bit operands themselves: what it computes in float32 is the same.
  bool read_short(const Node& n) {
    const Reader* reader = reader_of(n);
    if (!reader) return false;
    ir::ValueList in = r_.operands(n);
    bool any = false;
    for (int k : reader->operands) {
      Value from = k < 0 ? Value() : before_widening(n.inputs[static_cast<size_t>(k)]);
      bool leads = k == reader->operands[0] && reader->follows >= 0;
      if (!from || (leads && !only_short(n, reader->follows, from.dtype()))) continue;
      in[static_cast<size_t>(k)] = r_.translate(from);
      any = true;
    }
    if (!any) return false;
    r_.replace(n, r_.out().add(*n.op, std::move(in), n.attrs, n.loc));
    return true;
  }

  // A cast of what is 16 bits wide already.
  bool drop_shortening(const Node& n) {
    if (!shortens(n)) return false;
    Value from = r_.translate(n.inputs[0]);
    if (from.dtype() != n.types[0].dtype) return false;
    r_.replace(n, ir::ValueList{from});
    return true;
  }

  // relu of a shortened value: the other way round it is part of what made the value.
  bool shorten_later(const Node& n) {
    if (n.is_param() || n.op->name != "relu" || !shortens(*n.inputs[0].node)) return false;
    const Node& cast = *n.inputs[0].node;
    if (users_[cast.id].size() != 1 || is_result(cast, 0)) return false;
    Value from = r_.translate(cast.inputs[0]);
    if (from.dtype() != DType::kFloat32) return false;
    Node* wide = r_.out().add(*n.op, {from}, n.attrs, n.loc);
    r_.replace(n, r_.out().add(*cast.op, {wide->out()}, cast.attrs, cast.loc));
    return true;
  }

  // A widening cast for several kernels is part of each instead of one of its own with a result
  // twice as large as what it reads.
  void copy(const Node& n) {
    if (!is_elementwise(n)) {
      r_.copy(n);
      return;
    }
    ir::ValueList in = r_.operands(n);
    for (size_t k = 0; k < in.size(); ++k) {
      if (!before_widening(n.inputs[k]) || users_[n.inputs[k].node->id].size() < 2) continue;
      const Node& cast = *n.inputs[k].node;
      if (!(cast.types[0].shape == n.types[0].shape)) continue;
      in[k] = r_.out().add(*cast.op, {r_.translate(cast.inputs[0])}, cast.attrs, cast.loc)->out();
    }
    r_.copy(n, std::move(in), n.attrs);
  }

  const ir::Graph& g_;
  std::vector<std::vector<const Node*>> users_;
  Rewrite r_;
};

}  // namespace

GraphOut absorb_casts(const ir::Graph& g) {
  return at_every_level(g, [](const ir::Graph& level) { return Absorber(level).run(); });
}

}  // namespace mycel::passes
