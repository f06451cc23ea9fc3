"""Ops and transforms called from several Python threads."""

import threading

import mycel as ms
import numpy as np
from mycel import Tensor, ops


def in_threads(fn, count=2):
    errors = []

    def run(i):
        try:
            fn(i)
        except BaseException as e:  # noqa: BLE001
            errors.append(e)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    assert not any(t.is_alive() for t in threads)
    assert not errors, errors


def test_ops_in_two_threads():
    def work(i):
        x = Tensor(np.full((64, 64), i + 1.0, np.float32))
        for _ in range(200):
            y = ops.relu(x * 2 - 1) + x
        assert (y.asnumpy() == (i + 1) * 3 - 1).all()

    in_threads(work, 4)


def test_large_ops_release_the_lock():
    def work(i):
        x = Tensor(np.ones((512, 512), np.float32))
        for _ in range(20):
            x = x + i
        assert x[0, 0] == 1 + 20 * i

    in_threads(work)


def test_transforms_in_two_threads():
    def work(i):
        x = Tensor(np.linspace(0, 1, 5, dtype=np.float64) + i)
        for _ in range(20):
            g = ms.grad(lambda v: (ops.sin(v) * v).sum())(x)
        a = x.asnumpy()
        np.testing.assert_allclose(g.asnumpy(), np.cos(a) * a + np.sin(a), rtol=1e-10)

    in_threads(work)


def test_one_compiled_function_in_two_threads():
    f = ms.jit(lambda x: ops.exp(x) + 1)

    def work(i):
        x = Tensor(np.full(1000, float(i), np.float32))
        for _ in range(50):
            np.testing.assert_allclose(f(x).asnumpy(), np.exp(float(i)) + 1, rtol=1e-5)

    in_threads(work)


def test_tensors_freed_in_another_thread():
    box = []

    def make(i):
        for _ in range(100):
            box.append(Tensor.from_numpy(np.ones(1000)) + 1)

    in_threads(make)
    box.clear()
