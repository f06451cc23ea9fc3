"""Evaluation of expressions. Every value is a real Python object; operators on tensors run the
tensor's own operators, which the tracer records."""

import ast
import builtins
import operator
from types import ModuleType

from mycel import _mycel
from mycel._mycel import Tensor
from mycel.front import calls, errors, patterns, regions, values
from mycel.front.functions import Interpreted
from mycel.front.places import Closure, Global, Variable
from mycel.front.recursion import Unknown
from mycel.front.source import nested_source
from mycel.front.state import Scope
from mycel.front.values import LazyText, Unusable, symbolic

_BINARY = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    ast.Pow: operator.pow, ast.MatMult: operator.matmul, ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_, ast.BitXor: operator.xor, ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}  # fmt: skip
IN_PLACE = {
    ast.Add: operator.iadd, ast.Sub: operator.isub, ast.Mult: operator.imul,
    ast.Div: operator.itruediv, ast.FloorDiv: operator.ifloordiv, ast.Mod: operator.imod,
    ast.Pow: operator.ipow, ast.MatMult: operator.imatmul, ast.BitAnd: operator.iand,
    ast.BitOr: operator.ior, ast.BitXor: operator.ixor, ast.LShift: operator.ilshift,
    ast.RShift: operator.irshift,
}  # fmt: skip
_COMPARE = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
}  # fmt: skip
_CONVERSIONS = {-1: lambda v: v, 115: str, 114: repr, 97: ascii}
_MISSING = object()


class Expressions:
    """The part of an Activation that evaluates expressions."""

    __slots__ = ()

    def eval(self, node):
        """The value of an expression."""
        return _EVALUATORS[type(node)](self, node)

    # -- names

    def load(self, name):
        """The value of a variable."""
        scope = self.scope
        while scope is not None:
            value = scope.vars.get(name, _MISSING)
            if value is not _MISSING:
                if type(value) is Unusable:
                    raise self.unusable(name, value)
                return value
            if name in scope.locals:
                raise UnboundLocalError(
                    f"local variable '{name}' is read before it is assigned"
                    f"\n  At {errors.locate(self)}"
                )
            if name in scope.cells:
                return self.load_free(scope.cells[name], name)
            last, scope = scope, scope.parent
        value = last.globals.get(name, _MISSING)
        if value is _MISSING:
            value = getattr(builtins, name, _MISSING)
            if value is _MISSING:
                raise NameError(f"name '{name}' is not defined\n  At {errors.locate(self)}")
            return value
        if type(value) is ModuleType:
            return value
        return self.compiling.guards.read(Global(last.globals, name), value)

    def load_free(self, cell, name):
        """The value of a variable of a Python function around this one."""
        try:
            value = cell.cell_contents
        except ValueError:
            raise NameError(f"variable '{name}' is read before it is assigned") from None
        place = Closure(cell, name)
        if self.compiling.touched(place, cell):
            return value
        return self.compiling.guards.read(place, value)

    def unusable(self, name, value):
        """The error of reading a variable without a usable value."""
        return errors.with_place(
            TypeError,
            f"'{name}' has no usable value here: {value.reason}",
            "Compiled code needs one dtype and shape on every path: assign it on both, or before.",
        )

    def variable(self, name):
        """The location that an assignment to a name changes."""
        scope = self.scope
        if name in scope.outer_names or name not in scope.locals:
            scope = scope if name in scope.cells else scope.parent
            while scope is not None:
                if name in scope.locals and name not in scope.outer_names:
                    return Variable(scope, name)
                if name in scope.cells:
                    return Closure(scope.cells[name], name)
                scope = scope.parent
            raise errors.refuse(
                f"global '{name}' is assigned: a compiled function has no globals of its own",
                "Return the value, or make it a Parameter.",
            )
        return Variable(scope, name)

    def store(self, name, value):
        """Assigns a variable."""
        scope = self.scope
        if name in scope.locals:
            if self.compiling.journal.serial > scope.born:
                self.compiling.note(Variable(scope, name))
            scope.vars[name] = value
        else:
            self.compiling.set(self.variable(name), value)

    # -- decisions

    def truth(self, value):
        """A known bool, or a symbolic tensor bool[]."""
        if isinstance(value, Tensor):
            return bool(value) if values.known(value) else regions.as_bool(value)
        return bool(value)

    def test(self, node):
        """The truth of a condition."""
        value = self.eval(node)
        self.node = node
        return self.truth(value)

    def choose(self, pred, first, second, texts=("on one side", "on the other")):
        """first() if pred else second() on a symbolic bool."""
        return regions.run_cond(
            self.compiling, pred, _alive(first), _alive(second), lambda _: True, texts, _merge
        )

    def either(self, value, node, rest, is_and):
        """`value and/or rest…` where value is symbolic."""
        pred = self.truth(value)
        following = lambda: self.bool_op(node, rest, is_and)
        if all(_is_simple(n) for n in rest):
            other = following()
            if _is_flag(value) and (_is_flag(other) or isinstance(other, bool)):
                op = "logical_and" if is_and else "logical_or"
                return _mycel.op(op)(regions.as_bool(value), regions.as_bool(other))
            following = lambda: other
        kept = lambda: value
        return self.choose(pred, following if is_and else kept, kept if is_and else following)

    def bool_op(self, node, parts, is_and):
        """The value of `a and b and …` or `a or b or …`."""
        value = None
        for i, part in enumerate(parts):
            value = self.eval(part)
            if i + 1 == len(parts):
                return value
            if symbolic(value):
                return self.either(value, node, parts[i + 1 :], is_and)
            if bool(value) != is_and:
                return value
        return value


