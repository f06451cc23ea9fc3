"""if, while, for on tensors and on known values: eager, compiled, and plain Python agree."""

import mycel as ms
import numpy as np
import pytest
from modes import check, plain, same
from mycel import Parameter, Tensor, nn, ops

V = np.array([1.0, 2.0, 4.0, 5.0], np.float32)


def T(n):
    return Tensor(n)


def test_if_elif_else():
    def f(x):
        if x > 10:
            y = x * 2
        elif x > 0:
            y = x + 1
        else:
            y = -x
        return y

    compiled = check(f, ((11.0,), 22.0), ((1.0,), 2.0), ((-3.0,), 3.0))
    assert compiled.signatures == 1


def test_numbers_that_differ_become_tensors():
    def f(x):
        n, name = 1, "a"
        if x > 0:
            n = 2
        return n * 10, name

    check(f, ((1.0,), (20, "a")), ((-1.0,), (10, "a")))


def test_early_return_and_nested_if():
    def f(x):
        if x > 0:
            if x > 5:
                return x * 100
            x = x + 1
        elif x < -5:
            return x
        y = x * 2
        return y

    check(f, ((6.0,), 600.0), ((1.0,), 4.0), ((-6.0,), -6.0), ((-1.0,), -2.0))


def test_while_break_continue_else():
    def f(n):
        s = 0
        i = 0
        while i < n:
            i += 1
            if i == 3:
                continue
            if i > 6:
                break
            s += i
        else:
            s = s + 1000
        return s, i

    def want(n):
        s = i = 0
        while i < n:
            i += 1
            if i == 3:
                continue
            if i > 6:
                break
            s += i
        else:
            s = s + 1000
        return s, i

    compiled = ms.jit(f)
    for n in (0, 2, 5, 6, 9):
        same(plain(f(Tensor(n))), want(n))
        same(plain(compiled(Tensor(n))), want(n))
    assert compiled.signatures == 1 and "while_loop" in compiled.graph(Tensor(1))


def test_for_over_a_tensor_range():
    def f(n):
        acc = 0.0
        for i in range(1, n, 2):
            acc = acc + i
        return acc

    compiled = ms.jit(f)
    for n in (0, 1, 5, 10):
        same(plain(compiled(Tensor(n))), float(sum(range(1, n, 2))))
    assert "while_loop" in compiled.graph(Tensor(1))


def test_for_over_rows_is_one_loop():
    def f(x):
        acc = 0
        for row in x:
            acc = acc + row * row
        return acc

    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    compiled = check(f, ((x,), (x * x).sum(0)))
    assert compiled.graph(Tensor(x)).count("while_loop") == 1


def test_for_over_rows_that_appends_is_unrolled():
    def f(x):
        rows = []
        for row in x:
            rows.append(row + 1)
        return rows

    check(f, ((V,), list(V + 1)))


def test_unrolled_loop_with_break_and_return():
    def f(x):
        for i in range(4):
            if x[i] > 3:
                return x[i]
        return x[0] * 100

    def g(x):
        s = 0.0
        for i in range(4):
            if x[i] > 3:
                break
            if x[i] == 2:
                continue
            s = s + x[i]
        return s

    check(f, ((V,), 4.0), ((V / 10,), 10.0))
    check(g, ((V,), 1.0), ((V / 10,), 1.2))


def test_return_inside_a_compiled_loop():
    def f(n):
        i = 0
        while i < n:
            if i * i > 20:
                return i * 10
            i += 1
        return -i

    compiled = ms.jit(f)
    same(plain([compiled(Tensor(3)), compiled(Tensor(9))]), [-3, 50])


def test_while_true_ends_on_a_tensor():
    def f(x):
        n = 0
        while True:
            x = x * 2
            n += 1
            if x.sum() > 100:
                break
        return x, n

    check(f, ((V,), (V * 16, 4)))


def test_and_or_not_ternary_chained_in():
    def f(x, y):
        a = 1 if x > 0 and y > 0 else 0
        b = 1 if x > 0 or y > 0 else 0
        c = 1 if not x > 0 else 0
        d = 1 if 0 < x < 2 else 0
        e = 1 if x in (1.0, 3.0) else 0
        return a, b, c, d, e

    check(
        f,
        ((1.0, 1.0), (1, 1, 0, 1, 1)),
        ((-1.0, 1.0), (0, 1, 1, 0, 0)),
        ((3.0, -1.0), (0, 1, 0, 0, 1)),
    )


def test_parameter_assigned_in_a_branch_and_a_loop():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.n = Parameter(Tensor(0.0), name="n", requires_grad=False)

        def construct(self, x, k):
            if x.sum() > 0:
                self.n = self.n + 1
            for _ in range(k):
                ops.assign_add(self.n, Tensor(10.0))
            return x * self.n

    net = Net()
    same(plain(net(Tensor(V), Tensor(2))), V * 21)
    same(plain(net(Tensor(-V), Tensor(2))), -V * 41)
    same(plain(net.n), 41.0)


def test_gradient_through_if():
    def f(x):
        if x.sum() > 0:
            return (x**3).sum()
        return (x * 5).sum()

    for fn in (ms.grad(f), ms.jit(ms.grad(f)), ms.grad(ms.jit(f))):
        same(plain(fn(Tensor(V))), 3 * V**2)
        same(plain(fn(Tensor(-V))), np.full(4, 5.0))


