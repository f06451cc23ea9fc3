"""What a compiled function read from outside: globals, closures, attributes. Its program holds
these as constants, so they must be the same when it runs again; else it is compiled anew. A tensor
that changes becomes an input of the next program instead."""

import sys
import types

from mycel import _mycel
from mycel._mycel import Tensor
from mycel.common.parameter import Parameter
from mycel.front.arguments import as_tensor

_PLAIN = (bool, int, float, complex, str, bytes, type(None))


class Guards:
    """The places read while one program was compiled, with what stood there."""

    def __init__(self, inputs=()):
        self.inputs = {g.key(): g for g in inputs}  # tensors that are inputs of the program
        self.symbols = {}  # key -> the input's tensor while compiling
        self.types = {}  # key -> what kind of value an input is
        self.counters = set()  # keys of places whose number the program replaces by another one
        self.always, self.cells = {}, {}  # key -> (place, what stood there)
        self.epoch = -1
        self.extending = False  # a list read now is only appended to: what it holds is no matter

    # -- while compiling

    def bind(self, tensors):
        """Gives the inputs their tensors."""
        for (key, place), t in zip(self.inputs.items(), tensors):
            self.symbols[key] = t
            self.types[key] = _input_kind(place.get())

    def read(self, place, value):
        """The value as the program sees it, noted."""
        key = place.key()
        if self.extending and isinstance(value, list):
            self.always.setdefault((key, "same"), (place, ("same", value)))
            return value
        if key in self.symbols and _input_kind(value) is not None:
            return self.symbols[key]
        if key not in self.always and key not in self.cells:
            seen = _seen(value)
            if _holds(seen, place.get()):  # not what is made anew whenever it is asked for
                (self.cells if _is_cell(value) else self.always)[key] = (place, seen)
        return value

    def place_of(self, tensor):
        """What gives the tensor object that an input's symbolic tensor stands for, or None."""
        for key, symbol in self.symbols.items():
            if symbol is tensor:
                return self.inputs[key].get
        return None

    # -- before a run

    def values(self):
        """The tensors of the inputs now."""
        return [as_tensor(g.get()) for g in self.inputs.values()]

    def changed(self):
        """The places that hold something else than while compiling."""
        found = [p for k, p in self.inputs.items() if _input_kind(p.get()) != self.types[k]]
        found += [p for p, seen in self.always.values() if not _holds(seen, p.get())]
        now = _epoch()
        if self.epoch != now:
            wrong = [p for p, seen in self.cells.values() if not _holds(seen, p.get())]
            if not wrong:
                self.epoch = now
            found += wrong
        return found

    def holds(self, place):
        """Whether the program depends on what stands at a place."""
        return place.key() in self.symbols or place.key() in self.always

    def could_be_input(self, place):
        """Whether a place that has changed holds a value of the same kind as before, and one that
        programs take as an input: a tensor, or a number that the program itself counts on."""
        key, value = place.key(), place.get()
        seen = self.always.get(key, (None, (None,)))[1]
        kind = _input_kind(value)
        if seen[0] == "tensor":
            return not isinstance(value, Parameter) and kind == _input_kind(seen[2])
        return key in self.counters and seen[0] == "plain" and kind == seen[1]


def _input_kind(value):
    """What must stay the same in an input of a program; None for what cannot be one."""
    if isinstance(value, Tensor):
        return value.dtype, value.shape
    kind = type(value)
    if kind is float or (kind is int and -(2**63) <= value < 2**63):
        return kind
    return None


def _epoch():
    from mycel.nn import _compile

    return _compile.epoch()


def _is_cell(value):
    from mycel.nn.cell import Cell

    return isinstance(value, (Cell, Parameter))


def _cell_state(value):
    from mycel.nn import _compile

    return () if isinstance(value, Parameter) else _compile.state_of(value)


def plain_key(value):
    """A number as what equals only itself: NaN does, and -0.0 is not 0.0."""
    return value.hex() if isinstance(value, float) else value


def _seen(value):
    """What to compare a place's content with later."""
    if isinstance(value, _PLAIN):
        return ("plain", type(value), plain_key(value))
    if isinstance(value, Parameter):
        return ("same", value)
    if isinstance(value, Tensor):
        return ("tensor", value, _mycel.raw(value))
    if isinstance(value, (list, tuple)):
        return ("items", type(value), [_seen(v) for v in value])
    if isinstance(value, dict):
        return ("items", dict, [(k, _seen(v)) for k, v in value.items()])
    if isinstance(value, (set, frozenset)):
        return ("set", type(value), frozenset(value))
    if _is_cell(value):
        return ("cell", value, _cell_state(value))
    if isinstance(value, types.MethodType):
        return ("method", value.__func__, value.__self__)
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
        return ("array", value.dtype, value.copy())
    return ("same", value)


def _holds(seen, value):
    kind = seen[0]
    if kind == "plain":
        return type(value) is seen[1] and plain_key(value) == seen[2]
    if kind == "same":
        return value is seen[1]
    if kind == "tensor":
        return isinstance(value, Tensor) and _mycel.same_value(value, seen[2])
    if kind == "items":
        if type(value) is not seen[1] or len(value) != len(seen[2]):
            return False
        if seen[1] is dict:
            pairs = zip(value.items(), seen[2])
            return all(k == wk and _holds(w, v) for (k, v), (wk, w) in pairs)
        return all(map(_holds, seen[2], value))
    if kind == "set":
        return type(value) is seen[1] and value == seen[2]
    if kind == "cell":
        return value is seen[1] and _cell_state(value) == seen[2]
    if kind == "method":
        same = isinstance(value, types.MethodType) and value.__func__ is seen[1]
        return same and value.__self__ is seen[2]
    return (
        type(value) is type(seen[2])
        and value.dtype == seen[1]
        and value.shape == seen[2].shape
        and bool(((value == seen[2]) | (value != value)).all())
    )


_steady = {}  # id of a module -> (module, whether it is no part of the user's program)


def steady(module):
    """Whether a module is this package's, Python's or an installed one: taken as it is."""
    from mycel.front.source import is_user_file

    found = _steady.get(id(module))
    if found is None:
        filename = getattr(module, "__file__", None)
        found = _steady[id(module)] = (module, filename is None or not is_user_file(filename))
    return found[1]
