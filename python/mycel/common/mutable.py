"""Values that compiled functions take as inputs though they are Python's: numbers marked by
`mutable` become tensors in there, so that another value needs no other program."""

from mycel._mycel import Tensor, entry


class MutableInt(int):
    """An int that a compiled function takes as an int64 tensor."""


class MutableFloat(float):
    """A float that a compiled function takes as a float32 tensor."""


class MutableTuple(tuple):
    """A tuple of mutable values."""

    dynamic = False


class MutableList(list):
    """A list of mutable values."""

    dynamic = False


class MutableDict(dict):
    """A dict of mutable values."""


@entry
def mutable(input_data, dynamic_len=False):
    """Marks a number, or those inside a tuple, list or dict, as a variable of compiled functions:
    an int64 or float32 tensor there, whose value may differ in every call. Tensors are variables
    anyway, unless they were made with const_arg=True.

    dynamic_len: the length of the tuple or list may differ too; its items must be tensors or
    numbers of one dtype and shape. Compiled code may take its length, index it and loop over it.
    """
    if not isinstance(dynamic_len, bool):
        raise TypeError(f"mutable: 'dynamic_len' must be True or False, got {dynamic_len!r}")
    made = _marked(input_data)
    if dynamic_len:
        if not isinstance(made, (MutableTuple, MutableList)):
            raise TypeError(
                "mutable: with dynamic_len, 'input_data' must be a tuple or a list, got "
                f"{type(input_data).__name__}"
            )
        _check_equal(made)
        made.dynamic = True
    return made


def _marked(value):
    kind = type(value)
    if isinstance(value, Tensor):
        if value.const_arg:
            value = Tensor(value)
        return value
    if kind in (int, MutableInt):
        return MutableInt(value)
    if kind in (float, MutableFloat):
        return MutableFloat(value)
    if isinstance(value, tuple):
        return MutableTuple(map(_marked, value))
    if isinstance(value, list):
        return MutableList(map(_marked, value))
    if isinstance(value, dict):
        return MutableDict((k, _marked(v)) for k, v in value.items())
    raise TypeError(
        "mutable: 'input_data' must be an int, a float, a Tensor, or a tuple, list or dict of "
        f"these, got {kind.__name__}"
    )


def _check_equal(items):
    types = [
        (str(v.dtype), v.shape) if isinstance(v, Tensor) else (type(v).__name__, ()) for v in items
    ]
    if any(t != types[0] for t in types) or not types:
        raise ValueError(
            "mutable: with dynamic_len, all items must have one dtype and shape, and there must "
            f"be one at least; got {', '.join(f'{d}{list(s)}' for d, s in types) or 'none'}"
        )


__all__ = ["mutable"]
