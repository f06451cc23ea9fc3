"""FileWriter: rows of named fields into MindRecord files."""

import enum
import os

import numpy as np

from mycel import _mycel
from mycel._mycel import entry
from mycel.mindrecord import exceptions as errors

_data = _mycel.data
TYPES = ("int32", "int64", "float32", "float64", "string", "bytes")
_FORBIDDEN = set("\\/:*?\"<>|`&';")


class MSRStatus(enum.IntEnum):
    """What the methods of FileWriter give."""

    SUCCESS = 0
    FAILED = 1


SUCCESS, FAILED = MSRStatus.SUCCESS, MSRStatus.FAILED


def check_filename(path, what="file_name"):
    """The path as a str; ParamValueError for names that the published framework refuses."""
    if isinstance(path, os.PathLike):
        path = os.fspath(path)
    if not isinstance(path, str) or not path:
        raise errors.ParamValueError(f"{what} must be a str that is not empty, got {path!r}")
    name = os.path.basename(path)
    if not name:
        raise errors.ParamValueError(f"{what} '{path}' must not end with '/'")
    if set(name) & _FORBIDDEN or name != name.strip(" "):
        raise errors.ParamValueError(
            f"{what} '{path}' must hold none of {''.join(sorted(_FORBIDDEN))}, "
            "and no space at an end"
        )
    return path


