"""Derivatives of functions and networks. The C++ transforms work on flat lists of tensors; this
module flattens arguments and results, and keeps what is no tensor out of their sight."""

from mycel import _mycel
from mycel._mycel import Tensor, entry
from mycel.common.parameter import Parameter, ParameterTuple


def flatten(value, out):
    """Appends the tensors inside nested tuples, lists and dicts to `out`; gives a key for
    `unflatten`."""
    if isinstance(value, Tensor):
        out.append(value)
        return Tensor
    if isinstance(value, (tuple, list)):
        return type(value), [flatten(item, out) for item in value]
    if isinstance(value, dict):
        return dict, [(key, flatten(item, out)) for key, item in value.items()]
    return None, value


def unflatten(key, tensors):
    """The value that `flatten` took apart, with tensors from the iterator `tensors` in place of
    its own."""
    if key is Tensor:
        return next(tensors)
    kind, content = key
    if kind is None:
        return content
    if kind is dict:
        return {name: unflatten(item, tensors) for name, item in content}
    items = [unflatten(item, tensors) for item in content]
    if kind is list or kind is tuple:
        return kind(items)
    return kind(*items) if hasattr(kind, "_fields") else kind(items)


def interpreted(fn):
    """A user's function as it must run now: interpreted while a function is being compiled."""
    from mycel import front

    return front.wrap(fn) if front.here() is not None else fn


def _name_of(fn):
    return getattr(fn, "__qualname__", None) or type(fn).__name__


class Differentiated:
    """One call of `fn` prepared for a transform: its arguments as a flat list, its results as
    another.

    Constants (numbers, strings, None) in the arguments pass through; a number that is
    differentiated with respect to becomes a tensor.
    """

    def __init__(self, fn, args, kwargs, op):
        if not callable(fn):
            raise TypeError(f"{op}: 'fn' must be a function or Cell, got {type(fn).__name__}")
        self.fn, self.op = fn, op
        self.tensors = []
        self.spans = []  # first and last flat index of each positional argument
        keys = []
        for arg in args:
            start = len(self.tensors)
            keys.append(flatten(arg, self.tensors))
            self.spans.append((start, len(self.tensors)))
        self.arg_keys = keys
        self.kwargs_key = flatten(kwargs, self.tensors)
        self.result_key = None

    def call(self, tensors):
        """The function on flat lists; remembers the structure of its result."""
        source = iter(tensors)
        args = [unflatten(key, source) for key in self.arg_keys]
        kwargs = unflatten(self.kwargs_key, source)
        result = interpreted(self.fn)(*args, **kwargs)
        out = []
        self.result_key = flatten(result, out)
        if not out:
            raise TypeError(
                f"{self.op}: {_name_of(self.fn)} must return a tensor, got {type(result).__name__}"
            )
        return out

    def result(self, tensors):
        """The function's result rebuilt from a flat list."""
        return unflatten(self.result_key, iter(tensors))

    def positions(self, grad_position):
        """Flat indices of the tensors in the arguments at these positions."""
        wrt = []
        for p in grad_position:
            if isinstance(p, bool) or not isinstance(p, int):
                raise TypeError(f"{self.op}: grad_position must be an int, got {p!r}")
            if not 0 <= p < len(self.spans):
                raise ValueError(
                    f"{self.op}: grad_position {p} is out of range; "
                    f"{_name_of(self.fn)} was given {len(self.spans)} arguments"
                )
            start, end = self.spans[p]
            if start == end:
                raise TypeError(
                    f"{self.op}: argument {p} of {_name_of(self.fn)} is no tensor; "
                    "only tensors can be differentiated\n  Wrap the number: Tensor(value)."
                )
            wrt.extend(range(start, end))
        return wrt

    def regroup(self, grad_position, flat):
        """Gradients per argument, in the argument's structure."""
        from mycel.common.sparse_tensor import gradient_of

        source, found = iter(flat), []
        for p in grad_position:
            key, (start, end) = self.arg_keys[p], self.spans[p]
            gradient = unflatten(key, source)
            if key is not Tensor:
                gradient = gradient_of(unflatten(key, iter(self.tensors[start:end])), gradient)
            found.append(gradient)
        return tuple(found)


