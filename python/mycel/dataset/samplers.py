"""Samplers: which rows of a dataset, and in which order. Orders are computed in C++ from the seed
and the epoch alone."""

import numpy as np

from mycel import _mycel
from mycel._mycel import entry
from mycel.dataset import _arguments as arguments
from mycel.dataset import config

_data = _mycel.data
ALL = -1


def _count(value, owner):
    if value is None or value == 0:
        return ALL
    return arguments.count(value, f"{owner}: 'num_samples'")


def _rows(indices, owner):
    if isinstance(indices, (int, np.integer)) and not isinstance(indices, bool):
        return [int(indices)]
    array = np.asarray(indices if hasattr(indices, "__len__") else list(indices))
    if array.size and array.dtype.kind not in "iu":
        raise TypeError(f"{owner}: 'indices' must be ints, got {indices!r}")
    return array.ravel().astype(np.int64).tolist()


class Sampler:
    """The base of samplers. A subclass written in Python defines __iter__, which gives the numbers
    of rows; it is asked once an epoch. add_child: a sampler whose rows this one draws from."""

    def __new__(cls, *args, **kwargs):
        made = super().__new__(cls)
        made._given = (args, kwargs)  # for recipes
        return made

    def __init__(self, num_samples=None):
        self.num_samples = num_samples
        self._child = None

    def __iter__(self):
        raise NotImplementedError(f"{type(self).__name__} must define __iter__")

    def add_child(self, sampler):
        """Draws from the rows that `sampler` gives, not from all rows."""
        if self._child is not None:
            raise RuntimeError("add_child: there is a child already")
        self._child = _checked(sampler)

    def get_child(self):
        """The sampler that this one draws from, or None."""
        return self._child

    def get_num_samples(self):
        """How many rows were asked for, or None."""
        return self.num_samples

    def _apply(self, pipeline):
        """The rows of `pipeline` that this sampler names."""
        if self._child is not None:
            pipeline = self._child._apply(pipeline)
        return pipeline.sample(self._order(pipeline))

    def _order(self, pipeline):
        def rows_of(epoch):
            rows = _rows(list(self), type(self).__name__)
            return rows[: self.num_samples] if self.num_samples else rows

        return _data.tabled(rows_of)


def _checked(sampler):
    if isinstance(sampler, Sampler):
        return sampler
    if isinstance(sampler, (list, tuple, np.ndarray, range)):
        return SubsetSampler(list(sampler))
    if hasattr(sampler, "__iter__"):
        return _IterableSampler(sampler)
    raise TypeError(f"a sampler must be a Sampler, a list of ints or iterable, got {sampler!r}")


class BuiltinSampler(Sampler):
    """The base of the samplers that are computed in C++."""


class _IterableSampler(Sampler):
    """Any object whose iterator gives the numbers of rows."""

    def __init__(self, source):
        super().__init__()
        self._source = source

    def __iter__(self):
        return iter(self._source)


class SequentialSampler(BuiltinSampler):
    """Rows start_index, start_index + 1, …, num_samples at most (None: all).

    Examples:
        >>> NumpySlicesDataset(data, sampler=SequentialSampler(10, 5))  # rows 10 to 14
    """

    @entry
    def __init__(self, start_index=None, num_samples=None):
        super().__init__(num_samples)
        start = 0 if start_index is None else start_index
        self._made = _data.sequential(
            arguments.count(start, "SequentialSampler: 'start_index'", 0),
            _count(num_samples, "SequentialSampler"),
        )

    def _order(self, pipeline):
        return self._made


class RandomSampler(BuiltinSampler):
    """Rows in a new order each epoch. replacement: each place is drawn by itself, so that rows may
    come several times. num_samples: None for all."""

    @entry
    def __init__(self, replacement=False, num_samples=None):
        super().__init__(num_samples)
        self._made = _data.random_order(
            config.current_seed(),
            arguments.flag(replacement, "RandomSampler: 'replacement'"),
            _count(num_samples, "RandomSampler"),
        )

    def _order(self, pipeline):
        return self._made


