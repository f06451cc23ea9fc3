"""Jacobians, Hessians and linear approximations of functions and networks."""

from mycel import _mycel
from mycel._mycel import Tensor, entry
from mycel.ops._transforms import (
    Differentiated,
    _as_positions,
    _checked,
    flatten,
    unflatten,
)


def _nested(call, blocks, positions):
    """Blocks per result in its structure, each with one per argument."""
    rows = []
    for row in blocks:
        source = iter(row)
        rows.append(tuple(unflatten(call.arg_keys[p], source) for p in positions))
    return [row[0] if len(positions) == 1 else row for row in rows]


def _in_structure(key, items):
    """`items` in the place of the tensors of `key`."""
    if key is Tensor:
        return next(items)
    kind, content = key
    if kind is None:
        return content
    if kind is dict:
        return {name: _in_structure(item, items) for name, item in content}
    return tuple(_in_structure(item, items) for item in content)


def _jacobian(op, way, fn, grad_position, has_aux):
    _checked(op, fn, grad_position, None)
    if not isinstance(has_aux, bool):
        raise TypeError(f"{op}: 'has_aux' must be True or False, got {has_aux!r}")
    positions = _as_positions(grad_position)

    @entry
    def jacobian(*args, **kwargs):
        call = Differentiated(fn, args, kwargs, op)
        wrt = call.positions(positions)
        values, blocks = way(call.call, call.tensors, wrt, has_aux)
        result, rows = call.result(values), _nested(call, blocks, positions)
        if not has_aux:
            return _in_structure(call.result_key, iter(rows))
        if not isinstance(result, (tuple, list)) or len(result) < 2:
            raise TypeError(f"{op}: with has_aux the function must return at least two results")
        aux = tuple(result[1:])
        return rows[0], aux[0] if len(aux) == 1 else aux

    return jacobian


@entry
def jacfwd(fn, grad_position=0, has_aux=False):
    """A function that gives the Jacobian of `fn`, of shape [result dims…, argument dims…], by
    forward mode: for functions with fewer inputs than results.

    grad_position: index of the argument, or a tuple of them (a tuple of Jacobians). Several results
    give a tuple with one entry per result. has_aux: only the first result is differentiated; gives
    (Jacobian, the other results).
    """
    return _jacobian("jacfwd", _mycel.jacfwd, fn, grad_position, has_aux)


@entry
def jacrev(fn, grad_position=0, has_aux=False):
    """As jacfwd by reverse mode: for functions with fewer results than inputs."""
    return _jacobian("jacrev", _mycel.jacrev, fn, grad_position, has_aux)


@entry
def hessian(fn, grad_position=0):
    """A function that gives the second derivatives of `fn`'s first result, of shape [result dims…,
    argument dims…, argument dims…], forward over reverse. Of several arguments a tuple of tuples:
    entry [i][k] is for the arguments i and k."""
    _checked("hessian", fn, grad_position, None)
    positions = _as_positions(grad_position)

    @entry
    def second(*args, **kwargs):
        call = Differentiated(fn, args, kwargs, "hessian")
        wrt = call.positions(positions)
        if len(wrt) != len(positions):
            raise TypeError("hessian: the arguments to differentiate must be single tensors")
        _, blocks = _mycel.hessian(call.call, call.tensors, wrt, False)
        if len(positions) == 1:
            return blocks[0][0]
        return tuple(map(tuple, blocks))

    return second


@entry
def linearize(fn, inputs):
    """(result, function of directions): the function gives the derivative of `fn` at `inputs` in a
    direction, one tensor per input; `fn` itself runs once."""
    args = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    call = Differentiated(fn, args, {}, "linearize")
    values, push = _mycel.linearize(call.call, call.tensors)
    result = call.result(values)

    @entry
    def jvp_fn(*directions):
        if len(directions) == 1 and isinstance(directions[0], (tuple, list)):
            directions = tuple(directions[0])
        if len(directions) != len(args):
            raise ValueError(
                f"linearize: {len(directions)} directions given for {len(args)} inputs"
            )
        flat = []
        flatten(directions, flat)
        return call.result(push(flat))

    return result, jvp_fn


__all__ = ["hessian", "jacfwd", "jacrev", "linearize"]
