"""What the branches and loop bodies of compiled code change: every assignment that interpreted code
makes goes through a location, and the journal of the innermost region keeps what stood there
before, so that both branches of an `if` start from the same state."""

import copy

from mycel import _mycel
from mycel.front.values import UNDEFINED


class Variable:
    """A local variable of an activation."""

    __slots__ = ("name", "scope")

    def __init__(self, scope, name):
        self.scope, self.name = scope, name

    def key(self):
        return (id(self.scope), self.name)

    def get(self):
        return self.scope.vars.get(self.name, UNDEFINED)

    def set(self, value):
        if value is UNDEFINED:
            self.scope.vars.pop(self.name, None)
        else:
            self.scope.vars[self.name] = value

    def born_in(self, journal):
        return self.scope.born >= journal.serial

    def text(self):
        return f"'{self.name}'"


class Closure:
    """A variable of a Python function around interpreted code."""

    __slots__ = ("cell", "name")

    def __init__(self, cell, name):
        self.cell, self.name = cell, name

    def key(self):
        return (id(self.cell), "cell")

    def get(self):
        try:
            return self.cell.cell_contents
        except ValueError:
            return UNDEFINED

    def set(self, value):
        if value is UNDEFINED:
            del self.cell.cell_contents
        else:
            self.cell.cell_contents = value

    def born_in(self, journal):
        return False

    def text(self):
        return f"'{self.name}'"


class Attribute:
    """An attribute of an object."""

    __slots__ = ("name", "object")

    def __init__(self, owner, name):
        self.object, self.name = owner, name

    def key(self):
        return (id(self.object), "." + self.name)

    def get(self):
        return getattr(self.object, self.name, UNDEFINED)

    def set(self, value):
        if value is UNDEFINED:
            if hasattr(self.object, self.name):
                delattr(self.object, self.name)
        else:
            setattr(self.object, self.name, value)

    def born_in(self, journal):
        return id(self.object) in journal.born

    def text(self):
        return f"'{type(self.object).__name__}.{self.name}'"


class Content:
    """What is in a list, dict or set."""

    __slots__ = ("object",)

    def __init__(self, owner):
        self.object = owner

    def key(self):
        return (id(self.object), "content")

    def get(self):
        return copy.copy(self.object)

    def set(self, value):
        if isinstance(self.object, list):
            self.object[:] = value
        else:
            self.object.clear()
            self.object.update(value)

    def born_in(self, journal):
        return id(self.object) in journal.born

    def text(self):
        return f"a {type(self.object).__name__}"


class Elements:
    """The value of a tensor object, which `x[i] = v` replaces."""

    __slots__ = ("object",)

    def __init__(self, owner):
        self.object = owner

    def key(self):
        return (id(self.object), "elements")

    def get(self):
        return _mycel.raw(self.object)

    def set(self, value):
        _mycel.set_raw(self.object, value)

    def born_in(self, journal):
        return id(self.object) in journal.born

    def text(self):
        return "a tensor"


class ParameterValue(Elements):
    """The value of a Parameter."""

    def key(self):
        return (id(self.object), "parameter")

    def text(self):
        return f"Parameter '{self.object.name}'"


class Journal:
    """The changes of one region, with what stood there before."""

    def __init__(self, outer, serial):
        self.outer, self.serial = outer, serial
        self.entries = {}  # key -> (location, old value)
        self.born = {}  # id -> object made inside: changes of these are nobody's business

    def note(self, location):
        """Remembers a location before it is changed."""
        if location.born_in(self):
            return
        key = location.key()
        if key not in self.entries:
            self.entries[key] = (location, location.get())

    def finals(self):
        """key -> (location, value now)."""
        return {key: (loc, loc.get()) for key, (loc, _) in self.entries.items()}

    def roll_back(self):
        """Puts everything back as it was."""
        for location, old in reversed(list(self.entries.values())):
            location.set(old)
