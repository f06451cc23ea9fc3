"""Rows of Parquet and Arrow IPC (Feather) files. The package pyarrow unpacks them, a group of rows
at a time; C++ reads rows from its columns in place."""

import functools
import glob
import os
import struct
import tarfile
import threading
import zipfile
import zlib

from mycel import _mycel
from mycel._mycel import entry
from mycel.dataset import _arguments as arguments
from mycel.dataset import config, samplers
from mycel.dataset.choices import Shuffle
from mycel.dataset.datasets import MappableDataset, _kept

_data = _mycel.data


def _pyarrow(owner):
    try:
        import pyarrow
        import pyarrow.dataset
        import pyarrow.fs
    except ImportError as e:
        raise ModuleNotFoundError(
            f"{owner}: the package pyarrow, which reads such files, cannot be imported ({e})"
            "\n  pip install pyarrow"
        ) from None
    return pyarrow


def _in_archive(path):
    """(archive, member) of a path through a tar or zip on disk, or None."""
    for end in (".tar/", ".zip/"):
        at = path.find(end)
        while at >= 0:
            if os.path.isfile(path[: at + 4]):
                return path[: at + 4], path[at + 5 :].strip("/")
            at = path.find(end, at + 1)
    return None


def _in_zip(archive, member):
    """(begin, size) of a stored file in a zip, or its unpacked bytes."""
    with zipfile.ZipFile(archive) as whole:
        info = whole.getinfo(member)
        if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1:
            return whole.read(info)
        whole.fp.seek(info.header_offset + 26)  # the lengths of the name and of what follows it
        name, extra = struct.unpack("<HH", whole.fp.read(4))
        return info.header_offset + 30 + name + extra, info.file_size


def _member(pa, archive, member, owner):
    """The content of a file in a tar or zip: where it lies, or unpacked into memory."""
    try:
        if archive.endswith(".zip"):
            found = _in_zip(archive, member)
        else:
            with tarfile.open(archive, "r:") as tar:
                at = tar.getmember(member)
            found = at.offset_data, at.size
    except KeyError:
        raise FileNotFoundError(f"{owner}: there is no file '{archive}/{member}'") from None
    except tarfile.TarError as e:
        raise OSError(f"{owner}: '{archive}' cannot be read as a tar: {e}") from None
    except (zipfile.BadZipFile, struct.error, RuntimeError, zlib.error) as e:
        raise OSError(f"{owner}: '{archive}' cannot be read as a zip: {e}") from None
    if isinstance(found, bytes):
        return pa.py_buffer(found)
    whole = pa.memory_map(archive)
    whole.seek(found[0])
    return whole.read_buffer(found[1])


def _files(patterns, owner):
    """Paths that exist, also through an archive, or patterns, in order of names; each once."""
    found = set()
    for pattern in arguments.names(patterns, f"{owner}: 'dataset_files'"):
        some = [pattern] if os.path.isfile(pattern) else glob.glob(pattern, recursive=True)
        some = [f for f in some if os.path.isfile(f)] or ([pattern] if _in_archive(pattern) else [])
        if not some:
            raise FileNotFoundError(f"{owner}: there is no file '{pattern}'")
        found.update(some)
    if not found:
        raise ValueError(f"{owner}: no files are given")
    return sorted(found)


def _leaves(pa, pc, schema):
    """{name: (expression, type)} of the columns; fields of structs are columns "struct.field"."""
    out = {}

    def walk(path, field):
        if pa.types.is_struct(field.type):
            for inner in field.type:
                walk([*path, inner.name], inner)
        else:
            out[".".join(path)] = pc.field(*path), field.type

    for field in schema:
        walk([field.name], field)
    return out


def _chosen(leaves, columns, owner):
    """The columns wanted, in their order; a struct stands for its fields."""
    if not columns:
        return leaves
    out = {}
    for name in columns:
        inside = {n: e for n, e in leaves.items() if n == name or n.startswith(f"{name}.")}
        if not inside:
            raise KeyError(
                f"{owner}: there is no column '{name}'; columns: {', '.join(leaves) or 'none'}"
            )
        out.update(inside)
    return out


def _check_types(first, of_file, names):
    """TypeError for columns that another file holds in another type."""
    for n in names:
        if n not in of_file:
            raise TypeError(f"there is no column '{n}', which the first file has")
        if not of_file[n][1].equals(first[n][1]):
            raise TypeError(
                f"column '{n}' holds {of_file[n][1]}, that of the first file {first[n][1]}"
            )


