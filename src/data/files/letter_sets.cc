// Published data sets of letters, digits and rendered texts: Omniglot, Semeion, USPS, RenderedSST2.
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "base/error.h"
#include "data/files/arguments.h"
#include "data/files/labelled.h"
#include "data/files/lines.h"
#include "data/files/records.h"
#include "data/group_order.h"

namespace mycel::data {
namespace {

constexpr int64_t kSide = 16, kPixels = kSide * kSide;

DatasetPtr open_omniglot(const Options& o) {
  const bool background = o.none("background") || o.boolean("background");
  const std::string root = background ? "images_background" : "images_evaluation";
  auto p = std::make_shared<Labelled<int32_t>>(o.string("dataset_dir"));
  Classes classes;
  for (const std::string& alphabet : p->folder.folders(root)) {
    for (const std::string& character : p->folder.folders(join_path(root, alphabet))) {
      const std::string name = join_path(alphabet, character);
      for (const std::string& f :
           p->folder.files(join_path(root, name), {".png", ".jpg", ".jpeg", ".bmp"}))
        p->add(fmt::format("{}/{}/{}", root, name, f), static_cast<int32_t>(classes.size()));
      classes.emplace_back(name, static_cast<int64_t>(classes.size()));
    }
  }
  return rows_of<int32_t>(o, p, std::move(classes));
}

DatasetPtr open_rendered_sst2(const Options& o) {
  const std::string usage = one_of(o, "usage", {"train", "val", "test", "all"}, "all");
  auto p = std::make_shared<Labelled<uint32_t>>(o.string("dataset_dir"));
  for (const std::string part : {"test", "train", "valid"}) {
    if (usage != "all" && part != (usage == "val" ? "valid" : usage)) continue;
    for (const char* mood : {"negative", "positive"}) {
      const std::string folder = join_path(part, mood);
      for (const std::string& f : p->folder.files(folder, {".png", ".jpg", ".jpeg", ".bmp"}))
        p->add(join_path(folder, f), static_cast<uint32_t>(mood[0] == 'p'));
    }
  }
  return rows_of<uint32_t>(o, p, {{"negative", 0}, {"positive", 1}});
}

DatasetPtr open_semeion(const Options& o) {
  const Folder folder(o.string("dataset_dir"));
  const auto lines =
      std::make_shared<const LineIndex>(std::vector<BytesPtr>{folder.open("semeion.data")});
  return file_rows(
      o.owner(), {"image", "label"}, lines->size(),
      [lines](int64_t i) -> Row {
        const std::vector<std::string> words = words_of(lines->line(i));
        bool good = words.size() == kPixels + 10;
        Tensor image = Tensor::empty(DType::kUInt8, {kSide, kSide});
        auto* to = static_cast<uint8_t*>(image.mutable_raw());
        double v = 0;
        for (int64_t k = 0; good && k < kPixels; ++k) {
          good = parse_real(words[k], &v) && (v == 0 || v == 1);
          to[k] = static_cast<uint8_t>(v);
        }
        int64_t digit = -1;
        for (int64_t k = 0; good && k < 10; ++k) {
          good = parse_real(words[kPixels + k], &v);
          if (v == 1) digit = k;
        }
        if (!good || digit < 0)
          fail(ErrorKind::kOs, "'{}': line {} is not 256 zeros and ones, and a one among ten",
               lines->file(i), i + 1);
        return {image, label(digit)};
      },
      folder.path());
}

DatasetPtr open_usps(const Options& o) {
  const std::string usage = one_of(o, "usage", {"train", "test", "all"}, "all");
  const Folder folder(o.string("dataset_dir"));
  std::vector<BytesPtr> files;
  if (usage != "test") files.push_back(folder.open("usps"));
  if (usage != "train") files.push_back(folder.open("usps.t"));
  const auto lines = std::make_shared<const LineIndex>(files);
  return in_files(
      file_rows(
          o.owner(), {"image", "label"}, lines->size(),
          [lines](int64_t i) -> Row {
            const std::vector<std::string> words = words_of(lines->line(i));
            const auto wrong = [&](const std::string& why) {
              fail(ErrorKind::kOs, "'{}': a line is not a digit and 256 times place:value: {}",
                   lines->file(i), why);
            };
            int64_t digit = 0;
            if (words.size() != kPixels + 1 || !parse_int(words[0], &digit) || digit < 1 ||
                digit > 10)
              wrong(fmt::format("{} words, the first '{}'", words.size(),
                                words.empty() ? "" : words[0]));
            Tensor image = Tensor::empty(DType::kUInt8, {kSide, kSide, 1});
            auto* to = static_cast<uint8_t*>(image.mutable_raw());
            for (int64_t k = 0; k < kPixels; ++k) {
              const std::string& w = words[k + 1];
              const size_t colon = w.find(':');
              double v = 0;
              if (colon == w.npos || !parse_real(std::string_view(w).substr(colon + 1), &v) ||
                  !(v >= -1 && v <= 1))
                wrong(w);
              // From [-1, 1], cut off; the published source holds the number as a float before.
              to[k] =
                  static_cast<uint8_t>((static_cast<double>(static_cast<float>(v)) + 1) / 2 * 255);
            }
            return {image, label(digit - 1)};
          },
          folder.path()),
      lines->ends());
}

const SourceDef kOmniglot{
    .name = "OmniglotDataset",
    .doc =
        "Characters of 50 alphabets (B. Lake et al., 2015): images_background/<alphabet>/"
        "<character>/*.png and images_evaluation. `background`: the first (None) or the second. "
        "Columns: image uint8, encoded [bytes] or with `decode` [h, w, 3]; label int32 [], "
        "characters counted in order of names.",
    .args = with({"dataset_dir: string", "background: bool? = None"}, kPictureArgs),
    .open = open_omniglot,
};
const SourceDef kRenderedSst2{
    .name = "RenderedSST2Dataset",
    .doc =
        "Sentences as pictures (R. Socher et al., 2013; A. Radford et al., 2021): <part>/negative/"
        "*.png and positive, parts train, test and valid. `usage`: train, test, val or all (None). "
        "Columns: image uint8, encoded [bytes] or with `decode` [h, w, 3]; label uint32 [], 1 for "
        "positive.",
    .args = with({"dataset_dir: string", "usage: string? = None"}, kPictureArgs),
    .open = open_rendered_sst2,
};
const SourceDef kSemeion{
    .name = "SemeionDataset",
    .doc =
        "Handwritten digits (M. Buscema, 1998): semeion.data, a line each. Columns: image uint8 "
        "[16, 16], 0 or 1; label uint32 [].",
    .args = with({"dataset_dir: string"}, kRowArgs),
    .open = open_semeion,
};
const SourceDef kUsps{
    .name = "USPSDataset",
    .doc =
        "Digits of letters (J. Hull, 1994): the files usps and usps.t. `usage`: train, test or all "
        "(None). Columns: image uint8 [16, 16, 1]; label uint32 [].",
    .args = with({"dataset_dir: string", "usage: string? = None"}, kTextArgs),
    .open = open_usps,
};

}  // namespace

SourceDefs letter_set_sources() { return {&kOmniglot, &kRenderedSst2, &kSemeion, &kUsps}; }

}  // namespace mycel::data
