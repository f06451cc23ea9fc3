"""Published data sets, CSV and TFRecord files into MindRecord files."""

import csv
import gzip
import io
import os
import pickle

import numpy as np

from mycel.mindrecord import exceptions as errors
from mycel.mindrecord.writer import FileWriter, check_filename

_ROWS = 256  # written at a time


def _partitions(count):
    if isinstance(count, bool) or not isinstance(count, int):
        raise ValueError(f"partition_number must be an int, got {count!r}")
    return count


def _write(writer, schema, description, index, rows):
    writer.add_schema(schema, description)
    if index:
        writer.add_index(list(index))
    waiting = []
    for row in rows:
        waiting.append(row)
        if len(waiting) == _ROWS:
            writer.write_raw_data(waiting)
            waiting = []
    if waiting:
        writer.write_raw_data(waiting)
    return writer.commit()


def _jpeg(image):
    """A uint8 image [h, w] or [h, w, 3] as the bytes of a JPEG file."""
    from PIL import Image

    out = io.BytesIO()
    Image.fromarray(image).save(out, "JPEG", quality=95)
    return out.getvalue()


class _Arrays(pickle.Unpickler):
    """Reads arrays and plain values; nothing else is made."""

    _ALLOWED = {
        ("numpy.core.multiarray", "_reconstruct"),
        ("numpy._core.multiarray", "_reconstruct"),
        ("numpy", "ndarray"),
        ("numpy", "dtype"),
    }

    def find_class(self, module, name):
        if (module, name) not in self._ALLOWED:
            raise pickle.UnpicklingError(f"'{module}.{name}' is not allowed in a file of CIFAR")
        return super().find_class(module, name)


def _unpickled(path):
    try:
        with open(path, "rb") as f:
            return _Arrays(f, encoding="bytes").load()
    except (pickle.UnpicklingError, EOFError, AttributeError, UnicodeDecodeError) as e:
        raise RuntimeError(f"'{path}' is no file of CIFAR's Python edition: {e}") from None


class _Converter:
    """What all have: transform() is run()."""

    def transform(self, *args, **kwargs):
        """The same as run()."""
        return self.run(*args, **kwargs)


class Cifar10ToMR(_Converter):
    """CIFAR-10's Python edition (data_batch_1 to 5 and test_batch) into destination and
    destination_test: id int64, label int64, data (a JPEG file) bytes."""

    def __init__(self, source, destination):
        self._source = check_filename(source, "source")
        names = sorted(os.listdir(source))
        self._train = [n for n in names if n.startswith("data_batch_")]
        if not self._train:
            raise errors.PathNotExistsError("data_batch_*")
        if "test_batch" not in names:
            raise errors.PathNotExistsError("test_batch")
        self._destination = check_filename(destination, "destination")

    def run(self, fields=None):
        """Writes the files. fields: those to index."""
        schema = {"id": {"type": "int64"}, "label": {"type": "int64"}, "data": {"type": "bytes"}}
        for end, files in (("", self._train), ("_test", ["test_batch"])):
            writer = FileWriter(self._destination + end)
            status = _write(
                writer, schema, "img_test" if end else "img_train", fields, self._rows(files)
            )
        return status

    def _rows(self, files):
        count = 0
        for file in files:
            batch = _unpickled(os.path.join(self._source, file))
            images = batch[b"data"].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
            for image, label in zip(images, batch[b"labels"], strict=True):
                yield {"id": count, "label": int(label), "data": _jpeg(np.ascontiguousarray(image))}
                count += 1


class Cifar100ToMR(_Converter):
    """CIFAR-100's Python edition (train and test) into destination and destination_test: id,
    fine_label and coarse_label int64, data (a JPEG file) bytes."""

    def __init__(self, source, destination):
        self._source = check_filename(source, "source")
        for name in ("train", "test"):
            if not os.path.exists(os.path.join(source, name)):
                raise errors.PathNotExistsError(name)
        self._destination = check_filename(destination, "destination")

    def run(self, fields=None):
        """Writes the files. fields: those to index."""
        schema = {
            "id": {"type": "int64"},
            "fine_label": {"type": "int64"},
            "coarse_label": {"type": "int64"},
            "data": {"type": "bytes"},
        }
        for end, file in (("", "train"), ("_test", "test")):
            writer = FileWriter(self._destination + end)
            status = _write(
                writer, schema, "img_test" if end else "img_train", fields, self._rows(file)
            )
        return status

    def _rows(self, file):
        batch = _unpickled(os.path.join(self._source, file))
        images = batch[b"data"].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
        labels = zip(batch[b"fine_labels"], batch[b"coarse_labels"], strict=True)
        for count, (image, (fine, coarse)) in enumerate(zip(images, labels, strict=True)):
            yield {
                "id": count,
                "fine_label": int(fine),
                "coarse_label": int(coarse),
                "data": _jpeg(np.ascontiguousarray(image)),
            }


