// Published data sets of pictures: files that a list or folders name, with labels or texts.
#include <algorithm>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "data/files/arguments.h"
#include "data/files/labelled.h"
#include "data/files/lines.h"
#include "data/files/records.h"
#include "data/files/rows.h"

namespace mycel::data {
namespace {

DatasetPtr open_celeba(const Options& o) {
  struct Faces {
    Folder folder;
    std::vector<std::string> files;
    std::vector<std::vector<uint32_t>> attributes;
  };
  const std::string usage = one_of(o, "usage", {"all", "train", "valid", "test"}, "all");
  auto f = std::make_shared<Faces>(Faces{Folder(o.string("dataset_dir")), {}, {}});
  std::map<std::string, std::string> part;  // of a file, "0", "1" or "2"
  if (usage != "all") {
    for (const std::string& line : trimmed_lines(f->folder.open("list_eval_partition.txt"))) {
      const std::vector<std::string> words = split(line, ' ');
      part[words.front()] = words.back();
    }
  }
  const std::string wanted = usage == "train" ? "0" : usage == "valid" ? "1" : "2";
  const BytesPtr list = f->folder.open("list_attr_celeba.txt");
  const std::vector<std::string> extensions = o.strings("extensions");
  const std::vector<std::string> lines = trimmed_lines(list);
  for (size_t k = 2; k < lines.size(); ++k) {  // behind the number of pictures and the names
    std::vector<std::string> words = split(lines[k], ' ');
    std::erase(words, "");
    if (!has_extension(words[0], extensions)) continue;
    if (usage != "all" && part[words[0]] != wanted) continue;
    std::vector<uint32_t> attributes;
    for (size_t w = 1; w < words.size(); ++w) {
      if (words[w] != "1" && words[w] != "-1")
        fail(ErrorKind::kOs, "{}: '{}': line {}: an attribute is 1 or -1, not '{}'", o.owner(),
             list->name(), k + 1, words[w]);
      attributes.push_back(words[w] == "1");
    }
    f->files.push_back(words[0]);
    f->attributes.push_back(std::move(attributes));
  }
  const ImageReader read(o.boolean("decode"));
  return file_rows(
      o.owner(), {"image", "attr"}, static_cast<int64_t>(f->files.size()),
      [f, read](int64_t i) -> Row {
        const auto& a = f->attributes[i];
        return {read(f->folder, f->files[i]), Tensor::from(a, {static_cast<int64_t>(a.size())})};
      },
      f->folder.path());
}

DatasetPtr open_manifest(const Options& o) {
  struct Entries {
    std::vector<std::string> files;
    std::vector<std::vector<std::string>> names;
    std::map<std::string, int32_t> labels;
  };
  const std::string usage = one_of(o, "usage", {"train", "eval", "inference"}, "train");
  const BytesPtr file = open_file(o.string("dataset_file"));
  auto e = std::make_shared<Entries>();
  Classes classes;
  for (const auto& [name, label] : pairs(o, "class_indexing")) {
    if (!label.is<int64_t>())
      o.fail("class_indexing", "must map names to ints, got {} for '{}'", label.str(), name);
    e->labels[name] = static_cast<int32_t>(label.get<int64_t>());
  }
  const bool all = e->labels.empty();
  std::map<std::string, int32_t> found;
  for (const std::string& line : trimmed_lines(file)) {
    const nlohmann::json j = nlohmann::json::parse(line, nullptr, false);
    try {
      if (j.at("usage").get<std::string>() != usage) continue;
      std::vector<std::string> names;
      if (j.contains("annotation")) {
        for (const auto& a : j["annotation"]) {
          if (a.contains("name")) names.push_back(a["name"].get<std::string>());
        }
      }
      if (!all && !names.empty()) {
        std::erase_if(names, [&](const std::string& n) { return !e->labels.contains(n); });
        if (names.empty()) continue;
      }
      for (const std::string& n : names) found[n] = 0;
      e->files.push_back(j.at("source").get<std::string>());
      e->names.push_back(std::move(names));
    } catch (const nlohmann::json::exception&) {
      fail(ErrorKind::kOs, "{}: '{}': a line is no JSON object with source and usage: {}",
           o.owner(), file->name(), line.substr(0, 80));
    }
  }
  if (all) {
    int32_t count = 0;
    for (auto& [name, label] : found) label = count++;
    e->labels = found;
  }
  for (const auto& [name, label] : e->labels) classes.emplace_back(name, label);
  const ImageReader read(o.boolean("decode"));
  return file_rows(
      o.owner(), {"image", "label"}, static_cast<int64_t>(e->files.size()),
      [e, read](int64_t i) -> Row {
        std::vector<int32_t> labels;
        for (const std::string& n : e->names[i]) labels.push_back(e->labels.at(n));
        Value label = labels.size() == 1
                          ? scalar(labels[0])
                          : Value(Tensor::from(labels, {static_cast<int64_t>(labels.size())}));
        return {read(open_file(e->files[i])->tensor(), e->files[i]), std::move(label)};
      },
      file->name(), std::move(classes));
}

DatasetPtr open_flickr(const Options& o) {
  struct Captions {
    Folder folder;
    std::vector<std::string> files;
    std::vector<std::vector<std::string>> texts;
  };
  auto c = std::make_shared<Captions>(Captions{Folder(o.string("dataset_dir")), {}, {}});
  const BytesPtr list = open_file(o.string("annotation_file"));
  std::map<std::string, size_t> known;
  for (const std::string& line : trimmed_lines(list)) {
    const size_t hash = line.find('#'), tab = line.find('\t');
    if (hash == line.npos || tab == line.npos || hash > tab)
      fail(ErrorKind::kOs, "{}: '{}': a line is not 'file#n<tab>caption': {}", o.owner(),
           list->name(), line.substr(0, 80));
    const auto [it, added] = known.emplace(line.substr(0, hash), c->files.size());
    if (added) {
      c->files.push_back(it->first);
      c->texts.emplace_back();
    }
    c->texts[it->second].push_back(line.substr(tab + 1));
  }
  const ImageReader read(decodes(o));
  return file_rows(
      o.owner(), {"image", "annotation"}, static_cast<int64_t>(c->files.size()),
      [c, read](int64_t i) -> Row {
        return {read(c->folder, c->files[i]), Value::list(c->texts[i])};
      },
      c->folder.path());
}

DatasetPtr open_food101(const Options& o) {
  const std::string usage = one_of(o, "usage", {"train", "test", "all"}, "all");
  auto p = std::make_shared<Labelled<std::string>>(o.string("dataset_dir"));
  for (const char* part : {"train", "test"}) {
    if (usage != "all" && usage != part) continue;
    for (const std::string& line :
         trimmed_lines(p->folder.open(fmt::format("meta/{}.txt", part)))) {
      p->add("images/" + line + ".jpg", line.substr(0, line.find('/')));
    }
  }
  return rows_of<std::string>(o, p, {});
}

DatasetPtr open_sun397(const Options& o) {
  auto p = std::make_shared<Labelled<uint32_t>>(o.string("dataset_dir"));
  Classes classes;
  for (const std::string& line : trimmed_lines(p->folder.open("ClassName.txt"))) {
    const std::string folder = line.substr(line.starts_with('/') ? 1 : 0);
    for (const std::string& f : p->folder.files(folder, {".jpg"})) {
      if (!f.starts_with("sun_")) continue;
      p->add(join_path(folder, f), static_cast<uint32_t>(classes.size()));
    }
    classes.emplace_back(line, static_cast<int64_t>(classes.size()));
  }
  return rows_of<uint32_t>(o, p, std::move(classes));
}

DatasetPtr open_caltech256(const Options& o) {
  auto p = std::make_shared<Labelled<int32_t>>(o.string("dataset_dir"));
  Classes classes;
  for (const std::string& folder : p->folder.folders()) {
    for (const std::string& f : p->folder.files(folder, {".jpg", ".jpeg", ".JPG", ".JPEG"})) {
      p->add(join_path(folder, f), static_cast<int32_t>(classes.size()));
    }
    classes.emplace_back(folder, static_cast<int64_t>(classes.size()));
  }
  return rows_of<int32_t>(o, p, std::move(classes));
}

DatasetPtr open_places365(const Options& o) {
  const std::string usage =
      one_of(o, "usage", {"train-standard", "train-challenge", "val"}, "train-standard");
  const bool small = o.boolean("small");
  auto p = std::make_shared<Labelled<uint32_t>>(o.string("dataset_dir"));
  std::string list = "places365_val.txt", images = small ? "val_256" : "val_large";
  if (usage != "val") {
    const std::string kind = usage.substr(6);
    list = "places365_train_" + kind + ".txt";
    images = (small ? "data_256_" : "data_large_") + kind;
  }
  for (const std::string& line : trimmed_lines(p->folder.open(list))) {
    const size_t space = line.rfind(' ');
    int64_t label = 0;
    if (space == line.npos || !parse_int(std::string_view(line).substr(space + 1), &label))
      fail(ErrorKind::kOs, "{}: '{}': a line is not 'file label': {}", o.owner(),
           p->folder.path(list), line);
    const std::string file = line.substr(0, space);
    p->add(join_path(images, file.substr(file.starts_with('/') ? 1 : 0)),
           static_cast<uint32_t>(label));
  }
  Classes classes;
  if (p->folder.has_file("categories_places365.txt")) {
    for (const std::string& line : trimmed_lines(p->folder.open("categories_places365.txt"))) {
      const size_t space = line.rfind(' ');
      int64_t label = 0;
      if (space != line.npos && parse_int(std::string_view(line).substr(space + 1), &label))
        classes.emplace_back(line.substr(0, space), label);
    }
  }
  return rows_of<uint32_t>(o, p, std::move(classes));
}

DatasetPtr open_stl10(const Options& o) {
  constexpr int64_t kSide = 96, kBytes = 3 * kSide * kSide;
  struct Part {
    BytesPtr images, labels;  // no labels: unlabeled
    int64_t count = 0;
  };
  const std::string usage =
      one_of(o, "usage", {"train", "test", "unlabeled", "train+unlabeled", "all"}, "all");
  const Folder folder(o.string("dataset_dir"));
  auto parts = std::make_shared<std::vector<Part>>();
  int64_t size = 0;
  for (const std::string part : {"train", "test", "unlabeled"}) {
    if (usage != "all" && usage != part && (usage != "train+unlabeled" || part == "test")) continue;
    Part p;
    p.images = folder.open(part + "_X.bin");
    p.count = static_cast<int64_t>(p.images->size()) / kBytes;
    if (part != "unlabeled") p.labels = folder.open(part + "_y.bin");
    if (p.images->size() % kBytes != 0 ||
        (p.labels && p.labels->size() != static_cast<uint64_t>(p.count)))
      fail(ErrorKind::kOs, "{}: '{}' is truncated: {} bytes, {} labels", o.owner(),
           p.images->name(), p.images->size(), p.labels ? p.labels->size() : 0);
    size += p.count;
    parts->push_back(std::move(p));
  }
  return file_rows(
      o.owner(), {"image", "label"}, size,
      [parts](int64_t i) -> Row {
        const Part* p = parts->data();
        for (; i >= p->count; ++p) i -= p->count;
        std::vector<uint8_t> planes(kBytes);  // by channel, column, row
        p->images->read_at(i * kBytes, planes.data(), kBytes);
        Tensor image = Tensor::empty(DType::kUInt8, {kSide, kSide, 3});
        auto* out = static_cast<uint8_t*>(image.mutable_raw());
        for (int64_t y = 0; y < kSide; ++y) {
          for (int64_t x = 0; x < kSide; ++x) {
            for (int64_t c = 0; c < 3; ++c) *out++ = planes[(c * kSide + x) * kSide + y];
          }
        }
        uint8_t label = 0;
        if (p->labels) p->labels->read_at(i, &label, 1);
        return {image, scalar(static_cast<int32_t>(label) - 1)};
      },
      folder.path());
}

const SourceDef kCelebA{
    .name = "CelebADataset",
    .doc =
        "Faces with 40 attributes (Z. Liu et al., 2015): list_attr_celeba.txt, "
        "list_eval_partition.txt and the pictures in one folder. `usage`: train, valid, test or "
        "all. `extensions`: ends of file names that count. Columns: image uint8, encoded "
        "[bytes] or with `decode` [h, w, 3]; attr uint32 [40], 0 or 1.",
    .args = {"dataset_dir: string", "num_parallel_workers: int? = None", "shuffle: any? = None",
             "usage: string = 'all'", "sampler: any? = None", "decode: bool = False",
             "extensions: strings? = None", "num_samples: int? = None", "num_shards: int? = None",
             "shard_id: int? = None", "cache: any? = None", "decrypt: any? = None"},
    .open = open_celeba,
};
const SourceDef kManifest{
    .name = "ManifestDataset",
    .doc =
        "A manifest: a JSON object a line with source (the path of a picture), usage and "
        "annotation. `usage`: train, eval or inference. `class_indexing`: classes to keep with "
        "their labels; otherwise classes are counted in order of names. Columns: image uint8, "
        "encoded [bytes] or with `decode` [h, w, 3]; label int32 [], or [n] of several.",
    .args = {"dataset_file: string", "usage: string = 'train'", "num_samples: int? = None",
             "num_parallel_workers: int? = None", "shuffle: any? = None", "sampler: any? = None",
             "class_indexing: any? = None", "decode: bool = False", "num_shards: int? = None",
             "shard_id: int? = None", "cache: any? = None"},
    .open = open_manifest,
};
const SourceDef kFlickr{
    .name = "FlickrDataset",
    .doc =
        "Flickr8k and Flickr30k (M. Hodosh et al., 2013): a folder of pictures and a file with "
        "lines 'file#n<tab>caption'. Columns: image uint8, encoded [bytes] or with `decode` "
        "[h, w, 3]; annotation, strings [captions].",
    .args = {"dataset_dir: string", "annotation_file: string", "num_samples: int? = None",
             "num_parallel_workers: int? = None", "shuffle: any? = None", "decode: bool? = None",
             "sampler: any? = None", "num_shards: int? = None", "shard_id: int? = None",
             "cache: any? = None"},
    .open = open_flickr,
};
const SourceDef kFood101{
    .name = "Food101Dataset",
    .doc =
        "Pictures of dishes (L. Bossard et al., 2014): meta/train.txt, meta/test.txt and "
        "images/<class>/<n>.jpg. `usage`: train, test or all (None). Columns: image uint8, "
        "encoded [bytes] or with `decode` [h, w, 3]; label, string [].",
    .args = with({"dataset_dir: string", "usage: string? = None"}, kPictureArgs),
    .open = open_food101,
};
const SourceDef kSun397{
    .name = "SUN397Dataset",
    .doc =
        "Scenes (J. Xiao et al., 2010): ClassName.txt and <class>/sun_*.jpg. Columns: image "
        "uint8, encoded [bytes] or with `decode` [h, w, 3]; label uint32 [], the class's line.",
    .args = with({"dataset_dir: string"}, kPictureArgs),
    .open = open_sun397,
};
const SourceDef kCaltech256{
    .name = "Caltech256Dataset",
    .doc =
        "Caltech-256 (G. Griffin et al., 2007): a folder of JPEG files for each class. Columns: "
        "image uint8, encoded [bytes] or with `decode` [h, w, 3]; label int32 [].",
    .args = with({"dataset_dir: string"}, kPictureArgs),
    .open = open_caltech256,
};
const SourceDef kPlaces365{
    .name = "Places365Dataset",
    .doc =
        "Places (B. Zhou et al., 2017): places365_train_standard.txt (…_challenge, "
        "places365_val.txt) and data_256_standard (data_large_…, val_256, val_large; `small`: "
        "the 256 ones). `usage`: train-standard (None), train-challenge or val. Columns: image "
        "uint8, encoded [bytes] or with `decode` [h, w, 3]; label uint32 [].",
    .args = with({"dataset_dir: string", "usage: string? = None", "small: bool = True",
                  "decode: bool = False"},
                 kRowArgs),
    .open = open_places365,
};
const SourceDef kStl10{
    .name = "STL10Dataset",
    .doc =
        "STL-10 (A. Coates et al., 2011) in binary files: train_X.bin, train_y.bin, test_X.bin, "
        "test_y.bin, unlabeled_X.bin. `usage`: train, test, unlabeled, train+unlabeled or all "
        "(None). Columns: image uint8 [96, 96, 3]; label int32 [], -1 without one.",
    .args = with({"dataset_dir: string", "usage: string? = None"}, kRowArgs),
    .open = open_stl10,
};

}  // namespace

SourceDefs picture_set_sources() {
  return {&kCelebA, &kManifest, &kFlickr, &kFood101, &kSun397, &kCaltech256, &kPlaces365, &kStl10};
}

}  // namespace mycel::data
