// MindDataset, and searches in the indexes of MindRecord files.
#include <algorithm>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "data/files/mindrecord/database.h"
#include "data/files/mindrecord/look.h"
#include "data/files/mindrecord/records.h"
#include "data/files/records.h"
#include "data/files/rows.h"

namespace mycel::data {
namespace {

// A sample of padding: numbers, strings, tensors (bytes as uint8).
Row padding(const Options& o, const RecordHeader& h, const std::vector<size_t>& which) {
  const auto given = pairs(o, "padded_sample");
  Row row;
  for (size_t w : which) {
    const RecordField& f = h.fields[w];
    const auto it =
        std::find_if(given.begin(), given.end(), [&](const auto& p) { return p.first == f.name; });
    if (it == given.end()) o.fail("padded_sample", "has no column '{}'", f.name);
    const Option& v = it->second;
    DType d = DType::kUInt8;
    if (f.type != "string" && f.type != "bytes") parse_dtype(f.type, &d);
    if (v.is<Tensor>() && f.type != "string") {
      row.emplace_back(v.get<Tensor>());
    } else if (f.type == "string" && v.is<std::string>()) {
      row.emplace_back(v.get<std::string>());
    } else if (f.type == "bytes" && v.is<std::string>()) {
      const std::string& s = v.get<std::string>();
      row.emplace_back(
          Tensor::from(std::vector<uint8_t>(s.begin(), s.end()), {static_cast<int64_t>(s.size())}));
    } else if (!f.shape && f.type.starts_with("int") && v.is<int64_t>()) {
      row.emplace_back(Tensor::scalar(d, v.get<int64_t>()));
    } else if (!f.shape && f.type.starts_with("float") && v.is_number()) {
      row.emplace_back(Tensor::scalar(d, v.real()));
    } else {
      o.fail("padded_sample", "has {} for the column '{}' of type {}", v.str(), f.name, f.type);
    }
  }
  return row;
}

std::vector<std::string> all_files(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash);
  std::vector<std::string> out;
  for (const std::string& name : read_record_header(*disk_bytes(path)).shards)
    out.push_back(join_path(folder, name.substr(name.rfind('/') + 1)));
  // A single file that was given another name is still that file.
  return out.size() == 1 ? std::vector{path} : out;
}

// One name stands for all shards, a list for itself.
std::vector<std::string> paths_of(const Options& o) {
  const Option& given = o["dataset_files"];
  if (given.is<std::string>()) return all_files(given.get<std::string>());
  std::vector<std::string> out;
  if (given.is<Option::List>()) {
    for (const Option& p : given.get<Option::List>()) {
      if (!p.is<std::string>()) break;
      out.push_back(p.get<std::string>());
    }
    if (out.size() == given.get<Option::List>().size() && !out.empty()) return out;
  }
  type_error("{}: 'dataset_files' must be a str or a list of str, got {}", o.owner(), given.str());
}

DatasetPtr open(const Options& o) {
  const std::vector<std::string> paths = paths_of(o);
  const auto shards = std::make_shared<const RecordShards>(paths);
  const RecordHeader& h = shards->header();
  std::vector<std::string> all;
  for (const RecordField& f : h.fields) all.push_back(f.name);
  const std::vector<std::string> columns = o.none("columns_list") ? all : o.strings("columns_list");
  std::vector<size_t> which;
  for (const std::string& c : columns) {
    const size_t w = std::find(all.begin(), all.end(), c) - all.begin();
    if (w == all.size())
      o.fail("columns_list", "names the column '{}'; columns: {}", c, fmt::join(all, ", "));
    which.push_back(w);
  }
  int64_t padded = 0;
  Row pad;
  if (!o.none("padded_sample")) {
    if (o.none("num_padded")) value_error("{}: 'padded_sample' needs 'num_padded'", o.owner());
    padded = o.integer("num_padded");
    if (padded < 0) o.fail("num_padded", "must not be negative, got {}", padded);
    pad = padding(o, h, which);
  } else if (!o.none("num_padded")) {
    value_error("{}: 'num_padded' needs 'padded_sample'", o.owner());
  }
  const int64_t size = shards->size();
  return file_rows(
      o.owner(), columns, size + padded,
      [shards, which, size, pad](int64_t i) { return i < size ? shards->read(i, which) : pad; },
      paths[0]);
}

const SourceDef kMind{
    .name = "MindDataset",
    .doc =
        "MindRecord files with their indexes (<file>.db). One file name: all shards that its "
        "header names; a list: these files in this order. `columns_list`: columns and their "
        "order; otherwise the fields in order of names. `padded_sample` (a value for each "
        "column) is given `num_padded` times after the rows. Columns: numbers [], strings [], "
        "bytes as uint8 [bytes], arrays in the dtype and shape of the schema.",
    .args = {"dataset_files: any", "columns_list: strings? = None",
             "num_parallel_workers: int? = None", "shuffle: any? = None", "num_shards: int? = None",
             "shard_id: int? = None", "sampler: any? = None", "padded_sample: any? = None",
             "num_padded: int? = None", "num_samples: int? = None", "cache: any? = None"},
    .open = open,
};

std::string header_text(const std::string& path) {
  return read_record_header(*disk_bytes(path)).json();
}

std::vector<std::string> index_fields(const std::vector<std::string>& paths) {
  return RecordShards(paths).header().index;
}

// The column of the index with `field`; ValueError when it is not indexed.
std::string column_of(const RecordShards& shards, const std::string& field) {
  const auto& index = shards.header().index;
  if (std::find(index.begin(), index.end(), field) == index.end())
    value_error("MindRecord: field '{}' is not indexed; there are: {}", field,
                fmt::join(index, ", "));
  return field + "_0";
}

std::vector<std::pair<std::string, int64_t>> categories(const std::vector<std::string>& paths,
                                                        const std::string& field) {
  const RecordShards shards(paths);
  const std::string column = column_of(shards, field);
  std::vector<std::pair<std::string, int64_t>> out;
  std::map<std::string, size_t> known;
  for (const RecordShards::Shard& s : shards.shards()) {
    Database db(s.path + ".db", Database::Mode::kRead);
    Database::Statement all(&db, fmt::format("SELECT {0}, COUNT(*) FROM INDEXES GROUP BY {0} "
                                             "ORDER BY {0}",
                                             column));
    while (all.step()) {
      const auto [it, added] = known.emplace(all.text(0), out.size());
      if (added) out.emplace_back(all.text(0), 0);
      out[it->second].second += all.integer(1);
    }
  }
  return out;
}

std::vector<int64_t> find(const std::vector<std::string>& paths, const std::string& field,
                          const std::string& value) {
  const RecordShards shards(paths);
  const std::string column = column_of(shards, field);
  std::vector<int64_t> out;
  for (const RecordShards::Shard& s : shards.shards()) {
    Database db(s.path + ".db", Database::Mode::kRead);
    Database::Statement all(
        &db, fmt::format("SELECT ROW_ID FROM INDEXES WHERE CAST({} AS TEXT) = ? ORDER BY ROW_ID",
                         column));
    all.bind(1, value);
    while (all.step()) out.push_back(s.first_row + all.integer(0));
  }
  return out;
}

}  // namespace

SourceDefs mindrecord_sources() { return {&kMind}; }

const RecordFormat* record_format() {
  static const RecordFormat kFormat{record_writer, header_text, all_files,
                                    index_fields,  categories,  find};
  return &kFormat;
}

}  // namespace mycel::data
