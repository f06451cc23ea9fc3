"""Input pipelines: datasets from files, arrays and Python objects, operators on rows, samplers, and
transforms of images, text and sound."""

import atexit
import importlib

from mycel._refused import refused
from mycel.dataset import config
from mycel.dataset.cache import DatasetCache
from mycel.dataset.callback import DSCallback
from mycel.dataset.choices import Shuffle
from mycel.dataset.datasets import (
    BatchInfo,
    Dataset,
    MappableDataset,
    SourceDataset,
    _zipped,
    finish,
)
from mycel.dataset.generator import (
    GeneratorDataset,
    NumpySlicesDataset,
    PaddedDataset,
    digits,
)
from mycel.dataset.iterators import close_all as _close_all
from mycel.dataset.recipes import compare, deserialize, serialize, show
from mycel.dataset.samplers import (
    BuiltinSampler,
    DistributedSampler,
    IterSampler,
    PKSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    SubsetSampler,
    WeightedRandomSampler,
)
from mycel.dataset.schema import Schema

atexit.register(_close_all)

_MODULES = ("audio", "engine", "text", "transforms", "vision")
# Imported with the first use: {name: module}.
_LATER = {
    "ArrowDataset": "arrow",
    "Graph": "graph",
    "InMemoryGraphDataset": "graph",
    "ParquetDataset": "arrow",
}
_sources = None  # {name: class}, made from the records when the first is asked for


def zip(datasets):
    """Columns of several datasets side by side, up to the shortest."""
    if not isinstance(datasets, (tuple, list)):
        raise TypeError(f"zip: 'datasets' must be a tuple, got {type(datasets).__name__}")
    if len(datasets) < 2 or not isinstance(datasets[0], Dataset):
        return _zipped(list(datasets))
    return datasets[0].zip(tuple(datasets[1:]))


def on_index_progress(function):
    """Long index builds of data that are opened from now on call function(what, done, total) about
    ten times a second: what is indexed, how much is done, and of how much (None: not known). What
    it raises ends the build. None goes back to a bar on stderr where that is a terminal."""
    from mycel import _mycel

    if function is not None and not callable(function):
        raise TypeError(
            f"on_index_progress: 'function' must be callable, got {type(function).__name__}"
        )
    _mycel.data.on_index_progress(function)


def _source_classes():
    global _sources
    if _sources is None:
        from mycel import _mycel
        from mycel.dataset import _records

        _sources = {
            name: _records.source_class(name, doc, described, MappableDataset, finish)
            for name, doc, described in _mycel.data.source_records()
        }
    return _sources


def __getattr__(name):
    if name in _MODULES:
        return importlib.import_module(f"mycel.dataset.{name}")
    if name == "WaitedDSCallback":  # needs mycel.train, which needs this module
        from mycel.dataset.waited_callback import WaitedDSCallback

        return WaitedDSCallback
    if name in _LATER:
        return getattr(importlib.import_module(f"mycel.dataset.{_LATER[name]}"), name)
    if (found := refused("mycel.dataset", name)) is not None:
        return found
    if name.startswith("_"):
        raise AttributeError(f"module 'mycel.dataset' has no attribute '{name}'")
    classes = _source_classes()
    if name in classes:
        return classes[name]
    raise AttributeError(f"module 'mycel.dataset' has no attribute '{name}'")


def __dir__():
    return sorted([*globals(), *_MODULES, *_LATER, *_source_classes()])


__all__ = [
    "ArrowDataset", "BatchInfo", "BuiltinSampler", "DSCallback", "Dataset", "DatasetCache",
    "DistributedSampler", "GeneratorDataset", "Graph", "InMemoryGraphDataset", "IterSampler",
    "MappableDataset", "NumpySlicesDataset", "PKSampler", "PaddedDataset", "ParquetDataset",
    "RandomSampler", "Sampler", "Schema", "SequentialSampler", "Shuffle", "SourceDataset",
    "SubsetRandomSampler", "SubsetSampler", "WaitedDSCallback", "WeightedRandomSampler", "compare",
    "config", "deserialize", "digits", "on_index_progress", "serialize", "show", "zip",
]  # fmt: skip
