"""Published forms of linear algebra whose arguments or results differ from the record's: results
that are asked for, tolerances, orders of norms, bands of diagonals."""

from mycel._mycel import Tensor, entry
from mycel._mycel import op as _op
from mycel.common import dtype as mstype
from mycel.ops._forms import _primitive, _tensor
from mycel.ops.primitive import Primitive


def _flag(fn, name, value):
    if not isinstance(value, bool):
        raise TypeError(f"{fn}: '{name}' must be a bool, got {type(value).__name__}")
    return value


# -- decompositions


@entry
def svd(input, full_matrices=False, compute_uv=True):  # noqa: A002
    """The singular values s of each matrix [..., m, n], falling, and u and v so that it is
    u diag(s) v^H: (s, u, v), or s alone without compute_uv. u and v have min(m, n) columns, and are
    square with full_matrices. TypeError for dtypes other than float32, float64 and the complex
    ones."""
    full = _flag("svd", "full_matrices", full_matrices)
    if not _flag("svd", "compute_uv", compute_uv):
        return _op("singular_values")(_tensor(input))
    return tuple(_op("svd_vectors")(_tensor(input), full))


class Svd(Primitive):
    """Primitive form of svd; without compute_uv, u and v are zeros of no dims."""

    def __init__(self, full_matrices=False, compute_uv=True):
        super().__init__()
        self.add_prim_attr("full_matrices", _flag("Svd", "full_matrices", full_matrices))
        self.add_prim_attr("compute_uv", _flag("Svd", "compute_uv", compute_uv))

    def __call__(self, input):  # noqa: A002
        if self.attrs["compute_uv"]:
            return svd(input, self.attrs["full_matrices"])
        s = svd(input, compute_uv=False)
        none = Tensor(0, _tensor(input).dtype)
        return s, none, none


class Eig(Primitive):
    """Primitive form of eig: eigenvalues and eigenvectors; without compute_v the second result is
    a zero of no dims."""

    def __init__(self, compute_v=False):
        super().__init__()
        self.add_prim_attr("compute_v", _flag("Eig", "compute_v", compute_v))

    def __call__(self, x):
        if self.attrs["compute_v"]:
            return tuple(_op("eig")(x))
        w = _op("eigvals")(x)
        return w, Tensor(0, w.dtype)


def _unpacked(fn, data, pivots, unpack_data, unpack_pivots):
    data, pivots = _tensor(data), _tensor(pivots)
    p, lower, upper = _op("lu_unpack")(data, pivots)
    if not _flag(fn, "unpack_data", unpack_data):
        lower = upper = None
    return (p if _flag(fn, "unpack_pivots", unpack_pivots) else None), lower, upper


@entry
def lu_unpack(LU_data, LU_pivots, unpack_data=True, unpack_pivots=True):  # noqa: N803
    """(p, l, u) with a = p l u from LU factors [..., m, n] and pivots, which count from 1. p is
    None without unpack_pivots, l and u without unpack_data."""
    return _unpacked("lu_unpack", LU_data, LU_pivots, unpack_data, unpack_pivots)


LuUnpack = _primitive(
    "LuUnpack",
    lambda data, pivots, **k: _unpacked("LuUnpack", data, pivots, **k),
    "Primitive form of lu_unpack.",
    unpack_data=True,
    unpack_pivots=True,
)


# -- inverses and least squares


@entry
def pinv(x, *, atol=None, rtol=None, hermitian=False):
    """The pseudo-inverse [..., n, m] of each matrix [..., m, n]. Singular values of
    max(atol, rtol times the largest) or less count as 0; rtol is max(m, n) epsilon unless given,
    and 0 beside an atol above 0. Tolerances are numbers or tensors that broadcast with the dims
    before the matrices. hermitian: only the lower triangle is read."""
    x = _tensor(x)
    kind = mstype.float64 if x.dtype in (mstype.float64, mstype.complex128) else mstype.float32
    given = [v if v is None or isinstance(v, Tensor) else Tensor(v, kind) for v in (atol, rtol)]
    return _op("pinv")(x, *given, hermitian=_flag("pinv", "hermitian", hermitian))


def _lstsq(x, a, fast, l2_regularizer):
    _flag("Lstsq", "fast", fast)
    if l2_regularizer != 0.0:
        raise ValueError(f"Lstsq: 'l2_regularizer' must be 0.0, got {l2_regularizer!r}")
    return _op("lstsq")(x, a)


Lstsq = _primitive(
    "Lstsq",
    _lstsq,
    "Primitive form of lstsq. Both values of fast solve by QR.",
    fast=True,
    l2_regularizer=0.0,
)


