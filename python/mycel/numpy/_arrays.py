"""What every function of the module begins with: arguments become tensors, dtypes meet, axes are
counted from the front."""

import builtins
import operator
import sys

from mycel import _mycel
from mycel._mycel import Tensor
from mycel.common import dtype as mstype

op = _mycel.op
NUMBERS = (bool, int, float, complex)
_DEFAULTS = {
    bool: mstype.bool_,
    int: mstype.int32,
    float: mstype.float32,
    complex: mstype.complex64,
}


def dtype_of(dtype):
    """A dtype from its spelling: mycel's, NumPy's, Python's types or a name. int is int32 and float
    is float32, as for lists."""
    return (
        _DEFAULTS[dtype] if isinstance(dtype, type) and dtype in _DEFAULTS else mstype.dtype(dtype)
    )


def is_array(x):
    """Whether x has a dtype of its own: a tensor or a NumPy array or scalar."""
    numpy = sys.modules.get("numpy")  # not imported for this
    return isinstance(x, Tensor) or (
        numpy is not None and isinstance(x, (numpy.ndarray, numpy.generic))
        and not isinstance(x, NUMBERS)
    )  # fmt: skip


def _leaves(items):
    for item in items:
        if isinstance(item, (list, tuple)):
            yield from _leaves(item)
        else:
            yield item


def _from_list(fn, items):
    leaves = list(_leaves(items))
    if any(isinstance(leaf, Tensor) for leaf in leaves):
        parts = promoted(fn, *items)
        shapes = {part.shape for part in parts}
        if len(shapes) > 1:
            raise ValueError(f"{fn}: the parts of a list must have one shape, got {sorted(shapes)}")
        return op("stack")(parts)
    kinds = {type(leaf) for leaf in leaves if isinstance(leaf, NUMBERS)}
    kind = next((k for k in (complex, float, int, bool) if k in kinds), None)
    if any(is_array(leaf) for leaf in leaves):
        import numpy

        return Tensor(numpy.asarray(items))
    if kind is None:
        if leaves:
            raise TypeError(
                f"{fn}: {type(leaves[0]).__name__} cannot be an element; numbers, tensors and "
                "nested lists of them are allowed"
            )
        kind = float
    return Tensor(items, _DEFAULTS[kind])


def array_of(x, fn):
    """Any argument that NumPy would take as an array, as a tensor. `fn` is named in errors."""
    if isinstance(x, Tensor):
        return x
    if isinstance(x, NUMBERS) and not is_array(x):
        return Tensor(x, _DEFAULTS[type(x)] if type(x) in _DEFAULTS else mstype.float32)
    if isinstance(x, (list, tuple)):
        return _from_list(fn, x)
    if is_array(x):
        return Tensor(x)
    if isinstance(x, range):
        return _from_list(fn, list(x))
    raise TypeError(
        f"{fn}: a tensor, a number, a list or a NumPy array is needed, got {type(x).__name__}"
    )


_BITS = {
    mstype.int8: 8, mstype.int16: 16, mstype.int32: 32, mstype.int64: 64,
    mstype.uint8: 8, mstype.uint16: 16, mstype.uint32: 32, mstype.uint64: 64,
    mstype.float16: 16, mstype.bfloat16: 16, mstype.float32: 32, mstype.float64: 64,
    mstype.complex64: 64, mstype.complex128: 128,
}  # fmt: skip
_SIGNED = {8: mstype.int8, 16: mstype.int16, 32: mstype.int32, 64: mstype.int64}


def kind_of(dtype):
    """0 bool, 1 integer, 2 float, 3 complex."""
    if dtype == mstype.bool_:
        return 0
    if dtype in mstype.int_type or dtype in mstype.uint_type:
        return 1
    return 2 if dtype in mstype.float_type else 3


def is_float(dtype):
    """Whether a dtype is a float or complex type."""
    return kind_of(dtype) >= 2


def meet(a, b):
    """The dtype of a result of operands of the dtypes a and b. NumPy's table, except that a float
    type stays as it is when it meets integers: the published rule."""
    if a == b:
        return a
    ka, kb = kind_of(a), kind_of(b)
    if ka > kb:
        a, b, ka, kb = b, a, kb, ka
    if kb == 3 and ka < 3:
        return mstype.complex128 if a == mstype.float64 else b
    if ka != kb:
        return b
    if ka == 1 and (a in mstype.uint_type) != (b in mstype.uint_type):
        unsigned, signed = (a, b) if a in mstype.uint_type else (b, a)
        if _BITS[signed] > _BITS[unsigned]:
            return signed
        return _SIGNED.get(2 * _BITS[unsigned], mstype.float64)
    if _BITS[a] == _BITS[b]:  # float16 and bfloat16
        return mstype.float32
    return a if _BITS[a] > _BITS[b] else b


