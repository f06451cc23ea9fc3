"""Sources with arguments; tools/make_source_golden.py takes their rows from the published framework.

A case is (name, class, arguments); "@x" in an argument is the path of x among the tiny files.
Rows are compared in order (shuffle is off).
"""

from __future__ import annotations

import hashlib

import numpy as np

CASES: list[tuple[str, str, dict]] = [
    ("mnist_all", "MnistDataset", {"dataset_dir": "@mnist"}),
    ("mnist_train", "MnistDataset", {"dataset_dir": "@mnist", "usage": "train"}),
    ("fashion_test", "FashionMnistDataset", {"dataset_dir": "@mnist", "usage": "test"}),
    ("kmnist_all", "KMnistDataset", {"dataset_dir": "@mnist", "usage": "all"}),
    ("emnist_letters", "EMnistDataset", {"dataset_dir": "@emnist", "name": "letters"}),
    (
        "emnist_digits",
        "EMnistDataset",
        {"dataset_dir": "@emnist", "name": "digits", "usage": "train"},
    ),
    ("qmnist_all", "QMnistDataset", {"dataset_dir": "@qmnist"}),
    ("qmnist_nist", "QMnistDataset", {"dataset_dir": "@qmnist", "usage": "nist"}),
    (
        "qmnist_full_labels",
        "QMnistDataset",
        {"dataset_dir": "@qmnist", "usage": "train", "compat": False},
    ),
    ("tf_inferred", "TFRecordDataset", {"dataset_files": "@tfrecord/b.tfrecord"}),
    (
        "tf_two_files",
        "TFRecordDataset",
        {"dataset_files": ["@tfrecord/b.tfrecord", "@tfrecord/a.tfrecord"]},
    ),
    (
        "tf_columns",
        "TFRecordDataset",
        {"dataset_files": "@tfrecord/b.tfrecord", "columns_list": ["s", "i"]},
    ),
    (
        "tf_schema_list",
        "TFRecordDataset",
        {"dataset_files": "@tfrecord/b.tfrecord", "schema": "@tfrecord/list.json"},
    ),
    (
        "tf_schema_dict",
        "TFRecordDataset",
        {"dataset_files": "@tfrecord/b.tfrecord", "schema": "@tfrecord/dict.json"},
    ),
    (
        "tf_gzip",
        "TFRecordDataset",
        {"dataset_files": "@tfrecord/gzip.tfr", "compression_type": "GZIP"},
    ),
    (
        "tf_zlib",
        "TFRecordDataset",
        {"dataset_files": "@tfrecord/zlib.tfr", "compression_type": "ZLIB"},
    ),
    ("text", "TextFileDataset", {"dataset_files": ["@text/b.txt", "@text/a.txt"]}),
    ("text_glob", "TextFileDataset", {"dataset_files": "@text/*.txt"}),
    ("csv_header", "CSVDataset", {"dataset_files": "@csv/a.csv"}),
    ("csv_names", "CSVDataset", {"dataset_files": "@csv/b.csv", "column_names": ["a", "b", "c"]}),
    (
        "csv_defaults",
        "CSVDataset",
        {
            "dataset_files": "@csv/b.csv",
            "column_names": ["a", "b", "c"],
            "column_defaults": [1, 1.0, "x"],
        },
    ),
    (
        "csv_semicolon",
        "CSVDataset",
        {
            "dataset_files": "@csv/c.csv",
            "field_delim": ";",
            "column_names": ["a", "b"],
            "column_defaults": [1, ""],
        },
    ),
    ("folder", "ImageFolderDataset", {"dataset_dir": "@folder"}),
    (
        "folder_extensions",
        "ImageFolderDataset",
        {"dataset_dir": "@folder", "extensions": [".jpg", ".bmp"]},
    ),
    (
        "folder_classes",
        "ImageFolderDataset",
        {"dataset_dir": "@folder", "class_indexing": {"zeta": 7, "beta": 2}},
    ),
]


def placed(value, root):
    """The argument with "@x" as a path below `root`."""
    if isinstance(value, str) and value.startswith("@"):
        return f"{root}/{value[1:]}"
    if isinstance(value, list):
        return [placed(v, root) for v in value]
    if isinstance(value, dict):
        return {k: placed(v, root) for k, v in value.items()}
    return value


def digest(array: np.ndarray) -> list:
    """dtype, shape and values (a hash of them when there are many) of a cell."""
    array = np.asarray(array)
    if array.dtype.kind in "US":
        flat = [s.decode() if isinstance(s, bytes) else str(s) for s in array.reshape(-1).tolist()]
        text = "\0".join(flat)
        if len(text) > 200:
            flat = hashlib.sha256(text.encode()).hexdigest()[:16]
        return ["string", list(array.shape), flat]
    if array.size > 12:
        little = array.astype(array.dtype.newbyteorder("<"))
        value = hashlib.sha256(np.ascontiguousarray(little).tobytes()).hexdigest()[:16]
    else:
        value = array.reshape(-1).tolist()
    return [array.dtype.name, list(array.shape), value]
