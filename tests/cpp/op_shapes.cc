// Columns on shapes and errors: type rules with known and unknown dims, broadcasting, zero-size and
// 0-d operands, refused operands.
#include <functional>

#include <fmt/format.h>

#include "base/error.h"
#include "ir/graph.h"
#include "op_checks.h"
#include "op_numbers.h"
#include "runtime/dispatch.h"

namespace mycel::op_cases {
namespace {

// Result types for operands of these types, as the graph builder finds them.
ir::Types infer(const Case& c, std::span<const Tensor> inputs,
                const std::function<void(size_t, Shape&)>& blur) {
  std::vector<ir::Type> types;
  std::vector<const ir::Type*> pointers;
  types.reserve(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    Shape s = inputs[i] ? inputs[i].shape() : Shape();
    if (inputs[i]) blur(i, s);
    types.emplace_back(inputs[i] ? inputs[i].dtype() : DType::kFloat32, s);
    pointers.push_back(inputs[i] ? &types.back() : nullptr);
  }
  return ir::infer_types(*c.op, pointers, c.op->complete(c.attrs));
}

// `type` may say less than the real result, never something else.
std::string agrees(const ir::Types& types, const Tensors& real, bool exact) {
  if (types.size() != real.size())
    return fmt::format("{} types for {} results", types.size(), real.size());
  for (size_t j = 0; j < real.size(); ++j) {
    const Shape &t = types[j].shape, &s = real[j].shape();
    bool fits = types[j].dtype == real[j].dtype() && t.rank() == s.rank();
    for (int d = 0; fits && d < t.rank(); ++d)
      fits = t[d] == s[d] || (t[d] == kUnknownDim && !exact);
    if (!fits)
      return fmt::format("the type rule says {}, the result is {}", types[j].str(),
                         real[j].describe());
  }
  return "";
}

// The same with dims unknown. A rule may insist on a dim that decides the number of results or
// their rank, with an error that says "known".
std::string blurred_agrees(const Case& c, std::span<const Tensor> inputs,
                           const std::function<void(size_t, Shape&)>& blur, const Tensors& real) {
  try {
    return agrees(infer(c, inputs, blur), real, false);
  } catch (const UserError& e) {
    return e.message().find("known") != std::string::npos ? "" : e.what();
  }
}

// The call succeeds with a result that its type rule foretold, or is a UserError that names the op.
std::string works_or_says_why(const Case& c, const Tensors& inputs) {
  try {
    Tensors real = runtime::call(*c.op, inputs, c.attrs);
    Tensors common = promoted(*c.op, inputs);
    return agrees(infer(c, common, [](size_t, Shape&) {}), real, false);
  } catch (const UserError& e) {
    bool named = e.message().find(c.op->name) != std::string::npos;
    return named ? "" : fmt::format("the error does not name the op: {}", e.what());
  } catch (const std::exception& e) {
    return e.what();
  }
}

bool all_default(const Case& c) {
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    if (!c.inputs[i] || !c.default_shape[i]) return false;
  }
  return !c.inputs.empty();
}

Tensors reshaped(const Case& c, const std::vector<Shape>& shapes) {
  Tensors made;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    made.push_back(c.inputs[i] ? c.remade(i, c.inputs[i].dtype(), shapes[i % shapes.size()])
                               : Tensor());
  }
  return made;
}

}  // namespace

void check_type(const OpCases& all, bool brief, Report& r) {
  for (const Case* c : cases_for("type", all, brief, r)) {
    try {
      Tensors inputs = promoted(*c->op, c->inputs);
      Tensors real = runtime::call(*c->op, inputs, c->attrs);
      ir::Types known = infer(*c, inputs, [](size_t, Shape&) {});
      r.check(c->text, agrees(known, real, false));
      auto nothing_known = [](size_t, Shape& s) {
        for (int d = 0; d < s.rank(); ++d) s.set(d, kUnknownDim);
      };
      r.check(c->text + "with unknown dims", blurred_agrees(*c, inputs, nothing_known, real));
      // One dim of one operand at a time.
      for (size_t i = 0; i < inputs.size(); ++i) {
        for (int d = 0; inputs[i] && d < inputs[i].rank(); ++d) {
          auto one = [&](size_t k, Shape& s) {
            if (k == i) s.set(d, kUnknownDim);
          };
          r.check(fmt::format("{}with dim {} of operand {} unknown", c->text, d, i),
                  blurred_agrees(*c, inputs, one, real));
        }
      }
    } catch (const std::exception& e) {
      r.check(c->text, e.what());
    }
  }
}

