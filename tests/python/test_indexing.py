"""Indexing against NumPy: every kind of index alone, and thousands of random mixtures."""

import random

import mycel as ms
import numpy as np
import pytest
from mycel import Tensor

BASE = np.arange(120, dtype=np.float32).reshape(2, 3, 4, 5)
SAMPLES = [
    0, -1, slice(None), slice(1, None), slice(None, None, -1), slice(3, 0, -2), Ellipsis, None,
    (0, 1), (0, Ellipsis), (Ellipsis, -1), (None, 0, None), (slice(0, 2), slice(1, 3)),
    [1, 0], [[0, 1], [1, 0]], (0, [1, 2]), ([0, 1], [1, 2]), ([0, 1], slice(None), [1, 2]),
    (slice(None), [0, 2], [1, 3]), (slice(None), [0, 2], None, [1, 3]), (0, slice(None), [1, 3]),
    (slice(None), 1, slice(None), [0, 4]), (Ellipsis, [0, 1]), ([[0], [1]], [0, 1, 2]),
    (slice(5, 1), 0), (slice(-100, 100),), True, False, (True, 0), [],
    np.array([1, 0], np.int32), (np.int64(1), slice(None)),
]  # fmt: skip


def plain(index):
    """Lists as arrays: NumPy's and our reading of a list index."""
    if isinstance(index, tuple):
        return tuple(plain(i) for i in index)
    return (
        np.array(index, dtype=np.int64 if not index else None) if isinstance(index, list) else index
    )


@pytest.mark.parametrize("index", SAMPLES, ids=repr)
def test_samples(index):
    want = BASE[plain(index)]
    got = Tensor(BASE)[index]
    assert got.shape == want.shape
    np.testing.assert_array_equal(got.asnumpy(), want)


@pytest.mark.parametrize("index", SAMPLES, ids=repr)
def test_assignment(index):
    want = BASE.copy()
    region = want[plain(index)].shape
    value = -np.arange(np.prod(region), dtype=np.float32).reshape(region)
    for v in (value, np.float32(7), value[..., :1] if region and region[-1] else np.float32(1)):
        want = BASE.copy()
        want[plain(index)] = v
        got = Tensor(BASE)
        got[index] = Tensor(v) if isinstance(v, np.ndarray) else float(v)
        np.testing.assert_array_equal(got.asnumpy(), want)


def test_masks():
    t = Tensor(BASE)
    mask = BASE % 3 == 0
    np.testing.assert_array_equal(t[Tensor(mask)].asnumpy(), BASE[mask])
    np.testing.assert_array_equal(t[t > 50].asnumpy(), BASE[BASE > 50])
    m = np.array([[True, False, True], [False, True, True]])
    np.testing.assert_array_equal(t[m].asnumpy(), BASE[m])
    np.testing.assert_array_equal(t[m, 1:3].asnumpy(), BASE[m, 1:3])
    np.testing.assert_array_equal(t[:, [True, False, True]].asnumpy(), BASE[:, [True, False, True]])
    want = BASE.copy()
    want[mask] = 0
    t[Tensor(mask)] = 0
    np.testing.assert_array_equal(t.asnumpy(), want)


def test_masks_mixed_with_other_indices():
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    m = np.array([True, False, True, True])
    for index in ((slice(1, None), Ellipsis, None, "m"), (0, slice(None), "m"), ("m2", 1)):
        mask = x[..., 0] > 4 if "m2" in index else m
        plain_index = tuple(mask if i in ("m", "m2") else i for i in index)
        ours = tuple(Tensor(mask) if i in ("m", "m2") else i for i in index)
        np.testing.assert_array_equal(Tensor(x)[ours].asnumpy(), x[plain_index])
        for value in (np.float32(5), -x[plain_index]):
            want, got = x.copy(), Tensor(x)
            want[plain_index] = value
            got[ours] = Tensor(value)
            np.testing.assert_array_equal(got.asnumpy(), want)


def test_tensors_as_indices():
    t = Tensor(BASE)
    i, j = Tensor([1, 0, 1]), Tensor([[2], [0]], ms.int32)
    np.testing.assert_array_equal(t[i].asnumpy(), BASE[[1, 0, 1]])
    np.testing.assert_array_equal(
        t[i, j].asnumpy(), BASE[np.array([1, 0, 1]), np.array([[2], [0]])]
    )
    np.testing.assert_array_equal(t[Tensor(1)].asnumpy(), BASE[1])


