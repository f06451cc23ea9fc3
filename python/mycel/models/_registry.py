"""What all networks of checkpoints share: their configuration, and the classes by name."""

from mycel.nn.cell import Cell

_classes = {}


class Config(dict):
    """config.json; what is missing has the default that the published model has."""

    def __init__(self, values, defaults):
        super().__init__(values)
        self._defaults = defaults

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        value = self.get(name)
        if value is None:
            if name not in self._defaults:
                raise ValueError(f"config.json: '{name}' is missing")
            value = self._defaults[name]
        return value


class PretrainedCell(Cell):
    """A network whose parameters lie in checkpoints."""

    _defaults = {}  # of config.json
    _model_type = ""
    _prefix = ""  # of the bare model's entries in files of models with a head
    _tied = {}  # entry: the entry that it is too, where the configuration ties them
    _same = ()  # those of _tied that are, whatever the configuration says
    _dropped = ()  # patterns of entries that nothing reads

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if cls._model_type:
            _classes[cls.__name__] = cls

    def __init__(self, config):
        super().__init__()
        given = config.get("model_type")
        if given is not None and given != self._model_type:
            raise ValueError(
                f"{type(self).__name__}: config.json is of model_type '{given}', "
                f"allowed: '{self._model_type}'"
            )
        self.config = Config(config, self._defaults)

    def _ties(self):
        return bool(self.config.get("tie_word_embeddings", self._defaults["tie_word_embeddings"]))

    def _allow(self, name, *allowed):
        """Refuses a value of the configuration that would change what is computed."""
        value = self.config.get(name, self._defaults.get(name))
        if value not in allowed:
            raise NotImplementedError(
                f"{type(self).__name__}: {name} = {value!r} is not supported; allowed: "
                f"{', '.join(repr(a) for a in allowed)}"
            )
        return value


def find(config, architecture=None):
    names = [architecture] if architecture else config.get("architectures") or []
    for name in names:
        if name in _classes:
            return _classes[name]
    what = f"'{names[0]}'" if names else "which config.json does not name"
    raise NotImplementedError(
        f"models: the architecture {what} is not here; allowed: {', '.join(sorted(_classes))}"
    )
