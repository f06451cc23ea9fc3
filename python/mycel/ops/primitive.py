"""Primitive classes: the published form of an op that is constructed with attributes and then
called.

The classes are made from the records' primitive lines: "ReduceSum(keep_dims)" becomes a class whose
constructor takes keep_dims and whose call takes the operands and the other attributes."""

import ast
import inspect
import re
from functools import wraps
from typing import NamedTuple

from mycel import _mycel, _published_modules
from mycel._mycel import PrimitiveBase


class Primitive(PrimitiveBase):
    """An op with some attributes fixed. `attrs` holds attributes set with add_prim_attr."""

    _form = None  # of the classes that records declare

    def __init__(self, *args, **kwargs):
        form = self._form
        if form is not None:
            if form.renamed or form.preset:
                kwargs = {form.renamed.get(k, k): v for k, v in kwargs.items()}
                kwargs.update(form.preset)
            self._bind(form.record, form.fixed + tuple(form.preset), args, kwargs)
        elif args and isinstance(args[0], str):
            self.name = args[0]

    @property
    def name(self):
        """The class name, unless another was given."""
        return self.__dict__.get("_name", type(self).__name__)

    @name.setter
    def name(self, value):
        self.__dict__["_name"] = value

    @property
    def attrs(self):
        """Attributes: those given to the constructor and those set with add_prim_attr."""
        return {**self._fixed, **self.__dict__.get("_attrs", {})}

    def add_prim_attr(self, name, value):
        """Sets a further attribute, for the planner and for subclasses to read; gives the
        primitive."""
        self.__dict__.setdefault("_attrs", {})[name] = value
        self.__dict__[name] = value
        return self

    def del_prim_attr(self, name):
        """Takes an attribute of add_prim_attr away; gives the primitive."""
        self.__dict__.get("_attrs", {}).pop(name, None)
        self.__dict__.pop(name, None)
        return self

    def set_prim_instance_name(self, name):
        """Names this instance; gives the primitive."""
        return self.add_prim_attr("instance_name", name)

    def shard(self, in_strategy=None, out_strategy=None):
        """Asks the planner to split the operands so; gives the primitive."""
        self.add_prim_attr("in_strategy", in_strategy)
        return self.add_prim_attr("out_strategy", out_strategy)

    def set_stage(self, stage):
        """Puts the op in a pipeline stage; gives the primitive."""
        return self.add_prim_attr("stage", stage)

    def recompute(self, mode=True):
        """Whether the backward pass computes the result again instead of keeping it; gives the
        primitive."""
        return self.add_prim_attr("recompute", bool(mode))

    def set_device(self, device_target):
        """Where the op runs: "CPU" is the only device; gives the primitive."""
        if device_target != "CPU":
            raise ValueError(f"{self.name}: device_target must be 'CPU', got {device_target!r}")
        return self

    def init_prim_io_names(self, inputs, outputs):
        """Names inputs and outputs of a user's own primitive."""
        self.add_prim_attr("input_names", inputs)
        self.add_prim_attr("output_names", outputs)

    def __repr__(self):
        inner = ", ".join(f"{name}={value}" for name, value in self.attrs.items())
        return f"Prim[{self.name}]" + (f"<{inner}>" if inner else "")

    def __reduce__(self):
        state = {k: v for k, v in self.__dict__.items()}
        return _restore, (type(self), dict(self._fixed), state)

    def __deepcopy__(self, memo):
        make, args = self.__reduce__()
        return make(*args)

    def __copy__(self):
        return self.__deepcopy__({})


def _restore(cls, fixed, state):
    primitive = cls.__new__(cls)
    if cls._form is not None:
        names = cls._form.fixed + tuple(cls._form.preset)
        primitive._bind(cls._form.record, names, (), fixed)
    primitive.__dict__.update(state)
    return primitive


