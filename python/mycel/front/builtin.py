"""Python's built-in functions where they mean something else in compiled code: on symbolic tensors,
or because they look at the activation that calls them."""

import builtins
import functools

from mycel import _mycel
from mycel._mycel import Tensor
from mycel.front import effects, errors, regions, values
from mycel.front.functions import wrap
from mycel.front.items import Enumerated, SymbolicRange, Zipped, indexed
from mycel.front.values import symbolic


def _range(self, *args):
    if not any(map(symbolic, args)):
        return range(*args)
    start, stop, step = 0, None, 1
    if len(args) == 1:
        (stop,) = args
    elif len(args) == 2:
        start, stop = args
    elif len(args) == 3:
        start, stop, step = args
    else:
        raise TypeError(f"range expected 1 to 3 arguments, got {len(args)}")
    for bound in (start, stop, step):
        if isinstance(bound, Tensor):
            if bound.size != 1 or values.rank(bound) > 1:
                raise errors.with_place(
                    TypeError, f"range: bounds must be integers, got {values.kind(bound)}"
                )
        elif isinstance(bound, bool) or not isinstance(bound, int):
            raise errors.with_place(
                TypeError, f"range: bounds must be integers, got {values.kind(bound)}"
            )
    return SymbolicRange(start, stop, step)


def _number(name, dtype):
    def convert(self, *args, **kwargs):
        if args and symbolic(args[0]):
            raise errors.with_place(
                ValueError,
                f"{name}(): the value of {values.kind(args[0])} is not known while a graph is "
                "being compiled",
                f"Use .astype({dtype}) to convert the tensor, and `if` on the tensor itself.",
            )
        return getattr(builtins, name)(*args, **kwargs)

    return convert


def _bool(self, value=False):
    if symbolic(value):
        return regions.as_bool(value)
    return bool(value)


def _super(self, *args):
    if args:
        return super(*args)
    cell = self.function.cells.get("__class__") if self.function.cells else None
    scope = self.scope
    while cell is None and scope is not None:
        cell, scope = scope.cells.get("__class__"), scope.parent
    if cell is None or self.first is None:
        raise RuntimeError("super(): no arguments")
    return super(cell.cell_contents, self.first)


def _getattr(self, owner, name, *default):
    from mycel.front import calls

    if default and not hasattr(owner, name):
        return default[0]
    return calls.get_attribute(self, owner, name)


def _setattr(self, owner, name, value):
    from mycel.front import calls

    calls.set_attribute(self, owner, name, value)


def _delattr(self, owner, name):
    raise errors.refuse("delattr cannot be compiled", "Assign None instead.")


def _extreme(name, op):
    native = getattr(builtins, name)

    def run(self, *args, **kwargs):
        items = args if len(args) > 1 else args[0]
        if isinstance(items, Tensor) and len(args) == 1 and not kwargs and symbolic(items):
            return getattr(items, name)()
        items = list(items) if not isinstance(items, (tuple, list)) else items
        if kwargs or not any(map(symbolic, items)):
            return native(items, **{k: wrap(v) for k, v in kwargs.items()})
        return functools.reduce(lambda a, b: _mycel.op(op)(a, b), items)

    return run


def _reduction(name, op, stops):
    def run(self, items):
        if symbolic(items):
            return getattr(items, name)()
        found = None
        for item in items:
            truth = self.truth(item)
            if isinstance(truth, Tensor):
                found = truth if found is None else _mycel.op(op)(found, truth)
            elif truth == stops:
                return stops
        return (not stops) if found is None else found

    return run


def _enumerate(self, items, start=0):
    found = indexed(items)
    return enumerate(items, start) if found is None else Enumerated(found, start)


def _zip(self, *parts, **kwargs):
    found = [indexed(p) for p in parts]
    if None not in found and found and not kwargs:
        return Zipped(found)
    return zip(*[p if f is None else f for p, f in zip(parts, found)], **kwargs)


def _reversed(self, items):
    return items.reversed() if isinstance(items, SymbolicRange) else reversed(items)


def _len(self, value):
    found = indexed(value)
    return len(value) if found is None else found.length()


def _sum(self, items, start=0):
    return sum(items, start)


def _made(native):
    def run(self, *args, **kwargs):
        return self.compiling.made(
            native(*map(wrap, args), **{k: wrap(v) for k, v in kwargs.items()})
        )

    return run


def _list(self, *args):
    from mycel.front import calls

    return self.compiling.made(list(calls.iterate(self, args[0])) if args else [])


def _text(native):
    def run(self, *args, **kwargs):
        if args and values.contains_symbolic(args[0]):
            return values.LazyText([(args[0], 115 if native is str else 114, "")])
        return native(*args, **kwargs)

    return run


def _print(self, *args, **kwargs):
    effects.print_values(self.compiling, args, kwargs)


def _refused(name, why, instead):
    def run(self, *args, **kwargs):
        raise errors.refuse(f"{name}() {why}", instead)

    return run


def _isinstance(self, value, kinds):
    return isinstance(value, kinds)


_FUNCTIONS = {
    range: _range,
    int: _number("int", "mycel.int64"),
    float: _number("float", "mycel.float32"),
    complex: _number("complex", "mycel.complex64"),
    bool: _bool,
    super: _super,
    getattr: _getattr,
    setattr: _setattr,
    delattr: _delattr,
    max: _extreme("max", "maximum"),
    min: _extreme("min", "minimum"),
    all: _reduction("all", "logical_and", False),
    any: _reduction("any", "logical_or", True),
    list: _list,
    dict: _made(dict),
    set: _made(set),
    sorted: _made(sorted),
    str: _text(str),
    repr: _text(repr),
    print: _print,
    isinstance: _isinstance,
    len: _len,
    enumerate: _enumerate,
    zip: _zip,
    reversed: _reversed,
    locals: _refused("locals", "cannot be compiled", "Name the variables."),
    vars: lambda self, owner: vars(owner),
    globals: _refused("globals", "cannot be compiled", "Read globals by their names."),
    eval: _refused("eval", "cannot be compiled", "Write the expression itself."),
    exec: _refused("exec", "cannot be compiled", "Write the statements themselves."),
    input: _refused("input", "cannot be compiled", "Read it before and pass it in."),
    open: _refused("open", "cannot be compiled", "Read the file before and pass its content in."),
}


def find(fn):
    """What stands in for a built-in function, or None."""
    try:
        return _FUNCTIONS.get(fn)
    except TypeError:
        return None
