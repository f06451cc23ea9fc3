// Products of matrices.
#include "interop/tensorflow/ops/build.h"
#include "interop/tensorflow/ops/quantized.h"

namespace mycel::interop::tensorflow {
namespace {

Tensors matmul(Call& c) {
  return {ops::matmul(c.x(0), c.x(1), c.flag("transpose_a", false), c.flag("transpose_b", false))};
}
Tensors batch_matmul(Call& c) {
  Tensor a = c.x(0), b = c.lite() ? widened_weight(c, 1) : c.x(1);
  return {ops::matmul(a, b, c.flag("adj_x", false), c.flag("adj_y", false))};
}

// Rows of the last dim times a weight [out, in].
Tensors fully_connected(Call& c) {
  const bool hybrid = is_hybrid(c, 1);
  Tensor x = c.x(0), w = hybrid ? whole_weight(c, 1, c.x(1).dim(-1)) : widened_weight(c, 1);
  if (w.rank() != 2) c.fail("a weight {}", w.describe());
  Ints rows{-1, w.dim(1)}, to;
  if (c.flag("keep_num_dims", false)) {
    Dims d = c.dims(x);
    to.assign(d.begin(), d.end() - 1);
    to.push_back(w.dim(0));
  }
  if (x.rank() != 2 || x.dim(1) != w.dim(1)) x = ops::reshape(x, rows);
  Tensor y;
  if (hybrid) {
    Rounded r = rounded_by_range(x, !c.flag("asymmetric_quantize_inputs", false));
    y = as(ops::matmul(as(r.whole, w.dtype()), w, false, true), DType::kFloat32);
    y = ops::mul(ops::mul(y, weight_scales(c, 1)), r.scale);
  } else {
    y = ops::matmul(x, w, false, true);
  }
  if (c.has(2)) y = ops::add(y, c.x(2));
  if (!to.empty()) y = ops::reshape(y, to);
  return {activated(c, y)};
}

// Weights may be integers beside floats.
Tensors dense(Call& c) {
  return is_float(c.x(0).dtype()) ? fully_connected(c) : quantized_fully_connected(c);
}
Tensors products(Call& c) {
  return is_float(c.x(0).dtype()) ? batch_matmul(c) : quantized_batch_matmul(c);
}

Tensors einsum(Call& c) { return {ops::einsum(c.all(), c.text("equation", ""))}; }

constexpr Record kRecords[] = {
    {-1, "", "MatMul", matmul},
    {126, "BATCH_MATMUL", "BatchMatMulV2", batch_matmul, products},
    {-1, "", "BatchMatMul", batch_matmul},
    {-1, "", "BatchMatMulV3", batch_matmul},
    {9, "FULLY_CONNECTED", "", fully_connected, dense},
    {-1, "", "Einsum", einsum},
};

}  // namespace

Records matmul_records() { return kRecords; }

}  // namespace mycel::interop::tensorflow
