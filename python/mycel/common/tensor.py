"""Tensor's methods: those that the op records name, and the ones written here in terms of ops.

The type itself, its operators and indexing live in the extension module."""

from mycel import _mycel
from mycel._mycel import Tensor, entry
from mycel.common import dtype as mstype
from mycel.common import tensor_changes


def _ops():
    from mycel import ops

    return ops


_METHODS = {}


def _method(fn):
    """Makes a function a method of Tensor."""
    _METHODS[fn.__name__.rstrip("_") if fn.__name__ in _RESERVED else fn.__name__] = entry(fn)
    return fn


_RESERVED = {"bool_", "float_", "int_", "abs_"}


@_method
def __array_namespace__(self, *, api_version=None):
    """The module of the Python array API standard over tensors."""
    import mycel.array_api

    if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12", "2025.12"):
        raise ValueError(f"__array_namespace__: there is no version {api_version!r} here")
    return mycel.array_api


@_method
def __complex__(self):
    """The only element as a Python complex number."""
    return complex(self.item())


@_method
def to_device(self, device, /, *, stream=None):
    """The tensor itself: there is one device, "cpu"."""
    if device != "cpu":
        raise ValueError(f"to_device: 'device' must be 'cpu', got {device!r}")
    return self


@_method
def to_coo(self):
    """The elements that are not 0 as a COOTensor."""
    return _ops().dense_to_sparse_coo(self)


@_method
def to_csr(self):
    """The elements of a matrix that are not 0 as a CSRTensor."""
    return _ops().dense_to_sparse_csr(self)


# -- NumPy, Python and other libraries
# --------------------------------------------------------------


@_method
def asnumpy(self):
    """The values as a NumPy array over the same memory, read-only: tensors never change under their
    holders. `.asnumpy().copy()` gives an array to write to. bfloat16 is widened to float32."""
    return _mycel.asnumpy(self)


@_method
def numpy(self):
    """As asnumpy()."""
    return _mycel.asnumpy(self)


@_method
def __array__(self, dtype=None, copy=None):
    """NumPy's conversion: a read-only view where nothing has to change, else a copy."""
    array = _mycel.asnumpy(self)
    if dtype is not None and array.dtype != dtype:
        if copy is False:
            raise ValueError(f"__array__: {array.dtype} cannot become {dtype} without a copy")
        return array.astype(dtype)
    return array.copy() if copy else array


@_method
def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
    """DLPack export of the memory, marked read-only where the consumer's version knows that."""
    return _mycel.to_dlpack(self, stream, max_version, dl_device, copy)


@_method
def __dlpack_device__(self):
    """(1, 0): the CPU."""
    return (1, 0)


@entry
def from_numpy(array):
    """A tensor over the memory of a NumPy array, without a copy where the array is row-major and
    aligned.
    Writing to the array then changes the tensor."""
    return _mycel.from_numpy(array)


@entry
def from_dlpack(source):
    """A tensor over the memory of an object with __dlpack__, or of a DLPack capsule, without a
    copy where it is row-major."""
    return _mycel.from_dlpack(source)


Tensor.from_numpy = staticmethod(from_numpy)
Tensor.from_dlpack = staticmethod(from_dlpack)


def _rebuild(array, dtype):
    t = Tensor(array)
    return t if t.dtype == dtype else _ops().cast(t, dtype)


@_method
def __reduce__(self):
    return _rebuild, (_mycel.asnumpy(self), self.dtype)


@_method
def __copy__(self):
    return self.value()


@_method
def __deepcopy__(self, memo):
    twin = self.copy()
    memo[id(self)] = twin
    return twin


@_method
def __round__(self, ndigits=None):
    if ndigits:
        scale = 10.0**ndigits
        return _ops().round(self * scale) / scale
    return _ops().round(self)


@_method
def __contains__(self, item):
    return bool(_ops().equal(self, item).any())


@_method
def item(self, index=None):
    """The only element, or the one at `index` (a flat position or a tuple), as a Python number."""
    if index is None:
        return self._number()
    if isinstance(index, tuple):
        if len(index) != self.ndim:
            raise IndexError(f"item: {len(index)} positions given for {self.ndim} dims")
        return self[index]._number()
    return self.reshape(-1)[index]._number()


