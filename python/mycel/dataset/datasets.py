"""Dataset classes. Rows are read, shuffled and batched by the C++ pipeline; Python gives sources
and functions."""

import inspect

import numpy as np

from mycel import _mycel
from mycel._mycel import Tensor, entry

_data = _mycel.data


def _refuse(owner, **options):
    """NotImplementedError for options that have another value than the one that changes nothing."""
    for name, (value, allowed) in options.items():
        if not any(value is a or (type(value) is type(a) and value == a) for a in allowed):
            raise NotImplementedError(
                f"{owner}: {name}={value!r} is not supported; leave it out, or {allowed[0]!r}"
            )


def _names(value, what):
    """One name or several as a list."""
    if value is None:
        return []
    names = [value] if isinstance(value, str) else list(value)
    if not all(isinstance(n, str) for n in names):
        raise TypeError(f"{what} must be a str or a list of them, got {value!r}")
    return names


def _count(value, what, least=1):
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{what} must be an int, got {type(value).__name__}")
    if value < least:
        raise ValueError(f"{what} must be at least {least}, got {value}")
    return int(value)


def _seed():
    from mycel import get_seed

    return get_seed() or 0


def _array(value):
    """A value of a row as the pipeline takes it."""
    if isinstance(value, Tensor):
        return value
    array = np.asarray(value)
    if array.dtype.kind not in "biufc":
        raise TypeError(
            f"dataset: a row holds {type(value).__name__}; numbers and arrays are supported"
        )
    return np.ascontiguousarray(array) if array.ndim else array


def _row(values):
    return [_array(v) for v in (values if isinstance(values, (tuple, list)) else (values,))]


