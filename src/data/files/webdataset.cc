// WebDataset: tar archives in which files that follow one another and share the part of the path
// before the first dot of the name are a sample ("a/0001.jpg", "a/0001.cls").
#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "data/files/arguments.h"
#include "data/files/json_value.h"
#include "data/files/npy.h"
#include "data/files/records.h"
#include "data/files/rows.h"
#include "data/files/tar.h"
#include "data/files/unpack.h"

namespace mycel::data {
namespace {

struct Sample {
  uint32_t archive;
  std::string key;
  std::map<std::string, std::string> members;  // extension, path
};
struct Samples {
  std::vector<Folder> archives;
  std::vector<Sample> all;
};

// What stands before and behind the first dot of the name.
std::pair<std::string, std::string> cut(const std::string& path) {
  const size_t slash = path.rfind('/');
  const size_t dot = path.find('.', slash == path.npos ? 0 : slash + 1);
  if (dot == path.npos) return {path, ""};
  return {path.substr(0, dot), path.substr(dot + 1)};
}

Value value_of(const Bytes& file, const std::string& extension, const ImageReader* decode) {
  const std::string last = extension.substr(extension.rfind('.') + 1);
  if (last == "npy") return read_npy(file);
  static const std::set<std::string> kImages = {"jpg", "jpeg", "png", "bmp", "tif", "tiff", "webp"};
  if (decode && kImages.contains(last)) return (*decode)(file.tensor(), file.name());
  if (last == "txt" || last == "text" || last == "transcript") return Value(file.text());
  if (last == "json") {
    std::string text = file.text();
    const nlohmann::json j = nlohmann::json::parse(text, nullptr, false);
    if (j.is_discarded()) fail(ErrorKind::kOs, "'{}' is not JSON", file.name());
    return j.is_object() ? Value(std::move(text)) : json_value(j, file.name(), extension);
  }
  if (last == "cls" || last == "cls2" || last == "index" || last == "count" || last == "id") {
    int64_t v = 0;
    if (!parse_int(trim(file.text()), &v))
      fail(ErrorKind::kOs, "'{}' holds no whole number", file.name());
    return scalar(v);
  }
  return file.tensor();
}

using Decoder = std::shared_ptr<const ImageReader>;

// The columns of a sample; `member` gives the file of an extension, or null.
template <typename Members, typename Open>
Row row_of(const std::vector<std::string>& columns, const std::string& archive,
           const std::string& key, const Members& members, const ImageReader* decode, Open open) {
  Row row;
  for (const std::string& c : columns) {
    if (c == "__key__") {
      row.emplace_back(key);
      continue;
    }
    const auto it = members.find(c);
    if (it == members.end()) {
      std::vector<std::string> has;
      for (const auto& [extension, _] : members) has.push_back(extension);
      fail(ErrorKind::kKey, "'{}' has no file with the extension '{}', only {}",
           join_path(archive, key), c, fmt::join(has, ", "));
    }
    row.push_back(value_of(*open(it->second), c, decode));
  }
  return row;
}

// A sample with what its files hold.
struct HeldSample {
  std::string archive, key;
  std::map<std::string, BytesPtr> members;  // by extension
};

// The samples of archives that are read from begin to end.
class SampleReader {
 public:
  explicit SampleReader(const std::vector<std::string>* paths) : paths_(*paths) {}
  bool next(HeldSample* out) {
    *out = std::move(ahead_);
    ahead_ = {};
    while (true) {
      if (!tar_) {
        if (file_ == paths_.size()) return !out->members.empty();
        in_ = std::make_unique<PackedTar>(paths_[file_++]);
        tar_ = std::make_unique<TarReader>(in_.get());
      }
      TarMember m;
      if (!tar_->next(&m)) {
        tar_.reset();
        if (!out->members.empty()) return true;  // no sample reaches into another archive
        continue;
      }
      auto [key, extension] = cut(m.path);
      if (extension.empty() || m.path.ends_with('/')) continue;
      HeldSample* sample = out->members.empty() || out->key == key ? out : &ahead_;
      sample->archive = in_->name();
      sample->key = std::move(key);
      sample->members[extension] =
          memory_bytes(join_path(in_->name(), m.path), in_->text(m.offset, m.size));
      if (sample == &ahead_) return true;
    }
  }

 private:
  class PackedTar final : public TarInput {
   public:
    explicit PackedTar(const std::string& path) : in_(open_file(path)) {}
    const std::string& name() const override { return in_.name(); }
    bool ends(uint64_t at) override { return !in_.skip_to(at) || in_.done(); }
    std::string text(uint64_t at, uint64_t n) override {
      std::string out;
      if (!in_.skip_to(at) || !in_.read(n, &out)) {
        if (n > 0)
          fail(ErrorKind::kOs, "'{}' is truncated: it ends at unpacked byte {}", name(), in_.at());
      }
      return out;
    }

