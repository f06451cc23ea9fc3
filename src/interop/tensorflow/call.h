// Call: one node that is being run, as the function that builds it from Mycel's ops sees it:
// operands, their quantization, attributes, the values that are known, and ways to refuse that name
// the node. Where operands are abstract or traced the ops become nodes of a Mycel graph; what
// follows from known values alone is computed at once.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "base/error.h"
#include "interop/compiled.h"
#include "interop/tensorflow/graph.h"

namespace mycel::interop::tensorflow {

// The dims of a tensor: reading beyond them is an error and no accident.
struct Dims : Ints {
  Dims() = default;
  Dims(Ints v) : Ints(std::move(v)) {}  // NOLINT
  int64_t operator[](size_t i) const { return at(i); }
};

class Call {
 public:
  Call(const File& f, const Graph& g, const Node& n, Tensors in, int depth)
      : file(f), graph(g), node(n), depth(depth), in_(std::move(in)) {}

  const File& file;
  const Graph& graph;
  const Node& node;
  const int depth;  // of control flow

  bool lite() const { return file.lite; }
  int inputs() const { return static_cast<int>(in_.size()); }
  int outputs() const { return static_cast<int>(node.out.size()); }
  bool has(int i) const { return i < inputs() && in_[static_cast<size_t>(i)]; }
  Tensor x(int i) const;
  Tensor x_or(int i) const { return has(i) ? in_[static_cast<size_t>(i)] : Tensor(); }
  const Tensors& all() const { return in_; }

  // What the file says of an operand or result; fails where there is none.
  const Slot& in_slot(int i) const;
  const Slot& out_slot(int i) const;

  bool has_attr(std::string_view name) const { return node.attr(name) != nullptr; }
  int64_t integer(std::string_view name, int64_t otherwise) const;
  double real(std::string_view name, double otherwise) const;
  bool flag(std::string_view name, bool otherwise) const;
  std::string text(std::string_view name, std::string_view otherwise) const;
  Ints ints(std::string_view name, Ints otherwise = {}) const;
  std::vector<double> reals(std::string_view name) const;
  DType dtype(std::string_view name, DType otherwise) const;
  const Graph& region(std::string_view name) const;

  // The value of a tensor that must be known now; NotCompilable when it is not.
  Tensor known(const Tensor& t, const std::string& what) const;
  Tensor known(int i) const;
  Ints known_ints(int i) const;
  int64_t known_int(int i) const;
  bool is_known(int i) const;
  Dims dims(const Tensor& t) const;

  // "CONV_2D 'conv1' (operator 3): …".
  std::string title() const;
  template <typename... A>
  [[noreturn]] void fail(fmt::format_string<A...> f, A&&... a) const {
    throw UserError(ErrorKind::kValue,
                    fmt::format("{}: {}", title(), fmt::format(f, std::forward<A>(a)...)));
  }
  template <typename... A>
  [[noreturn]] void unsupported(fmt::format_string<A...> f, A&&... a) const {
    throw UserError(ErrorKind::kUnsupported,
                    fmt::format("{}: {}", title(), fmt::format(f, std::forward<A>(a)...)));
  }
  [[noreturn]] void not_compilable(const std::string& why) const;

 private:
  Tensors in_;
};

// Builds the results of a node. A result that nobody wants may be missing at the end.
using Build = Tensors (*)(Call&);

// Runs the nodes of a graph; gives its outputs. `weights`: instead of constants, by slot of the
// first graph.
using Weights = std::vector<std::pair<int, Tensor>>;
Tensors run_graph(const File& f, const Graph& g, std::span<const Tensor> inputs, int depth,
                  const Weights* weights = nullptr);

}  // namespace mycel::interop::tensorflow
