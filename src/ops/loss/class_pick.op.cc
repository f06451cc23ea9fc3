// Reading and writing the element that a label names.
#include "ir/adjoint.h"
#include "ir/batching.h"
#include "ir/loop_rule.h"
#include "ir/type_rule.h"
#include "ops/loss/loss.h"
#include "ops/loss/rooms.h"

namespace mycel::ops {

using ir::Adjoint;
using ir::Attr;
using ir::Attrs;
using ir::check;
using ir::LoopCtx;
using ir::TypeRuleCtx;
using ir::Value;
using loops::LoopKind;
using loops::Val;

namespace {

// x repeats along all the dims on one side of the class axis or along none.
void check_side(const TypeRuleCtx& c, const Shape& x, const Shape& labels, int from, int to) {
  int axis = c.axis(c.attrs.integer("axis"));
  bool repeats = false, walks = false;
  for (int d = from; d < to; ++d) {
    int64_t n = x[d < axis ? d : d + 1];
    if (labels[d] != 1) (n == 1 ? repeats : walks) = true;
  }
  if (repeats && walks)
    c.fail("x must have size 1 along all dims on a side of the classes, or along none");
}

void pick_type(TypeRuleCtx& c) {
  const Shape &x = c.shape(0), &labels = c.shape(1);
  int axis = c.axis(c.attrs.integer("axis"));
  if (labels.rank() != x.rank() - 1) c.fail("the labels must have {} dims", x.rank() - 1);
  for (int d = 0; d < labels.rank(); ++d) {
    int64_t n = x[d < axis ? d : d + 1];
    if (n != 1 && dims_differ(n, labels[d])) c.fail("dim {} of the labels must be {}", d, n);
  }
  check_side(c, x, labels, 0, axis);
  check_side(c, x, labels, axis, labels.rank());
  c.result(c.dtype(0), labels);
}

DType nest_dtype(DType t) { return is_float(t) && size_of(t) == 2 ? DType::kFloat32 : t; }

// Everything before, at and behind the class axis. x may repeat along either side.
struct Sizes {
  int64_t before = 1, classes = 1, behind = 1;
  int64_t before_step = 0, behind_step = 0, class_step = 1;
};

Sizes sizes_of(const Shape& x, const Shape& labels, int axis) {
  Sizes s;
  s.before = labels.size(0, axis);
  s.behind = labels.size(axis, labels.rank());
  s.classes = x[axis];
  int64_t x_before = x.size(0, axis), x_behind = x.size(axis + 1, x.rank());
  s.class_step = x_behind;
  s.before_step = x_before == 1 ? 0 : x_behind * x[axis];
  s.behind_step = x_behind == 1 ? 0 : 1;
  return s;
}

int axis_of(const LoopCtx& c, int rank) {
  return normalize_axis(c.attrs.integer("axis"), rank, c.op.name.c_str());
}

void pick_loops(LoopCtx& c) {
  const Shape& x = c.in_type(0).shape;
  Sizes s = sizes_of(x, c.in_type(1).shape, axis_of(c, x.rank()));
  loops::Nest& nest = c.nest;
  Val behind = nest.number(s.behind), classes = nest.number(s.classes),
      class_step = nest.number(s.class_step);
  Val before_step = nest.number(s.before_step), behind_step = nest.number(s.behind_step);
  Val ignored = nest.number(c.attrs.integer("ignore_index"));
  nest.parallel(s.before * s.behind, 4, [&](Val i) {
    Val label = cast(nest.load(c.in(1), i), DType::kInt64);
    Val at = i / behind * before_step + i % behind * behind_step + label * class_step;
    // Also safe for labels that the check before the kernel would refuse.
    nest.if_(
        label >= 0 && label < classes && label != ignored,
        [&] { nest.store(c.out(), i, nest.load(c.in(0), at)); },
        [&] { nest.store(c.out(), i, nest.literal(DType::kInt64, int64_t{0})); });
  });
}

void pick_grad(Adjoint& a) {
  const Shape& x = a.x_type(0).shape;
  int axis = normalize_axis(a.attrs().integer("axis"), x.rank(), "pick_class");
  Attrs attrs = {axis, a.attrs()["ignore_index"]};
  if (x[axis] == kUnknownDim) {
    a.dx(0) += kPlaceClass({a.dy(), a.x(1), a.x(0)}, attrs);
  } else {
    attrs.push_back(x[axis]);
    a.dx(0) += kPlaceClass({a.dy(), a.x(1)}, attrs);
  }
}

void place_type(TypeRuleCtx& c) {
  Shape y = c.shape(0);
  int axis = normalize_axis(c.attrs.integer("axis"), y.rank() + 1, c.op.name.c_str());
  if (c.shape(1).rank() != y.rank()) c.fail("the labels must have {} dims", y.rank());
  if (!c.has(2) && c.attrs["depth"].none()) c.fail("'depth' or the operand 'like' must be given");
  for (int d = 0; d < y.rank(); ++d) {
    if (dims_differ(y[d], c.shape(1)[d]))
      c.fail("dy {} and labels {} must have one shape", y.str(), c.shape(1).str());
  }
  if (c.has(2) && c.shape(2).rank() != y.rank() + 1)
    c.fail("'like' must have {} dims, got {}", y.rank() + 1, c.shape(2).str());
  const int64_t depth = c.has(2) ? c.shape(2)[axis] : c.attrs.integer("depth");
  if (depth < kUnknownDim) c.fail("'depth' must not be negative, got {}", depth);
  y.insert(axis, depth);
  c.result(c.dtype(0), y);
}

void place_loops(LoopCtx& c) {
  const Shape& y = c.out_type().shape;
  Sizes s = sizes_of(y, c.in_type(1).shape, axis_of(c, y.rank()));
  loops::Nest& nest = c.nest;
  Val behind = nest.number(s.behind), classes = nest.number(s.classes);
  Val ignored = nest.number(c.attrs.integer("ignore_index"));
  DType dtype = nest_dtype(c.out_type().dtype);
  nest.parallel(s.before * s.classes, s.behind, [&](Val row) {
    Val label0 = row / classes * behind, k = row % classes;
    nest.loop(behind, LoopKind::kVector, [&](Val i) {
      Val label = cast(nest.load(c.in(1), label0 + i), DType::kInt64);
      Val dy = nest.load(c.in(0), label0 + i);
      nest.store(
          c.out(), row * behind + i,
          select(label == k && label != ignored, dy, loops::constant(nest, dtype, int64_t{0})));
    });
  });
}

void place_grad(Adjoint& a) {
  a.dx(0) += kPickClass({a.dy(), a.x(1)}, {a.attrs()["axis"], a.attrs()["ignore_index"]});
}

// The batch is one more dim before the classes; x must not repeat along the others there.
bool batch_class(ir::Batching& b) {
  const Shape& labels = b.shape(1);
  int64_t axis = b.attrs.integer("axis");
  if (axis < 0) axis += labels.rank() + 1;
  const Shape& x = b.shape(0);
  if (x.rank() > labels.rank()) {
    for (int d = 0; d < axis; ++d) {
      if (x[d] != labels[d]) return false;
    }
  }
  std::vector<Value> in;
  for (int i = 0; i < b.inputs(); ++i) in.push_back(b.has(i) ? b.spread(i) : Value());
  return b.same(in, b.replaced("axis", Attr(axis + 1)));
}

}  // namespace

constexpr OpDef kPickClass = check({
    .name = "pick_class",
    .doc = "The element of each row of classes that its label names, y[n, …] = x[n, label[n, …], "
           "…]; 0 where the label is "
           "ignore_index. ValueError for any other label outside [0, classes).",
    .in = {"x: float[n, c, s]", "labels: index[n, s]"},
    .attr = {"axis: int = 1", "ignore_index: int = -100"},
    .type = pick_type,
    .shard = "none",
    .grad = pick_grad,
    .loops = pick_loops,
    .batch = batch_class,
    .cases = "c = 4; labels in ints(0, c - 1); bad labels[2, 2, 2] | x[5]; labels[]; axis = 0 | "
             "x[1, 4, 1]; labels[2, 3]; "
             "labels in ints(0, 3) | labels in {0, 2, -1}; ignore_index = -1",
    .internal = true,
});

constexpr OpDef kPlaceClass = check({
    .name = "place_class",
    .doc = "Zeros but for y[n, label[n, …], …] = dy[n, …]: the gradient of pick_class.",
    .in = {"dy: float[n, s]", "labels: index[n, s]", "like?: float"},
    .attr = {"axis: int = 1", "ignore_index: int = -100", "depth: int? = None"},
    .type = place_type,
    .shard = "none",
    .grad = place_grad,
    .loops = place_loops,
    .batch = batch_class,
    .cases = "depth = 4; labels in ints(0, 3); without like; axis = 0 1 2",
    .internal = true,
});

void register_class_losses() { ir::register_ops({&kPickClass, &kPlaceClass}); }

}  // namespace mycel::ops
