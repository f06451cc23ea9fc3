// Look-up tables.
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

constexpr LayerDef kEmbeddingLookup = check({
    .name = "EmbeddingLookup",
    .doc = "y[...] = embedding_table[indices[...]]; rows longer than max_norm are shortened to it.",
    .args = {"vocab_size: int", "embedding_size: int", "param_init: init = normal",
             "target: str(CPU|DEVICE) = CPU", "slice_mode: str(batch_slice) = batch_slice",
             "max_norm: float? = None"},
    .in = {"indices"},
    .setup =
        [](Layer& l) {
          l.add("embedding_table",
                Shape{l.args.positive("vocab_size"), l.args.positive("embedding_size")},
                l.args.init("param_init"));
          if (!l.args.none("max_norm")) l.args.positive_real("max_norm");
        },
    .construct =
        [](Layer& l, Inputs x) {
          Tensor rows = ops::gather(l.value("embedding_table"), x[0], 0);
          if (l.args.none("max_norm")) return rows;
          Tensor limit = number(rows, l.args.real("max_norm"));
          Tensor norm = ops::sqrt(ops::reduce_sum(ops::square(rows), {-1}, true));
          return rows * (limit / ops::maximum(norm, limit));
        },
});

}  // namespace

LayerDefs embedding_layers() { return {&kEmbedding, &kEmbeddingLookup}; }

}  // namespace mycel::nn
