"""Kinds of values while compiling: known ones, symbolic tensors, variables without a value; and how
two values of one variable, from two paths through the program, become one."""

import sys

from mycel import _mycel
from mycel._mycel import Tensor
from mycel.common import dtype as mstype

known = _mycel.known  # False for a tensor whose value is not known while compiling


class Unmergeable(TypeError):
    """Two values of one variable cannot be one value of a compiled program."""


class _Undefined:
    def __repr__(self):
        return "nothing"


UNDEFINED = _Undefined()  # a variable that has not been assigned


class Unusable:
    """Stands in a variable that has no usable value on some path; reading it is an error."""

    def __init__(self, reason):
        self.reason = reason


class LazyText(str):
    """Text with symbolic tensors in it: parts are strings and (tensor, conversion, format)."""

    parts = ()

    def __new__(cls, parts):
        text = super().__new__(cls, "".join(p if isinstance(p, str) else repr(p[0]) for p in parts))
        text.parts = tuple(parts)
        return text


def symbolic(value):
    """Whether a value is a tensor that is only known when the program runs."""
    return isinstance(value, Tensor) and not known(value)


def contains_symbolic(value):
    """The same for what stands in tuples, lists and dicts."""
    if isinstance(value, Tensor):
        return not known(value)
    if isinstance(value, (tuple, list)):
        return any(contains_symbolic(v) for v in value)
    if isinstance(value, dict):
        return any(contains_symbolic(v) for v in value.values())
    return isinstance(value, LazyText)


def kind(value):
    """A value's kind for messages: "float32[2,3]", "the number 3", "a list of 2"."""
    if value is UNDEFINED:
        return "not assigned"
    if isinstance(value, Unusable):
        return "unusable"
    if isinstance(value, Tensor):
        dims = ",".join("?" if d < 0 else str(d) for d in value.shape)
        return f"{_dtype_name(value.dtype)}[{dims}]"
    if is_number(value):
        return f"the {type(value).__name__} {value!r}"
    if value is None:
        return "None"
    if isinstance(value, str):
        return f"the text {str(value)!r}"
    if isinstance(value, (tuple, list, dict)):
        return f"a {type(value).__name__} of {len(value)}"
    return f"a {type(value).__name__}"


def _dtype_name(dtype):
    return str(dtype).lower()


def _from_numpy(value):
    numpy = sys.modules.get("numpy")  # not imported for this
    return numpy is not None and isinstance(value, numpy.generic)


def is_number(value):
    """Whether a value is a known number, Python's or NumPy's."""
    return isinstance(value, (bool, int, float)) or (
        _from_numpy(value) and value.dtype.kind in "biuf"
    )


def rank(value):
    """How general a number's or dtype's kind is: bool, int, float, complex."""
    if isinstance(value, Tensor):
        dtype = value.dtype
        if dtype == mstype.bool_:
            return 0
        if dtype in mstype.int_type or dtype in mstype.uint_type:
            return 1
        return 2 if dtype in mstype.float_type else 3
    kind_ = value.dtype.kind if _from_numpy(value) else type(value).__name__[0]
    return {"b": 0, "i": 1, "u": 1, "f": 2}.get(kind_, 3)


_DTYPES = (mstype.bool_, mstype.int64, mstype.float32, mstype.complex64)


def as_tensor(value, dtype=None):
    """A number as a tensor: bool, int64 or float32 unless a dtype is given."""
    if isinstance(value, Tensor):
        return value
    if dtype is None and not _from_numpy(value):
        dtype = _DTYPES[rank(value)]
    return Tensor(value) if dtype is None else Tensor(value, dtype)


def _same_shape(a, b):
    return len(a) == len(b) and all(m == n or m < 0 or n < 0 for m, n in zip(a, b))


def tensors_of(a, b):
    """Two values as tensors of one type, or Unmergeable. A number takes the tensor's dtype."""
    if not isinstance(a, Tensor) and not isinstance(b, Tensor):
        dtype = _DTYPES[max(rank(a), rank(b))]
        return as_tensor(a, dtype), as_tensor(b, dtype)
    if not isinstance(a, Tensor):
        b, a = tensors_of(b, a)
        return a, b
    if not isinstance(b, Tensor):
        if rank(b) > rank(a) or a.shape != ():
            raise Unmergeable(f"{kind(a)} and {kind(b)}")
        return a, as_tensor(b, a.dtype)
    if a.dtype != b.dtype or not _same_shape(a.shape, b.shape):
        raise Unmergeable(f"{kind(a)} and {kind(b)}")
    return a, b


_PLAIN = (str, bytes, type(None), type, slice, range, type(Ellipsis))


def same(a, b):
    """Whether two values are one and the same, known while compiling."""
    if a is b:
        return True
    if is_number(a) and is_number(b):
        return type(a) is type(b) and (a == b or (a != a and b != b))
    if isinstance(a, Tensor) or isinstance(b, Tensor):
        return False
    if type(a) is not type(b):
        return False
    if isinstance(a, LazyText):
        return False
    if isinstance(a, _PLAIN) or isinstance(a, mstype.DType):
        return a == b
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (set, frozenset)):
        return a == b
    return bool(getattr(a, "_equal_function", None)) and a._equal_function(b)


