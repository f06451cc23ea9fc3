"""Sparse tensors against scipy.sparse and NumPy, eager and as values of compiled functions."""

import copy
import pickle

import mycel as ms
import numpy as np
import pytest
import scipy.sparse as sp
from mycel import COOTensor, CSRTensor, Tensor, jit, nn, ops

RNG = np.random.default_rng(3)


def matrix(rows, columns, density=0.4, seed=0):
    return sp.random(rows, columns, density, "csr", np.float32, np.random.default_rng(seed))


def csr(m, dtype=ms.int32):
    parts = Tensor(m.indptr, dtype), Tensor(m.indices, dtype), Tensor(m.data)
    return CSRTensor(*parts, m.shape)


def coo(m, dtype=ms.int32):
    m = m.tocoo()
    return COOTensor(Tensor(np.stack([m.row, m.col], 1), dtype), Tensor(m.data), m.shape)


def back(x):
    """A CSRTensor or COOTensor as scipy's."""
    if isinstance(x, CSRTensor):
        parts = x.values.asnumpy(), x.indices.asnumpy(), x.indptr.asnumpy()
        return sp.csr_matrix(parts, x.shape)
    i = x.indices.asnumpy()
    return sp.coo_matrix((x.values.asnumpy(), (i[:, 0], i[:, 1])), x.shape)


def check(x, want, **tolerance):
    if isinstance(x, (COOTensor, CSRTensor)):
        x = back(x).toarray()
    elif isinstance(x, Tensor):
        x = x.asnumpy()
    want = want.toarray() if sp.issparse(want) else want
    np.testing.assert_allclose(x, want, **{"rtol": 1e-5, "atol": 1e-6, **tolerance})


A, B, D = matrix(4, 5), matrix(4, 5, seed=1), RNG.normal(size=(4, 5)).astype(np.float32)
TWICE = COOTensor(Tensor([[0, 1], [1, 2], [0, 1]], ms.int32), Tensor([1.0, 2.0, 3.0]), (3, 4))


def test_parts_and_properties():
    c, r = coo(A), csr(A)
    for x, names in ((c, ("indices", "values")), (r, ("indptr", "indices", "values"))):
        assert x.shape == (4, 5) and x.ndim == 2 and x.dtype == ms.float32
        assert x.size == A.nnz and x.itemsize == 4
        parts = x.to_tuple()
        assert type(parts) is tuple and parts[-1] == (4, 5)
        for name, part in zip(names, parts):
            np.testing.assert_array_equal(getattr(x, name).asnumpy(), part.asnumpy())
        assert x.astype(ms.float64).dtype == ms.float64
        check(x.abs(), abs(A))
        check(-x, -A)
        check(type(x)(**{f"{type(x).__name__[:3].lower()}_tensor": x}), A)
        check(pickle.loads(pickle.dumps(x)), A)
        check(copy.deepcopy(x), A)
        assert repr(x).startswith(f"{type(x).__name__}(shape=[4, 5], dtype=Float32, ind")
        assert x == x and x != copy.copy(x.astype(ms.float64)) and len({x, x}) == 1


@pytest.mark.parametrize("index", [ms.int16, ms.int32, ms.int64])
def test_forms(index):
    c, r = coo(A, index), csr(A, index)
    for x in (c, r, c.to_csr(), r.to_coo(), ops.csr_to_coo(r)):
        check(x, A)
        check(x.to_dense(), A)
    check(ops.csr_to_dense(r), A)
    dense = Tensor(A.toarray())
    for x in (dense.to_coo(), dense.to_csr(), ops.dense_to_sparse_coo(dense),
              ops.dense_to_sparse_csr(dense)):  # fmt: skip
        check(x, A)
        assert x.size == A.nnz
    shuffled = COOTensor(c.indices[::-1], c.values[::-1], c.shape)
    check(shuffled.to_csr(), A)


