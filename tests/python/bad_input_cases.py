"""Bad calls, made from the records of ops, layers and optimizers.

For each public op a call that works is looked for among a few shapes and attribute values; each
case is that call with one argument replaced by a bad one. `must` says that the call has to be
refused; otherwise it may work, but what it raises must still be a good error.
"""

import itertools
import re
from dataclasses import dataclass, field

import numpy as np
from mycel import Tensor, _mycel

SAMPLES = {"index": np.int32, "int": np.int32, "bool": np.bool_, "complex": np.complex64}
OUTSIDE = {
    "float": np.complex64,
    "inexact": np.str_,
    "real": np.complex64,
    "index": np.float32,
    "int": np.float32,
}
SHAPES = [(2, 3, 4), (4, 4), (4,), (), (2, 4, 6, 6), (1, 2, 4, 4, 4), (1,)]
INTS = [[1], [2], [2, 2], [0, 1], [2, 3, 4], [1, 1, 1, 1], []]
SIZES = re.compile(
    r"shape|size|multiples|repeats|depth|steps|nbins|length|num_|^n$|^k$|reps|maxlen"
)
AXES = re.compile(r"^(axis|axes|dim|dims|axis[01]|dim[012])$")


def _plain(fn, *args, **kwargs):
    return fn(*args, **kwargs)


@dataclass
class Call:
    """A call that works: operands by name, attributes that have no default."""

    op: str
    operands: dict
    attributes: dict
    classes: dict = field(default_factory=dict)

    def run(self, changed=None, apply=None):
        """The call with some arguments changed; apply(fn, *args, **kwargs) makes it."""
        named = {**self.operands, **self.attributes, **(changed or {})}
        fn = _mycel.op(self.op)
        apply = apply or _plain
        places = [name for name, kind, *_ in fn.parameters if kind == "variadic"]
        members = named.pop(places[0]) if places else []
        return apply(fn, *(members if isinstance(members, list) else [members]), **named)


def _array(cls, shape, plain=np.float32):
    kind = SAMPLES.get(cls, plain)
    if kind is np.float32:
        return np.linspace(0.2, 0.9, int(np.prod(shape))).reshape(shape).astype(kind)
    return np.zeros(shape, kind)


def _shape_of(dims, sizes):
    """The shape that a record's dims ask for; None where they leave it open."""
    if not dims or "..." in dims:
        return None
    shape = []
    for word in dims.strip("[]").split(","):
        for name in re.findall(r"[a-z]\w*", word):
            small = 1 if name.startswith("group") else 2 + len(sizes) % 3
            sizes.setdefault(name, 6 if name in ("d", "h", "w", "l") else small)
        try:
            shape.append(int(eval(word, {}, dict(sizes))) if word.strip() else 0)  # noqa: S307
        except (SyntaxError, NameError, ZeroDivisionError):
            return None
    return tuple(shape) if dims != "[]" else ()


def _choices(kind, choices):
    if kind == "int[]":
        return INTS
    if kind == "str":
        return choices or ["i...->i..."]
    return {"int": [0, 1, 2, 4], "float": [1.0], "bool": [False], "dtype": ["float32"]}.get(
        kind, []
    )


def working_call(op, tries=1000):
    """A Call of the op that works, or None."""
    fn = _mycel.op(op)
    kinds = {name: rest for name, *rest in _mycel.attributes(op)}
    visible = {name for name, *_ in fn.parameters}
    operands = [o for o in _mycel.operands(op) if o[0] in visible and not o[3]]
    needed = [n for n, kind, default, _ in fn.parameters if kind == "attr" and not default]
    values = itertools.product(*[_choices(kinds[n][0], kinds[n][3]) for n in needed])
    pairs = sorted(itertools.product(SHAPES, SHAPES), key=lambda p: p[0] != p[1])
    candidates = itertools.product(pairs, (np.float32, np.int32), list(values))
    sizes = {}
    asked = [_shape_of(o[2], sizes) for o in operands]
    for (first, other), plain, attributes in itertools.islice(candidates, tries):
        made = {}
        for i, (name, cls, _, _, variadic) in enumerate(operands):
            shape = (first if i == 0 else other) if asked[i] is None else asked[i]
            t = Tensor(_array(cls, shape, plain))
            made[name] = [t, t] if variadic else t
        call = Call(op, made, dict(zip(needed, attributes)), {o[0]: o[1] for o in operands})
        try:
            call.run()
        except Exception:  # noqa: BLE001  this one does not work
            continue
        return call
    return None


