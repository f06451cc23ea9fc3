"""Python constructs that are evaluated while compiling."""

import functools
from collections import namedtuple

import mycel as ms
import numpy as np
import pytest
from modes import check, plain, same
from mycel import Tensor, nn, ops

V = np.array([1.0, 2.0, 4.0, 5.0], np.float32)
Pair = namedtuple("Pair", "first second")


class Record:
    def __init__(self, x, k=2):
        self.x, self.k = x, k

    @property
    def scaled(self):
        if self.x.sum() > 0:
            return self.x * self.k
        return self.x

    def __call__(self, y):
        return self.x + y


def test_comprehensions_and_generators():
    def f(x):
        a = [x[i] * j for i in range(2) for j in (1, 2) if j > 0]
        b = {k: x * v for k, v in zip("ab", (1, 2))}
        c = sum(x[i] for i in range(4))
        d = any(x[i] > 4 for i in range(4))
        return a, b, c, d, len({n % 2 for n in range(5)})

    check(f, ((V,), ([1, 2, 2, 4], {"a": V, "b": V * 2}, 12, True, 2)))


def test_nested_functions_closures_nonlocal_lambda():
    def f(x):
        count = 0

        def add(y, scale=2, *more, bias=0, **rest):
            nonlocal count
            count = count + 1
            return y * scale + bias + len(more) + len(rest)

        g = lambda v, f=add: f(v, 3, 7, bias=1, extra=0)
        return g(x), add(x), count

    check(f, ((V,), (V * 3 + 3, V * 2, 2)))


def test_nonlocal_in_a_branch():
    def f(x):
        total = x * 0

        def add(v):
            nonlocal total
            total = total + v

        if x.sum() > 0:
            add(x)
        add(x)
        return total

    check(f, ((V,), V * 2), ((-V,), -V))


def test_unpacking_slices_assignment():
    def f(x):
        a, *b, c = x[0], x[1], x[2], x[3]
        y = x * 1
        y[1:3] = 0
        y[..., -1] += 5
        z = x.reshape((2, 2)) * 1
        z[z > 3] = -1
        z[0, None, :1] = 9
        return a, b, c, y, z

    check(f, ((V,), (1, [2, 4], 5, [1, 0, 0, 10], [[9, 2], [-1, -1]])))


def test_lists_dicts_and_attributes_changed_in_branches():
    def f(x):
        items, table, r = [x, x], {"a": 1}, Record(x)
        if x.sum() > 0:
            items[0] = x * 2
            table["a"] = 5
            r.k = 7
            x[0] = 100.0
        items.append(x)
        return items, table["a"], r.scaled

    big = np.array([100, 2, 4, 5], np.float32)
    check(f, ((-V,), ([-V, -V, -V], 1, -V)))
    got = plain(ms.jit(f)(Tensor(V)))
    same(got[1], 5)
    same(got[0][2], big)


def test_records_named_tuples_strings():
    def f(x, how):
        p, how_named = Pair(x, 3), "first"
        first, second = p
        assert isinstance(p, tuple) and hasattr(p, "first") and not hasattr(p, "third")
        y = Record(x)(p.second) if how == "call" and how != "no" else None
        if y is None:
            y = getattr(p, how_named)
        return y, f"{how}:{second:02d}", len(x), first.shape[0]

    check(f, ((V, "call"), (V + 3, "call:03", 4, 4)), ((V, "x"), (V, "x:03", 4, 4)))


def test_walrus_augmented_del_is():
    def f(x):
        if (n := len(x)) > 2:
            n *= 10
        d = {"a": 1, "b": 2}
        del d["a"]
        s = None
        s = x if s is None else s
        return n, list(d), s @ s

    check(f, ((V,), (40, ["b"], float(V @ V))))


def test_map_filter_zip_enumerate_reversed_sorted_partial_reduce():
    def f(x):
        a = list(map(lambda i: x[i], [0, 1]))
        b = list(filter(lambda n: n > 1, [1, 2, 3]))
        c = [i * v for i, v in enumerate(reversed([x[0], x[1]]))]
        d = functools.reduce(lambda p, q: p + q, [x[0], x[1], x[2]])
        e = functools.partial(lambda k, y: y * k, 3)(x)
        g = sorted([3, 1, 2], key=lambda n: -n)
        return a, b, c, d, e, g, max(x[0], x[1]), min(x[0], x[1])

    check(f, ((V,), ([1, 2], [2, 3], [0, 1], 7, V * 3, [3, 2, 1], 2, 1)))


def test_user_functions_inside_mycel_functions():
    def f(x):
        def loss(y):
            if y.sum() > 0:
                return (y * y).sum()
            return y.sum()

        square = ops.HyperMap()(lambda a: a * a if a.sum() > 0 else a, (x, -x))
        return ms.grad(loss)(x), square

    check(f, ((V,), (2 * V, (V * V, -V))), ((-V,), (np.ones(4), (-V, V * V))))


def test_cells_lists_super_and_calls_between():
    class Base(nn.Cell):
        def __init__(self, k):
            super().__init__()
            self.k = k

        def construct(self, x):
            if x.sum() > 0:
                return x * self.k
            return x - self.k

    class Child(Base):
        def construct(self, x):
            return super().construct(x) + 1

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.blocks = nn.CellList([Base(2), Child(3)])
            self.seq = nn.SequentialCell(Base(1), Child(1))

        def construct(self, x):
            for block in self.blocks:
                x = block(x)
            return self.seq(x)

    net = Net()
    same(plain(net(Tensor(V))), V * 6 + 2)
    same(plain(net(Tensor(-V))), -V - 2 - 3 + 1 - 1 - 1 + 1)


