// Losses of sets of labels.
#include "base/error.h"
#include "ir/expansion.h"
#include "ops/elementwise/elementwise.h"
#include "ops/loss/loss.h"
#include "ops/loss/rooms.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Attr;
using ir::check;
using ir::Expansion;
using ir::Value;
using Ints = Attr::Ints;

namespace {

// Every label j against every class i that is no label: max(0, 1 - x[j] + x[i]).
void expand_multilabel_margin(Expansion& e) {
  Value x = e.x(0), target = e.x(1);
  const Shape &s = x.shape(), &t = target.shape();
  bool batched = s.rank() == 2;
  if ((s.rank() != 1 && !batched) || !s.known() || !(s == t))
    value_error("{}: input and target must both be [n, c] or [c], of known size, got {} and {}",
                e.op.name, x.type().str(), target.type().str());
  if (s[-1] == 0) value_error("{}: there are no classes in {}", e.op.name, x.type().str());
  if (!batched) x = kExpandDims({x}, {0}), target = kExpandDims({target}, {0});
  int64_t c = s[-1];
  // Labels count up to the first negative one.
  Value ended = kCumsum({cast_to(less(target, 0.0), DType::kInt32)}, {1});
  Value labels = cast_to(where(equal(ended, 0.0), target, -1.0), DType::kInt64);
  std::vector<int64_t> count;
  for (int64_t i = 0; i < c; ++i) count.push_back(i);
  Value classes = e.graph.constant(Tensor::from(count, Shape{c}));
  Value hits = kEqual({kExpandDims({labels}, {-1}), classes});  // [n, j, i]
  Value is_label = kReduceAny({hits}, {Ints{1}});               // [n, i]
  Value chosen = kReduceSum({where(hits, kExpandDims({x}, {1}), 0.0)}, {Ints{2}, true});
  Value margin = kRelu({1.0 - chosen + kExpandDims({x}, {1})});
  Value counts = kLogicalAnd({kExpandDims({kGreaterEqual({labels, number(labels, 0)})}, {-1}),
                              kExpandDims({kLogicalNot({is_label})}, {1})});
  Value loss = kReduceSum({where(counts, margin, 0.0)}, {Ints{1, 2}}) / static_cast<double>(c);
  if (!batched) loss = kReshape({loss}, {Ints{}}), is_label = kReshape({is_label}, {Attr(s)});
  e.result(reduced(e, loss));
  e.result(cast_to(is_label, DType::kInt32));
}

}  // namespace

constexpr OpDef kMultilabelMargin = check({
    .name = "multilabel_margin",
    .doc = "Sum over labels j and classes i that are no labels of max(0, 1 - (x[j] - x[i])) / c, "
           "and which classes are labels; the labels of a row end at the first negative one.",
    .in = {"input: float[n, c]", "target: index[n, c]"},
    .attr = {"reduction: str(mean|sum|none) = mean"},
    .out = {"loss", "is_target"},
    .shard = "none",
    .expand = expand_multilabel_margin,
    .cases =
        "input[3, 4]; input in distinct(-2.3, 2.1); target[3, 4]; target in ints(-1, 3); reduction "
        "= mean sum none; bad target[3, 3]; bad input[3]; skip zero_size: classes are needed; "
        "skip scalar: classes are needed | input[4]; input in distinct(-2.3, 2.1); target[4]; "
        "target in ints(-1, 3); bad target[3]; skip zero_size: classes are needed; skip "
        "scalar: classes are needed",
    .primitive = "MultilabelMarginLoss(reduction)",
    .internal = true,
});

constexpr OpDef kMultilabelMarginLoss = check({
    .name = "multilabel_margin_loss",
    .doc = "Sum over labels j and classes i that are no labels of max(0, 1 - (x[j] - x[i])) / c; "
           "the labels of a row end at the first negative one.",
    .in = {"input: float[n, c]", "target: index[n, c]"},
    .attr = {"reduction: str(mean|sum|none) = mean"},
    .shard = "none",
    .expand =
        [](Expansion& e) {
          e.result(all_results(kMultilabelMargin, {e.x(0), e.x(1)}, {e.attrs["reduction"]})[0]);
        },
    .cases =
        "input[3, 4]; input in distinct(-2.3, 2.1); target[3, 4]; target in ints(-1, 3); reduction "
        "= mean sum none; bad target[3, 3]; bad input[3]; skip zero_size: classes are needed; "
        "skip scalar: classes are needed",
});

void register_label_set_losses() { ir::register_ops({&kMultilabelMargin, &kMultilabelMarginLoss}); }

}  // namespace mycel::ops
