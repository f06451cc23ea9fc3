// Values of rows, and arguments of records, from Python and back.
#include <fmt/format.h>

#include "base/error.h"
#include "bind/convert.h"
#include "bind/data.h"
#include "bind/dtype_object.h"
#include "bind/tensor_object.h"

namespace mycel::bind {

using data::Option;
using data::Row;
using data::StringArray;
using data::Value;

namespace {

nb::module_ numpy() { return nb::module_::import_("numpy"); }

std::string text_of(nb::handle o) {
  if (PyBytes_Check(o.ptr()))
    return {PyBytes_AS_STRING(o.ptr()), size_t(PyBytes_GET_SIZE(o.ptr()))};
  nb::object bytes =
      owned(PyUnicode_AsEncodedString(o.ptr(), "utf-8", "surrogateescape"));  // np.str_ is a str
  return {PyBytes_AS_STRING(bytes.ptr()), size_t(PyBytes_GET_SIZE(bytes.ptr()))};
}

bool is_text(nb::handle o) { return PyUnicode_Check(o.ptr()) || PyBytes_Check(o.ptr()); }

// An array of str or bytes; false when `array` is none.
bool strings_of(nb::handle array, const char* what, Value* out) {
  const std::string kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
  if (kind != "U" && kind != "S" && kind != "O" && kind != "T") return false;
  StringArray s;
  for (nb::handle d : array.attr("shape")) s.shape.push_back(nb::cast<int64_t>(d));
  nb::object flat = array.attr("ravel")().attr("tolist")();
  for (nb::handle o : flat) {
    if (!is_text(o)) {
      type_error("{}: a row holds {}; numbers, strings and arrays of them are supported", what,
                 kind_of(o.ptr()));
    }
    s.values.push_back(text_of(o));
  }
  *out = Value(std::move(s));
  return true;
}

}  // namespace

Value to_value(nb::handle o, const char* what) {
  if (is_tensor(o.ptr())) return to_tensor(o.ptr(), what);
  if (is_text(o)) return Value(text_of(o));
  nb::object array;
  if (nb::hasattr(o, "dtype") && nb::hasattr(o, "shape")) {
    array = nb::borrow(o);
  } else {
    array = numpy().attr("asarray")(o);
  }
  Value strings;
  if (strings_of(array, what, &strings)) return strings;
  return to_tensor(array.ptr(), what);
}

nb::object from_value(const Value& v) {
  if (v.is_tensor()) {
    // Users write into what they get: rows that lie in a larger array are copied.
    const bool shared = !v.tensor().sole_owner();
    nb::object array = nb::steal(wrap(v.tensor())).attr("asnumpy")();
    return shared ? nb::object(array.attr("copy")()) : array;
  }
  const StringArray& s = v.strings();
  nb::list items;
  for (const std::string& text : s.values) {
    items.append(
        nb::steal(PyUnicode_DecodeUTF8(text.data(), Py_ssize_t(text.size()), "surrogateescape")));
  }
  nb::object array = numpy().attr("array")(items, nb::arg("dtype") = "str");
  nb::list shape;
  for (int64_t d : s.shape) shape.append(d);
  return array.attr("reshape")(nb::tuple(shape));
}

nb::object tensor_from_value(const Value& v) {
  return v.is_tensor() ? nb::steal(wrap(v.tensor())) : from_value(v);
}

Row to_row(nb::handle values, const char* what) {
  Row row;
  for (nb::handle o : values) row.push_back(to_value(o, what));
  return row;
}

Option to_option(nb::handle o, const std::string& what) {
  PyObject* p = o.ptr();
  DType dtype;
  if (o.is_none()) return {};
  if (PyBool_Check(p)) return p == Py_True;
  if (PyLong_Check(p)) return nb::cast<int64_t>(o);
  if (PyFloat_Check(p)) return nb::cast<double>(o);
  if (PyBytes_Check(p) || PyUnicode_Check(p)) return text_of(o);
  if (is_dtype_object(p)) {
    to_dtype(p, &dtype);
    return dtype;
  }
  if (is_tensor(p)) return to_tensor(p, what.c_str());
  if (p == Py_Ellipsis) return "...";
  if (PySlice_Check(p)) {
    return Option::List{"slice", to_option(o.attr("start"), what), to_option(o.attr("stop"), what),
                        to_option(o.attr("step"), what)};
  }
  if (PyTuple_Check(p) || PyList_Check(p)) {
    Option::List list;
    for (nb::handle e : o) list.push_back(to_option(e, what));
    return list;
  }
  if (PyDict_Check(p)) {  // as its pairs
    Option::List list;
    for (auto [key, value] : nb::borrow<nb::dict>(o))
      list.push_back(Option::List{to_option(key, what), to_option(value, what)});
    return list;
  }
  if (PyType_Check(p) || nb::hasattr(o, "newbyteorder")) {  // numpy.float32, numpy.dtype
    if (to_dtype(p, &dtype)) return dtype;
  }
  if (nb::hasattr(o, "_member_name")) return text_of(o.attr("_member_name"));  // of a choice
  if (nb::hasattr(o, "dtype") && nb::hasattr(o, "shape")) {
    const std::string kind = nb::cast<std::string>(nb::object(o.attr("dtype").attr("kind")));
    if (kind == "U" || kind == "S") return to_option(o.attr("tolist")(), what);
    if (nb::len(nb::object(o.attr("shape"))) == 0) return to_option(o.attr("item")(), what);
    return to_tensor(p, what.c_str());
  }
  if (nb::hasattr(o, "_option")) return to_option(o.attr("_option")(), what);  // a vocabulary
  if (nb::hasattr(o, "_transform") || PyCallable_Check(p)) return to_transform(o, what.c_str());
  type_error("{} cannot be {}", what, kind_of(p));
}

}  // namespace mycel::bind
