// From Python values to tensors, shapes and attributes.
#pragma once

#include <string>
#include <vector>

#include "bind/python.h"
#include "ir/op.h"
#include "tensor/tensor.h"

namespace mycel::bind {

// A tensor from a Tensor, array, number or nested sequence. Python floats become float32, ints
// int64, complex numbers complex128; arrays keep their dtype. Always a copy of foreign memory.
// TypeError naming `what` when it is nothing of the kind.
Tensor to_tensor(PyObject* o, const char* what);
// The same, converted to `dtype`.
Tensor to_tensor(PyObject* o, DType dtype, const char* what);
// The numbers of a nested sequence, to be converted to `wanted` without loss on the way.
Tensor from_sequence(PyObject* o, DType wanted, const char* what);
// Shares the memory of an object with the buffer protocol when it is row-major and aligned, else
// copies.
Tensor share_buffer(PyObject* o, const char* what);

// A Python number: exact or a NumPy scalar.
bool is_number(PyObject* o);
// A number as a 0-d tensor whose dtype follows `like`: numbers are weak, so they take the tensor's
// dtype unless their kind is higher (a float with an int tensor gives float32).
Tensor weak_scalar(PyObject* number, DType like);
// True for what an operator accepts beside a Tensor: numbers, arrays, sequences.
bool is_operand(PyObject* o);
// An operand that meets tensors of dtype `like`.
Tensor to_operand(PyObject* o, DType like, const char* what);

int64_t to_int(PyObject* o, const char* what);
double to_real(PyObject* o, const char* what);
std::string to_string(PyObject* o, const char* what);
// An int, or a sequence, array or 1-d tensor of ints.
std::vector<int64_t> to_ints(PyObject* o, const char* what);
Shape to_shape(PyObject* o, const char* what);

// An attribute value as the record's line asks; errors name `owner` (op or layer) and attribute.
ir::Attr to_attr(PyObject* o, const ir::AttrSpec& spec, const std::string& owner);
PyObject* from_attr(const ir::Attr& a);
PyObject* from_shape(const Shape& s);

// "float", "list of str", "numpy.ndarray": for messages.
std::string kind_of(PyObject* o);

}  // namespace mycel::bind
