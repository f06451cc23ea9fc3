"""Dataset and its operators. Rows are read, changed and batched by the C++ pipeline; Python gives
sources and functions."""

import json

import numpy as np

from mycel import _mycel, log
from mycel._mycel import entry
from mycel.dataset import _arguments as arguments
from mycel.dataset import callback, config, gates, recipes, samplers
from mycel.dataset._operations import as_steps
from mycel.dataset.choices import Shuffle
from mycel.dataset.iterators import Iterator

_data = _mycel.data


class BatchInfo:
    """What a function of batch() is told: the number of the batch in the epoch, and the epoch."""

    def __init__(self, batch, epoch):
        self._batch, self._epoch = batch, epoch

    def get_batch_num(self):
        """The number of the batch in its epoch, from 0."""
        return self._batch

    def get_epoch_num(self):
        """The number of the epoch, from 0."""
        return self._epoch


def _padding(pad_info, columns):
    """[(column, shape, number, text)] from {column: (shape or None, value)}; {}: every column."""
    if pad_info is None:
        return []
    if not isinstance(pad_info, dict):
        raise TypeError(f"batch: 'pad_info' must be a dict, got {type(pad_info).__name__}")
    out = []
    for column, how in (pad_info or dict.fromkeys(columns)).items():
        shape, value = how if how is not None else (None, None)
        sizes = []
        for d in shape or ():
            sizes.append(-1 if d is None else arguments.count(d, f"batch: padding of '{column}'"))
        text = value if isinstance(value, (str, bytes)) else ""
        text = text.decode() if isinstance(text, bytes) else text
        number = 0.0 if value is None or isinstance(value, (str, bytes)) else float(value)
        out.append((column, sizes, number, text))
    return out


