"""Sums, extremes, counts and running sums over axes. axis: an int, several, or None for all."""

from mycel._mycel import Tensor, entry
from mycel.common import dtype as mstype
from mycel.numpy._arrays import (
    array_of,
    axes_of,
    broadcast_shape,
    cast,
    inexact,
    integer,
    is_float,
    kind_of,
    needs_dims,
    one_axis,
    op,
    promoted,
)


def _flag(value, fn, name="keepdims"):
    if not isinstance(value, bool):
        raise TypeError(f"{fn}: '{name}' must be True or False, got {value!r}")
    return value


def _over(record, x, axis, keepdims, fn):
    """A reduction over axes; one over none of them gives x itself."""
    axes = axes_of(axis, x.ndim, fn)
    _flag(keepdims, fn)
    return op(record)(x, axes, keepdims) if axes else x


def _counted(x):
    """bools as int32, for sums."""
    return cast(x, mstype.int32) if x.dtype == mstype.bool_ else x


@entry
def sum(a, axis=None, dtype=None, keepdims=False, initial=None):  # noqa: A001
    """The sum over axis, computed in `dtype`, plus `initial`. bools count as int32; an empty sum
    is 0."""
    y = _over("reduce_sum", _counted(cast(array_of(a, "sum"), dtype)), axis, keepdims, "sum")
    return y if initial is None else cast(y + initial, y.dtype)


@entry
def mean(a, axis=None, keepdims=False, dtype=None):
    """The mean over axis, computed in `dtype`; of integers in float32. NaN of no elements."""
    x = cast(array_of(a, "mean"), dtype)
    y = _over("reduce_mean", inexact(x), axis, keepdims, "mean")
    return cast(y, dtype)


def _variance(x, axis, ddof, keepdims, fn):
    axes = axes_of(axis, x.ndim, fn)
    ddof = integer(ddof, fn, "ddof")
    _flag(keepdims, fn)
    x = inexact(x)
    if axes:
        return op(fn)(x, axes, ddof, keepdims)
    return _distance(x - x) / float(1 - ddof if ddof < 1 else 0)


def _distance(d):
    if kind_of(d.dtype) == 3:
        return op("square")(op("real")(d)) + op("square")(op("imag")(d))
    return op("square")(d)


@entry
def var(x, axis=None, ddof=0, keepdims=False):
    """The variance over axis: the mean of |x - mean|^2 with divisor n - ddof. ddof is an
    int. Of integers in float32; infinite or NaN when n does not exceed ddof."""
    return _variance(array_of(x, "var"), axis, ddof, keepdims, "var")


@entry
def std(x, axis=None, ddof=0, keepdims=False):
    """The standard deviation over axis: the square root of var."""
    return _variance(array_of(x, "std"), axis, ddof, keepdims, "std")


def _extreme(name, record, pair, word):
    def call(a, axis=None, keepdims=False, initial=None, where=True):
        x = array_of(a, name)
        if kind_of(x.dtype) == 3:
            raise TypeError(f"{name}: complex numbers have no order, got {x.dtype}")
        whole = isinstance(where, bool) and where
        if not whole:
            if initial is None:
                raise ValueError(
                    f"{name}: 'where' needs 'initial', the value where no element is left"
                )
            mask = cast(array_of(where, name), mstype.bool_)
            x, start = promoted(name, x, initial)
            full = broadcast_shape(name, x.shape, mask.shape)
            mask, x = op("broadcast_to")(mask, full), op("broadcast_to")(x, full)
            x = op("select")(mask, x, start)
        flag = x.dtype == mstype.bool_
        axes = axes_of(axis, x.ndim, name)
        if initial is not None and any_empty(x.shape, axes):
            shape = [1 if d in axes else n for d, n in enumerate(x.shape)]
            shape = shape if keepdims else [n for d, n in enumerate(x.shape) if d not in axes]
            return cast(op("full")(tuple(shape), initial, x.dtype), x.dtype)
        y = _over(record, cast(x, mstype.int32) if flag else x, axis, keepdims, name)
        if initial is not None:
            y = op(pair)(*promoted(name, y, initial))
        return cast(y, mstype.bool_) if flag and initial is None else y

    call.__name__ = call.__qualname__ = name
    call.__doc__ = (
        f"The {word} element over axis; NaN wins. `initial` takes part; `where`, a mask that "
        "broadcasts with a, picks the elements that do and needs `initial`. ValueError for no "
        "elements without `initial`."
    )
    return entry(call)


def any_empty(shape, axes):
    """Whether one of the axes has no elements."""
    return 0 in [shape[d] for d in axes]


max = _extreme("max", "reduce_max", "maximum", "largest")  # noqa: A001
amax = _extreme("amax", "reduce_max", "maximum", "largest")
min = _extreme("min", "reduce_min", "minimum", "smallest")  # noqa: A001
amin = _extreme("amin", "reduce_min", "minimum", "smallest")


@entry
def ptp(x, axis=None, keepdims=False):
    """The largest less the smallest element over axis."""
    x = array_of(x, "ptp")
    if x.dtype == mstype.bool_:
        raise TypeError("ptp: bools cannot be subtracted")
    return max(x, axis, keepdims) - min(x, axis, keepdims)


def _position(name, record, word):
    def call(a, axis=None):
        x = array_of(a, name)
        x = cast(x, mstype.int32) if x.dtype == mstype.bool_ else x
        if axis is None:
            x, axis = op("ravel")(x), 0
        axis = one_axis(axis, x.ndim, name)
        if x.shape[axis] == 0:
            raise ValueError(f"{name}: axis {axis} of {x.shape} has no elements")
        return op(record)(x, axis, mstype.int64)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = (
        f"Where the {word} element stands along axis (in the flattened array without one), int64; "
        "the first of equal ones, a NaN before all."
    )
    return entry(call)


