"""Calls, attributes and subscripts: what is interpreted, what runs natively, and the built-in
functions that mean something else on symbolic tensors."""

import ast
import functools
import types

from mycel import _mycel
from mycel._mycel import Tensor
from mycel.common.parameter import Parameter
from mycel.front import builtin, errors, guards, regions, values
from mycel.front.arguments import Rows
from mycel.front.functions import Interpreted, resolve, wrap
from mycel.front.items import indexed
from mycel.front.places import Attribute, Content, Elements
from mycel.front.values import Unusable, symbolic

_MUTATORS = frozenset(
    ("append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse", "update",
     "setdefault", "popitem", "add", "discard", "difference_update", "intersection_update",
     "symmetric_difference_update")
)  # fmt: skip
_CONTAINERS = (list, dict, set)
_NATIVE_METHOD = types.BuiltinMethodType


def evaluate_call(self, node):
    """The value of a call expression."""
    fn = _callee(self, node.func)
    args = []
    for n in node.args:
        if type(n) is ast.Starred:
            args.extend(iterate(self, self.eval(n.value)))
        else:
            args.append(self.eval(n))
    kwargs = {}
    for k in node.keywords:
        value = self.eval(k.value)
        if k.arg is None:
            kwargs.update(value)
        else:
            kwargs[k.arg] = value
    self.node = node
    _mycel.set_location(self.location())
    value = call(self, fn, args, kwargs)
    _mycel.set_location(self.location())
    self.node = node
    return value


def _callee(self, node):
    """What a call expression calls. A list that is only appended to may differ in every run."""
    if type(node) is not ast.Attribute or node.attr not in ("append", "extend"):
        return self.eval(node)
    owner = node.value
    if type(owner) is ast.Attribute:
        holder = self.eval(owner.value)
        self.node = owner
    guards = self.compiling.guards
    guards.extending = True
    try:
        if type(owner) is ast.Attribute:
            value = get_attribute(self, holder, owner.attr)
        elif type(owner) is ast.Name:
            value = self.eval(owner)
        else:
            guards.extending = False
            value = self.eval(owner)
    finally:
        guards.extending = False
    self.node = node
    return get_attribute(self, value, node.attr)


def call(self, fn, args, kwargs):
    """Calls any callable value from interpreted code."""
    from mycel.front.activation import call_function

    kind = type(fn)
    if kind is Interpreted:
        return call_function(self.compiling, fn, args, kwargs)
    special = builtin.find(fn)
    if special is not None:
        return special(self, *args, **kwargs)
    if kind is _NATIVE_METHOD and type(fn.__self__) in _CONTAINERS:
        return _container_method(self, fn, args, kwargs)
    interpreted, leading = resolve(fn)
    if interpreted is not None:
        return call_function(self.compiling, interpreted, (*leading, *args), kwargs)
    if kind is functools.partial:
        return call(self, fn.func, [*fn.args, *args], {**fn.keywords, **kwargs})
    if kind is Switch:
        return fn.call(self, args, kwargs)
    if isinstance(fn, type):
        return _make(self, fn, args, kwargs)
    body = getattr(fn, "_front_body", None)
    if body is not None:
        return call(self, body, args, kwargs)
    if kind.__call__.__class__ is types.FunctionType and not isinstance(fn, _cell()):
        interpreted, _ = resolve(kind.__call__)
        if interpreted is not None:
            return call_function(self.compiling, interpreted, (fn, *args), kwargs)
    marked = getattr(fn, "_runs_natively", None)
    if marked is not None and values.contains_symbolic((args, kwargs)):
        raise errors.with_place(
            TypeError,
            f"{marked}: {fn.__name__} runs while compiling and is given a tensor whose value is "
            "only known when the program runs",
            f"Take @{marked} off, or give it shapes, dtypes and numbers.",
        )
    args = [wrap(a) for a in args]
    if kwargs:
        kwargs = {k: wrap(v) for k, v in kwargs.items()}
    return fn(*args, **kwargs)


@functools.lru_cache(None)
def _cell():
    from mycel.nn.cell import Cell

    return Cell


def _container_method(self, fn, args, kwargs):
    owner, name = fn.__self__, fn.__name__
    if name in _MUTATORS:
        self.compiling.note(Content(owner))
        if name == "sort" and "key" in kwargs:
            kwargs["key"] = wrap(kwargs["key"])
    elif name in ("index", "count", "remove") and values.contains_symbolic([owner, args]):
        raise errors.refuse(
            f"{type(owner).__name__}.{name} compares symbolic tensors",
            "Compare with == and reduce with ops.",
        )
    result = fn(*args, **kwargs)
    if name == "copy":
        self.compiling.made(result)
    return result


def _make(self, cls, args, kwargs):
    """An instance of a class; the user's __init__ is interpreted."""
    from mycel.front.activation import call_function

    init = cls.__init__
    plain = type(cls) is type and cls.__new__ is object.__new__
    if plain and type(init) is types.FunctionType and not issubclass(cls, _cell()):
        interpreted, _ = resolve(init)
        if interpreted is not None:
            made = self.compiling.made(cls.__new__(cls))
            call_function(self.compiling, interpreted, (made, *args), kwargs)
            return made
    return self.compiling.made(cls(*map(wrap, args), **{k: wrap(v) for k, v in kwargs.items()}))


# -- attributes