def check_weights(weights, op):
    """The parameters as a list; accepts one Parameter or a sequence of them."""
    if weights is None:
        return []
    if isinstance(weights, Parameter):
        return [weights]
    weights = list(weights)
    for w in weights:
        if not isinstance(w, Parameter):
            raise TypeError(f"{op}: weights must be Parameters, got {type(w).__name__}")
    return weights


def run_gradient(call, wrt, weights, seeds=(), has_aux=False):
    """(result, gradients of inputs, gradients of weights) of a prepared call."""
    values, inputs, variables = _mycel.value_and_grad(
        call.call, call.tensors, wrt, weights, list(seeds), has_aux
    )
    return call.result(values), inputs, variables


def _as_positions(grad_position):
    if grad_position is None:
        return ()
    return (
        (grad_position,) if not isinstance(grad_position, (tuple, list)) else tuple(grad_position)
    )


def _checked(op, fn, grad_position, weights):
    if not callable(fn):
        raise TypeError(f"{op}: 'fn' must be a function or Cell, got {type(fn).__name__}")
    if grad_position is None and weights is None:
        raise ValueError(f"{op}: grad_position and weights are both None: nothing to differentiate")


def _shape_result(call, positions, single, inputs, variables, weights, one_weight):
    """Gradients as published: of one input alone, of several a tuple; with weights, a pair of
    both."""
    grads = call.regroup(positions, inputs)
    if single:
        grads = grads[0]
    if weights is None:
        return grads
    by_weight = variables[0] if one_weight else tuple(variables)
    return by_weight if not positions else (grads, by_weight)


@entry
def value_and_grad(fn, grad_position=0, weights=None, has_aux=False):
    """A function that gives (result, gradients) of `fn`.

    grad_position: index of the argument to differentiate, a tuple of them, or None for none.
    weights: a Parameter or several, further variables. has_aux: only the first result is
    differentiated.
    Gradients: of one argument alone, of several a tuple; with weights, (of arguments, of weights).
    Gradients of a result that is no scalar are those of its sum.
    """
    _checked("value_and_grad", fn, grad_position, weights)
    positions = _as_positions(grad_position)
    single = not isinstance(grad_position, (tuple, list))
    listed = None if weights is None else check_weights(weights, "value_and_grad")

    @entry
    def differentiated(*args, **kwargs):
        call = Differentiated(fn, args, kwargs, "value_and_grad")
        wrt = call.positions(positions)
        result, inputs, variables = run_gradient(call, wrt, listed or [], has_aux=has_aux)
        grads = _shape_result(
            call,
            positions,
            single and positions,
            inputs,
            variables,
            listed,
            isinstance(weights, Parameter),
        )
        return result, grads

    return differentiated


@entry
def grad(fn, grad_position=0, weights=None, has_aux=False):
    """A function that gives the gradients of `fn`; see value_and_grad. With has_aux it gives
    (gradients, the other results)."""
    _checked("grad", fn, grad_position, weights)
    positions = _as_positions(grad_position)
    single = not isinstance(grad_position, (tuple, list))
    listed = None if weights is None else check_weights(weights, "grad")

    @entry
    def differentiated(*args, **kwargs):
        call = Differentiated(fn, args, kwargs, "grad")
        wrt = call.positions(positions)
        result, inputs, variables = run_gradient(call, wrt, listed or [], has_aux=has_aux)
        grads = _shape_result(
            call,
            positions,
            single and positions,
            inputs,
            variables,
            listed,
            isinstance(weights, Parameter),
        )
        return (grads, tuple(result[1:])) if has_aux else grads

    return differentiated