class MnistToMR(_Converter):
    """MNIST's four .gz files into <destination>_train.mindrecord and <destination>_test.mindrecord:
    label int64 (indexed), data (a JPEG file) bytes."""

    def __init__(self, source, destination, partition_number=1):
        self._source = check_filename(source, "source")
        self._destination = check_filename(destination, "destination")
        self._shards = _partitions(partition_number)

    def run(self):
        """Writes the files."""
        schema = {"label": {"type": "int64"}, "data": {"type": "bytes"}}
        for part, front in (("train", "train"), ("test", "t10k")):
            writer = FileWriter(f"{self._destination}_{part}.mindrecord", self._shards)
            status = _write(writer, schema, "mnist_schema", ["label"], self._rows(front))
        return status

    def _rows(self, front):
        images = self._array(f"{front}-images-idx3-ubyte.gz", 16).reshape(-1, 28, 28)
        labels = self._array(f"{front}-labels-idx1-ubyte.gz", 8)
        for image, label in zip(images, labels, strict=True):
            yield {"label": int(label), "data": _jpeg(image)}

    def _array(self, name, header):
        with gzip.open(os.path.join(self._source, name)) as f:
            return np.frombuffer(f.read(), np.uint8)[header:]


class ImageNetToMR(_Converter):
    """Folders of JPEG files into a MindRecord file: label int32 and file_name string (indexed),
    image bytes. map_file has lines "<folder> <label>"."""

    def __init__(self, map_file, image_dir, destination, partition_number=1):
        self._map = check_filename(map_file, "map_file")
        self._images = check_filename(image_dir, "image_dir")
        self._destination = check_filename(destination, "destination")
        self._shards = _partitions(partition_number)

    def run(self):
        """Writes the files."""
        schema = {
            "label": {"type": "int32"},
            "image": {"type": "bytes"},
            "file_name": {"type": "string"},
        }
        writer = FileWriter(self._destination, self._shards)
        return _write(writer, schema, "imagenet_schema", ["label", "file_name"], self._rows())

    def _rows(self):
        with open(self._map, encoding="utf-8") as f:
            classes = [line.split() for line in f if line.strip()]
        folders = [(os.path.join(self._images, c[0]), int(c[1])) for c in classes]
        folders = [(folder, label) for folder, label in folders if os.path.isdir(folder)]
        if not folders:
            raise errors.PathNotExistsError(f"no folder of {self._map} is in {self._images}")
        for folder, label in folders:
            for name in sorted(os.listdir(folder)):
                if not name.endswith(("JPEG", "jpg")):
                    continue
                path = os.path.join(folder, name)
                with open(path, "rb") as f:
                    yield {"file_name": path, "label": label, "image": f.read()}


class CsvToMR(_Converter):
    """A CSV file whose first line names the columns into MindRecord files. A column is int64 when
    all its values are whole numbers, int32 when all are True or False, float64 when all are
    numbers or empty (NaN), string otherwise; all are indexed. columns_list: those wanted."""

    def __init__(self, source, destination, columns_list=None, partition_number=1):
        self._source = check_filename(source, "source")
        if columns_list and not (
            isinstance(columns_list, list) and all(isinstance(c, str) for c in columns_list)
        ):
            raise ValueError(f"columns_list must be a list of str, got {columns_list!r}")
        self._columns = columns_list
        self._destination = check_filename(destination, "destination")
        self._shards = _partitions(partition_number)

    def run(self):
        """Writes the files."""
        with open(self._source, newline="", encoding="utf-8") as f:
            header, *rows = [r for r in csv.reader(f) if r]
        for k, row in enumerate(rows):
            if len(row) != len(header):
                raise RuntimeError(
                    f"{self._source}: row {k} has {len(row)} fields, not {len(header)}"
                )
        wanted = self._columns or header
        unknown = [c for c in wanted if c not in header]
        if unknown:
            raise RuntimeError(f"columns_list: there is no column '{unknown[0]}' in {self._source}")
        columns = {c: _typed([row[header.index(c)] for row in rows]) for c in wanted}
        schema = {name: {"type": kind} for name, (kind, _) in columns.items()}
        values = (
            {name: column[k] for name, (_, column) in columns.items()} for k in range(len(rows))
        )
        writer = FileWriter(self._destination, self._shards)
        return _write(writer, schema, "csv_schema", wanted, values)


