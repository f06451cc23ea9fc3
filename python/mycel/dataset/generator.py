"""Datasets from Python: arrays, and objects or functions that give rows."""

import inspect

import numpy as np

from mycel import _mycel
from mycel._mycel import entry
from mycel.common.dtype import dtype_to_nptype
from mycel.dataset import _arguments as arguments
from mycel.dataset._processes import pooled
from mycel.dataset.datasets import MappableDataset, finish

_data = _mycel.data
_DTYPE = type(_mycel.float32)


def _as_tuple(values):
    return tuple(values) if isinstance(values, (tuple, list)) else (values,)


class NumpySlicesDataset(MappableDataset):
    """Rows are slices of arrays along their first dim.

    data: an array or list, a tuple of them, or a dict from column to them. column_names: names
    of the columns ("column_0", … without). num_samples: at most so many rows. shuffle: a new
    order in each epoch when True (None: not shuffled). sampler, num_shards, shard_id: as of every
    source.
    """

    @entry
    def __init__(
        self,
        data,
        column_names=None,
        num_samples=None,
        num_parallel_workers=1,
        shuffle=None,
        sampler=None,
        num_shards=None,
        shard_id=None,
    ):
        arguments.workers(num_parallel_workers)  # slices are views: there is nothing to share out
        names = arguments.names(column_names, "NumpySlicesDataset: 'column_names'")
        if isinstance(data, dict):
            if names:
                raise ValueError(
                    "NumpySlicesDataset: a dict has names already; leave column_names out"
                )
            names, arrays = list(data), list(data.values())
        else:
            arrays = list(data) if isinstance(data, tuple) else [data]
            names = names or [f"column_{i}" for i in range(len(arrays))]
        if len(names) != len(arrays):
            raise ValueError(
                f"NumpySlicesDataset: {len(arrays)} columns and {len(names)} names were given"
            )
        super().__init__(
            finish(
                "NumpySlicesDataset",
                _data.arrays(list(zip(names, arrays))),
                num_samples,
                shuffle,
                sampler,
                num_shards,
                shard_id,
            )
        )


class _Typed:
    """A source whose values are converted to NumPy types, one a column."""

    def __init__(self, get, types):
        self._get, self._types = get, types

    def __call__(self, i):
        return self.converted(self._get(i))

    def converted(self, row):
        return tuple(
            v if t is None else np.asarray(v).astype(t) for v, t in zip(_as_tuple(row), self._types)
        )


class _Item:
    """source[i] as a tuple; of a class, so that it can be pickled with its source."""

    def __init__(self, source):
        self._source = source

    def __call__(self, i):
        return _as_tuple(self._source[i])


class GeneratorDataset(MappableDataset):
    """Rows from Python: an object with __getitem__ and __len__, an iterable, or a function that
    gives an iterator.

    column_names: names of the values of a row. column_types: their types (None: as they come).
    schema: a Schema, or the path of one, instead of both. shuffle: a new order in each epoch when
    True; needs __getitem__ (None: not shuffled). num_samples: at most so many rows.
    num_parallel_workers: threads that read rows by number; with python_multiprocessing, and more
    than one, processes, where the source can be pickled and the program has a guard (otherwise
    threads; the log says so). sampler, num_shards, shard_id: need __getitem__. max_rowsize: rows
    may be of any size. What the source raises arrives with its traceback, at its row.
    """

    @entry
    def __init__(
        self,
        source,
        column_names=None,
        column_types=None,
        schema=None,
        num_samples=None,
        num_parallel_workers=1,
        shuffle=None,
        sampler=None,
        num_shards=None,
        shard_id=None,
        python_multiprocessing=True,
        max_rowsize=6,
    ):
        arguments.flag(python_multiprocessing, "GeneratorDataset: 'python_multiprocessing'")
        workers = arguments.workers(num_parallel_workers)
        names = arguments.names(column_names, "GeneratorDataset: 'column_names'")
        types = None
        if column_types is not None:
            types = [dtype_to_nptype(t) if isinstance(t, _DTYPE) else t for t in column_types]
        if schema is not None:
            from mycel.dataset.schema import columns_of

            if names or types:
                raise ValueError("GeneratorDataset: 'schema' names the columns and types already")
            names, types = columns_of(schema)
        if not names:
            raise ValueError("GeneratorDataset: 'column_names' must name the values of a row")
        if types is not None and len(types) != len(names):
            raise ValueError(
                f"GeneratorDataset: {len(names)} columns and {len(types)} types were given"
            )
        processes = workers if python_multiprocessing else 0
        pipeline = self._pipeline_of(source, names, types, shuffle, workers, processes)
        super().__init__(
            finish(
                "GeneratorDataset", pipeline, num_samples, shuffle, sampler, num_shards, shard_id
            )
        )

    @staticmethod
    def _pipeline_of(source, names, types, shuffle, workers, processes):
        length = len(source) if hasattr(source, "__len__") else -1
        if length == 0:
            raise ValueError("GeneratorDataset: the source has no rows")
        if hasattr(source, "__getitem__") and length > 0:
            get = _Item(source)
            if types is not None:
                get = _Typed(get, types)
            if processes > 1:
                get = pooled(get, processes)
            # One worker asked for is none: the reader decides.
            return _data.rows(get, length, names, workers if workers > 1 else 0)
        if shuffle:
            raise ValueError(
                "GeneratorDataset: shuffle=True needs a source with __getitem__ and __len__"
            )
        if inspect.isgenerator(source) or hasattr(source, "__next__"):
            raise TypeError(
                "GeneratorDataset: an iterator gives its rows only once"
                "\n  Give the function that makes it."
            )
        convert = _as_tuple if types is None else _Typed(None, types).converted
        if callable(source) and not hasattr(source, "__iter__"):
            return _data.stream(lambda: map(convert, iter(source())), length, names)
        if hasattr(source, "__iter__"):
            return _data.stream(lambda: map(convert, iter(source)), length, names)
        raise TypeError(
            "GeneratorDataset: 'source' needs __getitem__ and __len__, or is iterable, or is a "
            f"function that gives an iterator, got {type(source).__name__}"
        )


class PaddedDataset(MappableDataset):
    """Rows given as dicts from column to value, to be added to a dataset whose number of rows does
    not fit: dataset + PaddedDataset(rows)."""

    @entry
    def __init__(self, padded_samples):
        rows = list(padded_samples)
        if not rows or not all(isinstance(r, dict) and r for r in rows):
            raise TypeError("PaddedDataset: 'padded_samples' must be a list of dicts")
        names = list(rows[0])
        for r in rows:
            if list(r) != names:
                raise ValueError(f"PaddedDataset: a row has columns {list(r)}, the first {names}")
        self.padded_samples = rows
        super().__init__(_data.rows(lambda i: [rows[i][n] for n in names], len(rows), names, 0))


@entry
def digits(dataset_dir=None, usage="all", shuffle=None, num_samples=None):
    """The bundled handwritten digits: columns "image", float32 (1, 8, 8) from 0 to 1, and "label",
    int32.

    dataset_dir: the file or its folder instead of the bundled one. usage: "test" (every fifth row,
    360), "train" (the other 1,437) or "all". shuffle: a new order in each epoch when True.
    """
    images, labels = _data.digits(usage, "" if dataset_dir is None else str(dataset_dir))
    data = {"image": images, "label": labels}
    return NumpySlicesDataset(data, shuffle=shuffle, num_samples=num_samples)