def test_pieces():
    np.testing.assert_array_equal(ops.csr2coo(Tensor(A.indptr), A.nnz).asnumpy(), A.tocoo().row)
    rows = Tensor(A.tocoo().row.astype(np.int32))
    np.testing.assert_array_equal(ops.coo2csr(rows, 4).asnumpy(), A.indptr)
    at = ops.csr_gather(Tensor(A.indptr), Tensor(A.indices), Tensor(D), (4, 5))
    check(at, D[A.nonzero()])
    parts = ops.coalesce(
        Tensor([[0, 0, 1, 0], [1, 1, 2, 0]], ms.int64), Tensor([1.0, 5.0, 4.0, 2.0]),
        Tensor([3, 3], ms.int64))  # fmt: skip
    for got, want in zip(parts, ([[0, 0, 1], [0, 1, 2]], [2, 6, 4], [3, 3])):
        np.testing.assert_array_equal(got.asnumpy(), want)
    once = TWICE.coalesce()
    np.testing.assert_array_equal(once.indices.asnumpy(), [[0, 1], [1, 2]])
    np.testing.assert_array_equal(once.values.asnumpy(), [4, 2])
    check(TWICE.to_csr(), back(TWICE))


def test_arithmetic():
    dense = Tensor(D)
    for make in (coo, csr):
        a, b = make(A), make(B)
        check(a + b, A + B)
        check(a - b, A - B)
        check(a * dense, A.multiply(D))
        check(a / dense, A.multiply(1 / D))
        check(a * 3, A * 3)
        check(2.0 * a, A * 2)
        check(a / 4, A / 4)
    check(coo(A) + dense, A + D)
    check(dense + coo(A), D + A)
    check(dense - coo(A), D - A)
    check(dense * csr(A), A.multiply(D))
    check(coo(A) - dense, A - D)
    check(ops.csr_add(csr(A), csr(B), Tensor(2.0), Tensor(-3.0)), 2 * A - 3 * B)
    check(csr(A).add(csr(B), Tensor(2), Tensor(1)), 2 * A + B)
    total = ops.coo_add(coo(A), coo(B), Tensor(0.9))
    want = (A + B).toarray()
    check(total, np.where(abs(want) >= 0.9, want, 0))
    assert abs(total.values.asnumpy()).min() >= 0.9
    check(ops.csr_mul(csr(A), Tensor(D[0])), A.multiply(D[0]))
    check(ops.csr_div(csr(A), Tensor(D[:, :1])), A.multiply(1 / D[:, :1]))
    check(csr(A).astype(ms.float64) + csr(B), A + B)
    assert (coo(A).astype(ms.float64) + coo(B)).dtype == ms.float64


def test_products():
    m, x = matrix(5, 3, seed=2), RNG.normal(size=(5, 3)).astype(np.float32)
    a = csr(A)
    check(a.mm(Tensor(x)), A @ x)
    check(a.mv(Tensor(x[:, 0])), A @ x[:, 0])
    check(ops.csr_mv(a, Tensor(x[:, :1])), A @ x[:, :1])
    check(a.mm(csr(m)), A @ m)
    check(ops.csr_mm(a, csr(m)), A @ m)
    check(ops.csr_mm(csr(A.T.tocsr()), csr(m.T.tocsr()), trans_a=True, trans_b=True), A @ m)
    check(ops.csr_mm(csr(A.T.tocsr()), Tensor(x.T.copy()), adjoint_a=True, adjoint_b=True), A @ x)
    multiply = ops.SparseTensorDenseMatmul()
    check(multiply(coo(A).indices, coo(A).values, (4, 5), Tensor(x)), A @ x)
    check(ops.SparseTensorDenseMatmul(True, True)(
        coo(A).indices, coo(A).values, (4, 5), Tensor(D.T.copy())), A.T @ D)  # fmt: skip
    layer = nn.SparseTensorDenseMatmul(adjoint_st=True)
    check(layer(coo(A).indices, coo(A).values, (4, 5), Tensor(D)), A.T @ D)
    check(nn.SparseToDense()(coo(A)), A)
    check(ops.SparseToDense()(coo(A).indices, coo(A).values, (4, 5)), A)
    added = ops.SparseTensorDenseAdd()(coo(A).indices, coo(A).values, (4, 5), Tensor(D))
    check(added, A + D)


