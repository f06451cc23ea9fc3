"""Execution of statements. A statement gives None when it falls through, else an Outcome."""

import ast
import importlib

from mycel import _mycel
from mycel._mycel import Tensor
from mycel.front import calls, effects, errors, regions, values
from mycel.front.expressions import IN_PLACE, make_function
from mycel.front.outcome import (
    FINISHED_BREAK,
    FINISHED_CONTINUE,
    FINISHED_NEVER,
    LEFT_OUT,
    NEVER,
    NORMAL,
    RETURN,
    Outcome,
    joined,
    left,
    merge,
)
from mycel.front.places import Content, Variable
from mycel.front.recursion import Unknown
from mycel.front.values import UNDEFINED


class Statements:
    """The part of an Activation that executes statements."""

    __slots__ = ()

    def run(self):
        """The function's result."""
        source = self.source
        if source.is_generator:
            raise errors.refuse(
                f"{source.name} is a generator: yield cannot be compiled",
                "Return a list or a tuple.",
            )
        if source.is_lambda:
            return self.eval(source.node.body)
        outcome = self.block(source.node.body)
        if outcome is not None and outcome.codes == {NEVER} and outcome.unknown:
            raise Unknown
        if outcome is None or outcome.codes == {NEVER}:
            return None
        if outcome.codes == {RETURN}:
            return outcome.value
        if outcome.value is None:
            return None
        raise values.Unmergeable(
            f"{source.name} returns {values.kind(outcome.value)} on one path and nothing on another"
        )

    def location(self):
        """The number of the current line for graph nodes."""
        node = self.node
        found = getattr(node, "_place", None)
        if found is None:
            found = node._place = errors.location_id(self)
        return found

    def block(self, statements):
        """Runs statements one after the other."""
        for i, statement in enumerate(statements):
            self.node = statement
            _mycel.set_location(self.location())
            if type(statement) is ast.If:
                truth = self.test(statement.test)
                if isinstance(truth, Tensor):
                    rest = statements[i + 1 :]
                    outcome, finished = self.branch(statement, truth, rest)
                    if finished:
                        return outcome
                else:
                    outcome = self.block(statement.body if truth else statement.orelse)
            else:
                execute = _STATEMENTS.get(type(statement))
                if execute is None:
                    _refuse_statement(statement)
                outcome = execute(self, statement)
            if outcome is None:
                continue
            if not outcome.open:
                return outcome
            return self.go_on(outcome, statement, statements[i + 1 :])
        return None

    def go_on(self, outcome, node, rest):
        """The statements behind one that may have ended otherwise than by falling through."""
        if not rest or NORMAL not in outcome.codes:
            return outcome
        return self.cond(
            outcome.status == NORMAL,
            lambda: self.block(rest),
            lambda: left(outcome),
            lambda _: True,
            ("where the program goes on", "where it has left"),
        )

    def cond(self, pred, then, otherwise, live, texts):
        """A runtime branch between two pieces of code that give outcomes."""
        ends = []

        def merge_ends(a, b):
            ends.extend((a, b))
            return merge(a, b)

        def gone(i, location):
            """Whether a branch returns, and with that nobody reads the function's variable."""
            return (
                ends[i] is not None
                and ends[i].codes == {RETURN}
                and type(location) is Variable
                and location.scope is self.scope
                and not self.source.read_by_inner(location.name)
            )

        pair = regions.run_cond(
            self.compiling, pred, _alive(then), _alive(otherwise), live, texts, merge_ends, gone
        )
        return joined(*ends, pair)

    def branch(self, node, pred, rest):
        """An `if` on a tensor: (outcome, whether `rest` has run too)."""
        line = node.lineno
        texts = (f"when the `if` of line {line} is taken", "otherwise")
        escapes, body_falls, else_falls = _ends(node)
        take_rest = escapes and not (body_falls and else_falls) and bool(rest)
        body, orelse = node.body, node.orelse
        if take_rest:
            body = [*body, *rest] if body_falls else body
            orelse = [*orelse, *rest] if else_falls else orelse
        test = self.source.live_after(node)
        live = lambda location: (
            location.scope is not self.scope
            or location.name not in self.scope.locals
            or test(location.name)
        )
        outcome = self.cond(pred, lambda: self.block(body), lambda: self.block(orelse), live, texts)
        self.node = node
        return outcome, take_rest

    def in_region(self):
        """Whether a branch or loop of the compiled program is being traced."""
        return self.compiling.journal.outer is not None

    # -- assignment

    def assign(self, target, value):
        """target = value."""
        kind = type(target)
        if kind is ast.Name:
            self.store(target.id, value)
        elif kind is ast.Attribute:
            owner = self.eval(target.value)
            self.node = target
            calls.set_attribute(self, owner, target.attr, value)
        elif kind is ast.Subscript:
            container = self.eval(target.value)
            index = self.eval(target.slice)
            self.node = target
            calls.set_item(self, container, index, value)
        elif kind is ast.Starred:
            self.assign(target.value, value)
        else:
            self.unpack(target, value)

    def unpack(self, target, value):
        """a, *b, c = value."""
        self.node = target
        items = list(calls.iterate(self, value))
        targets = target.elts
        starred = [i for i, t in enumerate(targets) if type(t) is ast.Starred]
        if not starred:
            if len(items) != len(targets):
                few = len(items) < len(targets)
                raise ValueError(
                    f"not enough values to unpack (expected {len(targets)}, got {len(items)})"
                    if few
                    else f"too many values to unpack (expected {len(targets)})"
                )
        else:
            at, after = starred[0], len(targets) - starred[0] - 1
            if len(items) < at + after:
                raise ValueError(
                    f"not enough values to unpack (expected at least {at + after}, "
                    f"got {len(items)})"
                )
            end = len(items) - after
            middle = self.compiling.made(items[at:end])
            items = [*items[:at], middle, *items[end:]]
        for t, item in zip(targets, items):
            self.assign(t, item)