class GradOperation:
    """Gradients of a function or network: GradOperation(...)(fn, weights)(*inputs).

    get_all: of all inputs with tensors, as a tuple; otherwise of the first. A tuple, list or dict
    of tensors has a tuple, list or dict of gradients. get_by_list: of the parameters
    in `weights` (a ParameterTuple; by default those of the network that require gradients); with
    get_all both, as a pair. sens_param: the call takes one more argument, the gradient of the
    result.
    """

    def __init__(self, get_all=False, get_by_list=False, sens_param=False):
        for name, flag in (
            ("get_all", get_all),
            ("get_by_list", get_by_list),
            ("sens_param", sens_param),
        ):
            if not isinstance(flag, bool):
                raise TypeError(f"GradOperation: '{name}' must be True or False, got {flag!r}")
        self.get_all, self.get_by_list, self.sens_param = get_all, get_by_list, sens_param

    @entry
    def __call__(self, fn, weights=None):
        """The function that computes the gradients of `fn`."""
        if not callable(fn):
            raise TypeError(
                f"GradOperation: 'fn' must be a function or Cell, got {type(fn).__name__}"
            )
        if self.get_by_list and weights is None:
            if not hasattr(fn, "trainable_params"):
                raise TypeError("GradOperation: get_by_list needs weights, a ParameterTuple")
            weights = fn.trainable_params()
        return self._bind(fn, check_weights(weights, "GradOperation") if self.get_by_list else [])

    def _bind(self, fn, weights):
        @entry
        def differentiated(*args, **kwargs):
            seeds = ()
            if self.sens_param:
                if "sens" in kwargs:
                    seeds = (kwargs.pop("sens"),)
                elif args:
                    args, seeds = args[:-1], (args[-1],)
                else:
                    raise TypeError(
                        "GradOperation: sens_param needs the result's gradient as last argument"
                    )
            call = Differentiated(fn, args, kwargs, "GradOperation")
            places = self._places(call)
            wrt = call.positions(places)
            flat = []
            flatten(tuple(seeds), flat)
            _, inputs, variables = run_gradient(call, wrt, weights, flat)
            inputs = call.regroup(places, inputs)
            if not self.get_by_list:
                return inputs if self.get_all else inputs[0]
            return (inputs, tuple(variables)) if self.get_all else tuple(variables)

        return differentiated

    def _places(self, call):
        """The arguments to differentiate: those that hold tensors."""
        places = [i for i, (start, end) in enumerate(call.spans) if start != end]
        if self.get_all:
            return places
        if self.get_by_list:
            return []
        if not places:
            raise TypeError(
                f"GradOperation: {_name_of(call.fn)} was given no tensor to differentiate"
            )
        return places[:1]

    def __repr__(self):
        return (
            f"GradOperation(get_all={self.get_all}, get_by_list={self.get_by_list}, "
            f"sens_param={self.sens_param})"
        )


@entry
def grad_all(fn, weights=None):
    """A function that gives the gradients of all inputs, and for a network with parameters also
    those: `grad_all(f)(x, y)` is (df/dx, df/dy), `grad_all(net)(x, y)` is ((dx, dy), (dw, …))."""
    if weights is None and hasattr(fn, "trainable_params"):
        weights = fn.trainable_params()
    by_list = bool(weights)
    return GradOperation(get_all=True, get_by_list=by_list)(
        fn, ParameterTuple(weights) if by_list else None
    )


