"""Bands of diagonals against a definition in loops, and the published examples' layouts."""

import mycel as ms
import numpy as np
import pytest
from mycel import Tensor, nn, ops

X = np.arange(1.0, 25).reshape(2, 3, 4).astype(np.float32)
ALIGN = ["RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT"]


def diagonals(x, k, pad, align):
    """The diagonals of one matrix, the highest first."""
    lines = [np.diagonal(x, d) for d in range(k[1], k[0] - 1, -1)]
    longest = max(len(line) for line in lines)
    sides = align.split("_")
    rows = []
    for d, line in zip(range(k[1], k[0] - 1, -1), lines):
        gap = np.full(longest - len(line), pad, x.dtype)
        left = sides[0 if d >= 0 else 1] == "LEFT"
        rows.append(np.concatenate([line, gap] if left else [gap, line]))
    return np.stack(rows) if len(rows) > 1 else rows[0]


@pytest.mark.parametrize("align", ALIGN)
@pytest.mark.parametrize("k", [(0, 0), (1, 1), (-2, -2), (-1, 2), (-2, 3), (0, 2)])
def test_round_trip(k, align):
    want = np.stack([diagonals(m, k, 7, align) for m in X])
    key = Tensor(list(k), ms.int32).set_const_arg() if k[0] != k[1] else k[0]
    got = ops.matrix_diag_part(Tensor(X), key, 7, align)
    np.testing.assert_array_equal(got.asnumpy(), want)
    pad = Tensor(7.0, ms.float32)
    part = ops.MatrixDiagPartV3(align)(Tensor(X), key, pad)
    np.testing.assert_array_equal(part.asnumpy(), want)
    column, row = np.arange(4), np.arange(3)[:, None]
    inside = (column - row >= k[0]) & (column - row <= k[1])
    made = ops.matrix_diag(part, key, 3, 4, Tensor(5.0, ms.float32), align)
    np.testing.assert_array_equal(made.asnumpy(), np.where(inside, X, 5))
    made = ops.MatrixDiagV3(align)(part, key, 3, 4, Tensor(0.0, ms.float32))
    np.testing.assert_array_equal(made.asnumpy(), np.where(inside, X, 0))
    other = Tensor(-X)
    put = ops.matrix_set_diag(other, part, key, align)
    np.testing.assert_array_equal(put.asnumpy(), np.where(inside, X, -X))
    put = ops.MatrixSetDiagV3(align)(other, part, key)
    np.testing.assert_array_equal(put.asnumpy(), np.where(inside, X, -X))


def test_open_sizes():
    v = Tensor([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(ops.matrix_diag(v).asnumpy(), np.diag([1, 2, 3]))
    np.testing.assert_array_equal(ops.matrix_diag(v, 1).asnumpy(), np.diag([1, 2, 3], 1))
    assert ops.matrix_diag(v, 1, num_rows=3).shape == (3, 4)
    assert ops.matrix_diag(v, -1, num_cols=5).shape == (4, 5)


def test_gradients():
    part = lambda x: ops.reduce_sum(ops.matrix_diag_part(x, (-1, 1)) ** 2)
    column, row = np.arange(4), np.arange(3)[:, None]
    inside = abs(column - row) <= 1
    g = ops.grad(part)(Tensor(X))
    np.testing.assert_array_equal(g.asnumpy(), np.where(inside, 2 * X, 0))
    d = np.array([[1.0, 2, 3]] * 2, np.float32)
    put = lambda x, v: ops.reduce_sum(ops.matrix_set_diag(x, v) ** 2)
    gx, gd = ops.grad(put, (0, 1))(Tensor(X), Tensor(d))
    np.testing.assert_array_equal(gx.asnumpy(), np.where(column == row, 0, 2 * X))
    np.testing.assert_array_equal(gd.asnumpy(), 2 * d)


def test_layers():
    d = np.array([[1.0, 2, 3]] * 2, np.float32)
    np.testing.assert_array_equal(nn.MatrixDiag()(Tensor(d))[1].asnumpy(), np.diag([1, 2, 3]))
    got = nn.MatrixDiagPart()(Tensor(X)).asnumpy()
    np.testing.assert_array_equal(got, np.diagonal(X, 0, 1, 2))
    got = nn.MatrixSetDiag()(Tensor(X), Tensor(d)).asnumpy()
    want = X.copy()
    want[:, [0, 1, 2], [0, 1, 2]] = d
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize("shape", [(7, 3), (3, 7), (4, 4), (3, 3, 3)])
def test_fill_diagonal(shape, wrap):
    x = np.zeros(shape, np.float32)
    np.fill_diagonal(x, 9, wrap)
    got = ops.FillDiagonal(9.0, wrap)(Tensor(np.zeros(shape, np.float32)))
    np.testing.assert_array_equal(got.asnumpy(), x)
    got = Tensor(np.zeros(shape, np.int32)).fill_diagonal(9, wrap)
    np.testing.assert_array_equal(got.asnumpy(), x)


def test_diag_part():
    x = np.arange(36.0).reshape(2, 3, 2, 3)
    want = np.diagonal(x.reshape(6, 6)).reshape(2, 3)
    np.testing.assert_array_equal(ops.DiagPart()(Tensor(x)).asnumpy(), want)


def test_refusals():
    with pytest.raises(ValueError, match=r"'k' must lie in \(-3, 4\) for 3 by 4 matrices, got 4"):
        ops.matrix_diag_part(Tensor(X), 4)
    with pytest.raises(ValueError, match="the lowest and the highest"):
        ops.matrix_diag_part(Tensor(X), (1, 0))
    with pytest.raises(ValueError, match="need 3 by 3 matrices, got 2 by 3"):
        ops.matrix_diag(Tensor([1.0, 2.0, 3.0]), 0, 2, 3)
    with pytest.raises(ValueError, match=r"'diagonal' must be \(2, 3\)"):
        ops.matrix_set_diag(Tensor(X), Tensor(X))
    with pytest.raises(ValueError, match="must be equally long"):
        ops.FillDiagonal(1.0)(Tensor(X))
    with pytest.raises(ValueError, match="must repeat the first"):
        ops.DiagPart()(Tensor(X))
