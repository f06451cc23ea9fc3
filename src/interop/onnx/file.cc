#include "interop/onnx/file.h"

#include <fmt/format.h>

#include "base/error.h"
#include "interop/onnx/tensors.h"
#include "interop/onnx/wire_check.h"

namespace mycel::interop::onnx {
namespace {

constexpr int64_t kOldestOpset = 1;

std::string function_key(const std::string& domain, const std::string& name,
                         const std::string& overload) {
  return domain_of(domain) + "::" + name + "::" + overload;
}

}  // namespace

std::string domain_of(const std::string& written) { return written == "ai.onnx" ? "" : written; }

File::File(std::string_view bytes, const std::string& folder) {
  check_wire(bytes);
  if (!model_.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    value_error("ONNX: the {} bytes are no ModelProto", bytes.size());
  if (!model_.has_graph()) value_error("ONNX: the model holds no graph");
  for (const pb::OperatorSet& o : model_.opset_import()) {
    if (o.version() < kOldestOpset)
      value_error("ONNX: version {} of operator set '{}'", o.version(), o.domain());
  }
  for (const pb::Function& f : model_.functions())
    functions_[function_key(f.domain(), f.name(), f.overload())] = &f;
  read_tensors(*model_.mutable_graph(), folder);
  for (pb::Function& f : *model_.mutable_functions()) {
    for (pb::Node& n : *f.mutable_node()) read_attributes(n, folder);
    for (pb::Attribute& a : *f.mutable_attribute_proto()) {
      if (a.has_t()) tensors_[&a.t()] = read_tensor(*a.mutable_t(), folder);
    }
  }
  check_graph(model_.graph(), nullptr);
  for (const pb::Function& f : model_.functions()) {
    for (int i = 0; i < f.node_size(); ++i) check_node(f.node(i), i, &f);
  }
}

int64_t File::opset(const std::string& domain, const pb::Function* function) const {
  if (function) {
    for (const pb::OperatorSet& o : function->opset_import()) {
      if (domain_of(o.domain()) == domain) return o.version();
    }
  }
  for (const pb::OperatorSet& o : model_.opset_import()) {
    if (domain_of(o.domain()) == domain) return o.version();
  }
  return 1;  // what files of IR version 2 and before mean
}

const pb::Function* File::function(const pb::Node& n) const {
  auto it = functions_.find(function_key(n.domain(), n.op_type(), n.overload()));
  return it == functions_.end() ? nullptr : it->second;
}

const Tensor& File::tensor(const pb::Tensor& t) const {
  auto it = tensors_.find(&t);
  MYCEL_CHECK(it != tensors_.end(), "tensor '{}' was not read", t.name());
  return it->second;
}

void File::read_tensors(pb::Graph& g, const std::string& folder) {
  if (g.sparse_initializer_size() > 0)
    fail(ErrorKind::kUnsupported, "ONNX: graph '{}' has sparse initializers", g.name());
  for (pb::Tensor& t : *g.mutable_initializer()) tensors_[&t] = read_tensor(t, folder);
  for (pb::Node& n : *g.mutable_node()) read_attributes(n, folder);
}

void File::read_attributes(pb::Node& n, const std::string& folder) {
  for (pb::Attribute& a : *n.mutable_attribute()) {
    try {
      if (a.has_t()) tensors_[&a.t()] = read_tensor(*a.mutable_t(), folder);
      for (pb::Tensor& t : *a.mutable_tensors()) tensors_[&t] = read_tensor(t, folder);
    } catch (UserError& e) {
      e.prefix(fmt::format("{} '{}': attribute '{}': ", n.op_type(), n.name(), a.name()));
      throw;
    }
    if (a.has_g()) read_tensors(*a.mutable_g(), folder);
    for (pb::Graph& g : *a.mutable_graphs()) read_tensors(g, folder);
  }
}

void File::check_graph(const pb::Graph& g, const pb::Function* function) const {
  for (int i = 0; i < g.node_size(); ++i) check_node(g.node(i), i, function);
}

void File::check_node(const pb::Node& n, int at, const pb::Function* function) const {
  if (!is_known_op(*this, n)) {
    std::string domain = domain_of(n.domain());
    fail(ErrorKind::kUnsupported, "node {} '{}': op {}{} of opset {} is not supported", at,
         n.name(), domain.empty() ? "" : domain + "::", n.op_type(), opset(domain, function));
  }
  for (const pb::Attribute& a : n.attribute()) {
    if (a.has_g()) check_graph(a.g(), function);
    for (const pb::Graph& g : a.graphs()) check_graph(g, function);
  }
}

}  // namespace mycel::interop::onnx
