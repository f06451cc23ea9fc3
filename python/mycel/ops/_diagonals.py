"""Bands of diagonals of matrices in the published forms, whose positions may be tensors."""

from mycel._mycel import Tensor, entry
from mycel.ops._forms import _op, _primitive, _tensor


def _diagonals(k):
    if isinstance(k, Tensor):
        k = k.tolist()
    return tuple(k) if isinstance(k, (tuple, list)) else (k,)


def _number(value):
    return int(value.item() if isinstance(value, Tensor) else value)


def _padding(x, value):
    return value.astype(x.dtype) if isinstance(value, Tensor) else Tensor(value, x.dtype)


@entry
def matrix_diag(x, k=0, num_rows=-1, num_cols=-1, padding_value=0, align="RIGHT_LEFT"):
    """Matrices with diagonals k, or k[0] to k[1] packed in rows, and padding_value elsewhere; -1
    rows or columns are as few as fit."""
    x = _tensor(x)
    return _op("matrix_diag")(
        x, _padding(x, padding_value), _diagonals(k), _number(num_rows), _number(num_cols), align
    )


@entry
def matrix_diag_part(x, k=0, padding_value=0, align="RIGHT_LEFT"):
    """Diagonals k, or k[0] to k[1] packed in rows, the highest first, of matrices."""
    x = _tensor(x)
    return _op("matrix_diag_part")(x, _padding(x, padding_value), _diagonals(k), align)


@entry
def matrix_set_diag(x, diagonal, k=0, align="RIGHT_LEFT"):
    """Matrices x with other diagonals k, or k[0] to k[1] packed in rows."""
    return _op("matrix_set_diag")(x, diagonal, _diagonals(k), align)


MatrixDiagV3 = _primitive(
    "MatrixDiagV3",
    lambda x, k, num_rows, num_cols, padding_value, align: matrix_diag(
        x, k, num_rows, num_cols, padding_value, align
    ),
    "Called with (x, k, num_rows, num_cols, padding_value): matrix_diag.",
    align="RIGHT_LEFT",
)
MatrixDiagPartV3 = _primitive(
    "MatrixDiagPartV3",
    lambda x, k, padding_value, align: matrix_diag_part(x, k, padding_value, align),
    "Called with (x, k, padding_value): matrix_diag_part.",
    align="RIGHT_LEFT",
)
MatrixSetDiagV3 = _primitive(
    "MatrixSetDiagV3",
    lambda x, diagonal, k, align: matrix_set_diag(x, diagonal, k, align),
    "Called with (x, diagonal, k): matrix_set_diag.",
    align="RIGHT_LEFT",
)

__all__ = [
    *("MatrixDiagPartV3", "MatrixDiagV3", "MatrixSetDiagV3"),
    *("matrix_diag", "matrix_diag_part", "matrix_set_diag"),
]
