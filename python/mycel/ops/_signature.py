"""inspect.Signature of an op, from its record."""

import inspect

from mycel import _mycel

_KIND = inspect.Parameter.POSITIONAL_OR_KEYWORD


def of(op) -> inspect.Signature:
    """The signature of an op object. Once a parameter has a default, those behind it show one
    too."""
    parameters, optional = [], False
    for name, kind, has_default, default in op.parameters:
        optional |= has_default
        if kind == "variadic":
            parameters.append(inspect.Parameter(name, _KIND))
        else:
            shown = default if optional else inspect.Parameter.empty
            parameters.append(inspect.Parameter(name, _KIND, default=shown))
    return inspect.Signature(parameters)


def restore(name):
    """The op of a name: what a pickled op becomes again."""
    return _mycel.op(name)