def _typed(texts):
    """The type of a column and its values."""
    try:
        return "int64", [int(t) for t in texts]
    except ValueError:
        pass
    truths = {"True": 1, "TRUE": 1, "true": 1, "False": 0, "FALSE": 0, "false": 0}
    if all(t in truths for t in texts):
        return "int32", [truths[t] for t in texts]
    try:
        return "float64", [float(t) if t else float("nan") for t in texts]
    except ValueError:
        return "string", texts


class TFRecordToMR(_Converter):
    """A TFRecord file into a MindRecord file. feature_dict: {name: an object with shape and dtype
    (tf.io.FixedLenFeature is one)}; shape is [] or [n]. bytes_fields: the names of texts that are
    bytes (images). Characters of names other than letters, digits and _ become _."""

    _TYPES = {
        "string": "string", "bool": "int32", "int8": "int32", "int16": "int32", "int32": "int32",
        "uint8": "int32", "uint16": "int32", "uint32": "int64", "int64": "int64",
        "uint64": "int64", "float16": "float32", "float32": "float32", "float64": "float64",
    }  # fmt: skip

    def __init__(self, source, destination, feature_dict, bytes_fields=None):
        self._source = check_filename(source, "source")
        self._destination = check_filename(destination, "destination")
        if not isinstance(feature_dict, dict) or not feature_dict:
            raise ValueError("feature_dict must be a dict that is not empty")
        if bytes_fields is not None and not isinstance(bytes_fields, list):
            raise ValueError(f"bytes_fields must be a list of str, got {bytes_fields!r}")
        self._fields = {}
        for name, feature in feature_dict.items():
            self._fields[name] = self._field(name, feature, name in (bytes_fields or []))
        for name in bytes_fields or []:
            if name not in feature_dict or self._fields[name]["type"] != "bytes":
                raise ValueError(f"bytes_fields: '{name}' is no text of feature_dict")

    def _field(self, name, feature, is_bytes):
        dtype = getattr(feature, "dtype", None)
        dtype = getattr(dtype, "name", dtype)
        if dtype not in self._TYPES or not hasattr(feature, "shape"):
            raise ValueError(
                f"feature_dict['{name}'] must have a shape and a dtype of {', '.join(self._TYPES)}"
            )
        shape = list(feature.shape)
        kind = "bytes" if is_bytes and dtype == "string" else self._TYPES[dtype]
        if not shape:
            return {"type": kind}
        if len(shape) != 1 or not isinstance(shape[0], int) or shape[0] < 1 or dtype == "string":
            raise ValueError(
                f"feature_dict['{name}'] must have the shape [] or, of numbers, [n]; got {shape}"
            )
        return {"type": kind, "shape": shape}

    def run(self):
        """Writes the file."""
        schema = {_word(name): field for name, field in self._fields.items()}
        return _write(
            FileWriter(self._destination), schema, "TFRecord to MindRecord", None, self._rows()
        )

    def _rows(self):
        from mycel.dataset import Schema, TFRecordDataset

        types = {"int32": "int64", "int64": "int64", "float32": "float32", "float64": "float32"}
        wanted = Schema()
        for name, field in self._fields.items():
            wanted.add_column(name, types.get(field["type"], "string"), field.get("shape", []))
        dataset = TFRecordDataset(self._source, wanted, shuffle=False)
        for row in dataset.create_dict_iterator(num_epochs=1, output_numpy=True):
            yield {_word(n): self._value(row[n], field) for n, field in self._fields.items()}

    @staticmethod
    def _value(array, field):
        if field["type"] == "bytes":
            return str(array).encode("utf-8", "surrogateescape")
        if "shape" in field:
            return array.astype(field["type"])
        return array.item()


def _word(name):
    return "".join(c if c.isalnum() and c.isascii() or c == "_" else "_" for c in name)
