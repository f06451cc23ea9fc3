"""Creation, shapes and places in mycel.numpy against NumPy."""

import mycel as ms
import mycel.numpy as mnp
import numpy as np
import pytest
from mycel import Tensor
from numpy_inputs import EMPTY, POSITIVE, SCALAR, T3, B, F, G, I, V, W, case, labels
from numpy_reference import agree, close, run

_CREATIONS = [
    *(
        case("arange", *a)
        for a in ((5,), (1, 7, 2), (0, 1, 0.25), (5, 0, -2), (3.5,), (0,), (3, 1))
    ),
    case("linspace", 0, 1, 5),
    case("linspace", 0, 1, 5, False),
    case("linspace", 0, 1, 1),
    case("linspace", 0, 1, 0),
    case("linspace", V, W, 4),
    case("linspace", V, W, 4, axis=-1),
    case("linspace", V, 2.0, 3),
    case("linspace", 0, 1, 5, retstep=True),
    case("logspace", 0, 2, 3),
    case("logspace", 0, 2, 5, False, 2.0),
    case("geomspace", 1, 1000, 4),
    case("geomspace", -1, -8, 4),
    case("geomspace", POSITIVE[0], POSITIVE[1] + 1, 3),
    case("ones", (2, 3)),
    case("zeros", 3),
    case("zeros", ()),
    case("full", (2, 3), 2.5),
    case("full", (3, 4), V),
    case("full_like", F, 2.0),
    case("full_like", I, 3.7),
    case("ones_like", I),
    case("ones_like", F, shape=(2, 2)),
    case("zeros_like", [1, 2]),
    case("eye", 3),
    case("eye", 3, 4, -1),
    case("eye", 2, k=1),
    case("eye", 0),
    case("identity", 3),
    case("tri", 3),
    case("tri", 3, 4, 1),
    case("diag", V),
    case("diag", V, 1),
    case("diag", F),
    case("diag", F, -1),
    case("diagflat", F, 1),
    case("diagonal", T3),
    case("diagonal", T3, 1, 0, 2),
    case("diagonal", F, 9),
    case("tril", F),
    case("tril", F, 1),
    case("triu", T3, -1),
    case("vander", V),
    case("vander", V, 3, True),
    case("vander", [1, 2, 3]),
    case("vander", V, 0),
    case("meshgrid", V, W[:2]),
    case("meshgrid", V, W[:2], indexing="ij"),
    case("meshgrid", V, W[:2], sparse=True),
    case("meshgrid", V),
    case("meshgrid", V, W, V[:2]),
    case("meshgrid", V, I[0], np.zeros(0, np.float32)),
    case("array", [[1, 2], [3, 4]]),
    case("array", 3),
    case("array", F, ndmin=4),
    case("array", [[], []]),
    case("asarray", [1.5]),
]
_SHAPES = [
    case("reshape", F, (4, 3)),
    case("reshape", F, -1),
    case("reshape", EMPTY, (3, 0)),
    *(
        case(name, x)
        for name in ("ravel", "transpose", "flip", "atleast_1d", "atleast_2d", "atleast_3d")
        for x in (T3, F, V, EMPTY, SCALAR)
    ),
    case("transpose", T3, (2, 0, 1)),
    case("transpose", T3, (-1, 0, 1)),
    case("swapaxes", T3, 0, -1),
    case("moveaxis", T3, 0, -1),
    case("moveaxis", T3, (0, 1), (2, 0)),
    case("rollaxis", T3, 2),
    case("rollaxis", T3, 0, 3),
    case("rollaxis", T3, -1, 1),
    case("rollaxis", T3, 1, -1),
    case("expand_dims", F, 0),
    case("expand_dims", F, (0, -1)),
    case("squeeze", F[:, None, :1]),
    case("squeeze", F[:, None], 1),
    case("squeeze", F[:, None], -2),
    *(case("concatenate", (F, G), axis=axis) for axis in (0, 1, -1, None)),
    case("concatenate", (F, I)),
    case("concatenate", [EMPTY, EMPTY + 1]),
    case("stack", (F, G), axis=1),
    case("stack", (V, W), -1),
    case("append", F, G),
    case("append", F, G, 0),
    case("append", [1, 2], [[3]]),
    *(
        case(name, arrays)
        for name in ("hstack", "vstack", "dstack", "column_stack")
        for arrays in ((F, G), (V, W), [V, W])
    ),
    case("hstack", (SCALAR, SCALAR)),
    case("hstack", ([1, 2], [3])),
    case("split", F, 2, 1),
    case("split", F, (1, 3), 1),
    case("split", F, [3, 1], 1),
    case("split", F, 3),
    case("array_split", F, 3, 1),
    case("array_split", V, 3),
    case("array_split", V, 9),
    case("hsplit", F, 2),
    case("hsplit", V, 2),
    case("vsplit", F, 3),
    case("vsplit", F, (1,)),
    case("dsplit", T3, 2),
    case("flip", F, 0),
    case("flip", T3, (0, -1)),
    case("flipud", F),
    case("fliplr", F),
    case("roll", F, 2),
    case("roll", F, 2, 1),
    case("roll", F, (1, 2), (0, 1)),
    case("roll", F, -1, 0),
    case("roll", F, 1, (0, 1)),
    case("roll", F, (1, 1), 0),
    case("roll", EMPTY, 1),
    *(case("rot90", F, k) for k in range(-2, 5)),
    case("rot90", T3, 1, (1, 2)),
    case("rot90", T3, 3, (2, 0)),
    case("tile", F, 2),
    case("tile", F, (2, 1, 2)),
    case("tile", SCALAR, 3),
    case("tile", F, (0, 1)),
    case("repeat", F, 2),
    case("repeat", F, 3, 1),
    case("repeat", F, [1, 0, 2], 0),
    case("repeat", F, 0, 0),
    case("repeat", V, [2]),
    case("broadcast_to", V, (3, 4)),
    case("broadcast_to", SCALAR, (2, 0)),
    case("broadcast_arrays", F, V, SCALAR),
    case("size", F),
    case("size", F, 1),
]
_PLACES = [
    case("where", B, F, G),
    case("where", F, 1, 2),
    case("where", B[:, :1], V, 0.0),
    case("where", I),
    case("where", I[0]),
    case("where", B, F, I),
    case("take", F, np.array([0, 5, 11])),
    case("take", F, [[0, 1]], 1),
    case("take", F, 2, 0),
    case("take", F, [5, 99, -3], mode="clip"),
    case("take", F, [5, 99, -3], mode="wrap"),
    case("take", F, [-1], 1, mode="raise"),
    case("take", F, np.zeros((0,), np.int32), 0),
    case("take_along_axis", F, np.argsort(F, 1), 1),
    case("take_along_axis", F, np.array([[0], [1], [-1]]), 1),
    case("take_along_axis", F, np.array([0, 3]), None),
    case("take_along_axis", F, np.array([[0, 1, 2, 1]]), 0),
    case("choose", np.array([1, 0, 1]), [np.array([1, 2, 3]), np.array([4, 5, 6])], mode="clip"),
    case("choose", np.array([[1], [9]]), [V, W, V], mode="clip"),
    case("choose", np.array([-1, 5]), (V[:2], W[:2]), mode="wrap"),
    case("choose", np.array([0, 1]), np.stack([V[:2], W[:2]]), mode="clip"),
    case("select", [B, F > -1], [F, G], -7.0),
    case("select", [B], [I]),
    case("select", [B[:, :1]], [V], 0.0),
    case("unique", I),
    case("unique", B),
    case("unique", np.array([2.0, -1, 2, 0.5], np.float32)),
    case("unique", np.zeros(0, np.float32)),
    case("unique", np.array([2, 1, 2]), return_inverse=True),
    case("ix_", np.array([0, 1]), np.array([2, 3, 4])),
    case("ix_", np.array([True, False, True]), np.array([1])),
    case("diag_indices", 3),
    case("diag_indices", 2, 3),
    case("tril_indices", 3),
    case("tril_indices", 3, 1, 5),
    case("triu_indices", 4, -1, 2),
    case("tril_indices_from", F, 1),
    case("triu_indices_from", F),
    case("ravel_multi_index", np.array([[1, 0], [2, 1]]), (2, 3)),
    case("ravel_multi_index", (np.array([5]), np.array([1])), (2, 3), "clip"),
    case("ravel_multi_index", (np.array([5]), np.array([-1])), (2, 3), "wrap"),
    case("ravel_multi_index", np.array([[1], [2]]), (2, 3), order="F"),
    case("unravel_index", np.array([0, 5, 3]), (2, 3)),
    case("unravel_index", 5, (2, 3)),
    case("unravel_index", np.array([[0, 5]]), (2, 3), "F"),
]
_ALL = _CREATIONS + _SHAPES + _PLACES


