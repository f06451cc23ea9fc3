// TFRecordDataset: files of tf.train.Example. A record is its length (uint64), a checksum of that,
// the bytes, and a checksum of them; all checksums are checked. One pass over the lengths numbers
// the records, so that a shuffle is global; packed files are read as a stream.
#include <cstring>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/crc32c.h"
#include "base/error.h"
#include "data/cast.h"
#include "data/files/example.h"
#include "data/files/records.h"
#include "data/files/rows.h"
#include "data/files/schema.h"
#include "data/files/unpack.h"
#include "data/group_order.h"
#include "data/index_progress.h"

namespace mycel::data {
namespace {

constexpr uint64_t kHeader = 12, kFooter = 4;
constexpr uint64_t kLongest = uint64_t{1} << 31;

uint64_t load64(const char* p) {
  uint64_t v = 0;
  std::memcpy(&v, p, 8);
  return v;
}
uint32_t load32(const char* p) {
  uint32_t v = 0;
  std::memcpy(&v, p, 4);
  return v;
}

// The length of the record whose first 12 bytes are given.
uint64_t record_length(const char* header, const std::string& file, uint64_t at) {
  if (load32(header + 8) != masked_crc(crc32c(header, 8)))
    fail(ErrorKind::kOs, "'{}' is no TFRecord file, or damaged: the checksum at byte {} is wrong",
         file, at);
  const uint64_t n = load64(header);
  if (n > kLongest)
    fail(ErrorKind::kOs, "'{}': the record at byte {} has {} bytes, more than 2 GiB", file, at, n);
  return n;
}

void check_record(std::string_view with_footer, const std::string& file, uint64_t at) {
  const size_t n = with_footer.size() - kFooter;
  if (load32(with_footer.data() + n) != masked_crc(crc32c(with_footer.data(), n)))
    fail(ErrorKind::kOs, "'{}' is damaged: the checksum of the record at byte {} is wrong", file,
         at);
}

// What columns are made of.
struct Layout {
  std::vector<SchemaColumn> columns;
  bool inferred = false;
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const SchemaColumn& c : columns) out.push_back(c.name);
    return out;
  }
};

// `n` numbers or strings in the shape of the column.
Shape shape_of(const SchemaColumn& c, int64_t n) {
  if (!c.shape) return {n};
  Shape s;
  int64_t known = 1;
  int open = -1;
  for (int64_t d : *c.shape) {
    if (d < 0) open = s.rank();
    if (d >= 0 && __builtin_mul_overflow(known, d, &known)) known = -1;
    s.push_back(std::max<int64_t>(d, 0));
  }
  if (open >= 0 && known > 0 && n % known == 0) s.set(open, n / known);
  if (known < 0 || s.size() != n)
    value_error("column '{}' has {} elements, which do not fill the shape ({})", c.name, n,
                fmt::join(*c.shape, ", "));
  return s;
}

// Byte strings as numbers: padded with spaces to one length.
Value padded_bytes(const SchemaColumn& c, const std::vector<std::string_view>& items) {
  size_t width = 0;
  for (std::string_view b : items) width = std::max(width, b.size());
  const auto total = static_cast<int64_t>(width * items.size());
  Tensor t = Tensor::empty(c.dtype, shape_of(c, total));
  char* out = static_cast<char*>(t.mutable_raw());
  for (std::string_view b : items) {
    if (!b.empty()) std::memcpy(out, b.data(), b.size());
    std::memset(out + b.size(), ' ', width - b.size());
    out += width;
  }
  return t;
}

Value value_of(const SchemaColumn& c, const Feature& f) {
  const auto wrong = [&](const char* has, const char* allowed) {
    type_error("column '{}' holds {}, which can be read as {}, not as {}", c.name, has, allowed,
               c.string ? "string" : name_of(c.dtype));
  };
  const auto n = static_cast<int64_t>(f.size());
  switch (f.kind) {
    case Feature::Kind::kBytes:
      if (c.string) return StringArray{{f.bytes.begin(), f.bytes.end()}, shape_of(c, n)};
      if (c.dtype != DType::kUInt8 && c.dtype != DType::kInt8)
        wrong("bytes", "string, uint8 or int8");
      return padded_bytes(c, f.bytes);
    case Feature::Kind::kFloat:
      if (c.string || !is_float(c.dtype)) wrong("floats", "float32, float64 or float16");
      return cast(Tensor::from(f.floats, shape_of(c, n)), c.dtype);
    case Feature::Kind::kInt:
      if (c.string || !is_int(c.dtype)) wrong("ints", "an int dtype");
      return cast(Tensor::from(f.ints, shape_of(c, n)), c.dtype);
    case Feature::Kind::kNone:
      break;
  }
  value_error("column '{}' holds nothing", c.name);
}

