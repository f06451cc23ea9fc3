"""Schemas: dtypes and shapes of the columns of a file."""

import json

from mycel import _mycel


class Schema:
    """What columns a file has: read from the JSON text in schema_file, or made with add_column."""

    def __init__(self, schema_file=None):
        self.dataset_type, self.num_rows, self.columns = "", 0, []
        if schema_file is not None:
            with open(schema_file, encoding="utf-8") as f:
                self.from_json(json.load(f))

    def add_column(self, name, de_type, shape=None):
        """A column of dtype de_type (a dtype or its name; "string" too). shape: a list of dims, of
        which one may be -1; None: 1-d, as long as it is."""
        if not isinstance(name, str) or not name:
            raise TypeError(f"Schema.add_column: 'name' must be a str, got {name!r}")
        column = {"name": name, "type": _type_name(de_type), "rank": 1}
        if shape is not None:
            dims = [int(d) for d in shape]
            if any(d < -1 for d in dims) or dims.count(-1) > 1:
                raise ValueError(
                    f"Schema.add_column: 'shape' must be of ints >= -1, at most one -1; got {shape}"
                )
            column.update(rank=len(dims), shape=dims)
        self.columns.append(column)

    def parse_columns(self, columns):
        """Columns from a list of dicts with "name", "type" and "shape", or a dict by name."""
        if isinstance(columns, dict):
            columns = [{"name": name, **column} for name, column in columns.items()]
        if not isinstance(columns, list):
            raise TypeError(f"Schema: columns must be a dict or list, got {type(columns).__name__}")
        for column in columns:
            unknown = set(column) - {"name", "type", "shape", "rank", "t_impl"}
            if unknown or "name" not in column or "type" not in column:
                raise ValueError(
                    f"Schema: a column has 'name', 'type' and may have 'shape', got {column}"
                )
            rank = column.get("rank", 1)
            self.add_column(
                column["name"], column["type"], column.get("shape", [] if rank == 0 else None)
            )

    def from_json(self, json_obj):
        """What to_json wrote, parsed: "columns", and perhaps "datasetType" and "numRows"."""
        if not isinstance(json_obj, dict) or "columns" not in json_obj:
            raise ValueError('Schema: there is no "columns" in the schema')
        for key, value in json_obj.items():
            if key == "datasetType":
                self.dataset_type = value
            elif key == "numRows":
                if not isinstance(value, int) or value <= 0:
                    raise ValueError(f"Schema: numRows must be greater than 0, got {value!r}")
                self.num_rows = value
            elif key == "columns":
                self.parse_columns(value)
            else:
                raise RuntimeError(f"Schema: there is no field {key!r}")

    def to_json(self):
        """The JSON text."""
        out = {}
        if self.dataset_type:
            out["datasetType"] = self.dataset_type
        if self.num_rows:
            out["numRows"] = self.num_rows
        out["columns"] = self.columns
        return json.dumps(out, indent=2)

    _option = to_json

    def __str__(self):
        return self.to_json()


def _type_name(given):
    if given in ("string", "str") or given is str:
        return "string"
    if isinstance(given, str) and (hasattr(_mycel, given) or hasattr(_mycel, given + "_")):
        return given
    name = getattr(given, "name", None) or getattr(given, "__name__", None) or str(given)
    name = name.rstrip("_").lower()
    if name not in ("string", "str", "bool") and not hasattr(_mycel, name):
        raise TypeError(f"Schema.add_column: 'de_type' must be a dtype, got {given!r}")
    return "string" if name in ("string", "str") else name
