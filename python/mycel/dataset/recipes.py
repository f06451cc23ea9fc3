"""How a dataset was made, as JSON: its class or operator, the arguments, and the dataset it was
made from. From it a pipeline is made again, written to a file and compared."""

import enum
import functools
import importlib
import inspect
import json
import os

import numpy as np

from mycel import _mycel, log

_DTYPE = type(_mycel.float32)
_OPERATORS = (
    "batch bucket_batch_by_length cache concat filter flat_map map padded_batch project rename "
    "repeat shuffle skip skip_errors split sync_wait take use_sampler zip"
).split()


def _named(function, args, kwargs):
    """The arguments of a call by name; those that were left out stay out."""
    bound = inspect.signature(function).bind(*args, **kwargs).arguments
    bound.pop("self", None)
    return bound


def recorded(operator):
    """An operator of Dataset whose results know how they were made."""

    @functools.wraps(operator)
    def call(self, *args, **kwargs):
        made = operator(self, *args, **kwargs)
        parts = made if isinstance(made, list) else [made]
        for i, part in enumerate(parts):
            if part is not self:
                part._recipe = (operator.__name__, args, kwargs, self, i)
        return made

    return call


def record_operators(cls):
    """Makes the operators of a class recorded."""
    for name in _OPERATORS:
        setattr(cls, name, _mycel.entry(recorded(getattr(cls, name))))


class _Encoder:
    """Values as JSON; `functions` are those of Python met on the way, by name in the JSON."""

    def __init__(self):
        self.functions = []

    def dataset(self, d):
        recipe = getattr(d, "_recipe", None)
        if recipe is None:
            cls = type(d)
            given = _named(cls, *d._given)
            return {"dataset": cls.__name__, "arguments": self.values(given)}
        name, args, kwargs, source, part = recipe
        given = _named(getattr(type(source), name), (source, *args), kwargs)
        out = {"operator": name, "arguments": self.values(given), "input": self.dataset(source)}
        if part:
            out["part"] = part
        return out

    def values(self, arguments):
        return {name: self.value(v) for name, v in arguments.items()}

    def value(self, v):  # noqa: PLR0911
        if isinstance(v, enum.Enum):
            return {"choice": [type(v).__name__, v.name]}
        if v is None or isinstance(v, (bool, int, float, str)):
            return v
        if isinstance(v, (np.bool_, np.integer, np.floating)):
            return v.item()
        if isinstance(v, np.ndarray):
            return {"array": v.tolist(), "dtype": v.dtype.str}
        if isinstance(v, tuple):
            return {"tuple": [self.value(e) for e in v]}
        if isinstance(v, list):
            return [self.value(e) for e in v]
        if isinstance(v, dict):
            return {"dict": [[self.value(k), self.value(e)] for k, e in v.items()]}
        if isinstance(v, _DTYPE):
            return {"dtype": str(v).rpartition(".")[2].lower()}
        return self.object(v)

    def object(self, v):
        from mycel.dataset.cache import DatasetCache
        from mycel.dataset.datasets import Dataset
        from mycel.dataset.samplers import BuiltinSampler
        from mycel.dataset.schema import Schema
        from mycel.dataset.text import Vocab

        if isinstance(v, Dataset):
            return {"dataset_made": self.dataset(v)}
        if isinstance(v, Schema):
            return {"schema": v.to_json()}
        if isinstance(v, os.PathLike):
            return os.fspath(v)
        if isinstance(v, DatasetCache):
            return {"cache": [v.session_id, v.size, v.spilling]}
        if isinstance(v, Vocab):
            return {"vocab": v.vocab()}
        if isinstance(v, BuiltinSampler):
            out = {
                "sampler": type(v).__name__,
                "arguments": self.values(_named(type(v), *v._given)),
            }
            if v.get_child() is not None:
                out["child"] = self.value(v.get_child())
            return out
        if hasattr(v, "_given") and getattr(v, "_record", None):
            args, kwargs = v._given
            out = {"transform": [type(v).__module__, type(v).__name__]}
            return out | {"args": [self.value(a) for a in args], "kwargs": self.values(kwargs)}
        self.functions.append(v)
        name = getattr(v, "__qualname__", type(v).__qualname__)
        return {"function": f"{getattr(v, '__module__', '?')}.{name}"}


