// The linear algebra room. Primitives are decompositions and solutions (Eigen computes them, see
// decompositions.cpu.h); everything else is composed of them. All work on the last two dims, the
// dims before them count matrices, in float32, float64, complex64 or complex128. Gradients are
// closed forms in differentiable ops (Giles, An extended collection of matrix derivative results,
// 2008), so they exist to every order.
#pragma once

#include <vector>

#include "ir/graph.h"
#include "ir/op_def.h"

namespace mycel::ops {

using ir::OpDef;

// cholesky.op.cc, triangular.op.cc
extern const OpDef kCholeskyFactor, kCholesky, kCholeskySolve, kTriangularSolve;
// lu.op.cc, solve.op.cc, determinant.op.cc
extern const OpDef kLuFactor, kMatrixSolve, kInverse, kDet, kSlogdet;
// qr.op.cc, svd.op.cc, pinv.op.cc, eigen.op.cc
extern const OpDef kQr, kSvd, kSingularValues, kPinv, kEigh, kEigvalsh, kEig, kEigvals;
// matrix_functions.op.cc
extern const OpDef kMatrixExp, kMatrixLogarithm, kMatrixPower;

// The singular values of the matrices in two axes of x as a last dim; with `keep` the two axes stay
// with size 1. ValueError naming `op` for axes that are not two.
ir::Value singular_values_over(ir::Value x, const std::vector<int64_t>& axes, bool keep,
                               const char* op);

}  // namespace mycel::ops
