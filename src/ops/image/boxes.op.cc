// Boxes (x1, y1, x2, y2): overlap, coding relative to anchors, suppression. Whole pixels: a box is
// x2 - x1 + 1 wide where the published formula says so.
#include <cmath>

#include <fmt/format.h>

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

using ir::Attr;
using ir::check;
using ir::Expansion;
using ir::LoopCtx;
using ir::no_gradient;
using ir::TypeRuleCtx;
using loops::Val;

namespace {

void need_rows(const Expansion& e, int operand, int64_t width) {
  const Shape& s = e.x(operand).shape();
  if (s.rank() == 2 && (s[1] == width || s[1] == kUnknownDim)) return;
  value_error("{}: '{}' must be [n, {}], got {}", e.op.name, e.op.inputs[operand].name, width,
              e.x(operand).type().str());
}

Value column(Value rows, int64_t i) { return sliced(rows, 1, i, 1); }
Value stretch(Value low, Value high) {
  Value w = high - low + 1.0;
  return where(less(w, 0.0), 0.0, w);
}

void expand_iou(Expansion& e) {
  need_rows(e, 0, 4), need_rows(e, 1, 4);
  Value anchors = kTranspose({e.x(0)}), truth = e.x(1);  // [4, n], [m, 4]
  auto a = [&](int64_t i) { return sliced(anchors, 0, i, 1); };
  auto t = [&](int64_t i) { return column(truth, i); };
  Value both = stretch(kMaximum({a(0), t(0)}), kMinimum({a(2), t(2)})) *
               stretch(kMaximum({a(1), t(1)}), kMinimum({a(3), t(3)}));
  Value own = (a(2) - a(0) + 1.0) * (a(3) - a(1) + 1.0);
  Value other = (t(2) - t(0) + 1.0) * (t(3) - t(1) + 1.0);
  e.result(e.attrs.string("mode") == "iof" ? both / other : both / (own + other - both));
}

struct Centred {
  Value x, y, width, height;
};
Centred centred(Value boxes) {
  Value x1 = column(boxes, 0), y1 = column(boxes, 1), x2 = column(boxes, 2), y2 = column(boxes, 3);
  return {(x1 + x2) * 0.5, (y1 + y2) * 0.5, x2 - x1 + 1.0, y2 - y1 + 1.0};
}

const Attr::Floats& four(const Expansion& e, const char* name) {
  const Attr::Floats& v = e.attrs[name].floats();
  if (v.size() != 4)
    value_error("{}: '{}' must be 4 numbers, got {}", e.op.name, name, e.attrs[name].str());
  return v;
}

void expand_encode(Expansion& e) {
  need_rows(e, 0, 4), need_rows(e, 1, 4);
  Centred a = centred(e.x(0)), t = centred(e.x(1));
  const Attr::Floats &mean = four(e, "means"), &deviation = four(e, "stds");
  std::vector<Value> out = {(t.x - a.x) / a.width, (t.y - a.y) / a.height,
                            kLog({t.width / a.width}), kLog({t.height / a.height})};
  for (int i = 0; i < 4; ++i) out[i] = (out[i] - mean[i]) / deviation[i];
  e.result(kConcat(out, {1}));
}

void expand_decode(Expansion& e) {
  need_rows(e, 0, 4), need_rows(e, 1, 4);
  const Attr::Floats &mean = four(e, "means"), &deviation = four(e, "stds");
  const Attr::Ints& most = e.attrs.ints("max_shape");
  double ratio = e.attrs.real("wh_ratio_clip");
  if (!(ratio > 0)) value_error("{}: wh_ratio_clip must be positive, got {}", e.op.name, ratio);
  double bound = std::fabs(std::log(ratio));
  Centred a = centred(e.x(0));
  auto delta = [&](int i) { return column(e.x(1), i) * deviation[i] + mean[i]; };
  auto clipped = [](Value v, double low, double high) {
    return where(less(v, low), low, where(greater(v, high), high, v));
  };
  Value half_width = a.width * kExp({clipped(delta(2), -bound, bound)}) * 0.5;
  Value half_height = a.height * kExp({clipped(delta(3), -bound, bound)}) * 0.5;
  Value x = a.x + a.width * delta(0), y = a.y + a.height * delta(1);
  auto wide = [&](Value v) { return clipped(v, 0, static_cast<double>(most[1])); };
  auto high = [&](Value v) { return clipped(v, 0, static_cast<double>(most[0])); };
  e.result(kConcat({wide(x - half_width + 0.5), high(y - half_height + 0.5),
                    wide(x + half_width - 0.5), high(y + half_height - 0.5)},
                   {1}));
}

void expand_check_valid(Expansion& e) {
  need_rows(e, 0, 4);
  const Shape& s = e.x(1).shape();
  if (s.rank() != 1 || (s[0] != 3 && s[0] != kUnknownDim))
    value_error("check_valid: img_metas must be (height, width, ratio), got {}",
                e.x(1).type().str());
  auto meta = [&](int64_t i) { return sliced(e.x(1), 0, i, 1); };
  Value b = e.x(0), width = meta(1) * meta(2) - 1.0, height = meta(0) * meta(2) - 1.0;
  auto at_least = [&](int64_t i) { return kGreaterEqual({column(b, i), number(b, 0)}); };
  Value ok = kLogicalAnd({at_least(0), at_least(1)});
  ok = kLogicalAnd({ok, kLessEqual({column(b, 2), width})});
  ok = kLogicalAnd({ok, kLessEqual({column(b, 3), height})});
  e.result(kSqueeze({ok}, {Attr::Ints{1}}));
}

void keep_type(TypeRuleCtx& c) {
  const Shape& s = c.shape(0);
  if (s.rank() != 2 || (s[1] != 4 && s[1] != kUnknownDim)) c.fail("boxes must be [n, 4]");
  if (c.shape(1).rank() != 0) c.fail("iou_threshold must be a number");
  c.result(DType::kBool, {s[0]});
}

// Box i, if it is kept, drops all later ones that it overlaps too much.
void keep_loops(LoopCtx& c) {
  loops::Nest& nest = c.nest;
  int64_t count = c.in_type(0).shape[0];
  Val n = nest.number(count);
  nest.parallel(count > 0 ? 1 : 0, std::max<int64_t>(1, count * count * 8), [&](Val) {
    Val limit = nest.load(c.in(1), nest.index(0));
    struct Box {
      Val x1, y1, x2, y2, area;
    };
    auto box = [&](Val i) {
      Val a = nest.load(c.in(0), i * 4), b = nest.load(c.in(0), i * 4 + 1);
      Val p = nest.load(c.in(0), i * 4 + 2), q = nest.load(c.in(0), i * 4 + 3);
      return Box{a, b, p, q, (p - a) * (q - b)};
    };
    nest.loop(n, loops::LoopKind::kVector,
              [&](Val i) { nest.store(c.out(), i, nest.literal(DType::kBool, int64_t{1})); });
    nest.loop(n, loops::LoopKind::kSequential, [&](Val i) {
      nest.if_(nest.load(c.out(), i), [&] {
        Box a = box(i);
        nest.loop(n - i - 1, loops::LoopKind::kVector, [&](Val k) {
          Val j = i + 1 + k;
          Box b = box(j);
          Val w = max(min(a.x2, b.x2) - max(a.x1, b.x1), 0.0);
          Val h = max(min(a.y2, b.y2) - max(a.y1, b.y1), 0.0);
          Val both = w * h;
          Val much = both / (a.area + b.area - both) > limit;
          nest.store(c.out(), j, nest.load(c.out(), j) && !much);
        });
      });
    });
  });
}

// Rows in the order of falling scores, and that order.
std::pair<Value, Value> by_score(Value rows, Value scores) {
  Value order = all_results(kSort, {scores}, {0, true})[1];
  return {kGather({rows, order}, {0}), order};
}

void expand_mask(Expansion& e) {
  need_rows(e, 0, 5);
  double limit = e.attrs.real("iou_threshold");
  if (!(limit >= 0 && limit <= 1))
    value_error("nms_with_mask: iou_threshold must lie in [0, 1], got {}", limit);
  Value boxes = e.x(0);
  Value sorted = by_score(boxes, kSqueeze({column(boxes, 4)}, {Attr::Ints{1}})).first;
  Value keep = kKeepBoxes({sliced(sorted, 1, 0, 4), number(boxes, limit)});
  Value ones = kOnesLike({keep}, {DType::kInt32});
  e.result(sorted);
  e.result(cast_to(kCumsum({ones}, {0}), DType::kInt32) - 1.0);
  e.result(keep);
}

// Corners in any order: (least, least, greatest, greatest).
Value upright(Value b) {
  std::vector<Value> low, high;
  for (int64_t i : {0, 1}) {
    low.push_back(kMinimum({column(b, i), column(b, i + 2)}));
    high.push_back(kMaximum({column(b, i), column(b, i + 2)}));
  }
  return kConcat({low[0], low[1], high[0], high[1]}, {1});
}

void expand_suppression(Expansion& e) {
  need_rows(e, 0, 4);
  if (e.x(1).rank() != 1)
    value_error("non_max_suppression: scores must be a vector, got {}", e.x(1).type().str());
  for (int i = 2; i < 5; ++i) {
    if (e.x(i).rank() != 0)
      value_error("non_max_suppression: '{}' must be a number, got {}", e.op.inputs[i].name,
                  e.x(i).type().str());
  }
  Value scores = e.x(1);
  auto [boxes, order] = by_score(upright(e.x(0)), scores);
  Value keep = kKeepBoxes({boxes, cast_to(e.x(3), boxes.dtype())});
  keep = kLogicalAnd(
      {keep, kGreater({kGather({scores, order}, {0}), cast_to(e.x(4), scores.dtype())})});
  Value place = kCumsum({cast_to(keep, DType::kInt64)}, {0});
  keep = kLogicalAnd({keep, kLessEqual({place, cast_to(e.x(2), DType::kInt64)})});
  e.result(kCompress({order, keep}));
}

}  // namespace