def get_attribute(self, owner, name):
    """owner.name; the user's properties are interpreted."""
    if name in ("shape", "size") and isinstance(owner, Tensor) and -1 in owner.shape:
        return _unknown_shape(owner, name)
    found = getattr(type(owner), name, None)
    if type(found) is property and type(found.fget) is types.FunctionType:
        interpreted, _ = resolve(found.fget)
        if interpreted is not None:
            return call(self, interpreted, [owner], {})
    value = getattr(owner, name)
    if type(value) is Unusable:
        raise self.unusable(name, value)
    return _guarded(self, owner, name, found, value)


def _guarded(self, owner, name, found, value):
    """An attribute's value, noted when it is read from outside of the compiled function."""
    kind = type(value)
    if isinstance(owner, Tensor):
        if name not in ("requires_grad", "name"):
            return value
    elif type(owner) is types.ModuleType:
        if kind is types.ModuleType or guards.steady(owner):
            return value
    elif isinstance(found, (property, types.GetSetDescriptorType, types.MemberDescriptorType)):
        if not isinstance(value, (bool, int, float, str)):
            return value
    elif kind in (types.MethodType, types.BuiltinMethodType, types.MethodWrapperType):
        return value
    place = Attribute(owner, name)
    if self.compiling.touched(place, owner):
        return value
    return self.compiling.guards.read(place, value)


def set_attribute(self, owner, name, value):
    """owner.name = value."""
    found = getattr(type(owner), name, None)
    if type(found) is property and type(found.fset) is types.FunctionType:
        interpreted, _ = resolve(found.fset)
        if interpreted is not None:
            call(self, interpreted, [owner, value], {})
            return
    old = getattr(owner, name, None)
    if isinstance(owner, types.ModuleType):
        raise errors.refuse(
            f"the global '{owner.__name__}.{name}' is assigned",
            "Return the value, or make it a Parameter.",
        )
    if isinstance(old, Parameter) and isinstance(owner, _cell()):
        if values.is_number(value):
            value = Tensor(value, old.dtype)
        setattr(owner, name, value)
        return
    self.compiling.note(Attribute(owner, name))
    setattr(owner, name, value)


def _unknown_shape(tensor, name):
    """shape or size of a tensor with unknown dims: these are tensors."""
    sizes = _mycel.op("shape_of")(tensor)
    if name == "size":
        return sizes.prod()
    return tuple(sizes[i] if n < 0 else n for i, n in enumerate(tensor.shape))


# -- subscripts


class Switch:
    """One of several functions or cells, chosen by a symbolic index."""

    def __init__(self, items, index):
        self.items, self.index = items, index

    def call(self, activation, args, kwargs):
        """Calls the chosen one."""
        return self._from(activation, 0, args, kwargs)

    def _from(self, activation, i, args, kwargs):
        here = lambda: call(activation, self.items[i], list(args), dict(kwargs))
        if i + 1 == len(self.items):
            return here()
        return activation.choose(
            regions.as_bool(self.index == i),
            here,
            lambda: self._from(activation, i + 1, args, kwargs),
            (f"from item {i}", "from another item"),
        )


def get_item(self, container, index):
    """container[index]."""
    if type(container) is Rows:
        return container.stacked[index]
    if symbolic(index) and not isinstance(container, Tensor):
        items = container
        if isinstance(container, (tuple, list)) or isinstance(container, _cell()):
            items = list(container)
            if items and all(isinstance(v, Tensor) or values.is_number(v) for v in items):
                return _stack(items)[index]
            if items and all(map(callable, items)):
                count = len(items)
                return Switch(items, (index + count) % count)
        raise errors.with_place(
            TypeError,
            f"{values.kind(container)} cannot be indexed with a symbolic tensor",
            "Items must be tensors of one dtype and shape, or functions; or stack them first.",
        )
    if isinstance(container, Tensor) or not hasattr(type(container), "__getitem__"):
        return container[index]
    found = getattr(type(container), "__getitem__", None)
    if type(found) is types.FunctionType:
        interpreted, _ = resolve(found)
        if interpreted is not None:
            return call(self, interpreted, [container, index], {})
    value = container[index]
    if type(value) is Unusable:
        raise self.unusable("the item", value)
    return value


def _stack(items):
    from mycel import ops

    tensors = [values.as_tensor(v) for v in items]
    return ops.stack(tensors)


def set_item(self, container, index, value):
    """container[index] = value; a tensor object gets a new value."""
    if isinstance(container, Tensor):
        if not isinstance(container, Parameter):
            self.compiling.note(Elements(container))
        container[index] = value
        return
    if isinstance(container, _CONTAINERS):
        if symbolic(index):
            raise errors.with_place(
                TypeError,
                f"{values.kind(container)} cannot be assigned at a symbolic index",
                "Stack the items into one tensor and assign into that.",
            )
        self.compiling.note(Content(container))
    found = getattr(type(container), "__setitem__", None)
    if type(found) is types.FunctionType:
        interpreted, _ = resolve(found)
        if interpreted is not None:
            call(self, interpreted, [container, index, value], {})
            return
    container[index] = value


def iterate(self, value):
    """iter(value); the rows of a tensor one by one."""
    if type(value) is Rows:
        value = indexed(value)
    found = getattr(type(value), "__iter__", None)
    if type(found) is types.FunctionType:
        interpreted, _ = resolve(found)
        if interpreted is not None and not interpreted.source.is_generator:
            return call(self, interpreted, [value], {})
    return iter(value)