class Update(Primitive):
    """A primitive whose results are the new values of its first operands, which are Parameters."""

    def __call__(self, *args, **kwargs):
        from mycel.common.parameter import Parameter

        form = self._form
        names = [n for n, *_ in _mycel.op(form.record).parameters if n not in form.fixed]
        args += tuple(kwargs.pop(n) for n in names[len(args) :] if n in kwargs)
        values = [a._plain() if isinstance(a, Parameter) else a for a in args]
        results = super().__call__(*values, **kwargs)
        results = results if isinstance(results, tuple) else (results,)
        for name, place in zip(names, args[: len(results)]):
            if not isinstance(place, Parameter):
                raise TypeError(
                    f"{self.name}: '{name}' must be a Parameter, got {type(place).__name__}"
                )
        for place, value in zip(args, results):
            place._assign(value)
        return results[0] if len(results) == 1 or self.name in _GIVES_FIRST else results


# Published with one result, though they change several Parameters.
_GIVES_FIRST = {"ApplyMomentum", "ApplyFtrl", "ApplyRMSProp", "ApplyCenteredRMSProp"}


class PrimitiveWithInfer(Primitive):
    """Base of users' own primitives that say the type of their result in infer_shape and
    infer_dtype; they define __call__ or are used through ops.Custom."""


class PrimitiveWithCheck(Primitive):
    """Base of users' own primitives that check operands in check_shape and check_dtype."""


def prim_attr_register(fn):
    """Decorates __init__ of a user's primitive: its arguments become attributes."""

    @wraps(fn)
    def init(self, *args, **kwargs):
        Primitive.__init__(self)
        bound = inspect.signature(fn).bind(self, *args, **kwargs)
        bound.apply_defaults()
        for name, value in list(bound.arguments.items())[1:]:
            self.add_prim_attr(name, value)
        return fn(self, *args, **kwargs)

    return init


class Form(NamedTuple):
    """One form of a primitive line."""

    record: str
    fixed: tuple  # attributes that the constructor takes, in order
    renamed: dict  # published constructor name -> attribute
    preset: dict  # attribute -> value that the form stands for


def _value(text):
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text


def _parse(record, line):
    """Name and Form of each entry: "ReduceSum(keep_dims)", "Renorm(p, axis=dim)" (attribute =
    published name), "Gelu[approximate=tanh]" (attribute = value)."""
    for entry in filter(None, (part.strip() for part in line.split(";"))):
        name, preset, inner = re.fullmatch(r"(\w+)(?:\[(.*?)\])?(?:\((.*)\))?", entry).groups()
        pairs = [p.split("=") for p in (preset or "").split(",") if p.strip()]
        names = [p.strip().split("=") for p in (inner or "").split(",") if p.strip()]
        yield (
            name,
            Form(
                record,
                tuple(n[0].strip() for n in names),
                {n[1].strip(): n[0].strip() for n in names if len(n) == 2},
                {k.strip(): _value(v.strip()) for k, v in pairs},
            ),
        )


def declared():
    """Name of each primitive class to its Form."""
    return {
        name: form
        for record, primitive, _, _, _ in _mycel.records()
        for name, form in _parse(record, primitive)
    }


def make_class(name, form):
    """The class of one primitive form."""
    op = _mycel.op(form.record)
    base = Update if form.record.startswith("update_") else Primitive
    cls = type(name, (base,), {"_form": form, "__doc__": op.__doc__, "__module__": "mycel.ops"})
    defaults = {n: default if has else _EMPTY for n, _, has, default in op.parameters}
    published = {attr: n for n, attr in form.renamed.items()}
    cls.__signature__ = inspect.Signature(
        [inspect.Parameter(published.get(n, n), _PLAIN, default=defaults[n]) for n in form.fixed]
    )
    return cls


_PLAIN, _EMPTY = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.empty

__getattr__ = _published_modules.names_of("ops")
__all__ = ["Primitive", "PrimitiveWithCheck", "PrimitiveWithInfer", "prim_attr_register"]
