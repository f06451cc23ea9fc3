"""Sparse tensors: tuples of the tensors that hold their entries, with the shape of the dense
tensor. As tuples they go through compiled functions, branches, loops and transforms like any
other."""

from mycel._mycel import Tensor, entry
from mycel._mycel import op as _op
from mycel.common import dtype as mstype

_INDICES = (mstype.int16, mstype.int32, mstype.int64)


def _fail(cls, text, kind=ValueError):
    raise kind(f"{cls.__name__}: {text}")


def _need_tensors(cls, **parts):
    for name, value in parts.items():
        if not isinstance(value, Tensor):
            _fail(cls, f"'{name}' must be a Tensor, got {type(value).__name__}", TypeError)


def _need_shape(cls, shape):
    if not isinstance(shape, tuple):
        _fail(cls, f"'shape' must be a tuple, got {type(shape).__name__}", TypeError)
    for n in shape:
        if isinstance(n, bool) or not isinstance(n, int):
            _fail(cls, f"'shape' must hold ints, got {n!r}", TypeError)
        if n <= 0:
            _fail(cls, f"'shape' must hold positive sizes, got {shape}")


def _need_index(cls, name, value):
    if value.dtype not in _INDICES:
        _fail(cls, f"'{name}' must be int16, int32 or int64, got {value.dtype}", TypeError)


def _fits(have, want):
    """Whether a size is another; an unknown one may be."""
    return have == want or -1 in (have, want)


def _parts(cls, given, other, name):
    """The parts of a sparse tensor made from another one, which must be given alone."""
    if not isinstance(other, cls):
        _fail(cls, f"'{name}' must be a {cls.__name__}, got {type(other).__name__}", TypeError)
    if any(v is not None for v in given):
        _fail(cls, f"beside '{name}' nothing else may be given", TypeError)
    return tuple(other)


class _Sparse(tuple):
    """What COO and CSR tensors share. Equality is identity, as for tensors in sets and dicts."""

    __slots__ = ()
    __hash__ = object.__hash__
    __array_ufunc__ = None  # tensors and arrays beside it leave operators to it

    def __eq__(self, other):
        return self is other

    def __ne__(self, other):
        return self is not other

    def __getnewargs__(self):
        return tuple(self)

    @property
    def values(self):
        """The values of the entries."""
        return self[-2]

    @property
    def shape(self):
        """The shape of the dense tensor."""
        return self[-1]

    @property
    def dtype(self):
        """The dtype of the values."""
        return self.values.dtype

    @property
    def size(self):
        """How many values there are."""
        return self.values.size

    @property
    def itemsize(self):
        """Bytes of one value."""
        return self.values.itemsize

    @property
    def ndim(self):
        """The number of dims of the dense tensor."""
        return len(self.shape)

    def to_tuple(self):
        """The parts, in the constructor's order."""
        return tuple(self)

    def with_values(self, values):
        """The same entries with other values."""
        return type(self)(*self[:-2], values, self.shape)

    @entry
    def astype(self, dtype):
        """The same entries with values of another dtype."""
        return self.with_values(self.values.astype(dtype))

    @entry
    def abs(self):
        """The same entries with absolute values."""
        return self.with_values(self.values.abs())

    def __neg__(self):
        return self.with_values(-self.values)

    def __div__(self, other):
        return self / other

    def _other(self, other, what):
        """An operand of the same shape; TypeError for what is no tensor."""
        if not isinstance(other, (Tensor, type(self))):
            name = type(self).__name__
            raise TypeError(f"{name}: {what} of a {type(other).__name__} is not supported")
        if tuple(other.shape) != self.shape:
            _fail(type(self), f"{what} needs one shape, got {self.shape} and {tuple(other.shape)}")
        return other

    def __radd__(self, other):
        return self + other

    def __rsub__(self, other):
        return -self + other

    def __rmul__(self, other):
        return self * other


def gradient_of(value, gradient):
    """The gradient with respect to an argument that sparse tensors stand in: that of values, at the
    entries of the argument."""
    if isinstance(value, _Sparse):
        return value.with_values(gradient.values)
    if isinstance(value, dict):
        return {k: gradient_of(v, gradient[k]) for k, v in value.items()}
    if isinstance(value, (tuple, list)):
        items = [gradient_of(v, g) for v, g in zip(value, gradient)]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return gradient