constexpr OpDef kKeepBoxes = check({
    .name = "keep_boxes",
    .doc = "Of boxes (x1, y1, x2, y2) in order of preference, which stay when each one that stays "
           "drops the later ones that share more than iou_threshold of the union with it.",
    .in = {"boxes: float[n, 4]", "iou_threshold: float[]"},
    .promote = ir::Promote::kCommon,
    .type = keep_type,
    .shard = "none",
    .grad = no_gradient("a choice"),
    .loops = keep_loops,
    .cases = "boxes[7, 4]; boxes in sorted(0, 9); iou_threshold in (0.05, 0.3); bad boxes[7, 5]; "
             "bad iou_threshold[2]; skip dtypes: rounding moves overlaps",
    .internal = true,
});
constexpr OpDef kIou = check({
    .name = "iou",
    .doc = "Overlap of every ground truth box with every anchor, [m, n]: shared over joint area, "
           "with mode iof over the ground truth's area. Boxes are x2 - x1 + 1 wide.",
    .in = {"anchor_boxes: float[n, 4]", "gt_boxes: float[m, 4]"},
    .attr = {"mode: str(iou|iof) = iou"},
    .promote = ir::Promote::kCommon,
    .shard = "none",
    .expand = expand_iou,
    .cases = "anchor_boxes[n, 4]; anchor_boxes in sorted(0, 9); gt_boxes[m, 4]; gt_boxes in "
             "sorted(1, 8); mode = iou iof; bad gt_boxes[2, 3]; skip scalar: boxes are rows",
    .primitive = "IOU(mode)",
});

