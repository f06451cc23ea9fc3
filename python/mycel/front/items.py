"""Sequences that a compiled loop runs over by index: rows of tensors, ranges with symbolic bounds,
and enumerate and zip of these."""

from mycel import _mycel
from mycel._mycel import Tensor
from mycel.front import errors
from mycel.front.arguments import Rows
from mycel.front.values import symbolic


class Items:
    """A sequence with length(), a number or a tensor, and at(index)."""

    def __iter__(self):
        count = self.length()
        if isinstance(count, Tensor):
            raise errors.refuse(
                f"{self.text()} can only be the subject of a `for` statement",
                "Write `for i in range(n):`, and stack what the loop makes in a tensor.",
            )
        return map(self.at, range(count))

    def text(self):
        return "a sequence whose length is known only when the program runs"


class SymbolicRange(Items):
    """range() with a symbolic bound."""

    def __init__(self, start, stop, step):
        self.start, self.stop, self.step = start, stop, step

    def length(self):
        """The number of items, a tensor."""
        span = self.stop - self.start + self.step
        rounded = span - 1 if _positive(self.step) else span + 1
        if isinstance(self.step, Tensor):
            rounded = span - (self.step > 0).astype(self.step.dtype) * 2 + 1
        count = rounded // self.step
        return _mycel.op("maximum")(count, 0)

    def at(self, i):
        """The item of index i, a tensor."""
        return self.start + i * self.step

    def reversed(self):
        """The same items, the last first."""
        last = self.start + (self.length() - 1) * self.step
        return SymbolicRange(last, self.start - self.step, -self.step)

    def text(self):
        return "a range with a symbolic bound"


def _positive(step):
    return isinstance(step, Tensor) or step > 0


class _Tensor(Items):
    def __init__(self, tensor):
        self.tensor = tensor

    def length(self):
        n = self.tensor.shape[0]
        return n if n >= 0 else _mycel.op("shape_of")(self.tensor)[0]

    def at(self, i):
        return self.tensor[i]


class Enumerated(Items):
    """enumerate(items, start)."""

    def __init__(self, items, start=0):
        self.items, self.start = items, start
        self.length = items.length

    def at(self, i):
        return (i + self.start if self.start else i, self.items.at(i))


class Zipped(Items):
    """zip(*parts)."""

    def __init__(self, parts):
        self.parts = parts

    def length(self):
        """The length of the shortest."""
        lengths = [p.length() for p in self.parts]
        known = [n for n in lengths if not isinstance(n, Tensor)]
        shortest = min(known) if known else None
        for n in lengths:
            if isinstance(n, Tensor):
                shortest = n if shortest is None else _mycel.op("minimum")(n, shortest)
        return shortest

    def at(self, i):
        return tuple(p.at(i) for p in self.parts)


def indexed(value):
    """The value as something that a loop may index, or None."""
    if isinstance(value, (SymbolicRange, Enumerated, Zipped)):
        return value
    if type(value) is Rows:
        return _Tensor(value.stacked)
    if symbolic(value) and len(value.shape) > 0:
        return _Tensor(value)
    return None