def common_dtype(*xs):
    """The dtype where arguments meet: tensors and dtypes by `meet`; Python numbers only decide the
    kind."""
    found, weak = None, None
    for x in xs:
        if isinstance(x, NUMBERS) and not is_array(x):
            own = _DEFAULTS[type(x)] if type(x) in _DEFAULTS else mstype.float32
            weak = own if weak is None else meet(weak, own)
        else:
            own = x.dtype if isinstance(x, Tensor) else x
            found = own if found is None else meet(found, own)
    if found is None or (weak is not None and kind_of(weak) > kind_of(found)):
        return weak if found is None else meet(found, weak)
    return found


def promoted(fn, *xs, at_least=None):
    """The arguments as tensors of their common dtype; at_least: a dtype that joins them."""
    arrays = [x if isinstance(x, NUMBERS) and not is_array(x) else array_of(x, fn) for x in xs]
    dtype = common_dtype(*arrays) if at_least is None else meet(common_dtype(*arrays), at_least)
    return [Tensor(x, dtype) if not isinstance(x, Tensor) else cast(x, dtype) for x in arrays]


def cast(x, dtype):
    """x in a dtype; x itself when it has it, or when dtype is None."""
    if dtype is None:
        return x
    dtype = dtype_of(dtype)
    return x if x.dtype == dtype else op("cast")(x, dtype)


def inexact(x):
    """x as it is when float or complex, else as float32."""
    return x if is_float(x.dtype) else cast(x, mstype.float32)


def integer(value, fn, name):
    """A Python int from any kind of integer."""
    if isinstance(value, Tensor):
        value = value.item()
    if isinstance(value, bool):
        raise TypeError(f"{fn}: '{name}' must be an int, got {value!r}")
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(
            f"{fn}: '{name}' must be an int, got {type(value).__name__} {value!r}"
        ) from None


def one_axis(axis, ndim, fn, name="axis"):
    """An axis counted from the front."""
    axis = integer(axis, fn, name)
    if not -ndim <= axis < ndim:
        raise ValueError(
            f"{fn}: '{name}' {axis} is out of range for {ndim} dims; allowed: [{-ndim}, {ndim})"
        )
    return axis % ndim


def axes_of(axis, ndim, fn, name="axis"):
    """Axes counted from the front: an int, or a sequence of different ones; None is all."""
    if axis is None:
        return tuple(range(ndim))
    if not isinstance(axis, (tuple, list)):
        axis = (axis,)
    found = tuple(one_axis(a, ndim, fn, name) for a in axis)
    if len(set(found)) != len(found):
        raise ValueError(f"{fn}: '{name}' {tuple(axis)} names an axis twice")
    return found


def shape_of(shape, fn):
    """A shape from an int or a sequence of ints."""
    if isinstance(shape, Tensor):
        shape = shape.tolist()
    sizes = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    sizes = tuple(integer(n, fn, "shape") for n in sizes)
    if builtins.any(n < 0 for n in sizes):
        raise ValueError(f"{fn}: sizes must not be negative, got {sizes}")
    return sizes


def needs_dims(x, least, fn):
    """Refuses a tensor of too few dims."""
    if x.ndim < least:
        raise ValueError(f"{fn}: at least {least} dim{'s' * (least > 1)} needed, got {x.shape}")
    return x


def broadcast_shape(fn, *shapes):
    """The shape that shapes broadcast to."""
    out = []
    for d in range(builtins.max(map(len, shapes), default=0)):
        sizes = {s[-1 - d] for s in shapes if d < len(s)} - {1}
        if builtins.any(n < 0 for n in sizes):
            raise ValueError(f"{fn}: sizes must be known, got {' and '.join(map(str, shapes))}")
        if len(sizes) > 1:
            raise ValueError(f"{fn}: the shapes {' and '.join(map(str, shapes))} do not broadcast")
        out.append(sizes.pop() if sizes else 1)
    return tuple(reversed(out))


def along(x, axis, index):
    """x[index] of one axis; index a slice or an int."""
    return x[(slice(None),) * axis + (index,)]
