"""Primitive classes: the published form of an op that is constructed with attributes and then
called.

The classes are made from the records' primitive lines: "ReduceSum(keep_dims)" becomes a class whose
constructor takes keep_dims and whose call takes the operands and the other attributes."""

import inspect
from functools import wraps

from mycel import _mycel
from mycel._mycel import PrimitiveBase


class Primitive(PrimitiveBase):
    """An op with some attributes fixed. `attrs` holds attributes set with add_prim_attr."""

    _record = None  # name of the record
    _fixed_names = ()

    def __init__(self, *args, **kwargs):
        if self._record is not None:
            self._bind(self._record, self._fixed_names, args, kwargs)
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
        return _restore, (type(self), self._record, self._fixed_names, dict(self._fixed), state)

    def __deepcopy__(self, memo):
        make, args = self.__reduce__()
        return make(*args)

    def __copy__(self):
        return self.__deepcopy__({})


def _restore(cls, record, names, fixed, state):
    primitive = cls.__new__(cls)
    if record is not None:
        primitive._bind(record, names, (), {k: v for k, v in fixed.items() if k in names})
    primitive.__dict__.update(state)
    return primitive


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


def _parse(line):
    """("ReduceSum", ("keep_dims",)) for each form in a primitive line."""
    for form in filter(None, (part.strip() for part in line.split(";"))):
        name, _, inner = form.partition("(")
        yield name.strip(), tuple(n.strip() for n in inner.rstrip(")").split(",") if n.strip())


def declared():
    """Name of each primitive class to (record, constructor arguments)."""
    return {
        name: (record, fixed)
        for record, primitive, _, _, _ in _mycel.records()
        for name, fixed in _parse(primitive)
    }


def make_class(name, record, fixed):
    """The class of one primitive form."""
    op = _mycel.op(record)
    attrs = {
        "_record": record,
        "_fixed_names": fixed,
        "__doc__": op.__doc__,
        "__module__": "mycel.ops",
    }
    cls = type(name, (Primitive,), attrs)
    defaults = {n: (has, d) for n, _, has, d in op.parameters}
    cls.__signature__ = inspect.Signature(
        [
            inspect.Parameter(
                n,
                inspect.Parameter.POSITIONAL_OR_KEYWORD,
                default=defaults[n][1] if defaults[n][0] else inspect.Parameter.empty,
            )
            for n in fixed
        ]
    )
    return cls


__all__ = ["Primitive", "PrimitiveWithCheck", "PrimitiveWithInfer", "prim_attr_register"]