Row row_of(const Layout& layout, std::string_view record, const std::string& file) {
  std::map<std::string_view, Feature> features;
  if (!parse_example(record, &features))
    fail(ErrorKind::kOs, "'{}': the record is no tf.train.Example", file);
  Row row;
  for (const SchemaColumn& c : layout.columns) {
    const auto it = features.find(c.name);
    if (it == features.end()) {
      std::vector<std::string_view> has;
      for (const auto& [name, _] : features) has.push_back(name);
      fail(ErrorKind::kKey, "'{}': there is no column '{}'; columns: {}", file, c.name,
           fmt::join(has, ", "));
    }
    row.push_back(value_of(c, it->second));
  }
  return row;
}

// Columns of the first record, in order of names.
Layout inferred(std::string_view record, const std::string& file) {
  std::map<std::string_view, Feature> features;
  if (!parse_example(record, &features))
    fail(ErrorKind::kOs, "'{}': the first record is no tf.train.Example", file);
  Layout layout;
  layout.inferred = true;
  for (const auto& [name, f] : features) {
    SchemaColumn c;
    c.name = name;
    c.dtype = f.kind == Feature::Kind::kBytes   ? DType::kUInt8
              : f.kind == Feature::Kind::kFloat ? DType::kFloat32
                                                : DType::kInt64;
    layout.columns.push_back(std::move(c));
  }
  return layout;
}

Layout chosen(Layout all, const Options& o) {
  if (o.none("columns_list")) return all;
  Layout out;
  std::set<std::string> seen;
  for (const std::string& name : o.strings("columns_list")) {
    const auto it = std::find_if(all.columns.begin(), all.columns.end(),
                                 [&](const SchemaColumn& c) { return c.name == name; });
    if (it == all.columns.end())
      o.fail("columns_list", "names the column '{}'; columns: {}", name,
             fmt::join(all.names(), ", "));
    if (!seen.insert(name).second) o.fail("columns_list", "names the column '{}' twice", name);
    out.columns.push_back(*it);
  }
  return out;
}

// Records with numbers: where each begins.
class Records {
 public:
  explicit Records(const std::vector<std::string>& paths) {
    IndexBuild progress(paths[0]);
    for (const std::string& path : paths) {
      files_.push_back(open_file(path));
      const Bytes& file = *files_.back();
      Scanner scan(files_.back());
      while (!scan.done()) {
        const uint64_t at = scan.at();
        const std::string_view header = scan.peek(kHeader);
        const uint64_t rest = file.size() - at;
        if (header.size() < kHeader) truncated(file, at);
        const uint64_t n = record_length(header.data(), file.name(), at);
        if (n + kHeader + kFooter > rest) truncated(file, at);
        begins_.push_back(at);
        scan.skip(n + kHeader + kFooter);
        progress.at(size());
      }
      ends_.push_back(size());
    }
    progress.finish(size());
  }
  int64_t size() const { return static_cast<int64_t>(begins_.size()); }
  // How many there are up to the end of each file, of the first `n`.
  std::vector<int64_t> ends_up_to(int64_t n) const {
    std::vector<int64_t> out = ends_;
    for (int64_t& e : out) e = std::min(e, n);
    return out;
  }
  std::string read(int64_t i, std::string* file) const {
    const size_t f = std::upper_bound(ends_.begin(), ends_.end(), i) - ends_.begin();
    const Bytes& b = *files_[f];
    *file = b.name();
    const uint64_t at = begins_[i];
    const uint64_t end = i + 1 < ends_[f] ? begins_[i + 1] : b.size();
    std::string record = b.text(at + kHeader, end - at - kHeader);
    check_record(record, b.name(), at);
    record.resize(record.size() - kFooter);
    return record;
  }

 private:
  [[noreturn]] static void truncated(const Bytes& file, uint64_t at) {
    fail(ErrorKind::kOs, "'{}' is truncated: it ends inside the record at byte {}", file.name(),
         at);
  }
  std::vector<BytesPtr> files_;
  std::vector<int64_t> ends_;  // how many records there are up to the end of each file
  std::vector<uint64_t> begins_;
};

bool next_record(Unpacked* in, std::string* record) {
  const uint64_t at = in->at();
  std::string header;
  if (!in->read(kHeader, &header)) return false;
  const uint64_t n = record_length(header.data(), in->name(), at);
  if (!in->read(n + kFooter, record))
    fail(ErrorKind::kOs, "'{}' is truncated: it ends inside the record at unpacked byte {}",
         in->name(), at);
  check_record(*record, in->name(), at);
  record->resize(n);
  return true;
}