def to_json(dataset):
    """(the JSON of a dataset, functions of Python in it)."""
    encoder = _Encoder()
    return encoder.dataset(dataset), encoder.functions


def _value(j):  # noqa: PLR0911
    """What _Encoder.value was given."""
    import mycel.dataset as ds

    if isinstance(j, list):
        return [_value(e) for e in j]
    if not isinstance(j, dict):
        return j
    match next(iter(j)):
        case "choice":
            from mycel.dataset.choices import ALL

            return ALL[j["choice"][0]][j["choice"][1]]
        case "array":
            return np.array(j["array"], dtype=j["dtype"])
        case "tuple":
            return tuple(_value(j["tuple"]))
        case "dict":
            return {_value(k): _value(v) for k, v in j["dict"]}
        case "dtype":
            name = j["dtype"]
            return getattr(_mycel, f"{name}_" if name == "bool" else name)
        case "dataset_made":
            return _dataset(j["dataset_made"])
        case "schema":
            schema = ds.Schema()
            schema.from_json(json.loads(j["schema"]))
            return schema
        case "cache":
            return ds.DatasetCache(*j["cache"])
        case "vocab":
            return importlib.import_module("mycel.dataset.text").Vocab.from_dict(j["vocab"])
        case "sampler":
            sampler = getattr(ds, j["sampler"])(**_values(j["arguments"]))
            if "child" in j:
                sampler.add_child(_value(j["child"]))
            return sampler
        case "transform":
            module, name = j["transform"]
            if not module.startswith("mycel.dataset."):
                raise ValueError(f"deserialize: there is no transform {module}.{name}")
            cls = getattr(importlib.import_module(module), name)
            return cls(*_value(j["args"]), **_values(j["kwargs"]))
        case "function":
            raise TypeError(
                f"deserialize: the pipeline holds the function {j['function']} of Python, which "
                "JSON cannot; make it as the program did"
            )
    raise ValueError(f"deserialize: {j!r} is nothing that serialize writes")


def _values(arguments):
    return {name: _value(v) for name, v in arguments.items()}


def _dataset(j):
    import mycel.dataset as ds

    if not isinstance(j, dict) or not ({"dataset", "operator"} & set(j)):
        raise ValueError(f"deserialize: {j!r} is no pipeline that serialize has written")
    arguments = _values(j.get("arguments", {}))
    if "dataset" in j:
        cls = getattr(ds, j["dataset"], None)
        if not (isinstance(cls, type) and issubclass(cls, ds.Dataset)):
            raise ValueError(f"deserialize: there is no dataset {j['dataset']!r}")
        return cls(**arguments)
    if j["operator"] not in _OPERATORS:
        raise ValueError(f"deserialize: there is no operator {j['operator']!r}")
    made = getattr(_dataset(j["input"]), j["operator"])(**arguments)
    return made[j.get("part", 0)] if isinstance(made, list) else made


def _checked(dataset, owner):
    from mycel.dataset.datasets import Dataset

    if not isinstance(dataset, Dataset):
        raise TypeError(f"{owner}: expected a dataset, got {type(dataset).__name__}")
    return dataset


def serialize(dataset, json_filepath=""):
    """How a pipeline was made as a dict, and as JSON in the file if one is named. Functions of
    Python stand there by name only."""
    return _checked(dataset, "serialize").to_json(json_filepath)


def deserialize(input_dict=None, json_filepath=None):
    """The pipeline that serialize wrote, made again with the seed of now. TypeError: it holds a
    function of Python. OSError: the file cannot be read."""
    if (input_dict is None) == (json_filepath is None):
        raise ValueError("deserialize: give input_dict or json_filepath")
    if json_filepath is not None:
        with open(json_filepath, encoding="utf-8") as f:
            input_dict = json.load(f)
    return _dataset(input_dict)


def compare(pipeline1, pipeline2):
    """Whether two pipelines were made in the same way, with the same functions."""
    one, functions = to_json(_checked(pipeline1, "compare"))
    other, others = to_json(_checked(pipeline2, "compare"))
    return one == other and all(a is b for a, b in zip(functions, others, strict=True))


def show(dataset, indentation=2):
    """Writes how a pipeline was made to the log, as JSON."""
    log.info(json.dumps(_checked(dataset, "show").to_json(), indent=indentation))