@pytest.mark.parametrize("name, args, kwargs", _ALL, ids=labels(_ALL))
def test_cases(name, args, kwargs):
    agree(name, *args, **kwargs)


@pytest.mark.parametrize(
    "mode_", "constant edge linear_ramp maximum mean minimum median reflect symmetric wrap".split()
)
def test_pad(mode_):
    agree("pad", F, 1, mode_)
    agree("pad", F, ((1, 2), (3, 0)), mode_)
    agree("pad", V, (5, 9), mode_)
    agree("pad", I, (2, 1), mode_)
    agree("pad", T3, 0, mode_)


_PADS = [
    *(
        case("pad", F, 2, mode, stat_length=length)
        for mode in ("maximum", "mean", "minimum", "median")
        for length in (2, ((1, 2), (2, 3)))
    ),
    case("pad", F, 1, constant_values=3.0),
    case("pad", F, ((1, 0), (2, 1)), constant_values=((1, 2), (3, 4))),
    case("pad", F, 2, "linear_ramp", end_values=((1, 2), (3, 4))),
    case("pad", F, 3, "reflect", reflect_type="odd"),
    case("pad", F, (5, 6), "symmetric", reflect_type="odd"),
    case("pad", [1, 2], 1),
    case("pad", F[:1], 3, "reflect"),
    case("pad", EMPTY, 1),
]