class PackedRecords final : public StreamDataset {
 public:
  PackedRecords(std::string owner, std::vector<std::string> paths, Layout layout, int64_t most)
      : owner_(std::move(owner)),
        paths_(std::move(paths)),
        layout_(std::move(layout)),
        columns_(layout_.names()),
        most_(most) {}
  const std::vector<std::string>& columns() const override { return columns_; }
  int64_t size() const override { return kUnknownSize; }
  std::string describe() const override { return fmt::format("{}('{}')", owner_, paths_[0]); }

 private:
  class Records final : public Stream {
   public:
    explicit Records(const PackedRecords& d) : d_(d) {}
    bool next(Row* row) override {
      try {
        std::string record;
        if (!find(&record)) return false;
        *row = row_of(d_.layout_, record, in_->name());
      } catch (UserError& e) {
        e.prefix(fmt::format("{}: sample {}: ", d_.owner_, at_));
        throw;
      }
      ++at_;
      return true;
    }

   private:
    bool find(std::string* record) {
      if (d_.most_ > 0 && at_ >= d_.most_) return false;
      while (true) {
        if (in_ && next_record(in_.get(), record)) return true;
        if (file_ == d_.paths_.size()) return false;
        in_ = std::make_unique<Unpacked>(open_file(d_.paths_[file_++]));
      }
    }
    const PackedRecords& d_;
    std::unique_ptr<Unpacked> in_;
    size_t file_ = 0;
    int64_t at_ = 0;
  };
  std::unique_ptr<Stream> open() const override { return std::make_unique<Records>(*this); }

  std::string owner_;
  std::vector<std::string> paths_;
  Layout layout_;
  std::vector<std::string> columns_;
  int64_t most_;
};

Layout layout_of(const Options& o, const std::function<bool(std::string*, std::string*)>& first,
                 int64_t* rows) {
  if (!o.none("schema")) {
    if (!o["schema"].is<std::string>())
      type_error("{}: 'schema' must be a Schema or the path of one, got {}", o.owner(),
                 o["schema"].str());
    Schema s = read_schema(o.string("schema"), o.owner());
    *rows = s.rows;
    if (!s.columns.empty()) return chosen({std::move(s.columns), false}, o);
  }
  std::string record, file;
  if (!first(&record, &file)) value_error("{}: there are no samples", o.owner());
  return chosen(inferred(record, file), o);
}

DatasetPtr open(const Options& o) {
  const std::string compression = one_of(o, "compression_type", {"", "GZIP", "ZLIB"}, "");
  const std::vector<std::string> paths = find_files(o.strings("dataset_files"), o.owner());
  int64_t most = 0;
  if (!compression.empty()) {
    Layout layout = layout_of(
        o,
        [&](std::string* record, std::string* file) {
          for (const std::string& path : paths) {
            Unpacked in(open_file(path));
            *file = path;
            if (next_record(&in, record)) return true;
          }
          return false;
        },
        &most);
    if (!o.none("num_samples")) most = 0;
    return std::make_shared<PackedRecords>(o.owner(), paths, std::move(layout), most);
  }
  const auto records = std::make_shared<const Records>(paths);
  auto layout = std::make_shared<const Layout>(layout_of(
      o,
      [&](std::string* record, std::string* file) {
        if (records->size() == 0) return false;
        *record = records->read(0, file);
        return true;
      },
      &most));
  int64_t size = records->size();
  if (o.none("num_samples") && most > 0) size = std::min(size, most);
  return in_files(file_rows(
                      o.owner(), layout->names(), size,
                      [records, layout](int64_t i) {
                        std::string file;
                        const std::string record = records->read(i, &file);
                        return row_of(*layout, record, file);
                      },
                      paths[0]),
                  records->ends_up_to(size));
}

const SourceDef kTFRecord{
    .name = "TFRecordDataset",
    .doc =
        "Records of tf.train.Example. Without `schema` (JSON text, or the path of a file with "
        "it) the columns are those of the first record in order of names, 1-d: ints as int64, "
        "floats as float32, bytes as uint8 (several padded with spaces to one length). A schema "
        "gives dtypes and shapes; its numRows counts where num_samples is not given. "
        "`columns_list`: columns and their order. `compression_type`: '', GZIP or ZLIB; packed "
        "files are read in order, so a global shuffle needs unpacked ones. Checksums are "
        "checked.",
    .args = {"dataset_files: strings", "schema: any? = None", "columns_list: strings? = None",
             "num_samples: int? = None", "num_parallel_workers: int? = None",
             "shuffle: Shuffle? = GLOBAL", "num_shards: int? = None", "shard_id: int? = None",
             "shard_equal_rows: bool = False", "cache: any? = None",
             "compression_type: string? = None"},
    .open = open,
};

}  // namespace

SourceDefs tfrecord_sources() { return {&kTFRecord}; }

}  // namespace mycel::data
