// Products of matrices and layer normalization.
#include "interop/onnx/writing.h"

namespace mycel::interop::onnx {
namespace {

using Ints = std::vector<int64_t>;

std::string last_two_swapped(Writing& w, const std::string& x, int rank) {
  Ints perm;
  for (int64_t d = 0; d < rank; ++d) perm.push_back(d);
  std::swap(perm[static_cast<size_t>(rank - 1)], perm[static_cast<size_t>(rank - 2)]);
  return w.emit("Transpose", {x}, {{"perm", perm}});
}

// The weight of a dense layer is [out, in].
void write_gemm(Writing& w) {
  if (w.type(0).shape.rank() == 2 && is_float(w.type(0).dtype)) {
    return w.result(
        w.emit("Gemm", {w.in(0), w.in(1), w.has(2) ? w.in(2) : ""}, {{"transB", int64_t{1}}}));
  }
  std::string y = w.emit("MatMul", {w.in(0), last_two_swapped(w, w.in(1), 2)});
  w.result(w.has(2) ? w.emit("Add", {y, w.in(2)}) : y);
}

void write_matmul(Writing& w) {
  auto side = [&](int i, const char* flag) {
    return w.attrs.boolean(flag) ? last_two_swapped(w, w.in(i), w.type(i).shape.rank()) : w.in(i);
  };
  w.result(w.emit("MatMul", {side(0, "transpose_a"), side(1, "transpose_b")}));
}

void write_layer_norm(Writing& w) {
  int rank = w.type(0).shape.rank();
  int64_t from = w.attrs.integer("begin_norm_axis"), scale = w.attrs.integer("begin_params_axis");
  from += from < 0 ? rank : 0;
  scale += scale < 0 ? rank : 0;
  if (from != scale) w.fail("scale and bias begin at axis {}, the sums at {}", scale, from);
  std::string gamma;
  if (w.has(1)) {
    gamma = w.in(1);
  } else {
    Shape ones;
    for (int d = static_cast<int>(from); d < rank; ++d) ones.push_back(w.type(0).shape[d]);
    if (!ones.known()) w.fail("without scale the sizes must be known");
    gamma = w.out.constant(Tensor::full(w.type(0).dtype, ones, 1));
  }
  std::vector<std::string> r =
      w.emit_many("LayerNormalization", {w.in(0), gamma, w.has(2) ? w.in(2) : ""}, 3,
                  {{"axis", from}, {"epsilon", w.attrs.real("epsilon")}});
  w.result(r[0], 0);
  w.result(r[1], 1);
  // ONNX gives 1 / sqrt(variance + epsilon).
  DType d = w.type(0).dtype;
  std::string power = w.emit("Reciprocal", {w.emit("Mul", {r[2], r[2]})});
  w.result(w.emit("Sub", {power, w.number(w.attrs.real("epsilon"), d)}), 2);
}

constexpr Writer kWriters[] = {
    {"Gemm", write_gemm},
    {"MatMul", write_matmul},
    {"LayerNormalization", write_layer_norm},
};

}  // namespace

Writers matmul_writers() { return kWriters; }

}  // namespace mycel::interop::onnx
