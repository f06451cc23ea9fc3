"""What compiled code does beside computing: print, and raise errors that depend on tensors. Each
becomes an op that runs a host function at its place in the program."""

import sys

from mycel.front.values import LazyText, contains_symbolic
from mycel.ops._transforms import flatten, unflatten

_CONVERSIONS = {-1: lambda v: v, 115: str, 114: repr, 97: ascii}


class _Message:
    """A value with its symbolic tensors taken out, to be put together when the program runs."""

    def __init__(self, value):
        self.tensors = []
        self.key = self._take(value)

    def _take(self, value):
        if isinstance(value, LazyText):
            return ("text", [p if isinstance(p, str) else self._part(p) for p in value.parts])
        if type(value) is tuple or type(value) is list:
            return ("items", type(value), [self._take(v) for v in value])
        if contains_symbolic(value):
            return ("value", flatten(value, self.tensors))
        return ("known", value)

    def _part(self, part):
        value, conversion, spec = part
        return (self._take(value), conversion, spec)

    def build(self, tensors):
        """The value, with the tensors' values of this run."""
        return self._put(self.key, iter(tensors))

    def _put(self, key, tensors):
        if key[0] == "known":
            return key[1]
        if key[0] == "value":
            return unflatten(key[1], tensors)
        if key[0] == "items":
            return key[1](self._put(k, tensors) for k in key[2])
        texts = []
        for part in key[1]:
            if isinstance(part, str):
                texts.append(part)
            else:
                value = _CONVERSIONS[part[1]](self._put(part[0], tensors))
                texts.append(format(value, part[2]))
        return "".join(texts)


def representation(value):
    """repr(value), put off where the value is symbolic."""
    return LazyText([(value, 114, "")]) if contains_symbolic(value) else repr(value)


def print_values(compiling, args, kwargs):
    """print(...) whenever the compiled program comes by."""
    kwargs = dict(kwargs)
    file = kwargs.pop("file", None)
    message = _Message(tuple(args))

    def run(tensors):
        # Standard output as it is then: it may have been redirected since.
        print(*message.build(tensors), file=sys.stdout if file is None else file, **kwargs)

    compiling.effect(run, message.tensors)


def raise_later(compiling, make, arguments):
    """Raises make(*arguments) when the compiled program comes by."""
    message = _Message(tuple(arguments))

    def run(tensors):
        error = make(*message.build(tensors))
        raise error

    compiling.effect(run, message.tensors)


def check_later(compiling, condition, make, arguments):
    """Raises make(*arguments) when the compiled program comes by and `condition` is false."""
    message = _Message(tuple(arguments))

    def run(tensors):
        if not tensors[0].tolist():
            raise make(*message.build(tensors[1:]))

    compiling.effect(run, [condition, *message.tensors])
