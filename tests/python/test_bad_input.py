"""Bad arguments of every op, layer and optimizer: the kind of exception and its text.

The calls are made from the records, see bad_input_cases.py. What is refused must be refused with a
TypeError, ValueError, IndexError or MemoryError that names the op or the argument in at most eight
lines; nothing may end the process."""

import compiled_calls
import nn_cases
import numpy as np
import pytest
from bad_input_cases import Case, Made, cases_of, made_cases, working_call
from mycel import Parameter, Tensor, _mycel, nn

pytestmark = pytest.mark.plain_calls("the calls are made from records")

GOOD = (TypeError, ValueError, IndexError, MemoryError)
OPS = [name for name, _, _, _, internal in _mycel.records() if not internal]
_calls = {}


def call_of(op):
    if op not in _calls:
        _calls[op] = working_call(op)
    return _calls[op]


def names(text, case, compiled):
    """Whether a message names the op or the argument. What a compiled program finds in values or
    lacks in memory names the op that ran, which may be a part of the one that was called."""
    if case.call.op in text or case.argument in text:
        return True
    return compiled and (_mycel.is_op(text.partition(":")[0]) or "out of memory: " in text)


def mistakes(cases, apply=None):
    """(how many were refused, texts of what is wrong with the others)."""
    refused, wrong = 0, []
    for case in cases:
        try:
            case.run(apply)
        except GOOD as e:
            refused += 1
            text = str(e)
            if not names(text, case, apply is not None):
                wrong.append(f"{case}: names neither: {text}")
            if len(text.splitlines()) > 8:
                wrong.append(f"{case}: more than 8 lines: {text}")
            if isinstance(e, MemoryError) and "iB" not in text:
                wrong.append(f"{case}: no size: {text}")
        except BaseException as e:  # noqa: BLE001
            wrong.append(f"{case}: {type(e).__name__}: {e}")
        else:
            if case.must:
                wrong.append(f"{case}: accepted {str(case.value)[:80]}")
    return refused, wrong


@pytest.mark.parametrize("op", OPS)
def test_operands_and_attributes_of_ops(op, mode):
    call = call_of(op)
    if call is None:
        pytest.skip("no working call among the shapes that are tried")
    apply = compiled_calls.call if mode == "graph" else None
    refused, wrong = mistakes(cases_of(call), apply)
    assert not wrong, "\n".join(wrong)
    assert refused


def test_most_ops_have_a_call_to_start_from():
    found = [call for op in OPS if (call := call_of(op)) is not None]
    assert len(found) > 0.95 * len(OPS)
    assert sum(case.must for call in found for case in cases_of(call)) > 3000


LAYERS = {r["name"]: r for r in _mycel.nn.layer_records() if hasattr(nn, r["name"])}
MADE = {
    name: (args, kwargs)
    for name, args, kwargs, *_ in reversed(nn_cases.LAYERS)
    if name in LAYERS and LAYERS[name]["args"]
}


@pytest.mark.parametrize("name", sorted(MADE))
def test_arguments_of_layers(name):
    args, kwargs = MADE[name]
    record = LAYERS[name]
    named = dict(zip([a[0] for a in record["args"]], args)) | kwargs
    refused, wrong = mistakes(made_cases(Made(name, getattr(nn, name), named), record))
    assert not wrong, "\n".join(wrong)
    assert refused


@pytest.mark.parametrize("name", sorted(MADE))
def test_operands_of_layers(name):
    args, kwargs = MADE[name]
    layer = getattr(nn, name)(*args, **kwargs)
    places = [p.rstrip("?").lstrip("*") for p in LAYERS[name]["in"]]
    text = {"abc": "string", object(): "object"}
    x = Tensor(np.ones((2, 3), np.float32))
    cases = []
    for value, kind in text.items():
        given = Made(name, lambda v, layer=layer: layer(v, *[x] * (len(places) - 1)), {})
        cases.append(Case(given, kind, "v", value))
    many = Made(name, lambda v, layer=layer: layer(*[x] * v), {})
    if not any(p.startswith("*") for p in LAYERS[name]["in"]):
        cases.append(Case(many, "too many", "v", len(places) + 1))
    cases.append(Case(many, "too few", "v", 0))
    refused, wrong = mistakes(cases)
    assert not wrong, "\n".join(wrong)
    assert refused == len(cases)


OPTIMIZERS = {r["name"]: r for r in _mycel.nn.optimizer_records() if r["public"]}


@pytest.mark.parametrize("name", sorted(OPTIMIZERS))
def test_arguments_of_optimizers(name):
    cls = getattr(nn, name)
    params = [Parameter(Tensor([1.0, 2.0]), name="p")]
    record = OPTIMIZERS[name]
    made = Made(name, lambda **named: cls(**{"params": params, **named}), {})
    cases = list(made_cases(made, record))
    for kind, value in [("number", 3), ("strings", ["a"]), ("none", None), ("empty", [])]:
        cases.append(Case(made, kind, "params", value))
    refused, wrong = mistakes(cases)
    assert not wrong, "\n".join(wrong)
    assert refused
