// ImageFolderDataset: a folder a class.
#include <map>
#include <memory>

#include <fmt/format.h>

#include "base/error.h"
#include "data/files/records.h"
#include "data/files/rows.h"
#include "data/index_progress.h"

namespace mycel::data {
namespace {

struct Images {
  Folder folder;
  // One after the other, each with its class; the name of a class once.
  std::vector<std::string> files, classes;
  std::vector<int32_t> class_of, label_of_class;
};

// Names of classes with their labels: those that are asked for, in their order, or all folders.
std::vector<std::pair<std::string, int32_t>> classes_of(const Options& o, const Folder& folder) {
  std::vector<std::pair<std::string, int32_t>> out;
  for (const auto& [name, value] : pairs(o, "class_indexing")) {
    if (!value.is<int64_t>() || value.get<int64_t>() < 0 || value.get<int64_t>() > INT32_MAX)
      o.fail("class_indexing", "must map names to labels >= 0, got {} for '{}'", value.str(), name);
    if (!folder.has_folder(name))
      o.fail("class_indexing", "names the class '{}', but '{}' has no such folder", name,
             folder.path());
    out.emplace_back(name, static_cast<int32_t>(value.get<int64_t>()));
  }
  if (out.empty()) {
    for (const std::string& name : folder.folders())
      out.emplace_back(name, static_cast<int32_t>(out.size()));
  }
  std::sort(out.begin(), out.end());  // the order of rows is that of names, whatever the labels
  return out;
}

DatasetPtr open(const Options& o) {
  auto images = std::make_shared<Images>(Images{Folder(o.string("dataset_dir")), {}, {}, {}, {}});
  const std::vector<std::string> extensions = o.strings("extensions");
  IndexBuild progress(images->folder.path());
  Classes classes;
  for (const auto& [name, label] : classes_of(o, images->folder)) {
    classes.emplace_back(name, label);
    images->classes.push_back(name);
    images->label_of_class.push_back(label);
    for (FolderEntry& e : images->folder.list(name)) {
      if (!has_extension(e.name, extensions)) continue;
      if (e.folder)
        fail(ErrorKind::kOs, "{}: '{}' is a folder; images lie directly in the folder of a class",
             o.owner(), images->folder.path(join_path(name, e.name)));
      images->files.push_back(std::move(e.name));
      images->class_of.push_back(static_cast<int32_t>(images->classes.size()) - 1);
      progress.at(static_cast<int64_t>(images->files.size()));
    }
  }
  const auto size = static_cast<int64_t>(images->files.size());
  progress.finish(size);
  const ImageReader read(o.boolean("decode"));
  return file_rows(
      o.owner(), {"image", "label"}, size,
      [images, read](int64_t i) -> Row {
        const int32_t c = images->class_of[i];
        return {read(images->folder, join_path(images->classes[c], images->files[i])),
                scalar(images->label_of_class[c])};
      },
      images->folder.path(), std::move(classes));
}

const SourceDef kImageFolder{
    .name = "ImageFolderDataset",
    .doc =
        "A folder (or archive) with a folder of images for each class. `extensions`: ends of "
        "file names that count (all files). `class_indexing`: names of the classes to read and "
        "their labels; otherwise folders are counted from 0 in order of names. Columns: image "
        "uint8, encoded [bytes] or with `decode` [h, w, 3]; label int32 [].",
    .args = {"dataset_dir: string", "num_samples: int? = None", "num_parallel_workers: int? = None",
             "shuffle: any? = None", "sampler: any? = None", "extensions: strings? = None",
             "class_indexing: any? = None", "decode: bool = False", "num_shards: int? = None",
             "shard_id: int? = None", "cache: any? = None", "decrypt: any? = None"},
    .open = open,
};

}  // namespace

SourceDefs image_folder_sources() { return {&kImageFolder}; }

}  // namespace mycel::data
