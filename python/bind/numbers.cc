// Operators of Tensor: type slots that go straight to the dispatcher. An op that a slot needs is
// looked up once.
#include <array>
#include <string>
#include <utility>

#include "base/error.h"
#include "bind/convert.h"
#include "bind/tensor_object.h"
#include "ir/op.h"
#include "runtime/dispatch.h"
#include "runtime/trace.h"

namespace mycel::bind {
namespace {

// The operators' ops by slot; the order is that of kSlotOps.
enum Slot {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kFloorDiv,
  kMod,
  kPow,
  kMatMul,
  kAnd,
  kOr,
  kXor,
  kShiftLeft,
  kShiftRight,
  kNeg,
  kAbs,
  kInvert,
  kNot,
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kSlots
};
constexpr const char* kSlotOps[kSlots] = {"add",
                                          "sub",
                                          "mul",
                                          "div",
                                          "floor_div",
                                          "floor_mod",
                                          "pow",
                                          "matmul",
                                          "bitwise_and",
                                          "bitwise_or",
                                          "bitwise_xor",
                                          "bitwise_left_shift",
                                          "bitwise_right_shift",
                                          "neg",
                                          "abs",
                                          "invert",
                                          "logical_not",
                                          "equal",
                                          "not_equal",
                                          "less",
                                          "less_equal",
                                          "greater",
                                          "greater_equal"};
std::array<const ir::Op*, kSlots> g_ops;

const ir::Op& op_of(Slot s) {
  if (!g_ops[s]) g_ops[s] = &ir::op_named(kSlotOps[s]);
  return *g_ops[s];
}

// Those of a tensor with values; how much work an op on one without is cannot be told, nor matters.
int64_t elements_of(const Tensor& t) { return t.concrete() ? t.size() : 0; }

PyObject* run(const ir::Op& op, Tensor a, Tensor b) {
  const Tensor in[2] = {std::move(a), std::move(b)};
  int64_t elements = std::max(elements_of(in[0]), elements_of(in[1]));
  return wrap(
      unlocked(elements, [&] { return runtime::call1(op, std::span<const Tensor>(in, 2)); }));
}

PyObject* not_implemented() { Py_RETURN_NOTIMPLEMENTED; }

// A class of tuples with operators of its own (a sparse tensor), as it says by NumPy's sign for
// that.
bool operates_itself(PyObject* o) {
  if (!PyTuple_Check(o) || PyTuple_CheckExact(o)) return false;
  return PyObject_HasAttrString(o, "__array_ufunc__");
}

// a op b where one of them is a Tensor.
PyObject* binary(Slot s, PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    const bool left = is_tensor(a), right = is_tensor(b);
    if (left && right) return run(op_of(s), operand_of(a), operand_of(b));
    PyObject* other = left ? b : a;
    if (!is_operand(other) || operates_itself(other)) return not_implemented();
    const Tensor t = operand_of(left ? a : b);
    const ir::Op& op = op_of(s);
    Tensor o = to_operand(other, t.dtype(), op.name.c_str());
    return left ? run(op, t, std::move(o)) : run(op, std::move(o), t);
  });
}

template <Slot s>
PyObject* binary_slot(PyObject* a, PyObject* b) {
  return binary(s, a, b);
}

template <Slot s>
PyObject* unary_slot(PyObject* a) {
  return guarded([&] {
    const Tensor t = operand_of(a);
    return wrap(unlocked(elements_of(t), [&] { return runtime::call1(op_of(s), {t}); }));
  });
}

PyObject* power(PyObject* a, PyObject* b, PyObject* modulo) {
  if (modulo != Py_None) return not_implemented();
  return binary(kPow, a, b);
}

// ~x: the logical not of bools, the bitwise not of integers.
PyObject* invert(PyObject* a) {
  return value_of(a).dtype() == DType::kBool ? unary_slot<kNot>(a) : unary_slot<kInvert>(a);
}

PyObject* positive(PyObject* a) {
  Py_INCREF(a);
  return a;
}

