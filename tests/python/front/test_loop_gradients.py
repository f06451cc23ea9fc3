"""Gradients through compiled loops, in float64, against recurrences written out in NumPy."""

import mycel as ms
import numpy as np
import pytest
from mycel import Tensor, ops


def iterate(x, n):
    s = x
    i = Tensor(0, ms.int32)
    while i < n:
        s = ops.sin(s) + x
        i = i + 1
    return s


def recurrence(x, n):
    """The value of `iterate` with its first and second derivative."""
    s, d, e = x, 1.0, 0.0
    for _ in range(n):
        s, d, e = np.sin(s) + x, np.cos(s) * d + 1, np.cos(s) * e - np.sin(s) * d * d
    return s, d, e


@pytest.mark.parametrize("n", [0, 1, 7, 1000])
def test_while_to_the_second_order(n):
    first = ms.jit(ms.grad(iterate))
    second = ms.jit(ms.grad(ms.grad(iterate)))
    x, count = Tensor(0.5, ms.float64), Tensor(n, ms.int32)
    s, d, e = recurrence(0.5, n)
    # Rounding only: the same float64 operations; sin and cos may differ in the last bit.
    np.testing.assert_allclose(ms.jit(iterate)(x, count).asnumpy(), s, rtol=1e-12)
    np.testing.assert_allclose(first(x, count).asnumpy(), d, rtol=1e-12)
    np.testing.assert_allclose(second(x, count).asnumpy(), e, rtol=1e-10, atol=1e-12)


def test_a_million_iterations():
    count = Tensor(10**6, ms.int32)
    got = ms.jit(ms.grad(iterate))(Tensor(0.5, ms.float64), count)
    np.testing.assert_allclose(got.asnumpy(), recurrence(0.5, 2000)[1], rtol=1e-10)


def test_for_with_a_branch():
    @ms.jit
    def f(x, n):
        total = ops.zeros_like(x)
        for i in range(n):
            if i % 2 == 0:
                total = total + x * x
            else:
                total = total * x
        return total

    def value(x, n):
        total = 0.0
        for i in range(n):
            total = total + x * x if i % 2 == 0 else total * x
        return total

    for n in (0, 1, 2, 5):
        got = ms.grad(f)(Tensor(1.25, ms.float64), Tensor(n, ms.int32)).asnumpy()
        h = 1e-6
        want = (value(1.25 + h, n) - value(1.25 - h, n)) / (2 * h)
        np.testing.assert_allclose(got, want, rtol=1e-8, atol=1e-12)
