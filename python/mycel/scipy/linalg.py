"""Linear algebra under SciPy's names. Matrices are the last two dims; integers become float64.
overwrite_a, overwrite_b and check_finite are accepted: values are never overwritten, and NaN and
inf are computed with as they come."""

from mycel._mycel import Tensor, entry
from mycel.common import dtype as mstype
from mycel.scipy._operands import adjoint, flag, floating, matrix, op, together

__all__ = [
    "block_diag",
    "cho_factor",
    "cho_solve",
    "cholesky",
    "det",
    "eigh",
    "expm",
    "inv",
    "lu",
    "lu_factor",
    "lu_solve",
    "solve_triangular",
]


@entry
def block_diag(*arrs):
    """A matrix with the operands (matrices; vectors count as rows) along the diagonal and zeros
    elsewhere. ValueError for more than two dims."""
    if not arrs:
        return op("zeros")((1, 0), mstype.float32)
    return op("block_diag")(*[a if isinstance(a, Tensor) else Tensor(a) for a in arrs])


@entry
def inv(a, overwrite_a=False, check_finite=True):
    """The inverse of each square matrix. ValueError for a singular one."""
    return op("inverse")(matrix("inv", "a", a, square=True))


@entry
def det(a, overwrite_a=False, check_finite=True):
    """The determinant of each square matrix."""
    return op("det")(matrix("det", "a", a, square=True))


@entry
def expm(a):
    """The exponential of each square matrix."""
    return op("matrix_exp")(matrix("expm", "a", a, square=True))


# -- triangles

_TRANS = {0: 0, 1: 1, 2: 2, "N": 0, "T": 1, "C": 2}


def _trans(fn, trans):
    if isinstance(trans, bool) or not isinstance(trans, (int, str)) or trans not in _TRANS:
        raise ValueError(f"{fn}: 'trans' must be 0, 1, 2, 'N', 'T' or 'C', got {trans!r}")
    return _TRANS[trans]


def _columns(fn, a, b):
    """b as columns that belong to a, and whether it was one vector."""
    one = b.ndim == 1 or b.ndim == a.ndim - 1
    b = op("expand_dims")(b, -1) if one else b
    if b.shape[-2] != a.shape[-1]:
        raise ValueError(f"{fn}: a of shape {a.shape} and b of shape {b.shape} do not fit")
    return b, one


def _solved(a, b, trans, lower, unit):
    """op(a)^-1 b for a triangle a; a^T is the adjoint of the conjugate."""
    if trans == 1:
        a = op("conj")(a)
    return op("triangular_solve")(a, b, lower, unit, trans != 0)


@entry
def solve_triangular(
    a, b, trans=0, lower=False, unit_diagonal=False, overwrite_b=False, debug=None,
    check_finite=True,
):  # fmt: skip
    """x with op(a) x = b for the upper (lower) triangle of a; b is a vector or columns.

    trans: 0 or 'N' for a itself, 1 or 'T' for its transpose, 2 or 'C' for the conjugate one.
    unit_diagonal: the diagonal counts as ones. debug has no meaning here. ValueError for a zero on
    the diagonal."""
    name = "solve_triangular"
    a, b = together(matrix(name, "a", a, square=True), floating(name, "b", b))
    b, one = _columns(name, a, b)
    x = _solved(
        a, b, _trans(name, trans), flag(name, "lower", lower), flag(name, "unit_diagonal",
        unit_diagonal),
    )  # fmt: skip
    return op("squeeze")(x, -1) if one else x


@entry
def cholesky(a, lower=False, overwrite_a=False, check_finite=True):
    """The upper triangle u of a = u^H u, or the lower one l of a = l l^H, for Hermitian positive
    definite matrices. ValueError for others."""
    return op("cholesky")(
        matrix("cholesky", "a", a, square=True), not flag("cholesky", "lower", lower)
    )


@entry
def cho_factor(a, lower=False, overwrite_a=False, check_finite=True):
    """(c, lower): the factor of cholesky, and which triangle it is, for cho_solve. The other
    triangle of c is zero."""
    a = matrix("cho_factor", "a", a, square=True)
    return op("cholesky")(a, not flag("cho_factor", "lower", lower)), lower


@entry
def cho_solve(c_and_lower, b, overwrite_b=False, check_finite=True):
    """x with a x = b from cho_factor(a); b is a vector or columns."""
    c, lower = c_and_lower
    c, b = together(matrix("cho_solve", "c", c, square=True), floating("cho_solve", "b", b))
    b, one = _columns("cho_solve", c, b)
    x = op("cholesky_solve")(b, c, not flag("cho_solve", "lower", lower))
    return op("squeeze")(x, -1) if one else x


# -- LU


