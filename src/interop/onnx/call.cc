#include "interop/onnx/call.h"

#include <fmt/format.h>

#include "interop/onnx/file.h"
#include "interop/onnx/scope.h"
#include "runtime/trace.h"

namespace mycel::interop::onnx {

bool Call::has(int i) const {
  return i < inputs() && in_[static_cast<size_t>(i)].kind != Value::Kind::kNothing;
}

const Value& Call::value(int i) const {
  if (i >= inputs()) fail("input {} is missing; {} are given", i, inputs());
  return in_[static_cast<size_t>(i)];
}

Tensor Call::x(int i) const {
  const Value& v = value(i);
  if (v.kind == Value::Kind::kNothing) fail("input {} is missing", i);
  if (v.kind != Value::Kind::kTensor) fail("input {} is a sequence; a tensor is expected", i);
  return v.tensor;
}

const Values& Call::items(int i) const {
  const Value& v = value(i);
  if (v.kind != Value::Kind::kSequence) fail("input {} is no sequence", i);
  return v.items;
}

const pb::Attribute* Call::attr(std::string_view name) const {
  for (const pb::Attribute& a : node.attribute()) {
    if (a.name() != name) continue;
    if (a.ref_attr_name().empty()) return &a;
    if (!scope.calling) return nullptr;
    if (const pb::Attribute* given = scope.calling->attr(a.ref_attr_name())) return given;
    for (const pb::Attribute& d : scope.function->attribute_proto()) {
      if (d.name() == a.ref_attr_name()) return &d;
    }
    return nullptr;
  }
  return nullptr;
}

int64_t Call::integer(std::string_view name, int64_t otherwise) const {
  const pb::Attribute* a = attr(name);
  if (!a) return otherwise;
  if (!a->has_i()) fail("attribute '{}' is no integer", name);
  return a->i();
}

int64_t Call::integer(std::string_view name) const {
  if (!has_attr(name)) fail("attribute '{}' is missing", name);
  return integer(name, 0);
}

double Call::real(std::string_view name, double otherwise) const {
  const pb::Attribute* a = attr(name);
  if (!a) return otherwise;
  if (!a->has_f()) fail("attribute '{}' is no float", name);
  // The shortest decimal that is this float: 0.1f means 0.1.
  return std::stod(fmt::format("{}", a->f()));
}

std::string Call::text(std::string_view name, std::string_view otherwise) const {
  const pb::Attribute* a = attr(name);
  if (!a) return std::string(otherwise);
  if (!a->has_s()) fail("attribute '{}' is no string", name);
  return a->s();
}

Ints Call::ints(std::string_view name, Ints otherwise) const {
  const pb::Attribute* a = attr(name);
  if (!a) return otherwise;
  return {a->ints().begin(), a->ints().end()};
}

std::vector<double> Call::reals(std::string_view name) const {
  const pb::Attribute* a = attr(name);
  if (!a) return {};
  return {a->floats().begin(), a->floats().end()};
}

std::vector<std::string> Call::texts(std::string_view name) const {
  const pb::Attribute* a = attr(name);
  if (!a) return {};
  return {a->strings().begin(), a->strings().end()};
}

Tensor Call::tensor(std::string_view name) const {
  const pb::Attribute* a = attr(name);
  if (!a) return {};
  if (!a->has_t()) fail("attribute '{}' is no tensor", name);
  return scope.file.tensor(a->t());
}

const pb::Graph* Call::graph(std::string_view name) const {
  const pb::Attribute* a = attr(name);
  if (!a || !a->has_g()) fail("attribute '{}' must be a graph", name);
  return &a->g();
}

Tensor Call::known(const Tensor& t, const char* what) const {
  Tensor p = runtime::primal(t);
  if (!p.concrete())
    throw NotCompilable(
        fmt::format("{}: the value of {} is not known while compiling", title(), what), t);
  return p;
}

Tensor Call::known(int i) const { return known(x(i), fmt::format("input {}", i).c_str()); }

bool Call::is_known(int i) const { return runtime::primal(x(i)).concrete(); }

Ints Call::known_ints(int i) const {
  Tensor t = known(i);
  Ints out;
  for (int64_t k = 0; k < t.size(); ++k) out.push_back(element_as_int(t.raw(), t.dtype(), k));
  return out;
}

std::vector<double> Call::known_reals(int i) const {
  Tensor t = known(i);
  std::vector<double> out;
  for (int64_t k = 0; k < t.size(); ++k) out.push_back(element_as_double(t.raw(), t.dtype(), k));
  return out;
}

Dims Call::dims(const Tensor& t) const {
  if (!t.shape().known())
    throw NotCompilable(
        fmt::format("{}: the shape {} is not known while compiling", title(), t.shape().str()), t);
  return Ints(t.shape().begin(), t.shape().end());
}

std::string Call::title() const {
  return fmt::format("{} '{}'", node.op_type(),
                     node.name().empty() && node.output_size() ? node.output(0) : node.name());
}

void Call::not_compilable(const std::string& why) const {
  throw NotCompilable(fmt::format("{}: {}", title(), why), Tensor());
}

}  // namespace mycel::interop::onnx