def test_functions_chosen_by_a_tensor():
    def f(x, i):
        return (lambda v: v + 1, lambda v: v * 10)[i](x)

    g = ms.jit(f)
    same(plain(g(Tensor(V), Tensor(0))), V + 1)
    same(plain(g(Tensor(V), Tensor(1))), V * 10)


def test_equal_signatures_compile_once():
    runs = []

    @ms.jit
    def f(x, k, names):
        runs.append(k)
        return x * k if names["a"] else x

    for _ in range(3):
        f(Tensor(V), 2, {"a": True})
    f(Tensor(V[:2]), 2, {"a": True})
    f(Tensor(V), 3, {"a": True})
    assert f.signatures == 3 and runs == [2, 2, 2, 2, 3]  # appended to in every run


def _with_try(x):
    try:
        return x
    except ValueError:
        return x


def _with_with(x):
    with open(x):
        return x


def _with_yield(x):
    yield x


def _with_int(x):
    return int(x[0])


def _with_array(x):
    return x.asnumpy()


def _with_class(x):
    class A:
        pass

    return x


@pytest.mark.parametrize(
    ("fn", "text", "line"),
    [
        (_with_try, "try/except cannot be compiled", "try:"),
        (_with_with, "with cannot be compiled", "with open(x):"),
        (_with_yield, "yield cannot be compiled", "_with_yield"),
        (_with_int, "is not known while a graph is being compiled", "return int(x[0])"),
        (_with_array, "is not known while a graph is being compiled", "return x.asnumpy()"),
        (_with_class, "a class inside a function cannot be compiled", "class A:"),
    ],
)
def test_refused_with_line_and_advice(fn, text, line):
    with pytest.raises((NotImplementedError, ValueError)) as e:
        ms.jit(fn)(Tensor(V))
    message = str(e.value)
    assert text in message and line in message and "test_constructs.py" in message


def test_errors_of_plain_python_show_the_line():
    def f(x):
        table = {"a": x}
        return table["b"]

    with pytest.raises(KeyError) as e:
        ms.jit(f)(Tensor(V))
    assert e.traceback[-1].name == "f"
    assert 'table["b"]' in str(e.traceback[-1].statement)


def test_cells_chosen_by_a_tensor_in_both_modes():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.choices = nn.CellList([nn.ReLU(), nn.Tanh()])

        def construct(self, i, x):
            return self.choices[i](x)

    net, x = Net(), Tensor(np.array([-1.0, 2.0], np.float32))
    for run in (net.construct, ms.jit(net)):
        same(plain(run(Tensor(0), x)), np.array([0.0, 2.0]))
        same(plain(run(Tensor(1), x)), np.tanh(np.array([-1.0, 2.0], np.float32)))


class Counting(nn.Cell):
    def __init__(self, start):
        super().__init__()
        self.count = start

    def construct(self, x):
        self.count = self.count + 1
        return x * self.count


def test_attributes_read_and_assigned_count_on():
    for start in (0, 0.5):
        net = Counting(start)
        form = ms.jit(net)
        for k in range(1, 6):
            same(plain(form(Tensor(V))), V * (start + k))
            assert net.count == start + k and type(net.count) is type(start)
        assert form.signatures == 1  # after the first call the number is an input


def test_a_counter_whose_value_is_needed_while_compiling():
    class Net(Counting):
        def construct(self, x):
            self.count = self.count + 1
            return ms.ops.tile(x, (self.count,)), self.count

    net = Net(0)
    form = ms.jit(net)
    for k in range(1, 4):
        tiled, count = form(Tensor(V))
        same(plain(tiled), np.tile(V, k))
        assert count == k and net.count == k


def test_results_keep_their_dtype_when_a_number_becomes_an_input():
    net = Counting(0)
    form = ms.jit(net)
    for k in range(1, 4):
        out = form(Tensor(np.ones(2, np.int16)))
        assert out.dtype == ms.int16 and out.asnumpy().tolist() == [k, k]


def test_tensor_attributes_are_kept_from_call_to_call():
    class Running(nn.Cell):
        def __init__(self):
            super().__init__()
            self.total = Tensor(np.zeros_like(V))
            self.last = None

        def construct(self, x):
            self.total = self.total + x
            self.last = x * 2
            return self.last + self.total

    net = Running()
    form = ms.jit(net)
    for k in range(1, 5):
        same(plain(form(Tensor(V))), V * (2 + k))
        same(plain(net.total), V * k)
        same(plain(net.last), V * 2)
    assert form.signatures == 1


def test_without_source_text_it_is_traced():
    space = {}
    exec("def f(x):\n    return x * 2", space)
    same(plain(ms.jit(space["f"])(Tensor(V))), V * 2)


def test_masks_of_two_axes_pick_pairs():
    def f(x, i, j):
        return x[i[i > 0], j[j > 0]]

    x = np.arange(12.0).reshape(3, 4)
    i, j = np.array([0, 1, 2]), np.array([1, 0, 3])
    for run in (f, ms.jit(f)):
        np.testing.assert_array_equal(
            run(ms.Tensor(x), ms.Tensor(i), ms.Tensor(j)).asnumpy(), x[i[i > 0], j[j > 0]]
        )


@pytest.mark.one_mode("about compiled code")
def test_the_size_of_what_is_not_known_is_a_clear_error():
    import mycel.numpy as mnp

    with pytest.raises(ValueError, match=r"Tensor.size: the shape .* known only when"):
        ms.jit(lambda i: mnp.size(i[i > 0]))(ms.Tensor(np.array([0, 1, 2])))
