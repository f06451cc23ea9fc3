"""Layers: one class for each layer record of the C++ library, made when this module is imported.
The signature and the text of each class come from its record; parameters, checks and computation
are C++."""

from mycel import _mycel, _published_modules
from mycel._mycel import entry
from mycel.common._records import documentation, signature_of
from mycel.nn.cell import Cell

_nn = _mycel.nn


class LayerCell(Cell):
    """A cell that a C++ layer computes; its parameters and children are attributes."""

    _record = None  # what _mycel.nn.layer_records() says
    _overrides_construct = False

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        cls._overrides_construct = (
            cls._record is None
            or "construct" in cls.__dict__
            or any(
                base._overrides_construct for base in cls.__bases__ if issubclass(base, LayerCell)
            )
        )

    def _adopt(self, layer, given):
        """Makes the C++ layer's parts attributes of this cell. given: arguments as the user wrote
        them."""
        fields = self.__dict__
        fields["_layer"] = layer
        for name, value in layer.arguments():
            # An initializer has done its work: what is kept is how it was written.
            fields[name] = given.get(name) if isinstance(value, _nn.Init) else value
        for name, p in layer.parameters():
            fields["_params"][name] = p
            fields[name] = p
        for name, child in layer.children():
            if not isinstance(child, Cell):
                child = _from_layer(child)
            child._name_in_parent = name
            fields["_cells"][name] = child
            fields[name] = child

    def insert_param_to_cell(self, param_name, param, check_name_contain_dot=True):
        super().insert_param_to_cell(param_name, param, check_name_contain_dot)
        layer = self.__dict__.get("_layer")
        if (
            layer is not None
            and param is not None
            and any(n == param_name for n, _ in layer.parameters())
        ):
            layer.set_parameter(param_name, param)

    def _insert_child(self, name, child):
        super()._insert_child(name, child)
        layer = self.__dict__.get("_layer")
        if layer is not None and any(n == name for n, _ in layer.children()):
            layer.set_child(name, child)

    def _set_parameter(self, name, value):
        layer = self.__dict__.get("_layer")
        if value is None and layer is not None and any(n == name for n, _ in layer.parameters()):
            raise TypeError(
                f"{type(self).__name__}: the parameter '{name}' is needed; it cannot be None"
            )
        super()._set_parameter(name, value)

    def construct(self, *inputs, **named):
        if named:
            inputs = self._by_name(inputs, named)
        try:
            return self._layer.call(self.training, *inputs)
        except Exception as error:
            if not hasattr(error, "_layer_path"):
                error._layer_path = []
            raise

    def _by_name(self, inputs, named):
        places = [n.rstrip("?") for n in self._record["in"]]
        slots = dict(zip(places, inputs))
        for name, value in named.items():
            if name not in places:
                raise TypeError(
                    f"{type(self).__name__}: there is no input '{name}': {', '.join(places)}"
                )
            if name in slots:
                raise TypeError(f"{type(self).__name__}: the input '{name}' is given twice")
            slots[name] = value
        return tuple(slots[n] if n in slots else None for n in places if n in slots or slots)

    def extend_repr(self):
        return self._layer.extra_repr()

    def __deepcopy__(self, memo):
        import copy

        twin = type(self).__new__(type(self))
        memo[id(self)] = twin
        layer = self._layer.clone()
        parts = {name for name, _ in layer.parameters()} | {name for name, _ in layer.children()}
        parts |= {"_layer", "_recipe", "_compiled", "_mycel_jit", "_params", "_cells"}
        for name, value in self.__dict__.items():
            if name not in parts:
                twin.__dict__[name] = copy.deepcopy(value, memo)
        twin.__dict__["_recipe"] = self._recipe
        twin.__dict__.update(_params={}, _cells={})
        for kind in ("_params", "_cells"):
            for name, value in self.__dict__[kind].items():
                value = copy.deepcopy(value, memo)
                twin.__dict__[kind][name] = value
                twin.__dict__[name] = value
        twin.__dict__["_layer"] = layer
        for name, _ in layer.parameters():
            layer.set_parameter(name, twin._params[name])
        for name, _ in layer.children():
            layer.set_child(name, twin._cells[name])
        return twin

    def __reduce__(self):
        state = self.__getstate__()
        del state["_layer"]
        return _restore, (type(self), self._recipe, state)


def _restore(cls, recipe, state):
    """A pickled layer: made anew without drawing values, then given its own."""
    name, args, kwargs = recipe
    cell = cls.__new__(cls)
    Cell.__init__(cell)
    random = _mycel.random_state()
    cell.__dict__["_layer"] = _nn.make_layer(name, args, kwargs)
    _mycel.set_random_state(*random)
    cell.__dict__.update(state)
    for n, _ in cell._layer.parameters():
        cell._layer.set_parameter(n, cell._params[n])
    for n, _ in cell._layer.children():
        cell._layer.set_child(n, cell._cells[n])
    return cell


def _make_init(name, defaults):
    @entry
    def __init__(self, *args, **kwargs):
        Cell.__init__(self)
        self.__dict__["_recipe"] = (name, args, kwargs)
        layer = _nn.make_layer(name, args, kwargs)  # refuses what does not fit the signature
        given = {key: default for key, _, default in defaults}
        given.update(zip(given, args))
        self._adopt(layer, {**given, **kwargs})

    return __init__


def _bases_of(name):
    from mycel.nn.learning_rate_schedule import LearningRateSchedule
    from mycel.nn.loss import LossBase

    if name.endswith("LR"):
        return (LayerCell, LearningRateSchedule)
    if name.endswith("Loss") or "CrossEntropy" in name:
        return (LayerCell, LossBase)
    return (LayerCell,)


def _make_class(record):
    name = record["name"]
    init = _make_init(name, record["args"])
    members = {
        "__init__": init,
        "__doc__": documentation(record),
        "__module__": "mycel.nn",
        "__signature__": signature_of(record["args"]),
        "_record": record,
    }
    return type(name, _bases_of(name), members)


def _from_layer(layer):
    """The Python cell of a C++ layer that another layer has made."""
    cls = classes[layer.name()]
    cell = cls.__new__(cls)
    Cell.__init__(cell)
    values = {n: v for n, v in layer.arguments() if not isinstance(v, _nn.Init)}
    cell.__dict__["_recipe"] = (layer.name(), (), values)
    cell._adopt(layer, {n: default for n, _, default in cls._record["args"]})
    return cell


classes = {record["name"]: _make_class(record) for record in _nn.layer_records()}
globals().update(classes)


@entry
def get_activation(name, prim_name=None):
    """The activation layer of a name: "relu", "softmax", … None gives None.

    prim_name: what asks, for the message of the KeyError that an unknown name raises.
    """
    if name is None:
        return None
    if name not in _nn.activation_names():
        who = f"{prim_name}: " if prim_name else ""
        raise KeyError(f"{who}there is no activation '{name}': {', '.join(_nn.activation_names())}")
    return _from_layer(_nn.make_activation(name))


__getattr__ = _published_modules.names_of("nn")
__all__ = [*sorted(classes), "get_activation"]