@entry
def vjp(fn, *inputs, weights=None, has_aux=False):
    """(result, pullback): pullback(gradient of the result) gives the gradients of the inputs.
    Without inputs, a function of them that gives this. weights: (gradients of inputs, gradients of
    weights). has_aux: only the first result is differentiated, and the others come last."""
    if not inputs:
        return lambda *args: vjp(fn, *args, weights=weights, has_aux=has_aux)
    call = Differentiated(fn, inputs, {}, "vjp")
    listed = check_weights(weights, "vjp")

    if has_aux or listed:
        return _vjp_again(call, listed, weights, has_aux)
    values, pull = _mycel.vjp(call.call, call.tensors)
    result = call.result(values)

    @entry
    def pullback(*seeds):
        flat = []
        flatten(_seed_tuple(seeds, len(values)), flat)
        return _one_or_tuple(call.regroup(range(len(inputs)), pull(flat)))

    return result, pullback


def _vjp_again(call, listed, weights, has_aux):
    """A pullback with parameters or further results: it runs the function again with given
    seeds."""
    wrt = call.positions(range(len(call.spans)))
    result = call.result(call.call(call.tensors))

    @entry
    def pullback(*seeds):
        flat = []
        flatten(seeds, flat)
        _, inputs, variables = run_gradient(call, wrt, listed, flat, has_aux)
        grads = _one_or_tuple(call.regroup(range(len(call.spans)), inputs))
        return grads if weights is None else (grads, tuple(variables))

    if has_aux:
        return result[0], pullback, tuple(result[1:])
    return result, pullback


def _seed_tuple(seeds, count):
    if len(seeds) == 1 and isinstance(seeds[0], (tuple, list)):
        seeds = tuple(seeds[0])
    if len(seeds) != count:
        raise ValueError(f"vjp: {len(seeds)} gradients given for {count} results")
    return seeds


def _one_or_tuple(items):
    return items[0] if len(items) == 1 else tuple(items)


@entry
def jvp(fn, inputs, v, has_aux=False):
    """(result, derivative of `fn` at `inputs` in the direction `v`). inputs and v: a tensor or a
    tuple. has_aux: only the first result is differentiated, and the others come last."""
    args = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    directions = tuple(v) if isinstance(v, (tuple, list)) else (v,)
    if len(args) != len(directions):
        raise ValueError(f"jvp: {len(directions)} directions given for {len(args)} inputs")
    call = Differentiated(fn, args, {}, "jvp")
    flat = []
    flatten(directions, flat)
    values, tangents = _mycel.jvp(call.call, call.tensors, flat)
    result = call.result(values)
    derivative = call.result(tangents)
    if has_aux:
        return result[0], derivative[0], tuple(result[1:])
    return result, derivative


@entry
def custom_gradient(forward, bprop, args):
    """forward(*args), differentiated by bprop(*args, result, gradient of the result), which gives
    one gradient per argument. For a Cell with a `bprop` method."""
    call = Differentiated(forward, args, {}, "bprop")

    def backward(tensors):
        inputs, count = tensors[: len(call.tensors)], len(call.tensors)
        middle = (len(tensors) - count) // 2
        source = iter(inputs)
        plain = [unflatten(key, source) for key in call.arg_keys]
        result = call.result(tensors[count : count + middle])
        seeds = call.result(tensors[count + middle :])
        grads = bprop(*plain, result, seeds)
        if isinstance(grads, Tensor) or not isinstance(grads, (tuple, list)):
            grads = (grads,)
        if len(grads) != len(args):
            raise TypeError(f"bprop: {len(grads)} gradients given for {len(args)} arguments")
        return _fitted(grads, call)

    flat = _mycel.custom_gradient(call.call, backward, call.tensors)
    return call.result(flat)


def _fitted(grads, call):
    """One gradient per flat tensor: numbers become tensors, None zeros."""
    from mycel import ops

    flat = []
    for grad_, key, (start, end) in zip(grads, call.arg_keys, call.spans):
        if key is Tensor and not isinstance(grad_, Tensor):
            like = call.tensors[start]
            flat.append(ops.zeros_like(like) if grad_ is None else ops.full_like(like, grad_))
        elif start != end:
            flatten(grad_, flat)
    return flat


__all__ = ["GradOperation", "grad", "grad_all", "jvp", "value_and_grad", "vjp"]
