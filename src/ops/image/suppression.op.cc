// Choices of boxes by score beside non_max_suppression: with overlaps given, and for many classes
// of a batch at once.
#include "base/error.h"
#include "ir/expansion.h"
#include "ir/loop_rule.h"
#include "ir/type_rule.h"
#include "ops/elementwise/elementwise.h"
#include "ops/image/image.h"
#include "ops/image/rooms.h"
#include "ops/index/index.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::check;
using ir::Expansion;
using ir::LoopCtx;
using ir::no_gradient;
using ir::TypeRuleCtx;
using loops::LoopKind;
using loops::Val;

namespace {

// Box order[i], if it is kept, drops all later ones that it overlaps too much.
void keep_loops(LoopCtx& c) {
  loops::Nest& nest = c.nest;
  int64_t count = c.in_type(1).shape[0];
  Val n = nest.number(count);
  nest.parallel(count > 0 ? 1 : 0, std::max<int64_t>(1, count * count * 2), [&](Val) {
    Val limit = nest.load(c.in(2), nest.index(0));
    auto place = [&](Val i) {
      return max(min(cast(nest.load(c.in(1), i), DType::kInt64), n - 1), int64_t{0});
    };
    nest.loop(n, LoopKind::kVector,
              [&](Val i) { nest.store(c.out(), i, nest.literal(DType::kBool, int64_t{1})); });
    nest.loop(n, LoopKind::kSequential, [&](Val i) {
      nest.if_(nest.load(c.out(), i), [&] {
        Val taken = place(i);
        nest.loop(n - i - 1, LoopKind::kVector, [&](Val k) {
          Val j = i + 1 + k;
          Val much = nest.load(c.in(0), place(j) * n + taken) > limit;
          nest.store(c.out(), j, nest.load(c.out(), j) && !much);
        });
      });
    });
  });
}

void expand_with_overlaps(Expansion& e) {
  Value overlaps = e.x(0), scores = e.x(1);
  if (overlaps.rank() != 2 || scores.rank() != 1)
    value_error(
        "non_max_suppression_with_overlaps: needs overlaps [n, n] and scores [n], got {} "
        "and {}",
        overlaps.type().str(), scores.type().str());
  for (int i = 2; i < 5; ++i) {
    if (e.x(i).rank() != 0)
      value_error("non_max_suppression_with_overlaps: '{}' must be a number, got {}",
                  e.op.inputs[i].name, e.x(i).type().str());
  }
  Value order = all_results(kSort, {scores}, {0, true})[1];
  Value keep = kKeepOverlapping({overlaps, order, cast_to(e.x(3), overlaps.dtype())});
  keep = kLogicalAnd(
      {keep, kGreater({kGather({scores, order}, {0}), cast_to(e.x(4), scores.dtype())})});
  Value place = kCumsum({cast_to(keep, DType::kInt64)}, {0});
  keep = kLogicalAnd({keep, kLessEqual({place, cast_to(e.x(2), DType::kInt64)})});
  e.result(cast_to(kCompress({order, keep}), DType::kInt32));
}

void combined_type(TypeRuleCtx& c) {
  const Shape &boxes = c.shape(0), &scores = c.shape(1);
  if (boxes.rank() != 4 || scores.rank() != 3 || (boxes[3] != 4 && boxes[3] != kUnknownDim))
    c.fail("boxes must be [batch, n, classes or 1, 4] and scores [batch, n, classes]");
  if (dims_differ(boxes[0], scores[0]) || dims_differ(boxes[1], scores[1]) ||
      (boxes[2] != 1 && dims_differ(boxes[2], scores[2])))
    c.fail("boxes and scores must agree in batch, number and classes");
  int64_t each = c.attrs.integer("max_output_size_per_class"),
          total = c.attrs.integer("max_total_size");
  if (each < 1 || total < 1) c.fail("the numbers of boxes must be positive");
  if (c.attrs.boolean("pad_per_class")) {
    if (scores[2] == kUnknownDim) c.fail("the number of classes must be known");
    total = std::min(total, each * scores[2]);
  }
  c.result(c.dtype(0), {boxes[0], total, 4});
  c.result(c.dtype(0), {boxes[0], total});
  c.result(c.dtype(0), {boxes[0], total});
  c.result(DType::kInt32, {boxes[0]});
}

}  // namespace

