"""Functions of Python values that published networks call through `ops`: in compiled code they are
evaluated while tracing, so a plain Python operation is all they are."""

import math
import operator

from mycel._mycel import Tensor, entry
from mycel.common import dtype as mstype


def _table():
    """Published name -> (function, one line of documentation)."""
    return {
        "bool_eq": (operator.eq, "Whether two bools are equal."),
        "dict_getitem": (operator.getitem, "The value of a key."),
        "in_dict": (lambda key, d: key in d, "Whether a dict has the key."),
        "is_": (operator.is_, "Whether two names stand for one object."),
        "is_not": (operator.is_not, "Whether two names stand for different objects."),
        "list_equal": (operator.eq, "Whether two lists are equal."),
        "list_getitem": (operator.getitem, "The item at a position."),
        "list_len": (len, "The number of items."),
        "make_list": (lambda *items: list(items), "The arguments as a list."),
        "make_slice": (slice, "slice(start, stop, step)."),
        "make_tuple": (lambda *items: items, "The arguments as a tuple."),
        "not_in_dict": (lambda key, d: key not in d, "Whether a dict lacks the key."),
        "scalar_add": (operator.add, "x + y of two numbers."),
        "scalar_div": (operator.truediv, "x / y of two numbers."),
        "scalar_eq": (operator.eq, "x == y of two numbers."),
        "scalar_floordiv": (operator.floordiv, "x // y of two numbers."),
        "scalar_ge": (operator.ge, "x >= y of two numbers."),
        "scalar_gt": (operator.gt, "x > y of two numbers."),
        "scalar_le": (operator.le, "x <= y of two numbers."),
        "scalar_log": (math.log, "Natural logarithm of a number."),
        "scalar_lt": (operator.lt, "x < y of two numbers."),
        "scalar_mod": (operator.mod, "x % y of two numbers."),
        "scalar_mul": (operator.mul, "x * y of two numbers."),
        "scalar_ne": (operator.ne, "x != y of two numbers."),
        "scalar_pow": (operator.pow, "x ** y of two numbers."),
        "scalar_sub": (operator.sub, "x - y of two numbers."),
        "scalar_uadd": (operator.pos, "+x of a number."),
        "scalar_usub": (operator.neg, "-x of a number."),
        "shape_mul": (math.prod, "The product of the sizes in a shape."),
        "string_concat": (operator.add, "Two texts joined."),
        "string_eq": (operator.eq, "Whether two texts are equal."),
        "tail": (lambda items: items[1:], "All items but the first."),
        "tuple_div": (
            lambda x, y: tuple(a // b for a, b in zip(x, y)),
            "Quotients of the items of two tuples, rounded down.",
        ),
        "tuple_equal": (operator.eq, "Whether two tuples are equal."),
        "tuple_getitem": (operator.getitem, "The item at a position."),
        "tuple_len": (len, "The number of items."),
        "tuple_reversed": (lambda items: items[::-1], "The items in reverse order."),
    }


def _public(name, fn, doc):
    def call(*args):
        return fn(*args)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = doc
    return entry(call)


for _name, (_fn, _doc) in _table().items():
    globals()[_name] = _public(_name, _fn, _doc)


@entry
def tuple_setitem(items, index, value):
    """The tuple with one item replaced."""
    return (*items[:index], value, *items[index + 1 :]) if index != -1 else (*items[:-1], value)


@entry
def list_setitem(items, index, value):
    """The list with one item replaced, as a new list."""
    items = list(items)
    items[index] = value
    return items


@entry
def dict_setitem(d, key, value):
    """The dict with one value replaced, as a new dict."""
    return {**d, key: value}


@entry
def make_dict(keys, values):
    """A dict of two sequences."""
    return dict(zip(keys, values))


@entry
def reduced_shape(x_shape, axis):
    """A shape after a reduction over axis, an int or several, all when empty, that keeps dims."""
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    gone = {a % len(x_shape) for a in axes} or set(range(len(x_shape)))
    return tuple(1 if d in gone else n for d, n in enumerate(x_shape))


@entry
def hyper_add(x, y):
    """Two tensors, or nested tuples and lists of them, added item by item."""
    if isinstance(x, (tuple, list)):
        if not isinstance(y, (tuple, list)) or len(x) != len(y):
            raise ValueError("hyper_add: both operands must have one structure")
        return type(x)(hyper_add(a, b) for a, b in zip(x, y))
    return x + y


@entry
def zip_operation(*sequences):
    """The items of several sequences, paired, as a tuple of tuples."""
    return tuple(zip(*sequences))


@entry
def typeof(value):
    """The type of a Python value or tensor, as get_py_obj_dtype says it."""
    return mstype.get_py_obj_dtype(value)


@entry
def hastype(value, type_):
    """Whether a value, or a type, is of the given type."""
    own = (
        value if isinstance(value, (mstype.DType, mstype.Type)) else mstype.get_py_obj_dtype(value)
    )
    return mstype.issubclass_(own, type_)


@entry
def isconstant(value):
    """Whether a value is known while compiling: everything but tensors is."""
    return not isinstance(value, Tensor)


@entry
def numel(input):  # noqa: A002
    """The number of elements."""
    return input.size


@entry
def is_complex(input):  # noqa: A002
    """Whether the elements are complex numbers."""
    return input.is_complex()


@entry
def is_floating_point(input):  # noqa: A002
    """Whether the elements are floats."""
    return input.is_floating_point()


__all__ = [
    *_table(),
    *(
        "dict_setitem",
        "hastype",
        "hyper_add",
        "reduced_shape",
        "is_complex",
        "is_floating_point",
        "isconstant",
        "list_setitem",
    ),
    *("make_dict", "numel", "tuple_setitem", "typeof", "zip_operation"),
]
