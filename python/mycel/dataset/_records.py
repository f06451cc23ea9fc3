"""Classes of transforms and sources, made from the records of the C++ pipeline."""

import inspect
import itertools

from mycel import _mycel
from mycel._mycel import entry
from mycel.dataset import _arguments as arguments
from mycel.dataset import choices, config

_data = _mycel.data
_calls = itertools.count()  # of random transforms outside of a pipeline
_COMMON = ("num_samples", "shuffle", "sampler", "num_shards", "shard_id", "cache")
_NO_DEFAULT = inspect.Parameter.empty


class Transform:
    """Base of the transforms that run in C++. Called with arrays (or one PIL image), they give
    arrays (a PIL image); in map they run in C++ without Python."""

    _transform = None
    _record = None

    def __call__(self, *values):
        if not values:
            raise TypeError(f"{type(self).__name__}: nothing to transform was given")
        pil = hasattr(values[0], "getbands")
        made = self._transform(values, config.current_seed(), next(_calls))
        if pil:
            made = tuple(_pil(a) for a in made)
        return made[0] if len(made) == 1 else made

    @property
    def random(self):
        """Whether calls differ from each other."""
        return self._transform.random()

    def __repr__(self):
        return repr(self._transform).partition(".")[2]

    def __reduce__(self):
        return _again, (type(self), self._given)


def _again(cls, given):
    args, kwargs = given
    return cls(*args, **kwargs)


def _pil(array):
    """An image of Pillow when the array is one of pixels; the array otherwise."""
    from mycel.dataset.vision.pil import image_of

    return image_of(array) if array.dtype == "uint8" and array.ndim in (2, 3) else array


def _default(value, choice, kind):
    if value is None:
        return None
    if choice is not None:
        return choices.ALL[choice][value]
    if kind == "dtype":
        return getattr(_mycel, value, value)
    if kind in ("ints", "numbers", "strings") and isinstance(value, tuple) and len(value) == 1:
        return value[0]
    return value


def signature_of(arguments_of_record):
    """The inspect.Signature of a record. A name that begins with * takes any number."""
    parameters = []
    for name, has_default, default, choice, kind in arguments_of_record:
        if name.startswith("*"):
            parameters.append(inspect.Parameter(name[1:], inspect.Parameter.VAR_POSITIONAL))
            continue
        parameters.append(
            inspect.Parameter(
                name,
                inspect.Parameter.POSITIONAL_OR_KEYWORD,
                default=_default(default, choice, kind) if has_default else _NO_DEFAULT,
            )
        )
    return inspect.Signature(parameters)


def _bound(signature, name, args, kwargs):
    """Arguments by name; those that were left out stay out."""
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as e:
        raise TypeError(f"{name}{signature}: {e}") from None
    return bound.arguments


def _class(name, base, init, signature, doc, module, **members):
    """A class whose signature is that of its record."""
    this = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    init.__signature__ = inspect.Signature([this, *signature.parameters.values()])
    members |= {"__init__": entry(init), "__doc__": doc, "__module__": module}
    made = type(name, (base,), members)
    made.__signature__ = signature
    return made


def transform_class(record, name, doc, described, module):
    """The class of a record."""
    signature = signature_of(described)
    stars = {p.name for p in signature.parameters.values() if p.kind is p.VAR_POSITIONAL}

    def __init__(self, *args, **kwargs):
        self._given = (args, kwargs)
        given = _bound(signature, name, args, kwargs)
        given = {("*" + k if k in stars else k): v for k, v in given.items()}
        self._transform = _data.make_transform(record, given)

    return _class(name, Transform, __init__, signature, doc, module, _record=record)


def transforms(group, module):
    """{name: class} of the records of a group ("vision")."""
    out = {}
    for record, doc, described in _data.transform_records():
        prefix, _, name = record.partition(".")
        if prefix == group and name[0].isupper():
            out[name] = transform_class(record, name, doc, described, module)
    return out


def functions(group, module):
    """{name: function} of the records of a group with small letters: they take no data and give
    an array."""
    out = {}
    for record, doc, described in _data.transform_records():
        prefix, _, name = record.partition(".")
        if prefix == group and name[0].islower():
            out[name] = _function(record, name, doc, signature_of(described), module)
    return out


def _function(record, name, doc, signature, module):
    def function(*args, **kwargs):
        made = _data.make_transform(record, dict(_bound(signature, name, args, kwargs)))
        return made((), 0, 0)[0]

    function.__name__ = function.__qualname__ = name
    function.__doc__, function.__module__, function.__signature__ = doc, module, signature
    return entry(function)


def source_class(name, doc, described, base, finish):
    """The class of a source."""
    signature = signature_of(described)

    def __init__(self, *args, **kwargs):
        given = _bound(signature, name, args, kwargs)
        common = {n: given.pop(n) for n in _COMMON if n in given}
        if "num_samples" in common and "num_samples" in signature.parameters:
            given["num_samples"] = common["num_samples"]  # goes before numRows of a schema
        workers = arguments.workers(given.pop("num_parallel_workers", None))
        if workers:
            given["num_parallel_workers"] = workers
        if common.get("shuffle") is None and "shuffle" in signature.parameters:
            default = signature.parameters["shuffle"].default
            if default is not None and default is not _NO_DEFAULT and "sampler" not in common:
                common["shuffle"] = default
        base.__init__(self, finish(name, _data.open_source(name, given), **common))

    return _class(name, base, __init__, signature, doc, "mycel.dataset")
