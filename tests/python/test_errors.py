"""Mistakes of newcomers: the kind of exception, its exact text, and a traceback of user lines
only."""

import subprocess
import sys
import textwrap
import traceback

import mycel as ms
import pytest
from mycel import Parameter, Tensor, ops

pytestmark = pytest.mark.plain_calls("the errors name the line that made the call")

X = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


def message(fn, kind):
    with pytest.raises(kind) as e:
        fn()
    return e


def first_line(e):
    return str(e.value).splitlines()[0]


# (what the user wrote, exception, first line, a part of the hint)
MISTAKES = [
    (lambda: X + Tensor([1.0, 2.0]), ValueError, "add: ", "broadcast"),
    (
        lambda: ops.add(X),
        TypeError,
        "add: argument 'other' is missing",
        "Signature: add(input, other)",
    ),
    (lambda: ops.add(X, X, X), TypeError, "add: 3 arguments given, at most 2 allowed", "Signature"),
    (
        lambda: ops.add(X, othr=X),
        TypeError,
        "add: unknown argument 'othr'",
        "Did you mean 'other'?",
    ),
    (lambda: ops.add(X, input=X), TypeError, "add: argument 'input' is given twice", ""),
    (lambda: ops.add(X, None), TypeError, "add: argument 'other' must not be None", ""),
    (
        lambda: ops.add(X, "1"),
        TypeError,
        "add: 'other': str cannot become a tensor",
        "Allowed: numbers",
    ),
    (lambda: ops.expand_dims(X, "0"), TypeError, "expand_dims: 'axis' must be an int, got str", ""),
    (
        lambda: ops.expand_dims(X, 1.5),
        TypeError,
        "expand_dims: 'axis' must be an int, got float",
        "",
    ),
    (
        lambda: ops.expand_dims(X, True),
        TypeError,
        "expand_dims: 'axis' must be an int, got bool",
        "",
    ),
    (lambda: ops.transpose(X, (0, "1")), TypeError, "must be an int, got str", ""),
    (
        lambda: ops.ReduceSum(keep_dims=1),
        TypeError,
        "ReduceSum: 'keep_dims' must be True or False, got int",
        "",
    ),
    (
        lambda: ops.ReduceSum(keepdims=True),
        TypeError,
        "ReduceSum: unknown argument 'keepdims'",
        "keep_dims",
    ),
    (lambda: ops.ad(X, X), AttributeError, "mycel.ops has no 'ad'", "Did you mean"),
    (
        lambda: ops.cast(X, "flot32"),
        TypeError,
        "cast: 'dtype': 'flot32' is not a dtype Mycel has",
        "float32",
    ),
    (lambda: X[5], IndexError, "indexing: position 5 is outside dim 0 of float32(2, 3)", ""),
    (lambda: X[0, 0, 0], IndexError, "indexing: float32(2, 3) has 2 dims, 3 indices given", ""),
    (lambda: X["a"], IndexError, "indexing: str cannot be an index", "Allowed: ints"),
    (lambda: X.foo, AttributeError, "object has no attribute 'foo'", ""),
    (
        lambda: bool(X),
        ValueError,
        "bool(): float32(2, 3) has 6 elements; exactly 1 is needed",
        ".all() or .any()",
    ),
    (lambda: float(X), ValueError, "float(): float32(2, 3) has 6 elements", ""),
    (lambda: len(Tensor(1)), TypeError, "len(): a tensor without dimensions has no length", ""),
    (lambda: list(Tensor(1)), TypeError, "iteration over a tensor without dimensions", ""),
    (lambda: [0, 1][Tensor(1.0)], TypeError, "index: float32() is no single integer", ""),
    (lambda: Tensor(), TypeError, "Tensor: no values given", "Give input_data"),
    (lambda: Tensor("abc"), TypeError, "Tensor: str cannot become a tensor", "Allowed"),
    (
        lambda: Tensor([[1, 2], [3]]),
        ValueError,
        "Tensor: the nested sequence is ragged",
        "same length",
    ),
    (lambda: Tensor([1, "a"]), TypeError, "Tensor: a number was expected, got str", ""),
    (lambda: Tensor([1], dtype="int3"), TypeError, "Tensor: 'dtype': 'int3' is not a dtype", ""),
    (
        lambda: Tensor([1, 2], shape=(3,)),
        ValueError,
        "Tensor: input_data has shape (2,), 'shape' says (3,)",
        "",
    ),
    (
        lambda: Tensor([1]) + "a",
        TypeError,
        "unsupported operand type(s) for +: 'mycel.Tensor' and 'str'",
        "",
    ),
    (lambda: X @ Tensor([[1.0]]), ValueError, "matmul: ", ""),
    (lambda: X.reshape(4), ValueError, "reshape: ", ""),
    (lambda: Parameter("a"), TypeError, "Tensor: str cannot become a tensor", ""),
    (
        lambda: Parameter(1.0, name=3),
        ValueError,
        "Parameter: 'name' must be a str or None, got int",
        "",
    ),
    (
        lambda: Parameter(X).set_data(Tensor([1.0])),
        ValueError,
        "Parameter 'Parameter' is float32(2, 3)",
        "",
    ),
    (
        lambda: ops.assign(X, X),
        TypeError,
        "assign: the variable must be a Parameter, got Tensor",
        "",
    ),
    (lambda: ms.grad(lambda x: x, 1)(X), ValueError, "grad: grad_position 1 is out of range", ""),
    (
        lambda: ms.set_context(mode="GRAPH"),
        ValueError,
        "set_context: 'mode' must be GRAPH_MODE (0)",
        "",
    ),
    (
        lambda: ms.set_context(device_target="GPU"),
        ValueError,
        "set_context: 'device_target' must be 'CPU'",
        "CPU",
    ),
    (
        lambda: ms.set_context(device="CPU"),
        ValueError,
        "set_context: unknown option 'device'",
        "Did you mean",
    ),
    (lambda: ms.set_seed("1"), TypeError, "set_seed: 'seed' must be an int, got str", ""),
    (lambda: ms.set_seed(-1), ValueError, "set_seed: 'seed' must be in [0, 2**64), got -1", ""),
    (lambda: ops.concat((X, Tensor([1.0])), 0), ValueError, "concat: ", ""),
    (lambda: ops.exp("x"), TypeError, "exp: 'input': str cannot become a tensor", ""),
    (lambda: ms.from_dlpack(5), TypeError, "from_dlpack: int has no __dlpack__ method", ""),
    (
        lambda: setattr(Parameter(X), "requires_grad", 1),
        TypeError,
        "'requires_grad' must be True or False",
        "",
    ),
]