_LEFT_OUT = object()


def _alive(run):
    """run; what calls a function that is being defined is left out."""

    def wrapped():
        try:
            return run()
        except Unknown:
            return _LEFT_OUT

    return wrapped


def _merge(a, b):
    if a is _LEFT_OUT and b is _LEFT_OUT:
        raise Unknown
    if a is _LEFT_OUT:
        return values.zeros_for(b), b, True, False
    if b is _LEFT_OUT:
        return a, values.zeros_for(a), False, True
    return a, b, False, False


def _is_flag(value):
    return isinstance(value, Tensor) and value.size == 1 and str(value.dtype) == "Bool"


def _is_simple(node):
    """Whether an expression may be evaluated though its value is not needed."""
    for n in ast.walk(node):
        if isinstance(n, (ast.Call, ast.NamedExpr, ast.Subscript, ast.Div, ast.Mod, ast.FloorDiv)):
            return False
    return True


def _constant(self, node):
    return node.value


def _name(self, node):
    self.node = node
    return self.load(node.id)


def _binary(self, node):
    left = self.eval(node.left)
    right = self.eval(node.right)
    self.node = node
    made = _BINARY[type(node.op)](left, right)
    if type(made) is list:
        self.compiling.made(made)
    return made


def _unary(self, node):
    value = self.eval(node.operand)
    self.node = node
    kind = type(node.op)
    if kind is ast.Not:
        truth = self.truth(value)
        return _mycel.op("logical_not")(truth) if isinstance(truth, Tensor) else not truth
    if kind is ast.USub:
        return -value
    if kind is ast.Invert:
        return ~value
    return +value


def _bool(self, node):
    return self.bool_op(node, node.values, isinstance(node.op, ast.And))


def _contains(self, item, container):
    """`item in container`."""
    if isinstance(container, (tuple, list)) and (
        symbolic(item) or any(symbolic(v) for v in container)
    ):
        found = False
        for element in container:
            if element is item:
                return True
            if not (isinstance(element, Tensor) or isinstance(item, Tensor)):
                equal = element == item
            elif not _comparable(element) or not _comparable(item):
                continue
            else:
                equal = self.truth(element == item)
            if isinstance(equal, Tensor) or isinstance(found, Tensor):
                both = [regions.as_bool(v) for v in (found, equal)]
                found = _mycel.op("logical_or")(*both)
            elif equal:
                return True
        return found
    if symbolic(container):
        return (container == item).any()
    return item in container


def _comparable(value):
    return isinstance(value, Tensor) or values.is_number(value)


def _one_comparison(self, op, left, right):
    kind = type(op)
    if kind is ast.In:
        return _contains(self, left, right)
    if kind is ast.NotIn:
        found = _contains(self, left, right)
        return _mycel.op("logical_not")(found) if isinstance(found, Tensor) else not found
    if kind in (ast.Is, ast.IsNot) and (isinstance(right, bool) or isinstance(left, bool)):
        pass
    return _COMPARE[kind](left, right)


def _compare(self, node):
    left = self.eval(node.left)
    result = None
    for i, (op, part) in enumerate(zip(node.ops, node.comparators)):
        right = self.eval(part)
        self.node = node
        now = _one_comparison(self, op, left, right)
        if len(node.ops) == 1:
            return now
        if i == 0:
            result = now
        elif isinstance(result, Tensor) or isinstance(now, Tensor):
            both = [regions.as_bool(v) for v in (result, now)]
            result = _mycel.op("logical_and")(*both)
        else:
            result = now
        if not isinstance(result, Tensor) and not result:
            return result
        left = right
    return result


def _if_else(self, node):
    truth = self.test(node.test)
    if not isinstance(truth, Tensor):
        return self.eval(node.body if truth else node.orelse)
    self.node = node
    value = self.choose(
        truth,
        lambda: self.eval(node.body),
        lambda: self.eval(node.orelse),
        ("when the condition holds", "otherwise"),
    )
    self.node = node
    return value


def _tuple(self, node):
    return tuple(_items(self, node.elts))


def _list(self, node):
    return self.compiling.made(_items(self, node.elts))


def _set(self, node):
    return self.compiling.made(set(_items(self, node.elts)))


def _items(self, nodes):
    out = []
    for n in nodes:
        if type(n) is ast.Starred:
            out.extend(calls.iterate(self, self.eval(n.value)))
        else:
            out.append(self.eval(n))
    return out


