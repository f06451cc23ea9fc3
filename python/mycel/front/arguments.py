"""What a compiled function is called with: its tensors, the lists and dicts around them, and which
of these its program changes, so that the caller sees the same changes as in eager mode."""

from mycel import _mycel
from mycel._mycel import Tensor
from mycel.common import dtype as mstype
from mycel.common.mutable import MutableFloat, MutableInt, MutableList, MutableTuple
from mycel.common.parameter import Parameter
from mycel.ops._transforms import unflatten


class Rows:
    """A sequence of unknown length: its items as rows of one tensor."""

    def __init__(self, items):
        (self.stacked,) = items


def flatten_arguments(value, out):
    """As `flatten`, but a Parameter is itself: the program reads and assigns it; what `mutable` has
    marked becomes tensors."""
    kind = type(value)
    if isinstance(value, Tensor):
        if isinstance(value, Parameter):
            return None, value
        out.append(value)
        return Tensor
    if kind is MutableInt or kind is MutableFloat:
        out.append(as_tensor(value))
        return Tensor
    if kind is MutableTuple or kind is MutableList:
        if value.dynamic:
            out.append(_mycel.op("stack")([as_tensor(v) for v in value], 0))
            return Rows, [Tensor]
        kind = kind.__base__
    if isinstance(value, (tuple, list)):
        return kind, [flatten_arguments(item, out) for item in value]
    if isinstance(value, dict):
        return dict, [(key, flatten_arguments(item, out)) for key, item in value.items()]
    return None, value


def as_tensor(value):
    """A tensor, or a number as compiled functions take it."""
    if isinstance(value, Tensor):
        return value
    return Tensor(value, mstype.float32 if isinstance(value, float) else mstype.int64)


def unknown_lengths(key, tensors):
    """The tensors; those of sequences of unknown length as types with an unknown first dim."""
    if not _any_rows(key):
        return tensors
    source, out = iter(tensors), []

    def visit(key):
        if key is Tensor:
            out.append(next(source))
        elif key[0] is Rows:
            t = next(source)
            out.append(Tensor(shape=(None, *t.shape[1:]), dtype=t.dtype))
        elif key[0] is not None:
            for item in key[1]:
                visit(item[1] if key[0] is dict else item)

    visit(key)
    return out


def _any_rows(key):
    if key is Tensor or key[0] is None:
        return False
    if key[0] is Rows:
        return True
    return any(_any_rows(k[1] if key[0] is dict else k) for k in key[1])


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


__all__ = ["as_tensor", "containers", "flatten_arguments", "replace_content", "unflatten"]