void check_broadcast(const OpCases& all, bool brief, Report& r) {
  static const std::vector<std::vector<Shape>> patterns = {{{3, 4}, {4}},       {{4}, {3, 4}},
                                                           {{3, 1}, {1, 4}},    {{}, {3, 4}},
                                                           {{2, 1, 4}, {3, 1}}, {{1}, {2, 3}, {3}}};
  for (const Case* c : cases_for("broadcast", all, true, r)) {
    if (!elementwise(*c->op) || c->inputs.size() < 2 || !all_default(*c)) {
      r.why_not = "it does not broadcast operands";
      return;
    }
    for (const auto& pattern : patterns) {
      if (brief && r.checked) return;
      Tensors inputs = reshaped(*c, pattern), full;
      Shape s;
      for (const Tensor& t : inputs) broadcast(s, t.shape(), &s);
      for (const Tensor& t : inputs) full.push_back(repeated(t, s));
      std::string what = c->text + "broadcast to " + s.str();
      try {
        Tensors got = runtime::call(*c->op, inputs, c->attrs),
                want = runtime::call(*c->op, full, c->attrs);
        for (size_t j = 0; j < got.size(); ++j) {
          bool same = got[j].shape() == want[j].shape();
          r.check(what, same ? differ(numbers_of(got[j]), numbers_of(want[j]), 1e-14)
                             : "gives " + got[j].describe());
        }
      } catch (const std::exception& e) {
        r.check(what, e.what());
      }
    }
  }
}

void check_zero_size(const OpCases& all, bool brief, Report& r) {
  for (const Case* c : cases_for("zero_size", all, brief, r)) {
    if (all_default(*c) && elementwise(*c->op)) {
      for (const Shape& s : {Shape{0}, Shape{2, 0, 3}}) {
        r.check(c->text + "of shape " + s.str(), works_or_says_why(*c, reshaped(*c, {s})));
      }
      continue;
    }
    // Each dim of the first operand in turn; operands that share the size follow where they can.
    if (c->inputs.empty() || !c->inputs[0]) continue;
    const Shape& s = c->inputs[0].shape();
    for (int d = 0; d < s.rank(); ++d) {
      Tensors inputs = c->inputs;
      Shape empty = s;
      empty.set(d, 0);
      inputs[0] = c->remade(0, inputs[0].dtype(), empty);
      r.check(fmt::format("{}with dim {} of operand 0 empty", c->text, d),
              works_or_says_why(*c, inputs));
      for (size_t i = 1; i < inputs.size(); ++i) {
        if (!inputs[i]) continue;
        Shape follow = inputs[i].shape();
        for (int e = 0; e < follow.rank(); ++e) {
          if (follow[e] == s[d]) follow.set(e, 0);
        }
        if (c->domains[i].kind >= Domain::kSpd) continue;
        inputs[i] = c->remade(i, inputs[i].dtype(), follow);
      }
      r.check(fmt::format("{}with size {} empty", c->text, s[d]), works_or_says_why(*c, inputs));
    }
  }
}

void check_scalar(const OpCases& all, bool brief, Report& r) {
  for (const Case* c : cases_for("scalar", all, brief, r)) {
    if (c->inputs.empty()) {
      r.why_not = "no operand";
      return;
    }
    Tensors inputs;
    for (size_t i = 0; i < c->inputs.size(); ++i) {
      bool matrix = c->domains[i].kind >= Domain::kSpd;
      inputs.push_back(c->inputs[i] && !matrix ? c->remade(i, c->inputs[i].dtype(), {})
                                               : c->inputs[i]);
    }
    std::string what = c->text + "with 0-d operands";
    r.check(what, works_or_says_why(*c, inputs));
    if (!elementwise(*c->op) || !all_default(*c)) continue;
    try {
      runtime::call(*c->op, inputs, c->attrs);
    } catch (const std::exception& e) {
      r.fail(what, e.what());
    }
  }
}

void check_bad_input(const OpCases& all, bool, Report& r) {
  auto expect_error = [&](const std::string& what, const Tensors& inputs, const ir::Attrs& attrs) {
    try {
      runtime::call(*all.op, inputs, attrs);
      r.check(what, "was accepted");
    } catch (const UserError& e) {
      bool named = e.message().find(all.op->name) != std::string::npos;
      r.check(what, named ? "" : std::string("the error does not name the op: ") + e.what());
    } catch (const std::exception& e) {
      r.check(what, std::string("is no UserError: ") + e.what());
    }
  };
  for (const Bad& b : all.bad) expect_error(b.text, b.inputs, b.attrs);
  if (all.cases.empty() || all.cases[0].group->skip.count("bad_input")) return;
  const Case& c = all.cases[0];
  const ir::Op& op = *c.op;
  if (op.required_inputs > 0 && !op.variadic) {
    Tensors missing = c.inputs;
    missing.resize(op.required_inputs - 1);
    expect_error(op.name + " without its last operand", missing, c.attrs);
  }
  if (!op.variadic) {
    Tensors more = c.inputs;
    more.resize(op.inputs.size(), Tensor());
    more.push_back(Tensor::zeros(DType::kFloat32, {1}));
    expect_error(op.name + " with one operand too many", more, c.attrs);
  }
  // A dtype outside of the class.
  for (size_t i = 0; i < c.inputs.size() && op.def.promote == ir::Promote::kNone; ++i) {
    const std::string& cls = c.spec(i).cls;
    if (!c.inputs[i] || cls == "any") continue;
    Tensors wrong = c.inputs;
    DType d = cls == "float" || cls == "inexact" || cls == "complex" ? DType::kInt32
              : cls == "number" || cls == "real"                     ? DType::kBool
                                                                     : DType::kFloat32;
    wrong[i] = Tensor::zeros(d, c.inputs[i].shape());
    expect_error(fmt::format("{} with {} for '{}'", op.name, name_of(d), c.spec(i).name), wrong,
                 c.attrs);
  }
}

}  // namespace mycel::op_cases