class Dataset:
    """Rows of named columns. Operators give new datasets; the order of rows and all random numbers
    depend on the seed and the number of the epoch alone, whatever the number of threads."""

    def __new__(cls, *args, **kwargs):
        made = super().__new__(cls)
        made._given = (args, kwargs)  # for recipes
        return made

    def __init__(self, pipeline, callbacks=()):
        self._pipeline = pipeline
        self._epoch = self._position = 0
        self._callbacks = list(callbacks)
        self._gates = []  # of sync_wait

    def _next(self, pipeline, callbacks=()):
        made = Dataset(pipeline, self._callbacks + list(callbacks))
        made._gates = self._gates
        return made

    # -- batches ------------------------------------------

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
        """batch_size rows stacked along a new first dim.

        batch_size: an int, or a function of a BatchInfo that gives one. drop_remainder: leaves out
        a last, smaller batch. per_batch_map: f(column, …, batch_info) on the lists of arrays of
        input_columns (all without), giving lists of arrays named output_columns. pad_info: {column:
        (shape, value)} fills rows up to `shape` (None: the longest of the batch); {} pads all
        columns with 0. column_order: the columns wanted. python_multiprocessing, max_rowsize: the
        function runs on threads of this process either way.
        """
        arguments.flag(python_multiprocessing, "batch: 'python_multiprocessing'")
        if not callable(batch_size):
            arguments.count(batch_size, "batch: 'batch_size'")
        elif not _takes(batch_size, 1):
            raise ValueError("batch: a function for 'batch_size' takes one BatchInfo")
        options = self._batching(
            drop_remainder, num_parallel_workers, per_batch_map, input_columns, output_columns
        )
        options["padding"] = _padding(pad_info, options["outputs"] or self._pipeline.columns())
        size = batch_size
        if callable(batch_size):
            size = lambda batch, epoch: batch_size(BatchInfo(batch, epoch))  # noqa: E731
        made = self._next(self._pipeline.batch(size, options))
        return made if column_order is None else made.project(column_order)

    def _batching(self, drop_remainder, workers, function=None, inputs=None, outputs=None):
        inputs = arguments.names(inputs, "batch: 'input_columns'")
        outputs = arguments.names(outputs, "batch: 'output_columns'")
        run = None
        if function is not None:
            arguments.function(function, "batch: 'per_batch_map'")

            def run(columns, batch, epoch):
                made = function(*columns, BatchInfo(batch, epoch))
                return made if isinstance(made, tuple) else (made,)

        return {
            "drop_remainder": arguments.flag(drop_remainder, "batch: 'drop_remainder'"),
            "workers": arguments.workers(workers),
            "function": run,
            "inputs": inputs,
            "outputs": outputs,
            "padding": [],
        }

    @entry
    def padded_batch(
        self, batch_size, drop_remainder=False, num_parallel_workers=None, pad_info=None
    ):
        """batch with padding; pad_info as there, None pads all columns with 0."""
        return self.batch(batch_size, drop_remainder, num_parallel_workers, pad_info=pad_info or {})

    @entry
    def bucket_batch_by_length(
        self,
        column_names,
        bucket_boundaries,
        bucket_batch_sizes,
        element_length_function=None,
        pad_info=None,
        pad_to_bucket_boundary=False,
        drop_remainder=False,
    ):
        """Rows of like length together.

        A row of length n goes to the first bucket i with n < bucket_boundaries[i], else to the
        last one; bucket i gives batches of bucket_batch_sizes[i] rows. The length is the first dim
        of the column, or element_length_function(*columns). pad_info: as of batch (None: rows are
        not padded). pad_to_bucket_boundary: None in pad_info means the boundary less one."""
        options = self._batching(drop_remainder, None)
        options["padding"] = _padding(pad_info, self._pipeline.columns())
        names = arguments.names(column_names, "bucket_batch_by_length: 'column_names'")
        return self._next(
            self._pipeline.bucket_batch(
                names,
                [int(b) for b in bucket_boundaries],
                [int(b) for b in bucket_batch_sizes],
                element_length_function,
                arguments.flag(pad_to_bucket_boundary, "'pad_to_bucket_boundary'"),
                options,
            )
        )

    # -- which rows ---------------------------------------

    @entry
    def shuffle(self, buffer_size):
        """Another order of the rows in each epoch, from the seed of mycel.set_seed (0 without
        one). Rows with numbers are permuted as a whole; a stream is drawn from windows of
        buffer_size rows."""
        size = arguments.count(buffer_size, "shuffle: 'buffer_size'", 2)
        return self._next(self._pipeline.shuffle(size, config.current_seed()))

    @entry
    def repeat(self, count=None):
        """The rows `count` times an epoch; without end for None and -1."""
        if count is None or count == -1:
            return self._next(self._pipeline.repeat(-1))
        return self._next(self._pipeline.repeat(arguments.count(count, "repeat: 'count'")))

    @entry
    def take(self, count=-1):
        """The first `count` rows; -1: all."""
        if count == -1:
            return self
        return self._next(self._pipeline.take(arguments.count(count, "take: 'count'")))

    @entry
    def skip(self, count):
        """The rows behind the first `count`."""
        return self._next(self._pipeline.skip(arguments.count(count, "skip: 'count'", 0)))

    @entry
    def split(self, sizes, randomize=True):
        """Parts of the rows: sizes are numbers of rows, or shares that sum up to 1. randomize: the
        rows are drawn, the same ones in every epoch."""
        total = self.get_dataset_size()
        if not isinstance(sizes, (list, tuple)) or not sizes:
            raise TypeError(f"split: 'sizes' must be a list, got {sizes!r}")
        if all(isinstance(s, float) for s in sizes):
            if abs(sum(sizes) - 1) > 1e-6:
                raise ValueError(f"split: shares must sum up to 1, got {sum(sizes)}")
            counts = [round(total * s) for s in sizes]
            counts[int(np.argmax(counts))] += total - sum(counts)  # what rounding left
        else:
            counts = [arguments.count(s, "split: 'sizes'") for s in sizes]
            if sum(counts) != total:
                raise ValueError(f"split: sizes sum up to {sum(counts)}, there are {total} rows")
        pipeline = self._pipeline
        if arguments.flag(randomize, "split: 'randomize'"):
            order = np.random.default_rng(config.current_seed()).permutation(total)
            pipeline = pipeline.sample(_data.subset(order.tolist(), -1))
        return [self._next(p) for p in pipeline.split(counts)]

    @entry
    def filter(self, predicate, input_columns=None, num_parallel_workers=None):
        """The rows for which predicate(*arrays of input_columns) is true."""
        arguments.function(predicate, "filter: 'predicate'")
        names = arguments.names(input_columns, "filter: 'input_columns'")
        workers = arguments.workers(num_parallel_workers)
        return self._next(self._pipeline.filter(predicate, names, workers))

    def skip_errors(self):
        """Leaves out rows that cannot be made (a broken file, say), each with a warning.
        skipped_rows() of the result tells how many there were."""
        pipeline, count = _data.skip_errors(self._pipeline, config.asked_workers())
        made = self._next(pipeline)
        made.skipped_rows = count
        return made

    @entry
    def use_sampler(self, new_sampler):
        """The rows that a sampler names."""
        return self._next(samplers._checked(new_sampler)._apply(self._pipeline))

    # -- columns ------------------------------------------

    @entry
    def project(self, columns):
        """Only these columns, in this order."""
        return self._next(self._pipeline.project(arguments.names(columns, "project: 'columns'")))

    @entry
    def rename(self, input_columns, output_columns):
        """Other names for columns."""
        before = arguments.names(input_columns, "rename: 'input_columns'")
        after = arguments.names(output_columns, "rename: 'output_columns'")
        return self._next(self._pipeline.rename(before, after))

    # -- values -------------------------------------------

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
        """Applies transforms and functions on NumPy arrays, one after the other, to input_columns
        (all without); the results take their place, named output_columns.

        column_order: the columns wanted. num_parallel_workers: threads; the reader decides
        without. python_multiprocessing: functions of Python run in num_parallel_workers processes
        of their own. cache: a DatasetCache that keeps the results. callbacks: DSCallback objects.
        offload: transforms run on the host in any case."""
        arguments.refuse("map", offload=(offload, (None, False)))
        workers = arguments.workers(num_parallel_workers)
        steps = as_steps(
            operations,
            python_multiprocessing=arguments.flag(
                python_multiprocessing, "map: 'python_multiprocessing'"
            ),
            workers=workers,
        )
        pipeline = self._pipeline.map(
            steps,
            arguments.names(input_columns, "map: 'input_columns'"),
            arguments.names(output_columns, "map: 'output_columns'"),
            config.current_seed(),
            workers,
        )
        made = self._next(_kept(pipeline, cache), callback.checked(callbacks, "map"))
        return made if column_order is None else made.project(column_order)

    @entry
    def flat_map(self, func):
        """The rows of the datasets func(*arrays) that are made from each row."""
        arguments.function(func, "flat_map: 'func'")

        def made(*arrays):
            dataset = func(*arrays)
            if not isinstance(dataset, Dataset):
                raise TypeError(f"flat_map: 'func' must give a Dataset, got {type(dataset)}")
            return dataset._pipeline

        return self._next(self._pipeline.flat_map(made))

    @entry
    def apply(self, apply_func):
        """apply_func(self), which gives a dataset."""
        arguments.function(apply_func, "apply: 'apply_func'")
        made = apply_func(self)
        if not isinstance(made, Dataset):
            raise TypeError(f"apply: the function must give a Dataset, got {type(made).__name__}")
        return made

    # -- several datasets ---------------------------------

    @entry
    def zip(self, datasets):
        """Columns of this and other datasets side by side, up to the shortest."""
        others = [datasets] if isinstance(datasets, Dataset) else list(datasets)
        return _zipped([self, *others])

    @entry
    def concat(self, datasets):
        """The rows of this, then those of other datasets with the same columns."""
        others = [datasets] if isinstance(datasets, Dataset) else list(datasets)
        _check_datasets([self, *others], "concat")
        made = self._next(_data.concat([d._pipeline for d in [self, *others]]))
        made._gates = [g for d in [self, *others] for g in d._gates]
        return made

    def cache(self, size=0, folder=None):
        """Keeps rows that were made once: in memory (size: MB at most, 0 without limit), or in a
        file in `folder` that goes with the dataset."""
        megabytes = arguments.count(size, "cache: 'size'", 0)
        return self._next(self._pipeline.cache(megabytes << 20, "" if folder is None else folder))

    # -- rows ---------------------------------------------

    def _start(self):
        return self._epoch, self._position

    def _begin(self, epoch):
        self._epoch, self._position = epoch + 1, 0
        for c in self._callbacks:
            c._begin(epoch)

    def _step(self):
        for c in self._callbacks:
            c._step()

    def _ended(self):
        for c in self._callbacks:
            c._end()

    @entry
    def create_tuple_iterator(self, columns=None, num_epochs=-1, output_numpy=False, do_copy=True):
        """An iterator over rows as lists of Tensors, or of arrays with output_numpy; strings are
        arrays always. Each `for` loop over it reads one epoch, num_epochs in all (-1: no end)."""
        pipeline = self._pipeline if columns is None else self.project(columns)._pipeline
        return Iterator(self, pipeline, _epochs(num_epochs), not output_numpy, lambda row: row)

    @entry
    def create_dict_iterator(self, num_epochs=-1, output_numpy=False, do_copy=True):
        """As create_tuple_iterator, with dicts from column to value."""
        names = self.get_col_names()
        return Iterator(
            self,
            self._pipeline,
            _epochs(num_epochs),
            not output_numpy,
            lambda row: dict(zip(names, row)),
        )

    def __iter__(self):
        return self.create_tuple_iterator(num_epochs=1)

    def __len__(self):
        return self.get_dataset_size()

    def state_dict(self):
        """Where the next iterator starts: {"epoch", "position", "seed"}."""
        return {"epoch": self._epoch, "position": self._position, "seed": config.current_seed()}

    def load_state_dict(self, state):
        """The next iterator goes on where state_dict (of an iterator, or of a dataset) was taken.
        ValueError: another seed, which would give other rows."""
        seed = state.get("seed", config.current_seed())
        if seed != config.current_seed():
            raise ValueError(
                f"load_state_dict: the state was saved with seed {seed}; the seed is "
                f"{config.current_seed()} now, which orders rows in another way"
                "\n  Call mycel.set_seed before the dataset is made."
            )
        self._epoch = arguments.count(state["epoch"], "load_state_dict: 'epoch'", 0)
        self._position = arguments.count(state["position"], "load_state_dict: 'position'", 0)

    # -- facts --------------------------------------------

    @entry
    def get_dataset_size(self):
        """Rows (batches, behind batch) an epoch; a source that does not tell is counted once."""
        size = self._pipeline.size()
        if size < 0:
            if self._pipeline.repeat_count() < 0:
                raise RuntimeError("get_dataset_size: the dataset repeats without end")
            size = self.__dict__.get("_counted", -1)
            if size < 0:
                reader = _data.Reader(self._pipeline, 0, 0, -1, 0, 1, False)
                size = 0
                while reader.next(False) is not None:
                    size += 1
                self._counted = size
        return size

    def get_batch_size(self):
        """Rows in a batch; 1 without batch."""
        return self._pipeline.batch_size()

    def get_repeat_count(self):
        """How often repeat gives the rows in an epoch; -1: without end."""
        return self._pipeline.repeat_count()

    def get_col_names(self):
        """Names of the columns."""
        return self._pipeline.columns()

    def get_class_indexing(self):
        """{name of a class: label} where the source has names for classes; else {}."""
        return dict(self._pipeline.class_indexing())

    def num_classes(self):
        """How many classes the source names, or None."""
        return len(self._pipeline.class_indexing()) or None

    def _first(self):
        reader = _data.Reader(self._pipeline, 0, 0, 0, 0, 1, False)
        row = reader.next(False)
        if row is None:
            raise ValueError("dataset: there are no rows")
        return row

    @entry
    def output_shapes(self, estimate=False):
        """The shape of each column in the first row. estimate: None for dims that differ between
        rows, all of which are read for it."""
        shapes = [list(a.shape) for a in self._first()]
        if not arguments.flag(estimate, "output_shapes: 'estimate'"):
            return shapes
        reader = _data.Reader(self._pipeline, 0, 0, -1, 0, 1, False)
        while (row := reader.next(False)) is not None:
            for shape, array in zip(shapes, row):
                if len(shape) != array.ndim:
                    raise ValueError("output_shapes: rows differ in the number of dims")
                shape[:] = [s if s == d else None for s, d in zip(shape, array.shape)]
        return shapes

    @entry
    def output_types(self):
        """The NumPy type of each column."""
        return [a.dtype.type for a in self._first()]

    @property
    def input_indexs(self):
        """What a network's inputs are in the row, as set; () by default."""
        return self.__dict__.get("_input_indexs", ())

    @input_indexs.setter
    def input_indexs(self, value):
        self._input_indexs = value

    def describe(self, form="text"):
        """The pipeline as text, one line a stage: rows made, the time each took, rows a second; or
        with form "json" as a tree: {"pipeline": {"text", "rows", "made", "seconds", "own_seconds",
        "rows_a_second", "columns", "inputs"}}."""
        if form not in ("text", "json"):
            raise ValueError(f"describe: 'form' must be 'text' or 'json', got {form!r}")
        return self._pipeline.describe() if form == "text" else self._pipeline.describe_json()

    def reset(self):
        """Starts over with the first epoch."""
        self._epoch = self._position = 0

    def close_pool(self):
        """Ends worker processes; those of a pipeline end with it in any case."""

    @entry
    def sync_wait(self, condition_name, num_batch=1, callback=None):
        """Rows of an iterator or of Model.train (batches, behind batch) are made only when they are
        released: in each epoch num_batch of them, and as many with each
        sync_update(condition_name), which calls callback(data) before. Functions of a later map see
        what it changed; nothing is made ahead. In Model.train a Callback calls sync_update, in
        on_train_step_end say. RuntimeError at a row that is not released: at once where no other
        thread of Python could still do so, else after config.get_callback_timeout() seconds."""
        gate = gates.Gate(condition_name, num_batch, callback)
        if any(g.name == gate.name for g in self._gates):
            raise RuntimeError(f"sync_wait: there is a condition {gate.name!r} already")
        made = self._next(self._pipeline.sync_wait(gate.made))
        made._gates = [*self._gates, gate]
        return made

    @entry
    def sync_update(self, condition_name, num_batch=None, data=None):
        """Releases num_batch more rows (None: as many as sync_wait said), after the callback."""
        gates.found(self._gates, condition_name).update(num_batch, data)

    def to_json(self, filename=""):
        """How the pipeline was made, as a dict; also into a file if one is named."""
        made, functions = recipes.to_json(self)
        if functions:
            log.warning(
                "to_json: functions of Python stand there by name; deserialize refuses them"
            )
        if filename:
            with open(filename, "w", encoding="utf-8") as f:
                json.dump(made, f)
        return made

    # -- what is made of all rows --------------------------

    @entry
    def save(self, file_name, num_files=1, file_type="mindrecord"):
        """Writes the rows into MindRecord files, which MindDataset reads.

        num_files: so many files, file_name0 and so on, which share the rows. int8, int16 and uint16
        become int32, uint32 int64, float16 float32, uint8 bytes without a shape; bool, uint64 and
        arrays of strings are refused. Arrays may differ in their first dim."""
        from mycel.dataset.saving import save

        save(self, file_name, num_files, file_type)

    @entry
    def build_vocab(self, columns, freq_range, top_k, special_tokens, special_first):
        """A text.Vocab of the words in columns: text.Vocab.from_dataset."""
        from mycel.dataset.text import Vocab

        return Vocab.from_dataset(self, columns, freq_range, top_k, special_tokens, special_first)

    @entry
    def build_sentencepiece_vocab(
        self, columns, vocab_size, character_coverage, model_type, params
    ):
        """A text.SentencePieceVocab of columns: text.SentencePieceVocab.from_dataset."""
        from mycel.dataset.text import SentencePieceVocab

        return SentencePieceVocab.from_dataset(
            self, columns, vocab_size, character_coverage, model_type, params
        )

    def device_que(self, send_epoch_end=True, create_data_info_queue=False):
        """Refused: there is no queue of a device; Model.train and iterators read the rows."""
        raise NotImplementedError(
            "device_que is not supported: there is no queue of a device; give the dataset to "
            "Model.train, or read it with an iterator"
        )

    to_device = device_que


