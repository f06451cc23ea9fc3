"""Distributions: the base class to derive from, and one class for each family of the C++ library,
made when this module is imported."""

import inspect

from mycel import _mycel
from mycel._mycel import entry
from mycel.common import dtype as mstype
from mycel.nn.cell import Cell
from mycel.nn.probability import _values
from mycel.nn.probability.bijector import Bijector, Exp, GumbelCDF, Invert

_nn = _mycel.nn
_AT = ("prob", "log_prob", "cdf", "log_cdf", "survival_function", "log_survival")
_OF = ("mean", "mode", "sd", "var", "entropy")
_OTHER = ("kl_loss", "cross_entropy", "sample", "get_dist_args", "get_dist_type")


class Distribution(Cell):
    """The base class of distributions.

    A subclass defines `_prob` or `_log_prob`, one of `_cdf`, `_log_cdf`, `_survival_function` and
    `_log_survival`, `_mean`, `_sd` or `_var`, `_mode`, `_entropy`, `_kl_loss`, `_sample`,
    `_get_dist_args` and `_get_dist_type`, as many as it has; the others follow from them.

    seed: mixed into the keys of samples; None is 0. dtype: of samples. param: a dict; its entry
    "param_dict" names the parameters' values.
    """

    def __init__(self, seed, dtype, name, param):
        super().__init__()
        if not isinstance(name, str):
            raise TypeError(f"Distribution: 'name' must be a str, got {name!r}")
        if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int)):
            raise TypeError(f"{name}: 'seed' must be an int or None, got {seed!r}")
        if seed is not None and seed < 0:
            raise ValueError(f"{name}: 'seed' must not be negative, got {seed}")
        self._name, self._seed, self._dtype = name, seed or 0, dtype
        self._parameters = {k: v for k, v in param.items() if k != "self" and not k.startswith("_")}
        given = self._parameters.get("param_dict", {})
        self.parameter_type = _parameter_type(name, given, dtype)
        self._batch_shape = _values.shape_of_all(given.values())
        self._is_scalar_batch = _values.all_numbers(given.values())
        self._reset_parameters()

    name = property(lambda self: self._name, doc="The name of the distribution.")
    dtype = property(lambda self: self._dtype, doc="The dtype of samples.")
    seed = property(lambda self: self._seed, doc="What is mixed into the keys of samples.")
    parameters = property(lambda self: self._parameters, doc="What it was made with.")
    is_scalar_batch = property(
        lambda self: self._is_scalar_batch, doc="Whether all parameters are numbers."
    )
    batch_shape = property(
        lambda self: self._batch_shape, doc="The shape that the parameters broadcast to."
    )
    broadcast_shape = property(
        lambda self: self._batch_shape, doc="The shape of a single sample; None if not yet known."
    )

    def _reset_parameters(self):
        self.default_parameters, self.parameter_names = [], []

    def _add_parameter(self, value, name):
        """Keeps a parameter's value, None when it comes with each call; gives it as a Tensor."""
        if value is not None:
            value = _values.tensor_of(self._name, name, value, self.parameter_type)
        self.default_parameters.append(value)
        self.parameter_names.append(name)
        return value

    def _check_param_type(self, *args):
        """The parameters, those of the call before those kept, in one shape and dtype; a single one
        is given alone."""
        found = self._parameters_of(args, {})
        shape = _values.shape_of_all(found)
        found = [p if p.shape == shape else p.broadcast_to(shape) for p in found]
        return found[0] if len(found) == 1 else tuple(found)

    def _parameters_of(self, args, named):
        """Tensors for all parameters, of parameter_type."""
        if len(args) > len(self.parameter_names):
            raise TypeError(
                f"{self._name}: {len(self.parameter_names)} parameters expected, got {len(args)}"
            )
        slots = dict(zip(self.parameter_names, args))
        for name, value in named.items():
            if name not in self.parameter_names:
                raise TypeError(
                    f"{self._name}: there is no parameter '{name}': "
                    f"{', '.join(self.parameter_names)}"
                )
            if name in slots:
                raise TypeError(f"{self._name}: '{name}' is given twice")
            slots[name] = value
        found = []
        for name, default in zip(self.parameter_names, self.default_parameters):
            value = slots.get(name)
            value = default if value is None else _values.need_tensor(self._name, name, value)
            if value is None:
                raise TypeError(
                    f"{self._name}: '{name}' is needed: it was not given when the distribution was "
                    "made"
                )
            same = value.dtype == self.parameter_type
            found.append(value if same else value.astype(self.parameter_type))
        return found

    def _check_value(self, value, name):
        return _values.need_tensor(self._name, name, value)

    def _derived(self, quantity, *args, **kwargs):
        def own(name):
            found = _values.method(self, "_" + name)
            return None if found is None else found(*args, **kwargs)

        result = _nn.derive(quantity, own)
        if result is None:
            raise NotImplementedError(f"{self._name}: there is no formula for {quantity}")
        return result

    def _needed(self, name, *args, **kwargs):
        found = _values.method(self, "_" + name)
        if found is None:
            raise NotImplementedError(f"{self._name}: there is no formula for {name}")
        return found(*args, **kwargs)

    @entry
    def kl_loss(self, dist, *args, **kwargs):
        """The Kullback-Leibler divergence of another distribution from this one.

        dist: the other's type, by name. Its parameters follow, then, optionally, this one's.
        """
        return self._needed("kl_loss", dist, *args, **kwargs)

    @entry
    def cross_entropy(self, dist, *args, **kwargs):
        """entropy + kl_loss; arguments as those of kl_loss."""
        own = _values.method(self, "_cross_entropy")
        if own is not None:
            return own(dist, *args, **kwargs)
        count = len(self.parameter_names)
        ours = {k.removesuffix("_a"): v for k, v in kwargs.items() if not k.endswith("_b")}
        others = sum(k.endswith("_b") for k in kwargs)
        entropy = self._derived("entropy", *args[count - others :], **ours)
        return entropy + self._needed("kl_loss", dist, *args, **kwargs)

    @entry
    def sample(self, *args, **kwargs):
        """Random values of shape `shape` (the first argument, () when left out) + batch_shape;
        parameters may follow."""
        return self._needed("sample", *args, **kwargs)

    @entry
    def get_dist_args(self, *args, **kwargs):
        """The parameters as a tuple: those given, else those kept."""
        return self._needed("get_dist_args", *args, **kwargs)

    @entry
    def get_dist_type(self):
        """The type of the distribution, as kl_loss takes it."""
        return self._needed("get_dist_type")

    def construct(self, name, *args, **kwargs):
        """The method of that name."""
        if name not in (*_AT, *_OF, *_OTHER):
            raise NotImplementedError(
                f"{self._name}: there is no function '{name}': {', '.join((*_AT, *_OF, *_OTHER))}"
            )
        return getattr(self, name)(*args, **kwargs)


