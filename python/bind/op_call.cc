// From Python arguments to a dispatched call.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/error.h"
#include "bind/convert.h"
#include "bind/op_object.h"
#include "bind/tensor_object.h"
#include "runtime/dispatch.h"
#include "runtime/random_state.h"

namespace mycel::bind {
namespace {

bool hidden(const ir::Op& op, size_t place) {
  return op.def.random && place < op.inputs.size() && op.inputs[place].name == "key";
}

const std::string& place_name(const ir::Op& op, size_t place) {
  return place < op.inputs.size() ? op.inputs[place].name : op.attrs[place - op.inputs.size()].name;
}

[[noreturn]] void unknown_keyword(const ir::Op& op, const std::vector<int>& order, const char* name,
                                  PyObject* keyword) {
  std::string given = nb::cast<std::string>(nb::handle(keyword));
  std::vector<const char*> names;
  for (int p : order) names.push_back(place_name(op, static_cast<size_t>(p)).c_str());
  std::string near = did_you_mean(given, names.data(), names.size());
  throw UserError(ErrorKind::kType, fmt::format("{}: unknown argument '{}'", name, given),
                  near.empty() ? "Signature: " + op.signature() : "Did you mean '" + near + "'?");
}

bool is_sequence(PyObject* o) { return PyList_Check(o) || PyTuple_Check(o); }

void add_variadic(Arguments& a, PyObject* sequence) {
  const Py_ssize_t n = PySequence_Size(sequence);
  for (Py_ssize_t i = 0; i < n; ++i) {
    a.variadic.push_back(PyTuple_Check(sequence) ? PyTuple_GetItem(sequence, i)
                                                 : PyList_GetItem(sequence, i));
  }
}

// How many of the values at `args` belong to the variadic operand: one sequence, or all leading
// tensors.
size_t take_variadic(Arguments& a, PyObject* const* args, size_t count) {
  if (count == 0) return 0;
  if (is_sequence(args[0])) {
    add_variadic(a, args[0]);
    return 1;
  }
  size_t n = 0;
  while (n < count && (is_tensor(args[n]) || is_operand(args[n])) &&
         (n == 0 || is_tensor(args[n]))) {
    a.variadic.push_back(args[n++]);
  }
  return n;
}

[[noreturn]] void too_many(const ir::Op& op, const char* name, size_t allowed, size_t given) {
  throw UserError(ErrorKind::kType,
                  fmt::format("{}: {} arguments given, at most {} allowed", name, given, allowed),
                  "Signature: " + op.signature());
}

// -- operands
// ----------------------------------------------------------------------------------------

bool weak_class(const std::string& cls) { return cls == "bool" || cls == "index"; }

// The dtype that numbers among the operands take: the common one of the tensors beside them.
struct Reference {
  bool any = false;
  DType dtype = DType::kFloat32;
  void meet(const Tensor& t) {
    dtype = any ? promote(dtype, t.dtype()) : t.dtype();
    any = true;
  }
};

Tensor scalar_operand(PyObject* o, const ir::InputSpec& spec, const Reference& ref,
                      const char* what) {
  if (PyBool_Check(o) && (spec.cls == "bool" || !ref.any)) return weak_scalar(o, DType::kBool);
  if (ref.any && !weak_class(spec.cls)) return weak_scalar(o, ref.dtype);
  Tensor t = to_tensor(o, what);
  const bool integral = is_int(t.dtype()) || is_bool(t.dtype());
  if (integral && (spec.cls == "float" || spec.cls == "inexact"))
    return weak_scalar(o, DType::kFloat32);
  return t;
}

// A list given where the record wants floats follows the tensors beside it, as a number does.
class Operands {
 public:
  Operands(const Arguments& a) : a_(a) {}

  void collect(Tensors& out) {
    const ir::Op& op = a_.op;
    const size_t fixed = op.inputs.size() - (op.variadic ? 1 : 0);
    out.resize(fixed + a_.variadic.size());
    for (size_t i = 0; i < fixed; ++i) strong(a_.slots[i], op.inputs[i], out[i]);
    for (size_t i = 0; i < a_.variadic.size(); ++i)
      strong(a_.variadic[i], op.inputs.back(), out[fixed + i]);
    for (size_t i = 0; i < fixed; ++i) weak(a_.slots[i], op.inputs[i], out[i]);
    for (size_t i = 0; i < a_.variadic.size(); ++i)
      weak(a_.variadic[i], op.inputs.back(), out[fixed + i]);
    while (!out.empty() && !out.back() && out.size() > static_cast<size_t>(op.required_inputs) &&
           !op.variadic) {
      out.pop_back();
    }
  }

 private:
  void strong(PyObject* o, const ir::InputSpec& spec, Tensor& out) {
    if (!o || o == Py_None) {
      if (!spec.optional && !hidden(a_.op, &spec - a_.op.inputs.data())) missing(spec, o);
      return;
    }
    if (is_tensor(o)) {
      out = operand_of(o);
    } else if (!is_number(o)) {
      out = to_tensor(o, label(spec).c_str());
    } else {
      return;
    }
    if (!weak_class(spec.cls)) ref_.meet(out);
  }
  void weak(PyObject* o, const ir::InputSpec& spec, Tensor& out) {
    if (out || !o || o == Py_None) return;
    out = scalar_operand(o, spec, ref_, label(spec).c_str());
  }
  std::string label(const ir::InputSpec& spec) const {
    return a_.op.name + ": '" + spec.name + "'";
  }
  [[noreturn]] void missing(const ir::InputSpec& spec, PyObject* o) const {
    throw UserError(ErrorKind::kType,
                    fmt::format("{}: argument '{}' {}", a_.op.name, spec.name,
                                o ? "must not be None" : "is missing"),
                    "Signature: " + a_.op.signature());
  }