def test_assignment_rebinds_and_repeats():
    t = Tensor([0.0, 0.0, 0.0])
    u = t.value()
    t[1] = 5
    assert t.asnumpy().tolist() == [0, 5, 0] and u.asnumpy().tolist() == [0, 0, 0]
    t[Tensor([0, 0, 2])] = Tensor([1.0, 2.0, 3.0])  # the last of equal places stays
    assert t.asnumpy().tolist() == [2, 5, 3]
    t[:] = [7.0, 8.0, 9.0]
    assert t.asnumpy().tolist() == [7, 8, 9]
    k = Tensor([1, 2, 3])
    k[0] = 4.9
    assert k.dtype == ms.int64 and k.asnumpy().tolist() == [4, 2, 3]


@pytest.mark.parametrize(
    "index, error, text",
    [
        (5, IndexError, "position 5 is outside dim 0"),
        ((0, 0, 0, 0, 0), IndexError, "has 4 dims, 5 indices given"),
        ((Ellipsis, Ellipsis), IndexError, "only once"),
        ("a", IndexError, "cannot be an index"),
        (1.0, IndexError, "cannot be an index"),
        ([0.5], IndexError, "ints or bools"),
        (np.zeros((3, 3), bool), IndexError, "mask"),
        (slice(None, None, 0), ValueError, "step"),
        ([9], IndexError, "outside \\[-"),
    ],
)
def test_mistakes(index, error, text):
    with pytest.raises(error, match=text):
        Tensor(BASE)[index]


def test_mistakes_of_assignment():
    with pytest.raises(ValueError, match="does not fit the region"):
        Tensor(BASE)[0] = Tensor(np.ones(7, np.float32))
    with pytest.raises(TypeError, match="deleted"):
        del Tensor(BASE)[0]


def test_gradients_pass_through():
    x = Tensor(BASE)
    weights = Tensor(np.random.rand(*BASE[:, 1].shape).astype(np.float32))
    g = ms.grad(lambda v: (v[:, 1] * weights).sum())(x)
    want = np.zeros_like(BASE)
    want[:, 1] = weights.asnumpy()
    np.testing.assert_allclose(g.asnumpy(), want)

    def f(v):
        w = v * 1
        w[[0, 1], [2, 2]] = 3.0
        return (w * w).sum()

    want = 2 * BASE
    want[:, 2] = 0
    np.testing.assert_allclose(ms.grad(f)(x).asnumpy(), want)


def random_index(rng, shape):
    """A random NumPy index for an array of this shape."""
    items, dim = [], 0
    width = rng.choice([1, 2, 3])
    while dim < len(shape) and rng.random() < 0.85:
        n = shape[dim]
        kind = rng.choice(["int", "slice", "slice", "none", "array", "mask"])
        if kind == "none":
            items.append(None)
            continue
        if kind == "int" and n:
            items.append(rng.randrange(-n, n))
        elif kind == "array" and n:
            size = rng.choice([(width,), (1,), (2, width), ()])
            items.append(
                np.array([rng.randrange(-n, n) for _ in range(int(np.prod(size)))]).reshape(size)
            )
        elif kind == "mask" and width <= n:
            mask = np.zeros(n, bool)
            mask[rng.sample(range(n), width)] = True
            items.append(mask)
        else:
            ends = [None if rng.random() < 0.4 else rng.randrange(-n - 1, n + 2) for _ in range(2)]
            items.append(slice(*ends, rng.choice([None, 1, 2, -1, -2])))
        dim += 1
    if rng.random() < 0.3:
        items.insert(rng.randrange(len(items) + 1), Ellipsis)
    return tuple(items)


@pytest.mark.ci
@pytest.mark.parametrize("seed", range(8))
def test_random_mixtures(seed):
    rng = random.Random(seed)
    compared = 0
    for _ in range(500):
        shape = tuple(rng.randrange(1, 5) for _ in range(rng.randrange(0, 5)))
        a = np.random.default_rng(seed).random(shape).astype(np.float32)
        index = random_index(rng, shape)
        try:
            want = a[index]
        except IndexError:
            with pytest.raises(IndexError):
                Tensor(a)[index]
            continue
        if want.ndim > 8:
            continue
        got = Tensor(a)[index].asnumpy()
        assert got.shape == want.shape, (shape, index)
        np.testing.assert_array_equal(got, want, err_msg=repr((shape, index)))
        b = a.copy()
        value = np.random.default_rng(1).random(want.shape).astype(np.float32)
        if all(not isinstance(i, np.ndarray) or i.dtype == bool for i in index):
            b[index] = value
            t = Tensor(a)
            t[index] = Tensor(value)
            np.testing.assert_array_equal(t.asnumpy(), b, err_msg=repr((shape, index)))
        compared += 1
    assert compared > 300