def join(a, b, into_a, into_b):
    """A key for `rebuild` of the value that is `a` on one path and `b` on the other; the tensors
    that each path must give are appended to into_a and into_b."""
    if same(a, b):
        return ("same", a)
    if (is_number(a) or isinstance(a, Tensor)) and (is_number(b) or isinstance(b, Tensor)):
        x, y = tensors_of(a, b)
        into_a.append(x)
        into_b.append(y)
        return ("tensor", len(into_a) - 1)
    if type(a) is not type(b):
        raise Unmergeable(f"{kind(a)} and {kind(b)}")
    if isinstance(a, (tuple, list)):
        if len(a) != len(b):
            raise Unmergeable(f"{kind(a)} and {kind(b)}")
        return ("items", type(a), [join(x, y, into_a, into_b) for x, y in zip(a, b)])
    if isinstance(a, dict):
        if list(a) != list(b):
            raise Unmergeable(f"a dict with keys {list(a)} and one with keys {list(b)}")
        return ("dict", {k: join(a[k], b[k], into_a, into_b) for k in a})
    if _is_record(a):
        fields = join(vars(a), vars(b), into_a, into_b)
        return ("record", type(a), fields)
    raise Unmergeable(f"{kind(a)} and {kind(b)}")


def _is_record(value):
    from mycel.nn.cell import Cell

    return (
        hasattr(value, "__dict__")
        and not isinstance(value, (Cell, type))
        and not callable(value)
        and type(value).__module__ not in ("builtins", "numpy")
    )


def rebuild(key, tensors):
    """The joined value, with the tensors that come out of the control-flow op."""
    if key[0] == "same":
        return key[1]
    if key[0] == "tensor":
        return tensors[key[1]]
    if key[0] == "dict":
        return {k: rebuild(v, tensors) for k, v in key[1].items()}
    if key[0] == "record":
        made = object.__new__(key[1])
        made.__dict__.update(rebuild(key[2], tensors))
        return made
    items = [rebuild(k, tensors) for k in key[2]]
    if key[1] is list:
        return items
    return key[1](*items) if hasattr(key[1], "_fields") else key[1](items)


def zeros_for(value):
    """A value of the same structure and types whose tensors are zeros: for a path that has none."""
    if isinstance(value, Tensor):
        return _mycel.op("zeros")(tuple(value.shape), value.dtype)
    if isinstance(value, (tuple, list)):
        items = [zeros_for(v) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        return {k: zeros_for(v) for k, v in value.items()}
    return value


def lift(first, now, after):
    """What a loop must carry for a variable: `first` its value before the loop, `now` what is
    carried so far (first itself when nothing yet), `after` its value after an iteration. Gives
    `now` when that is enough."""
    if same(now, after):
        return now
    if is_number(first) and (is_number(after) or isinstance(after, Tensor)):
        return _lift_number(first, now, after)
    if isinstance(first, Tensor):
        if not (isinstance(after, Tensor) or is_number(after)):
            raise Unmergeable(f"{kind(first)} and {kind(after)}")
        tensors_of(first, after)
        return first
    if type(first) is not type(after):
        raise Unmergeable(f"{kind(first)} and {kind(after)}")
    if isinstance(first, (tuple, list)) and len(first) == len(after):
        items = [lift(f, n, a) for f, n, a in zip(first, now, after)]
        if all(i is n for i, n in zip(items, now)):
            return now
        return type(first)(*items) if hasattr(first, "_fields") else type(first)(items)
    if isinstance(first, dict) and list(first) == list(after):
        items = {k: lift(first[k], now[k], after[k]) for k in first}
        return now if all(items[k] is now[k] for k in first) else items
    raise Unmergeable(f"{kind(first)} and {kind(after)}")


def _lift_number(first, now, after):
    if isinstance(after, Tensor):
        if isinstance(now, Tensor) and now.dtype == after.dtype and now.shape == after.shape:
            return now
        if rank(after) < rank(first):
            raise Unmergeable(f"{kind(first)} and {kind(after)}")
        if after.shape == ():
            return as_tensor(first, after.dtype)
        return _mycel.op("full")(tuple(after.shape), first, after.dtype)
    most = max(rank(first), rank(after), rank(now) if isinstance(now, Tensor) else 0)
    if isinstance(now, Tensor) and rank(now) == most:
        return now
    return as_tensor(first, _DTYPES[most])


def leaves(value, out):
    """Appends the tensors of a carried value; gives a key for `rebuild`."""
    if isinstance(value, Tensor):
        out.append(value)
        return ("tensor", len(out) - 1)
    if isinstance(value, (tuple, list)):
        return ("items", type(value), [leaves(v, out) for v in value])
    if isinstance(value, dict):
        return ("dict", {k: leaves(v, out) for k, v in value.items()})
    return ("same", value)


def fitted(carried, after, out):
    """Appends the tensors of `after` in the order and types of the carried value's."""
    if isinstance(carried, Tensor):
        out.append(tensors_of(carried, after)[1])
    elif isinstance(carried, (tuple, list)):
        for c, a in zip(carried, after):
            fitted(c, a, out)
    elif isinstance(carried, dict):
        for k in carried:
            fitted(carried[k], after[k], out)