def _dict(self, node):
    made = {}
    for key, value in zip(node.keys, node.values):
        if key is None:
            made.update(self.eval(value))
        else:
            name = self.eval(key)
            made[name] = self.eval(value)
    return self.compiling.made(made)


def _attribute(self, node):
    owner = self.eval(node.value)
    self.node = node
    return calls.get_attribute(self, owner, node.attr)


def _subscript(self, node):
    container = self.eval(node.value)
    index = self.eval(node.slice)
    self.node = node
    return calls.get_item(self, container, index)


def _slice(self, node):
    parts = (node.lower, node.upper, node.step)
    return slice(*(None if p is None else self.eval(p) for p in parts))


def _index(self, node):  # Python 3.8's wrapper
    return self.eval(node.value)


def _extended_slice(self, node):
    return tuple(self.eval(d) for d in node.dims)


def _walrus(self, node):
    value = self.eval(node.value)
    scope = self.scope
    while node.target.id not in scope.locals and scope.parent is not None:
        scope = scope.parent  # out of a comprehension
    self.compiling.set(Variable(scope, node.target.id), value)
    return value


def _joined(self, node):
    parts, lazy = [], False
    for n in node.values:
        if type(n) is ast.Constant:
            parts.append(n.value)
            continue
        value = self.eval(n.value)
        self.node = n
        spec = "" if n.format_spec is None else self.eval(n.format_spec)
        if values.contains_symbolic(value):
            lazy = True
            parts.append((value, n.conversion, spec))
        else:
            parts.append(format(_CONVERSIONS[n.conversion](value), spec))
    return LazyText(parts) if lazy else "".join(parts)


def _lambda(self, node):
    return make_function(self, node)


def make_function(self, node):
    """The value of a `def` or lambda."""
    a = node.args
    defaults = tuple(self.eval(d) for d in a.defaults)
    named = zip(a.kwonlyargs, a.kw_defaults)
    kw_defaults = {p.arg: self.eval(d) for p, d in named if d is not None}
    source = nested_source(node, self.source)
    return Interpreted(
        source, defaults, kw_defaults, parent=self.scope, globals_=self.function.globals
    )


# -- comprehensions


def _comprehension(self, node, emit):
    """Runs the loops of a comprehension; emit() takes one element."""
    outer = self.scope
    targets = frozenset(
        n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)
    )
    first = calls.iterate(self, self.eval(node.generators[0].iter))
    scope = Scope(targets, outer, outer.globals, born=self.compiling.now)

    def run(level, items):
        generator = node.generators[level]
        for item in items:
            self.assign(generator.target, item)
            if not all(_filter(self, test) for test in generator.ifs):
                continue
            if level + 1 < len(node.generators):
                inner = calls.iterate(self, self.eval(node.generators[level + 1].iter))
                run(level + 1, inner)
            else:
                emit()

    self.scope = scope
    try:
        run(0, first)
    finally:
        self.scope = outer


def _filter(self, test):
    truth = self.test(test)
    if isinstance(truth, Tensor):
        raise errors.refuse(
            "a comprehension's `if` on a tensor: the length of the result would be unknown",
            "Compute all elements and mask them, or loop with a tensor that is written by index.",
        )
    return truth


def _list_comprehension(self, node):
    out = []
    _comprehension(self, node, lambda: out.append(self.eval(node.elt)))
    return self.compiling.made(out)


def _set_comprehension(self, node):
    out = set()
    _comprehension(self, node, lambda: out.add(self.eval(node.elt)))
    return self.compiling.made(out)


def _dict_comprehension(self, node):
    out = {}

    def emit():
        key = self.eval(node.key)
        out[key] = self.eval(node.value)

    _comprehension(self, node, emit)
    return self.compiling.made(out)


def _generator(self, node):
    """A generator expression: evaluated at once, given out one by one."""
    out = []
    _comprehension(self, node, lambda: out.append(self.eval(node.elt)))
    return iter(out)


def _refused(what, instead):
    def evaluate(self, node):
        self.node = node
        raise errors.refuse(f"{what} cannot be compiled", instead)

    return evaluate


_EVALUATORS = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _bool,
    ast.Compare: _compare,
    ast.IfExp: _if_else,
    ast.Tuple: _tuple,
    ast.List: _list,
    ast.Set: _set,
    ast.Dict: _dict,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.Index: _index,
    ast.ExtSlice: _extended_slice,
    ast.NamedExpr: _walrus,
    ast.JoinedStr: _joined,
    ast.Lambda: _lambda,
    ast.ListComp: _list_comprehension,
    ast.SetComp: _set_comprehension,
    ast.DictComp: _dict_comprehension,
    ast.GeneratorExp: _generator,
    ast.Call: calls.evaluate_call,
    patterns.Pattern: patterns.evaluate,
    ast.Yield: _refused("yield", "Return a list or a tuple."),
    ast.YieldFrom: _refused("yield from", "Return a list or a tuple."),
    ast.Await: _refused("await", "Compiled functions are not asynchronous."),
}
