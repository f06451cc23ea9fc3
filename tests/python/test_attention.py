"""Attention written out, as users write it: compiled programs run it block by block; values and
gradients are those of NumPy in double, and of eager mode, which computes what is written."""

import mycel as ms
import numpy as np
import pytest
from mycel import Tensor, nn, ops

pytestmark = pytest.mark.one_mode("both modes run in every test")

B, H, S, D = 2, 3, 70, 16


class Attention(nn.Cell):
    """keys_as: "rows" or "columns"; scale: "mul", "div" or ""."""

    def __init__(self, mask, keys_as, scale, turned):
        super().__init__()
        self.mask, self.rows, self.scale, self.turned = mask, keys_as == "rows", scale, turned
        self.transpose, self.softmax, self.mix = ops.Transpose(), ops.Softmax(-1), ops.BatchMatMul()
        self.score = ops.BatchMatMul(transpose_b=self.rows)

    def construct(self, q, k, v):
        if self.turned:
            q, v = self.transpose(q, (0, 2, 1, 3)), self.transpose(v, (0, 2, 1, 3))
            k = self.transpose(k, (0, 2, 1, 3) if self.rows else (0, 2, 3, 1))
        elif not self.rows:
            k = self.transpose(k, (0, 1, 3, 2))
        w = self.score(q, k)
        if self.scale == "mul":
            w = w * D**-0.5
        elif self.scale == "div":
            w = w / D**0.5
        if self.mask is not None:
            w = self.mask + w
        y = self.mix(self.softmax(w), v)
        return self.transpose(y, (0, 2, 1, 3)) if self.turned else y


def reference(q, k, v, dy, mask, scale):
    s = np.einsum("bhid,bhjd->bhij", q, k) * scale
    if mask is not None:
        s = s + mask
    p = np.exp(s - s.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    g = np.einsum("bhid,bhjd->bhij", dy, v)
    ds = p * (g - (p * g).sum(-1, keepdims=True)) * scale
    return (
        p @ v,
        np.einsum("bhij,bhjd->bhid", ds, k),
        np.einsum("bhij,bhid->bhjd", ds, q),
        np.einsum("bhij,bhid->bhjd", p, dy),
    )


def masks(kind):
    if kind == "causal":
        return np.triu(np.full((S, S), -1e9, np.float32), 1)
    if kind == "padding":
        m = np.zeros((B, 1, 1, S), np.float32)
        m[0, ..., 5:] = m[1, ..., 40:] = -1e9
        return m
    return None


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("keys_as", "scale"), [("rows", "mul"), ("columns", "div"), ("rows", "")])
@pytest.mark.parametrize("kind", ["", "causal", "padding"])
def test_values_and_gradients(kind, keys_as, scale, turned):
    r = np.random.default_rng(1)
    q, k, v, dy = r.standard_normal((4, B, H, S, D), dtype=np.float32)
    mask = masks(kind)
    net = Attention(None if mask is None else Tensor(mask), keys_as, scale, turned)
    want = reference(
        *(t.astype(np.float64) for t in (q, k, v, dy)), mask, D**-0.5 if scale else 1.0
    )
    given = [Tensor(t.transpose(0, 2, 1, 3) if turned else t) for t in (q, k, v, dy)]
    for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
        ms.set_context(mode=mode)
        y = net(*given[:3])
        grads = ops.GradOperation(get_all=True, sens_param=True)(net)(*given)
        for got, expected in zip((y, *grads), want):
            got = got.asnumpy()
            if turned:
                got = got.transpose(0, 2, 1, 3)
            np.testing.assert_allclose(got, expected, rtol=1e-4, atol=2e-5)
