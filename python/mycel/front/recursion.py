"""Functions that call themselves on a condition that is a tensor become functions of the compiled
program. Such a call is met inside a branch while an outer call with arguments of the same types is
still being interpreted: everything up to that outer call is thrown away, the types of its results
are found from the branches that do not recurse, and the function is traced once over its
arguments."""

from mycel import _mycel
from mycel._mycel import Tensor
from mycel.front import errors, regions, values
from mycel.front.values import known, rebuild

_MAX_ROUNDS = 5  # of finding out the types of the results
_LEVELS = 4  # of calls whose numbers differ before these become tensors


class Recurses(BaseException):
    """A call of `frame`'s function inside itself, in a branch that the program decides on."""

    def __init__(self, frame):
        self.frame = frame


class Unknown(BaseException):
    """A result whose types are still being found out; its branch is left out."""


class Frame:
    """One call that is being interpreted."""

    def __init__(self, function, args, kwargs, journal):
        self.function, self.given, self.journal = function, (args, kwargs), journal
        self.looking = False  # for the types of the results
        self.call = None  # what makes the result of an inner call, once the types are known
        self._key, self.tensors = None, []

    def key(self):
        """The arguments without their symbolic tensors, which are `tensors`."""
        if self._key is None:
            self._key = _leaves(self.given, self.tensors)
        return self._key

    def fits(self, function, given):
        """The tensors of another call that differs in the values of tensors only, or None."""
        if function is not self.function and not self.function._equal_function(function):
            return None
        out = []
        return out if _fit(self.key(), self.tensors, given, out) else None

    def lift(self, given):
        """Makes tensors of the numbers that are others in an inner call; whether that is all that
        is other there."""
        lifted = _lifted(self.given, given)
        if lifted is None:
            return False
        self.given, self._key, self.tensors = lifted, None, []
        return True


class _Lifted:
    """A number of a call that stands for any number."""

    def __init__(self, tensor):
        self.tensor = tensor


def _leaves(value, out):
    """As values.leaves, for symbolic tensors only."""
    if isinstance(value, Tensor):
        if known(value) or _mycel.is_parameter(value):
            return ("same", value)
        out.append(value)
        return ("tensor", len(out) - 1)
    if type(value) is _Lifted:
        out.append(value.tensor)
        return ("tensor", len(out) - 1)
    if isinstance(value, (tuple, list)):
        return ("items", type(value), [_leaves(v, out) for v in value])
    if isinstance(value, dict):
        return ("dict", {k: _leaves(v, out) for k, v in value.items()})
    return ("same", value)


def _fit(key, types, value, out):
    """Whether a value is what `key` says; appends its tensors."""
    if key[0] == "same":
        return values.same(key[1], value)
    if key[0] == "tensor":
        like = types[key[1]]
        if values.is_number(value) and like.shape == () and values.rank(value) <= values.rank(like):
            value = values.as_tensor(value, like.dtype)
        out.append(value)
        return isinstance(value, Tensor) and value.dtype == like.dtype and value.shape == like.shape
    if key[0] == "dict":
        fits = isinstance(value, dict) and list(value) == list(key[1])
        return fits and all(_fit(key[1][k], types, value[k], out) for k in value)
    fits = type(value) is key[1] and len(value) == len(key[2])
    return fits and all(_fit(k, types, v, out) for k, v in zip(key[2], value))


def _lifted(a, b):
    """a with the numbers that differ in b as _Lifted; None when something else differs."""
    if isinstance(a, Tensor) and isinstance(b, Tensor) and a is not b:
        equal = a.dtype == b.dtype and a.shape == b.shape and not known(a)
        return a if equal else None
    if values.is_number(a) and values.is_number(b) and type(a) is type(b):
        return a if values.same(a, b) else _Lifted(values.as_tensor(a))
    if isinstance(a, (tuple, list)) and type(a) is type(b) and len(a) == len(b):
        items = [_lifted(x, y) for x, y in zip(a, b)]
        if any(i is None and x is not None for i, x in zip(items, a)):
            return None
        return type(a)(*items) if hasattr(a, "_fields") else type(a)(items)
    if isinstance(a, dict) and type(a) is type(b) and list(a) == list(b):
        items = {k: _lifted(a[k], b[k]) for k in a}
        return None if any(items[k] is None and a[k] is not None for k in a) else items
    return a if values.same(a, b) else None


