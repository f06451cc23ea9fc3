"""Transforms of any data, against NumPy and the published results."""

import subprocess

import mycel.dataset.transforms as transforms
import numpy as np
import pytest

pytestmark = pytest.mark.one_mode("the pipeline has no modes")


class Add:
    """A Python function among the transforms."""

    def __init__(self, n):
        self.n = n

    def __call__(self, x):
        return x + self.n


def same(got, want):
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    assert (got == want).all()


def test_type_cast():
    same(
        transforms.TypeCast(np.int32)(np.array([1.7, -1.7, 300.0])),
        np.array([1, -1, 300], np.int32),
    )
    same(transforms.TypeCast(np.float16)(np.array([1, 2])), np.array([1, 2], np.float16))
    same(transforms.TypeCast(np.bool_)(np.array([0.0, 0.5])), np.array([False, True]))


def test_one_hot():
    same(transforms.OneHot(4)(np.array(2)), np.array([0, 0, 1, 0]))
    same(
        transforms.OneHot(3)(np.array([2, 0], np.int32)),
        np.array([[0, 0, 1], [1, 0, 0]], np.int32),
    )
    same(transforms.OneHot(3)(np.array([[1]], np.uint8)), np.array([0, 1, 0], np.uint8))
    assert np.allclose(transforms.OneHot(4, 0.2)(np.array([1, 3])), np.eye(4)[[1, 3]] * 0.8 + 0.05)
    for bad in (4, -1):
        with pytest.raises(ValueError, match="label"):
            transforms.OneHot(4)(np.array(bad))
    with pytest.raises(TypeError, match="ints"):
        transforms.OneHot(4)(np.array(1.0))


def test_fill():
    same(transforms.Fill(3)(np.ones((2, 2), np.float32)), np.full((2, 2), 3, np.float32))
    same(transforms.Fill(-1)(np.ones(2, np.uint8)), np.array([255, 255], np.uint8))
    assert transforms.Fill("x")(np.array(["a", "bc"])).tolist() == ["x", "x"]


@pytest.mark.parametrize(
    "name, compare",
    [
        ("EQ", np.equal),
        ("NE", np.not_equal),
        ("GT", np.greater),
        ("GE", np.greater_equal),
        ("LT", np.less),
        ("LE", np.less_equal),
    ],
)
def test_mask(name, compare):
    x = np.array([[1, 2], [3, 2**60]])
    relation = transforms.Relational[name]
    same(transforms.Mask(relation, 2)(x), compare(x, 2))
    same(transforms.Mask(relation, 2**60 - 1)(x), compare(x, 2**60 - 1))
    same(transforms.Mask(relation, 1.5, np.float32)(x), compare(x, 1.5).astype(np.float32))
    strings = np.array(["a", "b", "bc"])
    assert transforms.Mask(relation, "b")(strings).tolist() == compare(strings, "b").tolist()


def test_pad_end():
    same(transforms.PadEnd([5], 7)(np.array([1, 2])), np.array([1, 2, 7, 7, 7]))
    same(transforms.PadEnd([1], 7)(np.array([1, 2])), np.array([1]))
    same(
        transforms.PadEnd([3, None])(np.ones((2, 2), np.float32)),
        np.array([[1, 1], [1, 1], [0, 0]], np.float32),
    )
    assert transforms.PadEnd([3], "x")(np.array(["a"])).tolist() == ["a", "x", "x"]
    assert transforms.PadEnd([2])(np.array(["a"])).tolist() == ["a", ""]
    with pytest.raises(ValueError, match="pad_shape"):
        transforms.PadEnd([3, 3])(np.array([1]))


def test_concatenate():
    join = transforms.Concatenate(0, np.array([1, 2]), np.array([9]))
    same(join(np.array([5, 6], np.int32)), np.array([1, 2, 5, 6, 9], np.int32))
    same(transforms.Concatenate()(np.array([1.0]), np.array([2.0])), np.array([1.0, 2.0]))
    got = transforms.Concatenate(append=np.array(["c"]))(np.array(["a", "b"]))
    assert got.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="axis"):
        transforms.Concatenate(1)
    with pytest.raises(TypeError, match="join"):
        transforms.Concatenate()(np.array([1]), np.array([1.0]))


