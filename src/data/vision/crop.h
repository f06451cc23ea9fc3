// Rectangles of an image and what stands around it: cropping, padding, and how the random crops of
// the published API choose their rectangle. Bytes are moved, so every dtype is welcome.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "data/vision/image.h"
#include "data/vision/jpeg.h"

namespace mycel::data::vision {

// ValueError when the rectangle leaves the image.
Tensor crop(const Tensor& image, const Crop& r);

enum class Border : uint8_t { kConstant, kEdge, kReflect, kSymmetric };
Border border_of(const std::string& member);
// The rectangle `r`, which may leave the image: beyond its border stands what `border` says. Fill
// values are cast to the dtype; a fourth channel gets 0.
Tensor window(const Tensor& image, const Crop& r, Border border, const Fill& fill);
struct Margins {
  int64_t left = 0, top = 0, right = 0, bottom = 0;
};
// Margins of any size: reflections repeat.
Tensor pad(const Tensor& image, const Margins& m, Border border, const Fill& fill);
// The arguments top, left, height and width; ValueError for a negative place or an empty one.
Crop rectangle_option(const Options& o);
// None is none; one int for all sides; (left and right, top and bottom); (left, top, right,
// bottom).
Margins margins_option(const Options& o, std::string_view name);

// An area of scale[0] to scale[1] of the image with sides in a ratio of ratio[0] to ratio[1]; after
// `attempts` misses the largest one in the middle that has such a ratio.
struct RandomArea {
  // The arguments of transforms that cut such an area and resize it.
  static std::vector<const char*> resized_args();
  std::pair<double, double> scale, ratio;
  int64_t attempts = 10;

  explicit RandomArea(const Options& o);
  Crop choose(int64_t h, int64_t w, Philox& draw) const;
};

// Where RandomCrop cuts: the margins it adds, then a rectangle at a random place.
struct RandomPlace {
  Size size;
  Margins margins;
  bool if_needed = false;
  Fill fill;
  Border border = Border::kConstant;

  explicit RandomPlace(const Options& o);
  Margins margins_of(int64_t h, int64_t w) const;
  // Inside an image of this size with its margins; ValueError when it is too small.
  Crop choose(int64_t h, int64_t w, Philox& draw) const;
  Tensor run(const Tensor& image, Philox& draw) const;
};

// Left and right exchanged, or top and bottom. Any dtype.
Tensor mirrored(const Tensor& image, bool upside_down);

// The rectangle in the middle; it may leave the image.
Crop middle(int64_t h, int64_t w, Size size);

}  // namespace mycel::data::vision
