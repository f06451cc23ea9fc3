// Writes MindRecord files (format.h).
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "base/error.h"
#include "data/cast.h"
#include "data/files/mindrecord/database.h"
#include "data/files/mindrecord/format.h"
#include "data/files/mindrecord/look.h"

namespace mycel::data {
namespace {

constexpr const char* kTypes[] = {"int32", "int64", "float32", "float64", "string", "bytes"};

std::string index_type(const std::string& type) {
  return type == "string" ? "TEXT" : type.starts_with("int") ? "INTEGER" : "NUMERIC";
}

void check_field(const RecordField& f) {
  const bool word = !f.name.empty() && std::all_of(f.name.begin(), f.name.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  });
  if (!word) value_error("FileWriter: the field '{}' must be of letters, digits and _", f.name);
  if (std::find(std::begin(kTypes), std::end(kTypes), f.type) == std::end(kTypes))
    value_error("FileWriter: field '{}' has the type '{}'; there are {}", f.name, f.type,
                fmt::join(kTypes, ", "));
  if (!f.shape) return;
  if (f.type == "string" || f.type == "bytes")
    value_error("FileWriter: field '{}' of type {} can have no shape", f.name, f.type);
  int open = 0;
  for (int64_t d : *f.shape) {
    if (d < -1) value_error("FileWriter: a dim of field '{}' is {}", f.name, d);
    open += d == -1;
  }
  if (open > 1 || f.shape->size() > kMaxRank)
    value_error("FileWriter: the shape of field '{}' has more than one -1 or {} dims", f.name,
                kMaxRank);
}

// A value as it is written: its dtype that of the field. `row` is for messages.
Value checked(const RecordField& f, const Value& v, size_t row) {
  const auto no = [&] {
    type_error("FileWriter: row {}: field '{}' is {}{}, got {}", row, f.name, f.type,
               f.shape ? " [" + fmt::format("{}", fmt::join(*f.shape, ", ")) + "]" : "",
               v.describe());
  };
  if (f.type == "string") {
    if (!v.is_strings() || v.shape().rank() != 0) no();
    return v;
  }
  if (!v.is_tensor()) no();
  const Tensor& t = v.tensor();
  if (f.type == "bytes") {
    if (t.dtype() != DType::kUInt8 || t.rank() != 1) no();
    return v;
  }
  DType want = DType::kInt32;
  parse_dtype(f.type, &want);
  if (is_int(want) ? !is_int(t.dtype()) : !is_float(t.dtype())) no();
  if (!f.shape) {
    if (t.rank() != 0) no();
    if (want == DType::kInt32 && t.item_int() != static_cast<int32_t>(t.item_int()))
      value_error("FileWriter: row {}: field '{}' is int32, {} is too large", row, f.name,
                  t.item_int());
    return cast(t, want);
  }
  int64_t known = 1;
  bool open = false;
  for (int64_t d : *f.shape) {
    open = open || d < 0;
    if (d >= 0) known *= d;
  }
  if (open ? (known == 0 || t.size() % known != 0) : t.size() != known) no();
  const Tensor out = cast(t, want);
  if (want == DType::kInt32 && t.dtype() != want) {
    for (int64_t i = 0; i < t.size(); ++i) {
      if (element_as_int(t.raw(), t.dtype(), i) != element_as_int(out.raw(), want, i)) no();
    }
  }
  return out;
}

class ShardFile {
 public:
  ShardFile(std::string path, RecordHeader header, bool append)
      : path_(std::move(path)), header_(std::move(header)), append_(append) {
    fd_ = ::open(path_.c_str(), O_RDWR | O_CLOEXEC | (append ? 0 : O_CREAT | O_TRUNC), 0644);
    if (fd_ < 0) bad("write");
    row_ = header_.rows();
    for (size_t p = 0; p < header_.pages.size(); ++p) (header_.pages[p].blob ? blob_ : raw_) = p;
    for (const RecordPage& p : header_.pages) group_ = std::max(group_, p.blob ? p.type_id : -1);
    first_new_ = row_;
  }
  ~ShardFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  ShardFile(const ShardFile&) = delete;
  ShardFile& operator=(const ShardFile&) = delete;
  int64_t rows() const { return row_; }

