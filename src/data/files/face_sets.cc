// Published data sets of faces: LFW and WIDER FACE.
#include <map>
#include <memory>

#include <fmt/format.h>

#include "base/error.h"
#include "data/files/arguments.h"
#include "data/files/labelled.h"
#include "data/files/records.h"

namespace mycel::data {
namespace {

[[noreturn]] void bad_line(const Options& o, const BytesPtr& file, const std::string& line) {
  fail(ErrorKind::kOs, "{}: '{}': a line is not understood: {}", o.owner(), file->name(), line);
}

int64_t number_in(const Options& o, const BytesPtr& file, const std::string& line,
                  const std::string& word) {
  int64_t v = 0;
  if (!parse_int(word, &v) || v < 0) bad_line(o, file, line);
  return v;
}

// The lists of a usage: "people.txt", or "peopleDevTrain.txt" and "peopleDevTest.txt".
std::vector<std::string> lists_of(const std::string& task, const std::string& usage) {
  if (usage == "10fold") return {task + ".txt"};
  std::vector<std::string> out;
  if (usage != "test") out.push_back(task + "DevTrain.txt");
  if (usage != "train") out.push_back(task + "DevTest.txt");
  return out;
}

std::string portrait(const std::string& folder, const std::string& name, int64_t number) {
  return fmt::format("{}/{}/{}_{:04}.jpg", folder, name, name, number);
}

DatasetPtr lfw_people(const Options& o, const std::string& usage, const std::string& images) {
  auto p = std::make_shared<Labelled<uint32_t>>(o.string("dataset_dir"));
  Classes classes;
  std::map<std::string, uint32_t> label;
  for (const std::string& line : trimmed_lines(p->folder.open("lfw-names.txt"))) {
    const std::string name = words_of(line)[0];
    label.emplace(name, static_cast<uint32_t>(label.size()));
    classes.emplace_back(name, static_cast<int64_t>(label.size()) - 1);
  }
  for (const std::string& list : lists_of("people", usage)) {
    const BytesPtr file = p->folder.open(list);
    for (const std::string& line : trimmed_lines(file)) {
      const std::vector<std::string> words = words_of(line);
      if (words.size() == 1) continue;  // how many there are
      const auto known = label.find(words[0]);
      if (words.size() != 2 || known == label.end()) bad_line(o, file, line);
      const int64_t count = number_in(o, file, line, words[1]);
      for (int64_t n = 1; n <= count; ++n) p->add(portrait(images, words[0], n), known->second);
    }
  }
  return rows_of<uint32_t>(o, p, std::move(classes));
}

DatasetPtr lfw_pairs(const Options& o, const std::string& usage, const std::string& images) {
  struct Pairs {
    Folder folder;
    std::vector<std::string> first, second;
    std::vector<bool> same;
  };
  auto p = std::make_shared<Pairs>(Pairs{Folder(o.string("dataset_dir")), {}, {}, {}});
  for (const std::string& list : lists_of("pairs", usage)) {
    const BytesPtr file = p->folder.open(list);
    for (const std::string& line : trimmed_lines(file)) {
      const std::vector<std::string> words = words_of(line);
      if (words.size() < 3) continue;  // how many there are
      if (words.size() > 4) bad_line(o, file, line);
      const bool same = words.size() == 3;  // name, two numbers; otherwise two names with numbers
      p->first.push_back(portrait(images, words[0], number_in(o, file, line, words[1])));
      p->second.push_back(
          portrait(images, words[same ? 0 : 2], number_in(o, file, line, words[same ? 2 : 3])));
      p->same.push_back(same);
    }
  }
  const ImageReader read(decodes(o));
  return file_rows(
      o.owner(), {"image1", "image2", "label"}, static_cast<int64_t>(p->same.size()),
      [p, read](int64_t i) -> Row {
        return {read(p->folder, p->first[i]), read(p->folder, p->second[i]),
                label(static_cast<int64_t>(p->same[i]))};
      },
      p->folder.path());
}

DatasetPtr open_lfw(const Options& o) {
  const std::string usage = one_of(o, "usage", {"10fold", "train", "test", "all"}, "all");
  const std::string set =
      one_of(o, "image_set", {"original", "funneled", "deepfunneled"}, "funneled");
  const std::string images = set == "original"   ? "lfw"
                             : set == "funneled" ? "lfw_funneled"
                                                 : "lfw-deepfunneled";
  return one_of(o, "task", {"people", "pairs"}, "people") == "people" ? lfw_people(o, usage, images)
                                                                      : lfw_pairs(o, usage, images);
}

// A picture with the numbers of its faces, ten each: left, top, width, height, blur, expression,
// illumination, invalid, occlusion, pose.
struct Crowd {
  std::string file;
  std::vector<int32_t> numbers;
};
constexpr size_t kOfFace = 10;

std::vector<Crowd> crowds(const Options& o, const BytesPtr& file, const std::string& images) {
  std::vector<Crowd> out;
  const std::vector<std::string> lines = trimmed_lines(file);
  for (size_t at = 0; at < lines.size();) {
    Crowd c{join_path(images, lines[at]), {}};
    if (at + 1 >= lines.size()) bad_line(o, file, lines[at]);
    const int64_t count = number_in(o, file, lines[at + 1], lines[at + 1]);
    at += 2;
    // A picture without faces has a line of zeros all the same.
    for (int64_t k = 0; k < std::max<int64_t>(count, 1); ++k, ++at) {
      if (at >= lines.size()) bad_line(o, file, lines.back());
      const std::vector<std::string> words = words_of(lines[at]);
      if (words.size() != kOfFace) bad_line(o, file, lines[at]);
      for (const std::string& w : words) {
        int64_t v = 0;
        if (!parse_int(w, &v)) bad_line(o, file, lines[at]);
        c.numbers.push_back(static_cast<int32_t>(v));
      }
    }
    out.push_back(std::move(c));
  }
  return out;
}

Value numbers_of(const Crowd& c, size_t from, int64_t width) {
  const auto faces = static_cast<int64_t>(c.numbers.size() / kOfFace);
  Tensor t = Tensor::empty(DType::kInt32, width == 1 ? Shape{faces} : Shape{faces, width});
  auto* to = static_cast<int32_t*>(t.mutable_raw());
  for (int64_t f = 0; f < faces; ++f) {
    const int32_t* face = c.numbers.data() + f * kOfFace + from;
    to = std::copy(face, face + width, to);
  }
  return t;
}

DatasetPtr open_wider(const Options& o) {
  struct Pictures {
    Folder folder;
    std::vector<Crowd> all;
  };
  const std::string usage = one_of(o, "usage", {"train", "test", "valid", "all"}, "all");
  auto p = std::make_shared<Pictures>(Pictures{Folder(o.string("dataset_dir")), {}});
  const bool test = usage == "test";
  if (test) {
    for (const std::string& line :
         trimmed_lines(p->folder.open("wider_face_split/wider_face_test_filelist.txt")))
      p->all.push_back({join_path("WIDER_test/images", line), {}});
  }
  for (const std::string part : {"train", "val"}) {
    if (test || usage == (part == "train" ? "valid" : "train")) continue;
    const BytesPtr list =
        p->folder.open(fmt::format("wider_face_split/wider_face_{}_bbx_gt.txt", part));
    for (Crowd& c : crowds(o, list, fmt::format("WIDER_{}/images", part)))
      p->all.push_back(std::move(c));
  }
  std::vector<std::string> columns = {"image"};
  if (!test)
    columns.insert(columns.end(),
                   {"bbox", "blur", "expression", "illumination", "occlusion", "pose", "invalid"});
  const ImageReader read(decodes(o));
  return file_rows(
      o.owner(), columns, static_cast<int64_t>(p->all.size()),
      [p, read, test](int64_t i) -> Row {
        const Crowd& c = p->all[i];
        Row row = {read(p->folder, c.file)};
        if (test) return row;
        row.push_back(numbers_of(c, 0, 4));
        for (size_t from : {4, 5, 6, 8, 9, 7}) row.push_back(numbers_of(c, from, 1));
        return row;
      },
      p->folder.path());
}

const SourceDef kLfw{
    .name = "LFWDataset",
    .doc =
        "Faces with names (G. Huang et al., 2007): lfw, lfw_funneled or lfw-deepfunneled "
        "(`image_set` original, funneled (None) or deepfunneled), lfw-names.txt, people.txt, "
        "peopleDevTrain.txt, peopleDevTest.txt and the same of pairs. `task`: people (None) or "
        "pairs; `usage`: 10fold, train, test or all (train and test, None). Columns: image, or "
        "image1 and image2, uint8, encoded [bytes] or with `decode` [h, w, 3]; label uint32 []: "
        "the line of lfw-names.txt, or 1 for two pictures of one person.",
    .args = with({"dataset_dir: string", "task: string? = None", "usage: string? = None",
                  "image_set: string? = None"},
                 kPictureArgs),
    .open = open_lfw,
};
const SourceDef kWider{
    .name = "WIDERFaceDataset",
    .doc =
        "Faces in crowds (S. Yang et al., 2016): WIDER_train/images, WIDER_val, WIDER_test and "
        "wider_face_split/wider_face_train_bbx_gt.txt and so on. `usage`: train, valid, all (both, "
        "None) or test, which has the image alone. Columns: image uint8, encoded [bytes] or with "
        "`decode` [h, w, 3]; of n faces: bbox int32 [n, 4] (left, top, width, height), blur, "
        "expression, illumination, occlusion, pose, invalid, int32 [n], each from its place in the "
        "file (the published source gives the last three each other's names).",
    .args = with({"dataset_dir: string", "usage: string? = None"}, kPictureArgs),
    .open = open_wider,
};

}  // namespace

SourceDefs face_set_sources() { return {&kLfw, &kWider}; }

}  // namespace mycel::data
