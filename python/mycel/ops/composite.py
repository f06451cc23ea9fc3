"""Functions over functions and sequences: maps, dispatch by type, clipping, partial application."""

import functools

from mycel import _published_modules
from mycel._mycel import Tensor, entry
from mycel.common import dtype as mstype
from mycel.ops._transforms import GradOperation, interpreted

_TYPE_NAMES = {
    "Tensor": lambda v: isinstance(v, Tensor),
    "Number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
    "Bool": lambda v: isinstance(v, bool),
    "Int": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "Float": lambda v: isinstance(v, float),
    "String": lambda v: isinstance(v, str),
    "Tuple": lambda v: isinstance(v, tuple),
    "List": lambda v: isinstance(v, list),
    "Dictionary": lambda v: isinstance(v, dict),
    "None": lambda v: v is None,
    "TypeNone": lambda v: v is None,
    "Function": callable,
    "TypeType": lambda v: isinstance(v, (type, mstype.DType, mstype.Type)),
    "RowTensor": lambda v: type(v).__name__ == "RowTensor",
    "MapTensor": lambda v: type(v).__name__ == "MapTensor",
}
_BY_OBJECT = {
    mstype.number: "Number",
    mstype.int_: "Int",
    mstype.float_: "Float",
    mstype.bool_: "Bool",
    mstype.string: "String",
    mstype.tuple_: "Tuple",
    mstype.list_: "List",
    mstype.type_none: "None",
}


def _type_name(kind):
    if isinstance(kind, str):
        if kind not in _TYPE_NAMES:
            raise ValueError(
                f"MultitypeFuncGraph.register: '{kind}' is no type name"
                f"\n  Allowed: {', '.join(_TYPE_NAMES)}."
            )
        return kind
    if isinstance(kind, mstype.TensorType):
        return "Tensor"
    if isinstance(kind, mstype.DType) and kind != mstype.bool_:
        return "Float" if kind in mstype.float_type else "Int"
    name = _BY_OBJECT.get(kind)
    if name is None:
        raise TypeError(f"MultitypeFuncGraph.register: {kind!r} is no type")
    return name


class MultitypeFuncGraph:
    """One function with several bodies, chosen by the types of the arguments:
    `@f.register("Tensor", "Tensor")`.

    A body for the exact types wins over a body for "Number" and over the more general ones, in
    order of registration. read_value: Parameters are passed as their values.
    """

    def __init__(self, name, read_value=False):
        self.name, self.read_value = name, read_value
        self.entries = []

    def register(self, *type_names):
        """Decorates the body for arguments of these types."""
        names = tuple(_type_name(t) for t in type_names)

        def decorate(fn):
            self.entries.append((names, fn))
            return fn

        return decorate

    def set_doc_url(self, url):
        """Where the types that the function takes are described, for the message of a failed
        call."""
        self.doc_url = url
        return self

    def set_need_raise(self):
        """Kept for published code: a call without a body always raises."""
        return self

    @entry
    def __call__(self, *args):
        for names, fn in self.entries:
            if len(names) == len(args) and all(_TYPE_NAMES[n](a) for n, a in zip(names, args)):
                return interpreted(fn)(*args)
        given = ", ".join(type(a).__name__ for a in args)
        known = "; ".join(f"({', '.join(names)})" for names, _ in self.entries)
        where = getattr(self, "doc_url", "")
        raise TypeError(
            f"{self.name}: no body for ({given})\n  Bodies: {known or 'none'}. {where}".rstrip()
        )

    def __repr__(self):
        return f"MultitypeFuncGraph[{self.name}]"


def _is_sequence(value):
    return isinstance(value, (tuple, list))