def test_large():
    """Several threads, blocks of columns, and more entries than are sorted by comparison."""
    rng = np.random.default_rng(0)
    a, b = (sp.random(1500, 1500, 0.01, "csr", np.float64, rng) for _ in range(2))
    x = rng.normal(size=(1500, 70))
    check(csr(a).mm(Tensor(x)), a @ x)
    check(csr(a).mm(csr(b)), a @ b)
    check(csr(a) + csr(b), a + b)
    order = rng.permutation(a.nnz)
    whole = coo(a)
    mixed = COOTensor(whole.indices[Tensor(order)], whole.values[Tensor(order)], a.shape)
    multiply = ops.SparseTensorDenseMatmul()
    check(multiply(mixed.indices, mixed.values, a.shape, Tensor(x)), a @ x)
    check(mixed.to_csr(), a)
    check(mixed.coalesce(), a)
    parts = Tensor(a.indptr), Tensor(a.indices)
    got = ops.grad(lambda v: (CSRTensor(*parts, v, a.shape).mm(Tensor(x)) * Tensor(x)).sum())(
        Tensor(a.data)
    )
    rows = a.tocoo().row
    check(got, (x[rows] * x[a.indices]).sum(1))


def test_reductions():
    a = csr(A)
    for axis in (0, 1):
        check(a.sum(axis), A.toarray().sum(axis, keepdims=True))
        check(ops.csr_reduce_sum(a, axis - 2), A.toarray().sum(axis, keepdims=True))
    masked = np.where(A.toarray() != 0, A.toarray(), -np.inf)
    with np.errstate(invalid="ignore"):
        weights = np.exp(masked - masked.max(1, keepdims=True))
    want = np.nan_to_num(weights / weights.sum(1, keepdims=True))
    check(ops.csr_softmax(a, ms.float64), want)
    assert ops.csr_softmax(a, ms.float64).dtype == ms.float64
    check(ops.csr_softmax(a), want)


def test_values_of_more_dims():
    values = RNG.normal(size=(A.nnz, 2)).astype(np.float32)
    x = CSRTensor(Tensor(A.indptr), Tensor(A.indices), Tensor(values), (4, 5, 2))
    want = np.zeros((4, 5, 2), np.float32)
    want[A.nonzero()] = values
    check(x.to_dense(), want)
    check(x.sum(1), want.sum(1, keepdims=True))
    check((x * Tensor(want + 1)).to_dense(), want * (want + 1))


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_concat(dim):
    got = ops.coo_concat((coo(A), coo(B).to_tuple()), dim)
    check(got, (sp.vstack if dim == 0 else sp.hstack)([A, B]))
    places = got.indices.asnumpy()
    assert (np.lexsort(places.T[::-1]) == np.arange(len(places))).all()


def test_cut():
    i, v, s = coo(A, ms.int64)
    sizes = (Tensor(n, ms.int64) for n in ([4, 5], [1, 2], [2, 9]))
    indices, values, shape = ops.SparseSlice()(i, v, *sizes)
    assert shape.asnumpy().tolist() == [2, 3]
    check(COOTensor(indices, values, (2, 3)), A[1:3, 2:])


def test_segments():
    x = RNG.normal(size=(4, 3)).astype(np.float32)
    got = ops.sparse_segment_mean(Tensor(x), Tensor([3, 0, 1]), Tensor([0, 0, 2]))
    check(got, np.stack([(x[3] + x[0]) / 2, np.zeros(3), x[1]]))


ELEMENTWISE = {
    "abs": np.abs, "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh,
    "atan": np.arctan, "atanh": np.arctanh, "ceil": np.ceil, "cos": np.cos, "cosh": np.cosh,
    "exp": np.exp, "expm1": np.expm1, "floor": np.floor, "inv": np.reciprocal,
    "isfinite": np.isfinite, "isinf": np.isinf, "isnan": np.isnan, "log": np.log,
    "log1p": np.log1p, "neg": np.negative, "relu": lambda x: np.maximum(x, 0),
    "relu6": lambda x: np.clip(x, 0, 6), "round": np.round,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "sin": np.sin, "sinh": np.sinh,
    "softsign": lambda x: x / (1 + abs(x)), "sqrt": np.sqrt, "square": np.square, "tan": np.tan,
    "tanh": np.tanh,
}  # fmt: skip


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise(name):
    values = A.data + 1 if name == "acosh" else A.data
    for kind, x in (("coo", coo(A)), ("csr", csr(A))):
        got = getattr(ops, f"{kind}_{name}")(x.with_values(Tensor(values)))
        assert type(got) is type(x)
        check(got.values, ELEMENTWISE[name](values))
        with pytest.raises(TypeError, match=f"{kind}_{name}: 'x' must be a {kind.upper()}Tensor"):
            getattr(ops, f"{kind}_{name}")(Tensor(D))