# -- norms


@entry
def norm(A, ord=None, dim=None, keepdim=False, *, dtype=None):  # noqa: A002, N803
    """The norm of vectors along one dim, or of matrices in two.

    ord: of vectors any number, 0 counting and inf taking the largest; None is 2. Of matrices None
    or 'fro' (the root of the sum of squares), 'nuc' (the sum of singular values), inf, -inf, 1, -1
    (sums of rows or columns), 2, -2 (the largest or smallest singular value). Without dim all
    elements count, and with an ord A has one dim or two. ValueError for others."""
    x = _tensor(A)
    if not isinstance(ord, str):
        return _op("norm")(x, ord, dim, keepdim, dtype)
    if ord not in ("fro", "nuc"):
        raise ValueError(f"norm: 'ord' must be a number, 'fro' or 'nuc', got {ord!r}")
    axes = tuple(range(x.ndim)) if dim is None else dim
    if isinstance(axes, int) or len(axes) != 2:
        raise ValueError(f"norm: 'ord' {ord!r} is a norm of matrices in two dims, got dim {dim!r}")
    if ord == "fro":
        return _op("norm")(x, None, axes, keepdim, dtype)
    x = x if dtype is None else _op("cast")(x, dtype)
    return _op("nuclear_norm")(x, axes, keepdim)


# -- diagonals


def _whole(fn, name, value):
    """An int from an int or a tensor of one."""
    if isinstance(value, Tensor) and value.size == 1 and value.dtype in mstype.int_type:
        value = value.reshape(()).item()
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{fn}: '{name}' must be an int, got {value!r}")
    return value


def _band(fn, k):
    if isinstance(k, Tensor):
        k = k.tolist()
    k = (k,) if isinstance(k, int) else tuple(k)
    if len(k) not in (1, 2):
        raise ValueError(f"{fn}: 'k' must be one diagonal or the lowest and the highest, got {k}")
    return tuple(_whole(fn, "k", d) for d in k)


def _padding(x, value):
    if isinstance(value, Tensor):
        if value.size != 1:
            raise ValueError(f"padding_value must be one number, got shape {value.shape}")
        return value.reshape(())
    return Tensor(value, x.dtype) if value else None


@entry
def matrix_diag(x, k=0, num_rows=-1, num_cols=-1, padding_value=0, align="RIGHT_LEFT"):
    """Matrices with the diagonals x on them and padding_value elsewhere.

    k: one diagonal, column minus row, or the lowest and the highest. x is [..., n] for one, [...,
    count, longest] for several, the highest first; align says to which side shorter ones above and
    below the main diagonal are put. num_rows and num_cols of -1: as few as fit. ValueError where
    the sizes do not belong together."""
    x = _tensor(x)
    rows, columns = (
        _whole("matrix_diag", "num_rows", num_rows),
        _whole("matrix_diag", "num_cols", num_cols),
    )
    pad = _padding(x, padding_value)
    return _op("matrix_diag_band")(x, pad, _band("matrix_diag", k), rows, columns, align)


@entry
def matrix_diag_part(x, k=0, padding_value=0, align="RIGHT_LEFT"):
    """The diagonals k of each matrix, as matrix_diag takes them: one is [..., n], several are [...,
    count, longest], shorter ones filled up with padding_value."""
    x = _tensor(x)
    pad = _padding(x, padding_value)
    return _op("matrix_diag_part_band")(x, pad, _band("matrix_diag_part", k), align)


@entry
def matrix_set_diag(x, diagonal, k=0, align="RIGHT_LEFT"):
    """x with the diagonals k of each matrix replaced; `diagonal` is as matrix_diag_part gives
    them."""
    return _op("matrix_set_diag_band")(
        _tensor(x), _tensor(diagonal), _band("matrix_set_diag", k), align
    )


def _diagonal_class(name, fn):
    return _primitive(name, fn, f"Primitive form of {fn.__name__}.", align="RIGHT_LEFT")


MatrixDiagV3 = _diagonal_class("MatrixDiagV3", matrix_diag)
MatrixDiagPartV3 = _diagonal_class("MatrixDiagPartV3", matrix_diag_part)
MatrixSetDiagV3 = _diagonal_class("MatrixSetDiagV3", matrix_set_diag)

__all__ = [
    "Eig",
    "Lstsq",
    "LuUnpack",
    "MatrixDiagPartV3",
    "MatrixDiagV3",
    "MatrixSetDiagV3",
    "Svd",
    "lu_unpack",
    "matrix_diag",
    "matrix_diag_part",
    "matrix_set_diag",
    "norm",
    "pinv",
    "svd",
]