recipes.record_operators(Dataset)
Dataset.add_sampler, Dataset.__add__ = Dataset.use_sampler, Dataset.concat


class MappableDataset(Dataset):
    """A dataset whose rows have numbers."""


class SourceDataset(Dataset):
    """A dataset that is read from files or memory."""


def _takes(function, count):
    """Whether a function can be called with `count` arguments."""
    import inspect

    try:
        inspect.signature(function).bind(*[None] * count)
    except TypeError:
        return False
    except ValueError:  # a built-in that does not tell
        return True
    return True


def _epochs(value):
    if value == -1 and not isinstance(value, bool):
        return value
    return arguments.count(value, "'num_epochs'")


def _check_datasets(datasets, what):
    for d in datasets:
        if not isinstance(d, Dataset):
            raise TypeError(f"{what}: all must be datasets, got {type(d).__name__}")


def _zipped(datasets):
    _check_datasets(datasets, "zip")
    made = Dataset(
        _data.zip([d._pipeline for d in datasets]), [c for d in datasets for c in d._callbacks]
    )
    made._gates = [g for d in datasets for g in d._gates]
    return made


def _kept(pipeline, cache):
    if cache is None:
        return pipeline
    from mycel.dataset.cache import DatasetCache

    if not isinstance(cache, DatasetCache):
        raise TypeError(f"'cache' must be a DatasetCache, got {type(cache).__name__}")
    return pipeline.cache(cache.size << 20, cache.folder())


