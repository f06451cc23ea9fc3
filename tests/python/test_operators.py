"""Operators: values and dtypes against NumPy, and how numbers, lists and arrays meet tensors."""

import operator

import mycel as ms
import numpy as np
import pytest
from mycel import Tensor

INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]
ARITHMETIC = [operator.add, operator.sub, operator.mul]


@pytest.mark.parametrize("op", ARITHMETIC)
@pytest.mark.parametrize("a", INTS + FLOATS)
@pytest.mark.parametrize("b", ["int8", "uint8", "int32", "float16", "float32", "float64"])
def test_promotion_of_tensors(op, a, b):
    x, y = np.array([3, 2, 5], a), np.array([1, 2, 4], b)
    z = op(Tensor(x), Tensor(y))
    want = op(x, y)
    if np.dtype(a).kind in "iu" and np.dtype(b).kind == "f":
        want = want.astype(b)  # an integer beside a float keeps the float
    if np.dtype(b).kind in "iu" and np.dtype(a).kind == "f":
        want = want.astype(a)
    if np.dtype(a).kind in "iu" and np.dtype(b).kind in "iu" and want.dtype.kind == "f":
        want = want.astype(z.dtype.name)  # uint64 with a signed type
    assert z.dtype.name == str(want.dtype)
    np.testing.assert_array_equal(z.asnumpy(), want)


@pytest.mark.parametrize(
    "tensor, number, dtype",
    [
        (ms.float32, 1, ms.float32),
        (ms.float16, 1.5, ms.float16),
        (ms.bfloat16, 1.5, ms.bfloat16),
        (ms.float64, 1.5, ms.float64),
        (ms.int8, 1, ms.int8),
        (ms.int64, 1.5, ms.float32),
        (ms.bool_, 1, ms.int64),
        (ms.bool_, 1.5, ms.float32),
        (ms.int32, True, ms.int32),
        (ms.float32, 1j, ms.complex64),
        (ms.float64, 1j, ms.complex128),
        (ms.float32, np.float64(0.5), ms.float32),
        (ms.float32, np.int64(2), ms.float32),
        (ms.int32, np.int64(2), ms.int32),
    ],
)
def test_numbers_are_weak(tensor, number, dtype):
    t = Tensor([1, 0], tensor)
    assert (t + number).dtype == dtype
    assert (number + t).dtype == dtype


def test_lists_and_arrays():
    t = Tensor([1.0, 2.0])
    assert (t + [1.0, 2.0]).asnumpy().tolist() == [2, 4]
    assert ([1.0, 2.0] + t).asnumpy().tolist() == [2, 4]
    assert isinstance(np.array([1.0, 2.0]) + t, Tensor)
    assert (np.array([1.0, 2.0]) - t).asnumpy().tolist() == [0, 0]
    assert (t + np.array([1.0, 2.0])).dtype == ms.float64


def test_unary_and_power():
    x = np.array([-2.5, 1.5, 3.0], np.float32)
    t = Tensor(x)
    np.testing.assert_array_equal((-t).asnumpy(), -x)
    np.testing.assert_array_equal(abs(t).asnumpy(), abs(x))
    np.testing.assert_allclose((t**2).asnumpy(), x**2, rtol=1e-6)
    np.testing.assert_allclose((2**t).asnumpy(), 2**x, rtol=1e-6)
    assert (Tensor([2]) ** 2).dtype == ms.int64
    assert (+t).asnumpy().tolist() == x.tolist()
    assert (~Tensor([True, False])).asnumpy().tolist() == [False, True]
    assert (~Tensor([1, 2])).asnumpy().tolist() == [-2, -3]


def test_division():
    x, y = np.array([7, -7, 6]), np.array([2, 2, -4])
    a, b = Tensor(x), Tensor(y)
    assert (a / b).dtype == ms.float32
    np.testing.assert_allclose((a / b).asnumpy(), x / y)
    np.testing.assert_array_equal((a // b).asnumpy(), x // y)
    np.testing.assert_array_equal((a % b).asnumpy(), x % y)


def test_comparisons_and_bits():
    x, y = np.array([1, 2, 3]), np.array([3, 2, 1])
    for op in (operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge,
               operator.and_, operator.or_, operator.xor):  # fmt: skip
        np.testing.assert_array_equal(op(Tensor(x), Tensor(y)).asnumpy(), op(x, y))
        np.testing.assert_array_equal(op(Tensor(x), 2).asnumpy(), op(x, 2))
        np.testing.assert_array_equal(op(2, Tensor(x)).asnumpy(), op(2, x))


def test_matmul():
    a, b = np.random.rand(3, 4).astype(np.float32), np.random.rand(4, 2).astype(np.float32)
    np.testing.assert_allclose((Tensor(a) @ Tensor(b)).asnumpy(), a @ b, rtol=1e-5)


def test_broadcasting():
    a, b = np.ones((2, 1, 3), np.float32), np.arange(4, dtype=np.float32).reshape(4, 1)
    np.testing.assert_array_equal((Tensor(a) + Tensor(b)).asnumpy(), a + b)


def test_augmented_assignment_rebinds():
    x = Tensor([1.0])
    y = x
    x += 1
    assert y.asnumpy().tolist() == [1] and x.asnumpy().tolist() == [2]
