// Attrs: the compile-time arguments of one use of an op, in the order of its record. A record's
// attribute line gives each a name, a type and perhaps a default ("stride: int[2] = 1"); parsing is
// in op.cc.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/ref.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tensor/tensor.h"

namespace mycel::ir {

class Graph;
using GraphPtr = std::shared_ptr<const Graph>;
// A function of the host program inside a graph (a user's own gradient, say). Opaque to every
// transform.
using Callback = std::function<Tensors(std::span<const Tensor>)>;
using CallbackPtr = std::shared_ptr<const Callback>;
// A graph with a name, bound late so that it may call itself (ir/function.h).
struct Function;
using FunctionPtr = std::shared_ptr<Function>;

class Attr {
 public:
  using Ints = std::vector<int64_t>;
  using Floats = std::vector<double>;

  Attr() = default;                                       // None
  Attr(bool v) : v_(v) {}                                 // NOLINT
  Attr(int v) : v_(static_cast<int64_t>(v)) {}            // NOLINT
  Attr(int64_t v) : v_(v) {}                              // NOLINT
  Attr(double v) : v_(v) {}                               // NOLINT
  Attr(const char* v) : v_(std::string(v)) {}             // NOLINT
  Attr(std::string v) : v_(std::move(v)) {}               // NOLINT
  Attr(Ints v) : v_(std::move(v)) {}                      // NOLINT
  Attr(Floats v) : v_(std::move(v)) {}                    // NOLINT
  Attr(DType v) : v_(v) {}                                // NOLINT
  Attr(const Shape& s) : v_(Ints(s.begin(), s.end())) {}  // NOLINT
  Attr(GraphPtr g) : v_(std::move(g)) {}                  // NOLINT
  Attr(Tensor t) : v_(std::move(t)) {}                    // NOLINT
  Attr(CallbackPtr c) : v_(std::move(c)) {}               // NOLINT
  Attr(FunctionPtr f) : v_(std::move(f)) {}               // NOLINT
  // A function that this reference does not keep alive: its family does (ir/function.h).
  static Attr unowned(const FunctionPtr& f) {
    Attr a;
    a.v_ = std::weak_ptr<Function>(f);
    return a;
  }

  bool none() const { return v_.index() == 0; }
  template <typename T>
  bool is() const {
    if constexpr (std::is_same_v<T, FunctionPtr>) {
      if (!owns()) return true;
    }
    return std::holds_alternative<T>(v_);
  }
  bool owns() const { return !std::holds_alternative<std::weak_ptr<Function>>(v_); }
  bool boolean() const { return std::get<bool>(v_); }
  int64_t integer() const { return std::get<int64_t>(v_); }
  double real() const;  // also of an integer
  const std::string& string() const { return std::get<std::string>(v_); }
  const Ints& ints() const { return std::get<Ints>(v_); }
  const Floats& floats() const { return std::get<Floats>(v_); }
  DType dtype() const { return std::get<DType>(v_); }
  const GraphPtr& graph() const { return std::get<GraphPtr>(v_); }
  const Tensor& tensor() const { return std::get<Tensor>(v_); }
  const CallbackPtr& callback() const { return std::get<CallbackPtr>(v_); }
  FunctionPtr function() const;  // MYCEL_CHECK: an unowned one is alive

  bool operator==(const Attr& o) const;  // tensors, graphs and functions by identity
  size_t hash() const;
  std::string str() const;

 private:
  std::variant<std::monostate, bool, int64_t, double, std::string, Ints, Floats, DType, GraphPtr,
               Tensor, CallbackPtr, FunctionPtr, std::weak_ptr<Function>>
      v_;
};

// Copies share one list until they are changed: passes copy every node of a graph many times.
class Attrs {
 public:
  Attrs() = default;
  Attrs(std::initializer_list<Attr> v) {
    if (v.size()) list_ = make_ref<List>(std::vector<Attr>(v));
  }
  explicit Attrs(std::vector<Attr> v) {
    if (!v.empty()) list_ = make_ref<List>(std::move(v));
  }

  size_t size() const { return list_ ? list_->v.size() : 0; }
  bool empty() const { return size() == 0; }
  const Attr& operator[](size_t i) const { return list_->v[i]; }
  void set(size_t i, Attr a) { own()[i] = std::move(a); }
  void push_back(Attr a) { own().push_back(std::move(a)); }
  bool operator==(const Attrs& o) const {
    return list_ == o.list_ || (list_ && o.list_ && list_->v == o.list_->v);
  }
  size_t hash() const;

 private:
  struct List : RefCounted {
    explicit List(std::vector<Attr> from) : v(std::move(from)) {}
    std::vector<Attr> v;
  };
  std::vector<Attr>& own();
  Ref<List> list_;  // null: none
};

}  // namespace mycel::ir
