// Writing: one node of a Mycel graph that becomes nodes of an ONNX graph, as the function that
// writes it sees it. Values have names in the ONNX graph; `emit` adds a node and gives the name of
// its first result.
#pragma once

#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include "base/error.h"
#include "interop/onnx/proto.h"
#include "ir/graph.h"

namespace mycel::interop::onnx {

// A graph that is being written: the model's, or a region's inside of it.
class GraphWriter {
 public:
  GraphWriter(pb::Graph& into, GraphWriter* around) : graph(into), around_(around) {}

  pb::Graph& graph;

  std::string fresh();  // a name that the model has not used
  void reserve(const std::string& name) { root().taken_[name] = true; }
  bool is_taken(const std::string& name) { return root().taken_.count(name) > 0; }
  void set(const ir::Value& v, std::string name) { names_[{v.node, v.index}] = std::move(name); }
  const std::string& name_of(const ir::Value& v) const;
  // An initializer of the model; equal small ones are one.
  std::string constant(const Tensor& t);

  // Writes the nodes of `g`, whose parameters have names; gives the names of its results, each of
  // which a node of this graph gives.
  std::vector<std::string> write(const ir::Graph& g);

 private:
  struct Key {
    const ir::Node* node;
    uint32_t index;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& k) const {
      return std::hash<const void*>()(k.node) * 31 + k.index;
    }
  };
  GraphWriter& root() { return around_ ? around_->root() : *this; }

  GraphWriter* around_;
  std::unordered_map<Key, std::string, Hash> names_;
  std::unordered_map<std::string, bool> taken_;             // of the root
  std::unordered_map<std::string, std::string> constants_;  // of the root: bytes -> name
  int count_ = 0;
};

using WrittenAttr =
    std::variant<int64_t, double, std::string, std::vector<int64_t>, const pb::Graph*>;
using WrittenAttrs = std::vector<std::pair<std::string, WrittenAttr>>;

class Writing {
 public:
  Writing(const ir::Node& n, GraphWriter& w) : node(n), attrs(n.view()), out(w) {}

  const ir::Node& node;
  const ir::AttrsView attrs;
  GraphWriter& out;

  int inputs() const { return static_cast<int>(node.inputs.size()); }
  bool has(int i) const { return i < inputs() && node.inputs[static_cast<size_t>(i)]; }
  std::string in(int i) const {
    if (auto it = recast_.find(i); it != recast_.end()) return it->second.first;
    return out.name_of(node.inputs[static_cast<size_t>(i)]);
  }
  const ir::Type& type(int i) const { return node.inputs[static_cast<size_t>(i)].type(); }
  DType dtype(int i) const {
    if (auto it = recast_.find(i); it != recast_.end()) return it->second.second;
    return type(i).dtype;
  }
  // Reads operand i as another dtype from here on.
  void recast(int i, DType to) { recast_[i] = {cast(in(i), dtype(i), to), to}; }
  bool is_recast() const { return !recast_.empty(); }
  const ir::Type& result_type(int i = 0) const { return node.types[static_cast<size_t>(i)]; }
  bool has_attr(std::string_view name) const { return node.op->attr_index(name) >= 0; }
  // Dims that ONNX must be told; fails where one is unknown.
  std::vector<int64_t> known_dims(const ir::Type& t) const;

  std::string emit(const char* op, std::vector<std::string> in, const WrittenAttrs& with = {});
  std::vector<std::string> emit_many(const char* op, std::vector<std::string> in, int results,
                                     const WrittenAttrs& with = {});
  std::string ints(const std::vector<int64_t>& v);
  std::string number(double v, DType d);
  std::string cast(const std::string& x, DType from, DType to);
  void result(std::string name, int i = 0) {
    out.set({const_cast<ir::Node*>(&node), static_cast<uint32_t>(i)}, std::move(name));
  }

  template <typename... A>
  [[noreturn]] void fail(fmt::format_string<A...> f, A&&... a) const {
    fail_text(fmt::format(f, std::forward<A>(a)...));
  }

 private:
  [[noreturn]] void fail_text(const std::string& why) const;
  std::map<int, std::pair<std::string, DType>> recast_;
};

using Write = void (*)(Writing&);
struct Writer {
  const char* name;  // of the ONNX op, as in the line of the op's record
  Write write;
};
using Writers = std::span<const Writer>;

// One function a file of src/interop/onnx/write.
Writers elementwise_writers();
Writers shape_writers();
Writers reduce_writers();
Writers index_writers();
Writers window_writers();
Writers matmul_writers();
Writers control_writers();

// Null when the line says all.
Write find_writer(std::string_view onnx_op);

void write_attr(pb::Node& n, const std::string& name, const WrittenAttr& value);

}  // namespace mycel::interop::onnx
