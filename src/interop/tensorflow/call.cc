#include "interop/tensorflow/call.h"

#include <fmt/format.h>

#include "runtime/trace.h"

namespace mycel::interop::tensorflow {
namespace {

template <typename T>
const T* as_kind(const AttrValue* v) {
  return v ? std::get_if<T>(v) : nullptr;
}

}  // namespace

Tensor Call::x(int i) const {
  if (!has(i)) fail("input {} is missing; {} are given", i, inputs());
  return in_[static_cast<size_t>(i)];
}

const Slot& Call::in_slot(int i) const {
  if (i >= inputs() || node.in[static_cast<size_t>(i)] < 0) fail("input {} is missing", i);
  return graph.slots[static_cast<size_t>(node.in[static_cast<size_t>(i)])];
}

const Slot& Call::out_slot(int i) const {
  if (i >= outputs() || node.out[static_cast<size_t>(i)] < 0) fail("result {} is missing", i);
  return graph.slots[static_cast<size_t>(node.out[static_cast<size_t>(i)])];
}

int64_t Call::integer(std::string_view name, int64_t otherwise) const {
  const AttrValue* v = node.attr(name);
  if (!v) return otherwise;
  if (auto* i = as_kind<int64_t>(v)) return *i;
  fail("attribute '{}' is no integer", name);
}

double Call::real(std::string_view name, double otherwise) const {
  const AttrValue* v = node.attr(name);
  if (!v) return otherwise;
  if (auto* r = as_kind<double>(v)) return *r;
  fail("attribute '{}' is no float", name);
}

bool Call::flag(std::string_view name, bool otherwise) const {
  const AttrValue* v = node.attr(name);
  if (!v) return otherwise;
  if (auto* b = as_kind<bool>(v)) return *b;
  fail("attribute '{}' is no bool", name);
}

std::string Call::text(std::string_view name, std::string_view otherwise) const {
  const AttrValue* v = node.attr(name);
  if (!v) return std::string(otherwise);
  if (auto* s = as_kind<std::string>(v)) return *s;
  fail("attribute '{}' is no string", name);
}

Ints Call::ints(std::string_view name, Ints otherwise) const {
  const AttrValue* v = node.attr(name);
  if (!v) return otherwise;
  if (auto* i = as_kind<Ints>(v)) return *i;
  fail("attribute '{}' is no list of integers", name);
}

std::vector<double> Call::reals(std::string_view name) const {
  const AttrValue* v = node.attr(name);
  if (!v) return {};
  if (auto* r = as_kind<std::vector<double>>(v)) return *r;
  fail("attribute '{}' is no list of floats", name);
}

DType Call::dtype(std::string_view name, DType otherwise) const {
  const AttrValue* v = node.attr(name);
  if (!v) return otherwise;
  if (auto* d = as_kind<DType>(v)) return *d;
  fail("attribute '{}' is no element type", name);
}

const Graph& Call::region(std::string_view name) const {
  for (const auto& [key, index] : node.graphs) {
    if (key == name) return file.graphs.at(static_cast<size_t>(index));
  }
  fail("it has no graph '{}'", name);
}

Tensor Call::known(const Tensor& t, const std::string& what) const {
  Tensor p = runtime::primal(t);
  if (!p.concrete())
    throw NotCompilable(
        fmt::format("{}: the value of {} is not known while compiling", title(), what), t);
  return p;
}

Tensor Call::known(int i) const { return known(x(i), fmt::format("input {}", i)); }

bool Call::is_known(int i) const { return runtime::primal(x(i)).concrete(); }

Ints Call::known_ints(int i) const {
  Tensor t = known(i);
  if (!is_int(t.dtype()) && t.dtype() != DType::kBool)
    fail("input {} is {}; integers are expected", i, t.describe());
  Ints out;
  for (int64_t k = 0; k < t.size(); ++k) out.push_back(element_as_int(t.raw(), t.dtype(), k));
  return out;
}

int64_t Call::known_int(int i) const {
  Ints v = known_ints(i);
  if (v.size() != 1) fail("input {} has {} elements; one is expected", i, v.size());
  return v[0];
}

Dims Call::dims(const Tensor& t) const {
  if (!t.shape().known())
    throw NotCompilable(
        fmt::format("{}: the shape {} is not known while compiling", title(), t.shape().str()), t);
  return Ints(t.shape().begin(), t.shape().end());
}

std::string Call::title() const {
  return fmt::format("{} '{}' ({} {})", node.op, node.name, lite() ? "operator" : "node", node.at);
}

void Call::not_compilable(const std::string& why) const {
  throw NotCompilable(fmt::format("{}: {}", title(), why), Tensor());
}

}  // namespace mycel::interop::tensorflow