class COOTensor(_Sparse):
    """A sparse tensor as a list of entries: values[k] stands at indices[k]; entries of equal
    indices add.

    indices: int16, int32 or int64 [nnz, ndim]. values: [nnz]. shape: of the dense tensor.
    coo_tensor: another COOTensor, instead of these.
    """

    __slots__ = ()
    _fields = ("indices", "values", "shape")

    @entry
    def __new__(cls, indices=None, values=None, shape=None, coo_tensor=None):
        if coo_tensor is not None:
            indices, values, shape = _parts(cls, (indices, values, shape), coo_tensor, "coo_tensor")
        _need_tensors(cls, indices=indices, values=values)
        _need_shape(cls, shape)
        _need_index(cls, "indices", indices)
        if indices.ndim != 2 or not _fits(indices.shape[1], len(shape)):
            _fail(cls, f"'indices' must have shape [nnz, {len(shape)}], got {indices.shape}")
        if values.ndim != 1 or not _fits(values.shape[0], indices.shape[0]):
            _fail(cls, f"'values' must have shape [{indices.shape[0]}], got {values.shape}")
        return tuple.__new__(cls, (indices, values, shape))

    def __repr__(self):
        return (
            f"COOTensor(shape={list(self.shape)}, dtype={self.dtype}, "
            f"indices={self.indices!r}, values={self.values!r})"
        )

    @property
    def indices(self):
        """The index of each entry, one row each."""
        return self[0]

    @entry
    def to_dense(self):
        """The dense tensor."""
        return _op("sparse_to_dense")(_wide(self.indices), self.values, self.shape)

    @entry
    def coalesce(self):
        """Entries of equal indices added, in ascending order of indices."""
        sizes = Tensor(list(self.shape), mstype.int64)
        turned = _wide(self.indices).swapaxes(0, 1)
        indices, values, _ = _op("coalesce")(turned, self.values, sizes)
        return COOTensor(indices.swapaxes(0, 1), values, self.shape)

    @entry
    def to_csr(self):
        """The same matrix as a CSRTensor: entries in the order of their rows."""
        if self.ndim != 2:
            _fail(COOTensor, f"to_csr needs a matrix, got shape {self.shape}")
        indices = _wide(self.indices)
        rows, order = _op("sort")(indices[:, 0], 0)
        columns, values = (_op("gather")(v, order, 0) for v in (indices[:, 1], self.values))
        return CSRTensor(_op("coo2csr")(rows, self.shape[0]), columns, values, self.shape)

    @entry
    def add(self, other, thresh):
        """The sum with another COOTensor, without entries of absolute value below thresh."""
        return _coo_add(self, other, thresh)

    def __add__(self, other):
        other = self._other(other, "the sum")
        if isinstance(other, COOTensor):
            return _coo_add(self, other, Tensor(0))
        values = self.values
        kind = (values[:0] + other.reshape(-1)[:0]).dtype
        add = _op("sparse_tensor_dense_add")
        return add(_wide(self.indices), values.astype(kind), other.astype(kind), self.shape)

    def __sub__(self, other):
        # As published, a dense operand is what the values are added to, with its sign turned.
        return self + -self._other(other, "the difference")

    def __mul__(self, other):
        return self.with_values(self.values * self._at_entries(other, "the product"))

    def __truediv__(self, other):
        return self.with_values(self.values / self._at_entries(other, "the quotient"))

    def _at_entries(self, other, what):
        """A dense operand's elements at the entries; a number as it is."""
        if isinstance(other, (int, float)) and not isinstance(other, bool):
            return other
        if isinstance(other, COOTensor):
            raise TypeError(f"COOTensor: {what} of two COOTensors is not supported")
        return _op("gather_nd")(self._other(other, what), _wide(self.indices))