  const Arguments& a_;
  Reference ref_;
};

ir::Attrs collect_attrs(const Arguments& a) {
  const ir::Op& op = a.op;
  PyObject* const* given = a.slots.data() + op.inputs.size();
  size_t last = op.attrs.size();
  while (last > 0 && !given[last - 1] && op.attrs[last - 1].has_default) --last;
  ir::Attrs attrs;
  for (size_t i = 0; i < last; ++i) {
    const ir::AttrSpec& spec = op.attrs[i];
    if (given[i]) {
      attrs.push_back(to_attr(given[i], spec, op.name));
    } else if (spec.has_default) {
      attrs.push_back(spec.default_value);
    } else {
      throw UserError(ErrorKind::kType,
                      fmt::format("{}: argument '{}' is missing", op.name, spec.name),
                      "Signature: " + op.signature());
    }
  }
  return attrs;
}

// The published `seed` attributes of a random op, mixed into its key.
uint64_t op_seed(const ir::Op& op, const ir::Attrs& attrs) {
  uint64_t seed = 0;
  for (size_t i = 0; i < attrs.size(); ++i) {
    bool named = op.attrs[i].name == "seed" || op.attrs[i].name == "seed2";
    if (named && attrs[i].is<int64_t>())
      seed = seed * 0x9e3779b97f4a7c15ull + static_cast<uint64_t>(attrs[i].integer());
  }
  return seed;
}

PyObject* wrap_results(const ir::Op& op, Tensors results) {
  const bool variadic_out = !op.outputs.empty() && op.outputs[0].starts_with("*");
  if (results.size() == 1 && !variadic_out) return wrap(std::move(results[0]));
  nb::object tuple = owned(PyTuple_New(static_cast<Py_ssize_t>(results.size())));
  for (size_t i = 0; i < results.size(); ++i) {
    PyTuple_SetItem(tuple.ptr(), static_cast<Py_ssize_t>(i), wrap(std::move(results[i])));
  }
  return tuple.release().ptr();
}

int64_t elements(const Tensors& in) {
  int64_t n = 0;
  for (const Tensor& t : in) {
    if (t && t.concrete()) n += t.size();
  }
  return n;
}

}  // namespace

std::vector<int> visible_places(const ir::Op& op) {
  std::vector<int> order;
  for (size_t p = 0; p < op.inputs.size() + op.attrs.size(); ++p) {
    if (!hidden(op, p)) order.push_back(static_cast<int>(p));
  }
  return order;
}

const std::vector<PyObject*>& parameter_names(const ir::Op& op) {
  static auto* names =
      new std::map<const ir::Op*, std::vector<PyObject*>>;  // lives as long as the module
  auto [it, fresh] = names->try_emplace(&op);
  if (fresh) {
    for (size_t p = 0; p < op.inputs.size() + op.attrs.size(); ++p) {
      it->second.push_back(PyUnicode_InternFromString(place_name(op, p).c_str()));
    }
  }
  return it->second;
}

void bind_arguments(Arguments& a, const std::vector<int>& order, const char* name,
                    PyObject* const* args, size_t count, PyObject* keywords) {
  const ir::Op& op = a.op;
  const int variadic_place = op.variadic ? static_cast<int>(op.inputs.size()) - 1 : -1;
  size_t next = 0, at = 0;
  while (at < count) {
    if (next >= order.size()) too_many(op, name, order.size(), count);
    const int place = order[next++];
    if (place == variadic_place) {
      at += take_variadic(a, args + at, count - at);
      continue;
    }
    a.slots[place] = args[at++];
  }
  if (!keywords) return;
  const std::vector<PyObject*>& names = parameter_names(op);
  const Py_ssize_t n = PyTuple_Size(keywords);
  for (Py_ssize_t k = 0; k < n; ++k) {
    PyObject* keyword = PyTuple_GetItem(keywords, k);
    int found = -1;
    for (int p : order) {
      if (names[p] == keyword || PyUnicode_Compare(names[p], keyword) == 0) {
        found = p;
        break;
      }
    }
    for (size_t p = 0; found < 0 && p < names.size(); ++p) {  // a key may be given by name
      if (hidden(op, p) && PyUnicode_Compare(names[p], keyword) == 0) found = static_cast<int>(p);
    }
    if (found < 0) unknown_keyword(op, order, name, keyword);
    PyObject* value = args[count + static_cast<size_t>(k)];
    if (a.slots[found] || (found == variadic_place && !a.variadic.empty())) {
      type_error("{}: argument '{}' is given twice", name,
                 place_name(op, static_cast<size_t>(found)));
    }
    if (found == variadic_place) {
      if (!is_sequence(value))
        type_error("{}: '{}' must be a list or tuple of tensors", name, op.inputs[found].name);
      add_variadic(a, value);
    } else {
      a.slots[found] = value;
    }
  }
}

PyObject* run_op(const Arguments& a) {
  const ir::Op& op = a.op;
  Tensors in;
  Operands(a).collect(in);
  ir::Attrs attrs = collect_attrs(a);
  for (size_t i = 0; i < in.size(); ++i) {
    if (!in[i] && hidden(op, i)) in[i] = runtime::next_key(op_seed(op, attrs));
  }
  if (op.outputs.size() == 1 && !op.outputs[0].starts_with("*")) {
    return wrap(unlocked(elements(in), [&] { return runtime::call1(op, in, attrs); }));
  }
  return wrap_results(op, unlocked(elements(in), [&] { return runtime::call(op, in, attrs); }));
}

}  // namespace mycel::bind
