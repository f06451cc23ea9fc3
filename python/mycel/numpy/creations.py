"""Arrays that are made: from values, filled, of numbers at equal distances, grids, triangles."""

import builtins
import math

from mycel._mycel import Tensor, entry
from mycel.common import dtype as mstype
from mycel.numpy._arrays import (
    array_of,
    axes_of,
    cast,
    common_dtype,
    dtype_of,
    integer,
    is_array,
    is_float,
    needs_dims,
    one_axis,
    op,
    promoted,
    shape_of,
)


@entry
def array(obj, dtype=None, copy=True, ndmin=0):
    """A tensor of a number, a nested list, a NumPy array or a tensor. Lists give int32, float32,
    bool or complex64 unless `dtype` is given.

    copy: False may give `obj` itself. ndmin: leading dims of size 1 are added up to so many.
    TypeError for other kinds of values."""
    if not isinstance(copy, bool):
        raise TypeError(f"array: 'copy' must be True or False, got {copy!r}")
    x = cast(array_of(obj, "array"), dtype)
    ndmin = integer(ndmin, "array", "ndmin")
    if ndmin < 0:
        raise ValueError(f"array: 'ndmin' must not be negative, got {ndmin}")
    if x.ndim < ndmin:
        x = op("reshape")(x, (1,) * (ndmin - x.ndim) + x.shape)
    return x.copy() if copy and x is obj else x


@entry
def copy(a):
    """A tensor of the values of a, as another object."""
    return array(a)


@entry
def asarray(a, dtype=None):
    """As array(a, dtype), without a copy where a is a tensor of that dtype."""
    return cast(array_of(a, "asarray"), dtype)


@entry
def asfarray(a, dtype=mstype.float32):
    """As asarray, in a float dtype; another dtype gives float32."""
    dtype = mstype.float32 if dtype is None else dtype_of(dtype)
    return cast(array_of(a, "asfarray"), dtype if is_float(dtype) else mstype.float32)


def _filled(name, value):
    def call(shape, dtype=mstype.float32):
        dtype = mstype.float32 if dtype is None else dtype_of(dtype)
        return op("full")(shape_of(shape, name), value, dtype)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"A tensor of {'ones' if value else 'zeros'}; shape: an int or a tuple of ints."
    return entry(call)


ones, zeros, empty = _filled("ones", 1), _filled("zeros", 0), _filled("empty", 0)


@entry
def full(shape, fill_value, dtype=None):
    """A tensor filled with fill_value, a number or an array that broadcasts to the shape, in its
    dtype or the given one."""
    value = cast(array_of(fill_value, "full"), dtype)
    return op("broadcast_to")(value, shape_of(shape, "full"))


def _like(fn, prototype, fill_value, dtype, shape):
    x = array_of(prototype, fn)
    dtype = x.dtype if dtype is None else dtype_of(dtype)
    value = cast(array_of(fill_value, fn), dtype)
    return op("broadcast_to")(value, x.shape if shape is None else shape_of(shape, fn))


@entry
def full_like(a, fill_value, dtype=None, shape=None):
    """A tensor of the shape and dtype of a (or those given) filled with fill_value."""
    return _like("full_like", a, fill_value, dtype, shape)


@entry
def ones_like(a, dtype=None, shape=None):
    """Ones of the shape and dtype of a (or those given)."""
    return _like("ones_like", a, 1, dtype, shape)


@entry
def zeros_like(a, dtype=None, shape=None):
    """Zeros of the shape and dtype of a (or those given)."""
    return _like("zeros_like", a, 0, dtype, shape)


@entry
def empty_like(prototype, dtype=None, shape=None):
    """A tensor of the shape and dtype of prototype (or those given); its values are zeros."""
    return _like("empty_like", prototype, 0, dtype, shape)


def _number(value, fn, name):
    """A Python number from a number or a known tensor of one element."""
    if isinstance(value, Tensor):
        value = value.item()
    if isinstance(value, bool) or not (isinstance(value, (int, float)) or is_array(value)):
        raise TypeError(f"{fn}: '{name}' must be a number, got {type(value).__name__} {value!r}")
    return value.item() if is_array(value) else value


@entry
def arange(start, stop=None, step=None, dtype=None):
    """start, start + step, … below stop; arange(n) counts from 0. int32 for ints, else float32,
    unless `dtype` is given. The bounds are known numbers."""
    start, stop = (0, start) if stop is None else (start, stop)
    parts = [_number(v, "arange", n) for v, n in ((start, "start"), (stop, "stop"))]
    parts.append(1 if step is None else _number(step, "arange", "step"))
    if parts[2] == 0:
        raise ValueError("arange: 'step' must not be 0")
    dtype = common_dtype(*parts) if dtype is None else dtype_of(dtype)
    if dtype == mstype.bool_:
        return cast(op("arange")(*parts, mstype.int32), dtype)
    return op("arange")(*parts, dtype)