constexpr OpDef kBoxEncode = check({
    .name = "bounding_box_encode",
    .doc = "Ground truth boxes relative to anchors: ((tx - ax) / aw, (ty - ay) / ah, log(tw / aw), "
           "log(th / ah)) of centres and sizes, minus means, over stds (Girshick 2015).",
    .in = {"anchor_box: float[n, 4]", "groundtruth_box: float[n, 4]"},
    .attr = {"means: float[] = [0.0, 0.0, 0.0, 0.0]", "stds: float[] = [1.0, 1.0, 1.0, 1.0]"},
    .promote = ir::Promote::kCommon,
    .shard = "none",
    .expand = expand_encode,
    .cases = "anchor_box[n, 4]; anchor_box in sorted(0, 9); groundtruth_box[n, 4]; groundtruth_box "
             "in sorted(1, 8); means = [0.1, 0.2, 0.3, 0.4]; stds = [1.0, 2.0, 0.5, 0.7]; bad "
             "means = [0.0]; bad anchor_box[2, 3]; skip scalar: boxes are rows; skip dtypes: "
             "small differences of large numbers",
    .primitive = "BoundingBoxEncode(means, stds)",
});

constexpr OpDef kBoxDecode = check({
    .name = "bounding_box_decode",
    .doc = "Undoes bounding_box_encode: boxes from anchors and deltas, clipped to [0, max_shape] "
           "(height, width); log sizes are clipped to +-log(wh_ratio_clip).",
    .in = {"anchor_box: float[n, 4]", "deltas: float[n, 4]"},
    .attr = {"max_shape: int[2]", "means: float[] = [0.0, 0.0, 0.0, 0.0]",
             "stds: float[] = [1.0, 1.0, 1.0, 1.0]", "wh_ratio_clip: float = 0.016"},
    .promote = ir::Promote::kCommon,
    .shard = "none",
    .expand = expand_decode,
    .cases = "anchor_box[n, 4]; anchor_box in sorted(0, 9); deltas[n, 4]; deltas in (-0.5, 0.5); "
             "max_shape = [20, 28]; means = [0.1, 0.2, 0.3, 0.4]; stds = [1.0, 2.0, 0.5, 0.7]; bad "
             "stds = [0.0]; bad anchor_box[2, 3]; skip scalar: boxes are rows",
    .primitive = "BoundingBoxDecode(max_shape, means, stds, wh_ratio_clip)",
});