class _Groups:
    """The groups of a dataset: `parts` are fragments of pyarrow.dataset, a group of rows each."""

    def __init__(self, parts, schema, columns, condition, failed):
        self._parts, self._schema = parts, schema
        self._columns, self._condition = columns, condition
        self._failed = failed  # (number of the group, exception) -> exception

    def __call__(self, g):
        try:
            return self.table(self._parts[g]).to_batches()
        except Exception as e:  # noqa: BLE001
            raise self._failed(g, e) from None

    def table(self, part):
        return part.to_table(
            schema=self._schema, columns=self._columns, filter=self._condition, use_threads=False
        )


class _InMemory:
    """Batches of an IPC file as a fragment: those that are not packed lie in the mapped file."""

    def __init__(self, pa, read):
        self._pa, self._read = pa, read

    def to_table(self, schema, columns, filter, use_threads):  # noqa: A002
        batch = self._read()
        part = self._pa.dataset.InMemoryDataset(batch)
        return part.to_table(columns=columns, filter=filter, use_threads=use_threads)

    def count_rows(self, filter=None):  # noqa: A002
        batch = self._read()
        if filter is None:
            return batch.num_rows
        return self._pa.dataset.InMemoryDataset(batch).count_rows(filter=filter)


def _failure(pa, owner, place, e):
    """What pyarrow raised, with the place it was raised at."""
    if isinstance(e, FileNotFoundError):
        return e
    if isinstance(e, (OSError, pa.ArrowInvalid)):
        return OSError(f"{owner}: {place} cannot be read: {e}")
    if isinstance(e, (TypeError, pa.ArrowException)):
        return ValueError(f"{owner}: {place}: {e}")
    return e


class _ArrowDataset(MappableDataset):
    """What ParquetDataset and ArrowDataset share."""

    _window = None  # groups of a shuffle's window by default; 0: all

    @entry
    def __init__(
        self,
        dataset_files,
        columns_list=None,
        filters=None,
        fill_null=None,
        num_samples=None,
        num_parallel_workers=None,
        shuffle=None,
        sampler=None,
        num_shards=None,
        shard_id=None,
        cache=None,
        window=None,
        memory=1024,
    ):
        owner = type(self).__name__
        pa = _pyarrow(owner)
        import pyarrow.compute as pc

        workers = arguments.workers(num_parallel_workers)
        columns = arguments.names(columns_list, f"{owner}: 'columns_list'")
        if not isinstance(fill_null, (dict, type(None))):
            raise TypeError(f"{owner}: 'fill_null' must be a dict, got {fill_null!r}")
        order = self._order(owner, num_samples, shuffle, sampler, num_shards, shard_id, window)
        condition = self._condition(pa, pc, filters, owner)
        parts, names, rows, schema = [], [], [], None
        leaves = chosen = None
        for file in _files(dataset_files, owner):
            try:
                inside = _in_archive(file)
                content = None if inside is None else _member(pa, *inside, owner)
                of_file, groups = self._open(pa, file, content, condition)
                if schema is None:
                    schema, leaves = of_file, _leaves(pa, pc, of_file)
                    chosen = _chosen(leaves, columns, owner)
                _check_types(leaves, _leaves(pa, pc, of_file), chosen)
                for name, part, count in groups:
                    if condition is not None:
                        count = part.count_rows(filter=condition)
                    if count:
                        parts.append(part)
                        names.append(f"'{file}', {name}")
                        rows.append(count)
            except (pa.ArrowException, OSError, TypeError) as e:
                raise _failure(pa, owner, f"'{file}'", e) from None
        columns = {n: expression for n, (expression, _) in chosen.items()}
        read = _Groups(
            parts, schema, columns, condition, lambda g, e: _failure(pa, owner, names[g], e)
        )
        empty = pa.dataset.InMemoryDataset(schema.empty_table()).to_table(columns=columns)
        pipeline = _data.arrow_rows(
            owner,
            empty.schema,
            read,
            rows,
            names,
            fill_null or {},
            arguments.count(memory, f"{owner}: 'memory'") << 20,
            order,
            workers if workers > 1 else 0,
        )
        pipeline = _kept(pipeline, cache)
        if sampler is not None:
            pipeline = samplers._checked(sampler)._apply(pipeline)
        super().__init__(pipeline)

    def _order(self, owner, num_samples, shuffle, sampler, num_shards, shard_id, window):
        """(shuffled, window, seed, shards, shard, count), or None for all rows in their order."""
        if shuffle is Shuffle.GLOBAL:
            shuffle = True
        if shuffle is not None:
            shuffle = arguments.flag(shuffle, f"{owner}: 'shuffle'")
        if (num_shards is None) != (shard_id is None):
            raise ValueError(f"{owner}: 'num_shards' and 'shard_id' belong together")
        window = self._window if window is None else arguments.count(window, "'window'", 0)
        if sampler is not None:
            if shuffle is not None or num_shards is not None or num_samples is not None:
                raise ValueError(
                    f"{owner}: a sampler chooses the rows and their order; leave shuffle, "
                    "num_shards and num_samples out"
                )
            return None
        shards = 1 if num_shards is None else arguments.count(num_shards, f"{owner}: 'num_shards'")
        shard = 0 if shard_id is None else arguments.count(shard_id, f"{owner}: 'shard_id'", 0)
        if shard >= shards:
            raise ValueError(f"{owner}: 'shard_id' must be below {shards}, got {shard}")
        count = -1
        if num_samples not in (None, 0):
            count = arguments.count(num_samples, f"{owner}: 'num_samples'")
        if not shuffle and shards == 1 and count < 0:
            return None
        return bool(shuffle), window, config.current_seed(), shards, shard, count

    @staticmethod
    def _condition(pa, pc, filters, owner):
        """An expression of pyarrow, from one or from [(column, operator, value), …]."""
        if filters is None or isinstance(filters, pc.Expression):
            return filters
        import pyarrow.parquet

        try:
            return pyarrow.parquet.filters_to_expression(filters)
        except (ValueError, TypeError, pa.ArrowException) as e:
            raise ValueError(
                f"{owner}: 'filters' must be an expression of pyarrow.compute or a list of "
                f"(column, operator, value), got {filters!r}: {e}"
            ) from None