_TEXTS = {
    "prob": "The probability density, or of discrete distributions the probability, at value.",
    "log_prob": "The logarithm of prob.",
    "cdf": "The probability of at most value.",
    "log_cdf": "The logarithm of cdf.",
    "survival_function": "The probability of more than value: 1 - cdf.",
    "log_survival": "The logarithm of survival_function.",
    "mean": "The expected value.",
    "mode": "The most probable value.",
    "sd": "The standard deviation.",
    "var": "The variance.",
    "entropy": "The entropy, in nats.",
}


def _public(quantity):
    if quantity in _AT:

        def evaluate(self, value, *args, **kwargs):
            return self._derived(quantity, value, *args, **kwargs)
    else:

        def evaluate(self, *args, **kwargs):
            return self._derived(quantity, *args, **kwargs)

    evaluate.__name__ = quantity
    evaluate.__qualname__ = f"Distribution.{quantity}"
    evaluate.__doc__ = _TEXTS[quantity] + " Parameters may follow, as tensors."
    return entry(evaluate)


for _name in (*_AT, *_OF):
    setattr(Distribution, _name, _public(_name))


def _parameter_type(who, given, dtype):
    """The dtype of computations: that of array parameters, else that of samples, always a float
    type; float64 only where samples are float64."""
    common = None
    for name, value in given.items():
        if not hasattr(value, "dtype"):
            continue
        kind = mstype.dtype(value.dtype)
        if common is not None and kind != common:
            raise TypeError(f"{who}: '{name}' must have the dtype of the others, {common}")
        common = kind
    kind = dtype if common is None else common
    if kind not in _values.FLOATS or (kind == mstype.float64 and dtype != mstype.float64):
        return mstype.float32
    return kind


