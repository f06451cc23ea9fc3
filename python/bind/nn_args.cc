#include <fmt/format.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include "base/error.h"
#include "bind/convert.h"
#include "bind/nn.h"
#include "bind/tensor_object.h"
#include "nn/layer.h"

namespace mycel::bind {
namespace {

using Extra = nn::ArgSpec::Extra;

// The Python side of a network as a C++ cell. Its parameters belong to the Python object, which
// names and collects them.
class PythonCell final : public nn::Cell {
 public:
  explicit PythonCell(nb::handle o) : object_(o.ptr()) {}

  Tensors construct(nn::Inputs inputs) override {
    nb::gil_scoped_acquire gil;
    nb::object args = owned(PyTuple_New(static_cast<Py_ssize_t>(inputs.size())));
    for (size_t i = 0; i < inputs.size(); ++i) {
      PyTuple_SetItem(args.ptr(), static_cast<Py_ssize_t>(i), wrap(inputs[i]));
    }
    nb::object out = owned(PyObject_CallObject(object_.get(), args.ptr()));
    if (is_tensor(out.ptr())) return {value_of(out.ptr())};
    if (out.is_none()) return {};
    if (is_number(out.ptr())) return {weak_scalar(out.ptr(), DType::kFloat32)};
    return to_tensors(out, "the result of a cell");
  }
  std::string class_name() const override {
    nb::gil_scoped_acquire gil;
    return nb::cast<std::string>(nb::handle(object_.get()).type().attr("__name__"));
  }
  PyObject* object() const { return object_.get(); }