class CSRTensor(_Sparse):
    """A sparse matrix with its entries in the order of rows: entries indptr[i] to indptr[i + 1] - 1
    belong to row i.

    indptr: [rows + 1], indices: the column of each entry [nnz]; int16, int32 or int64. values:
    [nnz], or [nnz, ...] when each entry is a tensor. shape: of the dense tensor. csr_tensor:
    another CSRTensor, instead of these.
    """

    __slots__ = ()
    _fields = ("indptr", "indices", "values", "shape")

    @entry
    def __new__(cls, indptr=None, indices=None, values=None, shape=None, csr_tensor=None):
        if csr_tensor is not None:
            given = (indptr, indices, values, shape)
            indptr, indices, values, shape = _parts(cls, given, csr_tensor, "csr_tensor")
        _need_tensors(cls, indptr=indptr, indices=indices, values=values)
        _need_shape(cls, shape)
        _need_index(cls, "indptr", indptr)
        _need_index(cls, "indices", indices)
        if len(shape) < 2:
            _fail(cls, f"'shape' must have at least 2 dims, got {shape}")
        if indptr.ndim != 1 or not _fits(indptr.shape[0], shape[0] + 1):
            _fail(cls, f"'indptr' must have shape [{shape[0] + 1}], got {indptr.shape}")
        if indices.ndim != 1:
            _fail(cls, f"'indices' must have shape [nnz], got {indices.shape}")
        wanted = (indices.shape[0], *shape[2:])
        if values.ndim != len(wanted) or not all(map(_fits, values.shape, wanted)):
            _fail(cls, f"'values' must have shape {list(wanted)}, got {values.shape}")
        return tuple.__new__(cls, (indptr, indices, values, shape))

    def __repr__(self):
        return (
            f"CSRTensor(shape={list(self.shape)}, dtype={self.dtype}, indptr={self.indptr!r}, "
            f"indices={self.indices!r}, values={self.values!r})"
        )

    @property
    def indptr(self):
        """Where the entries of each row begin, and where the last row's end."""
        return self[0]

    @property
    def indices(self):
        """The column of each entry."""
        return self[1]

    def _places(self):
        return _wide(self.indptr), _wide(self.indices)

    @entry
    def to_dense(self):
        """The dense tensor."""
        return _op("csr_to_dense_entries")(*self._places(), self.values, self.shape)

    @entry
    def to_coo(self):
        """The same matrix as a COOTensor."""
        if self.ndim != 2:
            _fail(CSRTensor, f"to_coo needs a matrix, got shape {self.shape}")
        indptr, indices = self._places()
        rows = _op("csr_rows")(indptr, indices).astype(indices.dtype)
        return COOTensor(_op("stack")((rows, indices), 1), self.values, self.shape)

    @entry
    def mv(self, dense_vector):
        """The product with a dense vector [columns], or [columns, 1] as published."""
        _need_tensors(CSRTensor, dense_vector=dense_vector)
        op = "csr_times_vector" if dense_vector.ndim == 1 else "csr_times_matrix"
        return self._times(op, dense_vector)

    @entry
    def mm(self, matrix):
        """The product with a dense matrix, or with a CSRTensor, which gives a CSRTensor."""
        if isinstance(matrix, CSRTensor):
            return _csr_mm(self, matrix)
        _need_tensors(CSRTensor, matrix=matrix)
        return self._times("csr_times_matrix", matrix)

    def _times(self, op, dense):
        kind = (self.values[:0] * dense.reshape(-1)[:0]).dtype
        values, dense = self.values.astype(kind), dense.astype(kind)
        return _op(op)(*self._places(), values, dense, self.shape)

    @entry
    def sum(self, axis):
        """The sums over rows (axis 0) or columns (axis 1), as a dense tensor that keeps the
        axis."""
        return _op("csr_sum_entries")(*self._places(), self.values, self.shape, axis)

    @entry
    def add(self, b, alpha, beta):
        """alpha times this plus beta times b."""
        return _csr_add(self, b, alpha, beta)

    def __add__(self, other):
        return _csr_add(self, self._other(other, "the sum"), Tensor(1), Tensor(1))

    def __sub__(self, other):
        return _csr_add(self, self._other(other, "the difference"), Tensor(1), Tensor(-1))

    def __mul__(self, other):
        return self.with_values(self.values * self._at_entries(other))

    def __truediv__(self, other):
        return self.with_values(self.values / self._at_entries(other))

    def _at_entries(self, other):
        """A dense operand's elements at the entries; a number as it is."""
        if isinstance(other, (int, float)) and not isinstance(other, bool):
            return other
        _need_tensors(CSRTensor, operand=other)
        if other.ndim > self.ndim:
            _fail(CSRTensor, f"a tensor of shape {other.shape} does not broadcast to {self.shape}")
        if other.size == 1:
            return other.reshape(())
        dense = other.broadcast_to(self.shape)
        return _op("csr_gather")(*self._places(), dense, self.shape[:2])

    def _turned(self, conjugate):
        """The transpose, on request of conjugate values."""
        indptr, indices = self._places()
        columns, order = _op("sort")(indices, 0)
        rows = _op("gather")(_op("csr_rows")(indptr, indices), order, 0)
        values = _op("gather")(self.values, order, 0)
        values = values.conj() if conjugate else values
        shape = self.shape[1::-1]
        return CSRTensor(_op("coo2csr")(columns, shape[0]), rows, values, shape)


