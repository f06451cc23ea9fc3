"""cond, while_loop, fori_loop and scan in Python: eager, compiled, differentiated."""

import mycel as ms
import numpy as np
import pytest
from mycel import Tensor, ops

V = np.array([1.0, -2.0, 3.0], np.float32)


@pytest.fixture
def compiled(mode):
    return ms.jit if mode == "graph" else lambda f: f


def equal(got, want):
    np.testing.assert_allclose(got.asnumpy(), want, rtol=1e-6)


def test_cond_and_while(compiled):
    @compiled
    def f(x, n):
        x = ops.cond(n > 2, lambda v: v * 2, lambda v: v - 1, x)
        state = ops.while_loop(
            lambda s: s["i"] < n, lambda s: {"i": s["i"] + 1, "x": s["x"] * 2}, {"i": 0 * n, "x": x}
        )
        return state["x"]

    equal(f(Tensor(V), Tensor(3)), V * 2 * 8)
    equal(f(Tensor(V), Tensor(1)), (V - 1) * 2)


def test_fori_loop(compiled):
    @compiled
    def f(x, first, last):
        total, count = ops.fori_loop(
            first, last, lambda i, s: (s[0] + x * i, s[1] + 1), (ops.zeros_like(x), 0)
        )
        return total, count, ops.fori_loop(0, 3, lambda i, v: v * 2, x)

    for a, b in ((0, 5), (2, 4), (3, 3), (4, 1)):
        total, count, fixed = f(Tensor(V), Tensor(a), Tensor(b))
        equal(total, V * sum(range(a, b)))
        assert int(count) == len(range(a, b))
        equal(fixed, V * 8)


def test_scan(compiled):
    @compiled
    def f(start, xs, k):
        def step(carry, x):
            h = carry["h"] * k + x["a"]
            return {"h": h}, (h * x["b"], h > 0)

        return ops.scan(step, {"h": start}, xs)

    a, b = np.arange(12, dtype=np.float32).reshape(4, 3) - 5, np.arange(4, dtype=np.float32)
    h, ys, flags = V, [], []
    for i in range(4):
        h = h * 0.5 + a[i]
        ys.append(h * b[i])
        flags.append(h > 0)
    carry, (y, positive) = f(Tensor(V), {"a": Tensor(a), "b": Tensor(b)}, 0.5)
    equal(carry["h"], h)
    equal(y, np.stack(ys))
    assert positive.dtype == ms.bool_ and positive.asnumpy().tolist() == np.stack(flags).tolist()


def test_scan_without_rows(compiled):
    f = compiled(lambda x: ops.scan(lambda c, _: (c * 2, c), x, None, length=3))
    last, all_ = f(Tensor(V))
    equal(last, V * 8)
    equal(all_, np.stack([V, 2 * V, 4 * V]))


def test_gradients(compiled):
    def total(x, xs):
        _, ys = ops.scan(lambda c, v: (c * v, c * c), x, xs)
        return ys.sum() + ops.fori_loop(0, 3, lambda i, v: v * x, x).sum()

    rows = np.array([2.0, -1.0, 3.0])
    grad = compiled(lambda x, xs: ms.grad(total, (0, 1))(x, xs))
    dx, dxs = grad(Tensor(np.float64(1.5)), Tensor(rows))
    p = np.cumprod([1.0, 2.0, -1.0])  # ys[i] = (x p[i])^2
    np.testing.assert_allclose(float(dx), 2 * 1.5 * (p**2).sum() + 4 * 1.5**3, rtol=1e-12)
    # ys[1] = (x r0)^2, ys[2] = (x r0 r1)^2
    want = [2 * 2.25 * (2 + 2), 2 * 2.25 * 4 * -1, 0]
    np.testing.assert_allclose(dxs.asnumpy(), want, rtol=1e-12)


def test_what_scan_refuses():
    step = lambda c, x: (c, x)
    with pytest.raises(ValueError, match="scan: .* rows"):
        ops.scan(step, Tensor(1.0), [Tensor(V), Tensor(V[:2])])
    with pytest.raises(ValueError, match="a length is needed"):
        ops.scan(step, Tensor(1.0), None)
    with pytest.raises(TypeError, match="must return \\(carry, y\\)"):
        ops.scan(lambda c, x: c, Tensor(1.0), Tensor(V))
    with pytest.raises(
        ValueError, match=r"scan: value 0 is float32\[\] before a step and float32\[3\]"
    ):
        ops.scan(lambda c, x: (Tensor(V), x), Tensor(1.0), Tensor(V))