constexpr OpDef kCheckValid = check({
    .name = "check_valid",
    .doc = "Which boxes lie within 0 and (width ratio - 1, height ratio - 1) of img_metas (height, "
           "width, ratio).",
    .in = {"bboxes: real[n, 4]", "img_metas: real[3]"},
    .promote = ir::Promote::kCommon,
    .shard = "none",
    .expand = expand_check_valid,
    .cases = "bboxes[n, 4]; bboxes in ints(-1, 9); img_metas[3]; img_metas in {3, 2, 4}; bad "
             "bboxes[2, 3]; bad img_metas[2]; skip scalar: boxes are rows; skip zero_size: three "
             "numbers are needed; skip dtypes: unsigned boxes are never outside",
    .primitive = "CheckValid()",
});

constexpr OpDef kNmsWithMask = check({
    .name = "nms_with_mask",
    .doc = "Boxes (x1, y1, x2, y2, score) by falling score, their places 0, 1, ..., and which of "
           "them stay when each that stays drops the later ones that share more than iou_threshold "
           "of the union with it.",
    .in = {"bboxes: float[n, 5]"},
    .attr = {"iou_threshold: float = 0.5"},
    .out = {"boxes", "index", "mask"},
    .shard = "none",
    .expand = expand_mask,
    .cases = "bboxes[5, 5]; bboxes in distinct(0, 9); iou_threshold = 0.5 0.1; bad iou_threshold = "
             "2.0; bad bboxes[3, 4]; skip scalar: boxes are rows; skip dtypes: rounding moves "
             "overlaps and ties",
    .primitive = "NMSWithMask(iou_threshold)",
    .internal = true,
});

constexpr OpDef kNonMaxSuppression = check({
    .name = "non_max_suppression",
    .doc = "Indices of at most max_output_size boxes (two opposite corners) with scores above "
           "score_threshold, by falling score, leaving out those that share more than "
           "iou_threshold of the union with one taken before. int32; the number is known when it "
           "has run.",
    .in = {"boxes: float[n, 4]", "scores: float[n]", "max_output_size: real[]",
           "iou_threshold: float[]", "score_threshold: float[]"},
    .shard = "none",
    .expand = expand_suppression,
    .cases = "boxes[5, 4]; boxes in distinct(0, 9); scores in distinct(0, 1); max_output_size in "
             "ints(2, 4); iou_threshold in (0.1, 0.5); score_threshold in (0, 0.3); bad boxes[5, "
             "3]; bad scores[5, 2]; skip scalar: boxes are rows; skip dtypes: rounding moves "
             "overlaps; skip zero_size: sizes belong together",
    .primitive = "NonMaxSuppressionV3()",
    .internal = true,
});

void register_boxes() {
  ir::register_ops({&kKeepBoxes, &kIou, &kBoxEncode, &kBoxDecode, &kCheckValid, &kNmsWithMask,
                    &kNonMaxSuppression});
}

}  // namespace mycel::ops