class SubsetSampler(BuiltinSampler):
    """These rows in this order; negative numbers count from the end."""

    @entry
    def __init__(self, indices, num_samples=None):
        super().__init__(num_samples)
        name = type(self).__name__
        self.indices = _rows(indices, name)
        self._made = self._make(_count(num_samples, name))

    def _make(self, count):
        return _data.subset(self.indices, count)

    def _order(self, pipeline):
        return self._made


class SubsetRandomSampler(SubsetSampler):
    """These rows in a new order each epoch."""

    def _make(self, count):
        return _data.random_subset(self.indices, config.current_seed(), count)


class WeightedRandomSampler(BuiltinSampler):
    """Rows drawn with probabilities that are proportional to `weights` (one each row, 0 or more).

    replacement: False draws each row once at most (P. Efraimidis, P. Spirakis, 2006).
    num_samples: None for as many as there are weights."""

    @entry
    def __init__(self, weights, num_samples=None, replacement=True):
        super().__init__(num_samples)
        values = np.asarray(weights)
        if values.ndim != 1 or not values.size or values.dtype.kind not in "iuf":
            raise TypeError("WeightedRandomSampler: 'weights' must be a list of numbers")
        self._made = _data.weighted(
            values.astype(np.float64).tolist(),
            config.current_seed(),
            arguments.flag(replacement, "WeightedRandomSampler: 'replacement'"),
            _count(num_samples, "WeightedRandomSampler"),
        )

    def _order(self, pipeline):
        return self._made


class PKSampler(BuiltinSampler):
    """num_val rows of each class, class by class; of num_class classes that are drawn anew each
    epoch (None: all). shuffle: rows of a class are drawn in a new order each epoch. class_column:
    the column with the class, an int."""

    @entry
    def __init__(
        self, num_val, num_class=None, shuffle=False, class_column="label", num_samples=None
    ):
        super().__init__(num_samples)
        self._values = arguments.count(num_val, "PKSampler: 'num_val'")
        self._classes = ALL
        if num_class is not None:
            self._classes = arguments.count(num_class, "PKSampler: 'num_class'")
        self._shuffle = arguments.flag(shuffle, "PKSampler: 'shuffle'")
        (self._column,) = arguments.names(class_column, "PKSampler: 'class_column'")
        self._count = _count(num_samples, "PKSampler")

    def _order(self, pipeline):
        labels = []
        reader = _data.Reader(pipeline.project([self._column]), 0, 0, -1, 0, 1, False)
        while (row := reader.next(False)) is not None:
            if row[0].size != 1 or row[0].dtype.kind not in "iub":
                raise ValueError(f"PKSampler: column '{self._column}' must hold one int a row")
            labels.append(int(row[0].item()))
        return _data.per_class(
            labels, self._values, config.current_seed(), self._shuffle, self._classes, self._count
        )


class DistributedSampler(BuiltinSampler):
    """Every num_shards-th row, from row shard_id on, so that all shards have the same number of
    rows: the first rows come twice where they must. shuffle: of an order that all shards share.
    offset: the shard that gets row 0 (-1: shard 0); shards may then differ by one row."""

    @entry
    def __init__(self, num_shards, shard_id, shuffle=True, num_samples=None, offset=-1):
        super().__init__(num_samples)
        self._made = _data.sharded(
            arguments.count(num_shards, "DistributedSampler: 'num_shards'"),
            arguments.count(shard_id, "DistributedSampler: 'shard_id'", 0),
            arguments.flag(shuffle, "DistributedSampler: 'shuffle'"),
            config.current_seed(),
            _count(num_samples, "DistributedSampler"),
            arguments.count(offset, "DistributedSampler: 'offset'", -1),
        )

    def _order(self, pipeline):
        return self._made


class IterSampler(Sampler):
    """The rows that the iterator of `sampler` names, asked anew each epoch."""

    @entry
    def __init__(self, sampler, num_samples=None):
        super().__init__(num_samples)
        if not hasattr(sampler, "__iter__"):
            raise TypeError(f"IterSampler: 'sampler' must be iterable, got {sampler!r}")
        self._source = sampler

    def __iter__(self):
        return iter(self._source)
