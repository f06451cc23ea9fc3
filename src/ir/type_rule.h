// What a type rule sees: the input types, the attributes, and a way to refuse that names the op,
// what came and what is allowed. Rules accept unknown dimensions. The standard rules are in
// `types::`.
#pragma once

#include <span>
#include <string>

#include <fmt/core.h>

#include "base/error.h"
#include "ir/op.h"
#include "ir/type.h"

namespace mycel::ir {

class TypeRuleCtx {
 public:
  TypeRuleCtx(const Op& o, std::span<const Type* const> in, const Attrs& a)
      : op(o), attrs(o, a), in_(in) {}

  const Op& op;
  AttrsView attrs;
  Types out;

  int inputs() const { return static_cast<int>(in_.size()); }
  bool has(int i) const { return i < inputs() && in_[i]; }
  const Type& in(int i) const { return *in_[i]; }
  const Shape& shape(int i) const { return in_[i]->shape; }
  DType dtype(int i) const { return in_[i]->dtype; }
  void result(DType d, const Shape& s) { out.emplace_back(d, s); }
  // Axis attribute value to [0, rank of input i).
  int axis(int64_t value, int input = 0) const {
    return normalize_axis(value, shape(input).rank(), op.name.c_str());
  }

  // "matmul: x float32[2, 3] and w float32[4, 5]: <text>".
  template <typename... A>
  [[noreturn]] void fail(fmt::format_string<A...> f, A&&... a) const {
    fail_text(ErrorKind::kValue, fmt::format(f, std::forward<A>(a)...));
  }
  template <typename... A>
  [[noreturn]] void fail_type(fmt::format_string<A...> f, A&&... a) const {
    fail_text(ErrorKind::kType, fmt::format(f, std::forward<A>(a)...));
  }
  [[noreturn]] void fail_text(ErrorKind kind, const std::string& text) const;

 private:
  std::span<const Type* const> in_;
};

namespace types {
void same_as_first(TypeRuleCtx&);   // one result like input 0
void broadcast(TypeRuleCtx&);       // broadcast shape of all inputs, dtype of input 0
void broadcast_bool(TypeRuleCtx&);  // the same, dtype bool
void bool_like_first(TypeRuleCtx&);
void real_of_first(TypeRuleCtx&);  // complex64 gives float32; others unchanged
}  // namespace types

}  // namespace mycel::ir