@_method
def itemset(self, *args):
    """A tensor like this one with one element replaced: itemset(value) or itemset(index, value)."""
    if len(args) == 1:
        if self.size != 1:
            raise ValueError(f"itemset: {self.size} elements; say which one: itemset(index, value)")
        return _ops().full_like(self, args[0])
    if len(args) != 2:
        raise TypeError(f"itemset: 1 or 2 arguments expected, got {len(args)}")
    index, value = args
    result = self.value()
    if isinstance(index, tuple):
        result[index] = value
        return result
    flat = result.reshape(-1)
    flat[index] = value
    return flat.reshape(self.shape)


# -- copies and conversions
# -------------------------------------------------------------------------


@_method
def value(self):
    """The same value as another object: assignments to either leave the other alone."""
    twin = Tensor(self)
    return twin


@_method
def copy(self):
    """A tensor of the same values; values never change, so memory is shared."""
    return self.value()


@_method
def assign_value(self, value):
    """Makes this object hold another value of the same dtype and shape."""
    value = value if isinstance(value, Tensor) else Tensor(value, self.dtype)
    if value.shape != self.shape or value.dtype != self.dtype:
        raise ValueError(
            f"assign_value: {value.dtype}{value.shape} cannot take the place of "
            f"{self.dtype}{self.shape}"
        )
    self[...] = value
    return self


@_method
def astype(self, dtype, copy=True):
    """Converted to another dtype; the tensor itself when it has that dtype and copy is False."""
    target = mstype.dtype(dtype)
    if target == self.dtype:
        return self.value() if copy else self
    return _ops().cast(self, target)


@_method
def to(self, dtype):
    """Converted to another dtype."""
    return self.astype(dtype, copy=False)


@_method
def bool_(self):
    """Converted to bool."""
    return self.astype(mstype.bool_)


@_method
def float_(self):
    """Converted to float32."""
    return self.astype(mstype.float32)


@_method
def half(self):
    """Converted to float16."""
    return self.astype(mstype.float16)


@_method
def int_(self):
    """Converted to int32."""
    return self.astype(mstype.int32)


@_method
def long(self):
    """Converted to int64."""
    return self.astype(mstype.int64)


@_method
def short(self):
    """Converted to int16."""
    return self.astype(mstype.int16)


@_method
def is_complex(self):
    """Whether the elements are complex numbers."""
    return self.dtype in mstype.complex_type


@_method
def is_floating_point(self):
    """Whether the elements are floats."""
    return self.dtype in mstype.float_type


@_method
def is_signed(self):
    """Whether the elements have a sign."""
    return self.dtype not in mstype.uint_type and self.dtype != mstype.bool_


# -- shape
# ------------------------------------------------------------------------------------------


def _dims(args):
    """Sizes or axes given one by one or as one sequence."""
    if len(args) == 1 and isinstance(args[0], (tuple, list)):
        return tuple(args[0])
    if len(args) == 1 and isinstance(args[0], Tensor) and args[0].ndim == 1:
        return tuple(args[0].tolist())
    return args


@_method
def reshape(self, *shape):
    """The elements under another shape; one size may be -1."""
    return _ops().reshape(self, _dims(shape))


@_method
def view(self, *shape):
    """As reshape."""
    return _ops().reshape(self, _dims(shape))


@_method
def transpose(self, *axes):
    """The dims in another order; without axes, reversed."""
    axes = _dims(axes)
    if not axes or axes == (None,):
        axes = tuple(range(self.ndim))[::-1]
    if len(axes) != self.ndim:
        raise ValueError(f"transpose: {len(axes)} axes given for {self.ndim} dims")
    return _ops().transpose(self, axes)


@_method
def permute(self, *axis):
    """The dims in the order given."""
    return self.transpose(*axis)


@_method
def t(self):
    """The transpose of a matrix; a vector stays as it is."""
    if self.ndim > 2:
        raise ValueError(f"t: at most 2 dims expected, got {self.ndim}")
    return self.transpose()


@_method
def flatten(self, order="C", *, start_dim=0, end_dim=-1):
    """Dims start_dim to end_dim merged into one; order "F" reads columns first."""
    return _ops().flatten(self, order, start_dim, end_dim)


