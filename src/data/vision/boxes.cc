// Records: images together with the rectangles of what is on them, [n, 4 or more] float32: left,
// top, width, height, and what else belongs to each.
#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "data/vision/crop.h"
#include "data/vision/resize.h"
#include "data/vision/vision.h"

namespace mycel::data::vision {
namespace {

// The two columns of a row, checked; boxes can be changed.
struct Boxed {
  Tensor image;
  Extent e;
  int64_t count = 0, columns = 0;
  std::vector<float> boxes;

  float* box(int64_t i) { return boxes.data() + i * columns; }
  void put(Row* row) const { *row = {image, Tensor::from(boxes, {count, columns})}; }
};

Boxed boxed(const Row& row) {
  if (row.size() != 2) value_error("takes the columns image and boxes, got {}", row.size());
  Boxed b;
  b.image = row[0].tensor();
  b.e = extent_of(b.image);
  const Tensor& t = row[1].tensor();
  if (t.rank() != 2 || t.dim(1) < 4)
    value_error("expected boxes [n, 4 or more] (left, top, width, height, ...), got {}",
                t.describe());
  if (t.dtype() != DType::kFloat32) type_error("expected boxes of float32, got {}", t.describe());
  b.count = t.dim(0);
  b.columns = t.dim(1);
  b.boxes.assign(t.data<float>().begin(), t.data<float>().end());
  for (int64_t i = 0; i < b.count; ++i) {
    const float* p = b.box(i);
    const bool inside = p[0] >= 0 && p[1] >= 0 && p[2] >= 0 && p[3] >= 0 &&
                        p[0] + p[2] <= static_cast<float>(b.e.w) &&
                        p[1] + p[3] <= static_cast<float>(b.e.h);
    if (!inside)
      value_error("box {} (left {}, top {}, width {}, height {}) leaves the image of {} x {}", i,
                  p[0], p[1], p[2], p[3], b.e.h, b.e.w);
  }
  return b;
}

// Boxes seen from the rectangle: cut at its border, left out when nothing of them lies in it.
void crop_boxes(Boxed* b, const Crop& r) {
  std::vector<float> kept;
  const auto left = static_cast<float>(r.left), top = static_cast<float>(r.top);
  const auto w = static_cast<float>(r.w), h = static_cast<float>(r.h);
  for (int64_t i = 0; i < b->count; ++i) {
    float* p = b->box(i);
    const float x1 = p[0] - left, y1 = p[1] - top, x2 = x1 + p[2], y2 = y1 + p[3];
    if (x1 > w || y1 > h || x2 < 0 || y2 < 0) continue;
    p[0] = std::max(x1, 0.F);
    p[1] = std::max(y1, 0.F);
    p[2] = std::min(x2, w) - p[0];
    p[3] = std::min(y2, h) - p[1];
    kept.insert(kept.end(), p, p + b->columns);
  }
  b->boxes = std::move(kept);
  b->count = static_cast<int64_t>(b->boxes.size()) / b->columns;
}

void resize_boxed(Boxed* b, Size to, Filter filter) {
  const Extent e = extent_of(b->image);
  const float x = static_cast<float>(to.w) / static_cast<float>(e.w);
  const float y = static_cast<float>(to.h) / static_cast<float>(e.h);
  for (int64_t i = 0; i < b->count; ++i) {
    float* p = b->box(i);
    p[0] *= x, p[2] *= x;
    p[1] *= y, p[3] *= y;
  }
  if (to.h != e.h || to.w != e.w) b->image = resize(b->image, to, filter);
}

void mirror_boxed(Boxed* b, bool upside_down) {
  for (int64_t i = 0; i < b->count; ++i) {
    float* p = b->box(i);
    if (upside_down) {
      p[1] = static_cast<float>(b->e.h) - p[1] - p[3];
    } else {
      p[0] = static_cast<float>(b->e.w) - p[0] - p[2];
    }
  }
  b->image = mirrored(b->image, upside_down);
}

std::shared_ptr<Transform> maybe_mirrored(const Options& o, bool upside_down) {
  return of_row(
      [p = probability(o, "prob"), upside_down](Row* row, Philox& draw) {
        Boxed b = boxed(*row);
        if (draw.uniform() < p) mirror_boxed(&b, upside_down);
        b.put(row);
      },
      true);
}

std::function<Size(const Extent&)> target(const Options& o) {
  const Size size = size_option(o, "size");
  if (o.ints("size").size() == 2) return [size](const Extent&) { return size; };
  return [size](const Extent& e) { return keep_ratio(e.h, e.w, size.h); };
}

const TransformDef kRandomHorizontalFlipWithBBox{
    .name = "vision.RandomHorizontalFlipWithBBox",
    .doc =
        "RandomHorizontalFlip of an image and its boxes. Columns image, boxes (float32 [n, 4 or "
        "more]: left, top, width, height, ...). ValueError for a box that leaves the image.",
    .args = {"prob: number = 0.5"},
    .make = [](const Options& o) { return maybe_mirrored(o, false); },
};

const TransformDef kRandomVerticalFlipWithBBox{
    .name = "vision.RandomVerticalFlipWithBBox",
    .doc = "RandomVerticalFlip of an image and its boxes, as RandomHorizontalFlipWithBBox.",
    .args = {"prob: number = 0.5"},
    .make = [](const Options& o) { return maybe_mirrored(o, true); },
};

const TransformDef kResizeWithBBox{
    .name = "vision.ResizeWithBBox",
    .doc =
        "Resize of an image and its boxes. Columns image, boxes (float32 [n, 4 or more]: left, "
        "top, width, height, ...).",
    .args = {"size: ints", "interpolation: Inter = BILINEAR"},
    .make =
        [](const Options& o) {
          return of_row(
              [to = target(o), f = filter_of(o.choice("interpolation"))](Row* row, Philox&) {
                Boxed b = boxed(*row);
                resize_boxed(&b, to(b.e), f);
                b.put(row);
              },
              false);
        },
};

const TransformDef kRandomResizeWithBBox{
    .name = "vision.RandomResizeWithBBox",
    .doc =
        "ResizeWithBBox with an interpolation drawn from BILINEAR, NEAREST, BICUBIC and AREA, "
        "each equally likely.",
    .args = {"size: ints"},
    .make =
        [](const Options& o) {
          return of_row(
              [to = target(o)](Row* row, Philox& draw) {
                Boxed b = boxed(*row);
                resize_boxed(&b, to(b.e), any_filter(draw));
                b.put(row);
              },
              true);
        },
};

const TransformDef kRandomCropWithBBox{
    .name = "vision.RandomCropWithBBox",
    .doc =
        "RandomCrop of an image and its boxes: boxes are cut at the border, those outside left "
        "out. Columns image, boxes (float32 [n, 4 or more]: left, top, width, height, ...).",
    .args = {"size: ints", "padding: ints? = None", "pad_if_needed: bool = False",
             "fill_value: ints = 0", "padding_mode: Border = CONSTANT"},
    .make =
        [](const Options& o) {
          return of_row(
              [place = RandomPlace(o)](Row* row, Philox& draw) {
                Boxed b = boxed(*row);
                const Margins m = place.margins_of(b.e.h, b.e.w);
                const Crop r = place.choose(b.e.h, b.e.w, draw);
                b.image = crop(pad(b.image, m, place.border, place.fill), r);
                for (int64_t i = 0; i < b.count; ++i) {
                  b.box(i)[0] += static_cast<float>(m.left);
                  b.box(i)[1] += static_cast<float>(m.top);
                }
                crop_boxes(&b, r);
                b.put(row);
              },
              true);
        },
};

const TransformDef kRandomResizedCropWithBBox{
    .name = "vision.RandomResizedCropWithBBox",
    .doc =
        "RandomResizedCrop of an image and its boxes: boxes are cut at the border, those outside "
        "left out. Columns image, boxes (float32 [n, 4 or more]: left, top, width, height, ...).",
    .args = RandomArea::resized_args(),
    .make =
        [](const Options& o) {
          return of_row(
              [area = RandomArea(o), to = size_option(o, "size"),
               f = filter_of(o.choice("interpolation"))](Row* row, Philox& draw) {
                Boxed b = boxed(*row);
                const Crop r = area.choose(b.e.h, b.e.w, draw);
                b.image = crop(b.image, r);
                crop_boxes(&b, r);
                resize_boxed(&b, to, f);
                b.put(row);
              },
              true);
        },
};

const TransformDef kBoundingBoxAugment{
    .name = "vision.BoundingBoxAugment",
    .doc =
        "`transform` applied to the part of the image in each box, with probability `ratio` for "
        "each; a result of another size is resized to the box. Columns image, boxes (float32 "
        "[n, 4 or more]: left, top, width, height, ...).",
    .args = {"transform: transform", "ratio: number = 0.3"},
    .make =
        [](const Options& o) {
          return of_row(
              [inner = o.transform("transform"), p = o.within("ratio", 0, 1)](Row* row,
                                                                              Philox& draw) {
                Boxed b = boxed(*row);
                Tensor out = Tensor::empty(b.image.dtype(), b.image.shape());
                std::memcpy(out.mutable_raw(), b.image.raw(), b.image.bytes());
                const auto pixel = static_cast<int64_t>(size_of(out.dtype())) * b.e.c;
                for (int64_t i = 0; i < b.count; ++i) {
                  if (!(draw.uniform() < p)) continue;
                  const float* q = b.box(i);
                  const Crop r{static_cast<int64_t>(q[1]), static_cast<int64_t>(q[0]),
                               static_cast<int64_t>(q[3]), static_cast<int64_t>(q[2])};
                  if (r.h < 1 || r.w < 1) continue;
                  Row part{crop(out, r)};
                  run_all(std::span(&inner, 1), &part, draw);
                  if (part.size() != 1)
                    value_error("'transform' must give one image, {} gave {} values", inner->name(),
                                part.size());
                  Tensor made = part[0].tensor();
                  const Extent e = extent_of(made);
                  if (made.dtype() != out.dtype() || e.c != b.e.c)
                    value_error("'transform' must keep dtype and channels, {} made {} of {}",
                                inner->name(), made.describe(), crop(out, r).describe());
                  if (e.h != r.h || e.w != r.w) made = resize(made, {r.h, r.w}, Filter::kLinear);
                  for (int64_t y = 0; y < r.h; ++y)
                    std::memcpy(static_cast<char*>(out.mutable_raw()) +
                                    ((r.top + y) * b.e.w + r.left) * pixel,
                                static_cast<const char*>(made.raw()) + y * r.w * pixel,
                                static_cast<size_t>(r.w * pixel));
                }
                b.image = out;
                b.put(row);
              },
              true);
        },
};

}  // namespace

TransformDefs box_transforms() {
  return {&kRandomHorizontalFlipWithBBox,
          &kRandomVerticalFlipWithBBox,
          &kResizeWithBBox,
          &kRandomResizeWithBBox,
          &kRandomCropWithBBox,
          &kRandomResizedCropWithBBox,
          &kBoundingBoxAugment};
}

}  // namespace mycel::data::vision
