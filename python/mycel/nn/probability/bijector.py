"""Bijectors: the base class to derive from, and one class for each record of the C++ library."""

import inspect

from mycel import _mycel
from mycel._mycel import Tensor, entry
from mycel.common import dtype as mstype
from mycel.nn.cell import Cell
from mycel.nn.probability import _values

_nn = _mycel.nn
_MAPS = {
    "forward": "y for x.",
    "inverse": "x for y.",
    "forward_log_jacobian": "The logarithm of |dy/dx| at x.",
    "inverse_log_jacobian": "The logarithm of |dx/dy| at y.",
}


class Bijector(Cell):
    """The base class of bijectors, smooth one-to-one maps. A subclass defines `_forward`,
    `_inverse`, `_forward_log_jacobian` and `_inverse_log_jacobian`, as many as it has.

    Called with a Distribution it gives that distribution transformed; called with the name of a map
    and a value, that map's result. dtype: of values, None for any float type. param: a dict; its
    entry "param_dict" names the parameters' values.
    """

    def __init__(
        self, is_constant_jacobian=False, is_injective=True, name=None, dtype=None, param=None
    ):
        super().__init__()
        if not isinstance(name, str):
            raise TypeError(f"Bijector: 'name' must be a str, got {name!r}")
        for key, flag in (
            ("is_constant_jacobian", is_constant_jacobian),
            ("is_injective", is_injective),
        ):
            if not isinstance(flag, bool):
                raise TypeError(f"{name}: '{key}' must be True or False, got {flag!r}")
        if dtype is not None and mstype.dtype(dtype) not in _values.FLOATS:
            raise TypeError(f"{name}: 'dtype' must be a float type, got {dtype}")
        self._name, self._dtype = name, dtype
        self._is_constant_jacobian, self._is_injective = is_constant_jacobian, is_injective
        self._parameters = {
            k: v
            for k, v in (param or {}).items()
            if k not in ("self", "param") and not k.startswith("_")
        }
        given = self._parameters.get("param_dict")
        self._batch_shape = None if given is None else _values.shape_of_all(given.values())
        self._is_scalar_batch = given is not None and _values.all_numbers(given.values())
        self.default_parameters, self.parameter_names, self.common_dtype = [], [], None

    name = property(lambda self: self._name, doc="The name of the bijector.")
    dtype = property(lambda self: self._dtype, doc="The dtype of values; None for any float type.")
    parameters = property(lambda self: self._parameters, doc="What it was made with.")
    is_constant_jacobian = property(
        lambda self: self._is_constant_jacobian, doc="Whether the map is linear."
    )
    is_injective = property(lambda self: self._is_injective, doc="Whether the map is one-to-one.")
    batch_shape = property(
        lambda self: self._batch_shape, doc="The shape that the parameters broadcast to."
    )
    is_scalar_batch = property(
        lambda self: self._is_scalar_batch, doc="Whether all parameters are numbers."
    )

    def _add_parameter(self, value, name):
        """Keeps a parameter's value; gives it as a Tensor."""
        if isinstance(value, bool) or value is None:
            raise TypeError(f"{self._name}: '{name}' must be a number or array, got {value!r}")
        # As published, Python numbers must be floats.
        kept = value if isinstance(value, Tensor) else Tensor(value)
        expected = self.common_dtype if self._dtype is None else self._dtype
        if kept.dtype not in _values.FLOATS:
            raise TypeError(f"{self._name}: '{name}' must have a float dtype, got {kept.dtype}")
        if expected is not None and kept.dtype != expected:
            raise TypeError(f"{self._name}: '{name}' must be {expected}, got {kept.dtype}")
        self.common_dtype = kept.dtype
        self.default_parameters.append(kept)
        self.parameter_names.append(name)
        return kept

    def _check_value_dtype(self, value):
        _values.need_tensor(self._name, "value", value)
        if self._dtype is None and value.dtype not in _values.FLOATS:
            raise TypeError(f"{self._name}: 'value' must have a float dtype, got {value.dtype}")
        if self._dtype is not None and value.dtype != self._dtype:
            raise TypeError(f"{self._name}: 'value' must be {self._dtype}, got {value.dtype}")
        return value

    def _check_value(self, value, name):
        return _values.need_tensor(self._name, name, value)

    def cast_param_by_value(self, value, para):
        """The parameter in the dtype of a value."""
        return para if para.dtype == value.dtype else para.astype(value.dtype)

    def shape_mapping(self, shape):
        """The shape of results for values of this shape."""
        return tuple(_values._broadcast(tuple(shape), self._batch_shape or ()))

    def _map(self, which, value, *args, **kwargs):
        found = _values.method(self, "_" + which)
        if found is None:
            raise NotImplementedError(f"{self._name}: {which} is not defined")
        return found(value, *args, **kwargs)

    @entry
    def __call__(self, *args, **kwargs):
        from mycel.nn.probability.distribution import Distribution, TransformedDistribution

        if args and isinstance(args[0], Distribution):
            return TransformedDistribution(self, args[0])
        return super().__call__(*args, **kwargs)

    def construct(self, name, *args, **kwargs):
        """The map of that name."""
        if name not in _MAPS:
            raise ValueError(f"{self._name}: there is no map '{name}': {', '.join(_MAPS)}")
        return getattr(self, name)(*args, **kwargs)