@dataclass
class Case:
    """One bad call. argument: what is bad, which the error must name, or the op."""

    call: Call
    kind: str
    argument: str
    value: object
    must: bool = True

    def __str__(self):
        return f"{self.call.op}-{self.kind}-{self.argument}"

    def run(self, apply=None):
        return self.call.run({self.argument: self.value}, apply)


def _operand_cases(call):
    for name, cls in call.classes.items():
        given = call.operands[name]
        for kind, value in [("string", "abc"), ("none", None), ("object", object())]:
            yield Case(call, kind, name, [value] if isinstance(given, list) else value)
        if isinstance(given, list):
            continue
        wrong = OUTSIDE.get(cls)
        if wrong in (np.complex64, np.float32):
            yield Case(call, "dtype", name, Tensor(np.ones(given.shape, wrong)))
        if cls == "index" and given.size:
            for kind, place in [("beyond", 10**6), ("before", -(10**6))]:
                value = Tensor(np.full(given.shape, place, np.int32))
                yield Case(call, kind, name, value, must=False)
        for kind, shape in [("more dims", (2, 1, 1, *given.shape)), ("other dims", (7, 5, 11))]:
            value = Tensor(np.zeros(shape, np.dtype(str(given.dtype).lower())))
            yield Case(call, kind, name, value, must=False)
        yield Case(call, "empty", name, Tensor(_array(cls, (0,))), must=False)


def _attribute_cases(call):
    for name, kind, optional, length, choices in _mycel.attributes(call.op):
        if kind in ("bool", "int", "float", "int[]", "float[]", "dtype"):
            yield Case(call, "string", name, "abc")
        if kind in ("int", "int[]") and name not in ("seed", "seed0", "seed1", "seed2"):
            for label, value in [("fraction", 1.5), ("nan", float("nan")), ("overflow", 2**70)]:
                yield Case(call, label, name, value)
            if AXES.match(name):
                for label, value in [("beyond", 99), ("before", -99), ("huge", 2**62)]:
                    yield Case(call, label, name, value if kind == "int" else [value])
            else:
                for label, value in [("huge", 2**62), ("minus huge", -(2**62)), ("minus", -7),
                                     ("zero", 0)]:  # fmt: skip
                    yield Case(call, label, name, value, must=False)
        if kind == "int[]":
            given = call.attributes.get(name)
            count = length if length > 0 else len(given) if given else 2
            yield Case(call, "strings", name, ["a"] * count)
            for label, value in [("product", 2**40), ("negative", -5), ("nought", 0)]:
                yield Case(call, label, name, [value] * count, must=False)
            if length > 0:
                yield Case(call, "count", name, [1] * (length + 9))
        if kind in ("float", "float[]"):
            for label, value in [("nan", float("nan")), ("infinite", float("inf"))]:
                yield Case(call, label, name, value, must=False)
        if kind == "str" and choices:
            yield Case(call, "choice", name, "no_such")
        if kind in ("str", "bool", "dtype"):
            yield Case(call, "number", name, 3.5)
        if not optional and kind in ("int", "float", "bool", "str", "int[]"):
            yield Case(call, "none", name, None)


def cases_of(call):
    """All bad calls made from one of an op that works."""
    yield from _operand_cases(call)
    yield from _attribute_cases(call)
    yield Case(call, "unknown", "no_such_argument", 1)


@dataclass
class Made:
    """An object that can be made: a layer or an optimizer with arguments by name."""

    op: str  # its name
    make: object
    arguments: dict

    def run(self, changed, apply=None):
        return self.make(**{**self.arguments, **changed})


def made_cases(made, record):
    """Bad arguments of the constructor of a layer or an optimizer."""
    for name, has_default, default in record["args"]:
        given = made.arguments.get(name, default)
        kind = type(given)
        if kind in (bool, int, float):
            yield Case(made, "string", name, "no_such")
            yield Case(made, "object", name, object())
        if kind is bool:
            yield Case(made, "fraction", name, 1.5)
        if kind is int or (kind is tuple and all(type(v) is int for v in given)):
            for label, value in [("fraction", 1.5), ("overflow", 2**70)]:
                yield Case(made, label, name, value)
            for label, value in [("huge", 2**62), ("large", 2**40), ("minus", -7), ("zero", 0)]:
                yield Case(made, label, name, value, must=False)
        if kind is float:
            for label, value in [
                ("nan", float("nan")),
                ("infinite", float("inf")),
                ("minus", -7.5),
            ]:
                yield Case(made, label, name, value, must=False)
        if kind is str:
            yield Case(made, "word", name, "no_such")
            yield Case(made, "object", name, object())
        if not has_default:
            yield Case(made, "none", name, None)
    yield Case(made, "unknown", "no_such_argument", 1)
