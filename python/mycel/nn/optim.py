"""Optimizers: one class for each optimizer record of the C++ library, and the base class for
optimizers that users write. State lives in C++ and is seen here as Parameters
("moment1.conv.weight")."""

from mycel import _mycel, _published_modules
from mycel._mycel import Tensor, entry
from mycel.common._records import documentation, signature_of
from mycel.common.parameter import Parameter, ParameterTuple
from mycel.nn.cell import Cell

_nn = _mycel.nn
_GROUP_KEYS = {"params", "lr", "weight_decay", "grad_centralization", "order_params"}


def _check_group(group, owner):
    for key in group:
        if key not in _GROUP_KEYS:
            raise KeyError(
                f"{owner}: a parameter group has no key '{key}'"
                f"\n  Keys: {', '.join(sorted(_GROUP_KEYS))}."
            )
    if "order_params" in group:
        if len(group) > 1:
            raise ValueError(f"{owner}: the group with 'order_params' holds nothing else")
        return
    if "params" not in group:
        raise KeyError(f"{owner}: a parameter group needs 'params'")
    if not isinstance(group.get("grad_centralization", False), bool):
        raise TypeError(f"{owner}: 'grad_centralization' must be True or False")


def _groups_of(parameters, owner):
    """([(parameters, lr, weight_decay, centralize)], order or None, whether groups were given)."""
    if isinstance(parameters, Parameter):
        parameters = [parameters]
    if not hasattr(parameters, "__iter__"):
        raise TypeError(
            f"{owner}: 'params' must be Parameters or groups of them, "
            f"got {type(parameters).__name__}"
        )
    parameters = list(parameters)
    if not parameters:
        raise ValueError(f"{owner}: there are no parameters to optimize")
    if not any(isinstance(p, dict) for p in parameters):
        return [(parameters, None, None, False)], None, False
    groups, order = [], None
    for group in parameters:
        if not isinstance(group, dict):
            raise TypeError(f"{owner}: 'params' mixes Parameters with groups of them")
        _check_group(group, owner)
        if "order_params" in group:
            order = list(group["order_params"])
            continue
        params = list(group["params"])
        if not params:
            raise ValueError(f"{owner}: a parameter group is empty")
        groups.append(
            (
                params,
                group.get("lr"),
                group.get("weight_decay"),
                group.get("grad_centralization", False),
            )
        )
    return groups, order, True