class HyperMap:
    """Applies an operation to the items of sequences, and to what is nested in them:
    HyperMap(op)(xs, ys), or HyperMap()(op, xs, ys). The result has the structure of the first
    sequence."""

    def __init__(self, ops=None, reverse=False):
        if ops is not None and not callable(ops):
            raise TypeError(f"HyperMap: 'ops' must be callable, got {type(ops).__name__}")
        self.ops, self.reverse = ops, bool(reverse)

    @entry
    def __call__(self, *args):
        op, args = (self.ops, args) if self.ops is not None else (args[0], args[1:])
        if not args:
            raise TypeError("HyperMap: no sequence given")
        return self._map(interpreted(op), args)

    def _map(self, op, args):
        first = args[0]
        if isinstance(first, dict):
            return {k: self._map(op, tuple(a[k] for a in args)) for k in first}
        if not _is_sequence(first):
            return op(*args)
        self._check(args)
        order = range(len(first))
        items = [
            self._map(op, tuple(a[i] for a in args))
            for i in (reversed(order) if self.reverse else order)
        ]
        return (
            type(first)(items[::-1] if self.reverse else items)
            if type(first) in (tuple, list)
            else tuple(items)
        )

    def _check(self, args):
        for a in args:
            if not _is_sequence(a) or len(a) != len(args[0]):
                raise ValueError(
                    f"{type(self).__name__}: sequences of {len(args[0])} and "
                    f"{len(a) if _is_sequence(a) else 'no'} items cannot be mapped together"
                )


class Map(HyperMap):
    """Applies an operation to the items of sequences, one level deep."""

    def _map(self, op, args):
        if not _is_sequence(args[0]):
            return op(*args)
        self._check(args)
        items = [op(*(a[i] for a in args)) for i in range(len(args[0]))]
        return list(items) if isinstance(args[0], list) else tuple(items)


@entry
def partial(func, *args):
    """`func` with its first arguments given."""
    if not callable(func):
        raise TypeError(f"partial: the first argument must be callable, got {type(func).__name__}")
    return functools.partial(func, *args)


class Partial:
    """Primitive form of partial."""

    def __call__(self, func, *args, **kwargs):
        return functools.partial(func, *args, **kwargs)


@entry
def clip_by_value(x, clip_value_min=None, clip_value_max=None):
    """x limited to [clip_value_min, clip_value_max]; a bound may be None. x: a tensor or a
    sequence of them."""
    from mycel import ops

    if clip_value_min is None and clip_value_max is None:
        raise ValueError(
            "clip_by_value: clip_value_min and clip_value_max are both None: give a bound"
        )
    if _is_sequence(x):
        return type(x)(clip_by_value(item, clip_value_min, clip_value_max) for item in x)
    if clip_value_min is not None:
        x = ops.maximum(x, clip_value_min)
    if clip_value_max is not None:
        x = ops.minimum(x, clip_value_max)
    return x


def global_norm(tensors):
    """Square root of the sum of all squared elements, as float32."""
    from mycel import ops

    total = None
    for t in tensors:
        part = ops.square(t.astype(mstype.float32)).sum()
        total = part if total is None else total + part
    return ops.sqrt(total)


@entry
def clip_by_global_norm(x, clip_norm=1.0, use_norm=None):
    """The tensors of x, scaled down together when their global norm exceeds clip_norm."""
    from mycel import ops

    if isinstance(clip_norm, bool) or not isinstance(clip_norm, (int, float)):
        raise TypeError(
            f"clip_by_global_norm: 'clip_norm' must be a number, got {type(clip_norm).__name__}"
        )
    if clip_norm <= 0:
        raise ValueError(f"clip_by_global_norm: 'clip_norm' must be positive, got {clip_norm}")
    if not _is_sequence(x) or not x:
        raise TypeError("clip_by_global_norm: 'x' must be a non-empty tuple or list of tensors")
    norm = global_norm(x) if use_norm is None else use_norm
    scale = clip_norm / ops.maximum(norm, clip_norm)
    return tuple((t * scale.astype(t.dtype)) for t in x)


__getattr__ = _published_modules.names_of("ops")
__all__ = [
    "GradOperation",
    "HyperMap",
    "Map",
    "MultitypeFuncGraph",
    "Partial",
    "clip_by_global_norm",
    "clip_by_value",
    "partial",
]