def _equal(a, b):
    """Whether two keys are."""
    if a[0] != b[0]:
        return False
    if a[0] == "same":
        return values.same(a[1], b[1])
    if a[0] == "tensor":
        return a[1] == b[1]
    if a[0] == "dict":
        return list(a[1]) == list(b[1]) and all(_equal(a[1][k], b[1][k]) for k in a[1])
    return a[1] is b[1] and len(a[2]) == len(b[2]) and all(map(_equal, a[2], b[2]))


def enter(compiling, function, args, kwargs, run):
    """run(args, kwargs) as a call of an interpreted function; gives its result."""
    frames = compiling.frames.setdefault(function.source, [])
    for outer in reversed(frames):
        tensors = outer.fits(function, (args, kwargs))
        if tensors is None:
            continue
        if outer.call is not None:
            return outer.call(tensors)
        if outer.looking:
            raise Unknown
        if outer.journal is not compiling.journal and _inside(compiling, outer.journal):
            raise Recurses(outer)
        break
    else:
        _lift_numbers(compiling, frames, function, (args, kwargs))
    frame = Frame(function, args, kwargs, compiling.journal)
    frames.append(frame)
    try:
        return run(args, kwargs)
    except Recurses as found:
        if found.frame is not frame:
            raise
        return _define(compiling, frame, run)
    finally:
        frames.pop()


def _lift_numbers(compiling, frames, function, given):
    """A call some levels deep whose numbers alone differ: they count something, and become
    tensors."""
    if len(frames) < _LEVELS:
        return
    outer = frames[-_LEVELS]
    same = outer.function is function or outer.function._equal_function(function)
    if same and outer.journal is not compiling.journal and _inside(compiling, outer.journal):
        if outer.call is None and not outer.looking and outer.lift(given):
            raise Recurses(outer)


def _inside(compiling, journal):
    inner = compiling.journal.outer
    while inner is not None:
        if inner is journal:
            return True
        inner = inner.outer
    return False


def _define(compiling, frame, run):
    """The result of a call of a function that calls itself."""
    name = frame.function.__name__
    key, tensors = frame.key(), frame.tensors
    again = lambda: run(*rebuild(key, tensors))
    frame.looking = True
    try:
        result = regions.trial(compiling, again)
    except Unknown:
        raise errors.with_place(
            RecursionError,
            f"{name} calls itself on every path",
            "A recursion must end: give it a branch that does not call it.",
        ) from None
    finally:
        frame.looking = False
    for _ in range(_MAX_ROUNDS):
        types = []
        result_key = values.leaves(_as_tensors(result), types)
        function = _mycel.GraphFunction(name, tensors, types)
        frame.call = lambda given: rebuild(result_key, function(given))  # noqa: B023
        result = regions.trial(compiling, again)
        found = []
        found_key = values.leaves(_as_tensors(result), found)
        if _types(found) == _types(types) and _equal(found_key, result_key):
            break
    else:
        raise errors.with_place(
            TypeError,
            f"{name} calls itself, and the types of its results do not settle",
            "Let every path return tensors of one dtype and shape.",
        )

    def body(given):
        args, kwargs = rebuild(key, given)
        journal = compiling.enter()
        parameters = _mycel.ParameterValues()
        keys = _mycel.IterationKeys(Tensor(0))
        try:
            out = []
            values.leaves(_as_tensors(run(args, kwargs)), out)
            _check_pure(name, journal, parameters, keys)
            return out
        finally:
            keys.close()
            parameters.take_back()
            journal.roll_back()
            compiling.leave()

    function.define(body)
    return frame.call(tensors)


def _check_pure(name, journal, parameters, keys):
    changed = [place.text() for place, old in journal.entries.values() if place.get() is not old]
    changed += [f"Parameter '{p.name}'" for p, _ in parameters.take_back()]
    changed += ["the state of random numbers"] if keys.drawn else []
    if changed:
        raise errors.with_place(
            NotImplementedError,
            f"{name} calls itself on a tensor condition, and changes {changed[0]}",
            "Let it return what it computes; assign, print and draw numbers outside of it.",
        )


def _as_tensors(value):
    """The value with its numbers as tensors."""
    if values.is_number(value):
        return values.as_tensor(value)
    if isinstance(value, (tuple, list)):
        items = [_as_tensors(v) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        return {k: _as_tensors(v) for k, v in value.items()}
    return value


def _types(tensors):
    return [(t.dtype, t.shape) for t in tensors]