// The single element, for bool(), int() and float(); `what` names the caller.
Tensor single(PyObject* self, const char* what) {
  Tensor t = runtime::concrete(value_of(self), what);
  if (t.size() != 1) {
    throw UserError(
        ErrorKind::kValue,
        fmt::format("{}: {} has {} elements; exactly 1 is needed", what, t.describe(), t.size()),
        std::string(what) == "bool()" ? "Use .all() or .any()." : "");
  }
  return t;
}

int truth(PyObject* self) {
  return guarded_int([&] {
    Tensor t = single(self, "bool()");
    if (!is_complex(t.dtype())) return static_cast<int>(t.item() != 0);
    const DType part = real_part_of(t.dtype());
    return static_cast<int>(element_as_double(t.raw(), part, 0) != 0 ||
                            element_as_double(t.raw(), part, 1) != 0);
  });
}

PyObject* as_int(PyObject* self) {
  return guarded([&]() -> PyObject* {
    Tensor t = single(self, "int()");
    if (is_complex(t.dtype())) type_error("int(): {} is complex", t.describe());
    if (is_float(t.dtype())) return PyLong_FromDouble(t.item());
    if (t.dtype() == DType::kUInt64) return PyLong_FromUnsignedLongLong(t.data<uint64_t>()[0]);
    return PyLong_FromLongLong(t.item_int());
  });
}

PyObject* as_float(PyObject* self) {
  return guarded([&] {
    Tensor t = single(self, "float()");
    if (is_complex(t.dtype())) type_error("float(): {} is complex", t.describe());
    return PyFloat_FromDouble(t.item());
  });
}

PyObject* as_index(PyObject* self) {
  return guarded([&]() -> PyObject* {
    const Tensor& t = value_of(self);
    if (!is_int(t.dtype()) || t.size() != 1)
      type_error("index: {} is no single integer", t.describe());
    return as_int(self);
  });
}

template <typename F>
void* slot(F* f) {
  return reinterpret_cast<void*>(f);
}

}  // namespace

// tp_richcompare. Equality with what is no operand is decided by identity, as Python does.
PyObject* tensor_compare(PyObject* a, PyObject* b, int op) {
  constexpr Slot kByOp[] = {kLt, kLe, kEq, kNe, kGt, kGe};  // Py_LT … Py_GE
  return binary(kByOp[op], a, b);
}

const PyType_Slot* number_slots() {
  static const PyType_Slot slots[] = {{Py_nb_add, slot(binary_slot<kAdd>)},
                                      {Py_nb_subtract, slot(binary_slot<kSub>)},
                                      {Py_nb_multiply, slot(binary_slot<kMul>)},
                                      {Py_nb_true_divide, slot(binary_slot<kDiv>)},
                                      {Py_nb_floor_divide, slot(binary_slot<kFloorDiv>)},
                                      {Py_nb_remainder, slot(binary_slot<kMod>)},
                                      {Py_nb_power, slot(power)},
                                      {Py_nb_matrix_multiply, slot(binary_slot<kMatMul>)},
                                      {Py_nb_and, slot(binary_slot<kAnd>)},
                                      {Py_nb_or, slot(binary_slot<kOr>)},
                                      {Py_nb_xor, slot(binary_slot<kXor>)},
                                      {Py_nb_lshift, slot(binary_slot<kShiftLeft>)},
                                      {Py_nb_rshift, slot(binary_slot<kShiftRight>)},
                                      {Py_nb_negative, slot(unary_slot<kNeg>)},
                                      {Py_nb_positive, slot(positive)},
                                      {Py_nb_absolute, slot(unary_slot<kAbs>)},
                                      {Py_nb_invert, slot(invert)},
                                      {Py_nb_bool, slot(truth)},
                                      {Py_nb_int, slot(as_int)},
                                      {Py_nb_float, slot(as_float)},
                                      {Py_nb_index, slot(as_index)},
                                      {0, nullptr}};
  return slots;
}

}  // namespace mycel::bind