   private:
    Unpacked in_;
  };
  const std::vector<std::string>& paths_;
  size_t file_ = 0;
  std::unique_ptr<PackedTar> in_;
  std::unique_ptr<TarReader> tar_;
  HeldSample ahead_;
};

// Packed archives: unpacked on one thread, values made on any.
class PackedSamples final : public Dataset {
 public:
  PackedSamples(std::string owner, std::vector<std::string> paths, std::vector<std::string> columns,
                Decoder decode)
      : owner_(std::move(owner)),
        paths_(std::move(paths)),
        columns_(std::move(columns)),
        decode_(std::move(decode)) {
    HeldSample first;
    if (!SampleReader(&paths_).next(&first))
      value_error("{}: there are no samples in '{}'", owner_, paths_[0]);
    if (!columns_.empty()) return;
    for (const auto& [extension, _] : first.members) columns_.push_back(extension);
  }
  const std::vector<std::string>& columns() const override { return columns_; }
  int64_t size() const override { return kUnknownSize; }
  std::string describe() const override { return fmt::format("{}('{}')", owner_, paths_[0]); }
  RowsPtr iterate(uint64_t) const override { return std::make_unique<Stream>(*this); }

 private:
  class Stream final : public Rows {
   public:
    explicit Stream(const PackedSamples& of) : of_(of), reader_(&of.paths_) {}
    bool next(Job* job) override {
      auto sample = std::make_shared<HeldSample>();
      if (!reader_.next(sample.get())) return false;
      *job = timed(of_, [&of = of_, sample, i = at_++] { return of.row_of_sample(*sample, i); });
      return true;
    }

   private:
    const PackedSamples& of_;
    SampleReader reader_;
    int64_t at_ = 0;
  };
  Row row_of_sample(const HeldSample& s, int64_t i) const {
    try {
      return row_of(columns_, s.archive, s.key, s.members, decode_.get(),
                    [](const BytesPtr& file) { return file; });
    } catch (UserError& e) {
      e.prefix(fmt::format("{}: sample {}: ", owner_, i));
      throw;
    }
  }

  std::string owner_;
  std::vector<std::string> paths_, columns_;
  Decoder decode_;
};

DatasetPtr open(const Options& o) {
  const auto paths = find_files(o.strings("dataset_files"), o.owner());
  std::vector<std::string> columns = o.strings("columns_list");
  Decoder decode;
  if (o.boolean("decode")) decode = std::make_shared<const ImageReader>(true);
  const auto packed = std::count_if(paths.begin(), paths.end(), packed_name);
  if (packed > 0) {
    if (packed != static_cast<int64_t>(paths.size()))
      value_error("{}: '{}' is packed and '{}' is not; give them to two datasets", o.owner(),
                  *std::find_if(paths.begin(), paths.end(), packed_name),
                  *std::find_if_not(paths.begin(), paths.end(), packed_name));
    return std::make_shared<PackedSamples>(o.owner(), paths, std::move(columns), decode);
  }
  auto s = std::make_shared<Samples>();
  for (const std::string& path : paths) {
    s->archives.emplace_back(path);
    for (const std::string& file : s->archives.back().all_files()) {
      auto [key, extension] = cut(file);
      if (extension.empty()) continue;
      const auto archive = static_cast<uint32_t>(s->archives.size()) - 1;
      if (s->all.empty() || s->all.back().archive != archive || s->all.back().key != key)
        s->all.push_back({archive, key, {}});
      s->all.back().members[extension] = file;
    }
  }
  if (columns.empty() && !s->all.empty()) {
    for (const auto& [extension, _] : s->all[0].members) columns.push_back(extension);
  }
  return file_rows(
      o.owner(), columns, static_cast<int64_t>(s->all.size()),
      [s, columns, decode](int64_t i) {
        const Sample& sample = s->all[i];
        const Folder& archive = s->archives[sample.archive];
        return row_of(columns, archive.path(), sample.key, sample.members, decode.get(),
                      [&](const std::string& path) { return archive.open(path); });
      },
      paths[0]);
}

const SourceDef kWeb{
    .name = "WebDataset",
    .doc =
        "Tar archives (or zip, or packed .tar.gz, .tar.bz2, .tar.xz, .tar.zst, which are a stream) "
        "of "
        "samples: neighbouring files whose names are equal up to the "
        "first dot. A column for each extension: those of `columns_list` (__key__: the name), "
        "or those of the first sample in order. Values: txt and json objects as string [], "
        "other json as arrays, cls, index, id and count as int64 [], npy as an array, all else "
        "uint8 [bytes], images with `decode` [h, w, 3].",
    .args =
        with({"dataset_files: strings", "columns_list: strings? = None", "decode: bool = False"},
             kRowArgs),
    .open = open,
};

}  // namespace

SourceDefs webdataset_sources() { return {&kWeb}; }

}  // namespace mycel::data
