#include "interop/onnx/writing.h"

#include <fmt/format.h>

#include "interop/onnx/line.h"
#include "interop/onnx/tensors.h"
#include "runtime/dispatch.h"

namespace mycel::interop::onnx {

std::string GraphWriter::fresh() {
  GraphWriter& r = root();
  std::string name;
  do {
    name = fmt::format("v{}", r.count_++);
  } while (r.taken_.count(name));
  r.taken_[name] = true;
  return name;
}

const std::string& GraphWriter::name_of(const ir::Value& v) const {
  for (const GraphWriter* w = this; w; w = w->around_) {
    if (auto it = w->names_.find({v.node, v.index}); it != w->names_.end()) return it->second;
  }
  MYCEL_CHECK(false, "a value has no name in the ONNX graph");
  static const std::string none;
  return none;
}

std::string GraphWriter::constant(const Tensor& t) {
  GraphWriter& r = root();
  constexpr size_t kShared = 4096;  // bytes; larger ones are seldom equal
  std::string key;
  if (t.bytes() <= kShared) {
    key = t.describe() + ":" + std::string(static_cast<const char*>(t.raw()), t.bytes());
    if (auto it = r.constants_.find(key); it != r.constants_.end()) return it->second;
  }
  std::string name = fresh();
  write_tensor(*r.graph.add_initializer(), t, name);
  if (!key.empty()) r.constants_[key] = name;
  return name;
}

void write_attr(pb::Node& n, const std::string& name, const WrittenAttr& value) {
  enum Code { kFloat = 1, kInt = 2, kString = 3, kGraph = 5, kInts = 7 };
  pb::Attribute& a = *n.add_attribute();
  a.set_name(name);
  if (auto* i = std::get_if<int64_t>(&value)) {
    a.set_i(*i);
    a.set_type(kInt);
  } else if (auto* f = std::get_if<double>(&value)) {
    a.set_f(static_cast<float>(*f));
    a.set_type(kFloat);
  } else if (auto* s = std::get_if<std::string>(&value)) {
    a.set_s(*s);
    a.set_type(kString);
  } else if (auto* g = std::get_if<const pb::Graph*>(&value)) {
    *a.mutable_g() = **g;
    a.set_type(kGraph);
  } else {
    for (int64_t v : std::get<std::vector<int64_t>>(value)) a.add_ints(v);
    a.set_type(kInts);
  }
}

std::vector<int64_t> Writing::known_dims(const ir::Type& t) const {
  if (!t.shape.known()) fail("its shape {} must be known", t.shape.str());
  return {t.shape.begin(), t.shape.end()};
}

std::vector<std::string> Writing::emit_many(const char* op, std::vector<std::string> in,
                                            int results, const WrittenAttrs& with) {
  pb::Node& n = *out.graph.add_node();
  n.set_op_type(op);
  while (!in.empty() && in.back().empty()) in.pop_back();
  for (std::string& name : in) n.add_input(std::move(name));
  std::vector<std::string> names;
  for (int i = 0; i < results; ++i) {
    names.push_back(out.fresh());
    n.add_output(names.back());
  }
  n.set_name(fmt::format("{}_{}", op, names.empty() ? "" : names[0]));
  for (const auto& [name, value] : with) write_attr(n, name, value);
  return names;
}

std::string Writing::emit(const char* op, std::vector<std::string> in, const WrittenAttrs& with) {
  return emit_many(op, std::move(in), 1, with)[0];
}

std::string Writing::ints(const std::vector<int64_t>& v) {
  return out.constant(Tensor::from(v, Shape{static_cast<int64_t>(v.size())}));
}

std::string Writing::number(double v, DType d) { return out.constant(Tensor::scalar(d, v)); }

std::string Writing::cast(const std::string& x, DType from, DType to) {
  if (from == to) return x;
  return emit("Cast", {x}, {{"to", int64_t{code_of(to)}}});
}

void Writing::fail_text(const std::string& why) const {
  throw UserError(ErrorKind::kUnsupported,
                  fmt::format("export to ONNX: {}: {}", node.op->name, why));
}

}  // namespace mycel::interop::onnx
