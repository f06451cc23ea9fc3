// Published data sets whose files are MATLAB's.
#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "base/error.h"
#include "data/files/flower_names.h"
#include "data/files/labelled.h"
#include "data/files/mat.h"
#include "data/files/records.h"
#include "data/files/rows.h"

namespace mycel::data {
namespace {

double element(const MatArray& a, int64_t i) {
  return element_as_double(a.bytes.data(), a.dtype, i);
}

DatasetPtr open_svhn(const Options& o) {
  struct Part {
    MatArray images, labels;
    int64_t count = 0;
  };
  const std::string usage = one_of(o, "usage", {"train", "test", "extra", "all"}, "all");
  const Folder folder(o.string("dataset_dir"));
  auto parts = std::make_shared<std::vector<Part>>();
  int64_t size = 0;
  for (const std::string part : {"train", "test", "extra"}) {
    if (usage != "all" && usage != part) continue;
    const BytesPtr file = folder.open(part + "_32x32.mat");
    std::map<std::string, MatArray> arrays = read_mat(*file, {"X", "y"});
    Part p{std::move(arrays["X"]), std::move(arrays["y"])};
    if (p.images.dims.size() != 4 || p.images.dims[2] != 3 || p.images.dtype != DType::kUInt8)
      fail(ErrorKind::kOs, "{}: 'X' of '{}' is no uint8 array [rows, columns, 3, images]",
           o.owner(), file->name());
    p.count = p.images.dims[3];
    if (p.labels.bytes.size() != static_cast<size_t>(p.count) * size_of(p.labels.dtype))
      fail(ErrorKind::kOs, "{}: '{}' has {} images, but other numbers of labels", o.owner(),
           file->name(), p.count);
    size += p.count;
    parts->push_back(std::move(p));
  }
  return file_rows(
      o.owner(), {"image", "label"}, size,
      [parts](int64_t i) -> Row {
        const Part* p = parts->data();
        for (; i >= p->count; ++p) i -= p->count;
        const int64_t h = p->images.dims[0], w = p->images.dims[1];
        const auto* in = reinterpret_cast<const uint8_t*>(p->images.bytes.data()) + i * h * w * 3;
        Tensor image = Tensor::empty(DType::kUInt8, {h, w, 3});
        auto* out = static_cast<uint8_t*>(image.mutable_raw());
        for (int64_t y = 0; y < h; ++y) {
          for (int64_t x = 0; x < w; ++x) {
            for (int64_t c = 0; c < 3; ++c) *out++ = in[(c * w + x) * h + y];
          }
        }
        const auto digit = static_cast<int64_t>(element(p->labels, i));
        return {image, label(digit == 10 ? 0 : digit)};  // the files call 0 ten
      },
      folder.path());
}

DatasetPtr open_caltech101(const Options& o) {
  struct Pictures {
    Folder folder;
    std::vector<std::string> classes, notes;  // folders of images, of annotations
    std::vector<int64_t> class_of, number;
  };
  const std::string target =
      one_of(o, "target_type", {"category", "annotation", "all"}, "category");
  auto p = std::make_shared<Pictures>(Pictures{Folder(o.string("dataset_dir")), {}, {}, {}, {}});
  const std::map<std::string, std::string> kOther = {{"Faces", "Faces_2"},
                                                     {"Faces_easy", "Faces_3"},
                                                     {"Motorbikes", "Motorbikes_16"},
                                                     {"airplanes", "Airplanes_Side_2"}};
  Classes classes;
  for (const std::string& name : p->folder.folders("101_ObjectCategories")) {
    if (name == "BACKGROUND_Google") continue;
    const auto label = static_cast<int64_t>(classes.size());
    classes.emplace_back(name, label);
    const auto other = kOther.find(name);
    p->classes.push_back(name);
    p->notes.push_back(other == kOther.end() ? name : other->second);
    for (const std::string& f : p->folder.files("101_ObjectCategories/" + name, {".jpg"})) {
      int64_t number = 0;
      if (!f.starts_with("image_") ||
          !parse_int(std::string_view(f).substr(6, f.size() - 10), &number))
        fail(ErrorKind::kOs, "{}: '{}' is not named image_<n>.jpg", o.owner(),
             p->folder.path("101_ObjectCategories/" + name + "/" + f));
      p->class_of.push_back(label);
      p->number.push_back(number);
    }
  }
  std::vector<std::string> columns = {"image"};
  if (target != "annotation") columns.push_back("category");
  if (target != "category") columns.push_back("annotation");
  const ImageReader read(o.boolean("decode"));
  return file_rows(
      o.owner(), columns, static_cast<int64_t>(p->number.size()),
      [p, read, target](int64_t i) {
        const int64_t c = p->class_of[i];
        Row row = {read(p->folder, fmt::format("101_ObjectCategories/{}/image_{:04}.jpg",
                                               p->classes[c], p->number[i]))};
        if (target != "annotation") row.push_back(scalar(c));
        if (target != "category") {
          const BytesPtr file = p->folder.open(
              fmt::format("Annotations/{}/annotation_{:04}.mat", p->notes[c], p->number[i]));
          const MatArray a = read_mat(*file, {"obj_contour"}).at("obj_contour");
          if (a.dims.size() != 2)
            fail(ErrorKind::kOs, "'{}': obj_contour has {} dims, not 2", file->name(),
                 a.dims.size());
          Tensor t = Tensor::empty(DType::kFloat64, {a.dims[0], a.dims[1]});
          auto* out = static_cast<double*>(t.mutable_raw());
          for (int64_t y = 0; y < a.dims[0]; ++y) {
            for (int64_t x = 0; x < a.dims[1]; ++x) *out++ = element(a, x * a.dims[0] + y);
          }
          row.emplace_back(std::move(t));
        }
        return row;
      },
      p->folder.path(), std::move(classes));
}

// Ids of pictures, from 1 on.
std::vector<int64_t> ids_of(const MatArray& a) {
  std::vector<int64_t> out;
  const auto n = static_cast<int64_t>(a.bytes.size() / size_of(a.dtype));
  for (int64_t i = 0; i < n; ++i) {
    const double id = element(a, i);
    out.push_back(id >= 1 && id < 1e9 ? static_cast<int64_t>(id) : 0);  // 0: none
  }
  return out;
}

DatasetPtr open_flowers102(const Options& o) {
  struct Flowers {
    Folder folder;
    std::vector<int64_t> labels, ids;
  };
  const bool segments =
      one_of(o, "task", {"Classification", "Segmentation"}, "Classification") == "Segmentation";
  const std::string usage = one_of(o, "usage", {"train", "valid", "test", "all"}, "all");
  auto f = std::make_shared<Flowers>(Flowers{Folder(o.string("dataset_dir")), {}, {}});
  f->labels = ids_of(read_mat(*f->folder.open("imagelabels.mat"), {"labels"}).at("labels"));
  const auto sets = read_mat(*f->folder.open("setid.mat"), {"trnid", "tstid", "valid"});
  for (const auto& [part, name] :
       {std::pair{"train", "trnid"}, std::pair{"test", "tstid"}, std::pair{"valid", "valid"}}) {
    if (usage != "all" && usage != part) continue;
    for (int64_t id : ids_of(sets.at(name))) {
      if (id < 1 || id > static_cast<int64_t>(f->labels.size()))
        fail(ErrorKind::kOs, "{}: setid.mat of '{}' names picture {}, there are {} labels",
             o.owner(), f->folder.path(), id, f->labels.size());
      f->ids.push_back(id);
    }
  }
  Classes classes;
  for (const char* name : kFlowers)
    classes.emplace_back(name, static_cast<int64_t>(classes.size()));
  std::vector<std::string> columns = {"image", "label"};
  if (segments) columns.insert(columns.begin() + 1, "segmentation");
  const ImageReader read(o.boolean("decode"));
  return file_rows(
      o.owner(), columns, static_cast<int64_t>(f->ids.size()),
      [f, read, segments](int64_t i) -> Row {
        const int64_t id = f->ids[i];
        Row row = {read(f->folder, fmt::format("jpg/image_{:05}.jpg", id))};
        if (segments) row.push_back(read(f->folder, fmt::format("segmim/segmim_{:05}.jpg", id)));
        if (f->labels[id - 1] < 1)
          fail(ErrorKind::kOs, "imagelabels.mat has no label for picture {}", id);
        row.push_back(label(f->labels[id - 1] - 1));  // the file counts from 1
        return row;
      },
      f->folder.path(), std::move(classes));
}

// A matrix as uint8, row by row, to `out`.
void write_rows(const MatArray& a, const BytesPtr& file, int64_t h, int64_t w, uint8_t* out) {
  if (a.dims != std::vector<int64_t>{h, w})
    fail(ErrorKind::kOs, "'{}': arrays of one picture differ in size", file->name());
  for (int64_t y = 0; y < h; ++y) {
    for (int64_t x = 0; x < w; ++x) {
      const double v = element(a, x * h + y);
      if (!(v >= 0 && v < 256))
        fail(ErrorKind::kOs, "'{}' holds {}, which is no byte", file->name(), v);
      *out++ = static_cast<uint8_t>(v);
    }
  }
}

DatasetPtr open_sbd(const Options& o) {
  struct Pictures {
    Folder folder;
    std::vector<std::string> names;
  };
  const std::string task = one_of(o, "task", {"Boundaries", "Segmentation"}, "Boundaries");
  const std::string usage = one_of(o, "usage", {"train", "val", "train_noval", "all"}, "all");
  auto p = std::make_shared<Pictures>(Pictures{Folder(o.string("dataset_dir")), {}});
  for (const std::string part : {"train", "val", "train_noval"}) {
    if (usage == "all" ? part == "train_noval" : usage != part) continue;
    for (std::string& name : trimmed_lines(p->folder.open(part + ".txt")))
      p->names.push_back(std::move(name));
  }
  const ImageReader read(decodes(o));
  return file_rows(
      o.owner(), {"image", "task"}, static_cast<int64_t>(p->names.size()),
      [p, read, path = "GTcls." + task](int64_t i) -> Row {
        const BytesPtr file = p->folder.open(fmt::format("cls/{}.mat", p->names[i]));
        const MatArray a = read_mat(*file, {path}).at(path);
        const MatArray& first = a.cells.empty() ? a : a.cells[0];
        if (first.dims.size() != 2)
          fail(ErrorKind::kOs, "'{}': '{}' has {} dims, not 2", file->name(), path,
               first.dims.size());
        const int64_t h = first.dims[0], w = first.dims[1];
        const auto n = static_cast<int64_t>(a.cells.size());
        Tensor t = Tensor::empty(DType::kUInt8, n == 0 ? Shape{h, w} : Shape{n, h, w});
        auto* to = static_cast<uint8_t*>(t.mutable_raw());
        if (n == 0) write_rows(a, file, h, w, to);
        for (int64_t c = 0; c < n; ++c) write_rows(a.cells[c], file, h, w, to + c * h * w);
        return {read(p->folder, fmt::format("img/{}.jpg", p->names[i])), std::move(t)};
      },
      p->folder.path());
}

const SourceDef kSvhn{
    .name = "SVHNDataset",
    .doc =
        "House numbers (Y. Netzer et al., 2011) cut to digits: train_32x32.mat, test_32x32.mat, "
        "extra_32x32.mat; held in memory. `usage`: train, test, extra or all (None). Columns: "
        "image uint8 [32, 32, 3]; label uint32 [].",
    .args = {"dataset_dir: string", "usage: string? = None", "num_samples: int? = None",
             "num_parallel_workers: int? = 1", "shuffle: any? = None", "sampler: any? = None",
             "num_shards: int? = None", "shard_id: int? = None"},
    .open = open_svhn,
};
const SourceDef kCaltech101{
    .name = "Caltech101Dataset",
    .doc =
        "Caltech-101 (L. Fei-Fei et al., 2004): 101_ObjectCategories/<class>/image_<n>.jpg and "
        "Annotations/<class>/annotation_<n>.mat; without BACKGROUND_Google. `target_type`: "
        "category (None), annotation or all. Columns: image uint8, encoded [bytes] or with "
        "`decode` [h, w, 3]; category int64 []; annotation float64 [2, points], the outline.",
    .args = {"dataset_dir: string", "target_type: string? = None", "num_samples: int? = None",
             "num_parallel_workers: int? = 1", "shuffle: any? = None", "decode: bool = False",
             "sampler: any? = None", "num_shards: int? = None", "shard_id: int? = None"},
    .open = open_caltech101,
};

const SourceDef kFlowers102{
    .name = "Flowers102Dataset",
    .doc =
        "Flowers (M.-E. Nilsback and A. Zisserman, 2008): jpg/image_<n>.jpg, imagelabels.mat, "
        "setid.mat and segmim/segmim_<n>.jpg. `task`: Classification or Segmentation; `usage`: "
        "train, valid, test or all. Columns: image uint8, encoded [bytes] or with `decode` "
        "[h, w, 3]; of Segmentation, segmentation the same; label uint32 [], from 0.",
    .args = {"dataset_dir: string", "task: string? = 'Classification'", "usage: string? = 'all'",
             "num_samples: int? = None", "num_parallel_workers: int? = 1", "shuffle: any? = None",
             "decode: bool = False", "sampler: any? = None", "num_shards: int? = None",
             "shard_id: int? = None"},
    .open = open_flowers102,
};
const SourceDef kSbd{
    .name = "SBDataset",
    .doc =
        "Outlines of things in the pictures of VOC (B. Hariharan et al., 2011): img/<name>.jpg, "
        "cls/<name>.mat, train.txt, val.txt, train_noval.txt. `task`: Boundaries or Segmentation; "
        "`usage`: train, val, train_noval or all (train and val). Columns: image uint8, encoded "
        "[bytes] or with `decode` [h, w, 3]; task uint8, boundaries of 20 kinds [20, h, w] or "
        "segments [h, w].",
    .args = {"dataset_dir: string", "task: string? = 'Boundaries'", "usage: string? = 'all'",
             "num_samples: int? = None", "num_parallel_workers: int? = 1", "shuffle: any? = None",
             "decode: bool? = None", "sampler: any? = None", "num_shards: int? = None",
             "shard_id: int? = None"},
    .open = open_sbd,
};

}  // namespace

SourceDefs matlab_set_sources() { return {&kSvhn, &kCaltech101, &kFlowers102, &kSbd}; }

}  // namespace mycel::data