def test_getters_and_makers():
    c, r = coo(A), csr(A)
    assert ops.coo_tensor_get_dense_shape(c) == ops.csr_tensor_get_dense_shape(r) == (4, 5)
    check(ops.make_coo_tensor(ops.coo_tensor_get_indices(c), ops.coo_tensor_get_values(c), (4, 5)),
          A)  # fmt: skip
    parts = (ops.csr_tensor_get_indptr(r), ops.csr_tensor_get_indices(r))
    check(ops.make_csr_tensor(*parts, ops.csr_tensor_get_values(r), (4, 5)), A)
    rows = ms.RowTensor(Tensor([0, 2]), Tensor([[1.0, 2.0], [3.0, 4.0]]), (3, 2))
    assert rows.dense_shape == ops.row_tensor_get_dense_shape(rows) == (3, 2)
    check(ops.row_tensor_add(rows, Tensor(np.ones((3, 2), np.float32))), [[2, 3], [1, 1], [4, 5]])
    both = ops.row_tensor_add(rows, rows)
    assert ops.row_tensor_get_indices(both).asnumpy().tolist() == [0, 2, 0, 2]
    assert isinstance(ms.SparseTensor(*c), COOTensor)


# -- values of compiled functions


def test_through_a_compiled_function():
    @jit
    def double(x):
        return x + x, x.to_dense(), x.values

    for x in (coo(A), csr(A)):
        total, dense, values = double(x)
        assert type(total) is type(x)
        check(total, A + A)
        check(dense, A)
        check(values, A.data)


def test_made_inside():
    @jit
    def make(dense, x):
        inner = ops.dense_to_sparse_csr(dense)
        return inner.mm(x), inner.sum(1), ops.csr_softmax(inner).to_coo()

    x = RNG.normal(size=(5, 2)).astype(np.float32)
    product, sums, soft = make(Tensor(A.toarray()), Tensor(x))
    check(product, A @ x)
    check(sums, A.sum(1))
    check(soft, back(ops.csr_softmax(csr(A))))


def test_in_branches_and_loops():
    @jit
    def power(x, n, flag):
        y = x * 1.0
        while n > 0:
            y = y * 2.0
            n = n - 1
        if flag.sum() > 0:
            z = y
        else:
            z = y * -1.0
        return z

    check(power(csr(A), Tensor(3), Tensor([1])), 8 * A)
    check(power(coo(A), Tensor(2), Tensor([-1])), -4 * A)


def test_in_a_network():
    class Graph(nn.Cell):
        """Two steps of neighbours' features."""

        def __init__(self):
            super().__init__()
            self.dense = nn.Dense(3, 2)

        def construct(self, indptr, indices, values, x):
            a = CSRTensor(indptr, indices, values, (4, 4))
            return a.mm(self.dense(a.mm(x)))

    m, x = matrix(4, 4, seed=5), RNG.normal(size=(4, 3)).astype(np.float32)
    net = Graph()
    got = net(Tensor(m.indptr), Tensor(m.indices), Tensor(m.data), Tensor(x))
    weight, bias = net.dense.weight.asnumpy(), net.dense.bias.asnumpy()
    check(got, m @ ((m @ x) @ weight.T + bias))


# -- gradients


def slopes(f, x, step=1e-6):
    out = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[i] += step
        down[i] -= step
        out[i] = (f(up) - f(down)) / (2 * step)
    return out


