"""Functions of sparse tensors. Those that change values only come from one list of ops; the others
are the tensors' methods under their published names."""

from mycel._mycel import Tensor, entry
from mycel._mycel import op as _op
from mycel.common import dtype as mstype
from mycel.common.sparse_tensor import (
    COOTensor,
    CSRTensor,
    RowTensorInner,
    _coo_add,
    _csr_add,
    _csr_mm,
    _need,
    _wide,
)
from mycel.ops._forms import _ints, _primitive

_ELEMENTWISE = (
    "abs acos acosh asin asinh atan atanh ceil cos cosh exp expm1 floor inv isfinite isinf isnan "
    "log log1p neg relu relu6 round sigmoid sin sinh softsign sqrt square tan tanh"
).split()
_RECORDS = {"inv": "reciprocal"}  # published name -> op, where they differ
__all__ = ["RowTensorInner"]


def _public(fn):
    __all__.append(fn.__name__)
    return entry(fn)


def _of_values(kind, cls, name):
    title = f"{kind}_{name}"

    def apply(x):
        _need(title, cls, x=x)
        return x.with_values(_op(_RECORDS.get(name, name))(x.values))

    apply.__name__ = apply.__qualname__ = title
    apply.__doc__ = (
        f"The entries of a {cls.__name__} with ops.{name} of their values. Entries that are absent "
        "stay absent."
    )
    return _public(apply)


for _kind, _cls in (("coo", COOTensor), ("csr", CSRTensor)):
    for _name in _ELEMENTWISE:
        _made = _of_values(_kind, _cls, _name)
        globals()[_made.__name__] = _made


# -- making and taking apart


@_public
def make_coo_tensor(indices, values, dense_shape):
    """The COOTensor of these parts."""
    return COOTensor(indices, values, dense_shape)


@_public
def make_sparse_tensor(indices, values, dense_shape):
    """The COOTensor of these parts."""
    return COOTensor(indices, values, dense_shape)


@_public
def make_csr_tensor(indptr, indices, values, dense_shape):
    """The CSRTensor of these parts."""
    return CSRTensor(indptr, indices, values, dense_shape)


@_public
def make_row_tensor(indices, values, dense_shape):
    """The RowTensor of these parts."""
    return RowTensorInner(indices, values, dense_shape)


@_public
def make_row_tensor_inner(indices, values, dense_shape):
    """The RowTensor of these parts."""
    return RowTensorInner(indices, values, dense_shape)


def _getter(kind, cls, part, attribute):
    title = f"{kind}_tensor_get_{part}"

    def get(x):
        _need(title, cls, x=x)
        return getattr(x, attribute)

    get.__name__ = get.__qualname__ = title
    get.__doc__ = f"The {attribute} of a {cls.__name__}."
    return _public(get)


for _kind, _cls in (("coo", COOTensor), ("csr", CSRTensor), ("row", RowTensorInner)):
    for _part in ("indices", "values", "dense_shape", "indptr"):
        if _part != "indptr" or _kind == "csr":
            _made = _getter(_kind, _cls, _part, "shape" if _part == "dense_shape" else _part)
            globals()[_made.__name__] = _made


@_public
def dense_to_sparse_coo(tensor):
    """The elements that are not 0 as a COOTensor."""
    _need("dense_to_sparse_coo", Tensor, tensor=tensor)
    if tensor.ndim == 0:
        raise ValueError("dense_to_sparse_coo: 'tensor' must have at least 1 dim, got a scalar")
    indices = _op("nonzero")(tensor).astype(mstype.int32)
    return COOTensor(indices, _op("gather_nd")(tensor, indices), tuple(tensor.shape))


@_public
def dense_to_sparse_csr(tensor):
    """The elements of a matrix that are not 0 as a CSRTensor."""
    _need("dense_to_sparse_csr", Tensor, tensor=tensor)
    if tensor.ndim != 2:
        raise ValueError(f"dense_to_sparse_csr: 'tensor' must be a matrix, got {tensor.shape}")
    return dense_to_sparse_coo(tensor).to_csr()


@_public
def csr_to_coo(tensor):
    """The same matrix as a COOTensor."""
    _need("csr_to_coo", CSRTensor, tensor=tensor)
    return tensor.to_coo()


@_public
def csr_to_dense(csr_tensor):
    """The dense tensor."""
    _need("csr_to_dense", CSRTensor, csr_tensor=csr_tensor)
    return csr_tensor.to_dense()


# -- arithmetic


@_public
def coo_add(x1, x2, thresh):
    """x1 + x2 of one shape, without entries of absolute value below thresh; in ascending order of
    indices."""
    return _coo_add(x1, x2, thresh)


@_public
def csr_add(a, b, alpha, beta):
    """alpha a + beta b of two CSRTensors of one shape."""
    return _csr_add(a, b, alpha, beta)


@_public
def csr_mul(x, y):
    """x * y: each entry times a number, or times the element of a dense tensor there, which
    broadcasts to x."""
    _need("csr_mul", CSRTensor, x=x)
    return x * y


@_public
def csr_div(x, y):
    """x / y as csr_mul; zeros of y where x has no entry do not matter."""
    _need("csr_div", CSRTensor, x=x)
    return x / y


@_public
def csr_mv(csr_tensor, dense):
    """The product of a matrix and a dense vector [columns], or [columns, 1]."""
    _need("csr_mv", CSRTensor, csr_tensor=csr_tensor)
    return csr_tensor.mv(dense)


