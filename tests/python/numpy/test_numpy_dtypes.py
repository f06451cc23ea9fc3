"""How dtypes meet in mycel.numpy: NumPy's table, where a float type stays beside integers."""

import mycel as ms
import mycel.numpy as mnp
import numpy as np
import pytest
from numpy_reference import run

_INTEGERS = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()
_FLOATS = "float16 float32 float64".split()


def _type(name):
    return getattr(ms, "bool_" if name == "bool" else name)


def _expected(a, b):
    if (a in _FLOATS) != (b in _FLOATS):
        return a if a in _FLOATS else b
    return np.promote_types(a, b).name


@pytest.mark.one_mode("dtypes alone")
@pytest.mark.parametrize("a", _INTEGERS + _FLOATS)
def test_promote_types(a):
    for b in _INTEGERS + _FLOATS:
        assert mnp.promote_types(_type(a), _type(b)) == _type(_expected(a, b)), (a, b)


@pytest.mark.parametrize("a", _INTEGERS + _FLOATS)
def test_operands_meet_there(a):
    x = np.ones(2, a)
    for b in _INTEGERS + _FLOATS:
        result = (
            run("maximum", x, np.ones(2, b))
            if "bool" not in (a, b)
            else run("add", x, np.ones(2, b))
        )
        assert result.dtype == _type(_expected(a, b)), (a, b)


@pytest.mark.one_mode("dtypes alone")
def test_result_type():
    assert mnp.result_type("int16", ms.float16, 3) == ms.float16
    assert mnp.result_type(ms.int8, 2.5) == ms.float32
    assert mnp.result_type(ms.Tensor([1], ms.int8), [1, 2]) == ms.int32
    assert mnp.result_type(1, 2) == ms.int32
    with pytest.raises(ValueError, match="result_type: at least one"):
        mnp.result_type()


def test_numbers_decide_only_the_kind():
    small = np.ones(2, np.int8)
    assert run("add", small, 1).dtype == ms.int8
    assert run("add", small, 1.5).dtype == ms.float32
    assert run("add", np.ones(2, np.float16), 1.5).dtype == ms.float16
    assert run("add", np.ones(2, bool), 1).dtype == ms.int32


@pytest.mark.one_mode("dtypes alone")
def test_lists_and_names():
    assert mnp.array([1, 2]).dtype == ms.int32
    assert mnp.array([1.0, 2]).dtype == ms.float32
    assert mnp.array([True]).dtype == ms.bool_
    assert mnp.int_ is ms.int32 and mnp.float_ is ms.float32
    assert mnp.array([1], "float16").dtype == mnp.float16
    assert mnp.ones(2, int).dtype == ms.int32