class Optimizer(Cell):
    """Base of optimizers: parameters, learning rates, weight decay and loss scale. A subclass calls
    super().__init__(learning_rate, params, ...) and writes construct(gradients).

    learning_rate: a number, a list with one number a step (the last holds on), a tensor, or a
    LearningRateSchedule. parameters: Parameters, or groups as dicts with keys params, lr,
    weight_decay, grad_centralization; {"order_params": list} sets the order. weight_decay: added to
    gradients as weight_decay * parameter; without groups, parameters with "beta" or "gamma" in
    their names are left out. loss_scale: gradients are divided by it.
    """

    @entry
    def __init__(self, learning_rate, parameters, weight_decay=0.0, loss_scale=1.0):
        super().__init__(auto_prefix=False)
        args = (learning_rate, weight_decay, float(loss_scale))
        self._make("Optimizer", parameters, args, {})

    def _make(self, name, parameters, args, kwargs):
        groups, order, is_group = _groups_of(parameters, self.cls_name)
        handle = _nn.make_optimizer(name, groups, order, args, kwargs)
        fields = self.__dict__
        fields["_optimizer"] = handle
        fields["parameters"] = ParameterTuple(handle.params())
        fields["is_group"] = is_group
        fields["is_group_lr"] = is_group and any(g[1] is not None for g in groups)
        fields["dynamic_lr"] = handle.dynamic_lr()
        fields["decay_flags"] = tuple(handle.decay_flags())
        fields["exec_weight_decay"] = any(fields["decay_flags"])
        for state, p in handle.states():
            fields["_params"][state] = p
        for child, cell in handle.children():
            if isinstance(cell, Cell):
                fields["_cells"][child] = cell
        fields["global_step"] = fields["_params"]["global_step"]
        for slot, states in handle.slots():
            fields[slot] = ParameterTuple(states)
        for shared in ("beta1_power", "beta2_power"):
            if shared in fields["_params"]:
                fields[shared] = fields["_params"][shared]

    @property
    def learning_rate(self):
        """The Parameter or schedule of the learning rate; with rates of groups, a tuple of them."""
        names = [n for n in (*self._params, *self._cells) if n.startswith("learning_rate")]
        found = [self._params.get(n, self._cells.get(n)) for n in sorted(names, key=_group_number)]
        return found[0] if len(found) == 1 or not self.is_group_lr else tuple(found)

    @learning_rate.setter
    def learning_rate(self, value):
        rates = self.learning_rate
        for rate in rates if isinstance(rates, tuple) else (rates,):
            if not isinstance(rate, Parameter):
                raise TypeError(
                    f"{self.cls_name}: the learning rate is a schedule; it cannot be assigned"
                )
            rate.set_data(value if isinstance(value, Tensor) else Tensor(value, rate.dtype))

    def __setattr__(self, name, value):
        if name == "learning_rate" and "_optimizer" in self.__dict__:
            Optimizer.learning_rate.fset(self, value)
        elif name in self.__dict__.get("_params", ()) and isinstance(value, Parameter):
            super().__setattr__(name, value)
            self._optimizer.set_state(name, value)
        else:
            super().__setattr__(name, value)

    def update_parameters_name(self, prefix="", recurse=True):
        """Puts `prefix` in front of the names of the states."""
        for p in self.get_parameters(expand=recurse):
            if not p.name.startswith(prefix):
                p.name = prefix + p.name

    def _gradients(self, gradients, scale, decay, centralize):
        return tuple(self._optimizer.prepare(gradients, scale, decay, centralize))

    def scale_grad(self, gradients):
        """The gradients divided by loss_scale."""
        return self._gradients(gradients, True, False, False)

    def decay_weight(self, gradients):
        """The gradients with weight_decay * parameter added where decay applies."""
        return self._gradients(gradients, False, True, False)

    def gradients_centralization(self, gradients):
        """The gradients with their means taken off in groups that ask for it."""
        return self._gradients(gradients, False, False, True)

    def flatten_gradients(self, gradients):
        """The gradients as they are: memory is planned by the compiler."""
        return gradients

    def get_lr(self):
        """The learning rate of this step: a tensor, or a tuple with one for each parameter when
        groups have their own. For optimizers that users write it counts the step."""
        rates = self._optimizer.learning_rates()
        if type(self).construct is not _RecordOptimizer.construct:
            self._optimizer.advance()
        return tuple(rates) if self.is_group_lr else rates[0]

    def get_weight_decay(self):
        """The weight decay of this step, as get_lr; 0 for parameters that do not decay."""
        decays = self._optimizer.weight_decays()
        return tuple(decays) if self.is_group else decays[0]

    @entry
    def get_lr_parameter(self, param):
        """The Parameter or schedule that sets the rate of a Parameter; a list for a list."""
        if not isinstance(param, Parameter):
            if not isinstance(param, (list, tuple)):
                raise TypeError(
                    f"get_lr_parameter: a Parameter was expected, got {type(param).__name__}"
                )
            return [self.get_lr_parameter(p) for p in param]
        place = [i for i, p in enumerate(self.parameters) if p is param]
        if not place:
            raise ValueError(f"get_lr_parameter: '{param.name}' is not optimized here")
        rates = self.learning_rate
        if not isinstance(rates, tuple):
            return rates
        return rates[self._optimizer.group_of(place[0])]

    def broadcast_params(self, optim_result):
        """The result as it is: parameters live on one device."""
        return optim_result

    @property
    def target(self):
        """Where parameters are updated."""
        return "CPU"

    @target.setter
    def target(self, value):
        if value != "CPU":
            raise ValueError(f"{self.cls_name}: 'target' must be 'CPU', got {value!r}")

    @property
    def unique(self):
        """Whether rows of sparse gradients are made unique first; gradients are dense."""
        return False

    def construct(self, *hyper_params):
        raise NotImplementedError(f"{self.cls_name}: construct is not written")

    def __deepcopy__(self, memo):
        raise NotImplementedError(
            f"{self.cls_name}: an optimizer belongs to its parameters and cannot be copied"
            "\n  Make a new one for the parameters of the copy."
        )


