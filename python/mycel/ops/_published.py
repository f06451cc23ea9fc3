"""Published names that no record gives by itself: functions of shapes and Python values,
parameters that are assigned to, random numbers drawn from the process's state, printing and
checks."""

from mycel import _mycel
from mycel._mycel import Tensor, entry
from mycel._mycel import op as _op
from mycel.common import dtype as mstype
from mycel.common.parameter import Parameter
from mycel.ops._forms import _tensor
from mycel.ops.primitive import Form, Primitive, make_class

# -- shapes, types and Python values
# ----------------------------------------------------------------


@entry
def shape(input_x):
    """The sizes of the dims, a tuple."""
    return _tensor(input_x).shape


@entry
def rank(input_x):
    """The number of dims."""
    return _tensor(input_x).ndim


@entry
def size(input_x):
    """The number of elements."""
    return _tensor(input_x).size


@entry
def dtype(input_x):
    """The element type."""
    return _tensor(input_x).dtype


@entry
def dyn_shape(input_x):
    """The sizes of the dims as an int64 tensor."""
    if -1 in _tensor(input_x).shape:
        return _op("shape_of")(input_x)
    return Tensor(list(shape(input_x)), mstype.int64)


@entry
def tuple_to_array(input_x):
    """A tuple of numbers as a tensor: ints give int32, floats float32."""
    kind = mstype.int32 if all(isinstance(v, int) for v in input_x) else mstype.float32
    return Tensor(list(input_x), kind)


@entry
def scalar_to_array(input_x):
    """A number as a tensor without dims."""
    return scalar_to_tensor(input_x, None)


@entry
def scalar_to_tensor(input_x, dtype=mstype.float32):
    """A number as a tensor without dims; dtype None follows the number's type."""
    if isinstance(input_x, bool) or dtype is None:
        return Tensor(input_x)
    return Tensor(input_x, dtype)


@entry
def scalar_cast(input_x, input_y):
    """A number converted to the Python type of a dtype."""
    return mstype.dtype_to_pytype(input_y)(input_x)


@entry
def make_range(start, limit=None, delta=1):
    """The ints of range(start, limit, delta) as a tuple."""
    return tuple(range(start) if limit is None else range(start, limit, delta))


@entry
def is_tensor(obj):
    """Whether obj is a tensor."""
    return isinstance(obj, Tensor)


@entry
def fill(type, shape, value):  # noqa: A002
    """A tensor of the given dtype and shape whose elements are `value`."""
    if isinstance(value, Tensor):
        return _op("broadcast_to")(value.astype(type), shape)
    return _op("full")(shape, value, type)


@entry
def fills(x, value):
    """A tensor of the dtype and shape of x whose elements are `value`."""
    if isinstance(value, Tensor):
        return _op("broadcast_to")(value.astype(x.dtype), x.shape)
    return _op("full_like")(x, value)


class _Function(Primitive):
    """A primitive whose call is a function of this module."""

    _call = None

    def __call__(self, *args, **kwargs):
        return type(self)._call(*args, **kwargs)


def _class_of(name, fn):
    return type(
        name,
        (_Function,),
        {"_call": staticmethod(fn), "__doc__": fn.__doc__, "__module__": "mycel.ops"},
    )


Shape = _class_of("Shape", shape)
TensorShape = _class_of("TensorShape", dyn_shape)
DynamicShape = TensorShape
Rank = _class_of("Rank", rank)
Size = _class_of("Size", size)
DType = _class_of("DType", dtype)
Fill = _class_of("Fill", fill)
Fills = _class_of("Fills", fills)
TupleToArray = _class_of("TupleToArray", tuple_to_array)
ScalarToArray = _class_of("ScalarToArray", scalar_to_array)
ScalarToTensor = _class_of("ScalarToTensor", scalar_to_tensor)
ScalarCast = _class_of("ScalarCast", scalar_cast)


# -- parameters that are assigned to
# ----------------------------------------------------------------


def _place(variable, op, what="the variable"):
    if not isinstance(variable, Parameter):
        raise TypeError(f"{op}: {what} must be a Parameter, got {type(variable).__name__}")
    return variable


@entry
def assign(variable, value):
    """Sets a Parameter; gives the Parameter."""
    place = _place(variable, "assign")
    value = _tensor(value)
    if value.dtype != place.dtype:
        value = value.astype(place.dtype)
    place._assign(value)
    return place


@entry
def assign_add(variable, value):
    """Adds to a Parameter; gives the Parameter."""
    place = _place(variable, "assign_add")
    place._assign((place + value).astype(place.dtype))
    return place


@entry
def assign_sub(variable, value):
    """Subtracts from a Parameter; gives the Parameter."""
    place = _place(variable, "assign_sub")
    place._assign((place - value).astype(place.dtype))
    return place


