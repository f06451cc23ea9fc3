// Published data sets of streets and places: Cityscapes, KITTI, LSUN.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "data/files/arguments.h"
#include "data/files/labelled.h"
#include "data/files/lmdb.h"
#include "data/files/records.h"

namespace mycel::data {
namespace {

DatasetPtr open_cityscapes(const Options& o) {
  struct Pairs {
    Folder folder;
    std::vector<std::string> images, tasks;
  };
  const std::string quality = one_of(o, "quality_mode", {"fine", "coarse"}, "fine");
  const bool fine = quality == "fine";
  const std::vector<std::string> parts =
      fine ? std::vector<std::string>{"train", "test", "val"}
           : std::vector<std::string>{"train", "train_extra", "val"};
  std::vector<std::string> allowed = parts;
  allowed.emplace_back("all");
  const std::string usage = one_of(o, "usage", allowed, "train");
  const std::string task =
      one_of(o, "task", {"instance", "semantic", "polygon", "color"}, "instance");
  const std::string gt = fine ? "gtFine" : "gtCoarse";
  const std::string ending = task == "instance"   ? "instanceIds.png"
                             : task == "semantic" ? "labelIds.png"
                             : task == "polygon"  ? "polygons.json"
                                                  : "color.png";
  auto p = std::make_shared<Pairs>(Pairs{Folder(o.string("dataset_dir")), {}, {}});
  constexpr std::string_view kTail = "leftImg8bit.png";
  for (const std::string& part : parts) {
    if (usage != "all" && usage != part) continue;
    const std::string images = "leftImg8bit/" + part;
    for (const std::string& city : p->folder.folders(images)) {
      for (const std::string& f : p->folder.files(join_path(images, city), {".png"})) {
        if (!f.ends_with(kTail))
          fail(ErrorKind::kOs, "{}: '{}' is not named …_{}", o.owner(),
               p->folder.path(join_path(images, city) + "/" + f), kTail);
        p->images.push_back(fmt::format("{}/{}/{}", images, city, f));
        p->tasks.push_back(fmt::format("{}/{}/{}/{}{}_{}", gt, part, city,
                                       f.substr(0, f.size() - kTail.size()), gt, ending));
      }
    }
  }
  const ImageReader read(decodes(o));
  return file_rows(
      o.owner(), {"image", "task"}, static_cast<int64_t>(p->images.size()),
      [p, read, polygon = task == "polygon"](int64_t i) -> Row {
        Value image = read(p->folder, p->images[i]);
        if (!polygon) return {std::move(image), read(p->folder, p->tasks[i])};
        const auto j = nlohmann::json::parse(p->folder.text(p->tasks[i]), nullptr, false);
        if (j.is_discarded()) fail(ErrorKind::kOs, "'{}' is not JSON", p->folder.path(p->tasks[i]));
        return {std::move(image), Value(j.dump())};
      },
      p->folder.path());
}

// One line of a label file of KITTI.
struct Thing {
  uint32_t kind = 0, occluded = 0;
  float truncated = 0, alpha = 0, rotation = 0;
  std::array<float, 4> box{};
  std::array<float, 3> size{}, place{};
};

Thing parse_thing(const std::string& line, const std::string& file) {
  constexpr const char* kKinds[] = {
      "Car", "Cyclist", "DontCare", "Misc", "Pedestrian", "Person_sitting", "Tram", "Truck", "Van"};
  const std::vector<std::string> words = words_of(line);
  Thing t;
  const auto kind = std::find(std::begin(kKinds), std::end(kKinds), words.empty() ? "" : words[0]);
  double numbers[14] = {};
  bool good = kind != std::end(kKinds) && words.size() >= 15;
  for (size_t k = 0; good && k < 14; ++k)
    good = parse_real(words[k + 1], &numbers[k]) && std::abs(numbers[k]) < 1e9;
  if (!good)
    fail(ErrorKind::kOs, "'{}': a line is not a kind of thing and 14 numbers: {}", file, line);
  t.kind = static_cast<uint32_t>(kind - kKinds);
  t.truncated = static_cast<float>(numbers[0]);
  t.occluded = static_cast<uint32_t>(static_cast<int64_t>(numbers[1]));  // -1: not known
  t.alpha = static_cast<float>(numbers[2]);
  for (size_t k = 0; k < 4; ++k) t.box[k] = static_cast<float>(numbers[3 + k]);
  for (size_t k = 0; k < 3; ++k) {
    t.size[k] = static_cast<float>(numbers[7 + k]);
    t.place[k] = static_cast<float>(numbers[10 + k]);
  }
  t.rotation = static_cast<float>(numbers[13]);
  return t;
}

// A column [things, width] of what `get` gives of each.
template <typename T, typename Get>
Value column_of(const std::vector<Thing>& things, int64_t width, Get get) {
  const auto n = static_cast<int64_t>(things.size());
  Tensor t = Tensor::empty(dtype_of<T>(), {n, width});
  auto* to = static_cast<T*>(t.mutable_raw());
  for (const Thing& thing : things) {
    const T* from = get(thing);
    to = std::copy(from, from + width, to);
  }
  return t;
}

DatasetPtr open_kitti(const Options& o) {
  struct Scenes {
    Folder folder;
    std::vector<std::string> names;
  };
  const bool train = one_of(o, "usage", {"train", "test"}, "train") == "train";
  const std::string part = train ? "training" : "testing";
  const std::string images = "data_object_image_2/" + part + "/image_2";
  auto s = std::make_shared<Scenes>(Scenes{Folder(o.string("dataset_dir")), {}});
  s->names = s->folder.files(images, {".png", ".jpg"});
  std::vector<std::string> columns = {"image"};
  if (train)
    columns.insert(columns.end(), {"label", "truncated", "occluded", "alpha", "bbox", "dimensions",
                                   "location", "rotation_y"});
  const ImageReader read(decodes(o));
  return file_rows(
      o.owner(), columns, static_cast<int64_t>(s->names.size()),
      [s, read, train, images](int64_t i) -> Row {
        const std::string& name = s->names[i];
        Row row = {read(s->folder, join_path(images, name))};
        if (!train) return row;
        const BytesPtr file = s->folder.open(fmt::format(
            "data_object_label_2/training/label_2/{}.txt", name.substr(0, name.size() - 4)));
        std::vector<Thing> things;
        for (const std::string& line : trimmed_lines(file))
          things.push_back(parse_thing(line, file->name()));
        row.push_back(column_of<uint32_t>(things, 1, [](const Thing& t) { return &t.kind; }));
        row.push_back(column_of<float>(things, 1, [](const Thing& t) { return &t.truncated; }));
        row.push_back(column_of<uint32_t>(things, 1, [](const Thing& t) { return &t.occluded; }));
        row.push_back(column_of<float>(things, 1, [](const Thing& t) { return &t.alpha; }));
        row.push_back(column_of<float>(things, 4, [](const Thing& t) { return t.box.data(); }));
        row.push_back(column_of<float>(things, 3, [](const Thing& t) { return t.size.data(); }));
        row.push_back(column_of<float>(things, 3, [](const Thing& t) { return t.place.data(); }));
        row.push_back(column_of<float>(things, 1, [](const Thing& t) { return &t.rotation; }));
        return row;
      },
      s->folder.path());
}

// A folder of pictures, or of an LMDB database of them, which has one label.
struct Scene {
  std::string name, folder;  // without _lmdb; as it is
  std::vector<std::string> files;
  std::shared_ptr<const LmdbValues> base;
  int64_t size() const { return base ? base->size() : static_cast<int64_t>(files.size()); }
};

// Folders of LSUN by their names without _lmdb; ValueError when there are pictures and a database.
std::vector<Scene> scenes_of(const Options& o, const Folder& folder) {
  constexpr std::string_view kBase = "_lmdb";
  std::vector<Scene> out;
  for (const std::string& f : folder.folders())
    out.push_back({f.ends_with(kBase) ? f.substr(0, f.size() - kBase.size()) : f, f, {}, nullptr});
  std::sort(out.begin(), out.end(), [](const Scene& a, const Scene& b) { return a.name < b.name; });
  for (size_t i = 1; i < out.size(); ++i) {
    if (out[i].name == out[i - 1].name)
      value_error("{}: '{}' has both '{}' and '{}'", o.owner(), folder.path(), out[i - 1].folder,
                  out[i].folder);
  }
  return out;
}

DatasetPtr open_lsun(const Options& o) {
  struct Scenes {
    Folder folder;
    std::vector<Scene> all;
  };
  const std::string usage = one_of(o, "usage", {"train", "test", "valid", "all"}, "all");
  const std::vector<std::string> wanted = o.strings("classes");
  auto s = std::make_shared<Scenes>(Scenes{Folder(o.string("dataset_dir")), {}});
  for (Scene& scene : scenes_of(o, s->folder)) {
    const bool train = scene.name.ends_with("_train"), valid = scene.name.ends_with("_val");
    const std::string kind = scene.name.substr(0, scene.name.rfind('_'));
    const bool fits = usage == "test" ? scene.name == "test"
                                      : (train && usage != "valid") || (valid && usage != "train");
    if (!fits || (usage != "test" && !wanted.empty() &&
                  std::find(wanted.begin(), wanted.end(), kind) == wanted.end()))
      continue;
    if (s->folder.has_file(join_path(scene.folder, "data.mdb"))) {
      scene.base = std::make_shared<const LmdbValues>(s->folder.path(scene.folder));
    } else {
      scene.files = s->folder.files(scene.folder, {".jpg", ".jpeg", ".png", ".bmp", ".webp"});
    }
    s->all.push_back(std::move(scene));
  }
  for (const std::string& w : wanted) {
    if (usage != "test" && std::none_of(s->all.begin(), s->all.end(), [&](const Scene& scene) {
          return scene.name.substr(0, scene.name.rfind('_')) == w;
        }))
      o.fail("classes", "names '{}', but '{}' has no such folder", w, s->folder.path());
  }
  int64_t size = 0;
  Classes classes;
  for (const Scene& scene : s->all) {
    size += scene.size();
    classes.emplace_back(scene.name, static_cast<int64_t>(classes.size()));
  }
  const ImageReader read(decodes(o));
  return file_rows(
      o.owner(), {"image", "label"}, size,
      [s, read](int64_t i) -> Row {
        size_t c = 0;
        for (; i >= s->all[c].size(); ++c) i -= s->all[c].size();
        const Scene& scene = s->all[c];
        Value image = scene.base ? read(scene.base->value(i), fmt::format("{} {}", scene.folder, i))
                                 : read(s->folder, join_path(scene.folder, scene.files[i]));
        return {std::move(image), label(static_cast<int64_t>(c))};
      },
      s->folder.path(), std::move(classes));
}

const SourceDef kCityscapes{
    .name = "CityscapesDataset",
    .doc =
        "Streets of 50 cities (M. Cordts et al., 2016): "
        "leftImg8bit/<part>/<city>/*_leftImg8bit.png "
        "and gtFine or gtCoarse (`quality_mode` fine or coarse). `usage`: train, test, val "
        "(coarse: train, train_extra, val) or all. `task`: instance, semantic, color or polygon. "
        "Columns: image and task uint8, encoded [bytes] or with `decode` [h, w, 3]; of polygon, "
        "task is a string [], compact JSON.",
    .args = {"dataset_dir: string", "usage: string? = 'train'", "quality_mode: string? = 'fine'",
             "task: string? = 'instance'", "num_samples: int? = None",
             "num_parallel_workers: int? = None", "shuffle: any? = None", "decode: bool? = None",
             "sampler: any? = None", "num_shards: int? = None", "shard_id: int? = None",
             "cache: any? = None"},
    .open = open_cityscapes,
};
const SourceDef kKitti{
    .name = "KITTIDataset",
    .doc =
        "Streets with things on them (A. Geiger et al., 2012): "
        "data_object_image_2/training/image_2/"
        "*.png (or .jpg), data_object_label_2/training/label_2/*.txt, and testing. `usage`: train "
        "(None) or test, which has the image alone. Columns: image uint8, encoded [bytes] or with "
        "`decode` [h, w, 3]; of n things: label uint32 [n, 1] (Car, Cyclist, DontCare, Misc, "
        "Pedestrian, Person_sitting, Tram, Truck, Van from 0), truncated float32 [n, 1], occluded "
        "uint32 [n, 1], alpha float32 [n, 1], bbox float32 [n, 4], dimensions and location "
        "float32 [n, 3], rotation_y float32 [n, 1].",
    .args = with({"dataset_dir: string", "usage: string? = None"}, kPictureArgs),
    .open = open_kitti,
};
const SourceDef kLsun{
    .name = "LSUNDataset",
    .doc =
        "Scenes (F. Yu et al., 2015): <class>_train, <class>_val and test, folders of pictures, or "
        "as they come LMDB databases on disk (<class>_train_lmdb/data.mdb), in order of keys. "
        "`usage`: train, valid, all (both, None) or test. `classes`: those to read. Columns: "
        "image uint8, encoded [bytes] or with `decode` [h, w, 3]; label uint32 [], the folder's "
        "place among those read, as published (with all, training and validation of a class have "
        "two labels).",
    .args = with({"dataset_dir: string", "usage: string? = None", "classes: strings? = None"},
                 kPictureArgs),
    .open = open_lsun,
};

}  // namespace

SourceDefs street_set_sources() { return {&kCityscapes, &kKitti, &kLsun}; }

}  // namespace mycel::data