def _alive(run):
    """run; what calls a function that is being defined is left out."""

    def wrapped():
        try:
            return run()
        except Unknown:
            return LEFT_OUT

    return wrapped


def _ends(node):
    """(whether an `if` may end otherwise than by falling through, whether its body may fall
    through, whether its else may)."""
    found = getattr(node, "_ends", None)
    if found is None:
        found = (
            any(_leaves(s) for s in (*node.body, *node.orelse)),
            _falls(node.body),
            _falls(node.orelse),
        )
        node._ends = found
    return found


def _leaves(node):
    if isinstance(node, (ast.Return, ast.Break, ast.Continue, ast.Raise)):
        return True
    if isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
        return False
    return any(_leaves(n) for n in ast.iter_child_nodes(node) if isinstance(n, ast.stmt))


def _falls(statements):
    for s in statements:
        if isinstance(s, (ast.Return, ast.Break, ast.Continue, ast.Raise)):
            return False
        if isinstance(s, ast.If) and not _falls(s.body) and not _falls(s.orelse):
            return False
    return True


def _assign(self, node):
    value = self.eval(node.value)
    for target in node.targets:
        self.assign(target, value)


def _annotated(self, node):
    if node.value is not None:
        self.assign(node.target, self.eval(node.value))


def _augmented(self, node):
    target = node.target
    kind = type(target)
    if kind is ast.Name:
        old = self.load(target.id)
    elif kind is ast.Attribute:
        owner = self.eval(target.value)
        old = calls.get_attribute(self, owner, target.attr)
    else:
        container, index = self.eval(target.value), self.eval(target.slice)
        old = calls.get_item(self, container, index)
    value = self.eval(node.value)
    self.node = node
    if isinstance(old, (list, dict, set)):
        self.compiling.note(Content(old))
    new = IN_PLACE[type(node.op)](old, value)
    if kind is ast.Name:
        self.store(target.id, new)
    elif kind is ast.Attribute:
        calls.set_attribute(self, owner, target.attr, new)
    else:
        calls.set_item(self, container, index, new)


def _expression(self, node):
    self.eval(node.value)


def _return(self, node):
    value = None if node.value is None else self.eval(node.value)
    return Outcome(RETURN, value)


def _break(self, node):
    return FINISHED_BREAK


def _continue(self, node):
    return FINISHED_CONTINUE


def _pass(self, node):
    return None


def _for(self, node):
    return self.for_loop(node)


def _while(self, node):
    return self.while_loop(node)


def _define(self, node):
    function = make_function(self, node)
    for decorator in reversed(node.decorator_list):
        decorate = self.eval(decorator)
        self.node = node
        function = calls.call(self, decorate, [function], {})
    self.store(node.name, function)


