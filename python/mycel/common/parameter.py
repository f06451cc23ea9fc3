"""Parameter: a named tensor that training changes; ParameterTuple: several of them."""

from mycel import _mycel
from mycel._mycel import ParameterBase, Tensor, entry


def _fixed(name, default):
    """A property that has one value; another is refused."""

    def get(self):
        """Its only value: there are no caches of parameter servers."""
        return default

    def put(self, value):
        same = tuple(value) == default if isinstance(default, tuple) else value == default
        if not same:
            raise NotImplementedError(
                f"Parameter.{name}: {value!r} belongs to caches of parameter servers; "
                f"only {default!r} is possible"
            )

    return property(get, put)


class Parameter(ParameterBase):
    """A named place for a tensor.

    default_input: a tensor, array, number, nested sequence or Parameter, whose value is copied.
    name: unique inside a network; a Cell that holds the parameter names it when None.
    requires_grad: whether training changes it. layerwise_parallel: each device keeps its own value.
    parallel_optimizer: its optimizer state may be split over devices.
    Assigning (`set_data`, `assign`, `p[...] = v`) changes what every holder of the parameter sees.
    """

    @entry
    def __init__(self, default_input, name=None, requires_grad=True, layerwise_parallel=False,
                 parallel_optimizer=True):  # fmt: skip
        if isinstance(default_input, Parameter):
            default_input = default_input._plain()
        if not isinstance(default_input, Tensor):
            default_input = Tensor(default_input)
        if name is not None and not isinstance(name, str):
            raise ValueError(f"Parameter: 'name' must be a str or None, got {type(name).__name__}")
        self._assign(default_input, False)
        self.name = "Parameter" if name is None else name
        self.requires_grad = requires_grad
        self.layerwise_parallel = layerwise_parallel
        self.parallel_optimizer = parallel_optimizer

    @property
    def requires_grad(self):
        """Whether training changes it."""
        return ParameterBase.requires_grad.__get__(self)

    @requires_grad.setter
    def requires_grad(self, value):
        from mycel.nn import _compile

        ParameterBase.requires_grad.__set__(self, value)
        _compile.changed()  # compiled networks look which parameters do

    @property
    def data(self):
        """The parameter itself; assigning to it sets the value."""
        return self

    @data.setter
    def data(self, value):
        self.set_data(value)

    @property
    def inited_param(self):
        """The parameter: values are made when it is created, so there is none in between."""
        return self

    @property
    def sliced(self):
        """Whether the value is only this device's part of a larger one."""
        return False

    @property
    def has_init(self):
        """Whether values are still to be made; they never are."""
        return False

    # What belongs to embedding caches of parameter servers: only the defaults exist.
    cache_enable = _fixed("cache_enable", False)
    cache_shape = _fixed("cache_shape", ())
    key = _fixed("key", -1)
    unique = _fixed("unique", False)

    def value(self):
        """The value now, as a Tensor that later assignments do not change."""
        return self._plain()

    @entry
    def set_data(self, data, slice_shape=False):
        """Replaces the value. The dtype must stay; the shape too unless slice_shape is True."""
        tensor = data if isinstance(data, Tensor) else Tensor(data)
        if slice_shape or tensor.dtype != self.dtype:
            if tensor.shape != self.shape and not slice_shape:
                raise ValueError(
                    f"Parameter '{self.name}' has shape {self.shape}; a value of shape "
                    f"{tensor.shape} was given\n  Use slice_shape=True to change the shape."
                )
            if tensor.dtype != self.dtype:
                tensor = _cast_for(self, tensor)
            self._assign(tensor, False)
        else:
            self._assign(tensor, True)
        return self

    def assign_value(self, value):
        """Replaces the value, as set_data."""
        return self.set_data(value)

    @entry
    def clone(self, init="same"):
        """A new parameter of the same name and flags. init: "same" copies the value; an
        initializer, its name or a number makes another of the same shape and dtype."""
        if isinstance(init, str) and init == "same":
            value = self._plain()
        else:
            from mycel.common.initializer import initializer

            value = initializer(init, self.shape, self.dtype)
        twin = Parameter(
            value, self.name, self.requires_grad, self.layerwise_parallel, self.parallel_optimizer
        )
        twin.comm_fusion = self.comm_fusion
        twin.pipeline_stages = self.pipeline_stages
        twin.parallel_optimizer_comm_recompute = self.parallel_optimizer_comm_recompute
        return twin

    def copy(self):
        """As clone()."""
        return self.clone()

    def init_data(self, layout=None, set_sliced=False):
        """The parameter itself, whose values exist from the start. Layouts belong to the
        planner."""
        if layout is not None or set_sliced:
            raise NotImplementedError(
                "Parameter.init_data: layouts are set by the parallel planner"
            )
        return self

    def add_pipeline_stage(self, stage):
        """Names a pipeline stage that holds a copy."""
        if not isinstance(stage, int) or stage < 0:
            raise TypeError(f"Parameter: 'stage' must be an int of at least 0, got {stage!r}")
        self.pipeline_stages = [*self.pipeline_stages, stage]

    @entry
    def set_param_ps(self, init_in_server=False):
        """Refused: parameters live in the processes that train, not on servers."""
        raise NotImplementedError("Parameter.set_param_ps: there are no parameter servers here")

    @entry
    def set_param_fl(self, push_to_server=False, pull_from_server=False, requires_aggr=True):
        """Refused: parameters are not exchanged with federated servers."""
        raise NotImplementedError("Parameter.set_param_fl: there are no federated servers here")

    def __repr__(self):
        return (
            f"Parameter (name={self.name}, shape={self.shape}, dtype={self.dtype}, "
            f"requires_grad={self.requires_grad})"
        )

    __str__ = __repr__

    def __reduce__(self):
        return _restore, (type(self), self._plain(), self._flags(), self.__dict__.copy())

    def __copy__(self):
        return _restore(type(self), self._plain(), self._flags(), self.__dict__.copy())

    def __deepcopy__(self, memo):
        import copy

        twin = _restore(type(self), self._plain(), self._flags(), {})
        memo[id(self)] = twin
        twin.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return twin

    def _flags(self):
        return {name: getattr(self, name) for name in _FLAGS}


