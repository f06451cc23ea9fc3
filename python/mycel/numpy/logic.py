"""Comparisons and tests: results are bool unless `dtype` converts them."""

from mycel._mycel import Tensor, entry
from mycel.common import dtype as mstype
from mycel.numpy._arrays import (
    NUMBERS,
    array_of,
    broadcast_shape,
    cast,
    is_array,
    is_float,
    kind_of,
    op,
    promoted,
)


def _named(call, name, doc):
    call.__name__ = call.__qualname__ = name
    call.__doc__ = doc
    return entry(call)


def _compare(name, record, what):
    def call(x1, x2, dtype=None):
        return cast(op(record)(*promoted(name, x1, x2)), dtype)

    return _named(
        call, name, f"Whether {what}, elementwise; x1 and x2 broadcast. `dtype` converts the bools."
    )


equal = _compare("equal", "equal", "x1 == x2")
not_equal = _compare("not_equal", "not_equal", "x1 != x2")
less = _compare("less", "less", "x1 < x2")
less_equal = _compare("less_equal", "less_equal", "x1 <= x2")
greater = _compare("greater", "greater", "x1 > x2")
greater_equal = _compare("greater_equal", "greater_equal", "x1 >= x2")


def _truth(x, fn):
    x = array_of(x, fn)
    return x if x.dtype == mstype.bool_ else x != 0


def _logical(name, record, what):
    def call(x1, x2, dtype=None):
        return cast(op(record)(_truth(x1, name), _truth(x2, name)), dtype)

    return _named(
        call, name, f"Whether {what} (not 0), elementwise; x1 and x2 broadcast. `dtype` converts."
    )


logical_and = _logical("logical_and", "logical_and", "both are true")
logical_or = _logical("logical_or", "logical_or", "either is true")
logical_xor = _logical("logical_xor", "logical_xor", "one of both is true")


@entry
def logical_not(a, dtype=None):
    """Whether a is false (0), elementwise; `dtype` converts the bools."""
    return cast(op("logical_not")(_truth(a, "logical_not")), dtype)


def _test(name, record, of_whole, what):
    def call(x, dtype=None):
        x = array_of(x, name)
        if not is_float(x.dtype):
            fixed = op("ones_like" if of_whole else "zeros_like")(x)
            return cast(cast(fixed, mstype.bool_), dtype)
        return cast(op(record)(x), dtype)

    return _named(call, name, f"Whether x is {what}, elementwise; `dtype` converts the bools.")


isfinite = _test("isfinite", "isfinite", True, "neither infinite nor NaN")
isinf = _test("isinf", "isinf", False, "infinite")
isnan = _test("isnan", "isnan", False, "NaN")


@entry
def isposinf(x):
    """Whether x is plus infinity, elementwise."""
    return isinf(x) & (array_of(x, "isposinf") > 0)


@entry
def isneginf(x):
    """Whether x is minus infinity, elementwise."""
    return isinf(x) & (array_of(x, "isneginf") < 0)


@entry
def isscalar(element):
    """Whether element is a number or a text of Python or NumPy; tensors are none."""
    return isinstance(element, (*NUMBERS, str)) or (
        is_array(element) and not isinstance(element, Tensor) and not hasattr(element, "__len__")
    )


@entry
def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether |a - b| <= atol + rtol |b|, elementwise; equal infinities are close, NaNs only with
    equal_nan. a and b broadcast."""
    a, b = promoted("isclose", a, b)
    if not is_float(a.dtype):
        a, b = cast(a, mstype.float64), cast(b, mstype.float64)
    if kind_of(a.dtype) < 3:
        return op("isclose")(a, b, rtol, atol, equal_nan)
    size = op("abs")
    same = (a == b) | ((size(a - b) <= atol + rtol * size(b)) & op("isfinite")(b))
    return same | (op("isnan")(a) & op("isnan")(b)) if equal_nan else same


def _same(a, b, equal_nan):
    same = a == b
    if equal_nan and is_float(a.dtype):
        same = same | (op("isnan")(a) & op("isnan")(b))
    return op("reduce_all")(same)


@entry
def array_equal(a1, a2, equal_nan=False):
    """Whether two arrays have one shape and equal elements, a bool without dims; equal_nan: NaNs
    are equal."""
    if not isinstance(equal_nan, bool):
        raise TypeError(f"array_equal: 'equal_nan' must be True or False, got {equal_nan!r}")
    a, b = promoted("array_equal", array_of(a1, "array_equal"), array_of(a2, "array_equal"))
    return _same(a, b, equal_nan) if a.shape == b.shape else Tensor(False)


@entry
def array_equiv(a1, a2):
    """Whether two arrays broadcast to one shape and are equal there, a bool without dims."""
    a, b = promoted("array_equiv", array_of(a1, "array_equiv"), array_of(a2, "array_equiv"))
    try:
        broadcast_shape("array_equiv", a.shape, b.shape)
    except ValueError:
        return Tensor(False)
    return _same(a, b, False)


def _is_in(fn, element, test_elements, invert):
    if not isinstance(invert, bool):
        raise TypeError(f"{fn}: 'invert' must be True or False, got {invert!r}")
    x, among = promoted(fn, array_of(element, fn), array_of(test_elements, fn))
    among = op("ravel")(among)
    if x.dtype == mstype.bool_ or among.shape[0] <= 16:
        found = op("reduce_any")(op("expand_dims")(x, -1) == among, -1)
    else:
        line = op("sort")(among)[0]
        place = op("searchsorted")(line, x)
        found = op("gather")(line, place, 0, bounds="clip") == x
    return op("logical_not")(found) if invert else found


@entry
def isin(element, test_elements, invert=False):
    """Whether each element is one of test_elements; the shape of element. invert: whether it is
    none."""
    return _is_in("isin", element, test_elements, invert)


@entry
def in1d(ar1, ar2, invert=False):
    """Whether each element of the flattened ar1 is one of ar2. invert: whether it is none."""
    return _is_in("in1d", op("ravel")(array_of(ar1, "in1d")), ar2, invert)


__all__ = [
    name for name, value in globals().items()
    if isinstance(value, entry) and not name.startswith("_")
]  # fmt: skip
