#include "mutated_images.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/error.h"
#include "base/random.h"
#include "data/transform.h"
#include "test_paths.h"

namespace mycel {

std::vector<std::string> sample_images() {
  std::vector<std::filesystem::path> paths;
  const auto folder = std::filesystem::path(MYCEL_SOURCE_DIR) / "tests/data/images";
  for (const auto& e : std::filesystem::directory_iterator(folder)) paths.push_back(e.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> out;
  for (const auto& p : paths) {
    std::ifstream in(p, std::ios::binary);
    out.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return out;
}

std::string mutated_image(const std::vector<std::string>& samples, uint64_t number) {
  Philox draw(7, number);
  std::string s = samples[draw.below(samples.size())];
  // Mostly in the header, where the sizes are.
  const auto place = [&] {
    const size_t part = draw.below(2) ? std::min<size_t>(s.size(), 200) : s.size();
    return draw.below(part);
  };
  const uint64_t changes = 1 + draw.below(4);
  for (uint64_t i = 0; i < changes && !s.empty(); ++i) {
    const size_t at = place();
    switch (draw.below(6)) {
      case 0:
        s[at] = static_cast<char>(s[at] ^ (1 << draw.below(8)));
        break;
      case 1:
        s[at] = static_cast<char>(draw.below(256));
        break;
      case 2: {
        constexpr unsigned char kEdges[] = {0, 1, 0x7F, 0x80, 0xFE, 0xFF};
        const char edge = static_cast<char>(kEdges[draw.below(6)]);
        for (size_t k = at; k < std::min(s.size(), at + 4); ++k) s[k] = edge;
        break;
      }
      case 3:
        s.resize(at);
        break;
      case 4:
        s.erase(at, 1 + draw.below(16));
        break;
      default:
        s.insert(at, s.substr(place() % std::max<size_t>(1, s.size()), 1 + draw.below(16)));
    }
  }
  return s;
}

bool decodes(const std::string& file) {
  using namespace data;
  static const std::vector<TransformPtr> kAlone = {make_transform("vision.Decode")};
  static const std::vector<TransformPtr> kCrop = {
      make_transform("vision.RandomCropDecodeResize", {{"size", 7}})};
  static const std::vector<TransformPtr> kJoined =
      fused({make_transform("vision.Decode"), make_transform("vision.Resize", {{"size", 5}}),
             make_transform("vision.HWC2CHW")});
  const Tensor bytes = Tensor::from(std::vector<uint8_t>(file.begin(), file.end()),
                                    {static_cast<int64_t>(file.size())});
  bool good = true;
  for (const auto* steps : {&kAlone, &kCrop, &kJoined}) {
    try {
      Row row{bytes};
      Philox draw(1, file.size());
      run_all(*steps, &row, draw);
      if (row[0].tensor().dtype() != DType::kUInt8)
        throw InternalError("a decoder gave " + row[0].tensor().describe());
    } catch (const UserError& e) {
      if (e.message().empty()) throw InternalError("an error without a text");
      good = false;
    }
  }
  return good;
}

}  // namespace mycel
