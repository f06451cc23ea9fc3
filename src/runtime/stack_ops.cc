#include "runtime/stack_ops.h"

#include <memory>

#include "base/error.h"
#include "ir/core_ops.h"
#include "tensor/stack.h"

namespace mycel::runtime {
namespace {

const Tensor* given(std::span<const Tensor> in, size_t i) {
  return i < in.size() && in[i] ? &in[i] : nullptr;
}
const uint8_t* mask_bytes(const Tensor* mask) {
  return mask ? static_cast<const uint8_t*>(mask->raw()) : nullptr;
}
int mask_dims(const Tensor* mask) { return mask ? mask->rank() : 0; }

// Without fixed places in memory examples cannot have stacks of their own.
void refuse_mask(const Tensor* mask) {
  if (!mask) return;
  throw UserError(ErrorKind::kUnsupported,
                  "vmap: a loop that examples leave at different times keeps values of unknown "
                  "shape for its gradient",
                  "Give the loop's values shapes that are known.");
}

Tensor push(std::span<const Tensor> in) {
  Tensor stack = in[0];
  const Tensor* mask = given(in, 2);
  Stack& s = owned_stack(stack);
  if (s.packed()) {
    s.push(in[1].raw(), mask_bytes(mask), mask_dims(mask));
  } else {
    refuse_mask(mask);
    s.push_tensor(in[1]);
  }
  return stack;
}

Tensors pop(std::span<const Tensor> in) {
  Tensor stack = in[0];
  const Tensor* mask = given(in, 1);
  Stack& s = owned_stack(stack);
  if (!s.packed()) {
    refuse_mask(mask);
    const Tensor* like = given(in, 2);
    return {stack, s.pop_tensor(like ? *like : Tensor())};
  }
  Tensor top = Tensor::empty(s.dtype(), s.element());
  s.pop(top.mutable_raw(), mask_bytes(mask), mask_dims(mask));
  return {stack, top};
}

Tensor from_rows(const Tensor& x, bool first_on_top) {
  Shape element(std::vector<int64_t>(x.shape().begin() + 1, x.shape().end()));
  auto s = std::make_unique<Stack>(x.dtype(), element);
  s->reserve(x.dim(0));
  const size_t row = s->element_bytes();
  const char* data = static_cast<const char*>(x.raw());
  for (int64_t i = 0, n = x.dim(0); i < n; ++i) {
    s->push(data + static_cast<size_t>(first_on_top ? n - 1 - i : i) * row);
  }
  return stack_tensor(std::move(s));
}

}  // namespace

bool is_stack_op(const ir::Op& op) {
  const ir::CoreOps& c = ir::core_ops();
  return &op == c.stack_new || &op == c.stack_push || &op == c.stack_pop || &op == c.stack_add ||
         &op == c.stack_from_rows || &op == c.stack_to_rows;
}

Tensors run_stack_op(const ir::Op& op, std::span<const Tensor> in, const ir::Attrs& attrs) {
  const ir::CoreOps& c = ir::core_ops();
  if (&op == c.stack_push) return {push(in)};
  if (&op == c.stack_pop) return pop(in);
  if (&op == c.stack_new) {
    return {stack_tensor(std::make_unique<Stack>(attrs[0].dtype(), Shape(attrs[1].ints())))};
  }
  if (&op == c.stack_add) {
    Tensor sum = in[0];
    owned_stack(sum).add(stack_of(in[1]));
    return {sum};
  }
  if (&op == c.stack_from_rows) return {from_rows(in[0], attrs[0].boolean())};
  MYCEL_CHECK(&op == c.stack_to_rows, "op {} is no stack op", op.name);
  const Tensor* like = given(in, 1);
  return {stack_of(in[0]).rows(like ? like->dim(0) : attrs[0].integer(), attrs[1].boolean())};
}

}  // namespace mycel::runtime
