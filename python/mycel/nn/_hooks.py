"""The long way of a call: casts, hooks, custom gradients, recomputation, paths in messages."""

import itertools

from mycel import _mycel
from mycel._mycel import Tensor
from mycel.front import construct_of, wrap
from mycel.ops._transforms import flatten, unflatten

_numbers = itertools.count()


class Handle:
    """Removes a hook again."""

    def __init__(self, hooks, key):
        self._hooks, self._key = hooks, key

    def remove(self):
        """Takes the hook away; a second call does nothing."""
        if self._hooks.pop(self._key, None) is not None:
            from mycel.nn import _compile

            _compile.changed()


def register(cell, kind, hook_fn):
    """Adds a hook to one of the cell's tables."""
    if not callable(hook_fn):
        raise TypeError(
            f"{type(cell).__name__}: a hook must be a function, got {type(hook_fn).__name__}"
        )
    hooks = cell.__dict__[kind]
    key = next(_numbers)
    hooks[key] = hook_fn
    cell.__dict__["_special"] = True
    from mycel.nn import _compile

    _compile.changed()
    return Handle(hooks, key)


def cast_floats(value, dtype):
    """The value with the floating-point tensors inside cast to dtype."""
    tensors = []
    key = flatten(value, tensors)
    cast = [t.astype(dtype) if t.is_floating_point() and t.dtype != dtype else t for t in tensors]
    return unflatten(key, iter(cast))


def _check_inputs(cell, args):
    declared = cell.__dict__.get("_declared_inputs")
    if declared is None:
        return
    if len(declared) != len(args):
        raise ValueError(
            f"{cell.cls_name}: set_inputs declared {len(declared)} inputs, {len(args)} given"
        )
    for i, (want, got) in enumerate(zip(declared, args)):
        if not isinstance(want, Tensor):
            continue
        same = isinstance(got, Tensor) and want.dtype == got.dtype and want.ndim == got.ndim
        if not same or any(-1 not in (w, g) and w != g for w, g in zip(want.shape, got.shape)):
            raise ValueError(
                f"{cell.cls_name}: set_inputs declared input {i} as {want.dtype}{want.shape}, "
                f"got {got!r}"
            )


def run(cell, args, kwargs):
    """construct with everything around it; inside the cell's scope where somebody debugs."""
    scope = cell.__dict__.get("_scope")
    if scope is None:
        return _run(cell, args, kwargs)
    before = _mycel.debug.set_scope(scope)
    try:
        return _run(cell, args, kwargs)
    finally:
        _mycel.debug.set_scope(before)


def _run(cell, args, kwargs):
    _check_inputs(cell, args)
    if cell._float_type is not None:
        args = cast_floats(args, cell._float_type)
    identity = f"{cell.cls_name}({id(cell)})"
    for hook in list(cell._forward_pre_hooks.values()):
        changed = wrap(hook)(identity, args)
        if changed is not None:
            args = changed if isinstance(changed, tuple) else (changed,)
    if cell._float_type is None:
        output = _with_gradient(cell, identity, args, kwargs)
    else:
        with _mycel.Computing(cell._float_type):
            output = _with_gradient(cell, identity, args, kwargs)
    for hook in list(cell._forward_hooks.values()):
        changed = wrap(hook)(identity, args, output)
        if changed is not None:
            output = changed
    return output if cell._result_type is None else cast_floats(output, cell._result_type)


def _with_gradient(cell, identity, args, kwargs):
    construct = construct_of(cell)
    body = lambda *inputs: construct(*inputs, **kwargs)
    bprop = getattr(cell, "bprop", None)
    if bprop is not None:
        body = _custom(body, wrap(bprop))
    elif cell._recomputes:
        body = _recomputed(cell, body)
    if cell._backward_hooks:
        body = _hooked(cell, identity, body)
    return body(*args)


def _flat_function(body, key):
    """body on a flat list of tensors; `structure[0]` is its result's afterwards."""
    structure = []

    def flat(tensors):
        out = []
        structure[:] = [flatten(body(*unflatten(key, iter(tensors))), out)]
        return out

    return flat, structure