@_method
def tile(self, *multiples):
    """Repeated along each dim."""
    return _ops().tile(self, _dims(multiples))


@_method
def expand(self, *size):
    """Broadcast to a shape; -1 keeps a size."""
    return _ops().broadcast_to(self, _dims(size))


@_method
def expand_as(self, x):
    """Broadcast to the shape of x."""
    return _ops().broadcast_to(self, x.shape)


@_method
def repeat(self, repeats, axis=None):
    """Each element, or each slice along `axis`, repeated; repeats: an int or one per slice."""
    x = self.reshape(-1) if axis is None else self
    axis = 0 if axis is None else axis
    if isinstance(repeats, (tuple, list)) and len(repeats) == 1:
        repeats = repeats[0]
    if not isinstance(repeats, (tuple, list, Tensor)):
        return _ops().repeat_elements(x, repeats, axis)
    counts = repeats.tolist() if isinstance(repeats, Tensor) else list(repeats)
    if len(counts) != x.shape[axis]:
        raise ValueError(f"repeat: {len(counts)} counts given for {x.shape[axis]} slices")
    places = [i for i, n in enumerate(counts) for _ in range(n)]
    return _ops().gather(x, Tensor(places, mstype.int64), axis)


@_method
def resize(self, *new_shape):
    """The elements in row-major order under a shape of another size: cut off, or filled up with
    zeros."""
    shape = _dims(new_shape)
    total = 1
    for n in shape:
        total *= n
    flat = self.reshape(-1)
    if total > self.size:
        flat = _ops().concat((flat, _ops().zeros((total - self.size,), self.dtype)), 0)
    return flat[:total].reshape(shape)


@_method
def ndimension(self):
    """Number of dims."""
    return self.ndim


@_method
def numel(self):
    """Number of elements."""
    return self.size


@_method
def nelement(self):
    """Number of elements."""
    return self.size


@_method
def dim(self):
    """Number of dims."""
    return self.ndim


# -- new tensors of this kind
# -----------------------------------------------------------------------


@_method
def new_ones(self, size, *, dtype=None):
    """Ones of the given shape, in this dtype unless another is given."""
    return _ops().ones(size, self.dtype if dtype is None else dtype)


@_method
def new_zeros(self, size, *, dtype=None):
    """Zeros of the given shape, in this dtype unless another is given."""
    return _ops().zeros(size, self.dtype if dtype is None else dtype)


@_method
def fill(self, value):
    """A tensor of this shape and dtype filled with `value` (None: zero)."""
    return _ops().full_like(self, 0 if value is None else value)


@_method
def fills(self, value):
    """A tensor of this shape and dtype filled with `value`."""
    return _ops().full_like(self, value)


# -- reductions whose published forms differ from the records'
# ---------------------------------------


def _masked(self, where, initial, op):
    """Elements outside `where` replaced by `initial`, for reductions over a part."""
    if where is None or where is True:
        return self
    if initial is None:
        raise ValueError(f"{op}: 'where' needs 'initial', the value for the elements left out")
    return _ops().select(where if isinstance(where, Tensor) else Tensor(where), self, initial)


@_method
def sum(self, axis=None, dtype=None, keepdims=False, initial=None):
    """Sum over `axis` (an int, a tuple, or None for all), in `dtype`, plus `initial`. bools count
    as int32."""
    x = self if dtype is None else self.astype(dtype)
    if x.dtype == mstype.bool_:
        x = x.astype(mstype.int32)
    result = _mycel.op("reduce_sum")(x, _axes(axis), keepdims)
    return result if initial is None else result + initial


def _axes(axis):
    return () if axis is None else axis


def _extreme(self, record, pair, axis, keepdims, initial, where, return_indices):
    x = _masked(self, where, initial, record)
    ops = _ops()
    if return_indices:
        if axis is None:
            x, axis = x.reshape(-1), 0
        index, value = getattr(ops, pair)(x, axis=axis, keep_dims=keepdims)
        return value, index
    result = _mycel.op("reduce_" + record)(x, _axes(axis), keepdims)
    if initial is not None:
        result = (ops.maximum if record == "max" else ops.minimum)(result, initial)
    return result


