// Bessel functions of order 0 and 1.
#include "ops/elementwise/bessel.h"

#include "ir/adjoint.h"
#include "ir/type_rule.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/rooms.h"

namespace mycel::ops {

using namespace ir;  // NOLINT: the vocabulary of records

extern const OpDef kBesselI0, kBesselI1, kBesselI0e, kBesselI1e;
extern const OpDef kBesselJ0, kBesselJ1, kBesselY0, kBesselY1;
extern const OpDef kBesselK0, kBesselK1, kBesselK0e, kBesselK1e;

namespace {

// f1(x) / x for a function of order 1 that is odd; its limit at 0 is 1/2.
Value over_x(Value f1, Value x) {
  Value zero = equal(x, 0.0);
  return where(zero, 0.5, f1 / where(zero, 1.0, x));
}

}  // namespace

constexpr OpDef kBesselJ0 = check({
    .name = "bessel_j0",
    .doc = "Bessel function of the first kind, order 0.",
    .in = {"x: real"},
    .promote = Promote::kFloat,
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) -= a.dy() * kBesselJ1({a.x(0)}); },
    .scalar = unary([](auto x) { return bessel::j0(x); }),
    .cases = "x in (-4, 12); at (1.5) -> 0.5118276717359181; at (20) -> 0.16702466434058322; at "
             "(0) -> 1; fd 1e-5",
    .primitive = "BesselJ0",
});

constexpr OpDef kBesselJ1 = check({
    .name = "bessel_j1",
    .doc = "Bessel function of the first kind, order 1.",
    .in = {"x: real"},
    .promote = Promote::kFloat,
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) += a.dy() * (kBesselJ0({a.x(0)}) - over_x(a.y(), a.x(0))); },
    .scalar = unary([](auto x) { return bessel::j1(x); }),
    .cases = "x in (-4, 12); at (1.5) -> 0.5579365079100997; at (20) -> 0.0668331241758502; at (0) "
             "-> 0; fd 1e-5",
    .primitive = "BesselJ1",
});

constexpr OpDef kBesselY0 = check({
    .name = "bessel_y0",
    .doc = "Bessel function of the second kind, order 0; NaN for negative x.",
    .in = {"x: real"},
    .promote = Promote::kFloat,
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) -= a.dy() * kBesselY1({a.x(0)}); },
    .scalar = unary([](auto x) { return bessel::y0(x); }),
    .cases = "x in (0.5, 12); at (1.5) -> 0.38244892379775886; at (20) -> 0.06264059680938369; at "
             "(0) -> -inf; fd 1e-5",
    .primitive = "BesselY0",
});

constexpr OpDef kBesselY1 = check({
    .name = "bessel_y1",
    .doc = "Bessel function of the second kind, order 1; NaN for negative x.",
    .in = {"x: real"},
    .promote = Promote::kFloat,
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) += a.dy() * (kBesselY0({a.x(0)}) - a.y() / a.x(0)); },
    .scalar = unary([](auto x) { return bessel::y1(x); }),
    .cases = "x in (0.5, 12); at (1.5) -> -0.41230862697391135; at (20) -> -0.1655116143625212; at "
             "(0) -> -inf; fd 1e-5",
    .primitive = "BesselY1",
});

constexpr OpDef kBesselI0 = check({
    .name = "bessel_i0",
    .doc = "Bessel function modified, of the first kind, order 0.",
    .in = {"x: real"},
    .promote = Promote::kFloat,
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) += a.dy() * kBesselI1({a.x(0)}); },
    .scalar = unary([](auto x) { return bessel::i0(x); }),
    .cases = "x in (-4, 10); at (1.5) -> 1.6467231897728907; at (20) -> 43558282.559553534; at (0) "
             "-> 1; fd 1e-5",
    .primitive = "BesselI0",
    .method = "i0",
    .alias = "i0",
});

constexpr OpDef kBesselI1 = check({
    .name = "bessel_i1",
    .doc = "Bessel function modified, of the first kind, order 1.",
    .in = {"x: real"},
    .promote = Promote::kFloat,
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) += a.dy() * (kBesselI0({a.x(0)}) - over_x(a.y(), a.x(0))); },
    .scalar = unary([](auto x) { return bessel::i1(x); }),
    .cases = "x in (-4, 10); at (1.5) -> 0.9816664285779079; at (20) -> 42454973.385127775; at (0) "
             "-> 0; fd 1e-5",
    .primitive = "BesselI1",
});

