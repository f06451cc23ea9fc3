// Arguments of layers, optimizers, initializers and metrics. Their records list them in the grammar
// of op attributes (ir/op_def.h) with four more kinds: "init" (an initializer, its name, a number
// or a tensor), "cell" (a layer, or the name of an activation), "number" (an int or a float, kept
// as it is) and "schedule" (a learning rate: a number, a list with one number a step, or a tensor).
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "ir/op.h"
#include "nn/cell.h"
#include "nn/init.h"

namespace mycel::nn {

// The value of one argument. Implicit from what a program would write.
class Arg {
 public:
  Arg() = default;  // None
  template <typename T>
    requires std::is_constructible_v<ir::Attr, T> &&
             (!std::is_pointer_v<T> || std::is_same_v<T, const char*>)
  Arg(T v) : v_(ir::Attr(std::move(v))) {}  // NOLINT(google-explicit-constructor)
  Arg(std::initializer_list<int64_t> v) : v_(ir::Attr(ir::Attr::Ints(v))) {}  // NOLINT
  Arg(Init v) : v_(std::move(v)) {}                                           // NOLINT
  Arg(CellPtr v) : v_(std::move(v)) {}                                        // NOLINT
  template <typename C>
    requires std::is_base_of_v<Cell, C>
  Arg(std::shared_ptr<C> v) : v_(CellPtr(std::move(v))) {}  // NOLINT

  bool none() const;
  bool is_attr() const { return v_.index() == 0; }
  bool is_init() const { return v_.index() == 1; }
  bool is_cell() const { return v_.index() == 2; }
  const ir::Attr& attr() const { return std::get<0>(v_); }
  const Init& init() const { return std::get<1>(v_); }
  const CellPtr& cell() const { return std::get<2>(v_); }
  std::string str() const;

 private:
  std::variant<ir::Attr, Init, CellPtr> v_;
};

// An int or several, as typed functions take windows and strides: 3 or {3, 5}.
class IntsArg {
 public:
  IntsArg(int v) : attr_(v) {}                                              // NOLINT
  IntsArg(int64_t v) : attr_(v) {}                                          // NOLINT
  IntsArg(std::initializer_list<int64_t> v) : attr_(ir::Attr::Ints(v)) {}   // NOLINT
  IntsArg(std::vector<int64_t> v) : attr_(ir::Attr::Ints(std::move(v))) {}  // NOLINT
  operator Arg() const { return attr_; }                                    // NOLINT

 private:
  ir::Attr attr_;
};

using NamedArg = std::pair<std::string, Arg>;
using NamedArgs = std::vector<NamedArg>;

struct ArgSpec : ir::AttrSpec {
  enum class Extra : uint8_t { kNone, kInit, kCell, kNumber, kSchedule };
  Extra extra = Extra::kNone;
  Arg fallback;  // the default, when has_default
};

// A parsed list of argument lines. Made once per record and shared.
class Signature {
 public:
  Signature(std::string owner, const ir::Names& lines);
  const std::string& owner() const { return owner_; }
  const std::vector<ArgSpec>& specs() const { return specs_; }
  int index(std::string_view name) const;  // -1 when there is none
  std::string str() const;  // "Dense(in_channels, out_channels, weight_init='normal', …)"

 private:
  std::string owner_;
  std::vector<ArgSpec> specs_;
};

// Complete, checked arguments. Look-ups are by name and meant for set-up, not for inner loops.
class Args {
 public:
  Args() = default;
  // Binds positional, then named arguments; TypeError for a missing, unknown or repeated one, with
  // the signature and, for a slip of the pen, the name that was meant.
  Args(std::shared_ptr<const Signature> signature, std::vector<Arg> positional,
       const NamedArgs& named = {});

  const Signature& signature() const { return *signature_; }
  const std::vector<Arg>& values() const { return values_; }
  const Arg& operator[](std::string_view name) const;
  bool none(std::string_view name) const { return (*this)[name].none(); }
  bool boolean(std::string_view name) const { return attr(name).boolean(); }
  int64_t integer(std::string_view name) const { return attr(name).integer(); }
  double real(std::string_view name) const { return attr(name).real(); }
  const std::string& string(std::string_view name) const { return attr(name).string(); }
  const ir::Attr::Ints& ints(std::string_view name) const { return attr(name).ints(); }
  const ir::Attr::Floats& floats(std::string_view name) const { return attr(name).floats(); }
  DType dtype(std::string_view name) const { return attr(name).dtype(); }
  // An absent tensor is an empty one.
  Tensor tensor(std::string_view name) const;
  const Init& init(std::string_view name) const { return (*this)[name].init(); }
  CellPtr cell(std::string_view name) const;
  const ir::Attr& attr(std::string_view name) const { return (*this)[name].attr(); }

  // The number under `name` when it is > 0 (>= 0); ValueError naming owner and argument otherwise.
  int64_t positive(std::string_view name) const;
  double positive_real(std::string_view name) const;
  double not_negative(std::string_view name) const;
  // In [low, high], ends as stated by the brackets "[]", "(]", …
  double within(std::string_view name, double low, double high, const char* brackets = "[]") const;

 private:
  std::shared_ptr<const Signature> signature_;
  std::vector<Arg> values_;
};

std::shared_ptr<const Signature> signature_of(const InitDef& def);

}  // namespace mycel::nn