  void add(const Row& values) {
    const std::string blob = blob_bytes(header_.fields, values, &header_.saved_bytes);
    const std::string raw = raw_bytes(header_.fields, values);
    for (const std::string* part : {&blob, &raw}) {
      if (static_cast<int64_t>(part->size()) > header_.page_bytes)
        value_error(
            "FileWriter: row {} of '{}' takes {} bytes, more than a page of {}; "
            "set_page_size makes pages larger",
            row_, path_, part->size(), header_.page_bytes);
    }
    const bool raw_full = raw_ == kNone || !fits(raw_, raw);
    if (blob_ == kNone || raw_full || !fits(blob_, blob)) {
      ++group_;
      blob_ = new_page(true, group_);
      if (raw_full) raw_ = new_page(false, group_);
      header_.pages[raw_].groups.emplace_back(group_, header_.pages[raw_].used);
    }
    Entry e;
    e.blob_page = header_.pages[blob_].id;
    e.raw_page = header_.pages[raw_].id;
    e.group = group_;
    put(blob_, blob, &e.blob, &e.blob_end);
    put(raw_, raw, &e.raw, &e.raw_end);
    header_.pages[blob_].end_row = ++row_;
    for (const std::string& name : header_.index) {
      for (size_t f = 0; f < header_.fields.size(); ++f) {
        if (header_.fields[f].name == name) e.indexed.push_back(values[f]);
      }
    }
    entries_.push_back(std::move(e));
  }

  void commit() {
    const std::string text = header_.json();
    if (static_cast<int64_t>(text.size()) + 8 > header_.header_bytes)
      value_error(
          "FileWriter: the header of '{}' takes {} bytes, more than {}; set_header_size "
          "makes it larger",
          path_, text.size() + 8, header_.header_bytes);
    write_index();
    std::string head = little_endian(text.size()) + text;
    head.resize(header_.header_bytes);  // an older one may have been longer
    write_at(0, head);
    if (::fsync(fd_) != 0 || ::close(std::exchange(fd_, -1)) != 0) bad("write");
  }

