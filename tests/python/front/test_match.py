"""`match`: patterns on what is known while compiling and on tensors, against plain Python."""

from dataclasses import dataclass

import mycel as ms
import numpy as np
import pytest
from mycel import Tensor

V = np.array([1.0, 2.0, 3.0], np.float32)


@dataclass
class Move:
    dx: object
    dy: object


def command(x, cmd):
    match cmd:
        case "neg":
            x = -x
        case "up" | "more":
            x = x + 1
        case {"op": op, "by": by, **rest} if op == "mul":
            x = x * by + len(rest)
        case [a, *middle, b]:
            x = x * a + b + len(middle)
        case Move(dx=0, dy=other):
            x = x + other
        case Move(first, 3):
            x = x * first
        case float(f) | int(f):
            x = x * f * 100
        case None:
            pass
        case (a,) as whole:
            x = x + a + len(whole)
        case _:
            x = x * 0
    return x


def number(x, k):
    match k:
        case 0:
            r = x
        case 1 | 2:
            r = x * 2
        case v if v > 10:
            return x * v
        case _:
            r = -x
    return r + 1


def pair(x, p):
    match p:
        case (0, 0):
            return x
        case (0, y):
            return x + y
        case (y, z) if y == z:
            return x * y
    return -x


COMMANDS = ["neg", "more", {"op": "mul", "by": 3, "z": 1}, {"op": "div", "by": 3}, [2, 5, 6, 1],
            [4, 5], (7,), Move(0, 7), Move(2, 3), Move(1, 1), 5, 0.5, None, "what"]  # fmt: skip


@pytest.mark.one_mode("compares with plain Python")
def test_known_values():
    f = ms.jit(command)
    for cmd in COMMANDS:
        np.testing.assert_allclose(f(Tensor(V), cmd).asnumpy(), command(V, cmd), rtol=1e-6)


@pytest.mark.one_mode("compares with plain Python")
def test_tensors():
    f, g = ms.jit(number), ms.jit(pair)
    for k in (0, 1, 2, 5, 11, 12):
        np.testing.assert_allclose(f(Tensor(V), Tensor(k)).asnumpy(), number(V, k))
    for p in ((0, 0), (0, 4), (3, 3), (3, 4)):
        got = g(Tensor(V), tuple(map(Tensor, p)))
        np.testing.assert_allclose(got.asnumpy(), pair(V, p))
    assert f.signatures == g.signatures == 1


@pytest.mark.one_mode("about compiling")
def test_true_is_no_pattern_for_a_tensor():
    def f(x):
        match x > 0:
            case True:
                return x
        return -x

    with pytest.raises(TypeError, match="case True: `is True` is never true of a tensor"):
        ms.jit(f)(Tensor(1.0))
