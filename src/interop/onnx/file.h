// File: an ONNX model that has been read and checked: its protobuf messages, every tensor in it as
// a Mycel tensor, and the versions of the operator sets.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "interop/onnx/proto.h"
#include "tensor/tensor.h"

namespace mycel::interop::onnx {

class File {
 public:
  // `folder`: where external data lies; "": there may be none.
  File(std::string_view bytes, const std::string& folder);

  const pb::Graph& graph() const { return model_.graph(); }
  // Of a domain, in the model or in one of its functions.
  int64_t opset(const std::string& domain, const pb::Function* function) const;
  // Null when the model has no such function.
  const pb::Function* function(const pb::Node& node) const;
  // An initializer or attribute of this file.
  const Tensor& tensor(const pb::Tensor& t) const;

 private:
  void read_tensors(pb::Graph& g, const std::string& folder);
  void read_attributes(pb::Node& n, const std::string& folder);
  void check_graph(const pb::Graph& g, const pb::Function* function) const;
  void check_node(const pb::Node& n, int at, const pb::Function* function) const;

  pb::Model model_;
  std::unordered_map<const pb::Tensor*, Tensor> tensors_;
  std::map<std::string, const pb::Function*> functions_;
};

// "" for the default domain, however it is written.
std::string domain_of(const std::string& written);

// Whether a record, the line of an op or a function of the model says what it is (run.cc).
bool is_known_op(const File& f, const pb::Node& n);

}  // namespace mycel::interop::onnx