class ParquetDataset(_ArrowDataset):
    """Rows of Parquet files, a row group at a time.

    dataset_files: paths (into a tar or zip too) or patterns, read in order of names. columns_list:
    columns and their order; of a struct all fields, named "struct.field". filters: rows to keep, as
    [("x", ">", 3), …] or an expression of pyarrow.compute; row groups whose statistics rule them
    out are not read. fill_null: {column: value} that stands for nulls of numbers, bools or
    strings; any other null is an error at its row. shuffle=True: row groups in a new order each
    epoch, and the rows of `window` of them (8; 0: of all) mixed. num_shards, shard_id: ranges of
    that order. memory: MB of unpacked row groups that are kept, though never less than two
    windows. Columns: numbers, bools, strings, binary as uint8 [bytes], dates and times as the
    integers stored, lists of equal inner lengths as arrays, dictionaries as their values.
    """

    _window = 8

    @staticmethod
    def _open(pa, file, content, condition):
        format = pa.dataset.ParquetFileFormat()  # noqa: A001
        if content is None:
            whole = format.make_fragment(file, filesystem=pa.fs.LocalFileSystem())
        else:
            whole = format.make_fragment(content)
        schema = whole.physical_schema
        parts = whole.split_by_row_group(condition, schema=schema)
        return schema, [
            (f"row group {p.row_groups[0].id}", p, p.row_groups[0].num_rows) for p in parts
        ]


class ArrowDataset(_ArrowDataset):
    """Rows of Arrow IPC files (Feather) and streams, mapped into memory and read where they lie;
    packed ones a batch at a time.

    Arguments and columns as of ParquetDataset; a shuffle mixes the rows of all batches unless
    `window` says how many.
    """

    _window = 0

    @staticmethod
    def _open(pa, file, content, condition):
        mapped = pa.memory_map(file) if content is None else pa.BufferReader(content)
        if mapped.size() >= 6 and mapped.read(6) == b"ARROW1":
            mapped.seek(0)
            reader = pa.ipc.open_file(mapped)
            one = threading.Lock()  # a reader is not made for several threads

            def batch(i):
                with one:
                    return reader.get_batch(i)

            batches = [functools.partial(batch, i) for i in range(reader.num_record_batches)]
        else:
            mapped.seek(0)
            reader = pa.ipc.open_stream(mapped)
            batches = [functools.partial(lambda b: b, b) for b in reader]
        parts = [_InMemory(pa, read) for read in batches]
        return reader.schema, [(f"batch {i}", p, p.count_rows()) for i, p in enumerate(parts)]
