"""One call of an interpreted function: its arguments, variables, and the place it has reached."""

import functools
import sys

from mycel import _mycel, context
from mycel.front import errors, recursion
from mycel.front.expressions import Expressions
from mycel.front.loops import Loops
from mycel.front.state import Scope
from mycel.front.statements import Statements
from mycel.front.values import Unmergeable

_NOTHING = frozenset()


class Activation(Expressions, Statements, Loops):
    """Variables and position of one call."""

    __slots__ = ("compiling", "first", "function", "node", "scope", "source")

    def __init__(self, compiling, function):
        self.compiling, self.function = compiling, function
        source = self.source = function.source
        self.node = source.node
        self.scope = Scope(
            source.locals,
            function.parent,
            function.globals,
            function.cells,
            compiling.now,
            source.nonlocals | source.globals,
        )
        self.first = None


def bind(activation, function, args, kwargs):
    """Puts the arguments into the variables, with Python's rules and messages."""
    a, variables = function.source.args, activation.scope.vars
    name = function.source.name
    names = [p.arg for p in (*a.posonlyargs, *a.args)]
    count = len(names)
    if args:
        activation.first = args[0]
    variables.update(zip(names, args))
    if len(args) > count:
        if a.vararg is None:
            raise TypeError(
                f"{name}() takes {count} positional argument{'s' * (count != 1)} but {len(args)} "
                f"were given"
            )
    if a.vararg is not None:
        variables[a.vararg.arg] = tuple(args[count:])
    keyword_only = [p.arg for p in a.kwonlyargs]
    rest = {}
    by_position = {p.arg for p in a.posonlyargs}
    for key, value in kwargs.items():
        if key in by_position or (key not in names and key not in keyword_only):
            if a.kwarg is None:
                raise TypeError(f"{name}() got an unexpected keyword argument '{key}'")
            rest[key] = value
        elif key in variables:
            raise TypeError(f"{name}() got multiple values for argument '{key}'")
        else:
            variables[key] = value
    if a.kwarg is not None:
        variables[a.kwarg.arg] = rest
    defaults = function.defaults
    for key, value in zip(names[count - len(defaults) :], defaults):
        variables.setdefault(key, value)
    for key, value in function.kw_defaults.items():
        variables.setdefault(key, value)
    missing = [n for n in (*names, *keyword_only) if n not in variables]
    if missing:
        listed = ", ".join(f"'{m}'" for m in missing)
        raise TypeError(f"{name}() missing {len(missing)} required argument(s): {listed}")


def call_function(compiling, function, args, kwargs):
    """The result of an interpreted function."""
    run = functools.partial(run_function, compiling, function)
    return recursion.enter(compiling, function, args, kwargs, run)


def run_function(compiling, function, args, kwargs):
    """Runs an interpreted function. `mycel._where` knows this function's frames by its code."""
    activation = Activation(compiling, function)
    compiling.depth += 1
    before = _mycel.location()
    try:
        if compiling.depth > context.get_context("max_call_depth") or compiling.depth > _deepest():
            raise errors.with_place(
                RecursionError,
                f"{function.source.name}: calls are nested more than {compiling.depth - 1} deep "
                "while compiling",
                "A recursion ends on a value known while compiling, or in a branch on a tensor, "
                "with arguments whose types stay: make numbers that change tensors.",
            )
        bind(activation, function, args, kwargs)
        return activation.run()
    except Unmergeable as error:
        if not error.__dict__.get("_placed"):
            placed = errors.with_place(TypeError, str(error))
            placed._placed = True
            unmergeable = Unmergeable(*placed.args)
            unmergeable._placed = True
            errors.note_frame(unmergeable, activation)
            raise unmergeable from None
        errors.note_frame(error, activation)
        raise
    except Exception as error:
        errors.note_frame(error, activation)
        raise
    finally:
        compiling.depth -= 1
        _mycel.set_location(before)


def _deepest():
    # Each interpreted call takes about that many Python frames.
    return sys.getrecursionlimit() // 24


CALL_CODE = run_function.__code__
