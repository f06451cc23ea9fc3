// CocoDataset (T.-Y. Lin et al., "Microsoft COCO: common objects in context", 2014).
#include <algorithm>
#include <map>
#include <memory>
#include <unordered_map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "data/files/arguments.h"
#include "data/files/records.h"
#include "data/files/rows.h"

namespace mycel::data {
namespace {

using nlohmann::json;

enum class Task { kDetection, kStuff, kPanoptic, kKeypoint, kCaptioning };

struct Picture {
  std::string file;
  std::vector<std::vector<float>> lists;  // boxes, polygons or keypoints
  std::vector<uint32_t> categories, crowds, areas, counts;
  std::vector<std::string> captions;
  bool annotated = false;
};

struct Coco {
  Folder folder;
  std::vector<Picture> pictures;
};

std::vector<float> floats(const json& j) { return j.get<std::vector<float>>(); }

void add_polygons(const json& annotation, Picture* p) {
  const json& s = annotation.at("segmentation");
  if (annotation.at("iscrowd").get<uint32_t>() == 1) {
    p->lists.push_back(floats(s.at("counts")));
    return;
  }
  for (const json& polygon : s) p->lists.push_back(floats(polygon));
}

void add_box(const json& j, Task task, Picture* p) {
  std::vector<float> box = floats(j.at("bbox"));
  if (box.size() != 4) value_error("a bbox has {} numbers", box.size());
  p->lists.push_back(std::move(box));
  p->categories.push_back(j.at("category_id").get<uint32_t>());
  p->crowds.push_back(j.at("iscrowd").get<uint32_t>());
  if (task == Task::kPanoptic) p->areas.push_back(j.at("area").get<uint32_t>());
}

void add(const json& annotation, Task task, Picture* p) {
  p->annotated = true;
  switch (task) {
    case Task::kDetection:
      add_box(annotation, task, p);
      break;
    case Task::kStuff:
      add_polygons(annotation, p);
      p->crowds.push_back(annotation.at("iscrowd").get<uint32_t>());
      break;
    case Task::kPanoptic:
      for (const json& segment : annotation.at("segments_info")) add_box(segment, task, p);
      break;
    case Task::kKeypoint:
      p->lists.push_back(floats(annotation.at("keypoints")));
      p->counts.push_back(annotation.at("num_keypoints").get<uint32_t>());
      break;
    case Task::kCaptioning:
      p->captions.push_back(annotation.at("caption").get<std::string>());
      break;
  }
}

// Lists as rows of one length; -1 fills up the shorter ones.
Value rectangle(const std::vector<std::vector<float>>& lists) {
  size_t width = 0;
  for (const auto& l : lists) width = std::max(width, l.size());
  Tensor t = Tensor::full(DType::kFloat32,
                          {static_cast<int64_t>(lists.size()), static_cast<int64_t>(width)}, -1);
  auto* out = static_cast<float*>(t.mutable_raw());
  for (size_t i = 0; i < lists.size(); ++i)
    std::copy(lists[i].begin(), lists[i].end(), out + i * width);
  return t;
}

Value column(const std::vector<uint32_t>& v) {
  return Tensor::from(v, {static_cast<int64_t>(v.size()), 1});
}

// The pictures that have annotations, in the order in which the file names them.
std::vector<Picture> read_pictures(const json& j, Task task) {
  std::vector<Picture> all;
  std::unordered_map<int64_t, size_t> by_id;
  for (const json& image : j.at("images")) {
    if (by_id.emplace(image.at("id").get<int64_t>(), all.size()).second) {
      all.emplace_back();
      all.back().file = image.at("file_name").get<std::string>();
    }
  }
  for (const json& annotation : j.at("annotations")) {
    const int64_t id = annotation.at("image_id").get<int64_t>();
    const auto it = by_id.find(id);
    if (it == by_id.end()) value_error("an annotation is for the image {}, which there is not", id);
    add(annotation, task, &all[it->second]);
  }
  std::erase_if(all, [](const Picture& p) { return !p.annotated; });
  return all;
}

Row row_of(const Picture& p, Task task) {
  switch (task) {
    case Task::kDetection:
      return {rectangle(p.lists), column(p.categories), column(p.crowds)};
    case Task::kStuff:
      return {rectangle(p.lists), column(p.crowds)};
    case Task::kPanoptic:
      return {rectangle(p.lists), column(p.categories), column(p.crowds), column(p.areas)};
    case Task::kKeypoint:
      return {rectangle(p.lists), column(p.counts)};
    case Task::kCaptioning:
      break;
  }
  return {StringArray{p.captions, {static_cast<int64_t>(p.captions.size()), 1}}};
}

DatasetPtr open(const Options& o) {
  const std::map<std::string, std::pair<Task, std::vector<std::string>>> kTasks = {
      {"Detection", {Task::kDetection, {"image", "bbox", "category_id", "iscrowd"}}},
      {"Stuff", {Task::kStuff, {"image", "segmentation", "iscrowd"}}},
      {"Panoptic", {Task::kPanoptic, {"image", "bbox", "category_id", "iscrowd", "area"}}},
      {"Keypoint", {Task::kKeypoint, {"image", "keypoints", "num_keypoints"}}},
      {"Captioning", {Task::kCaptioning, {"image", "captions"}}}};
  const std::string name =
      one_of(o, "task", {"Detection", "Stuff", "Panoptic", "Keypoint", "Captioning"}, "Detection");
  const Task task = kTasks.at(name).first;
  std::vector<std::string> columns = kTasks.at(name).second;
  const std::string& file = o.string("annotation_file");
  auto coco = std::make_shared<Coco>(Coco{Folder(o.string("dataset_dir")), {}});
  Classes classes;
  const json j = json::parse(open_file(file)->text(), nullptr, false);
  if (!j.is_object()) fail(ErrorKind::kOs, "{}: '{}' is no JSON object", o.owner(), file);
  try {
    coco->pictures = read_pictures(j, task);
    if (j.contains("categories")) {
      for (const json& c : j["categories"])
        classes.emplace_back(c.at("name").get<std::string>(), c.at("id").get<int64_t>());
    }
  } catch (const json::exception& e) {
    fail(ErrorKind::kOs, "{}: '{}' has not the members of COCO's task {}: {}", o.owner(), file,
         name, e.what());
  } catch (UserError& e) {
    e.prefix(fmt::format("{}: '{}': ", o.owner(), file));
    throw;
  }
  const bool names = o.boolean("extra_metadata");
  if (names) columns.push_back("_meta-filename");
  const ImageReader read(o.boolean("decode"));
  return file_rows(
      o.owner(), columns, static_cast<int64_t>(coco->pictures.size()),
      [coco, read, task, names](int64_t i) {
        const Picture& p = coco->pictures[i];
        Row row = {read(coco->folder, p.file)};
        for (Value& v : row_of(p, task)) row.push_back(std::move(v));
        if (names) row.emplace_back(p.file);
        return row;
      },
      coco->folder.path(), std::move(classes));
}

const SourceDef kCoco{
    .name = "CocoDataset",
    .doc =
        "COCO (T.-Y. Lin et al., 2014): a folder of images and a file of annotations; images "
        "without annotations are left out. Columns: image uint8, encoded [bytes] or with "
        "`decode` [h, w, 3]; then by `task`: Detection: bbox float32 [n, 4], category_id and "
        "iscrowd uint32 [n, 1]; Stuff: segmentation float32 [polygons, longest] (shorter ones "
        "filled with -1; counts of a crowd), iscrowd; Panoptic: bbox, category_id, iscrowd, "
        "area; Keypoint: keypoints float32 [n, 3 k], num_keypoints uint32 [n, 1]; Captioning: "
        "captions, strings [n, 1]. `extra_metadata`: the column _meta-filename, string [].",
    .args = with({"dataset_dir: string", "annotation_file: string", "task: string = 'Detection'"},
                 kPictureArgs, {"extra_metadata: bool = False", "decrypt: any? = None"}),
    .open = open,
};

}  // namespace

SourceDefs coco_sources() { return {&kCoco}; }

}  // namespace mycel::data