def test_duplicate():
    first, second = transforms.Duplicate()(np.array([1, 2]))
    same(first, np.array([1, 2]))
    same(second, first)


@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.uint8, np.float64])
def test_unique(dtype):
    x = np.array([[3, 1, 3], [2, 1, 7]], dtype)
    values, place, count = transforms.Unique()(x)
    assert values.tolist() == [3, 1, 2, 7]  # in the order in which they come
    same(values[place].reshape(x.shape), x)
    same(count, np.array([2, 2, 1, 1], np.int32))


@pytest.mark.parametrize(
    "index",
    [
        (slice(1, 3),),
        (slice(None, None, -1),),
        (slice(-3, None, 2), [0, 2]),
        (..., [0, -1]),
        (None, slice(1, None)),
        ([4, 0, 0],),
        (slice(7, 9),),
        (slice(None), ..., slice(0, 2)),
    ],
)
def test_slice(index):
    x = np.arange(5 * 4 * 3).reshape(5, 4, 3)
    want = x
    parts = list(index)
    if ... in [p if p is ... else 0 for p in parts]:
        at = [p is ... for p in parts].index(True)
        parts[at : at + 1] = [None] * (x.ndim - len(parts) + 1)
    for d, p in enumerate(parts):
        numbers = np.arange(x.shape[d])
        keep = numbers if p is None else numbers[p]
        want = np.take(want, keep, axis=d)
    same(transforms.Slice(*index)(x), want)


def test_slice_of_strings_and_ints():
    assert transforms.Slice([0, 2])(np.array(["a", "b", "c"])).tolist() == ["a", "c"]
    same(transforms.Slice(-1)(np.arange(5)), np.array([4]))
    with pytest.raises(IndexError, match="7"):
        transforms.Slice(7)(np.arange(5))
    with pytest.raises(ValueError, match="slices"):
        transforms.Slice(1, 2)(np.arange(5))


def test_compose():
    steps = [transforms.Fill(2), Add(1), transforms.TypeCast(np.float32)]
    same(transforms.Compose(steps)(np.array([7, 8])), np.array([3, 3], np.float32))


def test_random_apply():
    apply = transforms.RandomApply([transforms.Fill(2), Add(1)], 0.3)
    got = [int(apply(np.array(9))) for _ in range(600)]
    assert set(got) == {9, 3}
    assert abs(got.count(3) / 600 - 0.3) < 0.08


def test_random_choice():
    got = [
        int(transforms.RandomChoice([transforms.Fill(k) for k in range(3)])(9)) for _ in range(9)
    ]
    assert set(got) <= {0, 1, 2}
    choice = transforms.RandomChoice([transforms.Fill(k) for k in range(3)])
    counts = np.bincount([int(choice(np.array(9))) for _ in range(600)])
    assert len(counts) == 3 and (counts > 140).all()


def test_random_order():
    order = transforms.RandomOrder([transforms.Fill(k) for k in range(3)])
    counts = np.bincount([int(order(np.array(9))) for _ in range(600)])
    assert len(counts) == 3 and (counts > 140).all()


@pytest.mark.ci
def test_plugin(tmp_path):
    source, library = tmp_path / "a.c", tmp_path / "a.so"
    source.write_text("int calls; void nothing(void* row, const char* text) { calls += text[0]; }")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    same(transforms.Plugin(str(library), "nothing", "x")(np.array([1])), np.array([1]))
    with pytest.raises(AttributeError, match="other"):
        transforms.Plugin(str(library), "other")
    with pytest.raises(OSError, match="b.so"):
        transforms.Plugin(str(tmp_path / "b.so"), "nothing")
