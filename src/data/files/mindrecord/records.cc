#include "data/files/mindrecord/records.h"

#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "data/cast.h"
#include "data/files/folder.h"
#include "data/files/mindrecord/database.h"
#include "data/index_progress.h"

namespace mycel::data {
namespace {

[[noreturn]] void broken_row(const Bytes& file, const std::string& why) {
  fail(ErrorKind::kOs, "'{}' is damaged: {}", file.name(), why);
}

// The content of a row's part that begins at `at` and takes `n` bytes with its length.
std::string part(const Bytes& file, uint64_t at, uint32_t n) {
  std::string text = file.text(at, n);
  uint64_t length = 0;
  std::memcpy(&length, text.data(), 8);
  if (length != text.size() - 8)
    broken_row(
        file, fmt::format("the part of a row at byte {} has another length than in the index", at));
  return text.substr(8);
}

DType dtype_of_field(const RecordField& f, const Bytes& file) {
  DType d = DType::kUInt8;
  if (f.type != "bytes" && !parse_dtype(f.type, &d))
    broken_row(file, fmt::format("field '{}' has the type '{}'", f.name, f.type));
  return d;
}

Value raw_value(const RecordField& f, const nlohmann::json& map, const Bytes& file) {
  const auto it = map.find(f.name);
  if (it == map.end() || !(f.type == "string" ? it->is_string() : it->is_number()))
    broken_row(file, fmt::format("a row has no field '{}' of type {}", f.name, f.type));
  if (f.type == "string") return Value(it->get<std::string>());
  const DType d = dtype_of_field(f, file);
  return is_int(d) ? Value(Tensor::scalar(d, it->get<int64_t>()))
                   : Value(Tensor::scalar(d, it->get<double>()));
}

Value blob_value(const RecordField& f, std::string_view bytes, const Bytes& file) {
  const DType d = dtype_of_field(f, file);
  Tensor t;
  if (is_int(d) && f.type != "bytes") {
    std::vector<int64_t> numbers;
    if (!unpack_ints(bytes, &numbers))
      broken_row(file, fmt::format("the ints of field '{}' do not unpack", f.name));
    t = cast(Tensor::from(numbers, {static_cast<int64_t>(numbers.size())}), d);
  } else {
    if (bytes.size() % size_of(d) != 0)
      broken_row(file, fmt::format("field '{}' has {} bytes", f.name, bytes.size()));
    t = Tensor::empty(d, {static_cast<int64_t>(bytes.size() / size_of(d))});
    if (!bytes.empty()) std::memcpy(t.mutable_raw(), bytes.data(), bytes.size());
  }
  if (!f.shape) return t;
  Shape shape;
  int64_t known = 1;
  int open = -1;
  for (int64_t dim : *f.shape) {
    if (dim < 0) open = shape.rank();
    shape.push_back(dim < 0 ? 0 : dim);
    if (dim >= 0 && __builtin_mul_overflow(known, dim, &known)) known = 0;
  }
  if (open >= 0 && known > 0) shape.set(open, t.size() / known);
  if (shape.size() != t.size())
    broken_row(file, fmt::format("field '{}' has {} numbers, which do not fill its shape", f.name,
                                 t.size()));
  return t.view(shape);
}

bool same_fields(const RecordHeader& a, const RecordHeader& b) {
  if (a.fields.size() != b.fields.size()) return false;
  for (size_t i = 0; i < a.fields.size(); ++i) {
    const RecordField &f = a.fields[i], &g = b.fields[i];
    if (f.name != g.name || f.type != g.type || f.shape != g.shape) return false;
  }
  return true;
}

}  // namespace

RecordShards::RecordShards(const std::vector<std::string>& paths) {
  for (const std::string& p : paths) add(p);
}

void RecordShards::add(const std::string& path) {
  Shard s{path, disk_bytes(path), {}, size()};
  s.header = read_record_header(*s.file);
  if (!shards_.empty() && !same_fields(header(), s.header))
    fail(ErrorKind::kOs, "'{}' and '{}' have different fields", shards_[0].path, path);
  shards_.push_back(std::move(s));
  read_index(static_cast<uint32_t>(shards_.size()) - 1);
}

void RecordShards::read_index(uint32_t shard) {
  const Shard& s = shards_[shard];
  const RecordHeader& h = s.header;
  IndexBuild progress(s.path, h.rows());
  Database db(s.path + ".db", Database::Mode::kRead);
  Database::Statement all(
      &db,
      "SELECT PAGE_ID_RAW, PAGE_OFFSET_RAW, PAGE_OFFSET_RAW_END, PAGE_ID_BLOB, PAGE_OFFSET_BLOB, "
      "PAGE_OFFSET_BLOB_END FROM INDEXES ORDER BY ROW_ID");
  const auto span = [&](int at, uint64_t* begin, uint32_t* bytes) {
    const int64_t page = all.integer(at), from = all.integer(at + 1), to = all.integer(at + 2);
    // Within its page, and with room for the length.
    if (page < 0 || page > (int64_t{1} << 30) || from < 0 || to > h.page_bytes || to - from < 8 ||
        static_cast<uint64_t>(h.page_begin(page) + to) > s.file->size())
      fail(ErrorKind::kOs, "the index '{}.db' does not belong to its file: row {} lies outside",
           s.path, size() - s.first_row);
    *begin = static_cast<uint64_t>(h.page_begin(page) + from);
    *bytes = static_cast<uint32_t>(to - from);
  };
  while (all.step()) {
    Place p{shard, 0, 0, 0, 0};
    span(0, &p.raw, &p.raw_bytes);
    span(3, &p.blob, &p.blob_bytes);
    places_.push_back(p);
    progress.at(size() - s.first_row);
  }
  if (size() - s.first_row != h.rows())
    fail(ErrorKind::kOs, "the index '{}.db' has {} rows, but the file has {}", s.path,
         size() - s.first_row, h.rows());
  progress.finish(h.rows());
}

Row RecordShards::read(int64_t i, const std::vector<size_t>& which) const {
  const Place& p = places_[i];
  const Shard& s = shards_[p.shard];
  const auto& fields = s.header.fields;
  bool any_raw = false, any_blob = false;
  size_t blobs = 0;
  for (const RecordField& f : fields) blobs += is_blob(f);
  for (size_t w : which) (is_blob(fields[w]) ? any_blob : any_raw) = true;

  nlohmann::json map;
  if (any_raw) {
    const std::string text = part(*s.file, p.raw, p.raw_bytes);
    map = nlohmann::json::from_msgpack(text, true, false);
    if (!map.is_object()) broken_row(*s.file, "the fields of a row do not parse");
  }
  std::string blob;
  std::vector<std::string_view> pieces(fields.size());
  if (any_blob) {
    blob = part(*s.file, p.blob, p.blob_bytes);
    std::string_view rest = blob;
    for (size_t f = 0; f < fields.size(); ++f) {
      if (!is_blob(fields[f])) continue;
      uint64_t n = rest.size();
      if (blobs > 1) {
        if (rest.size() < 8) broken_row(*s.file, "the bytes of a row end early");
        n = 0;
        for (int b = 0; b < 8; ++b) n = n << 8 | static_cast<unsigned char>(rest[b]);
        rest.remove_prefix(8);
        if (n > rest.size()) broken_row(*s.file, "the bytes of a row end early");
      }
      pieces[f] = rest.substr(0, n);
      rest.remove_prefix(n);
    }
  }
  Row row;
  for (size_t w : which)
    row.push_back(is_blob(fields[w]) ? blob_value(fields[w], pieces[w], *s.file)
                                     : raw_value(fields[w], map, *s.file));
  return row;
}

}  // namespace mycel::data