@_public
def csr_mm(a, b, trans_a=False, trans_b=False, adjoint_a=False, adjoint_b=False):
    """The product of two CSRTensors, each transposed or its adjoint taken when asked; of a
    CSRTensor and a dense matrix a dense one."""
    _need("csr_mm", CSRTensor, a=a)
    if trans_a or adjoint_a:
        a = a._turned(adjoint_a)
    if isinstance(b, CSRTensor):
        return _csr_mm(a, b._turned(adjoint_b) if trans_b or adjoint_b else b)
    _need("csr_mm", Tensor, b=b)
    if trans_b or adjoint_b:
        b = b.swapaxes(0, 1)
    return a.mm(b.conj() if adjoint_b else b)


@_public
def csr_reduce_sum(csr_tensor, axis):
    """The sums over rows (axis 0) or columns (axis 1), as a dense tensor that keeps the axis."""
    _need("csr_reduce_sum", CSRTensor, csr_tensor=csr_tensor)
    return csr_tensor.sum(axis)


@_public
def csr_softmax(logits, dtype=None):
    """The softmax over the entries of each row; entries that are absent stay absent. dtype: of the
    values, float32 or float64."""
    _need("csr_softmax", CSRTensor, logits=logits)
    values = logits.values if dtype is None else logits.values.astype(dtype)
    if values.dtype not in mstype.float_type:
        raise TypeError(f"csr_softmax: values must be floats, got {values.dtype}")
    return logits.with_values(_op("csr_softmax_entries")(*logits._places(), values, logits.shape))


@_public
def coo_concat(sp_input, concat_dim=0):
    """COOTensors, or tuples of their parts, one after the other along a dim; entries in ascending
    order of indices."""
    parts = [COOTensor(*x) if type(x) is tuple else x for x in sp_input]
    if len(parts) < 2:
        raise ValueError(f"coo_concat: at least 2 COOTensors are needed, got {len(parts)}")
    for x in parts:
        _need("coo_concat", COOTensor, sp_input=x)
    rank = parts[0].ndim
    if isinstance(concat_dim, bool) or not isinstance(concat_dim, int):
        raise TypeError(f"coo_concat: 'concat_dim' must be an int, got {concat_dim!r}")
    if not -rank <= concat_dim < rank:
        raise ValueError(f"coo_concat: 'concat_dim' must be in [{-rank}, {rank}), got {concat_dim}")
    dim, at, moved = concat_dim % rank, 0, []
    for x in parts:
        if x.ndim != rank or any(
            d != dim and m != n for d, (m, n) in enumerate(zip(x.shape, parts[0].shape))
        ):
            raise ValueError(
                f"coo_concat: shapes must agree but for dim {dim}, got {parts[0].shape} and "
                f"{x.shape}"
            )
        step = Tensor([at if d == dim else 0 for d in range(rank)], mstype.int64)
        moved.append(x.indices.astype(mstype.int64) + step)
        at += x.shape[dim]
    shape = tuple(at if d == dim else n for d, n in enumerate(parts[0].shape))
    indices, values = _op("concat")(moved, 0), _op("concat")([x.values for x in parts], 0)
    place = indices[:, 0]
    for d in range(1, rank):
        place = place * shape[d] + indices[:, d]
    order = _op("sort")(place, 0)[1]
    return COOTensor(_op("gather")(indices, order, 0), _op("gather")(values, order, 0), shape)


@_public
def row_tensor_add(x, y):
    """The sum of a RowTensor and another, as a RowTensor with the rows of both, or of a RowTensor
    and a dense tensor, which is dense."""
    _need("row_tensor_add", RowTensorInner, x=x)
    if tuple(y.shape) != x.shape:
        raise ValueError(f"row_tensor_add: shapes must be equal, got {x.shape} and {y.shape}")
    if isinstance(y, RowTensorInner):
        parts = (_op("concat")([x[i], y[i]], 0) for i in (0, 1))
        return RowTensorInner(*parts, x.shape)
    _need("row_tensor_add", Tensor, y=y)
    places = _wide(x.indices).reshape(-1, 1)
    return _op("tensor_scatter_add")(y, places, x.values.astype(y.dtype))


# -- primitive classes whose shapes come between operands


def _dense_matmul(indices, values, sparse_shape, dense, *, adjoint_st, adjoint_dt):
    return _op("sparse_tensor_dense_matmul")(
        indices, values, dense, _ints(sparse_shape), adjoint_st, adjoint_dt
    )


def _dense_add(x1_indices, x1_values, x1_shape, x2):
    return _op("sparse_tensor_dense_add")(x1_indices, x1_values, x2, _ints(x1_shape))


SparseTensorDenseMatmul = _primitive(
    "SparseTensorDenseMatmul",
    _dense_matmul,
    "The product of a COO matrix and a dense one: call(indices, values, sparse_shape, dense).",
    adjoint_st=False,
    adjoint_dt=False,
)
SparseTensorDenseAdd = _primitive(
    "SparseTensorDenseAdd",
    _dense_add,
    "A dense tensor with a COO tensor added: call(x1_indices, x1_values, x1_shape, x2).",
)
__all__ += ["SparseTensorDenseAdd", "SparseTensorDenseMatmul"]
