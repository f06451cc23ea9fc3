"""Loops over functions, for those who prefer them to `for`: fori_loop and scan."""

from mycel import _mycel
from mycel._mycel import Tensor, entry
from mycel.common import dtype as mstype


def _tensors(value, out):
    """As `flatten`, with numbers as tensors; gives a key for `unflatten`."""
    if isinstance(value, (tuple, list)):
        return type(value), [_tensors(item, out) for item in value]
    if isinstance(value, dict):
        return dict, [(key, _tensors(item, out)) for key, item in value.items()]
    if isinstance(value, (bool, int, float)):
        value = Tensor(value)
    if not isinstance(value, Tensor):
        return None, value
    out.append(value)
    return Tensor


def _function(op, name, fn):
    if not callable(fn):
        raise TypeError(f"{op}: '{name}' must be a function, got {type(fn).__name__}")


@entry
def fori_loop(lower, upper, loop_func, init_val):
    """val = loop_func(i, val) for each i from lower to upper - 1, from init_val on. The bounds may
    be tensors; i is an int64 tensor. The dtypes and shapes of the tensors in val stay the same."""
    from mycel.ops._transforms import unflatten

    _function("fori_loop", "loop_func", loop_func)
    as_index = lambda v: (v if isinstance(v, Tensor) else Tensor(v)).astype(mstype.int64)
    first, last = as_index(lower), as_index(upper)
    flat = []
    key = _tensors(init_val, flat)

    def body(tensors):
        out = [tensors[0] + 1]
        _tensors(loop_func(tensors[0], unflatten(key, iter(tensors[1:]))), out)
        return out

    results = _mycel.while_loop(lambda ts: [ts[0] < last], body, [first, *flat])
    return unflatten(key, iter(results[1:]))


@entry
def scan(loop_func, init, xs, length=None):
    """(carry, ys): carry, y = loop_func(carry, x) for each row x of the tensors in xs, from init
    on; ys holds what the steps gave, stacked along a new first dim. xs may be None: then `length`
    steps are made with x None. The dtypes and shapes of the tensors in carry stay the same."""
    from mycel.ops._transforms import unflatten

    _function("scan", "loop_func", loop_func)
    if length is not None and (isinstance(length, bool) or not isinstance(length, int)):
        raise TypeError(f"scan: 'length' must be an int or None, got {type(length).__name__}")
    carried, rows = [], []
    carried_key, rows_key = _tensors(init, carried), _tensors(xs, rows)
    result_key = None

    def body(state, row):
        nonlocal result_key
        step = loop_func(unflatten(carried_key, iter(state)), unflatten(rows_key, iter(row)))
        if not isinstance(step, tuple) or len(step) != 2:
            raise TypeError(f"scan: 'loop_func' must return (carry, y), got {step!r}")
        on, out = [], []
        _tensors(step[0], on)
        result_key = _tensors(step[1], out)
        return on, out

    on, out = _mycel.scan(body, carried, rows, -1 if length is None else length)
    return unflatten(carried_key, iter(on)), unflatten(result_key, iter(out))


__all__ = ["fori_loop", "scan"]