def finish(
    owner,
    pipeline,
    num_samples=None,
    shuffle=None,
    sampler=None,
    num_shards=None,
    shard_id=None,
    cache=None,
):
    """What all sources share: which rows, in which order, kept where."""
    if shuffle is not None and not isinstance(shuffle, (bool, np.bool_, Shuffle)):
        raise TypeError(
            f"{owner}: 'shuffle' must be True, False, None or a Shuffle, got {shuffle!r}"
        )
    if (num_shards is None) != (shard_id is None):
        raise ValueError(f"{owner}: 'num_shards' and 'shard_id' belong together")
    if sampler is not None:
        if shuffle is not None:
            raise ValueError(f"{owner}: a sampler gives the order; leave 'shuffle' out")
        if num_shards is not None:
            raise ValueError(f"{owner}: a sampler chooses the rows; leave 'num_shards' out")
        if num_samples is not None:
            raise ValueError(f"{owner}: give 'num_samples' to the sampler")
    count = -1
    if num_samples not in (None, 0):
        count = arguments.count(num_samples, f"{owner}: 'num_samples'")
    pipeline = _kept(pipeline, cache)
    if sampler is not None:
        return samplers._checked(sampler)._apply(pipeline)
    seed = config.current_seed()
    shards, shard = 1, 0
    if num_shards is not None:
        shards = arguments.count(num_shards, f"{owner}: 'num_shards'")
        shard = arguments.count(shard_id, f"{owner}: 'shard_id'", 0)
    if isinstance(shuffle, Shuffle) and shuffle is not Shuffle.GLOBAL:
        if not pipeline.indexable():
            raise ValueError(
                f"{owner}: {shuffle} needs files that are not packed; these are read from begin to "
                "end"
            )
        return pipeline.shuffle_files(shuffle is Shuffle.FILES, seed, shards, shard, count)
    if num_shards is not None and pipeline.indexable():
        return pipeline.sample(_data.sharded(shards, shard, bool(shuffle), seed, count, -1))
    if num_shards is not None:
        pipeline = pipeline.shard(shards, shard)
    if shuffle:
        pipeline = pipeline.shuffle(10000, seed)
    return pipeline if count < 0 else pipeline.take(count)