@pytest.mark.parametrize(
    "make, kind, line, hint", MISTAKES, ids=lambda v: v if isinstance(v, str) else ""
)
def test_mistake(make, kind, line, hint):
    e = message(make, kind)
    assert line in first_line(e), str(e.value)
    assert hint in str(e.value), str(e.value)
    assert len(str(e.value).splitlines()) <= 8


def test_the_exact_text():
    e = message(lambda: ops.add(X, Tensor([1.0, 2.0])), ValueError)
    lines = str(e.value).splitlines()
    assert lines[0].startswith("add: ") and "float32[2, 3]" in lines[0] and "float32[2]" in lines[0]
    assert "test_errors.py:" in lines[1] and "in test_the_exact_text.<lambda>" in lines[1]
    assert lines[2].strip() == "e = message(lambda: ops.add(X, Tensor([1.0, 2.0])), ValueError)"
    if sys.version_info >= (3, 11):
        at = lines[3].index("^")
        assert lines[2][at:].startswith("ops.add(X, Tensor([1.0, 2.0]))")
        assert lines[3].count("^") == len("ops.add(X, Tensor([1.0, 2.0]))")


def test_tracebacks_show_user_lines_only():
    def loss(x):
        return x + Tensor([1.0, 2.0])

    e = message(lambda: ms.grad(loss)(X), ValueError)
    files = [frame.filename for frame in traceback.extract_tb(e.value.__traceback__)]
    assert not [f for f in files if "/mycel/" in f.replace("\\", "/") and "tests" not in f], files
    names = [frame.name for frame in traceback.extract_tb(e.value.__traceback__)]
    assert names[-1] == "loss"


def test_nothing_on_standard_error():
    code = """
        import mycel as ms
        from mycel import Tensor, ops
        try:
            Tensor([1.0, 2.0]) + Tensor([1.0, 2.0, 3.0])
        except ValueError:
            pass
        print(ops.exp(Tensor([0.0])))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True
    )
    assert done.returncode == 0 and done.stderr == "" and done.stdout == "[1.]\n", done


def test_import_is_light():
    code = "import sys, mycel; print('numpy' in sys.modules, 'mycel.nn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "False False\n", done
