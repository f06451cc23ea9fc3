// Published data sets of pictures that belong to others or to texts: DIV2K, PhotoTour, SBU.
#include <memory>

#include <fmt/format.h>

#include "base/error.h"
#include "data/files/arguments.h"
#include "data/files/labelled.h"
#include "data/files/lines.h"
#include "data/files/records.h"

namespace mycel::data {
namespace {

DatasetPtr open_div2k(const Options& o) {
  struct Pairs {
    Folder folder;
    std::vector<std::string> high, low;
  };
  const std::string usage = one_of(o, "usage", {"train", "valid", "all"}, "train");
  const std::string way =
      one_of(o, "downgrade", {"bicubic", "unknown", "mild", "difficult", "wild"}, "bicubic");
  const int64_t scale = o.integer("scale");
  const bool named = way != "bicubic" && way != "unknown";  // of one scale each
  if (scale != 2 && scale != 3 && scale != 4 && scale != 8)
    o.fail("scale", "must be 2, 3, 4 or 8, got {}", scale);
  if (named && scale != 4) o.fail("scale", "must be 4 for the downgrade '{}', got {}", way, scale);
  if (scale == 8 && way != "bicubic")
    o.fail("scale", "of 8 needs the downgrade 'bicubic', not '{}'", way);
  auto p = std::make_shared<Pairs>(Pairs{Folder(o.string("dataset_dir")), {}, {}});
  for (const std::string part : {"train", "valid"}) {
    if (usage != "all" && usage != part) continue;
    const std::string high = fmt::format("DIV2K_{}_HR", part);
    const std::string low = scale == 8 ? fmt::format("DIV2K_{}_LR_x8", part)
                            : named    ? fmt::format("DIV2K_{}_LR_{}", part, way)
                                       : fmt::format("DIV2K_{}_LR_{}/X{}", part, way, scale);
    const std::string ending = named ? std::string(1, way[0]) : "";
    for (const std::string& f : p->folder.files(high, {".png"})) {
      p->high.push_back(join_path(high, f));
      p->low.push_back(
          fmt::format("{}/{}x{}{}.png", low, f.substr(0, f.size() - 4), scale, ending));
    }
  }
  const ImageReader read(decodes(o));
  return file_rows(
      o.owner(), {"hr_image", "lr_image"}, static_cast<int64_t>(p->high.size()),
      [p, read](int64_t i) -> Row {
        return {read(p->folder, p->high[i]), read(p->folder, p->low[i])};
      },
      p->folder.path());
}

// Patches of 64 x 64 grey pixels, 16 x 16 to a BMP of 1024 x 1024, which is read in part: 8 bits a
// pixel, not packed, the last row first.
class Patches {
 public:
  explicit Patches(Folder folder) : folder_(std::move(folder)) {
    for (const std::string& f : folder_.files("", {".bmp"})) {
      if (f.starts_with("patches")) names_.push_back(f);
    }
  }
  const Folder& folder() const { return folder_; }
  int64_t most() const { return static_cast<int64_t>(names_.size()) * kPerPicture; }
  Value patch(int64_t i) const {
    const BytesPtr file = folder_.open(names_[i / kPerPicture]);
    const int64_t row = i % kPerPicture / kPerRow, column = i % kPerRow;
    const std::string head = file->text(0, 54);
    const auto number = [&](size_t at, size_t bytes) {
      uint32_t v = 0;
      for (size_t k = 0; k < bytes; ++k)
        v |= uint32_t{static_cast<unsigned char>(head[at + k])} << (8 * k);
      return v;
    };
    const uint32_t first = number(10, 4), info = number(14, 4);
    if (!head.starts_with("BM") || number(18, 4) != kWidth || number(22, 4) != kWidth ||
        number(28, 2) != 8 || number(30, 4) != 0 || info < 40 || first < 14 + info + 4)
      fail(ErrorKind::kOs, "'{}' is not a BMP of 1024 x 1024 pixels of 8 bits without compression",
           file->name());
    const std::string palette = file->text(14 + info, std::min<uint64_t>(first - 14 - info, 1024));
    const std::string rows =
        file->text(first + uint64_t{kWidth} * (kWidth - kPatch * (row + 1)), kWidth * kPatch);
    Tensor out = Tensor::empty(DType::kUInt8, {kPatch, kPatch, 1});
    auto* to = static_cast<uint8_t*>(out.mutable_raw());
    for (int64_t y = 0; y < kPatch; ++y) {
      for (int64_t x = 0; x < kPatch; ++x) {
        const size_t entry =
            4 * static_cast<unsigned char>(rows[(kPatch - 1 - y) * kWidth + column * kPatch + x]);
        if (entry + 3 > palette.size() || palette[entry] != palette[entry + 1] ||
            palette[entry] != palette[entry + 2])
          fail(ErrorKind::kOs, "'{}' is not a grey picture", file->name());
        *to++ = static_cast<uint8_t>(palette[entry]);
      }
    }
    return out;
  }

