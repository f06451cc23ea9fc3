"""`match` statements: an `if` chain whose tests are patterns. A pattern is compared like any other
value, so a case may depend on a tensor."""

import ast

from mycel import _mycel
from mycel._mycel import Tensor
from mycel.front import errors, regions
from mycel.front.values import symbolic

_ITSELF = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)


class Pattern(ast.expr):
    """The test of a case: binds the pattern's names; true when it fits and the guard holds."""

    _fields = ("subject", "pattern", "guard")


class IfChains(ast.NodeTransformer):
    """Replaces `match` by assignments and `if`."""

    def __init__(self):
        self.count = 0

    def visit_Match(self, node):
        self.generic_visit(node)
        self.count += 1
        name = f"<match {self.count}>"
        place = lambda made: ast.copy_location(made, node)
        subject = place(ast.Assign([place(ast.Name(name, ast.Store()))], node.subject))
        rest = []
        for case in reversed(node.cases):
            test = Pattern(place(ast.Name(name, ast.Load())), case.pattern, case.guard)
            made = ast.If(ast.copy_location(test, case.pattern), case.body, rest)
            rest = [ast.copy_location(made, case.pattern)]
        return [subject, *rest]


def bound_names(node):
    """The names that a pattern node itself binds."""
    names = [getattr(node, "name", None), getattr(node, "rest", None)]
    return [n for n in names if isinstance(n, str)]


def evaluate(self, node):
    """The truth of a Pattern."""
    truth = fits(self, node.pattern, self.load(node.subject.id))
    if node.guard is None or truth is False:
        return truth
    return _both(truth, lambda: self.test(node.guard))


def _both(truth, more):
    if truth is False:
        return False
    other = more()
    if truth is True or other is False:
        return other
    if other is True:
        return truth
    return _mycel.op("logical_and")(truth, other)


def fits(self, pattern, value):
    """Whether a value fits a pattern: True, False or a symbolic bool; binds names."""
    self.node = pattern
    return _FITS[type(pattern).__name__](self, pattern, value)


def _value(self, pattern, value):
    wanted = self.eval(pattern.value)
    self.node = pattern
    if not symbolic(value) and not symbolic(wanted):
        return bool(value == wanted)
    if isinstance(value, (str, type(None))) or isinstance(wanted, (str, type(None))):
        return False
    return regions.as_bool(value == wanted)


def _singleton(self, pattern, value):
    if symbolic(value) and pattern.value is not None:
        raise errors.with_place(
            TypeError,
            f"case {pattern.value}: `is {pattern.value}` is never true of a tensor",
            "Use `case _ if x:` or compare with 1 and 0.",
        )
    return value is pattern.value


def _as(self, pattern, value):
    truth = True if pattern.pattern is None else fits(self, pattern.pattern, value)
    if pattern.name is not None and truth is not False:
        self.store(pattern.name, value)
    return truth


def _or(self, pattern, value):
    found = False
    for p in pattern.patterns:
        truth = fits(self, p, value)
        if truth is True:
            return True
        if truth is not False:
            found = truth if found is False else _mycel.op("logical_or")(found, truth)
    return found


def _sequence(self, pattern, value):
    if isinstance(value, Tensor) or not isinstance(value, (tuple, list)):
        return False
    parts = pattern.patterns
    star = next((i for i, p in enumerate(parts) if type(p).__name__ == "MatchStar"), None)
    if len(value) != len(parts) if star is None else len(value) < len(parts) - 1:
        return False
    truth = True
    after = 0 if star is None else len(parts) - star - 1
    for i, p in enumerate(parts):
        if i == star:
            if p.name is not None:
                middle = self.compiling.made(list(value[i : len(value) - after]))
                self.store(p.name, middle)
            continue
        item = value[i] if star is None or i < star else value[i - len(parts)]
        truth = _both(truth, lambda p=p, item=item: fits(self, p, item))
        if truth is False:
            return False
    return truth


def _mapping(self, pattern, value):
    if not isinstance(value, dict):
        return False
    keys = [self.eval(k) for k in pattern.keys]
    if any(k not in value for k in keys):
        return False
    truth = True
    for key, p in zip(keys, pattern.patterns):
        truth = _both(truth, lambda p=p, key=key: fits(self, p, value[key]))
        if truth is False:
            return False
    if pattern.rest is not None:
        rest = {k: v for k, v in value.items() if k not in keys}
        self.store(pattern.rest, self.compiling.made(rest))
    return truth


def _class(self, pattern, value):
    cls = self.eval(pattern.cls)
    if not isinstance(value, cls):
        return False
    names = list(getattr(cls, "__match_args__", ()))
    truth, parts = True, []
    for i, p in enumerate(pattern.patterns):
        if cls in _ITSELF and i == 0:
            parts.append((p, lambda: value))
        elif i < len(names):
            parts.append((p, lambda n=names[i]: getattr(value, n)))
        else:
            raise TypeError(f"{cls.__name__}() accepts {len(names)} positional sub-patterns")
    for name, p in zip(pattern.kwd_attrs, pattern.kwd_patterns):
        if not hasattr(value, name):
            return False
        parts.append((p, lambda n=name: getattr(value, n)))
    for p, get in parts:
        truth = _both(truth, lambda p=p, get=get: fits(self, p, get()))
        if truth is False:
            return False
    return truth


_FITS = {
    "MatchValue": _value,
    "MatchSingleton": _singleton,
    "MatchAs": _as,
    "MatchOr": _or,
    "MatchSequence": _sequence,
    "MatchMapping": _mapping,
    "MatchClass": _class,
}