def _public(which):
    def apply(self, value, *args, **kwargs):
        return self._map(which, value, *args, **kwargs)

    apply.__name__ = which
    apply.__qualname__ = f"Bijector.{which}"
    apply.__doc__ = _MAPS[which]
    return entry(apply)


for _which in _MAPS:
    setattr(Bijector, _which, _public(_which))


def _own(which):
    def apply(self, value):
        value = self._check_value_dtype(value)
        params = tuple(self.cast_param_by_value(value, p) for p in self.default_parameters)
        return _nn.apply_bijector(self._record["name"], which, value, params)

    apply.__name__ = "_" + which
    return apply


def _make_class(record):
    name, names = record["name"], record["params"]
    one = inspect.Parameter.POSITIONAL_OR_KEYWORD
    signature = inspect.Signature(
        [
            inspect.Parameter("self", one),
            *(inspect.Parameter(n, one, default=d) for n, d in zip(names, record["defaults"])),
            inspect.Parameter("name", one, default=name),
        ]
    )

    @entry
    def __init__(self, *args, **kwargs):
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        _, *values, label = bound.args
        given = dict(zip(names, values))
        Bijector.__init__(
            self,
            record["constant_jacobian"],
            name=label,
            param={**given, "name": label, "param_dict": given},
        )
        for i, (n, v) in enumerate(given.items()):
            kept = self._add_parameter(v, n)
            setattr(self, f"_{n}", kept)
            _nn.check_bijector_parameter(name, i, kept)

    def extend_repr(self):
        given = self.parameters["param_dict"]
        return _values.describe(given, given.values(), self._batch_shape, self._is_scalar_batch)

    members = {
        "__init__": __init__,
        "__doc__": record["doc"],
        "__module__": "mycel.nn.probability.bijector",
        "__signature__": signature.replace(parameters=list(signature.parameters.values())[1:]),
        "_record": record,
        "extend_repr": extend_repr,
    }
    members.update({n: property(lambda self, n=n: getattr(self, f"_{n}")) for n in names})
    members.update({f"_{which}": _own(which) for which in _MAPS})
    return type(name, (Bijector,), members)


classes = {record["name"]: _make_class(record) for record in _nn.bijector_records()}
globals().update(classes)


class Exp(classes["PowerTransform"]):
    """y = exp(x)."""

    @entry
    def __init__(self, name="Exp"):
        super().__init__(0.0, name)

    def extend_repr(self):
        """What print shows."""
        return "exp"


class Invert(Bijector):
    """The inverse of a bijector."""

    @entry
    def __init__(self, bijector, name=""):
        if not isinstance(bijector, Bijector):
            raise TypeError(f"Invert: 'bijector' must be a Bijector, got {bijector!r}")
        super().__init__(
            bijector.is_constant_jacobian,
            bijector.is_injective,
            name or "Invert" + bijector.name,
            bijector.dtype,
            {"bijector": bijector},
        )
        self._bijector = bijector
        self._batch_shape = bijector.batch_shape
        self._is_scalar_batch = bijector.is_scalar_batch

    bijector = property(lambda self: self._bijector, doc="What is inverted.")

    def _forward(self, x):
        return self._bijector.inverse(x)

    def _inverse(self, y):
        return self._bijector.forward(y)

    def _forward_log_jacobian(self, x):
        return self._bijector.inverse_log_jacobian(x)

    def _inverse_log_jacobian(self, y):
        return self._bijector.forward_log_jacobian(y)


__all__ = ["Bijector", "Exp", "Invert", *sorted(classes)]