 private:
  static constexpr int64_t kPatch = 64, kPerRow = 16, kPerPicture = kPerRow * kPerRow,
                           kWidth = kPatch * kPerRow;
  Folder folder_;
  std::vector<std::string> names_;
};

DatasetPtr open_photo_tour(const Options& o) {
  const std::string name = one_of(
      o, "name",
      {"notredame", "yosemite", "liberty", "notredame_harris", "yosemite_harris", "liberty_harris"},
      "");
  const bool train = one_of(o, "usage", {"train", "test"}, "train") == "train";
  const auto patches =
      std::make_shared<const Patches>(Folder(join_path(o.string("dataset_dir"), name)));
  const auto count = static_cast<int64_t>(trimmed_lines(patches->folder().open("info.txt")).size());
  if (count > patches->most())
    fail(ErrorKind::kOs, "{}: info.txt of '{}' has {} lines, but the pictures {} patches",
         o.owner(), patches->folder().path(), count, patches->most());
  const std::string where = patches->folder().path();
  if (train)
    return file_rows(
        o.owner(), {"image"}, count, [patches](int64_t i) -> Row { return {patches->patch(i)}; },
        where);
  struct Match {
    int64_t first, second;
    bool same;
  };
  auto matches = std::make_shared<std::vector<Match>>();
  const BytesPtr list = patches->folder().open("m50_100000_100000_0.txt");
  for (const std::string& line : trimmed_lines(list)) {
    const std::vector<std::string> words = words_of(line);
    int64_t v[5] = {};
    bool good = words.size() >= 5;
    for (size_t k = 0; good && k < 5; ++k) good = parse_int(words[k], &v[k]);
    if (!good || v[0] < 0 || v[3] < 0 || v[0] >= count || v[3] >= count)
      fail(ErrorKind::kOs, "{}: '{}': a line does not name two of {} patches: {}", o.owner(),
           list->name(), count, line);
    matches->push_back({v[0], v[3], v[1] == v[4]});
  }
  return file_rows(
      o.owner(), {"image1", "image2", "matches"}, static_cast<int64_t>(matches->size()),
      [patches, matches](int64_t i) -> Row {
        const Match& m = (*matches)[i];
        return {patches->patch(m.first), patches->patch(m.second),
                label(static_cast<int64_t>(m.same))};
      },
      where);
}

DatasetPtr open_sbu(const Options& o) {
  constexpr std::string_view kSite = "http://static.flickr.com/";
  auto p = std::make_shared<Labelled<std::string>>(o.string("dataset_dir"));
  Scanner urls(p->folder.open("SBU_captioned_photo_dataset_urls.txt"));
  Scanner captions(p->folder.open("SBU_captioned_photo_dataset_captions.txt"));
  std::string url, caption;
  while (urls.line(&url)) {
    if (!captions.line(&caption))
      fail(ErrorKind::kOs, "{}: '{}' has more addresses than captions", o.owner(),
           p->folder.path());
    std::string name(trim(url));
    if (name.starts_with(kSite)) name.erase(0, kSite.size());
    for (char& c : name) c = c == '/' ? '_' : c;
    name = "sbu_images/m_" + name;
    if (!p->folder.has_file(name)) continue;  // not every picture is to be had any more
    caption.resize(caption.find_last_not_of(" \t\r\n") + 1);
    p->add(std::move(name), caption);
  }
  return rows_of<std::string>(o, p, {}, "caption");
}

const SourceDef kDiv2k{
    .name = "DIV2KDataset",
    .doc =
        "Pictures and smaller ones of them (E. Agustsson and R. Timofte, 2017): DIV2K_train_HR/"
        "*.png, DIV2K_train_LR_bicubic/X2/*x2.png and so on, and valid. `usage`: train, valid or "
        "all. `downgrade`: bicubic, unknown, mild, difficult or wild; `scale`: 2, 3, 4, 8 (bicubic "
        "alone), of mild, difficult and wild 4. Columns: hr_image and lr_image uint8, encoded "
        "[bytes] or with `decode` [h, w, 3].",
    .args = {"dataset_dir: string", "usage: string? = 'train'", "downgrade: string? = 'bicubic'",
             "scale: int = 2", "num_samples: int? = None", "num_parallel_workers: int? = None",
             "shuffle: any? = None", "decode: bool? = None", "sampler: any? = None",
             "num_shards: int? = None", "shard_id: int? = None", "cache: any? = None"},
    .open = open_div2k,
};
const SourceDef kPhotoTour{
    .name = "PhotoTourDataset",
    .doc =
        "Patches of photographs of one place (S. Winder and M. Brown, 2007): <name>/patches*.bmp, "
        "info.txt, m50_100000_100000_0.txt. `name`: notredame, yosemite, liberty or one of these "
        "with _harris. `usage`: train (None): column image uint8 [64, 64, 1]; test: columns image1 "
        "and image2, and matches uint32 [], 1 for two patches of one point.",
    .args = with({"dataset_dir: string", "name: string", "usage: string? = None"}, kRowArgs),
    .open = open_photo_tour,
};
const SourceDef kSbu{
    .name = "SBUDataset",
    .doc =
        "Photographs with captions (V. Ordonez et al., 2011): "
        "SBU_captioned_photo_dataset_urls.txt, …_captions.txt and sbu_images/m_*.jpg; pictures "
        "that "
        "are not there are left out. Columns: image uint8, encoded [bytes] or with `decode` "
        "[h, w, 3]; caption, string [].",
    .args = with({"dataset_dir: string"}, kPictureArgs),
    .open = open_sbu,
};

}  // namespace

SourceDefs paired_set_sources() { return {&kDiv2k, &kPhotoTour, &kSbu}; }

}  // namespace mycel::data
