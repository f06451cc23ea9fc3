// Contrast from the counts of an image's values, channel by channel.
#include <algorithm>
#include <cmath>

#include "data/vision/colour.h"
#include "data/vision/vision.h"

namespace mycel::data::vision {
namespace {

using Counts = std::array<int64_t, 256>;

// Each channel through a table made of its counts.
template <typename F>
Tensor by_counts(const Tensor& image, F&& table_of) {
  const Extent e = one_or_three(image);
  const uint8_t* in = bytes_of(image);
  Tensor out = Tensor::empty(DType::kUInt8, image.shape());
  auto* to = static_cast<uint8_t*>(out.mutable_raw());
  const int64_t n = image.size();
  for (int64_t k = 0; k < e.c; ++k) {
    Counts counts{};
    for (int64_t i = k; i < n; i += e.c) ++counts[in[i]];
    const Table table = table_of(counts);
    for (int64_t i = k; i < n; i += e.c) to[i] = table[in[i]];
  }
  return out;
}

Table identity() {
  Table t;
  for (int i = 0; i < 256; ++i) t[i] = static_cast<uint8_t>(i);
  return t;
}

// Takes `cut` values away from one end.
template <typename Iterator>
void take(Iterator begin, Iterator end, int64_t cut) {
  for (; begin != end && cut > 0; ++begin) {
    const int64_t taken = std::min(cut, *begin);
    *begin -= taken;
    cut -= taken;
  }
}

}  // namespace

Tensor equalize(const Tensor& image) {
  return by_counts(image, [&](const Counts& counts) {
    Table t{};
    int64_t total = 0;
    for (const int64_t c : counts) total += c;
    int first = 0;
    while (counts[first] == 0) ++first;
    if (counts[first] == total) return identity();
    const float scale = 255.F / static_cast<float>(total - counts[first]);
    int64_t sum = 0;
    for (int i = first + 1; i < 256; ++i) {
      sum += counts[i];
      t[i] = static_cast<uint8_t>(
          std::clamp(std::nearbyint(static_cast<float>(sum) * scale), 0.F, 255.F));
    }
    return t;
  });
}

Tensor auto_contrast(const Tensor& image, double cutoff, const std::vector<int64_t>& ignore) {
  return by_counts(image, [&](Counts counts) {
    for (const int64_t v : ignore) counts[v] = 0;
    int64_t total = 0;
    for (const int64_t c : counts) total += c;
    // Whole percents, as published.
    const auto cut = static_cast<int64_t>(static_cast<float>(static_cast<int>(cutoff)) / 100.F *
                                          static_cast<float>(total));
    take(counts.begin(), counts.end(), cut);
    take(counts.rbegin(), counts.rend(), cut);
    int low = 0, high = 255;
    while (low < high && counts[low] == 0) ++low;
    while (high >= 0 && counts[high] == 0) --high;
    if (high <= low) return identity();
    const auto scale = static_cast<float>(255.0 / (high - low));
    const float shift = static_cast<float>(-low) * scale;
    Table t;
    for (int i = 0; i < 256; ++i)
      t[i] = static_cast<uint8_t>(
          std::clamp(static_cast<int>(static_cast<float>(i) * scale + shift), 0, 255));
    return t;
  });
}

namespace {

const TransformDef kEqualize{
    .name = "vision.Equalize",
    .doc =
        "Each channel spread so that its values come equally often: v becomes 255 times the part "
        "of the pixels with values above the smallest and up to v. uint8, 1 or 3 channels.",
    .make = [](const Options&) { return image_transform(equalize); },
};

// The ignored values; empty for None.
std::vector<int64_t> ignored(const Options& o) {
  std::vector<int64_t> v = o.ints("ignore");
  for (const int64_t n : v) {
    if (n < 0 || n > 255) o.fail("ignore", "must be in [0, 255], got {}", o["ignore"].str());
  }
  return v;
}
double cutoff(const Options& o) {
  const double v = o.real("cutoff");
  if (!(v >= 0 && v < 50)) o.fail("cutoff", "must be in [0, 50), got {}", v);
  return v;
}

const TransformDef kAutoContrast{
    .name = "vision.AutoContrast",
    .doc =
        "Each channel stretched so that its darkest value is 0 and its brightest 255, after "
        "`cutoff` percent (whole ones, below 50) at either end and the values in `ignore` are "
        "left out of the count. uint8, 1 or 3 channels.",
    .args = {"cutoff: number = 0.0", "ignore: ints? = None"},
    .make =
        [](const Options& o) {
          return image_transform([c = cutoff(o), skip = ignored(o)](const Tensor& t) {
            return auto_contrast(t, c, skip);
          });
        },
};

const TransformDef kRandomEqualize{
    .name = "vision.RandomEqualize",
    .doc = "Equalize with probability `prob`.",
    .args = {"prob: number = 0.5"},
    .make =
        [](const Options& o) {
          return random_image_transform(
              [p = probability(o, "prob")](const Tensor& t, Philox& draw) {
                return draw.uniform() < p ? equalize(t) : t;
              });
        },
};

const TransformDef kRandomAutoContrast{
    .name = "vision.RandomAutoContrast",
    .doc = "AutoContrast with probability `prob`.",
    .args = {"cutoff: number = 0.0", "ignore: ints? = None", "prob: number = 0.5"},
    .make =
        [](const Options& o) {
          return random_image_transform(
              [c = cutoff(o), skip = ignored(o), p = probability(o, "prob")](const Tensor& t,
                                                                             Philox& draw) {
                return draw.uniform() < p ? auto_contrast(t, c, skip) : t;
              });
        },
};

}  // namespace

TransformDefs histogram_transforms() {
  return {&kEqualize, &kAutoContrast, &kRandomEqualize, &kRandomAutoContrast};
}

}  // namespace mycel::data::vision