def _count(num, fn):
    num = integer(num, fn, "num")
    if num < 0:
        raise ValueError(f"{fn}: 'num' must not be negative, got {num}")
    return num


def _spaced(fn, start, stop, num, endpoint, axis):
    """`num` numbers between start and stop along a new axis, the step, and the float dtype."""
    if not isinstance(endpoint, bool):
        raise TypeError(f"{fn}: 'endpoint' must be True or False, got {endpoint!r}")
    start, stop = promoted(fn, start, stop, at_least=mstype.float32)
    num = _count(num, fn)
    parts = builtins.max(num - 1 if endpoint else num, 1)
    at = op("arange")(0, num, 1, mstype.float64)
    work = mstype.float64 if start.dtype != mstype.complex64 else mstype.complex128
    low, high = cast(start, work), cast(stop, work)
    at = cast(at, work).reshape((num,) + (1,) * op("add")(low, high).ndim)
    # The last point is exactly `stop`.
    y = low + (high - low) * (at / parts)
    if endpoint and num > 1:
        y = op("select")(at == num - 1, high, y)
    step = (high - low) / parts if num > endpoint else (high - low) * math.nan
    axis = one_axis(axis, y.ndim, fn)
    return (op("moveaxis")(y, 0, axis) if axis else y), step, start.dtype


@entry
def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    """`num` numbers at equal distances from start to stop (without stop unless endpoint), along a
    new axis where start and stop are arrays. float32 or wider unless `dtype` is given; retstep:
    the distance too."""
    y, step, natural = _spaced("linspace", start, stop, num, endpoint, axis)
    dtype = natural if dtype is None else dtype_of(dtype)
    y = cast(y if is_float(dtype) else op("floor")(y), dtype)
    return (y, cast(step, natural)) if retstep else y


@entry
def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    """base to the powers linspace(start, stop, num)."""
    y, _, natural = _spaced("logspace", start, stop, num, endpoint, axis)
    y = op("pow")(cast(array_of(base, "logspace"), y.dtype), y)
    return cast(y, natural if dtype is None else dtype)


@entry
def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    """`num` numbers of equal ratios from start to stop, which have the same sign and are not 0
    (else the results are NaN)."""
    low, high = promoted("geomspace", start, stop, at_least=mstype.float32)
    natural = low.dtype
    if natural in mstype.complex_type:
        raise TypeError("geomspace: complex bounds have many paths between them; give real ones")
    low, high = cast(low, mstype.float64), cast(high, mstype.float64)
    sign = op("sign")(low)
    bottom, top = op("log")(low * sign), op("log")(high * sign)
    y, _, _ = _spaced("geomspace", bottom, top, num, endpoint, 0)
    y = op("exp")(y) * sign
    num = y.shape[0]
    at = op("arange")(0, num, 1).reshape((num,) + (1,) * (y.ndim - 1))
    y = op("select")(at == 0, low, y)  # both ends exactly
    if endpoint and num > 1:
        y = op("select")(at == num - 1, high, y)
    axis = one_axis(axis, y.ndim, "geomspace")
    y = op("moveaxis")(y, 0, axis) if axis else y
    return cast(y, natural if dtype is None else dtype)


@entry
def eye(N, M=None, k=0, dtype=mstype.float32):
    """An N by M matrix (square without M) with ones on diagonal k, zeros elsewhere."""
    dtype = mstype.float32 if dtype is None else dtype_of(dtype)
    n, m = _matrix_sizes("eye", N, M)
    k = integer(k, "eye", "k")
    if k == 0:
        return op("eye")(n, m, dtype)
    rows, columns = op("arange")(0, n, 1).reshape(n, 1), op("arange")(0, m, 1)
    return cast(columns - rows == k, dtype)


def _matrix_sizes(fn, rows, columns):
    n = integer(rows, fn, "N")
    m = n if columns is None else integer(columns, fn, "M")
    if n < 0 or m < 0:
        raise ValueError(f"{fn}: sizes must not be negative, got {n} and {m}")
    return n, m


@entry
def identity(n, dtype=mstype.float32):
    """An n by n matrix with ones on the diagonal."""
    return eye(n, dtype=dtype)


@entry
def tri(N, M=None, k=0, dtype=mstype.float32):
    """An N by M matrix with ones on and below diagonal k."""
    n, m = _matrix_sizes("tri", N, M)
    dtype = mstype.float32 if dtype is None else dtype_of(dtype)
    return op("tril")(op("full")((n, m), 1, dtype), integer(k, "tri", "k"))


