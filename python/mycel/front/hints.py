"""What the loops of a function carried when they were traced before. A loop inside another is
traced again in every round in which the outer one finds out what it carries; with what is known of
it, one round is enough then, and nested loops take time in proportion to their depth."""

from mycel._mycel import Tensor
from mycel.front import values
from mycel.front.places import ParameterValue, Variable
from mycel.front.values import UNDEFINED


class Place:
    """One loop statement of one activation. own: variables of the loop itself."""

    def __init__(self, activation, node, own):
        self.scope, self.own = activation.scope, own
        function = activation.function
        self.key = (id(node), id(activation.first), id(function.parent), id(function.function))
        self.hints = activation.compiling.hints

    def start(self):
        """As far as it is known, key -> [location, first value, carried value], and key ->
        (location, Unusable) of the variables that live in one iteration only."""
        found = self.hints.get(self.key)
        if found is None or not _compatible(found[0], _types(self.scope)):
            return {}, {}
        out, lost = {}, {}
        for name, unusable in found[2]:
            location = Variable(self.scope, name)
            if location.get() is UNDEFINED:
                lost[location.key()] = (location, unusable)
        for name, kind, lifted in found[1]:
            location = self._location(name)
            first = location.get()
            if first is UNDEFINED or _type(first) != kind and not _became_tensor(kind, first):
                continue
            now = first
            if lifted is not None and not isinstance(first, Tensor):
                if lifted[1] != ():
                    continue
                now = values.as_tensor(first, lifted[0])
            out[location.key()] = [location, first, now]
        return out, lost

    def note(self, carried, lost):
        """Keeps what the loop carries."""
        known = []
        for location, first, now in carried.values():
            name = self._name(location)
            plain = isinstance(first, Tensor) or values.is_number(first)
            if name is None or not plain:
                continue
            lifted = (now.dtype, now.shape) if not isinstance(first, Tensor) else None
            known.append((name, _type(first), lifted))
        passing = [
            (place.name, unusable)
            for place, unusable in lost.values()
            if type(place) is Variable and place.scope is self.scope and place.get() is UNDEFINED
        ]
        self.hints[self.key] = (_types(self.scope), known, passing)

    def _name(self, location):
        if isinstance(location, ParameterValue):
            return location
        for i, variable in enumerate(self.own):
            if location.key() == variable.key():
                return i
        if type(location) is Variable and location.scope is self.scope:
            return location.name
        return None

    def _location(self, name):
        if isinstance(name, int):
            return self.own[name]
        return Variable(self.scope, name) if isinstance(name, str) else name


def _type(value):
    if isinstance(value, Tensor):
        return ("tensor", value.dtype, value.shape)
    return type(value)


def _types(scope):
    return {name: _type(value) for name, value in scope.vars.items()}


def _became_tensor(kind, value):
    return kind in (bool, int, float) and isinstance(value, Tensor) and value.shape == ()


def _compatible(before, now):
    """Whether variables have the types that they had; numbers may have become tensors."""
    if before.keys() != now.keys():
        return False
    for name, kind in now.items():
        old = before[name]
        number = old in (bool, int, float) and isinstance(kind, tuple) and kind[2] == ()
        if kind != old and not number:
            return False
    return True