@_method
def max(self, axis=None, keepdims=False, *, initial=None, where=True, return_indices=False):
    """Largest element over `axis`; with return_indices, also its position."""
    return _extreme(
        self, "max", "argmax_with_value", axis, keepdims, initial, where, return_indices
    )


@_method
def min(self, axis=None, keepdims=False, *, initial=None, where=True, return_indices=False):
    """Smallest element over `axis`; with return_indices, also its position."""
    return _extreme(
        self, "min", "argmin_with_value", axis, keepdims, initial, where, return_indices
    )


@_method
def amax(self, axis=None, keepdims=False, *, initial=None, where=None):
    """Largest element over `axis`."""
    return self.max(axis, keepdims, initial=initial, where=where)


@_method
def amin(self, axis=None, keepdims=False, *, initial=None, where=None):
    """Smallest element over `axis`."""
    return self.min(axis, keepdims, initial=initial, where=where)


@_method
def ptp(self, axis=None, keepdims=False):
    """Largest minus smallest element over `axis`."""
    return self.max(axis, keepdims) - self.min(axis, keepdims)


@_method
def var(self, axis=None, ddof=0, keepdims=False):
    """Variance over `axis`, divided by the count minus ddof."""
    x = (
        self
        if self.dtype in mstype.float_type + mstype.complex_type
        else self.astype(mstype.float32)
    )
    mean = x.mean(axis, True)
    square = _ops().square(_ops().abs(x - mean)) if self.is_complex() else _ops().square(x - mean)
    total = square.sum(axis, keepdims=keepdims)
    count = x.size // _builtin_max(1, total.size) if total.size else 0
    return total / (count - ddof)


@_method
def std(self, axis=None, ddof=0, keepdims=False):
    """Standard deviation over `axis`."""
    return _ops().sqrt(self.var(axis, ddof, keepdims))


_builtin_max = __builtins__["max"] if isinstance(__builtins__, dict) else __builtins__.max


# -- the rest
# ---------------------------------------------------------------------------------------


@_method
def clip(self, min=None, max=None):
    """Limited to [min, max]; a bound may be None."""
    return _ops().clip_by_value(self, min, max)


@_method
def clamp(self, min=None, max=None):
    """Limited to [min, max]; a bound may be None."""
    return _ops().clip_by_value(self, min, max)


@_method
def choose(self, choices, mode="clip"):
    """Elements of the tensors `choices`, picked by this tensor of indices."""
    ops = _ops()
    stacked = (
        ops.stack([c if isinstance(c, Tensor) else Tensor(c) for c in choices])
        if isinstance(choices, (tuple, list))
        else choices
    )
    n = stacked.shape[0]
    if mode == "clip":
        index = ops.clip_by_value(self, 0, n - 1)
    elif mode == "wrap":
        index = self % n
    elif mode == "raise":
        index = self
        if bool(ops.logical_or(self < 0, self >= n).any()):
            raise ValueError(f"choose: an index is outside [0, {n})")
    else:
        raise ValueError(f"choose: 'mode' must be 'raise', 'wrap' or 'clip', got {mode!r}")
    shape = ops.broadcast_to(index, _broadcast(index.shape, stacked.shape[1:])).shape
    index = ops.broadcast_to(index, shape)
    parts = (
        ops.broadcast_to(stacked, (n, *shape))
        if stacked.ndim == len(shape) + 1
        else stacked.reshape((n,) + (1,) * (len(shape) + 1 - stacked.ndim) + stacked.shape[1:])
    )
    parts = ops.broadcast_to(parts, (n, *shape))
    return ops.gather_elements(parts, 0, ops.expand_dims(index, 0))[0]


def _broadcast(a, b):
    out = []
    for i in range(_builtin_max(len(a), len(b))):
        x = a[-1 - i] if i < len(a) else 1
        y = b[-1 - i] if i < len(b) else 1
        if x != y and 1 not in (x, y):
            raise ValueError(f"shapes {a} and {b} do not broadcast")
        out.append(y if x == 1 else x)
    return tuple(reversed(out))


@_method
def where(self, condition, y):
    """This tensor's elements where `condition` holds, else those of y."""
    return _ops().select(condition, self, y)


@_method
def select(self, condition, y):
    """This tensor's elements where `condition` holds, else those of y."""
    return _ops().select(condition, self, y)