Assign = _class_of("Assign", assign)
AssignAdd = _class_of("AssignAdd", assign_add)
AssignSub = _class_of("AssignSub", assign_sub)


def _scatter(record, by_rows):
    """A function that updates a Parameter through a tensor_scatter op. by_rows: indices name rows
    and have any shape; otherwise their last dim holds index tuples."""

    def update(input_x, indices, updates):
        place = _place(input_x, record)
        indices = _tensor(indices)
        if by_rows:
            indices = indices.reshape(indices.shape + (1,))
        updates = updates if isinstance(updates, Tensor) else Tensor(updates, place.dtype)
        place._assign(_op(record)(place._plain(), indices, updates.astype(place.dtype)))
        return place

    return update


def _scatter_class(name, record, by_rows):
    fn = entry(_scatter(record, by_rows))

    class Scatter(Primitive):
        __doc__ = (
            f"Updates a Parameter in place: {record} at {'rows' if by_rows else 'index tuples'}."
        )

        def __init__(self, use_locking=False):
            super().__init__()
            self.add_prim_attr("use_locking", use_locking)

        def __call__(self, input_x, indices, updates):
            return fn(input_x, indices, updates)

    Scatter.__name__ = Scatter.__qualname__ = name
    Scatter.__module__ = "mycel.ops"
    return Scatter, fn


for _kind in ("Update", "Add", "Sub", "Mul", "Div", "Max", "Min"):
    _record = f"tensor_scatter_{_kind.lower()}"
    for _name, _rows in ((f"Scatter{_kind}", True), (f"ScatterNd{_kind}", False)):
        _cls, _fn = _scatter_class(_name, _record, _rows)
        _lower = f"scatter_{'' if _rows else 'nd_'}{_kind.lower()}"
        globals()[_name], globals()[_lower] = _cls, _fn
del _kind, _record, _name, _rows, _cls, _fn, _lower


# -- control
# ----------------------------------------------------------------------------------------


@entry
def depend(value, expr):
    """`value`; `expr` has been computed before, since calls run in order."""
    del expr
    return value


class Depend(Primitive):
    """Primitive form of depend."""

    def __call__(self, value, expr):
        return depend(value, expr)


@entry
def print_(*input_x):
    """Prints tensors and texts to standard output, in compiled code when it runs; gives the first
    tensor."""
    from mycel.front import effects, here

    for item in input_x:
        if not isinstance(item, (Tensor, str, int, float, bool, tuple, list)):
            raise TypeError(
                f"print_: tensors, texts and numbers can be printed, got {type(item).__name__}"
            )
        shown = effects.representation(item) if isinstance(item, Tensor) else item
        if here() is None:
            print(shown, flush=True)
        else:
            effects.print_values(here(), (shown,), {"flush": True})
    return next((item for item in input_x if isinstance(item, Tensor)), None)


class Print(Primitive):
    """Primitive form of print_."""

    def __call__(self, *input_x):
        return print_(*input_x)


class Assert(Primitive):
    """Assert(summarize)(condition, data): a ValueError that shows the first `summarize` elements
    of each tensor in data unless the condition holds."""

    def __init__(self, summarize=3):
        super().__init__()
        if isinstance(summarize, bool) or not isinstance(summarize, int) or summarize < 0:
            raise TypeError(f"Assert: 'summarize' must be an int of at least 0, got {summarize!r}")
        self.summarize = summarize
        self.add_prim_attr("summarize", summarize)

    def __call__(self, condition, input_data):
        from mycel.front import effects, here

        compiling = here()
        if compiling is not None and not _mycel.known(condition):
            make = lambda *values: self._error(values)
            effects.check_later(compiling, condition, make, tuple(input_data))
        elif not bool(condition):
            raise self._error(input_data)

    def _error(self, values):
        shown = "; ".join(str(_tensor(x).reshape(-1)[: self.summarize]) for x in values)
        return ValueError(f"Assert: the condition does not hold: {shown}")


@entry
def constexpr(fn=None, get_instance=True, name=None, reuse_result=True, check=True):
    """Decorates a function of Python values that is evaluated while compiling, by Python itself:
    anything may stand in it. A tensor without a value among its arguments is an error."""
    for flag_name, flag in (
        ("get_instance", get_instance),
        ("reuse_result", reuse_result),
        ("check", check),
    ):
        if not isinstance(flag, bool):
            raise TypeError(f"constexpr: '{flag_name}' must be True or False, got {flag!r}")

    def decorate(f):
        if not get_instance:
            return type(
                name or f.__name__, (_Function,), {"_call": staticmethod(f), "__doc__": f.__doc__}
            )
        f._runs_natively = "constexpr"
        return f

    return decorate if fn is None else decorate(fn)


