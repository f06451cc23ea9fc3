"""Functions as values: which ones are interpreted, and how interpreted ones look to Python code
that is not."""

import functools
import types

from mycel import _mycel
from mycel.front import state
from mycel.front.source import is_user_code, source_of


class Interpreted:
    """A function whose body is interpreted: a `def` or lambda inside interpreted code, or a Python
    function of the user on its way into code that is not interpreted."""

    def __init__(self, source, defaults, kw_defaults, parent=None, cells=None, globals_=None,
                 function=None):  # fmt: skip
        self.source, self.defaults, self.kw_defaults = source, defaults, kw_defaults
        self.parent, self.cells, self.globals = parent, cells, globals_
        self.function = function
        self.attributes = {}
        name = source.name.split(".")[-1]
        self.__name__ = name
        self.__qualname__ = source.name
        self.__doc__ = getattr(function, "__doc__", None)
        self.__module__ = (globals_ or {}).get("__name__")

    def __call__(self, *args, **kwargs):
        from mycel.front.activation import call_function

        compiling = state.here()
        if compiling is None:
            if self.function is not None:
                return self.function(*args, **kwargs)
            with state.Compile() as compiling:
                return call_function(compiling, self, args, kwargs)
        return call_function(compiling, self, args, kwargs)

    def __get__(self, instance, owner):
        return self if instance is None else types.MethodType(self, instance)

    def _equal_function(self, other):
        return (
            isinstance(other, Interpreted)
            and self.source is other.source
            and self.parent is other.parent
            and self.function is other.function
            and self.defaults == other.defaults == ()
        )

    def __repr__(self):
        return f"<function {self.source.name}>"


_interpreted = {}  # id of a function -> (function, Interpreted or None)


def of_python(function):
    """A Python function as Interpreted; None when it is not the user's or has no source text."""
    known = _interpreted.get(id(function))
    if known is not None and known[0] is function:
        return known[1]
    made = None
    if is_user_code(function) and not hasattr(function, "_runs_natively"):
        source = source_of(function)
        if source is not None:
            names = function.__code__.co_freevars
            cells = dict(zip(names, function.__closure__ or ()))
            made = Interpreted(
                source,
                function.__defaults__ or (),
                function.__kwdefaults__ or {},
                cells=cells,
                globals_=function.__globals__,
                function=function,
            )
    if len(_interpreted) > 20000:
        _interpreted.clear()
    _interpreted[id(function)] = (function, made)
    return made


def resolve(fn):
    """(Interpreted, leading arguments) behind a callable, or (None, ()) when it runs natively."""
    kind = type(fn)
    if kind is Interpreted:
        return fn, ()
    if kind is types.FunctionType:
        return of_python(fn), ()
    if kind is types.MethodType:
        inner, leading = resolve(fn.__func__)
        return inner, (*leading, fn.__self__)
    if kind is _mycel.entry and hasattr(fn, "__wrapped__"):
        return None, ()
    return None, ()


def wrap(value):
    """The value as native code gets it: a user's function calls back into the interpreter."""
    kind = type(value)
    if kind is types.FunctionType:
        return of_python(value) or value
    if kind is types.MethodType and type(value.__func__) is types.FunctionType:
        inner = of_python(value.__func__)
        return types.MethodType(inner, value.__self__) if inner is not None else value
    if kind is functools.partial:
        inner = wrap(value.func)
        if inner is not value.func:
            return functools.partial(inner, *value.args, **value.keywords)
        return value
    if kind is tuple or kind is list:
        items = [wrap(v) for v in value]
        if any(a is not b for a, b in zip(items, value)):
            return kind(items)
    return value


def construct_of(cell):
    """A cell's construct as it must run now: interpreted while a function is compiled."""
    return wrap(cell.construct) if state.here() is not None else cell.construct