def _group_number(name):
    tail = name.rsplit("_", 1)[-1]
    return int(tail) if tail.isdigit() else -1


class _RecordOptimizer(Optimizer):
    _record = None

    def construct(self, gradients):
        self._optimizer.step(gradients)
        return True

    def extend_repr(self):
        return f"parameters={len(self.parameters)}"


def _make_class(record):
    name = record["name"]
    names = [arg[0] for arg in record["args"]]

    @entry
    def __init__(self, params, *args, **kwargs):
        for extra in ("use_lazy", "use_offload"):
            if name == "Adam" and kwargs.pop(extra, False):
                raise NotImplementedError(
                    f"Adam: {extra}=True is not supported; gradients are dense"
                )
        Cell.__init__(self, auto_prefix=False)
        self._make(name, params, args, kwargs)
        given = {**{n: d for n, _, d in record["args"]}, **dict(zip(names, args)), **kwargs}
        for key, value in given.items():
            if key not in self.__dict__ and key not in ("learning_rate", "accum"):
                self.__dict__[key] = value

    members = {
        "__init__": __init__,
        "__doc__": "params: Parameters, or groups of them as in Optimizer.\n"
        + documentation(record),
        "__module__": "mycel.nn",
        "__signature__": signature_of(record["args"], "params"),
        "_record": record,
    }
    return type(name, (_RecordOptimizer,), members)


classes = {r["name"]: _make_class(r) for r in _nn.optimizer_records() if r["public"]}
globals().update(classes)


class LARS(Optimizer):
    """Layer-wise adaptive rate scaling around another optimizer: where lars_filter(parameter)
    holds, the gradient becomes coefficient * |p| / (|g| + weight_decay |p| + epsilon) * (g +
    weight_decay p), with the factor at most 1 of the learning rate when use_clip. Source: You,
    Gitman and Ginsburg 2017.

    optimizer: the one that updates; its weight decay is applied here.
    """

    @entry
    def __init__(
        self,
        optimizer,
        epsilon=1e-05,
        coefficient=0.001,
        use_clip=False,
        lars_filter=lambda x: "LayerNorm" not in x.name and "bias" not in x.name,
    ):
        if not isinstance(optimizer, _RecordOptimizer):
            raise TypeError(f"LARS: an optimizer was expected, got {type(optimizer).__name__}")
        Cell.__init__(self, auto_prefix=False)
        if epsilon <= 0 or coefficient <= 0:
            raise ValueError("LARS: 'epsilon' and 'coefficient' must be positive")
        fields = self.__dict__
        fields.update(
            epsilon=float(epsilon), coefficient=float(coefficient), use_clip=bool(use_clip)
        )
        fields["opt"] = optimizer
        self._cells["opt"] = optimizer
        for name in ("parameters", "is_group", "is_group_lr", "dynamic_lr", "_optimizer"):
            fields[name] = optimizer.__dict__[name]
        fields["lars_flag"] = tuple(bool(lars_filter(p)) for p in self.parameters)

    @property
    def learning_rate(self):
        """The learning rate of the optimizer inside."""
        return self.opt.learning_rate

    @entry
    def construct(self, gradients):
        settings = (self.epsilon, self.coefficient, self.use_clip)
        self._optimizer.lars_step(gradients, self.lars_flag, *settings)
        return True


__getattr__ = _published_modules.names_of("nn")
__all__ = ["LARS", "Optimizer", *sorted(classes)]
