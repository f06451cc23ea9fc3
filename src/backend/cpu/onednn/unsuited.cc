#include "backend/cpu/onednn/unsuited.h"

#include <fmt/format.h>

namespace mycel::cpu::onednn {
namespace {

bool computes_in(DType t) {
  return t == DType::kFloat32 || t == DType::kBFloat16 || t == DType::kFloat16;
}

std::string unsuited_type(const ir::Type& t, DType dtype) {
  if (t.dtype != dtype) {
    return fmt::format("dtypes differ: {} and {}", name_of(t.dtype), name_of(dtype));
  }
  return t.shape.size() == 0 ? "a dimension is 0" : "";
}

}  // namespace

std::string unsuited(const Problem& p, int operands) {
  DType dtype = p.out[0].dtype;
  if (!computes_in(dtype)) {
    return fmt::format("dtype {} (takes float32, bfloat16, float16)", name_of(dtype));
  }
  for (int i = 0; i < operands && i < static_cast<int>(p.in.size()); ++i) {
    std::string why = p.in[i] ? unsuited_type(*p.in[i], dtype) : "";
    if (!why.empty()) return why;
  }
  return unsuited_type(p.out[0], dtype);
}

}  // namespace mycel::cpu::onednn