@entry
def tril(m, k=0):
    """The elements on and below diagonal k of each matrix, zeros elsewhere."""
    return op("tril")(needs_dims(array_of(m, "tril"), 2, "tril"), integer(k, "tril", "k"))


@entry
def triu(m, k=0):
    """The elements on and above diagonal k of each matrix, zeros elsewhere."""
    return op("triu")(needs_dims(array_of(m, "triu"), 2, "triu"), integer(k, "triu", "k"))


@entry
def diag(v, k=0):
    """The diagonal k of a matrix, or a matrix with the vector v on it. ValueError for other
    ranks."""
    v, k = array_of(v, "diag"), integer(k, "diag", "k")
    if v.ndim not in (1, 2):
        raise ValueError(f"diag: a vector or a matrix is needed, got {v.shape}")
    return op("diagflat")(v, k) if v.ndim == 1 else op("diagonal")(v, k)


@entry
def diagflat(v, k=0):
    """A matrix with the flattened v on diagonal k."""
    return op("diagflat")(array_of(v, "diagflat"), integer(k, "diagflat", "k"))


@entry
def diagonal(a, offset=0, axis1=0, axis2=1):
    """The elements a[i, i + offset] of the plane of two axes, as a last dim."""
    a = needs_dims(array_of(a, "diagonal"), 2, "diagonal")
    axis1, axis2 = axes_of((axis1, axis2), a.ndim, "diagonal", "axis1 and axis2")
    return op("diagonal")(a, integer(offset, "diagonal", "offset"), axis1, axis2)


@entry
def vander(x, N=None, increasing=False):
    """The matrix of powers of a vector: column j holds x^(N-1-j), or x^j when increasing."""
    x = array_of(x, "vander")
    if x.ndim != 1:
        raise ValueError(f"vander: a vector is needed, got {x.shape}")
    n = x.shape[0] if N is None else integer(N, "vander", "N")
    if n < 0:
        raise ValueError(f"vander: 'N' must not be negative, got {n}")
    x = cast(x, mstype.int32) if x.dtype == mstype.bool_ else x
    if n == 0:
        return op("expand_dims")(x, 1)[:, :0]
    column = op("expand_dims")(x, 1)
    columns = column * op("full")((1, n - 1), 1, x.dtype)
    first = op("ones_like")(column)
    powers = op("concat")((first, op("cumprod")(columns, 1)), 1)
    return powers if increasing else op("flip")(powers, (1,))


@entry
def meshgrid(*xi, sparse=False, indexing="xy"):
    """Coordinate matrices of vectors, a tuple: result i repeats xi[i] along the other dims.
    indexing "xy" swaps the first two dims; sparse: dims of size 1 instead of repetitions."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: 'indexing' must be 'xy' or 'ij', got {indexing!r}")
    if not isinstance(sparse, bool):
        raise TypeError(f"meshgrid: 'sparse' must be True or False, got {sparse!r}")
    xs = [op("ravel")(array_of(x, "meshgrid")) for x in xi]
    if not xs:
        return ()
    if not sparse:
        return tuple(op("meshgrid")(xs, indexing))
    out = []
    for i, x in enumerate(xs):
        dims = [1] * len(xs)
        dims[1 - i if indexing == "xy" and len(xs) > 1 and i < 2 else i] = x.shape[0]
        out.append(op("reshape")(x, tuple(dims)))
    return tuple(out)


class _Grid:
    """mgrid and ogrid: indexed with slices, gives the coordinates of the points of the grid. A
    slice start:stop:step counts as arange, an imaginary step 5j as linspace of 5 points."""

    def __init__(self, name, sparse):
        self._name, self._sparse = name, sparse

    def __repr__(self):
        return f"mycel.numpy.{self._name}"

    def _line(self, part):
        if not isinstance(part, slice) or part.stop is None:
            raise TypeError(f"{self._name}: slices with a stop are needed, got {part!r}")
        start = 0 if part.start is None else part.start
        if isinstance(part.step, complex):
            return linspace(start, part.stop, int(builtins.abs(part.step)))
        return arange(start, part.stop, part.step)

    def __getitem__(self, index):
        lines = [self._line(p) for p in (index if isinstance(index, tuple) else (index,))]
        if not isinstance(index, tuple):
            return lines[0]
        lines = promoted(self._name, *lines)
        grid = meshgrid(*lines, sparse=self._sparse, indexing="ij")
        return grid if self._sparse else op("stack")(grid)


mgrid, ogrid = _Grid("mgrid", False), _Grid("ogrid", True)

_MADE = ("mgrid", "ogrid")
__all__ = [
    name for name, value in globals().items()
    if name in _MADE or (isinstance(value, entry) and not name.startswith("_"))
]  # fmt: skip