def _permutation(order, dtype):
    """The matrix p with p x[order] = x."""
    places = Tensor(list(range(order.shape[-1])), mstype.int32)
    hits = op("equal")(op("expand_dims")(order, -2), op("expand_dims")(places, -1))
    return op("cast")(hits, dtype)


@entry
def lu_factor(a, overwrite_a=False, check_finite=True):
    """(lu, piv): the LU factors of each matrix in one, with the ones on l's diagonal left out, and
    the row (from 0) that was exchanged with row i in step i, int32."""
    packed, pivots, _ = op("lu_factor")(matrix("lu_factor", "a", a))
    return packed, pivots


@entry
def lu(a, permute_l=False, overwrite_a=False, check_finite=True):
    """(p, l, u) with a = p l u: a permutation, a lower triangle with ones on the diagonal, an upper
    triangle; with permute_l (p l, u)."""
    a = matrix("lu", "a", a)
    packed, _, order = op("lu_factor")(a)
    k = min(a.shape[-2:])
    low = op("tril")(packed[..., :k], -1) + op("eye")(a.shape[-2], k, a.dtype)
    p, up = _permutation(order, a.dtype), op("triu")(packed[..., :k, :])
    return (op("matmul")(p, low), up) if flag("lu", "permute_l", permute_l) else (p, low, up)


@entry
def lu_solve(lu_and_piv, b, trans=0, overwrite_b=False, check_finite=True):
    """x with op(a) x = b from lu_factor(a); trans as in solve_triangular, b a vector or
    columns."""
    packed, pivots = lu_and_piv
    packed, b = together(
        matrix("lu_solve", "lu", packed, square=True), floating("lu_solve", "b", b)
    )
    b, one = _columns("lu_solve", packed, b)
    trans = _trans("lu_solve", trans)
    order = op("pivots_to_permutation")(op("cast")(pivots, mstype.int32), packed.shape[-1])
    p = _permutation(order, packed.dtype)
    if trans == 0:
        y = _solved(packed, op("matmul")(adjoint(p), b), 0, True, True)
        x = _solved(packed, y, 0, False, False)
    else:
        y = _solved(packed, b, trans, False, False)
        x = op("matmul")(p, _solved(packed, y, trans, True, True))
    return op("squeeze")(x, -1) if one else x


# -- eigenvalues


def _whole(a, lower):
    """The Hermitian matrix of which one triangle is given."""
    a = a if lower else adjoint(a)
    strict = op("tril")(a, -1)
    diagonal = op("tril")(op("triu")(a))
    diagonal = (diagonal + op("conj")(diagonal)) * 0.5
    return strict + adjoint(strict) + diagonal


def _generalized(a, b, kind):
    """The Hermitian matrix of the standard problem, and what its vectors are multiplied with."""
    low = op("cholesky")(b)
    solve = lambda x, turned: op("triangular_solve")(low, x, True, False, turned)
    if kind == 1:
        half = solve(a, False)  # l^-1 a l^-H
        return solve(adjoint(half), False), lambda v: solve(v, True)
    middle = op("matmul")(adjoint(low), op("matmul")(a, low))
    if kind == 2:
        return middle, lambda v: solve(v, True)
    return middle, lambda v: op("matmul")(low, v)


@entry
def eigh(
    a, b=None, lower=True, eigvals_only=False, overwrite_a=False, overwrite_b=False, turbo=True,
    eigvals=None, type=1, check_finite=True,  # noqa: A002
):  # fmt: skip
    """Eigenvalues w, rising, and eigenvectors, the columns of v, of Hermitian matrices of which the
    lower (upper) triangle is read: (w, v), or w alone with eigvals_only.

    With b, positive definite, of the generalized problem: type 1 is a v = w b v, 2 is a b v = w v,
    3 is b a v = w v. eigvals: (first, last) indices of those wanted. turbo chooses an algorithm
    elsewhere. ValueError where nothing converges."""
    a = matrix("eigh", "a", a, square=True)
    lower, only = flag("eigh", "lower", lower), flag("eigh", "eigvals_only", eigvals_only)
    if type not in (1, 2, 3):
        raise ValueError(f"eigh: 'type' must be 1, 2 or 3, got {type!r}")
    back = None
    if b is not None:
        a, b = together(a, matrix("eigh", "b", b, square=True))
        a, back = _generalized(_whole(a, lower), _whole(b, lower), type)
    else:
        a = _whole(a, lower)
    first, last = (0, a.shape[-1] - 1) if eigvals is None else eigvals
    if not 0 <= first <= last < max(a.shape[-1], 1):
        raise ValueError(f"eigh: 'eigvals' must lie in [0, {a.shape[-1]}), got {eigvals!r}")
    if only:
        w = op("eigvalsh")(a)
        return w if eigvals is None else w[..., first : last + 1]
    w, v = op("eigh")(a)
    v = v if back is None else back(v)
    return (w, v) if eigvals is None else (w[..., first : last + 1], v[..., first : last + 1])