def _assert(self, node):
    truth = self.test(node.test)
    self.node = node
    if truth is True:
        return
    arguments = () if node.msg is None else (self.eval(node.msg),)
    self.node = node
    if isinstance(truth, Tensor):
        place = errors.locate(self)
        effects.check_later(self.compiling, truth, _located(AssertionError, place), arguments)
        return
    if self.in_region() or values.contains_symbolic(arguments):
        effects.raise_later(
            self.compiling, _located(AssertionError, errors.locate(self)), arguments
        )
        return FINISHED_NEVER
    raise AssertionError(*arguments)


def _located(kind, place):
    """Makes exceptions of a kind whose text ends with the user's line."""

    def make(*arguments):
        text = " ".join(map(str, arguments))
        return kind(f"{text}\n  At {place}" if text else f"At {place}")

    return make


def _raise(self, node):
    if node.exc is None:
        raise errors.refuse("`raise` without an exception cannot be compiled", "Name the error.")
    error = None
    if isinstance(node.exc, ast.Call):
        # Evaluated in parts: the arguments may hold symbolic tensors.
        make = self.eval(node.exc.func)
        if isinstance(make, type) and issubclass(make, BaseException):
            arguments = [self.eval(a) for a in node.exc.args]
            self.node = node
            if self.in_region() or values.contains_symbolic(arguments):
                effects.raise_later(self.compiling, make, arguments)
                return FINISHED_NEVER
            raise make(*arguments)
    error = self.eval(node.exc)
    self.node = node
    if isinstance(error, type):
        error = error()
    if self.in_region():
        effects.raise_later(self.compiling, type(error), error.args)
        return FINISHED_NEVER
    raise error


def _delete(self, node):
    for target in node.targets:
        self.node = target
        if isinstance(target, ast.Name):
            self.load(target.id)
            self.compiling.set(self.variable(target.id), UNDEFINED)
        elif isinstance(target, ast.Subscript):
            container, index = self.eval(target.value), self.eval(target.slice)
            self.compiling.note(Content(container))
            del container[index]
        elif isinstance(target, (ast.Tuple, ast.List)):
            _delete(self, ast.Delete(targets=target.elts))
        else:
            raise errors.refuse("an attribute cannot be deleted", "Assign None instead.")


def _global(self, node):
    # Reading declared globals is fine; `variable` refuses assignments.
    return None


def _import(self, node):
    for alias in node.names:
        module = importlib.import_module(alias.name)
        if alias.asname is None:
            module = importlib.import_module(alias.name.split(".")[0])
        self.store((alias.asname or alias.name).split(".")[0], module)


def _import_from(self, node):
    package = self.function.globals.get("__package__")
    name = "." * node.level + (node.module or "")
    module = importlib.import_module(name, package)
    for alias in node.names:
        if alias.name == "*":
            raise errors.refuse("`import *` inside a function", "Import the names.")
        try:
            value = getattr(module, alias.name)
        except AttributeError:
            value = importlib.import_module(f"{module.__name__}.{alias.name}")
        self.store(alias.asname or alias.name, value)


_STATEMENTS = {
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Expr: _expression,
    ast.Return: _return,
    ast.Break: _break,
    ast.Continue: _continue,
    ast.Pass: _pass,
    ast.For: _for,
    ast.While: _while,
    ast.FunctionDef: _define,
    ast.Assert: _assert,
    ast.Raise: _raise,
    ast.Delete: _delete,
    ast.Global: _global,
    ast.Nonlocal: _global,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
}

_REFUSED = {
    "Try": ("try/except", "Check before: `if` on the values that would make it fail."),
    "TryStar": ("try/except*", "Check before: `if` on the values that would make it fail."),
    "With": ("with", "Open what is needed outside of the compiled function."),
    "AsyncWith": ("async with", "Compiled functions are not asynchronous."),
    "AsyncFor": ("async for", "Compiled functions are not asynchronous."),
    "AsyncFunctionDef": ("async def", "Compiled functions are not asynchronous."),
    "ClassDef": ("a class inside a function", "Define the class at module level."),
}


def _refuse_statement(node):
    what, instead = _REFUSED.get(type(node).__name__, (type(node).__name__, "Leave it out."))
    raise errors.refuse(f"{what} cannot be compiled", instead)
