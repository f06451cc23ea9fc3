// Type of a value in the IR: a tensor of a dtype and shape (dims may be unknown), or a stack of
// tensors (the residuals that the reverse of a loop pops).
#pragma once

#include <string>

#include "base/small_vector.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tensor/tensor.h"

namespace mycel::ir {

struct Type {
  enum class Kind : uint8_t { kTensor, kStack };

  DType dtype = DType::kFloat32;
  Shape shape;
  Kind kind = Kind::kTensor;

  Type() = default;
  Type(DType d, const Shape& s, Kind k = Kind::kTensor) : dtype(d), shape(s), kind(k) {}
  bool operator==(const Type& o) const = default;
  size_t hash() const;
  std::string str() const;  // "float32[2, ?]", "stack<float32[3]>"
};

using Types = SmallVector<Type, 1>;  // most nodes have one result

inline Type type_of(const Tensor& t) {
  return {t.dtype(), t.shape(), t.is_stack() ? Type::Kind::kStack : Type::Kind::kTensor};
}
inline Tensor abstract_of(const Type& t) {
  return t.kind == Type::Kind::kStack ? Tensor::abstract_stack(t.dtype, t.shape)
                                      : Tensor::abstract(t.dtype, t.shape);
}

}  // namespace mycel::ir