 private:
  Held object_;
};

// Nested sequences of ints, as in paddings=((0, 0), (1, 1)), one after the other.
bool flatten(nb::handle o, nn::Arg* out) {
  if (!PyTuple_Check(o.ptr()) && !PyList_Check(o.ptr())) return false;
  ir::Attr::Ints flat;
  bool nested = false;
  for (nb::handle part : o) {
    if (!PyTuple_Check(part.ptr()) && !PyList_Check(part.ptr())) return false;
    nested = true;
    for (int64_t v : to_ints(part.ptr(), "argument")) flat.push_back(v);
  }
  if (nested) *out = nn::Arg(flat);
  return nested;
}

nn::Arg to_init(nb::handle o, const std::string& owner, const std::string& name) {
  if (PyUnicode_Check(o.ptr())) return nb::cast<std::string>(o);  // nn::Args makes and names it
  if (nb::isinstance<nn::Init>(o)) return nb::cast<nn::Init>(o);
  if (nb::hasattr(o, "_init")) return nb::cast<nn::Init>(o.attr("_init")());
  if (is_tensor(o.ptr())) return nn::Init(value_of(o.ptr()));
  if (is_number(o.ptr())) return nn::Init(to_real(o.ptr(), name.c_str()));
  if (is_operand(o.ptr())) return nn::Init(to_tensor(o.ptr(), name.c_str()));
  type_error("{}: '{}' must be an initializer, its name, a number or a tensor, got {}", owner, name,
             kind_of(o.ptr()));
}

nn::Arg to_number(nb::handle o, const nn::ArgSpec& spec, const std::string& owner) {
  const std::string what = fmt::format("{}: '{}'", owner, spec.name);
  if (spec.extra == Extra::kSchedule) {
    if (is_tensor(o.ptr())) return ir::Attr(value_of(o.ptr()));
    if (PyCallable_Check(o.ptr())) return to_cell(o);
    if (!is_number(o.ptr())) {
      ir::AttrSpec list = spec;
      list.kind = ir::AttrKind::kFloats;
      if (PySequence_Check(o.ptr())) return to_attr(o.ptr(), list, owner);
      if (nb::hasattr(o, "__iter__")) return to_attr(nb::list(o).ptr(), list, owner);
      type_error("{} must be a number, a sequence of numbers, a tensor or a schedule, got {}", what,
                 kind_of(o.ptr()));
    }
  }
  if (PyLong_Check(o.ptr()) && !PyBool_Check(o.ptr())) return to_int(o.ptr(), what.c_str());
  return to_real(o.ptr(), what.c_str());
}

nn::Arg to_arg(nb::handle o, const nn::ArgSpec& spec, const std::string& owner) {
  if (o.is_none()) return {};
  nn::Arg flat;
  switch (spec.extra) {
    case Extra::kInit:
      return to_init(o, owner, spec.name);
    case Extra::kCell:
      return PyUnicode_Check(o.ptr()) ? nn::Arg(nb::cast<std::string>(o)) : nn::Arg(to_cell(o));
    case Extra::kNumber:
    case Extra::kSchedule:
      return to_number(o, spec, owner);
    case Extra::kNone:
      if (spec.kind == ir::AttrKind::kInts && flatten(o, &flat)) return flat;
      return to_attr(o.ptr(), spec, owner);
  }
  return {};
}

}  // namespace

CallArgs to_args(const nn::Signature& s, nb::handle args, nb::handle kwargs) {
  CallArgs out;
  size_t i = 0;
  for (nb::handle o : args) {
    // One too many is reported by nn::Args, with the signature.
    out.positional.push_back(i < s.specs().size() ? to_arg(o, s.specs()[i], s.owner()) : nn::Arg());
    ++i;
  }
  if (!kwargs.is_valid() || kwargs.is_none()) return out;
  for (auto [key, o] : nb::borrow<nb::dict>(kwargs)) {
    std::string name = nb::cast<std::string>(key);
    int at = s.index(name);
    out.named.emplace_back(name, at < 0 ? nn::Arg() : to_arg(o, s.specs()[at], s.owner()));
  }
  return out;
}

nn::CellPtr to_cell(nb::handle o) {
  if (nb::hasattr(o, "_layer")) {
    nb::object layer = o.attr("_layer");
    // A subclass may compute something else than its layer.
    if (!nb::cast<bool>(o.attr("_overrides_construct")))
      return nb::cast<std::shared_ptr<nn::Layer>>(layer);
  }
  if (!PyCallable_Check(o.ptr()))
    type_error("a cell or a function was expected, got {}", kind_of(o.ptr()));
  return std::make_shared<PythonCell>(o);
}

PyObject* python_cell(const nn::Cell& cell) {
  auto* p = dynamic_cast<const PythonCell*>(&cell);
  return p ? p->object() : nullptr;
}

nb::object from_arg(const nn::Arg& a) {
  if (a.none()) return nb::none();
  if (a.is_init()) return nb::cast(a.init());
  if (a.is_attr()) return nb::steal(from_attr(a.attr()));
  PyObject* o = python_cell(*a.cell());
  return o ? nb::borrow(o) : nb::cast(a.cell()->class_name());
}

nb::list describe(const nn::Signature& s) {
  nb::list out;
  for (const nn::ArgSpec& a : s.specs()) {
    nb::object fallback = nb::none();
    if (a.has_default && a.extra == Extra::kInit && !a.fallback.none()) {
      fallback = nb::cast(a.default_value.string());
    } else if (a.has_default && a.extra == Extra::kCell && !a.fallback.none()) {
      fallback = nb::cast(a.default_value.string());
    } else if (a.has_default) {
      fallback = from_arg(a.fallback);
    }
    out.append(nb::make_tuple(a.name, a.has_default, fallback));
  }
  return out;
}

void touch(const nn::Cell& cell) {
  if (!g_on_read) return;
  for (const nn::Parameter& p : cell.parameters()) g_on_read(p);
}

Tensors to_tensors(nb::handle sequence, const char* what) {
  Tensors out;
  for (nb::handle o : sequence) {
    if (o.is_none()) {
      out.emplace_back();
    } else if (is_tensor(o.ptr())) {
      out.push_back(value_of(o.ptr()));
    } else {
      out.push_back(to_tensor(o.ptr(), what));
    }
  }
  return out;
}

nb::object from_tensors(const Tensors& t) {
  if (t.size() == 1) return nb::steal(wrap(t[0]));
  nb::object out = owned(PyTuple_New(static_cast<Py_ssize_t>(t.size())));
  for (size_t i = 0; i < t.size(); ++i)
    PyTuple_SetItem(out.ptr(), static_cast<Py_ssize_t>(i), wrap(t[i]));
  return out;
}

}  // namespace mycel::bind
