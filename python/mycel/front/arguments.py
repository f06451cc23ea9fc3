"""What a compiled function is called with: its tensors, the lists and dicts around them, and which
of these its program changes, so that the caller sees the same changes as in eager mode."""

from mycel._mycel import Tensor
from mycel.common.parameter import Parameter
from mycel.ops._transforms import unflatten


def flatten_arguments(value, out):
    """As `flatten`, but a Parameter is itself: the program reads and assigns it."""
    kind = type(value)
    if isinstance(value, Tensor):
        if isinstance(value, Parameter):
            return None, value
        out.append(value)
        return Tensor
    if isinstance(value, (tuple, list)):
        return kind, [flatten_arguments(item, out) for item in value]
    if isinstance(value, dict):
        return dict, [(key, flatten_arguments(item, out)) for key, item in value.items()]
    return None, value


def containers(value, out):
    """Appends the lists and dicts inside an argument to `out`, outer ones first."""
    if isinstance(value, dict):
        out.append(value)
        for item in value.values():
            containers(item, out)
    elif isinstance(value, (tuple, list)):
        if isinstance(value, list):
            out.append(value)
        for item in value:
            containers(item, out)
    return out


def replace_content(container, value):
    """Gives a list or dict another one's items."""
    if isinstance(container, list):
        container[:] = value
    else:
        container.clear()
        container.update(value)


__all__ = ["containers", "flatten_arguments", "replace_content", "unflatten"]
