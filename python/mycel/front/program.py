"""A whole function: what it gives, prints and changes when it is compiled once and run often."""

from mycel import _mycel
from mycel._mycel import Tensor
from mycel.front import errors, state, values
from mycel.front.functions import wrap
from mycel.front.journal import Attribute, Content, Elements, ParameterValue
from mycel.ops._transforms import flatten, unflatten


class Program:
    """What a compiled function does beside giving its result: attributes that it sets, effects."""

    def __init__(self):
        self.result = None  # key of the result for unflatten
        self.attributes = []  # (object, name, key)
        self.extra = 0  # tensors behind those of the results: a token

    def finish(self, tensors):
        """The result out of the tensors of one run; sets the attributes."""
        source = iter(tensors)
        result = unflatten(self.result, source)
        for owner, name, key in self.attributes:
            setattr(owner, name, unflatten(key, source))
        return result


def compile_function(fn, args, kwargs):
    """Runs fn(*args, **kwargs) on symbolic tensors: (Program, the tensors that it gives)."""
    program, out = Program(), []
    with state.Compile() as compiling:
        for value in (*args, *kwargs.values()):
            _adopt(compiling, value)
        try:
            result = wrap(fn)(*args, **kwargs)
            program.result = flatten(result, out)
            out[:] = map(_mycel.raw, out)  # the values now: tensor objects get their old ones back
            _take_changes(compiling, program, out)
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


def _take_changes(compiling, program, out):
    for location, old in list(compiling.journal.entries.values()):
        if isinstance(location, ParameterValue):
            continue  # results of the compiled function
        now = location.get()
        if isinstance(location, Elements):
            location.set(old)  # as published: only this call sees what it writes into a tensor
        elif isinstance(location, Attribute):
            _take_attribute(compiling, program, location, old, now, out)
        elif isinstance(location, Content):
            _check_unchanged(location, old, now)
        elif values.contains_symbolic(now):
            raise errors.with_place(
                TypeError,
                f"{location.text()} outside of the compiled function is assigned a tensor",
                "Return the value, or make it a Parameter.",
            )


def _take_attribute(compiling, program, location, old, now, out):
    owner, name = location.object, location.name
    if values.same(old, now):
        return
    if (id(owner), name) in compiling.read and old is not values.UNDEFINED:
        location.set(old)
        raise errors.with_place(
            TypeError,
            f"{location.text()} is read and then assigned in compiled code, which would take its "
            "old value for a constant",
            f"Make it a Parameter: self.{name} = Parameter(Tensor(…), requires_grad=False).",
        )
    program.attributes.append((owner, name, flatten(now, out)))
    location.set(old)


def _check_unchanged(location, old, now):
    """Lists from outside may not keep symbolic tensors."""
    if values.contains_symbolic(list(now) if isinstance(now, set) else now):
        location.set(old)
        raise errors.with_place(
            TypeError,
            f"{location.text()} from outside of the compiled function is given a symbolic tensor",
            "Return the value, or make it a Parameter.",
        )
