// Choices: select, clipping, maximum and minimum.
#include "ir/adjoint.h"
#include "ir/type_rule.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/rooms.h"

namespace mycel::ops {

using namespace ir;  // NOLINT: the vocabulary of records

namespace {

loops::Val as_number(loops::Val x) { return is_bool(x.dtype()) ? cast(x, DType::kUInt8) : x; }
loops::Val back_to(loops::Val x, loops::Val like) { return cast(x, like.dtype()); }

void select_type(TypeRuleCtx& c) {
  Shape s = c.shape(1);
  if (!mycel::broadcast(s, c.shape(2), &s) || !mycel::broadcast(s, c.shape(0), &s)) {
    c.fail("the shapes do not broadcast");
  }
  c.result(promote(c.dtype(1), c.dtype(2)), s);
}

loops::Val pick(loops::Val condition, loops::Val x, loops::Val y) {
  DType d = promote(x.dtype(), y.dtype());
  return select(cast(condition, DType::kBool), cast(x, d), cast(y, d));
}

// The gradient goes to the operand that was chosen; of equal ones, to the first.
void chosen_gradient(Adjoint& a, Value second) {
  a.dx(0) += where(second, 0.0, a.dy());
  a.dx(1) += where(second, a.dy(), 0.0);
}

void ordered(TypeRuleCtx& c) {
  if (is_complex(c.dtype(0))) c.fail_type("complex numbers have no order");
  types::broadcast(c);
}
}  // namespace

constexpr OpDef kSelect = check({
    .name = "select",
    .doc = "x where cond holds, else y; x and y meet in their common dtype.",
    .in = {"cond: any", "x: any", "y: any"},
    .type = select_type,
    .shard = "..., ..., ... -> ...",
    .grad =
        [](Adjoint& a) {
          a.dx(1) += where(a.x(0), a.dy(), 0.0);
          a.dx(2) += where(a.x(0), 0.0, a.dy());
        },
    .scalar = ternary([](auto c, auto x, auto y) { return pick(c, x, y); }),
    .cases = "cond dtypes bool; at (1, 2, 3) -> 2; at (0, 2, 3) -> 3; bad x[2] y[3]",
    .onnx = "Where",
    .primitive = "Select",
    .alias = "where",
});

constexpr OpDef kMaximum = check({
    .name = "maximum",
    .doc = "The larger of x and y; NaN where either is NaN. Of equal operands the first gets the "
           "gradient.",
    .in = {"x: any", "y: any"},
    .promote = Promote::kCommon,
    .type = ordered,
    .shard = "..., ... -> ...",
    .grad = [](Adjoint& a) { chosen_gradient(a, kLess({a.x(0), a.x(1)})); },
    .scalar = binary([](auto x, auto y) { return back_to(max(as_number(x), as_number(y)), x); }),
    .cases = "dtypes bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 "
             "float32 float64; "
             "at (1, 2) -> 2; at (nan, 1) -> nan; at (1, nan) -> nan",
    .onnx = "Max",
    .primitive = "Maximum",
    .method = "maximum",
    .commutative = true,
});

constexpr OpDef kMinimum = check({
    .name = "minimum",
    .doc = "The smaller of x and y; NaN where either is NaN. Of equal operands the first gets the "
           "gradient.",
    .in = {"x: any", "y: any"},
    .promote = Promote::kCommon,
    .type = ordered,
    .shard = "..., ... -> ...",
    .grad = [](Adjoint& a) { chosen_gradient(a, kGreater({a.x(0), a.x(1)})); },
    .scalar = binary([](auto x, auto y) { return back_to(min(as_number(x), as_number(y)), x); }),
    .cases = "dtypes bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 "
             "float32 float64; "
             "at (1, 2) -> 1; at (nan, 1) -> nan; at (1, nan) -> nan",
    .onnx = "Min",
    .primitive = "Minimum",
    .method = "minimum",
    .commutative = true,
});

void register_selection() { register_ops({&kSelect, &kMaximum, &kMinimum}); }

}  // namespace mycel::ops