class Dataset:
    """Rows of named columns. Operators give new datasets; the order of rows depends on the seed
    and the number of the epoch alone."""

    def __init__(self, pipeline):
        self._pipeline = pipeline
        self._epoch = 0

    def _next(self, pipeline):
        return Dataset(pipeline)

    # -- operators ----------------------------------------

    @entry
    def batch(
        self,
        batch_size,
        drop_remainder=False,
        num_parallel_workers=None,
        per_batch_map=None,
        input_columns=None,
        output_columns=None,
        column_order=None,
        pad_info=None,
        python_multiprocessing=False,
        max_rowsize=16,
    ):
        """batch_size rows stacked along a new first dim. drop_remainder: leaves out a last,
        smaller batch. num_parallel_workers: rows are read on one thread, so only None or 1."""
        _refuse(
            "batch",
            num_parallel_workers=(num_parallel_workers, (None, 1)),
            per_batch_map=(per_batch_map, (None,)),
            input_columns=(input_columns, (None,)),
            output_columns=(output_columns, (None,)),
            column_order=(column_order, (None,)),
            pad_info=(pad_info, (None,)),
            python_multiprocessing=(python_multiprocessing, (False,)),
            max_rowsize=(max_rowsize, (16,)),
        )
        size = _count(batch_size, "batch: 'batch_size'")
        return self._next(self._pipeline.batch(size, bool(drop_remainder)))

    @entry
    def shuffle(self, buffer_size):
        """Another order of the rows in each epoch, from the seed of mycel.set_seed (0 without
        one). Rows with numbers are permuted as a whole; a stream is drawn from windows of
        buffer_size rows."""
        size = _count(buffer_size, "shuffle: 'buffer_size'", 2)
        return self._next(self._pipeline.shuffle(size, _seed()))

    @entry
    def repeat(self, count=None):
        """The rows `count` times an epoch."""
        if count is None or count == -1:
            raise NotImplementedError(
                "repeat: a dataset without an end is not supported; give a count"
            )
        return self._next(self._pipeline.repeat(_count(count, "repeat: 'count'")))

    @entry
    def take(self, count=-1):
        """The first `count` rows; -1: all."""
        if count == -1:
            return self
        return self._next(self._pipeline.take(_count(count, "take: 'count'")))

    @entry
    def skip(self, count):
        """The rows behind the first `count`."""
        return self._next(self._pipeline.skip(_count(count, "skip: 'count'", 0)))

    @entry
    def project(self, columns):
        """Only these columns, in this order."""
        return self._next(self._pipeline.project(_names(columns, "project: 'columns'")))

    @entry
    def map(
        self,
        operations,
        input_columns=None,
        output_columns=None,
        column_order=None,
        num_parallel_workers=None,
        python_multiprocessing=False,
        cache=None,
        callbacks=None,
        max_rowsize=16,
        offload=None,
    ):
        """Applies functions, one after the other, to columns (all by default) as NumPy arrays; the
        results take their place, named output_columns."""
        _refuse(
            "map",
            column_order=(column_order, (None,)),
            num_parallel_workers=(num_parallel_workers, (None, 1)),
            python_multiprocessing=(python_multiprocessing, (False,)),
            cache=(cache, (None,)),
            callbacks=(callbacks, (None,)),
            max_rowsize=(max_rowsize, (16,)),
            offload=(offload, (None, False)),
        )
        operations = list(operations) if isinstance(operations, (list, tuple)) else [operations]
        if not operations or not all(callable(f) for f in operations):
            raise TypeError("map: 'operations' must be a function or a list of functions")

        def run(tensors):
            values = tuple(t.asnumpy() for t in tensors)
            for f in operations:
                made = f(*values)
                values = made if isinstance(made, tuple) else (made,)
            return [_array(v) for v in values]

        names = (
            _names(input_columns, "map: 'input_columns'"),
            _names(output_columns, "map: 'output_columns'"),
        )
        return self._next(self._pipeline.map(run, *names))

    # -- rows ----------------------------------------

    def _rows(self, num_epochs, convert):
        epochs = iter(int, 1) if num_epochs == -1 else range(num_epochs)
        for _ in epochs:
            reader = self._pipeline.iterate(self._epoch)
            self._epoch += 1
            for row in reader:
                yield convert(row)
            if num_epochs == -1:
                return

    @entry
    def create_tuple_iterator(self, columns=None, num_epochs=-1, output_numpy=False, do_copy=True):
        """An iterator over rows as lists of Tensors, or of arrays with output_numpy. Each iterator
        gives one epoch, or num_epochs of them."""
        dataset = self if columns is None else self.project(columns)
        one = (lambda t: t.asnumpy()) if output_numpy else (lambda t: t)
        return dataset._rows(_epochs(num_epochs), lambda row: [one(t) for t in row])

    @entry
    def create_dict_iterator(self, num_epochs=-1, output_numpy=False, do_copy=True):
        """An iterator over rows as dicts from column to Tensor, or to array with output_numpy."""
        names = self.get_col_names()
        one = (lambda t: t.asnumpy()) if output_numpy else (lambda t: t)
        return self._rows(_epochs(num_epochs), lambda row: {n: one(t) for n, t in zip(names, row)})

    def __iter__(self):
        return self.create_tuple_iterator(num_epochs=1)

    def __len__(self):
        return self.get_dataset_size()

    # -- facts ----------------------------------------

    @entry
    def get_dataset_size(self):
        """Rows (batches, behind batch) an epoch; a source that does not tell is counted once."""
        size = self._pipeline.size()
        if size < 0:
            size = self.__dict__.get("_counted", -1)
            if size < 0:
                size = self._counted = sum(1 for _ in self._pipeline.iterate(0))
        return size

    def get_batch_size(self):
        """Rows in a batch; 1 without batch."""
        return self._pipeline.batch_size()

    def get_repeat_count(self):
        """How often repeat gives the rows in an epoch."""
        return self._pipeline.repeat_count()

    def get_col_names(self):
        """Names of the columns."""
        return self._pipeline.columns()

    def _first(self):
        for row in self._pipeline.iterate(0):
            return row
        raise ValueError("dataset: there are no rows")

    @entry
    def output_shapes(self):
        """The shape of each column in the first row."""
        return [list(t.shape) for t in self._first()]

    @entry
    def output_types(self):
        """The NumPy type of each column."""
        return [t.asnumpy().dtype.type for t in self._first()]

    def reset(self):
        """Starts over with the first epoch."""
        self._epoch = 0


