"""What the front end knows on each thread while a function is being compiled."""

import itertools
import sys
import threading

from mycel import _mycel
from mycel.front.guards import Guards
from mycel.front.journal import Journal
from mycel.front.places import ParameterValue, Variable

_FRAMES = 4000  # of Python while a function is compiled


class Scope:
    """Variables of one activation of a function, or of a comprehension in it."""

    __slots__ = ("born", "cells", "globals", "locals", "outer_names", "parent", "vars")

    def __init__(self, locals_, parent, globals_, cells=None, born=0, outer_names=frozenset()):
        self.vars = {}
        self.locals, self.parent, self.globals = locals_, parent, globals_
        self.cells = cells or {}
        self.born, self.outer_names = born, outer_names


class Compiling:
    """One function being compiled: the journal of the innermost region, the chain of effects."""

    def __init__(self, outer, guards):
        self.outer = outer
        self.guards = guards
        self.journal = Journal(None, 0)
        self.serial = itertools.count(1)
        self.now = 0  # serial of the youngest region
        self.effects = Scope(frozenset(), None, {})
        self.depth = 0
        self.hints = {}  # what loops carried, see hints
        self.frames = {}  # Source -> calls of it that are being interpreted
        self.elements = []  # (tensor object or what gives it, value) written by index from inside

    def own_scope(self):
        """A scope for variables that the compiler needs in the present region."""
        return Scope(frozenset(), None, {}, born=self.now)

    # -- changes

    def note(self, location):
        """Tells the innermost region that a location is about to change."""
        self.journal.note(location)

    def set(self, location, value):
        self.note(location)
        location.set(value)

    def made(self, value):
        """Tells the innermost region that an object was made inside it."""
        self.journal.born[id(value)] = value
        return value

    def touched(self, location, owner):
        """Whether a location belongs to an object made here, or has been assigned here."""
        journal, key = self.journal, location.key()
        while journal is not None:
            if id(owner) in journal.born or key in journal.entries:
                return True
            journal = journal.outer
        return False

    def enter(self):
        self.now = next(self.serial)
        self.journal = Journal(self.journal, self.now)
        return self.journal

    def leave(self):
        self.journal = self.journal.outer

    # -- effects

    def effect(self, run, tensors):
        """Runs run(tensors) whenever and wherever the compiled program comes by here."""
        token = self.effects.vars.get("token")
        if token is None:
            token = _mycel.effect_token()
            self.effects.vars["token"] = token
        token = _mycel.effect(_Effect(run), [token, *tensors])
        self.set(Variable(self.effects, "token"), token)

    @property
    def token(self):
        return self.effects.vars.get("token")


class _Effect:
    """A host function behind an op: records itself again while an outer function is compiled."""

    def __init__(self, run):
        self.run = run

    def __call__(self, operands):
        token, tensors = operands[0], operands[1:]
        if not all(map(_mycel.known, operands)):
            return [_mycel.effect(self, operands)]
        self.run(tensors)
        return [token]


_local = threading.local()


def here():
    """The Compiling of this thread, or None."""
    return getattr(_local, "compiling", None)


class Compile:
    """`with Compile() as c`: a function is being compiled on this thread."""

    def __init__(self, guards=None):
        self.guards = Guards() if guards is None else guards

    def __enter__(self):
        self.outer = here()
        # Interpreted calls take many frames of Python each.
        self.limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(self.limit, _FRAMES))
        _local.compiling = Compiling(self.outer, self.guards)
        return _local.compiling

    def __exit__(self, *_):
        _local.compiling = self.outer
        if self.outer is None:
            sys.setrecursionlimit(min(self.limit, sys.getrecursionlimit()))


class Pause:
    """`with Pause()`: what runs inside is not compiled."""

    def __enter__(self):
        self.outer = here()
        _local.compiling = None

    def __exit__(self, *_):
        _local.compiling = self.outer


__all__ = ["Compile", "Compiling", "ParameterValue", "Pause", "Scope", "here"]