@pytest.mark.parametrize("name, args, kwargs", _PADS, ids=labels(_PADS))
def test_pad_options(name, args, kwargs):
    agree(name, *args, **kwargs)


def test_pad_by_a_function():
    def border(line, width, axis, kwargs):
        n = line.shape[0]
        inside = line[width[0] : n - width[1]]
        value = kwargs.get("value", 7.0)
        return mnp.concatenate((mnp.full(width[0], value), inside, mnp.full(width[1], value)))

    close(run("pad", F, 2, border, value=5.0), np.pad(F, 2, constant_values=5), "pad")


def test_indices_are_a_tuple():
    close(run("indices", (2, 3)), tuple(np.indices((2, 3))), "indices")
    close(run("indices", (2, 3), sparse=True), np.indices((2, 3), sparse=True), "indices")


@pytest.mark.one_mode("no operand")
def test_grids():
    close(mnp.mgrid[0:3], np.mgrid[0:3], "mgrid")
    close(mnp.mgrid[0:3, 1:9:2], np.mgrid[0:3, 1:9:2], "mgrid")
    close(mnp.mgrid[0:1:5j, 0:2], np.mgrid[0:1:5j, 0:2], "mgrid")
    close(mnp.ogrid[0:3, 0:2], tuple(np.ogrid[0:3, 0:2]), "ogrid")
    assert mnp.mgrid[0:3].dtype == ms.int32


def test_functions_over_axes():
    agree("apply_over_axes", mnp.sum, T3, (0, 2), want=np.apply_over_axes(np.sum, T3, (0, 2)))
    for axis in (0, 1, -1):
        want = np.apply_along_axis(lambda v: v[:2] * v.sum(), axis, T3)
        close(run("apply_along_axis", lambda v: v[:2] * v.sum(), axis, T3), want, "lines")
        want = np.apply_along_axis(np.max, axis, T3)
        close(run("apply_along_axis", mnp.max, axis, T3), want, "lines")


def test_piecewise():
    want = np.piecewise(F, [F < -0.5, F > 0.5], [lambda x: -x, 2.0, lambda x: x * 10])
    close(run("piecewise", F, [F < -0.5, F > 0.5], [lambda x: -x, 2.0, lambda x: x * 10]), want, "")
    close(run("piecewise", F, [B], [lambda x, k: x * k], 3.0), np.where(B, F * 3, 0), "piecewise")


@pytest.mark.one_mode("lists of tensors")
def test_lists_of_tensors():
    close(mnp.array([Tensor(V), Tensor(W)]), np.stack([V, W]), "array")
    close(mnp.array([Tensor(1.5), 2]), np.array([1.5, 2]), "array")
    assert mnp.array_str(Tensor([1.0, 2.0])) == "[1. 2.]"
    x = Tensor(F)
    assert mnp.asarray(x) is x and mnp.array(x) is not x and mnp.array(x, copy=False) is x
    assert mnp.copy(x) is not x and (mnp.copy(x) == x).all()
    assert mnp.asfarray([1, 2]).dtype == ms.float32
    assert mnp.asfarray([1, 2], ms.int32).dtype == ms.float32


@pytest.mark.one_mode("no operand")
def test_random_numbers():
    ms.set_seed(3)
    x = mnp.rand(1000)
    assert x.shape == (1000,) and 0 <= float(x.min()) and float(x.max()) < 1
    assert abs(float(x.mean()) - 0.5) < 0.05
    y = mnp.randn(50, 40, dtype=ms.float64)
    assert y.shape == (50, 40) and y.dtype == ms.float64
    assert abs(float(y.mean())) < 0.1 and abs(float(y.std()) - 1) < 0.1
    z = mnp.randint(2, 5, (300,))
    assert set(z.tolist()) == {2, 3, 4} and z.dtype == ms.int32
    assert mnp.randint(3).shape == (1,)
    ms.set_seed(3)
    np.testing.assert_array_equal(x.asnumpy(), mnp.rand(1000).asnumpy())
    assert (mnp.rand(1000).asnumpy() != x.asnumpy()).any()