constexpr OpDef kKeepOverlapping = check({
    .name = "keep_overlapping",
    .doc = "Of boxes named by `order`, best first, which stay when each one that stays drops the "
           "later ones whose overlap with it, in their row, is above the threshold.",
    .in = {"overlaps: float[n, n]", "order: index[n]", "overlap_threshold: float[]"},
    .type =
        [](TypeRuleCtx& c) {
          const Shape &s = c.shape(0), &order = c.shape(1);
          bool square = s.rank() == 2 && order.rank() == 1;
          for (int d = 0; square && d < 2; ++d)
            square = s[d] == order[0] || s[d] == kUnknownDim || order[0] == kUnknownDim;
          if (!square) c.fail("overlaps must be [n, n] for an order of n");
          if (c.shape(2).rank() != 0) c.fail("overlap_threshold must be a number");
          c.result(DType::kBool, {order[0]});
        },
    .shard = "none",
    .grad = no_gradient("a choice"),
    .loops = keep_loops,
    .cases = "overlaps[5, 5]; overlaps in (0, 1); order[5]; order in permutation; "
             "overlap_threshold in (0.4, 0.6); bad overlaps[5, 4]; bad overlap_threshold[2]; skip "
             "dtypes: rounding moves overlaps; skip zero_size: sizes belong together",
    .internal = true,
});

constexpr OpDef kNmsWithOverlaps = check({
    .name = "non_max_suppression_with_overlaps",
    .doc = "Indices of at most max_output_size boxes with scores above score_threshold, by falling "
           "score, leaving out those whose overlap with one taken before is above "
           "overlap_threshold. int32; the number is known when it has run.",
    .in = {"overlaps: float[n, n]", "scores: float[n]", "max_output_size: real[]",
           "overlap_threshold: float[]", "score_threshold: float[]"},
    .shard = "none",
    .expand = expand_with_overlaps,
    .cases = "overlaps[5, 5]; overlaps in (0, 1); scores in distinct(0, 1); scores[5]; "
             "max_output_size in ints(2, 4); overlap_threshold in (0.4, 0.6); score_threshold in "
             "(0, 0.3); bad overlaps[5, 4]; bad scores[5, 2]; skip scalar: boxes are rows; skip "
             "dtypes: rounding moves overlaps; skip zero_size: sizes belong together",
    .primitive = "NonMaxSuppressionWithOverlaps()",
    .internal = true,
});

constexpr OpDef kCombinedNms = check({
    .name = "combined_non_max_suppression",
    .doc = "The best max_total_size boxes of all classes of each image: of each class at most "
           "max_output_size_per_class with scores above score_threshold, leaving out those that "
           "share more than iou_threshold of the union with a better one of the class. Boxes (two "
           "opposite corners; cut off to [0, 1] by clip_boxes), scores, classes, filled up with "
           "zeros, and how many there are. boxes [b, n, classes or 1, 4]; pad_per_class: as many "
           "rows as the classes can fill.",
    .in = {"boxes: float[b, n, q, 4]", "scores: float[b, n, c]", "iou_threshold: float[]",
           "score_threshold: float[]"},
    .attr = {"max_output_size_per_class: int", "max_total_size: int", "pad_per_class: bool = False",
             "clip_boxes: bool = True"},
    .out = {"nmsed_boxes", "nmsed_scores", "nmsed_classes", "valid_detections"},
    .type = combined_type,
    .shard = "none",
    .grad = no_gradient("a choice"),
    .cases =
        "boxes[2, 5, 1, 4] [2, 5, 3, 4]; boxes in distinct(-0.2, 1.2); scores[2, 5, 3]; scores "
        "in distinct(0, 1); iou_threshold in (0.2, 0.5); score_threshold in (0.1, 0.3); "
        "max_output_size_per_class = 2; max_total_size = 4 9; pad_per_class = False True; "
        "clip_boxes = True False; bad boxes[2, 5, 2, 4]; bad scores[2, 4, 3]; bad "
        "max_total_size = 0; skip dtypes: rounding moves overlaps; skip zero_size: sizes "
        "belong together; skip scalar: boxes are rows",
    .internal = true,
});

void register_suppression() {
  ir::register_ops({&kKeepOverlapping, &kNmsWithOverlaps, &kCombinedNms});
}

}  // namespace mycel::ops