_FLAGS = (
    "name",
    "requires_grad",
    "layerwise_parallel",
    "parallel_optimizer",
    "parallel_optimizer_comm_recompute",
    "comm_fusion",
    "pipeline_stages",
)


def _cast_for(parameter, tensor):
    """A value cast to the parameter's dtype: widening only, so that nothing is lost unasked."""
    from mycel.common import dtype as mstype

    kinds = (mstype.bool_,), mstype.int_type + mstype.uint_type, mstype.float_type
    if any(parameter.dtype in kind and tensor.dtype in kind for kind in kinds) or (
        parameter.dtype in mstype.float_type and tensor.dtype not in mstype.complex_type
    ):
        return tensor.astype(parameter.dtype)
    raise TypeError(
        f"Parameter '{parameter.name}' is {parameter.dtype}; "
        f"a {tensor.dtype} cannot be assigned to it"
        "\n  Convert it first: value.astype(parameter.dtype)."
    )


def _restore(cls, value, flags, attributes):
    parameter = cls.__new__(cls)
    parameter._assign(value, False)
    for name, flag in flags.items():
        setattr(parameter, name, flag)
    parameter.__dict__.update(attributes)
    return parameter


class ParameterTuple(tuple):
    """A tuple of Parameters with distinct names."""

    @entry
    def __new__(cls, iterable=()):
        items = tuple(iterable)
        seen = set()
        for item in items:
            if not isinstance(item, Parameter):
                raise TypeError(
                    f"ParameterTuple: every item must be a Parameter, got {type(item).__name__}"
                )
            if item.name in seen and item.name != "Parameter":
                raise ValueError(
                    f"ParameterTuple: two parameters are named '{item.name}'"
                    "\n  Give each parameter its own name."
                )
            seen.add(item.name)
        return super().__new__(cls, items)

    @entry
    def clone(self, prefix, init="same"):
        """Clones of all parameters, with `prefix.` before their names."""
        if not isinstance(prefix, str) or not prefix:
            raise ValueError(
                f"ParameterTuple.clone: 'prefix' must be a non-empty str, got {prefix!r}"
            )
        twins = []
        for item in self:
            twin = item.clone(init)
            twin.name = f"{prefix}.{item.name}"
            twins.append(twin)
        return ParameterTuple(twins)


_mycel.register_parameter_type(Parameter)

__all__ = ["Parameter", "ParameterTuple"]
