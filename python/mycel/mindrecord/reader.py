"""FileReader and MindPage: rows of MindRecord files as dicts."""

import json

from mycel import _mycel
from mycel._mycel import entry
from mycel.mindrecord import exceptions as errors
from mycel.mindrecord.writer import SUCCESS, check_filename

_data = _mycel.data


def _paths(file_name):
    if not isinstance(file_name, list):
        return _data.record_files(check_filename(file_name))
    if not file_name:
        raise errors.ParamValueError("file_name must not be empty")
    return [check_filename(f) for f in file_name]


def _consumers(count):
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise errors.ParamValueError(f"num_consumer must be an int >= 1, got {count!r}")


def schema_of(path):
    """The fields of a file, as add_schema takes them."""
    return json.loads(_data.record_header(path))["schema"][0]["schema"]


class _Rows:
    """Rows by number."""

    def __init__(self, paths, columns=None):
        self.schema = schema_of(paths[0])
        options = {"dataset_files": paths}
        if columns is not None:
            unknown = [c for c in columns if c not in self.schema]
            if unknown:
                raise errors.ParamValueError(
                    f"there is no column '{unknown[0]}'; columns: {', '.join(self.schema)}"
                )
            options["columns_list"] = columns
        self.pipeline = _data.open_source("MindDataset", options)
        self.columns = self.pipeline.columns()

    def __len__(self):
        return self.pipeline.size()

    def __getitem__(self, i):
        row = dict(zip(self.columns, self.pipeline.row(0, i), strict=True))
        return {name: self._plain(name, v) for name, v in row.items()}

    def _plain(self, name, value):
        field = self.schema[name]
        if field["type"] == "bytes":
            return value.tobytes()
        return value if "shape" in field else value.item()


class FileReader:
    """Reads MindRecord files row by row: all shards of one file name, or exactly the files of a
    list. columns: fields wanted. num_consumer and operator change nothing: rows are read when they
    are asked for."""

    @entry
    def __init__(self, file_name, num_consumer=4, columns=None, operator=None):
        _consumers(num_consumer)
        if columns is not None and not isinstance(columns, list):
            raise errors.ParamTypeError(f"columns must be a list, got {type(columns).__name__}")
        if operator is not None:
            raise errors.ParamValueError(f"operator must be None, got {operator!r}")
        self._rows = _Rows(_paths(file_name), columns or None)

    def get_next(self):
        """Yields a dict a row: numbers, str, bytes and arrays."""
        for i in range(self.len()):
            if self._rows is None:
                return
            yield self._rows[i]

    def len(self):
        """How many rows there are."""
        if self._rows is None:
            raise errors.MRMFinishError("the reader is closed")
        return len(self._rows)

    def schema(self):
        """The fields, as add_schema takes them."""
        if self._rows is None:
            raise errors.MRMFinishError("the reader is closed")
        return self._rows.schema

    def close(self):
        """Lets go of the files."""
        self._rows = None


class MindPage:
    """Reads the rows of MindRecord files by the value of an indexed field, page by page."""

    @entry
    def __init__(self, file_name, num_consumer=4):
        _consumers(num_consumer)
        self._paths = _paths(file_name)
        self._rows = _Rows(self._paths)
        self._fields = _data.record_index_fields(self._paths)
        self._field = None

    @property
    def candidate_fields(self):
        """Fields that are indexed."""
        return list(self._fields)

    def get_category_fields(self):
        """The same as candidate_fields."""
        return self.candidate_fields

    @property
    def category_field(self):
        """The field by whose value rows are read."""
        return self._field

    @category_field.setter
    def category_field(self, category_field):
        if not isinstance(category_field, str) or not category_field:
            raise errors.ParamTypeError(f"category_field must be a str, got {category_field!r}")
        if category_field not in self._fields:
            raise errors.MRMDefineCategoryError(
                f"'{category_field}' is not indexed; there are {', '.join(self._fields)}"
            )
        self._field = category_field

    def set_category_field(self, category_field):
        """Sets category_field."""
        self.category_field = category_field
        return SUCCESS

    def read_category_info(self):
        """JSON text: the values of the field, each with a number and how many rows have it."""
        categories = [
            {"count": count, "id": k, "name": name}
            for k, (name, count) in enumerate(self._values())
        ]
        return json.dumps(
            {"categories": categories, "key": f"{self._field}_0"}, separators=(",", ":")
        )

    @entry
    def read_at_page_by_id(self, category_id, page, num_row):
        """Rows page * num_row and on (num_row of them) of the value number category_id."""
        values = self._values()
        if isinstance(category_id, bool) or not isinstance(category_id, int) or category_id < 0:
            raise errors.ParamValueError(f"category_id must be an int >= 0, got {category_id!r}")
        if category_id >= len(values):
            raise errors.MRMFetchDataError(f"there are {len(values)} values, not {category_id + 1}")
        return self._page(values[category_id][0], page, num_row)

    @entry
    def read_at_page_by_name(self, category_name, page, num_row):
        """The same by the value itself, as text."""
        if not isinstance(category_name, str):
            raise errors.ParamValueError(f"category_name must be a str, got {category_name!r}")
        if category_name not in [name for name, _ in self._values()]:
            raise errors.MRMFetchDataError(f"no row has {self._field} = {category_name}")
        return self._page(category_name, page, num_row)

    def _values(self):
        if self._field is None:
            raise errors.MRMReadCategoryInfoError("no category_field is set")
        return _data.record_categories(self._paths, self._field)

    def _page(self, value, page, num_row):
        for name, v, least in (("page", page, 0), ("num_row", num_row, 1)):
            if isinstance(v, bool) or not isinstance(v, int) or v < least:
                raise errors.ParamValueError(f"{name} must be an int >= {least}, got {v!r}")
        rows = _data.find_records(self._paths, self._field, value)
        return [self._rows[i] for i in rows[page * num_row : (page + 1) * num_row]]