def _epochs(value):
    if value == -1 and not isinstance(value, bool):
        return value
    return _count(value, "'num_epochs'")


class MappableDataset(Dataset):
    """A dataset whose rows have numbers."""


def _shuffled(pipeline, shuffle, owner):
    if shuffle is None or shuffle is False:
        return pipeline
    if shuffle is not True:
        raise TypeError(f"{owner}: 'shuffle' must be True, False or None, got {shuffle!r}")
    return pipeline.shuffle(2, _seed())


def _limited(pipeline, num_samples, owner):
    if num_samples is None:
        return pipeline
    return pipeline.take(_count(num_samples, f"{owner}: 'num_samples'"))


def _finish(
    owner, pipeline, num_samples, shuffle, num_parallel_workers, sampler, num_shards, shard_id
):
    _refuse(
        owner,
        num_parallel_workers=(num_parallel_workers, (1, None)),
        sampler=(sampler, (None,)),
        num_shards=(num_shards, (None, 1)),
        shard_id=(shard_id, (None, 0)),
    )
    return _limited(_shuffled(pipeline, shuffle, owner), num_samples, owner)


class NumpySlicesDataset(MappableDataset):
    """Rows are slices of arrays along their first dim.

    data: an array or list, a tuple of them, or a dict from column to them. column_names: names
    of the columns ("column_0", … without). num_samples: at most so many rows. shuffle: a new
    order in each epoch when True (None: not shuffled).
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
        names = _names(column_names, "NumpySlicesDataset: 'column_names'")
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
        pipeline = _data.tensors([(n, _array(a)) for n, a in zip(names, arrays)])
        super().__init__(
            _finish(
                "NumpySlicesDataset",
                pipeline,
                num_samples,
                shuffle,
                num_parallel_workers,
                sampler,
                num_shards,
                shard_id,
            )
        )


class GeneratorDataset(MappableDataset):
    """Rows from Python: an object with __getitem__ and __len__, an iterable, or a function that
    gives an iterator. Rows are read on this thread.

    column_names: names of the values of a row. shuffle: a new order in each epoch when True;
    the source needs __getitem__ then (None: not shuffled). num_samples: at most so many rows.
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
        _refuse(
            "GeneratorDataset",
            column_types=(column_types, (None,)),
            schema=(schema, (None,)),
            max_rowsize=(max_rowsize, (6,)),
        )
        # With one worker there are no processes to choose: either value is the same.
        if not isinstance(python_multiprocessing, bool):
            raise TypeError("GeneratorDataset: 'python_multiprocessing' must be True or False")
        names = _names(column_names, "GeneratorDataset: 'column_names'")
        if not names:
            raise ValueError("GeneratorDataset: 'column_names' must name the values of a row")
        pipeline = self._pipeline_of(source, names, shuffle)
        super().__init__(
            _finish(
                "GeneratorDataset",
                pipeline,
                num_samples,
                shuffle,
                num_parallel_workers,
                sampler,
                num_shards,
                shard_id,
            )
        )

    @staticmethod
    def _pipeline_of(source, names, shuffle):
        length = len(source) if hasattr(source, "__len__") else -1
        if length == 0:
            raise ValueError("GeneratorDataset: the source has no rows")
        if hasattr(source, "__getitem__") and length > 0:
            return _data.rows(lambda i: _row(source[i]), length, names)
        if shuffle:
            raise ValueError(
                "GeneratorDataset: shuffle=True needs a source with __getitem__ and __len__"
            )
        if inspect.isgenerator(source) or hasattr(source, "__next__"):
            raise TypeError(
                "GeneratorDataset: an iterator gives its rows only once"
                "\n  Give the function that makes it."
            )
        if callable(source) and not hasattr(source, "__iter__"):
            return _data.stream(lambda: map(_row, iter(source())), length, names)
        if hasattr(source, "__iter__"):
            return _data.stream(lambda: map(_row, iter(source)), length, names)
        raise TypeError(
            "GeneratorDataset: 'source' needs __getitem__ and __len__, or is iterable, or is a "
            f"function that gives an iterator, got {type(source).__name__}"
        )


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
