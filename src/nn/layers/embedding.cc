// Look-up tables.
#include <limits>

#include "mycel/ops.h"
#include "nn/arith.h"
#include "nn/layer.h"
#include "nn/layers/calls.h"

namespace mycel::nn {
namespace {

// Rows that are not looked up get no gradient anyway; the padding row gets none either.
Tensor without_gradient_at(const Tensor& rows, const Tensor& ids, int64_t padding) {
  Tensor is_padding =
      ops::expand_dims(ops::equal(ids, number(ids, static_cast<double>(padding))), -1);
  return ops::select(is_padding, ops::stop_gradient(rows), rows);
}

constexpr LayerDef kEmbedding = check({
    .name = "Embedding",
    .doc = "y[...] = embedding_table[ids[...]]. ids: [...] integers in [0, vocab_size), y: [..., "
           "embedding_size]. The row "
           "padding_idx starts as zeros and gets no gradient. use_one_hot computes the same as a "
           "product with one-hot rows.",
    .args = {"vocab_size: int", "embedding_size: int", "use_one_hot: bool = False",
             "embedding_table: init = normal", "dtype: dtype = float32",
             "padding_idx: int? = None"},
    .in = {"ids"},
    .setup =
        [](Layer& l) {
          int64_t v = l.args.positive("vocab_size"), e = l.args.positive("embedding_size");
          DType d = l.args.dtype("dtype");
          Parameter table =
              l.add("embedding_table", Shape{v, e}, l.args.init("embedding_table"), true, d);
          if (l.args.none("padding_idx")) return;
          int64_t padding = l.args.integer("padding_idx");
          if (padding < 0 || padding >= v)
            l.fail("'padding_idx' must be in [0, {}), got {}", v, padding);
          // A copy: the tensor may be the caller's own.
          Tensor zeroed = Tensor::empty(d, Shape{v, e});
          for (int64_t i = 0; i < v * e; ++i) {
            double x = i / e == padding ? 0.0 : element_as_double(table->value.raw(), d, i);
            set_element(zeroed.mutable_raw(), d, i, x);
          }
          table->value = zeroed;
        },
    .construct =
        [](Layer& l, Inputs x) {
          const Tensor& table = l.value("embedding_table");
          Tensor rows;
          if (l.args.boolean("use_one_hot")) {
            Tensor hot = ops::one_hot(x[0], Tensor::scalar(table.dtype(), 1.0),
                                      Tensor::scalar(table.dtype(), 0.0), table.dim(0));
            rows = ops::dense(hot, ops::transpose(table));
          } else {
            rows = ops::gather(table, x[0], 0);
          }
          return l.args.none("padding_idx")
                     ? rows
                     : without_gradient_at(rows, x[0], l.args.integer("padding_idx"));
        },
});

// Rows longer than max_norm, if there is one, shortened to it.
Tensor looked_up(const Layer& l, const Tensor& ids) {
  Tensor rows = ops::gather(l.value("embedding_table"), ids, 0);
  if (l.args.none("max_norm")) return rows;
  Tensor limit = number(rows, l.args.real("max_norm"));
  Tensor norm = ops::sqrt(ops::reduce_sum(ops::square(rows), {-1}, true));
  return rows * (limit / ops::maximum(norm, limit));
}

void add_table(Layer& l) {
  l.add("embedding_table", Shape{l.args.positive("vocab_size"), l.args.positive("embedding_size")},
        l.args.init("param_init"));
  if (!l.args.none("max_norm")) l.args.positive_real("max_norm");
}

constexpr LayerDef kEmbeddingLookup = check({
    .name = "EmbeddingLookup",
    .doc = "y[...] = embedding_table[indices[...]]; rows longer than max_norm are shortened to it.",
    .args = {"vocab_size: int", "embedding_size: int", "param_init: init = normal",
             "target: str(CPU|DEVICE) = CPU", "slice_mode: str(batch_slice) = batch_slice",
             "max_norm: float? = None"},
    .in = {"indices"},
    .setup = add_table,
    .construct = [](Layer& l, Inputs x) { return looked_up(l, x[0]); },
});

// Rows times values, reduced by field: [batch, fields, embedding].
Tensor by_field(Layer& l, Inputs x) {
  const Tensor &ids = x[0], &values = x[1], &fields = x[2];
  if (ids.rank() != 2 || ids.shape() != values.shape() || ids.shape() != fields.shape())
    l.fail(
        "indices, values and field ids must be of one shape [batch, features], got {}, {} and {}",
        ids.describe(), values.describe(), fields.describe());
  int64_t batch = ids.dim(0), count = l.args.integer("field_size");
  const std::string& how = l.args.string("operator");
  Tensor rows = looked_up(l, ids) * ops::expand_dims(values, -1);
  int64_t width = rows.dim(-1);
  // Each sample has fields of its own.
  Tensor first = ops::expand_dims(ops::arange(0, static_cast<double>(batch), 1, DType::kInt64), -1);
  Tensor segments =
      ops::reshape(ops::cast(fields, DType::kInt64) + first * static_cast<double>(count), {-1});
  rows = ops::reshape(rows, {-1, width});
  // A value of 0 marks a feature that is not there.
  Tensor weight = ops::expand_dims(ops::abs(ops::reshape(values, {-1})), -1);
  Tensor total = ops::unsorted_segment_sum(weight, segments, batch * count);
  Tensor y;
  if (how == "MAX") {
    Tensor lowest = number(rows, -std::numeric_limits<float>::max());
    rows = ops::select(weight > 0, rows, lowest);
    y = ops::unsorted_segment_max(rows, segments, batch * count);
    y = ops::select(total > 0, y, ops::zeros_like(y));
  } else {
    y = ops::unsorted_segment_sum(rows, segments, batch * count);
    if (how == "MEAN") y = ops::div_no_nan(y, total);
  }
  return ops::reshape(y, {batch, count, width});
}

constexpr LayerDef kMultiFieldEmbeddingLookup = check({
    .name = "MultiFieldEmbeddingLookup",
    .doc = "Rows of the table at input_indices [batch, features] times input_values, reduced (SUM, "
           "weighted MEAN or MAX) over the features of each field id: [batch, field_size, "
           "embedding_size]; 0 for a field without features; a value of 0 is no feature.",
    .args = {"vocab_size: int", "embedding_size: int", "field_size: int",
             "param_init: init = normal", "target: str(CPU|DEVICE) = CPU",
             "slice_mode: str(batch_slice) = batch_slice", "feature_num_list: int[]? = None",
             "max_norm: float? = None", "sparse: bool = True", "operator: str(SUM|MEAN|MAX) = SUM"},
    .in = {"input_indices", "input_values", "field_ids"},
    .setup =
        [](Layer& l) {
          l.args.positive("field_size");
          if (!l.args.none("feature_num_list"))
            l.fail("'feature_num_list' belongs to sliced tables and must be None");
          add_table(l);
        },
    .construct = by_field,
});

}  // namespace

LayerDefs embedding_layers() {
  return {&kEmbedding, &kEmbeddingLookup, &kMultiFieldEmbeddingLookup};
}

}  // namespace mycel::nn
