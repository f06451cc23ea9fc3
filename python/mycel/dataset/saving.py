"""Rows of a dataset as MindRecord files."""

import numpy as np

from mycel.dataset import _arguments as arguments

_TYPES = {
    "int8": "int32", "int16": "int32", "uint16": "int32", "int32": "int32", "uint32": "int64",
    "int64": "int64", "float16": "float32", "float32": "float32", "float64": "float64",
    "uint8": "bytes",
}  # fmt: skip
_PAGE = 1000  # rows written at a time


def _field(name, value):
    """The field of a column whose first value is given."""
    if value.dtype.kind == "U":
        if value.ndim:
            raise TypeError(f"save: column '{name}' holds arrays of strings; single ones are saved")
        return {"type": "string"}
    kind = _TYPES.get(value.dtype.name)
    if kind is None:
        raise TypeError(
            f"save: column '{name}' holds {value.dtype}; MindRecord has {', '.join(_TYPES)} and "
            "strings"
        )
    if kind == "bytes" or value.ndim == 0:
        return {"type": kind}
    return {"type": kind, "shape": [-1, *value.shape[1:]]}


def _stored(value, field):
    if field["type"] == "string":
        return str(value)
    if field["type"] == "bytes":
        return value.tobytes()
    value = value.astype(field["type"])
    return value if "shape" in field else value.item()


def save(dataset, file_name, num_files, file_type):
    """What Dataset.save does."""
    from mycel.mindrecord import FileWriter

    if file_type != "mindrecord":
        raise ValueError(f"save: 'file_type' must be 'mindrecord', got {file_type!r}")
    count = arguments.count(num_files, "save: 'num_files'")
    writer, fields, rows = None, {}, []
    for row in dataset.create_dict_iterator(num_epochs=1, output_numpy=True):
        row = {name: np.asarray(v) for name, v in row.items()}
        if writer is None:
            fields = {name: _field(name, v) for name, v in row.items()}
            writer = FileWriter(str(file_name), count)
            writer.add_schema(fields, "saved by a dataset")
        rows.append({name: _stored(v, fields[name]) for name, v in row.items()})
        if len(rows) == _PAGE:
            writer.write_raw_data(rows)
            rows = []
    if writer is None:
        raise ValueError("save: there are no rows")
    if rows:
        writer.write_raw_data(rows)
    writer.commit()