constexpr OpDef kBesselI0e = check({
    .name = "bessel_i0e",
    .doc = "Bessel function modified, of the first kind, order 0, times e^-|x|.",
    .in = {"x: real"},
    .promote = Promote::kFloat,
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad =
        [](Adjoint& a) { a.dx(0) += a.dy() * (kBesselI1e({a.x(0)}) - kSign({a.x(0)}) * a.y()); },
    .scalar = unary([](auto x) { return bessel::i0e(x); }),
    .cases = "x in (-4, 10); at (1.5) -> 0.36743360905415834; at (20) -> 0.089780311884826; at (0) "
             "-> 1; fd 1e-5",
    .primitive = "BesselI0e",
});

constexpr OpDef kBesselI1e = check({
    .name = "bessel_i1e",
    .doc = "Bessel function modified, of the first kind, order 1, times e^-|x|.",
    .in = {"x: real"},
    .promote = Promote::kFloat,
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad =
        [](Adjoint& a) {
          a.dx(0) +=
              a.dy() * (kBesselI0e({a.x(0)}) - kSign({a.x(0)}) * a.y() - over_x(a.y(), a.x(0)));
        },
    .scalar = unary([](auto x) { return bessel::i1e(x); }),
    .cases = "x in (-4, 10); at (1.5) -> 0.21903938742092574; at (20) -> 0.08750622218328867; at "
             "(0) -> 0; fd 1e-5",
    .primitive = "BesselI1e",
});

constexpr OpDef kBesselK0 = check({
    .name = "bessel_k0",
    .doc = "Bessel function modified, of the second kind, order 0; NaN for negative x.",
    .in = {"x: real"},
    .promote = Promote::kFloat,
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) -= a.dy() * kBesselK1({a.x(0)}); },
    .scalar = unary([](auto x) { return bessel::k0(x); }),
    .cases = "x in (0.5, 4); at (1.5) -> 0.21380556264752565; at (20) -> 5.741237815336524e-10; at "
             "(0) -> inf; fd 1e-5",
    .primitive = "BesselK0",
});

constexpr OpDef kBesselK1 = check({
    .name = "bessel_k1",
    .doc = "Bessel function modified, of the second kind, order 1; NaN for negative x.",
    .in = {"x: real"},
    .promote = Promote::kFloat,
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) -= a.dy() * (kBesselK0({a.x(0)}) + a.y() / a.x(0)); },
    .scalar = unary([](auto x) { return bessel::k1(x); }),
    .cases = "x in (0.5, 4); at (1.5) -> 0.2773878004568438; at (20) -> 5.883057969557038e-10; at "
             "(0) -> inf; fd 1e-5",
    .primitive = "BesselK1",
});

constexpr OpDef kBesselK0e = check({
    .name = "bessel_k0e",
    .doc = "Bessel function modified, of the second kind, order 0, times e^x; NaN for negative x.",
    .in = {"x: real"},
    .promote = Promote::kFloat,
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) += a.dy() * (a.y() - kBesselK1e({a.x(0)})); },
    .scalar = unary([](auto x) { return bessel::k0e(x); }),
    .cases = "x in (0.5, 4); at (1.5) -> 0.9582100532948961; at (20) -> 0.2785448766571822; at (0) "
             "-> inf; fd 1e-5",
    .primitive = "BesselK0e",
});

constexpr OpDef kBesselK1e = check({
    .name = "bessel_k1e",
    .doc = "Bessel function modified, of the second kind, order 1, times e^x; NaN for negative x.",
    .in = {"x: real"},
    .promote = Promote::kFloat,
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) += a.dy() * (a.y() - kBesselK0e({a.x(0)}) - a.y() / a.x(0)); },
    .scalar = unary([](auto x) { return bessel::k1e(x); }),
    .cases = "x in (0.5, 4); at (1.5) -> 1.2431658735525528; at (20) -> 0.28542549694072644; at "
             "(0) -> inf; fd 1e-5",
    .primitive = "BesselK1e",
});

void register_bessel() {
  register_ops({&kBesselJ0, &kBesselJ1, &kBesselY0, &kBesselY1, &kBesselI0, &kBesselI1, &kBesselI0e,
                &kBesselI1e, &kBesselK0, &kBesselK1, &kBesselK0e, &kBesselK1e});
}

}  // namespace mycel::ops
