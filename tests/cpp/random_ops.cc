#include "random_ops.h"

#include <algorithm>
#include <vector>

#include "op_cases.h"

namespace mycel::graph_checks {
namespace {

constexpr int64_t kMaxElements = 400;

bool computes(const ir::Op& op) {
  if (op.holds_code || op.def.random || op.def.side_effect || op.def.control) return false;
  for (const ir::AttrSpec& a : op.attrs) {
    using Kind = ir::AttrKind;
    if (a.kind == Kind::kGraph || a.kind == Kind::kCallback || a.kind == Kind::kFunction)
      return false;
  }
  return !op.inputs.empty();
}

bool usable(const op_cases::Case& c) {
  return !c.special() && std::all_of(c.inputs.begin(), c.inputs.end(), [](const Tensor& t) {
    return !t || t.size() <= kMaxElements;
  });
}

// The usable cases of each op.
const std::vector<std::vector<op_cases::Case>>& all_cases() {
  static const auto* list = [] {
    auto* made = new std::vector<std::vector<op_cases::Case>>;
    for (const ir::Op* op : ir::all_ops()) {
      if (!computes(*op)) continue;
      std::vector<op_cases::Case> cases;
      for (op_cases::Case& c : op_cases::read_cases(*op).cases) {
        if (usable(c)) cases.push_back(std::move(c));
      }
      if (!cases.empty()) made->push_back(std::move(cases));
    }
    return made;
  }();
  return *list;
}

template <typename T>
const T& one_of(Philox& draw, const std::vector<T>& list) {
  return list[draw.below(list.size())];
}

}  // namespace

Use draw_use(Philox& draw, bool with_16_bit) {
  op_cases::Case c = one_of(draw, one_of(draw, all_cases()));
  Use use{c.op, c.attrs, {}};
  DType dtype = c.inputs.empty() || !c.inputs[0] ? DType::kFloat32 : one_of(draw, c.allowed(0));
  if (!with_16_bit && (dtype == DType::kFloat16 || dtype == DType::kBFloat16))
    dtype = c.inputs[0].dtype();  // the widest
  Tensors one = c.in_dtype(dtype);
  c.seed += 1 + draw.below(1000);
  Tensors other = c.in_dtype(dtype);
  for (size_t i = 0; i < one.size(); ++i) {
    bool any = c.domains[i].kind == op_cases::Domain::kDefault && c.spec(i).cls != "index";
    use.operands.push_back({one[i], other[i], any});
  }
  return use;
}

const ir::Op* draw_formula(Philox& draw, DType dtype) {
  for (int tries = 0; tries < 20; ++tries) {
    const op_cases::Case& c = one_of(draw, all_cases())[0];
    if (!c.op->def.scalar.set()) continue;
    bool fits = true;
    for (size_t i = 0; i < c.inputs.size(); ++i) {
      auto allowed = c.allowed(i);
      fits &= std::find(allowed.begin(), allowed.end(), dtype) != allowed.end();
    }
    if (fits) return c.op;
  }
  return nullptr;
}

}  // namespace mycel::graph_checks
