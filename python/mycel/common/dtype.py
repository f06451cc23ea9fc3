"""Element types and the conversions between the spellings of NumPy, Python and this package."""

from mycel._mycel import (
    DType,
    bfloat16,
    bool_,
    complex64,
    complex128,
    dtype,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)


class Type:
    """A kind of value that is no element type: `number` stands for every number type, and so on."""

    def __init__(self, name: str, title: str, members: tuple = ()):
        self._name, self._title, self._members = name, title, members

    def __repr__(self):
        return f"mycel.{self._name}"

    def __str__(self):
        return self._title

    def __contains__(self, item):
        return item in self._members

    def __reduce__(self):
        return self._name


class TensorType(Type):
    """The kind of tensors of one element type: `tensor_type(float32)`."""

    def __init__(self, element=None):
        title = "Tensor" if element is None else f"Tensor[{element}]"
        super().__init__("tensor_type", title)
        self.element_type = element

    def __call__(self, element=None):
        return TensorType(element)

    def __eq__(self, other):
        return isinstance(other, TensorType) and other.element_type == self.element_type

    def __hash__(self):
        return hash((TensorType, self.element_type))


byte, short, intc, intp = int8, int16, int32, int64
ubyte, ushort, uintc, uintp = uint8, uint16, uint32, uint64
half, single, double = float16, float32, float64

int_type = (int8, int16, int32, int64)
uint_type = (uint8, uint16, uint32, uint64)
float_type = (float16, bfloat16, float32, float64)
complex_type = (complex64, complex128)
number_type = int_type + uint_type + float_type + complex_type
all_types = (bool_,) + number_type

int_ = Type("int_", "Int", int_type)
uint = Type("uint", "UInt", uint_type)
float_ = Type("float_", "Float", float_type)
number = Type("number", "Number", number_type)
string = Type("string", "String")
list_ = Type("list_", "List")
tuple_ = Type("tuple_", "Tuple")
type_none = Type("type_none", "None")
tensor = tensor_type = TensorType()

_PYTHON = {bool_: bool, **dict.fromkeys(int_type + uint_type, int)}
_PYTHON.update(dict.fromkeys(float_type, float))
_PYTHON.update(dict.fromkeys(complex_type, complex))


def dtype_to_nptype(type_):
    """The NumPy scalar type of an element type; bfloat16 needs the ml_dtypes package."""
    import numpy

    type_ = dtype(type_)
    if type_ == bfloat16:
        import ml_dtypes

        return ml_dtypes.bfloat16
    return numpy.dtype(type_.name).type


def dtype_to_pytype(type_):
    """The Python type that holds one element: bool, int, float or complex."""
    return _PYTHON[dtype(type_)]


def pytype_to_dtype(obj):
    """The element type that stands for a Python or NumPy type; float gives float64, as
    published."""
    if obj is float:
        return float64
    if isinstance(obj, DType):
        return obj
    if obj is str:
        return string
    if obj is list:
        return list_
    if obj is tuple:
        return tuple_
    if obj is type(None):
        return type_none
    if isinstance(obj, type):
        return dtype(obj)
    raise NotImplementedError(f"pytype_to_dtype: {obj!r} is no type that has a dtype")


def get_py_obj_dtype(obj):
    """The type of a Python value: bool, int, float, str, list, tuple, None or a tensor."""
    if hasattr(obj, "dtype") and isinstance(obj.dtype, DType):
        return TensorType(obj.dtype)
    return pytype_to_dtype(type(obj))


def dtype_to_str(type_) -> str:
    """The name of an element type: "float32"."""
    return dtype(type_).name


def issubclass_(type_, kind) -> bool:
    """Whether an element type is `kind` or belongs to it: issubclass_(int8, number)."""
    return type_ == kind or (isinstance(kind, Type) and type_ in kind)


__all__ = [name for name in dir() if not name.startswith("_") and name != "dtype"]