class FileWriter:
    """Writes MindRecord files: one, or shard_num of them named <file_name>0 and so on, each with
    its index beside it (<file>.db). MRMOpenError when a file is there and overwrite is not set.

    add_schema, perhaps add_index, write_raw_data as often as needed, commit."""

    @entry
    def __init__(self, file_name, shard_num=1, overwrite=False):
        self._path = check_filename(file_name)
        if isinstance(shard_num, bool) or not isinstance(shard_num, int):
            raise errors.ParamValueError(f"shard_num must be an int, got {shard_num!r}")
        if not 1 <= shard_num <= 1000:
            raise errors.ParamValueError(f"shard_num must be in [1, 1000], got {shard_num}")
        if not isinstance(overwrite, bool):
            raise errors.ParamValueError(f"overwrite must be True or False, got {overwrite!r}")
        self._shards, self._overwrite, self._append = shard_num, overwrite, False
        self._schema, self._description, self._index = {}, "", []
        self._header_bytes, self._page_bytes = 1 << 24, 1 << 25
        self._records = None

    @classmethod
    def open_for_append(cls, file_name):
        """A writer that adds rows to a file of one shard."""
        from mycel.mindrecord.reader import schema_of

        made = cls(file_name)
        made._append = True
        try:
            made._schema = schema_of(made._path)
        except OSError as e:
            raise errors.MRMOpenForAppendError(str(e)) from None
        made._open()
        return made

    @entry
    def add_schema(self, content, desc=None):
        """Fields: {name: {"type": one of int32, int64, float32, float64, string, bytes}}; arrays
        of numbers have a "shape" too, of which one dim may be -1. Gives the schema's id, 0."""
        if not isinstance(content, dict) or not content:
            raise errors.MRMInvalidSchemaError("the schema must be a dict that is not empty")
        if self._schema:
            raise errors.MRMAddSchemaError("there is a schema already")
        for name, field in content.items():
            if not isinstance(field, dict) or not set(field) <= {"type", "shape"}:
                raise errors.MRMInvalidSchemaError(
                    f"field '{name}' must be a dict with 'type' and perhaps 'shape', got {field!r}"
                )
            if field.get("type") not in TYPES:
                raise errors.MRMInvalidSchemaError(
                    f"field '{name}' has the type {field.get('type')!r}; there are {TYPES}"
                )
            if "shape" in field and not isinstance(field["shape"], (list, tuple)):
                raise errors.MRMInvalidSchemaError(f"the shape of field '{name}' must be a list")
        self._schema = {name: dict(field) for name, field in content.items()}
        self._description = "" if desc is None else str(desc)
        return 0

    @entry
    def add_index(self, index_fields):
        """Fields by which rows can be searched (MindPage): numbers and strings. All of these
        without a call."""
        if not isinstance(index_fields, list) or not index_fields:
            raise errors.ParamTypeError(f"index_fields must be a list, got {index_fields!r}")
        if not self._schema:
            raise errors.MRMGetMetaError("there is no schema; add_schema comes first")
        for name in index_fields:
            if not isinstance(name, str):
                raise errors.ParamTypeError(f"index_fields must be of str, got {name!r}")
            field = self._schema.get(name)
            if field is None or field["type"] == "bytes" or "shape" in field:
                raise errors.MRMDefineIndexError(
                    f"'{name}' is no field" if field is None else f"'{name}' is no number or string"
                )
        self._index = list(index_fields)
        return SUCCESS

    @entry
    def set_header_size(self, header_size):
        """Bytes for the header, 16 KiB to 128 MiB: more rows need a larger one."""
        self._header_bytes = _size(
            header_size, 1 << 14, 1 << 27, errors.MRMInvalidHeaderSizeError, self._records
        )
        return SUCCESS

    @entry
    def set_page_size(self, page_size):
        """Bytes of a page, 32 KiB to 256 MiB; no row can be larger."""
        self._page_bytes = _size(
            page_size, 1 << 15, 1 << 28, errors.MRMInvalidPageSizeError, self._records
        )
        return SUCCESS

    @entry
    def open_and_set_header(self):
        """Makes the files; write_raw_data does it otherwise."""
        self._open()
        return SUCCESS

    @entry
    def write_raw_data(self, raw_data, parallel_writer=False):
        """Adds rows, dicts with all fields of the schema. Nothing is written when one of them does
        not fit: MRMValidateDataError with row and field. parallel_writer: both ways give the same
        files."""
        if not isinstance(parallel_writer, bool):
            raise TypeError(f"parallel_writer must be True or False, got {parallel_writer!r}")
        if not isinstance(raw_data, list) or not all(isinstance(r, dict) for r in raw_data):
            raise errors.ParamTypeError("raw_data must be a list of dicts")
        self._open()
        fields = self._records.fields()
        rows = []
        for k, row in enumerate(raw_data):
            missing = [f for f in fields if f not in row]
            if missing:
                raise errors.MRMValidateDataError(f"row {k} has no field '{missing[0]}'")
            rows.append([_value(row[f]) for f in fields])
        try:
            self._records.write(rows)
        except (TypeError, ValueError) as e:
            raise errors.MRMValidateDataError(str(e)) from None
        return SUCCESS

    @entry
    def commit(self):
        """Writes headers and indexes: the files can be read from now on."""
        self._open()
        self._records.commit()
        return SUCCESS

    def _open(self):
        if self._records is not None:
            return
        if not self._schema:
            raise errors.MRMGetMetaError("there is no schema; add_schema comes first")
        fields = [
            (name, f["type"], list(f["shape"]) if "shape" in f else None)
            for name, f in self._schema.items()
        ]
        try:
            self._records = _data.write_records(
                self._path, self._shards, self._overwrite, self._append, fields,
                self._description, self._index, self._header_bytes, self._page_bytes,
            )  # fmt: skip
        except OSError as e:
            raise errors.MRMOpenError(str(e)) from None
        except ValueError as e:
            raise errors.MRMInvalidSchemaError(str(e)) from None


def _value(v):
    return np.frombuffer(v, np.uint8) if isinstance(v, (bytes, bytearray)) else v


def _size(value, low, high, error, opened):
    if opened is not None:
        raise error("the file has been begun; sizes come before write_raw_data")
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise error(f"it must be an int in [{low}, {high}], got {value!r}")
    if value % 4:
        raise error(f"it must be a multiple of 4, got {value}")
    return value