 private:
  static constexpr size_t kNone = ~size_t{0};
  struct Entry {
    int64_t raw_page, raw, raw_end, group, blob_page, blob, blob_end;
    std::vector<Value> indexed;
  };
  [[noreturn]] void bad(const char* what) const {
    fail(ErrorKind::kOs, "FileWriter: cannot {} '{}': {}", what, path_, std::strerror(errno));
  }
  bool fits(size_t page, const std::string& part) const {
    return header_.pages[page].used + static_cast<int64_t>(part.size()) <= header_.page_bytes;
  }
  size_t new_page(bool blob, int64_t type_id) {
    RecordPage p;
    p.id = static_cast<int64_t>(header_.pages.size());
    p.blob = blob;
    p.type_id = type_id;
    if (blob) {
      p.first_row = p.end_row = row_;
      p.groups = {{0, 0}};
    }
    header_.pages.push_back(std::move(p));
    return header_.pages.size() - 1;
  }
  void put(size_t page, const std::string& part, int64_t* begin, int64_t* end) {
    RecordPage& p = header_.pages[page];
    write_at(header_.page_begin(p.id) + p.used, part);
    *begin = p.used;
    p.used += static_cast<int64_t>(part.size());
    *end = p.used;
  }
  void write_at(int64_t at, std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::pwrite(fd_, bytes.data(), bytes.size(), at);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) bad("write");
      at += n;
      bytes.remove_prefix(n);
    }
  }

  void write_index() {
    const std::string path = path_ + ".db";
    if (!append_) ::unlink(path.c_str());
    Database db(path, append_ ? Database::Mode::kChange : Database::Mode::kCreate);
    db.run("BEGIN");
    std::string columns, places, keys = "ROW_ID";
    for (size_t i = 0; i < header_.index.size(); ++i) {
      const std::string& name = header_.index[i];
      const auto f = std::find_if(header_.fields.begin(), header_.fields.end(),
                                  [&](const RecordField& r) { return r.name == name; });
      columns += fmt::format(",INC_{} INT, {}_0 {}", i, name, index_type(f->type));
      places += ",?,?";
      keys += fmt::format(",INC_{}", i);
    }
    if (!append_) {
      db.run(
          "CREATE TABLE INDEXES(  ROW_ID               INT  NOT NULL, PAGE_ID_RAW          INT  "
          "NOT NULL, PAGE_OFFSET_RAW      INT  NOT NULL, PAGE_OFFSET_RAW_END  INT  NOT NULL, "
          "ROW_GROUP_ID         INT  NOT NULL, PAGE_ID_BLOB         INT  NOT NULL, "
          "PAGE_OFFSET_BLOB     INT  NOT NULL, PAGE_OFFSET_BLOB_END INT  NOT NULL" +
          columns + ", PRIMARY KEY(" + keys + "))");
      db.run("CREATE TABLE SHARD_NAME(NAME TEXT NOT NULL)");
      Database::Statement name(&db, "INSERT INTO SHARD_NAME VALUES(?)");
      name.bind(1, header_.shards[header_.shard]);
      name.step();
    }
    Database::Statement insert(&db, "INSERT INTO INDEXES VALUES(?,?,?,?,?,?,?,?" + places + ")");
    for (size_t i = 0; i < entries_.size(); ++i) {
      const Entry& e = entries_[i];
      int at = 0;
      for (int64_t v : {first_new_ + static_cast<int64_t>(i), e.raw_page, e.raw, e.raw_end, e.group,
                        e.blob_page, e.blob, e.blob_end})
        insert.bind(++at, v);
      for (const Value& v : e.indexed) {
        insert.bind(++at, int64_t{0});
        if (v.is_strings()) {
          insert.bind(++at, v.string());
        } else if (is_int(v.tensor().dtype())) {
          insert.bind(++at, v.tensor().item_int());
        } else {
          insert.bind(++at, v.tensor().item());
        }
      }
      insert.step();
    }
    db.run("COMMIT");
  }

  std::string path_;
  RecordHeader header_;
  bool append_;
  int fd_ = -1;
  int64_t row_ = 0, first_new_ = 0, group_ = -1;
  size_t blob_ = kNone, raw_ = kNone;  // pages that are being filled
  std::vector<Entry> entries_;
};

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

class Writer final : public RecordWriter {
 public:
  explicit Writer(const RecordFile& file) {
    if (file.append) {
      const BytesPtr bytes = disk_bytes(file.path);
      RecordHeader h = read_record_header(*bytes);
      if (h.shards.size() != 1)
        value_error("FileWriter: '{}' is one of {} shards; only a single file can be appended to",
                    file.path, h.shards.size());
      fields_ = h.fields;
      shards_.push_back(std::make_unique<ShardFile>(file.path, std::move(h), true));
      return;
    }
    create(file);
  }
  const std::vector<RecordField>& fields() const override { return fields_; }