def test_random_draws_differ_between_iterations():
    @ms.jit
    def f(n):
        low, high = Tensor(2.0), Tensor(-1.0)
        for _ in range(n):
            u = ops.uniform((1,), Tensor(0.0), Tensor(1.0))[0]
            low, high = ops.minimum(low, u), ops.maximum(high, u)
        return low, high

    low, high = plain(f(Tensor(20)))
    assert 0 <= low < 0.4 and 0.6 < high <= 1
    again = plain(f(Tensor(20)))
    assert again[0] != low


def test_print_in_order(capfd):
    @ms.jit
    def f(n):
        print("begin")
        for i in range(n):
            if i == 1:
                print("one:", i)
            else:
                print(f"other {i}")
        print("end")
        return n

    f(Tensor(3))
    f(Tensor(2))
    assert capfd.readouterr().out == (
        "begin\nother 0\none: 1\nother 2\nend\nbegin\nother 0\none: 1\nend\n"
    )


def test_assert_and_raise_at_run_time():
    @ms.jit
    def f(x):
        assert x.sum() > 0, f"bad sum {x.sum()}"
        if x[0] > 5:
            raise ValueError(f"too large: {x[0]}")
        return x * 2

    same(plain(f(Tensor(V))), V * 2)
    with pytest.raises(AssertionError, match="bad sum -12.0"):
        f(Tensor(-V))
    with pytest.raises(ValueError, match="too large: 10.0"):
        f(Tensor(V * 10))


def test_variable_without_one_type_is_an_error_only_where_it_is_read():
    @ms.jit
    def fine(x):
        if x.sum() > 0:
            t = x[:2]
            y = t.sum()
        else:
            t = x[:3]
            y = t.sum()
        return y

    same(plain(fine(Tensor(V))), 3.0)

    @ms.jit
    def wrong(x):
        if x.sum() > 0:
            t = x[:2]
        else:
            t = x[:3]
        return t + 1

    with pytest.raises(TypeError, match=r"'t' has no usable value here: it is float32\[2\]") as e:
        wrong(Tensor(V))
    assert "float32[3] otherwise" in str(e.value) and "return t + 1" in str(e.value)


_seen = []


@ops.constexpr
def note_trace():
    _seen.append(1)
    return 1


def one_loop(x, n):
    for _ in range(n):
        x = x * note_trace()
    return x


def five_loops(x, n):
    a = 0
    for _ in range(n):
        a += 1
        b = 0
        while b < n:
            b += 1
            for c in range(n):
                d = 0.0
                while d < c:
                    d = d + 1
                    for _ in range(n):
                        x = x * note_trace()
                        if x.sum() > 100:
                            break
                x = x + d
    return x + a


@pytest.mark.one_mode("about compiling")
def test_nested_loops_are_traced_in_time_proportional_to_their_depth():
    counts = []
    for f in (one_loop, five_loops):
        _seen.clear()
        f = ms.jit(f)
        f.graph(Tensor(V), Tensor(2))
        counts.append(len(_seen))
    assert counts[0] == 2 and counts[1] <= 3 * 5


@pytest.mark.one_mode("compares with plain Python")
def test_nested_loops_compute_what_python_computes():
    same(plain(ms.jit(five_loops)(Tensor(V), Tensor(3))), five_loops(V, 3))


class TwoCounters(nn.Cell):
    def __init__(self):
        super().__init__()
        self.a = ms.Parameter(Tensor(5, ms.int32), name="a")
        self.b = ms.Parameter(Tensor(2, ms.int32), name="b")


def in_both_modes(kind, values):
    """Results and Parameters for each value, eager and compiled: equal."""
    for v in values:
        eager, compiled = kind(), kind()
        want = eager.construct(Tensor(v, ms.int32))
        got = ms.jit(compiled)(Tensor(v, ms.int32))
        assert int(got) == int(want), v
        for p, q in zip(eager.get_parameters(), compiled.get_parameters()):
            assert int(p) == int(q), (v, p.name)


def test_a_variable_that_names_a_parameter_sees_its_changes():
    class InALoop(TwoCounters):
        def construct(self, x):
            y = self.a
            while y < 12:
                if x > y:
                    ms.ops.assign(self.a, y + 1)  # y is self.a in the first iteration
                elif x == y:
                    self.a = self.a + 3
                else:
                    ms.ops.assign_add(self.a, Tensor(2, ms.int32))
                y = y + self.a
            return y + self.a

    class WithBreak(TwoCounters):
        def construct(self, x):
            y = self.a
            for i in range(x):
                ms.ops.assign_add(self.a, self.b)
                if y > 9:
                    break
                y = y + self.a + i
            return y * 1

    for kind in (InALoop, WithBreak):
        in_both_modes(kind, (0, 1, 3, 7))


def test_a_parameter_assigned_before_a_loop_in_a_branch():
    class Net(TwoCounters):
        def construct(self, x):
            if x > 0:
                self.a = self.a + 1
                while self.a < x:
                    self.a = self.a * 2
            return self.a + x

    in_both_modes(Net, (0, 1, 9, 50))
