"""Published calls whose arguments come in another order, or under other names, than in the record.

Records list operands before attributes; a few published functions mix them. The table says, for
each public function, the record and the published parameters in order, "published=own" where a name
differs as well. Attributes of the record that the table leaves out can be given by name."""

import inspect

from mycel import _mycel
from mycel._mycel import entry
from mycel.ops.primitive import Primitive

_FUNCTIONS = {
    "amax": "amax: input, axis, keepdims, initial, where",
    "amin": "amin: input, axis, keepdims, initial, where",
    "clamp": "clip_by_value: input=x, min=clip_value_min, max=clip_value_max",
    "clip": "clip_by_value: x, min=clip_value_min, max=clip_value_max",
    "diff": "diff: x, n, axis, prepend, append",
    "eig": "eig: A=a",
    "gather_d": "gather_d: x, dim, index",
    "gather_elements": "gather_d: input=x, dim, index",
    "index_fill": "index_fill: x, axis, index, value",
    "index_select": "index_select: input, axis, index",
    "lstsq": "lstsq: input, A=a",
    "lu_solve": "lu_solve: b, LU_data=lu_data, LU_pivots=lu_pivots",
    "multi_margin_loss": "multi_margin_loss: input, target, p, margin, weight, reduction",
    "one_hot": "one_hot: indices, depth, on_value, off_value, axis",
    "permute": "transpose: input, axis=input_perm",
    "reverse": "flip: x=input, axis=dims",
    "swapdims": "swapaxes: input, dim0=axis0, dim1=axis1",
    "stft": "stft: x, n_fft, hop_length, win_length, window, center, pad_mode, normalized, "
    "onesided, return_complex",
    "unbind": "unstack: input=x, dim=axis",
    "unsqueeze": "expand_dims: input=input_x, dim=axis",
    "where": "select: condition=cond, x, y",
    "zeros": "zeros: size=shape, dtype",
}

_CLASSES = {  # name: (record, constructor arguments, arguments of the call)
    "GatherD": ("gather_d", (), ("x", "dim", "index")),
    "IndexFill": ("index_fill", (), ("x", "dim=axis", "index", "value")),
    "InplaceUpdateV2": ("inplace_update", (), ("x", "indices", "v")),
    "OneHot": ("one_hot", ("axis",), ("indices", "depth", "on_value", "off_value")),
}

_EMPTY = inspect.Parameter.empty


def _pairs(names):
    """(published name, own name) of each parameter."""
    split = [n.strip().split("=") for n in names]
    return [(n[0], n[-1]) for n in split]


def _function(name, record, pairs):
    op = _mycel.op(record)
    own = {published: mine for published, mine in pairs}
    order = [published for published, _ in pairs]

    def call(*args, **kwargs):
        if len(args) > len(order):
            raise TypeError(f"{name}: {len(args)} arguments given, at most {len(order)} allowed")
        given = dict(zip(order, args))
        for key, value in kwargs.items():
            if key in given:
                raise TypeError(f"{name}: argument '{key}' is given twice")
            given[key] = value
        return op(**{own.get(key, key): value for key, value in given.items()})

    call.__name__ = call.__qualname__ = name
    call.__doc__ = op.__doc__
    defaults = {n: d if has else _EMPTY for n, _, has, d in op.parameters}
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    optional, parameters = False, []
    for published, mine in pairs:
        optional = optional or defaults[mine] is not _EMPTY
        default = None if optional and defaults[mine] is _EMPTY else defaults[mine]
        parameters.append(inspect.Parameter(published, kind, default=default))
    call.__signature__ = inspect.Signature(parameters)
    return entry(call)


def _class(name, record, fixed, pairs):
    call = _function(name, record, pairs)
    op = _mycel.op(record)
    defaults = {n: d for n, _, _, d in op.parameters}

    class Ordered(Primitive):
        __doc__ = op.__doc__

        def __init__(self, *args, **kwargs):
            super().__init__()
            if len(args) > len(fixed) or set(kwargs) - set(fixed):
                raise TypeError(
                    f"{name}: the constructor takes {', '.join(fixed) or 'no arguments'}"
                )
            values = {**{n: defaults[n] for n in fixed}, **dict(zip(fixed, args)), **kwargs}
            for key, value in values.items():
                self.add_prim_attr(key, value)

        def __call__(self, *args, **kwargs):
            return call(*args, **kwargs, **{n: self.attrs[n] for n in fixed})

    Ordered.__name__ = Ordered.__qualname__ = name
    Ordered.__module__ = "mycel.ops"
    return Ordered


def made():
    """Every function and class of the tables whose record is in this build, by name."""
    out = {}
    for name, line in _FUNCTIONS.items():
        record, _, names = line.partition(":")
        if _mycel.is_op(record):
            out[name] = _function(name, record, _pairs(names.split(",")))
    for name, (record, fixed, names) in _CLASSES.items():
        if _mycel.is_op(record):
            out[name] = _class(name, record, fixed, _pairs(names))
    return out
