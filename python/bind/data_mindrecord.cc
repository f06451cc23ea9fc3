// MindRecord files for mycel/mindrecord: the writer, and looks into headers and indexes.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "bind/data.h"
#include "data/mindrecord.h"

namespace mycel::bind {

namespace {

using Names = std::vector<std::string>;

struct Records {
  std::unique_ptr<data::RecordWriter> writer;
};

Records open(const std::string& path, int64_t shards, bool overwrite, bool append, nb::list fields,
             const std::string& description, const Names& index, int64_t header_bytes,
             int64_t page_bytes) {
  data::RecordFile f;
  f.path = path;
  f.shards = shards;
  f.overwrite = overwrite;
  f.append = append;
  for (nb::handle field : fields) {
    f.fields.push_back({nb::cast<std::string>(field[0]), nb::cast<std::string>(field[1]),
                        nb::cast<std::optional<std::vector<int64_t>>>(field[2])});
  }
  f.description = description;
  f.index = index;
  f.header_bytes = header_bytes;
  f.page_bytes = page_bytes;
  return {data::write_records(f)};
}

}  // namespace

void bind_data_mindrecord(nb::module_& m) {
  nb::class_<Records>(m, "RecordWriter", "Writes MindRecord files.")
      .def("fields",
           [](const Records& r) {
             Names names;
             for (const data::RecordField& f : r.writer->fields()) names.push_back(f.name);
             return names;
           })
      .def("write",
           [](Records& r, nb::list rows) {
             std::vector<data::Row> values;
             for (nb::handle row : rows) values.push_back(to_row(row, "FileWriter"));
             nb::gil_scoped_release release;
             r.writer->write(values);
           })
      .def("commit", [](Records& r) {
        nb::gil_scoped_release release;
        r.writer->commit();
      });
  m.def("write_records", open);
  m.def("record_header", data::record_header);
  m.def("record_files", data::record_files);
  m.def("record_index_fields", data::record_index_fields);
  m.def("record_categories", data::record_categories);
  m.def("find_records", data::find_records);
}

}  // namespace mycel::bind