  void write(const std::vector<Row>& rows) override {
    if (committed_) fail(ErrorKind::kRuntime, "FileWriter: nothing can be written after commit");
    std::vector<Row> sound;
    for (size_t r = 0; r < rows.size(); ++r) {
      if (rows[r].size() != fields_.size())
        value_error("FileWriter: row {} has {} values, there are {} fields", r, rows[r].size(),
                    fields_.size());
      Row row;
      for (size_t f = 0; f < fields_.size(); ++f) row.push_back(checked(fields_[f], rows[r][f], r));
      sound.push_back(std::move(row));
    }
    // Equal runs of neighbours; what is left over goes to the shards with the fewest rows.
    const size_t each = sound.size() / shards_.size();
    std::vector<size_t> count(shards_.size(), each), order(shards_.size());
    for (size_t s = 0; s < order.size(); ++s) order[s] = s;
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return shards_[a]->rows() < shards_[b]->rows(); });
    for (size_t k = 0; k < sound.size() % shards_.size(); ++k) ++count[order[k]];
    size_t at = 0;
    for (size_t s = 0; s < shards_.size(); ++s) {
      for (size_t k = 0; k < count[s]; ++k) shards_[s]->add(sound[at++]);
    }
  }

  void commit() override {
    if (committed_) fail(ErrorKind::kRuntime, "FileWriter: commit was called already");
    for (const auto& s : shards_) s->commit();
    committed_ = true;
  }

 private:
  void create(const RecordFile& file) {
    if (file.shards < 1 || file.shards > 1000)
      value_error("FileWriter: 'shard_num' must be in [1, 1000], got {}", file.shards);
    if (file.header_bytes < (16 << 10) || file.header_bytes > (128 << 20) ||
        file.header_bytes % 4 != 0)
      value_error("FileWriter: the size of the header must be 16 KiB to 128 MiB, got {}",
                  file.header_bytes);
    if (file.page_bytes < (32 << 10) || file.page_bytes > (256 << 20) || file.page_bytes % 4 != 0)
      value_error("FileWriter: the size of a page must be 32 KiB to 256 MiB, got {}",
                  file.page_bytes);
    fields_ = file.fields;
    std::sort(fields_.begin(), fields_.end(),
              [](const RecordField& a, const RecordField& b) { return a.name < b.name; });
    if (fields_.empty()) value_error("FileWriter: there are no fields; give a schema first");
    std::set<std::string> names;
    RecordHeader h;
    for (const RecordField& f : fields_) {
      check_field(f);
      if (!names.insert(f.name).second)
        value_error("FileWriter: there are two fields '{}'", f.name);
      if (file.index.empty() && !is_blob(f)) h.index.push_back(f.name);
    }
    std::set<std::string> indexed;
    for (const std::string& name : file.index) {
      const auto f = std::find_if(fields_.begin(), fields_.end(),
                                  [&](const RecordField& r) { return r.name == name; });
      if (f == fields_.end() || is_blob(*f))
        value_error("FileWriter: '{}' cannot be indexed: it is {}", name,
                    f == fields_.end() ? "no field" : "bytes or an array");
      if (indexed.insert(name).second) h.index.push_back(name);
    }
    h.header_bytes = file.header_bytes;
    h.page_bytes = file.page_bytes;
    h.fields = fields_;
    h.description = file.description;
    std::vector<std::string> paths;
    const size_t digits = std::to_string(file.shards - 1).size();
    for (int64_t s = 0; s < file.shards; ++s) {
      paths.push_back(file.shards == 1 ? file.path : fmt::format("{}{:0{}}", file.path, s, digits));
      h.shards.push_back(base_name(paths.back()));
    }
    for (const std::string& p : paths) {
      for (const std::string& existing : {p, p + ".db"}) {
        if (!file.overwrite && ::access(existing.c_str(), F_OK) == 0)
          throw UserError(ErrorKind::kOs,
                          fmt::format("FileWriter: '{}' is there already", existing),
                          "Give overwrite=True to replace it.");
      }
    }
    for (const std::string& p : paths) {
      shards_.push_back(std::make_unique<ShardFile>(p, h, false));
      ++h.shard;
    }
  }

  std::vector<RecordField> fields_;
  std::vector<std::unique_ptr<ShardFile>> shards_;
  bool committed_ = false;
};

}  // namespace

std::unique_ptr<RecordWriter> record_writer(const RecordFile& file) {
  return std::make_unique<Writer>(file);
}

}  // namespace mycel::data