class TransformedDistribution(Distribution):
    """The distribution of bijector.forward(x) for x of a distribution; the bijector increases."""

    def __init__(self, bijector, distribution, seed=None, name="transformed_distribution"):
        if not isinstance(bijector, Bijector):
            raise TypeError(f"{name}: 'bijector' must be a Bijector, got {bijector!r}")
        if not isinstance(distribution, Distribution):
            raise TypeError(f"{name}: 'distribution' must be a Distribution, got {distribution!r}")
        if distribution.dtype not in _values.FLOATS:
            raise TypeError(
                f"{name}: the distribution must have a float dtype, got {distribution.dtype}"
            )
        param = {"bijector": bijector, "distribution": distribution}
        super().__init__(seed, distribution.dtype, name, param)
        self._bijector, self._distribution = bijector, distribution
        self.default_parameters = distribution.default_parameters
        self.parameter_names = distribution.parameter_names
        self.parameter_type = distribution.parameter_type
        self._is_scalar_batch = distribution.is_scalar_batch and bijector.is_scalar_batch
        self._batch_shape = distribution.batch_shape

    bijector = property(lambda self: self._bijector, doc="The map.")
    distribution = property(lambda self: self._distribution, doc="Of what is mapped.")
    is_linear_transformation = property(
        lambda self: self.bijector.is_constant_jacobian, doc="Whether the map is linear."
    )

    @property
    def broadcast_shape(self):
        """The shape of a single sample; None if not yet known."""
        shapes = self.distribution.broadcast_shape, self.bijector.batch_shape
        return None if None in shapes else tuple(_values._broadcast(*shapes))

    def _log_prob(self, value, *args, **kwargs):
        base = self.distribution.log_prob(self.bijector.inverse(value), *args, **kwargs)
        return base + self.bijector.inverse_log_jacobian(value)

    def _cdf(self, value, *args, **kwargs):
        return self.distribution.cdf(self.bijector.inverse(value), *args, **kwargs)

    def _survival_function(self, value, *args, **kwargs):
        return self.distribution.survival_function(self.bijector.inverse(value), *args, **kwargs)

    def _sample(self, *args, **kwargs):
        return self.bijector.forward(self.distribution.sample(*args, **kwargs))

    def _mean(self, *args, **kwargs):
        if not self.is_linear_transformation:
            raise NotImplementedError(
                f"{self._name}: the mean of a transformed distribution is known for linear maps"
            )
        return self.bijector.forward(self.distribution.mean(*args, **kwargs))


class _Family(Distribution):
    """A distribution whose formulas are a C++ record."""

    _record = None

    def _given(self, args, named):
        """The C++ distribution with the parameters of a call."""
        named = {_ALIASES.get(k, k): v for k, v in named.items()}
        return _nn.Distribution(self._record["name"], self._parameters_of(args, named))

    def _kl_loss(self, dist, *args, **kwargs):
        if dist != self._record["name"]:
            raise ValueError(f"{self._name}: 'dist' must be '{self._record['name']}', got {dist!r}")
        names = self.parameter_names
        other = dict(zip((f"{n}_b" for n in names), args))
        ours = args[len(names) :]
        mine = {}
        for key, value in kwargs.items():
            key = _ALIASES.get(key, key)
            if key in other:
                raise TypeError(f"{self._name}: '{key}' is given twice")
            if key.endswith("_b"):
                other[key] = value
            else:
                mine[key.removesuffix("_a")] = value
        values = [
            _values.need_tensor(self._name, k, other.get(k)) for k in (f"{n}_b" for n in names)
        ]
        return self._given(ours, mine).kl_loss(self._given(values, {}))

    def _sample(self, shape=(), *args, **kwargs):
        if not isinstance(shape, tuple):
            raise TypeError(f"{self._name}: 'shape' must be a tuple, got {type(shape).__name__}")
        drawn = self._given(args, kwargs).sample(shape, self._seed)
        return drawn if drawn.dtype == self._dtype else drawn.astype(self._dtype)

    def _get_dist_args(self, *args, **kwargs):
        given = {**dict(zip(self.parameter_names, args)), **kwargs}
        given = {_ALIASES.get(k, k): v for k, v in given.items() if v is not None}
        for name, value in given.items():
            _values.need_tensor(self._name, name, value)
        return tuple(
            given.get(n, default)
            for n, default in zip(self.parameter_names, self.default_parameters)
        )

    def _get_dist_type(self):
        return self._record["name"]

    @property
    def broadcast_shape(self):
        """The shape of a single sample; None if not yet known."""
        shape = self._batch_shape
        return shape[:-1] if shape and self._record["category"] else shape

    def extend_repr(self):
        """What print shows."""
        return _values.describe(
            self.parameter_names,
            self.parameters["param_dict"].values(),
            self._batch_shape,
            self._is_scalar_batch,
        )


