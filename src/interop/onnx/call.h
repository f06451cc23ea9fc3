// Call: one node of an ONNX graph that is being run, as the function that builds it from Mycel's
// ops sees it: operands, attributes, the values that are known, and ways to refuse that name the
// node. Where operands are abstract or traced the ops become nodes of a Mycel graph; what follows
// from known values alone is computed at once.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "base/error.h"
#include "interop/compiled.h"
#include "interop/onnx/proto.h"

namespace mycel::interop::onnx {

using Value = OnnxValue;
using Values = OnnxValues;
using Ints = std::vector<int64_t>;

// The dims of a tensor, where a model may have fewer than its op needs: reading beyond them is an
// error and no accident.
struct Dims : Ints {
  Dims() = default;
  Dims(Ints v) : Ints(std::move(v)) {}  // NOLINT
  Dims(std::initializer_list<int64_t> v) : Ints(v) {}
  int64_t operator[](size_t i) const { return at(i); }
};

class Scope;

class Call {
 public:
  Call(const pb::Node& n, Values in, int64_t version, Scope& s)
      : node(n), opset(version), scope(s), in_(std::move(in)) {}

  const pb::Node& node;
  const int64_t opset;  // of the node's domain
  Scope& scope;

  int inputs() const { return static_cast<int>(in_.size()); }
  bool has(int i) const;  // an absent optional input has no kind
  const Value& value(int i) const;
  Tensor x(int i) const;  // fails when it is no tensor
  Tensor x_or(int i) const { return has(i) ? x(i) : Tensor(); }
  const Values& items(int i) const;  // of a sequence
  int outputs() const { return node.output_size(); }
  bool wants(int i) const { return i < outputs() && !node.output(i).empty(); }

  // Attributes; ONNX writes no defaults into files, so each read names its own.
  bool has_attr(std::string_view name) const { return attr(name) != nullptr; }
  int64_t integer(std::string_view name, int64_t otherwise) const;
  int64_t integer(std::string_view name) const;  // required
  bool flag(std::string_view name, bool otherwise) const { return integer(name, otherwise) != 0; }
  double real(std::string_view name, double otherwise) const;
  std::string text(std::string_view name, std::string_view otherwise) const;
  Ints ints(std::string_view name, Ints otherwise = {}) const;
  std::vector<double> reals(std::string_view name) const;
  std::vector<std::string> texts(std::string_view name) const;
  Tensor tensor(std::string_view name) const;  // empty when absent
  const pb::Graph* graph(std::string_view name) const;
  const pb::Attribute* attr(std::string_view name) const;

  // The value of a tensor that must be known now; NotCompilable when it is not.
  Tensor known(const Tensor& t, const char* what) const;
  Tensor known(int i) const;
  Ints known_ints(int i) const;
  std::vector<double> known_reals(int i) const;
  bool is_known(int i) const;
  // Dims that must be known now.
  Dims dims(const Tensor& t) const;

  // "Conv 'conv1' (node 3): …".
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
  // Why the graph cannot be compiled here.
  [[noreturn]] void not_compilable(const std::string& why) const;

 private:
  Values in_;
};

// Builds the results of a node. A result that nobody wants may be missing at the end.
using Build = Values (*)(Call&);

}  // namespace mycel::interop::onnx
