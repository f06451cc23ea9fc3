"""What a compiled function holds for, in words, for the log of compilations (MYCEL_LOG=compile)."""

import inspect

from mycel._mycel import Tensor
from mycel.common.parameter import Parameter

_LONGEST = 60


def _short(text):
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _text(value):
    if isinstance(value, (bool, int, float, complex, str, bytes, type(None))):
        return _short(repr(value))
    if isinstance(value, Parameter):
        return f"Parameter '{value.name}'"
    name = getattr(value, "__qualname__", None) or type(value).__qualname__
    return f"{name} at {id(value):#x}"


def _structure(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k!r}: {_structure(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        inside = ", ".join(map(_structure, value))
        inside += "," if isinstance(value, tuple) and len(value) == 1 else ""
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    return "tensor" if isinstance(value, Tensor) else "value"


def _parts(name, value, out):
    if isinstance(value, (list, tuple, dict)):
        out.append((name, "structure", _short(_structure(value))))
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in pairs:
            _parts(f"{name}[{key!r}]", item, out)
    elif isinstance(value, Tensor) and not isinstance(value, Parameter):
        if value.const_arg:
            out.append((name, "value", f"a constant tensor at {id(value):#x}"))
        else:
            out.append((name, "tensor", value))
    else:
        out.append((name, "value", _text(value)))


def _named(fn, args, kwargs):
    """The arguments with their names, as the function has them."""
    try:
        bound = inspect.signature(fn).bind(*args, **kwargs)
    except (TypeError, ValueError):
        return [*((str(i), a) for i, a in enumerate(args)), *kwargs.items()]
    out = []
    for name, value in bound.arguments.items():
        kind = bound.signature.parameters[name].kind
        if kind is inspect.Parameter.VAR_POSITIONAL:
            out += [(f"{name}[{i}]", v) for i, v in enumerate(value)]
        elif kind is inspect.Parameter.VAR_KEYWORD:
            out += list(value.items())
        else:
            out.append((name, value))
    return out


def _cell_parts(cell, out):
    cells = [c for _, c in cell.cells_and_names()]
    training = sum(c.training for c in cells)
    mode = "training" if training == len(cells) else "evaluation" if training == 0 else "mixed"
    if mode == "mixed":
        mode = f"training of {training} of {len(cells)} cells"
    out.append((cell.cls_name, "mode", mode))
    frozen = sorted(p.name for p in cell.get_parameters() if not p.requires_grad)
    out.append(("the list of frozen parameters", "value", _short(str(frozen))))
    types = sorted({str(c._float_type) for c in cells})
    out.append(("the precision of the cells", "value", ", ".join(types)))


def parts_of(fn, args, kwargs, hash_args):
    """[(name, kind, tensor or text)], as _mycel.Programs.add takes them."""
    out = []
    cell = getattr(fn, "cell", None)
    named = _named(fn if cell is None else cell.construct, args, kwargs)
    for name, value in named:
        _parts(f"argument '{name}'", value, out)
    if hash_args is not None:
        _parts("hash_args", hash_args, out)
    if cell is not None:
        _cell_parts(cell, out)
    return out


def reason_outside(forms):
    """What the last of the programs for the same arguments read from outside and finds changed."""
    if not forms:
        return ""
    last = forms[-1]
    if not last["compiled"].fits:
        return last["compiled"].misfit
    guards, out = last["guards"], []
    for place in guards.changed():
        seen = guards.always.get(place.key(), (None, ("",)))[1]
        now = place.get()
        if seen[0] == "plain":
            old = float.fromhex(seen[2]) if seen[1] is float else seen[2]
            out.append(f"{place.text()} has another value: {_text(now)} instead of {_text(old)}")
        else:
            out.append(f"{place.text()} has changed")
    return ", ".join(out)