W = RNG.normal(size=(4, 5))
M = matrix(5, 3, seed=2).astype(np.float64)
OPERATIONS = {
    "to_dense": (lambda x, d: x.to_dense() * Tensor(W), lambda m, d: m.toarray() * W),
    "mm": (lambda x, d: x.mm(d.swapaxes(0, 1)) ** 2, lambda m, d: (m @ d.T) ** 2),
    "mul": (lambda x, d: (x * d).to_dense(), lambda m, d: m.multiply(d).toarray()),
    "div": (lambda x, d: (x / d).values, lambda m, d: m.multiply(1 / d).toarray()),
    "add": (lambda x, d: (x + x * d).to_dense() ** 2, lambda m, d: (m + m.multiply(d)).power(2)),
    "sum": (lambda x, d: (x * d).sum(1) ** 3, lambda m, d: np.power(m.multiply(d).sum(1), 3)),
    "sparse": (
        lambda x, d: (x * d).mm(csr(M)).to_dense() ** 2,
        lambda m, d: (m.multiply(d) @ M).power(2),
    ),
    "transposed": (
        lambda x, d: ops.csr_mm(x, d, trans_a=True) ** 2,
        lambda m, d: np.power(m.T @ d, 2),
    ),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_gradients(name):
    ours, theirs = OPERATIONS[name]
    m, d = A.astype(np.float64), D.astype(np.float64)
    parts = Tensor(m.indptr), Tensor(m.indices)

    def total(values, dense):
        return ours(CSRTensor(*parts, values, (4, 5)), dense).sum()

    def peer(values, dense):
        return theirs(sp.csr_matrix((values, m.indices, m.indptr), m.shape), dense).sum()

    got = ops.grad(total, (0, 1))(Tensor(m.data), Tensor(d))
    check(got[0], slopes(lambda v: peer(v, d), m.data), rtol=1e-5, atol=1e-6)
    check(got[1], slopes(lambda e: peer(m.data, e), d), rtol=1e-5, atol=1e-6)


def test_gradients_of_coo():
    c, d = coo(A.astype(np.float64)), D.astype(np.float64)

    def total(values, dense):
        x = COOTensor(c.indices, values, c.shape)
        return (((x + x * dense).to_dense() + (x + dense)) ** 2).sum()

    def peer(values, dense):
        x = np.zeros((4, 5))
        x[A.nonzero()] = values
        return ((x + x * dense + x + dense) ** 2).sum()

    values = c.values.asnumpy().copy()
    got = ops.grad(total, (0, 1))(c.values, Tensor(d))
    check(got[0], slopes(lambda v: peer(v, d), values), rtol=1e-5)
    check(got[1], slopes(lambda e: peer(values, e), d), rtol=1e-5)


def test_gradients_are_sparse_tensors():
    for x in (coo(A), csr(A)):
        got = ops.grad(lambda x: (x.to_dense() ** 3).sum())(x)
        assert type(got) is type(x)
        check(got, 3 * A.power(2))


def test_what_is_refused():
    i, v = coo(A).indices, coo(A).values
    p, c = csr(A).indptr, csr(A).indices
    for make, kind, text in (
        (lambda: COOTensor(i, v, [4, 5]), TypeError, "'shape' must be a tuple, got list"),
        (lambda: COOTensor(i, v, (4, 0)), ValueError, "'shape' must hold positive sizes"),
        (lambda: COOTensor(i, v, (4, 5, 6)), ValueError, r"'indices' must have shape \[nnz, 3\]"),
        (lambda: COOTensor(i, v[1:], (4, 5)), ValueError, "'values' must have shape"),
        (lambda: COOTensor(i.astype(ms.float32), v, (4, 5)), TypeError, "'indices' must be int16"),
        (lambda: COOTensor(i, coo_tensor=coo(A)), TypeError, "nothing else may be given"),
        (lambda: CSRTensor(p[1:], c, v, (4, 5)), ValueError, r"'indptr' must have shape \[5\]"),
        (lambda: CSRTensor(p, c, v, (4,)), ValueError, "'shape' must have at least 2 dims"),
        (lambda: CSRTensor(p, c, [1.0], (4, 5)), TypeError, "'values' must be a Tensor"),
        (lambda: coo(A) + 1, TypeError, "COOTensor: the sum of a int is not supported"),
        (lambda: coo(A) * coo(A), TypeError, "the product of two COOTensors"),
        (lambda: csr(A) + csr(matrix(3, 3)), ValueError, "the sum needs one shape"),
        (lambda: csr(A).mm(csr(A)), ValueError, "csr_mm: a has 5 columns, b 4 rows"),
        (lambda: csr(A).mm(Tensor(D)), ValueError, "the sparse matrix has 5 columns, dense 4"),
        (lambda: csr(A).sum(2), ValueError, "axis"),
        (lambda: ops.coo_concat((coo(A),)), ValueError, "at least 2 COOTensors"),
        (lambda: ops.csr_softmax(csr(A), ms.int32), TypeError, "values must be floats"),
        (lambda: ops.dense_to_sparse_csr(Tensor([1.0])), ValueError, "must be a matrix"),
        (lambda: COOTensor(i + 9, v, (4, 5)).to_dense(), IndexError, "index 9 .* is outside"),
    ):
        with pytest.raises(kind, match=text):
            make()
