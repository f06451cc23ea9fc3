// NumpyFileDataset: rows along the first dim of arrays in .npy files or in one .npz.
#include <memory>

#include <fmt/format.h>

#include "base/error.h"
#include "data/files/arguments.h"
#include "data/files/npy.h"
#include "data/files/records.h"
#include "data/files/rows.h"

namespace mycel::data {
namespace {

// The name of an array's file: "x" of "folder/x.npy".
std::string stem(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  return name.substr(0, name.rfind('.'));
}

DatasetPtr open(const Options& o) {
  const std::vector<std::string> given = o.strings("dataset_files");
  if (given.empty()) value_error("{}: no files are given", o.owner());
  auto arrays = std::make_shared<std::vector<NpyFile>>();
  std::vector<std::string> columns;
  if (given.size() == 1 && given[0].ends_with(".npz")) {
    const Folder folder(given[0]);
    for (const std::string& f : folder.files("", {".npy"})) {
      columns.push_back(stem(f));
      arrays->emplace_back(folder.open(f));
    }
    if (columns.empty()) fail(ErrorKind::kOs, "{}: '{}' holds no arrays", o.owner(), given[0]);
  } else {
    for (const std::string& f : given) {
      columns.push_back(stem(f));
      arrays->emplace_back(open_file(f));
    }
  }
  if (!o.none("column_names")) {
    const std::vector<std::string> names = o.strings("column_names");
    if (names.size() != columns.size())
      o.fail("column_names", "has {} names for {} arrays", names.size(), columns.size());
    columns = names;
  }
  int64_t size = -1;
  for (size_t c = 0; c < columns.size(); ++c) {
    const Shape& shape = (*arrays)[c].shape();
    if (shape.rank() == 0)
      value_error("{}: array '{}' is one number; rows are cut along the first dim", o.owner(),
                  columns[c]);
    if (size >= 0 && shape[0] != size)
      value_error("{}: array '{}' has {} rows, '{}' has {}", o.owner(), columns[c], shape[0],
                  columns[0], size);
    size = shape[0];
  }
  return file_rows(
      o.owner(), columns, size,
      [arrays](int64_t i) {
        Row row;
        for (const NpyFile& a : *arrays) row.push_back(a.row(i));
        return row;
      },
      given[0]);
}

const SourceDef kNumpy{
    .name = "NumpyFileDataset",
    .doc =
        "Arrays of NumPy: .npy files, or one .npz with several. Rows are slices along the first "
        "dim, read where they lie. Columns: the names of files or arrays, or `column_names`; "
        "dtypes as stored, strings (kinds U and S) as strings.",
    .args = with({"dataset_files: strings", "column_names: strings? = None"}, kRowArgs),
    .open = open,
};

}  // namespace

SourceDefs numpy_sources() { return {&kNumpy}; }

}  // namespace mycel::data