_ALIASES = {"probs1": "probs", "probs1_b": "probs_b", "probs1_a": "probs_a"}


def _formula(quantity):
    if quantity in _AT:

        def formula(self, value, *args, **kwargs):
            value = _values.need_tensor(self._name, "value", value)
            return self._given(args, kwargs).evaluate(quantity, value)
    else:

        def formula(self, *args, **kwargs):
            result = self._given(args, kwargs).evaluate(quantity, None)
            # The most probable value is a value.
            return result.astype(self._dtype) if quantity == "mode" else result

    formula.__name__ = "_" + quantity
    return formula


def _make_class(record):
    name, names = record["name"], record["params"]
    kinds = "int and float" if record["discrete"] else "float"
    signature = _signature(name, names, record["dtype"])

    @entry
    def __init__(self, *args, **kwargs):
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        _, *values, seed, dtype, label = bound.args
        dtype = mstype.dtype(dtype)
        if dtype not in _values.FLOATS and not (
            record["discrete"] and dtype in mstype.int_type + mstype.uint_type
        ):
            raise TypeError(f"{name}: 'dtype' must be one of the {kinds} types, got {dtype}")
        given = dict(zip(names, values))
        Distribution.__init__(self, seed, dtype, label, {**given, "param_dict": given})
        for i, (n, v) in enumerate(given.items()):
            # `sd` and `mean` are methods: values are kept beside them.
            kept = self._add_parameter(v, n)
            setattr(self, f"_{n}_value", kept)
            if kept is not None:
                _nn.check_parameter(name, i, kept)
        if all(p is not None for p in self.default_parameters):
            self._given((), {})  # shapes must broadcast
        if record["category"] and self._batch_shape is not None:
            self._is_scalar_batch = len(self._batch_shape) == 1
        self._compose()

    members = {
        "__init__": __init__,
        "__doc__": f"{record['doc']}\n\nParameters that are None must be given, as tensors, with "
        "each call.",
        "__module__": "mycel.nn.probability.distribution",
        "__signature__": signature.replace(parameters=list(signature.parameters.values())[1:]),
        "_record": record,
        "_compose": _COMPOSED.get(name, lambda self: None),
    }
    for n in names:
        if n not in _OF:
            members[n] = property(lambda self, n=n: getattr(self, f"_{n}_value"))
    for quantity in record["formulas"]:
        members["_" + quantity] = _formula(quantity)
    if record["no_moments"]:
        for quantity in ("mean", "sd", "var"):
            members["_" + quantity] = _formula(quantity)
    bases = (_Family, TransformedDistribution) if name in _COMPOSED else (_Family,)
    return type(name, bases, members)


def _signature(name, names, dtype):
    one = inspect.Parameter.POSITIONAL_OR_KEYWORD
    needed = name == "Gumbel"
    seed = 0 if name in _COMPOSED else None
    return inspect.Signature(
        [
            inspect.Parameter("self", one),
            *(
                inspect.Parameter(n, one, default=inspect.Parameter.empty if needed else None)
                for n in names
            ),
            inspect.Parameter("seed", one, default=seed),
            inspect.Parameter("dtype", one, default=dtype),
            inspect.Parameter("name", one, default=name),
        ]
    )


def _log_normal(self):
    """As a transformed distribution: the exponential of a normal number."""
    self._bijector = Exp()
    self._distribution = classes["Normal"](*self.default_parameters, self._seed, self._dtype)


def _gumbel(self):
    """As a transformed distribution: the quantile of a uniform number."""
    self._bijector = Invert(GumbelCDF(*self.default_parameters))
    self._distribution = classes["Uniform"](0.0, 1.0, self._seed, self._dtype)


_COMPOSED = {"LogNormal": _log_normal, "Gumbel": _gumbel}

classes = {record["name"]: _make_class(record) for record in _nn.family_records()}
globals().update(classes)

__all__ = ["Distribution", "TransformedDistribution", *sorted(classes)]