class InsertGradientOf(Primitive):
    """InsertGradientOf(f)(x): x, whose gradient passes through f on its way back."""

    def __init__(self, f):
        super().__init__()
        self.f = f

    def __call__(self, x):
        from mycel.ops._transforms import custom_gradient

        return custom_gradient(lambda v: v * 1, lambda v, out, dout: self.f(dout), (x,))


class HookBackward(Primitive):
    """HookBackward(fn)(x): x; when its gradient is computed fn(gradient) is called and may replace
    it."""

    def __init__(self, hook_fn, cell_id=""):
        super().__init__()
        if not callable(hook_fn):
            raise TypeError(
                f"HookBackward: 'hook_fn' must be callable, got {type(hook_fn).__name__}"
            )
        self.hook_fn, self.cell_id = hook_fn, cell_id

    def __call__(self, *inputs):
        from mycel.ops._transforms import custom_gradient

        def backward(*values):
            grads = values[-1] if len(inputs) > 1 else (values[-1],)
            replaced = self.hook_fn(self.cell_id, *grads) if self.cell_id else self.hook_fn(grads)
            return grads if replaced is None else replaced

        if len(inputs) == 1:
            return custom_gradient(lambda v: v * 1, backward, inputs)
        return custom_gradient(lambda *v: tuple(x * 1 for x in v), backward, inputs)


@entry
def cond(pred, true_fn, false_fn, *operands):
    """true_fn(*operands) if pred else false_fn(*operands); compiled functions keep both branches.
    Both must give results of the same structure, dtypes and shapes."""
    from mycel.ops._transforms import flatten, unflatten

    flat = []
    key = flatten(operands, flat)
    keys = {}

    def branch(fn):
        def run(tensors):
            out = []
            keys["result"] = flatten(fn(*unflatten(key, iter(tensors))), out)
            return out

        return run

    results = _mycel.cond(_tensor(pred), branch(true_fn), branch(false_fn), flat)
    return unflatten(keys["result"], iter(results))


@entry
def while_loop(cond_func, loop_func, init_val):
    """Repeats val = loop_func(val) while cond_func(val), from init_val on. The dtypes and shapes
    of the tensors in val stay the same."""
    from mycel.ops._transforms import flatten, unflatten

    flat = []
    key = flatten(init_val, flat)

    def body(tensors):
        out = []
        flatten(loop_func(unflatten(key, iter(tensors))), out)
        return out

    results = _mycel.while_loop(
        lambda ts: [_tensor(cond_func(unflatten(key, iter(ts))))], body, flat
    )
    return unflatten(key, iter(results))


# -- overflow --------------------------------------------------------------------------------------


class FloatStatus(Primitive):
    """[1.0] when x holds an infinity or NaN, else [0.0]."""

    def __call__(self, x):
        finite = _op("isfinite")(x).all()
        return (~finite).astype(mstype.float32).reshape(1)


class _NoStatusFlag(Primitive):
    """The overflow flag of Ascend devices, which CPUs do not have: use FloatStatus on values."""

    def __init__(self):
        raise NotImplementedError(
            f"{type(self).__name__}: CPUs have no overflow flag"
            "\n  Use ops.FloatStatus()(x), or ops.isfinite(x).all()."
        )


class NPUAllocFloatStatus(_NoStatusFlag):
    __doc__ = _NoStatusFlag.__doc__


class NPUClearFloatStatus(_NoStatusFlag):
    __doc__ = _NoStatusFlag.__doc__


class NPUGetFloatStatus(_NoStatusFlag):
    __doc__ = _NoStatusFlag.__doc__


# -- older names -----------------------------------------------------------------------------------


def _extreme(name):
    def reduce(input, axis=None, keepdims=False, *, initial=None, where=None):  # noqa: A002
        method = getattr(_tensor(input), name)
        if axis is None:
            return method(initial=initial, where=where), Tensor(0, mstype.int64)
        return method(axis, keepdims, initial=initial, where=where, return_indices=True)

    reduce.__name__ = reduce.__qualname__ = name
    reduce.__doc__ = (
        f"({name}imum over `axis`, its positions); without axis, over all and position 0."
    )
    return entry(reduce)


max, min = _extreme("max"), _extreme("min")  # noqa: A001


def _form(name, record, fixed=()):
    """A further published class of a record."""
    return make_class(name, Form(record, fixed, {}, {}))


Pack = _form("Pack", "stack", ("axis",))
Unpack = _form("Unpack", "unstack", ("axis",))
GatherV2 = _form("GatherV2", "gather")
StopGradient = _form("StopGradient", "stop_gradient")
FillV2 = _class_of("FillV2", lambda shape, value: _op("broadcast_to")(_tensor(value), shape))


_IMPORTED = ("Form", "Parameter", "Primitive", "Tensor", "entry", "make_class", "mstype")
__all__ = [name for name in globals() if not name.startswith("_") and name not in _IMPORTED]