argmax = _position("argmax", "argmax_axis", "largest")
argmin = _position("argmin", "argmin_axis", "smallest")


@entry
def count_nonzero(x, axis=None, keepdims=False):
    """How many elements over axis are not 0, int32."""
    x = array_of(x, "count_nonzero")
    present = cast(x if x.dtype == mstype.bool_ else x != 0, mstype.int32)
    return _over("reduce_sum", present, axis, keepdims, "count_nonzero")


@entry
def sometrue(a, axis=None, keepdims=False):
    """Whether any element over axis is not 0."""
    a = array_of(a, "sometrue")
    present = a if a.dtype == mstype.bool_ else a != 0
    return _over("reduce_any", present, axis, keepdims, "sometrue")


# -- running sums


def _scan(fn, record, a, axis, dtype):
    x = cast(array_of(a, fn), dtype)
    if x.dtype in (mstype.bool_, mstype.int8, mstype.int16) and dtype is None:
        x = cast(x, mstype.int32)
    if x.dtype == mstype.bool_:
        raise TypeError(f"{fn}: sums and products of bools are numbers; give another dtype")
    if axis is None:
        x, axis = op("ravel")(x), 0
    return op(record)(x, one_axis(axis, needs_dims(x, 1, fn).ndim, fn))


@entry
def cumsum(a, axis=None, dtype=None):
    """The sums of the elements up to each place along axis (of the flattened array without one),
    computed in `dtype`; bools and integers below int32 in int32."""
    return _scan("cumsum", "cumsum", a, axis, dtype)


@entry
def cumprod(a, axis=None, dtype=None):
    """The products of the elements up to each place, as cumsum."""
    return _scan("cumprod", "cumprod", a, axis, dtype)


@entry
def nancumsum(a, axis=None, dtype=None):
    """As cumsum, NaN counted as 0."""
    return _scan("nancumsum", "cumsum", _without_nan(array_of(a, "nancumsum"), 0), axis, dtype)


# -- without NaN


def _without_nan(x, value):
    if not is_float(x.dtype):
        return x
    return op("select")(op("isnan")(x), Tensor(value, x.dtype), x)


@entry
def nansum(a, axis=None, dtype=None, keepdims=False):
    """The sum over axis, NaN counted as 0, computed in `dtype`."""
    x = _counted(cast(_without_nan(array_of(a, "nansum"), 0), dtype))
    return _over("reduce_sum", x, axis, keepdims, "nansum")


def _numbers(x, axis, keepdims, fn):
    """How many elements over axis are not NaN, in the dtype of x."""
    there = op("logical_not")(op("isnan")(x))
    dtype = mstype.float64 if x.dtype == mstype.float64 else mstype.float32
    return _over("reduce_sum", cast(there, dtype), axis, keepdims, fn)


@entry
def nanmean(a, axis=None, dtype=None, keepdims=False):
    """The mean over axis of the elements that are not NaN; NaN where there are none."""
    x = inexact(cast(array_of(a, "nanmean"), dtype))
    total = _over("reduce_sum", _without_nan(x, 0), axis, keepdims, "nanmean")
    y = total / _numbers(x, axis, keepdims, "nanmean")
    return cast(y, x.dtype if dtype is None else dtype)


def _nan_variance(fn, a, axis, dtype, ddof, keepdims, root):
    x = inexact(cast(array_of(a, fn), dtype))
    axes = axes_of(axis, x.ndim, fn)
    count = _numbers(x, axes, True, fn)
    mean_ = cast(_over("reduce_sum", _without_nan(x, 0), axes, True, fn) / count, x.dtype)
    there = op("logical_not")(op("isnan")(x))
    # No NaN may reach the square, or the gradient of what is left out would be NaN.
    centred = op("select")(there, _without_nan(x, 0) - mean_, Tensor(0, x.dtype))
    total = _over("reduce_sum", _distance(centred), axes, keepdims, fn)
    left = _numbers(x, axis, keepdims, fn) - ddof
    left = op("select")(left > 0, left, Tensor(float("nan"), left.dtype))
    y = total / left
    y = op("sqrt")(y) if root else y
    natural = total.dtype
    return cast(y, natural if dtype is None else dtype)


@entry
def nanvar(a, axis=None, dtype=None, ddof=0, keepdims=False):
    """The variance over axis of the elements that are not NaN, with divisor n - ddof; NaN where
    there are no more than ddof."""
    return _nan_variance("nanvar", a, axis, dtype, ddof, keepdims, False)


@entry
def nanstd(a, axis=None, dtype=None, ddof=0, keepdims=False):
    """The square root of nanvar."""
    return _nan_variance("nanstd", a, axis, dtype, ddof, keepdims, True)


def _nan_extreme(name, record, bound, word):
    def call(a, axis=None, dtype=None, keepdims=False):
        x = cast(array_of(a, name), dtype)
        if not is_float(x.dtype):
            return (max if record == "reduce_max" else min)(x, axis, keepdims)
        y = _over(record, _without_nan(x, bound), axis, keepdims, name)
        some = _numbers(x, axis, keepdims, name) > 0
        return op("select")(some, y, Tensor(float("nan"), x.dtype))

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"The {word} element over axis that is not NaN; NaN where there is none."
    return entry(call)


nanmax = _nan_extreme("nanmax", "reduce_max", float("-inf"), "largest")
nanmin = _nan_extreme("nanmin", "reduce_min", float("inf"), "smallest")


__all__ = [
    name for name, value in globals().items()
    if isinstance(value, entry) and not name.startswith("_")
]  # fmt: skip
