"""A whole function: what it gives, prints and changes when it is compiled once and run often."""

import copy

from mycel import _mycel
from mycel._mycel import Tensor
from mycel.front import errors, state, values
from mycel.front.arguments import containers, replace_content
from mycel.front.functions import wrap
from mycel.front.places import Attribute, Content, Elements, ParameterValue
from mycel.ops._transforms import unflatten


class Program:
    """What a compiled function does beside giving its result: changes of its arguments, attributes
    that it sets, effects."""

    def __init__(self):
        self.result = None  # key of the result for unflatten
        self.results = 0  # tensors in it
        self.attributes = []  # (object, name, key, whether a number comes as a tensor)
        self.reads_own = False  # an attribute that it sets
        self.arguments = []  # places among the tensors given that get a new value
        self.contents = []  # (place among the lists and dicts given, key of its items)
        self.appended = []  # (list from outside, key of the new items)
        self.elements = []  # (tensor object, or a function that gives it)

    @property
    def alone(self):
        """Whether `finish` needs nothing but tensors, and only those of the last run."""
        changes = self.arguments or self.contents or self.elements or self.appended
        return not changes and not self.reads_own and not _keeps_objects(self.result)

    def value(self, tensors, given):
        """The result alone, nothing changed."""
        return _put(self.result, iter(tensors), given)

    def finish(self, tensors, given=(), args=()):
        """The result out of the tensors of one run; makes the changes. given: the tensors among the
        arguments."""
        source = iter(tensors)
        result = _put(self.result, source, given)
        for owner, name, key, number in self.attributes:
            value = _put(key, source, given)
            setattr(owner, name, value.item() if number else value)
        for owner, key in self.appended:
            owner.extend(_put(key, source, given))
        for i in self.arguments:
            _mycel.set_raw(given[i], next(source))
        for owner in self.elements:
            _mycel.set_raw(owner() if callable(owner) else owner, next(source))
        if self.contents:
            found = containers(args, [])
            for i, key in self.contents:
                replace_content(found[i], _put(key, source, given))
        return result


class _Same:
    """A key for a tensor object that the caller has anyway: the argument of this number."""

    def __init__(self, place):
        self.place = place


def _keeps_objects(key):
    if type(key) is _Same:
        return True
    if key is Tensor or key[0] is None:
        return False
    items = [k for _, k in key[1]] if key[0] is dict else key[1]
    return any(map(_keeps_objects, items))


def _take(value, out, given):
    """As `flatten`; arguments and Parameters given back stay the objects that they are."""
    if isinstance(value, Tensor):
        if _mycel.is_parameter(value):
            return None, value
        for i, t in enumerate(given):
            if t is value:
                return _Same(i)
        out.append(value)
        return Tensor
    if isinstance(value, (tuple, list)):
        return type(value), [_take(item, out, given) for item in value]
    if isinstance(value, dict):
        return dict, [(key, _take(item, out, given)) for key, item in value.items()]
    return None, value


def _put(key, source, given):
    if type(key) is _Same:
        return given[key.place]
    if key is Tensor or key[0] is None:
        return unflatten(key, source)
    if key[0] is dict:
        return {name: _put(item, source, given) for name, item in key[1]}
    items = [_put(item, source, given) for item in key[1]]
    if key[0] is list or key[0] is tuple:
        return items if key[0] is list else tuple(items)
    return key[0](*items) if hasattr(key[0], "_fields") else key[0](items)


def compile_function(fn, args, kwargs, given, guards):
    """Runs fn(*args, **kwargs) on symbolic tensors: (Program, the tensors that it gives).

    given: the tensors among the arguments. guards: take what is read from outside."""
    program, out = Program(), []
    before = [_mycel.raw(t) for t in given]
    lists = containers((args, kwargs), [])
    contents = [copy.copy(c) for c in lists]
    with state.Compile(guards) as compiling:
        for value in (*args, *kwargs.values()):
            _adopt(compiling, value)
        try:
            result = wrap(fn)(*args, **kwargs)
            program.result = _take(result, out, given)
            program.results = len(out)
            out[:] = map(_mycel.raw, out)  # the values now: tensor objects get their old ones back
            _take_changes(compiling, program, out, given)
            for i, t in enumerate(given):
                if not _mycel.same_value(t, before[i]):
                    program.arguments.append(i)
                    out.append(_mycel.raw(t))
            for place, owner in compiling.elements:
                program.elements.append(place)
                out.append(owner)
            for i, (owner, old) in enumerate(zip(lists, contents)):
                if not _same_items(owner, old):
                    program.contents.append((i, _take(owner, out, given)))
        except Exception as error:
            compiling.journal.roll_back()
            raise errors.rebuild_traceback(error)  # noqa: B904
        if compiling.token is not None:
            out.append(compiling.token)
    return program, out


def _adopt(compiling, value):
    """Arguments belong to the call: the tuples, lists and tensors were made for it."""
    if isinstance(value, (tuple, list)):
        for v in value:
            _adopt(compiling, v)
    elif isinstance(value, dict):
        for v in value.values():
            _adopt(compiling, v)
    elif not isinstance(value, Tensor) or _mycel.is_parameter(value):
        return
    compiling.made(value)


def _same_items(now, old):
    if isinstance(now, dict):
        return list(now) == list(old) and all(now[k] is old[k] for k in now)
    return len(now) == len(old) and all(a is b for a, b in zip(now, old))


def _take_changes(compiling, program, out, given):
    for location, old in list(compiling.journal.entries.values()):
        if isinstance(location, ParameterValue):
            continue  # results of the compiled function
        now = location.get()
        if isinstance(location, Elements):
            if not _mycel.same_value(now, old):
                owner = compiling.guards.place_of(location.object) or location.object
                compiling.elements.append((owner, _mycel.raw(location.object)))
            location.set(old)
        elif isinstance(location, Attribute):
            _take_attribute(compiling, program, location, old, now, out, given)
        elif isinstance(location, Content):
            _take_content(program, location, old, now, out, given)
        elif values.contains_symbolic(now):
            raise errors.with_place(
                TypeError,
                f"{location.text()} outside of the compiled function is assigned a tensor",
                "Return the value, or make it a Parameter.",
            )


def _take_attribute(compiling, program, location, old, now, out, given):
    if values.same(old, now):
        return
    guards, counts = compiling.guards, values.is_number(old)
    if guards.holds(location):
        program.reads_own = True
        if counts and values.is_number(now):
            guards.counters.add(location.key())
    number = counts and location.key() in guards.symbols and isinstance(now, Tensor)
    if number:
        guards.counters.add(location.key())
    key = _take(now, out, given)
    program.attributes.append((location.object, location.name, key, number))
    location.set(old)


def _take_content(program, location, old, now, out, given):
    """What is appended to a list from outside is appended in every run. No container may keep
    symbolic tensors otherwise."""
    if isinstance(old, list) and len(now) >= len(old) and _same_items(now[: len(old)], old):
        program.appended.append((location.object, _take(now[len(old) :], out, given)))
        location.set(old)
        return
    if values.contains_symbolic(list(now) if isinstance(now, set) else now):
        location.set(old)
        raise errors.with_place(
            TypeError,
            f"{location.text()} from outside of the compiled function is given a symbolic tensor",
            "Return the value, or make it a Parameter.",
        )
