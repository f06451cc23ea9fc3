// VOCDataset (M. Everingham et al., "The Pascal visual object classes challenge", 2010).
#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <tinyxml2.h>

#include "base/error.h"
#include "data/files/arguments.h"
#include "data/files/lines.h"
#include "data/files/records.h"
#include "data/files/rows.h"
#include "data/index_progress.h"

namespace mycel::data {
namespace {

struct Objects {
  std::vector<float> boxes;  // x, y, width, height each
  std::vector<std::string> names;
  std::vector<uint32_t> difficult, truncated;
};

struct Voc {
  Folder folder;
  std::vector<std::string> names;  // of images, without extension
  std::map<std::string, uint32_t> labels;
  bool all_classes = true;
};

[[noreturn]] void broken(const std::string& file, const std::string& why) {
  fail(ErrorKind::kOs, "'{}' is no sound annotation of VOC: {}", file, why);
}

float number(const tinyxml2::XMLElement* box, const char* name, const std::string& file) {
  const tinyxml2::XMLElement* e = box->FirstChildElement(name);
  double v = 0;
  if (!e || !e->GetText() || !parse_real(trim(e->GetText()), &v))
    broken(file, fmt::format("a bndbox has no number {}", name));
  return static_cast<float>(v);
}

uint32_t flag(const tinyxml2::XMLElement* object, const char* name) {
  const tinyxml2::XMLElement* e = object->FirstChildElement(name);
  unsigned v = 0;
  return e && e->QueryUnsignedText(&v) == tinyxml2::XML_SUCCESS ? v : 0;
}

Objects read_objects(const Voc& voc, const std::string& name) {
  const std::string path = "Annotations/" + name + ".xml";
  const std::string file = voc.folder.path(path);
  const std::string text = voc.folder.text(path);
  tinyxml2::XMLDocument xml;
  if (xml.Parse(text.data(), text.size()) != tinyxml2::XML_SUCCESS) broken(file, "it is no XML");
  const tinyxml2::XMLElement* root = xml.FirstChildElement("annotation");
  if (!root) broken(file, "there is no <annotation>");
  Objects out;
  for (auto* o = root->FirstChildElement("object"); o; o = o->NextSiblingElement("object")) {
    const tinyxml2::XMLElement* n = o->FirstChildElement("name");
    const tinyxml2::XMLElement* box = o->FirstChildElement("bndbox");
    if (!n || !n->GetText() || !box) broken(file, "an object has no name or no bndbox");
    if (!voc.all_classes && !voc.labels.contains(n->GetText())) continue;
    const float left = number(box, "xmin", file), top = number(box, "ymin", file);
    const float right = number(box, "xmax", file), bottom = number(box, "ymax", file);
    if (!(left <= right && top <= bottom))
      broken(file, fmt::format("a bndbox is ({}, {}, {}, {})", left, top, right, bottom));
    out.boxes.insert(out.boxes.end(), {left, top, right - left, bottom - top});
    out.names.emplace_back(n->GetText());
    out.difficult.push_back(flag(o, "difficult"));
    out.truncated.push_back(flag(o, "truncated"));
  }
  return out;
}

Value column(const std::vector<uint32_t>& v) {
  return Tensor::from(v, {static_cast<int64_t>(v.size()), 1});
}

DatasetPtr open(const Options& o) {
  const std::string task = one_of(o, "task", {"Segmentation", "Detection"}, "Segmentation");
  const bool detection = task == "Detection";
  auto voc = std::make_shared<Voc>(Voc{Folder(o.string("dataset_dir")), {}, {}, true});
  const auto given = pairs(o, "class_indexing");
  if (!given.empty() && !detection)
    o.fail("class_indexing", "is for the task Detection, got task {}", task);
  for (const auto& [name, label] : given) {
    if (!label.is<int64_t>() || label.get<int64_t>() < 0)
      o.fail("class_indexing", "must map names to labels >= 0, got {} for '{}'", label.str(), name);
    voc->labels[name] = static_cast<uint32_t>(label.get<int64_t>());
    voc->all_classes = false;
  }
  const std::string list =
      fmt::format("ImageSets/{}/{}.txt", detection ? "Main" : "Segmentation", o.string("usage"));
  const LineIndex lines({voc->folder.open(list)});
  IndexBuild progress(voc->folder.path(list), lines.size());
  std::set<std::string> classes;
  for (int64_t i = 0; i < lines.size(); ++i) {
    const std::string line = lines.line(i);
    const std::string name(trim(line).substr(0, trim(line).find(' ')));
    if (name.empty()) continue;
    if (detection) {
      const Objects objects = read_objects(*voc, name);
      if (objects.names.empty()) continue;
      classes.insert(objects.names.begin(), objects.names.end());
    }
    voc->names.push_back(name);
    progress.at(i);
  }
  progress.finish(lines.size());
  if (voc->all_classes) {
    for (const std::string& c : classes)
      voc->labels.emplace(c, static_cast<uint32_t>(voc->labels.size()));
  }
  std::vector<std::string> columns = {"image", "target"};
  if (detection) columns = {"image", "bbox", "label", "difficult", "truncate"};
  const bool names = o.boolean("extra_metadata");
  if (names) columns.push_back("_meta-filename");
  const ImageReader read(o.boolean("decode"));
  return file_rows(
      o.owner(), columns, static_cast<int64_t>(voc->names.size()),
      [voc, read, detection, names](int64_t i) {
        const std::string& name = voc->names[i];
        const std::string image = "JPEGImages/" + name + ".jpg";
        Row row = {read(voc->folder, image)};
        if (detection) {
          const Objects objects = read_objects(*voc, name);
          std::vector<uint32_t> labels;
          for (const std::string& n : objects.names) labels.push_back(voc->labels.at(n));
          row.emplace_back(
              Tensor::from(objects.boxes, {static_cast<int64_t>(objects.boxes.size()) / 4, 4}));
          row.push_back(column(labels));
          row.push_back(column(objects.difficult));
          row.push_back(column(objects.truncated));
        } else {
          row.push_back(read(voc->folder, "SegmentationClass/" + name + ".png"));
        }
        if (names) row.emplace_back(name + ".jpg");
        return row;
      },
      voc->folder.path(), Classes(voc->labels.begin(), voc->labels.end()));
}

const SourceDef kVoc{
    .name = "VOCDataset",
    .doc =
        "Pascal VOC (M. Everingham et al., 2010): ImageSets/<Segmentation or "
        "Main>/<usage>.txt, JPEGImages, SegmentationClass, Annotations. `task` Segmentation: "
        "columns image and target uint8, encoded [bytes] or with `decode` [h, w, 3]. Detection: "
        "image; bbox float32 [n, 4] (x, y, width, height); label, difficult and truncate uint32 "
        "[n, 1]; `class_indexing`: classes to keep with their labels (otherwise all, in order of "
        "names); images without objects are left out. `extra_metadata`: the column "
        "_meta-filename, string [].",
    .args = with({"dataset_dir: string", "task: string = 'Segmentation'", "usage: string = 'train'",
                  "class_indexing: any? = None"},
                 kPictureArgs, {"extra_metadata: bool = False", "decrypt: any? = None"}),
    .open = open,
};

}  // namespace

SourceDefs voc_sources() { return {&kVoc}; }

}  // namespace mycel::data
