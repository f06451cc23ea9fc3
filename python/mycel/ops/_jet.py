"""Taylor mode: higher derivatives along a curve, all orders in one pass."""

from mycel import _mycel
from mycel._mycel import Tensor, entry
from mycel.ops._transforms import Differentiated


def _floats(op, primals):
    """The primals as a tuple of floats, and whether there was a tuple."""
    single = isinstance(primals, Tensor)
    listed = (primals,) if single else primals
    if not isinstance(listed, tuple) or not all(isinstance(p, Tensor) for p in listed):
        raise TypeError(
            f"{op}: 'primals' must be a tensor or a tuple of tensors, got {type(primals).__name__}"
        )
    if not listed:
        raise ValueError(f"{op}: 'primals' is empty")
    return tuple(p if _smooth(p) else p.astype(_mycel.float32) for p in listed)


def _smooth(t):
    return t.is_floating_point() or t.is_complex()


def _run(op, fn, primals, series):
    """(result, derivatives of it: per order one value of the result's structure)."""
    call = Differentiated(fn, primals, {}, op)
    values, curves = _mycel.jet(call.call, call.tensors, series)
    return call.result(values), [call.result(list(order)) for order in zip(*curves)]


@entry
def jet(fn, primals, series):
    """(result, its derivatives of order 1 to n) of `fn` along a curve with the value `primals` and
    the derivatives `series`.

    series: of the form of primals, each tensor with n derivatives along its first dim; ones in the
    first row and zeros in the others give the derivatives of fn itself. The derivatives of the
    result lie along the first dim too. Integers count as float32.
    """
    single = isinstance(primals, Tensor)
    if single != isinstance(series, Tensor) or not (single or isinstance(series, tuple)):
        raise TypeError(
            "jet: 'primals' and 'series' must be both a tensor or both a tuple of tensors, got "
            f"{type(primals).__name__} and {type(series).__name__}"
        )
    listed = _floats("jet", primals)
    rows = (series,) if single else series
    if len(rows) != len(listed):
        raise ValueError(f"jet: {len(rows)} series given for {len(listed)} primals")
    unstack = _mycel.op("unstack")
    for i, (p, s) in enumerate(zip(listed, rows)):
        if not isinstance(s, Tensor) or s.ndim != p.ndim + 1 or s.shape[1:] != p.shape:
            what = f"a tensor of shape {s.shape}" if isinstance(s, Tensor) else type(s).__name__
            raise ValueError(f"jet: series {i} must have the shape (n, *{p.shape}), got {what}")
        if s.shape[0] != rows[0].shape[0] or not s.shape[0]:
            raise ValueError(
                f"jet: series {i} has {s.shape[0]} derivatives, series 0 {rows[0].shape[0]}; all "
                "need the same number, at least 1"
            )
    result, orders = _run("jet", fn, listed, [list(unstack(s, 0)) for s in rows])
    return result, _stacked(orders)


def _stacked(orders):
    if isinstance(orders[0], Tensor):
        return _mycel.op("stack")(*orders, axis=0)
    if isinstance(orders[0], dict):
        return {k: _stacked([o[k] for o in orders]) for k in orders[0]}
    return type(orders[0])(_stacked(list(items)) for items in zip(*orders))


@entry
def derivative(fn, primals, order):
    """(result, its derivative of the given order) of `fn` along the direction of ones in every
    element of `primals`: for an elementwise function its derivative of that order."""
    if isinstance(order, bool) or not isinstance(order, int):
        raise TypeError(f"derivative: 'order' must be an int, got {type(order).__name__}")
    if order < 1:
        raise ValueError(f"derivative: 'order' must be at least 1, got {order}")
    listed = _floats("derivative", primals)
    ones, zeros = _mycel.op("ones_like"), _mycel.op("zeros_like")
    series = [[ones(p), *[zeros(p)] * (order - 1)] for p in listed]
    result, orders = _run("derivative", fn, listed, series)
    return result, orders[-1]


__all__ = ["derivative", "jet"]