@_method
def diff(self, n=1, axis=-1, prepend=None, append=None):
    """The n-th differences of neighbours along axis."""
    return _ops().diff(self, n, axis, prepend, append)


@_method
def tensor_split(self, indices_or_sections, axis=0):
    """Cut into nearly equal parts, or at indices, along axis."""
    return _ops().tensor_split(self, indices_or_sections, axis)


@_method
def hsplit(self, indices_or_sections):
    """Cut along the second dim, a vector along its only one."""
    return _ops().hsplit(self, indices_or_sections)


@_method
def vsplit(self, indices_or_sections):
    """Cut along the first dim."""
    return _ops().vsplit(self, indices_or_sections)


@_method
def dsplit(self, indices_or_sections):
    """Cut along the third dim."""
    return _ops().dsplit(self, indices_or_sections)


@_method
def searchsorted(self, v, side="left", sorter=None):
    """Where each value of v belongs in this ascending vector, int32."""
    from mycel import numpy

    return numpy.searchsorted(self, v, side, sorter)


@_method
def unbind(self, dim=0):
    """The slices along `dim`, a tuple."""
    return tuple(self[(slice(None),) * (dim % self.ndim) + (i,)] for i in range(self.shape[dim]))


@_method
def svd(self, full_matrices=False, compute_uv=True):
    """Singular values and vectors (s, u, v) of each matrix; s alone without compute_uv."""
    return _ops().svd(self, full_matrices, compute_uv)


@_method
def qr(self, some=True):
    """(q, r) of each matrix; q is square unless some."""
    return tuple(_ops().qr(self, "reduced" if some else "complete"))


@_method
def norm(self, ord=None, dim=None, keepdim=False, *, dtype=None):  # noqa: A002
    """The norm of vectors along one dim, of matrices in two, or of all elements."""
    return _ops().norm(self, ord, dim, keepdim, dtype=dtype)


@_method
def lstsq(self, A):  # noqa: N803
    """The least squares or shortest solution x of self x = A."""
    return _ops().lstsq(self, A)


@_method
def lu_solve(self, LU_data, LU_pivots):  # noqa: N803
    """x with a x = self from a's LU factors and pivots, which count from 1."""
    return _ops().lu_solve(self, LU_data, LU_pivots)


@_method
def set_const_arg(self, const_arg=True):
    """A tensor of the same value that compiled functions take by value."""
    return Tensor(self, const_arg=const_arg)


@_method
def flush_from_cache(self):
    """Nothing to do: values always lie in memory."""


@_method
def is_persistent_data(self):
    """False: values always lie in memory."""
    return False


@_method
def init_data(self, slice_index=None, shape=None, opt_shard_group=None):
    """The tensor itself, whose values exist from the start. Slices belong to the planner."""
    if slice_index is not None or shape is not None or opt_shard_group is not None:
        raise NotImplementedError("Tensor.init_data: slices are made by the parallel planner")
    return self


def _install():
    """Methods named by the records first; those written here win."""
    for record, _, methods, _, _ in _mycel.records():
        if not methods:
            continue
        op = _mycel.op(record)
        for name in methods.split():
            if not (name.startswith("__") and name.endswith("__")):
                setattr(Tensor, name, op)
    for name, fn in {**tensor_changes.METHODS, **_METHODS}.items():
        setattr(Tensor, name, fn)
    Tensor.T = property(lambda self: self.transpose(), doc="The dims reversed.")
    Tensor.H = property(
        lambda self: _ops().conj(self.t()), doc="The conjugate transpose of a matrix."
    )
    Tensor.mT = property(lambda self: self.swapaxes(-1, -2), doc="The last two dims swapped.")
    Tensor.mH = property(lambda self: _ops().conj(self.mT), doc="The conjugate of mT.")
    Tensor.device = property(lambda self: "cpu", doc="Where the values are: the CPU.")
    Tensor.has_init = property(lambda self: False, doc="False: values exist from the start.")
    Tensor.init_flag = property(lambda self: False, doc="False: values exist from the start.")
    Tensor.adapter_flag = property(lambda self: False, doc="False: no other front end made it.")
    Tensor.param_info = property(lambda self: self if _mycel.is_parameter(self) else None)


_install()

__all__ = ["Tensor", "from_dlpack", "from_numpy"]