def _wide(indices):
    """Indices of a dtype that ops take."""
    return indices.astype(mstype.int32) if indices.dtype == mstype.int16 else indices


def _meet(a, b):
    """Tensors of two sparse tensors' parts in one dtype."""
    a, b = _wide(a), _wide(b)
    if a.dtype == b.dtype:
        return a, b
    kind = (a.reshape(-1)[:0] + b.reshape(-1)[:0]).dtype
    return a.astype(kind), b.astype(kind)


def _need(op, cls, **given):
    for name, value in given.items():
        if not isinstance(value, cls):
            raise TypeError(f"{op}: '{name}' must be a {cls.__name__}, got {type(value).__name__}")


def _need_one_shape(op, a, b):
    if a.shape != b.shape:
        raise ValueError(f"{op}: shapes must be equal, got {a.shape} and {b.shape}")


def _coo_add(x1, x2, thresh):
    _need("coo_add", COOTensor, x1=x1, x2=x2)
    _need("coo_add", Tensor, thresh=thresh)
    _need_one_shape("coo_add", x1, x2)
    (i1, i2), (v1, v2) = _meet(x1.indices, x2.indices), _meet(x1.values, x2.values)
    thresh = thresh.reshape(()).astype(v1.abs().dtype)
    indices, values = _op("coo_add_entries")(i1, v1, i2, v2, thresh, x1.shape)
    return COOTensor(indices, values, x1.shape)


def _csr_add(a, b, alpha, beta):
    _need("csr_add", CSRTensor, a=a, b=b)
    _need("csr_add", Tensor, alpha=alpha, beta=beta)
    _need_one_shape("csr_add", a, b)
    (p1, p2), (i1, i2) = _meet(a.indptr, b.indptr), _meet(a.indices, b.indices)
    v1, v2 = _meet(a.values, b.values)
    factors = [t.reshape(()).astype(v1.dtype) for t in (alpha, beta)]
    parts = _op("csr_add_entries")(p1, i1, v1, p2, i2, v2, *factors, a.shape)
    return CSRTensor(*parts, a.shape)


def _csr_mm(a, b):
    if a.shape[1] != b.shape[0]:
        raise ValueError(f"csr_mm: a has {a.shape[1]} columns, b {b.shape[0]} rows")
    values = _meet(a.values, b.values)
    args = (*a._places(), values[0], *b._places(), values[1])
    return CSRTensor(*_op("csr_matmul_entries")(*args, a.shape, b.shape), (a.shape[0], b.shape[1]))


class SparseTensor(COOTensor):
    """The older name of COOTensor."""

    __slots__ = ()


class RowTensorInner(_Sparse):
    """Some rows of a tensor: values[k] is row indices[k]; the others are zeros.

    indices: int16, int32 or int64 [n]. values: [n, ...]. shape: of the dense tensor. row_tensor:
    another one, instead of these.
    """

    __slots__ = ()
    _fields = ("indices", "values", "shape")

    @entry
    def __new__(cls, indices=None, values=None, shape=None, row_tensor=None):
        if row_tensor is not None:
            given = (indices, values, shape)
            indices, values, shape = _parts(RowTensorInner, given, row_tensor, "row_tensor")
        _need_tensors(cls, indices=indices, values=values)
        _need_shape(cls, shape)
        _need_index(cls, "indices", indices)
        if indices.ndim != 1:
            _fail(cls, f"'indices' must have shape [n], got {indices.shape}")
        wanted = (indices.shape[0], *shape[1:])
        if values.ndim != len(wanted) or not all(map(_fits, values.shape, wanted)):
            _fail(cls, f"'values' must have shape {list(wanted)}, got {values.shape}")
        return tuple.__new__(cls, (indices, values, shape))

    def __repr__(self):
        return (
            f"{type(self).__name__}(shape={list(self.shape)}, dtype={self.dtype}, "
            f"indices={self.indices!r}, values={self.values!r})"
        )

    @property
    def indices(self):
        """Which rows there are."""
        return self[0]

    @property
    def dense_shape(self):
        """The shape of the dense tensor."""
        return self[2]


class RowTensor(RowTensorInner):
    __doc__ = RowTensorInner.__doc__
    __slots__ = ()


__all__ = ["COOTensor", "CSRTensor", "RowTensor", "RowTensorInner", "SparseTensor"]
