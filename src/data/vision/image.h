// What the transforms of this room share: the sizes of an image in a tensor, [height, width] or
// [height, width, channels], checks with one wording, and stacks of images, [..., height, width,
// channels], which are transformed image by image.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "data/transform.h"
#include "tensor/tensor.h"

namespace mycel::data::vision {

struct Extent {
  int64_t h = 0, w = 0, c = 1;
  bool flat = false;  // the tensor has no dim for channels
  int64_t row() const { return w * c; }
};

// ValueError unless the tensor has two or three dims and is not empty.
Extent extent_of(const Tensor& image);
// Memory for an image of another size, with the dims that `like` has.
Tensor image_like(const Extent& like, DType dtype, int64_t h, int64_t w);
// TypeError unless uint8.
const uint8_t* bytes_of(const Tensor& image);
// uint8 [height, width, 3]; ValueError or TypeError otherwise.
Extent colour_extent(const Tensor& image);
// uint8 with one channel or three.
Extent one_or_three(const Tensor& image);

// `f` of an image, or of every image of a stack (4 dims and more).
Tensor each_image(const Tensor& t, const std::function<Tensor(const Tensor&)>& f);
// Transforms of images made from a function of one image.
std::shared_ptr<Transform> image_transform(std::function<Tensor(const Tensor&)> f);
// The images of a stack, and of the columns of a row, get the same draws.
std::shared_ptr<Transform> random_image_transform(std::function<Tensor(const Tensor&, Philox&)> f);

struct Size {
  int64_t h = 0, w = 0;
};
// One positive int for both sides, or (height, width).
Size size_option(const Options& o, std::string_view name);
// One value for all channels or one for each of three, all in [0, 255].
struct Fill {
  uint8_t value[4] = {0, 0, 0, 0};
};
Fill fill_option(const Options& o, std::string_view name);
double probability(const Options& o, std::string_view name);

// A number in [low, high) of the draws.
inline double between(Philox& draw, double low, double high) {
  return low + (high - low) * draw.uniform();
}
// A whole number in [low, high].
inline int64_t whole_between(Philox& draw, int64_t low, int64_t high) {
  return low + static_cast<int64_t>(draw.below(static_cast<uint64_t>(high - low) + 1));
}

}  // namespace mycel::data::vision
