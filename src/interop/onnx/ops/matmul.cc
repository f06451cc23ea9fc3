// Products of matrices.
#include "interop/onnx/ops/build.h"

namespace mycel::interop::onnx {
namespace {

Values gemm(Call& c) {
  Tensor a = c.x(0), b = c.x(1);
  double alpha = c.real("alpha", 1), beta = c.real("beta", 1);
  bool left = c.flag("transA", false), right = c.flag("transB", false);
  if (!left && right && alpha == 1 && beta == 1 && is_float(a.dtype()) && c.has(2) &&
      c.x(2).rank() == 1 && c.x(2).dim(0) == b.dim(0))
    return one(ops::dense(a, b, c.x(2)));
  Tensor y = ops::matmul(a, b, left, right);
  if (alpha != 1)
    y = as(ops::mul(y, number(alpha, is_float(y.dtype()) ? y.dtype() : DType::kFloat32)),
           a.dtype());
  if (!c.has(2)) return one(y);
  Tensor add = c.x(2);
  if (beta != 1)
    add = as(ops::mul(add, number(beta, is_float(add.dtype()) ? add.dtype() : DType::kFloat32)),
             a.dtype());
  return one(ops::add(y, add));
}

Values matmul(Call& c) { return one(as(ops::matmul(c.x(0), c.x(1)), c.x(0).dtype())); }

Values einsum(Call& c) {
  Tensors in;
  for (int i = 0; i < c.inputs(); ++i) in.push_back(c.x(i));
  std::string equation = c.text("equation", "");
  std::erase(equation, ' ');
  return one(ops::einsum(in, equation));
}

Values det(Call& c) { return one(ops::det(c.x(0))); }

constexpr Record kRecords[] = {
    {"Gemm", gemm},
    {"MatMul", matmul},
    {"Einsum", einsum},
    {"Det", det},
};

}  // namespace

Records matmul_records() { return kRecords; }

}  // namespace mycel::interop::onnx