def _custom(body, bprop):
    """body with the gradient bprop(*inputs, out, dout)."""

    def call(*args):
        tensors = []
        key = flatten(args, tensors)
        forward, structure = _flat_function(body, key)

        def backward(flat):
            source = iter(flat)
            inputs = unflatten(key, source)
            out = unflatten(structure[0], source)
            dout = unflatten(structure[0], source)
            grads = bprop(*inputs, out, dout)
            if not isinstance(grads, (tuple, list)):
                grads = (grads,)
            return _gradients_of(args, grads)

        return unflatten_result(_mycel.custom_gradient(forward, backward, tensors), structure)

    return call


def unflatten_result(tensors, structure):
    """The result of a flat function in the form that its body gave."""
    return unflatten(structure[0], iter(tensors))


def _gradients_of(args, grads):
    """One gradient per tensor in args, in order; zeros where bprop gave none."""
    if len(grads) != len(args):
        raise ValueError(f"bprop: {len(grads)} gradients given for {len(args)} inputs")
    flat = []
    for arg, grad in zip(args, grads):
        tensors, given = [], []
        flatten(arg, tensors)
        flatten(grad, given)
        if not given:
            given = [_mycel.op("zeros_like")(t) for t in tensors]
        if len(given) != len(tensors):
            raise ValueError(
                f"bprop: {len(given)} gradients given for an input of {len(tensors)} tensors"
            )
        flat += given
    return flat


def _recomputed(cell, body):
    """body whose inner results are computed again in the backward pass."""
    parameters = [p for p in cell.get_parameters() if p.requires_grad]

    def call(*args):
        tensors = []
        key = flatten(args, tensors)
        forward, structure = _flat_function(body, key)
        count = len(tensors)
        state = _mycel.random_state()

        def with_parameters(flat):
            before = [p.value() for p in parameters]
            for p, value in zip(parameters, flat[count:]):
                p._assign(value, False)
            now = _mycel.random_state()
            _mycel.set_random_state(*state)  # the same draws again
            try:
                return forward(flat[:count])
            finally:
                if now != state:
                    _mycel.set_random_state(*now)
                for p, value in zip(parameters, before):
                    p._assign(value, False)

        def backward(flat):
            inputs = list(flat[: count + len(parameters)])
            seeds = list(flat[len(inputs) + (len(flat) - len(inputs)) // 2 :])
            _, grads, _ = _mycel.value_and_grad(
                with_parameters, inputs, list(range(len(inputs))), [], seeds, False
            )
            return grads

        values = [p.value() for p in parameters]
        out = _mycel.custom_gradient(with_parameters, backward, tensors + values)
        return unflatten_result(out, structure)

    return call


def _hooked(cell, identity, body):
    """body whose gradients pass through the cell's backward hooks."""

    def call(*args):
        arriving = {}
        tensors = []
        key = flatten(args, tensors)

        def leave(flat):
            grads = flat[2 * len(tensors) :]
            seen = tuple(arriving.get("grads", ()))
            for hook in list(cell._backward_hooks.values()):
                changed = wrap(hook)(identity, seen, tuple(grads))
                if changed is not None:
                    grads = list(changed) if isinstance(changed, (tuple, list)) else [changed]
            return list(grads)

        inner = unflatten(key, iter(_mycel.custom_gradient(list, leave, tensors)))
        results = []
        out_key = flatten(body(*inner), results)

        def arrive(flat):
            arriving["grads"] = flat[2 * len(results) :]
            return list(arriving["grads"])

        return unflatten(out_key, iter(_mycel.custom_gradient(list, arrive, results)))

    return call


def note_path(error, cell):
    """Puts the path of the layer that failed in front of the message of an error raised in C++."""
    path = getattr(error, "_layer_path", None)
    if path is None or not error.args or not isinstance(error.args[0], str):
        return
    if not path:
        error._layer_class = cell.cls_name
        error._plain_message = error.args[0]
    path.insert(0, cell)
    if len(path) > 1:
        names = [path[0].cls_name] + [c._name_in_parent or c.cls_name for c in path[1:]]
        where = f"In {'.'.join(names)} ({error._layer_class}): "
        error.args = (where + error._plain_message, *error.args[1:])
