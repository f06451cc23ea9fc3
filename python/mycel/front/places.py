"""Places where compiled code finds values: what it reads from outside is guarded by them
(`guards`), what it assigns is noted by them (`journal`). `key` names a place, `get` gives UNDEFINED
where nothing stands, `text` is its name in messages."""

import copy

from mycel import _mycel
from mycel.front.values import UNDEFINED


class Global:
    """A variable of a module."""

    __slots__ = ("name", "names")

    def __init__(self, names, name):
        self.names, self.name = names, name

    def key(self):
        return (id(self.names), self.name)

    def get(self):
        return self.names.get(self.name, UNDEFINED)

    def text(self):
        return f"global '{self.name}'"


class Given:
    """An argument that is no tensor."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value

    def key(self):
        return (id(self.value), "given")

    def get(self):
        return self.value

    def text(self):
        return f"an argument, a {type(self.value).__name__},"


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
        return f"'{self.name}' of the function around it"


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
        owner = self.object if isinstance(self.object, type) else type(self.object)
        return f"'{owner.__name__}.{self.name}'"


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
