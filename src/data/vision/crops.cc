// Records: parts of an image, margins around it, patches.
#include <algorithm>

#include "base/error.h"
#include "data/vision/crop.h"
#include "data/vision/step.h"
#include "data/vision/vision.h"

namespace mycel::data::vision {
namespace {

const TransformDef kCenterCrop{
    .name = "vision.CenterCrop",
    .doc =
        "The rectangle of `size` in the middle; where it is larger than the image, zeros stand "
        "around. Any dtype.",
    .args = {"size: ints"},
    .make =
        [](const Options& o) {
          const Size size = size_option(o, "size");
          const CropStep step{[size](int64_t h, int64_t w, Philox&, Crop* r) {
            *r = {(h - size.h) / 2, (w - size.w) / 2, size.h, size.w};
            return size.h <= h && size.w <= w;
          }};
          const auto run = [size](const Tensor& t) {
            const Extent e = extent_of(t);
            // What is missing is put around first, as much on both sides as is needed.
            const int64_t down = std::max<int64_t>(0, size.h - e.h);
            const int64_t across = std::max<int64_t>(0, size.w - e.w);
            const auto upper = [](int64_t n) { return (n + 1) / 2; };
            const auto lower = [](int64_t n) { return n / 2; };
            const int64_t top = std::max<int64_t>(0, e.h - size.h),
                          left = std::max<int64_t>(0, e.w - size.w);
            const Tensor inner =
                crop(t, {lower(top), lower(left), std::min(e.h, size.h), std::min(e.w, size.w)});
            if (!down && !across) return inner;
            return pad(inner, {upper(across), upper(down), lower(across), lower(down)},
                       Border::kConstant, {});
          };
          return with_steps(image_transform(run), {step});
        },
};

const TransformDef kCrop{
    .name = "vision.Crop",
    .doc =
        "The rectangle of `size` whose upper left corner is at `coordinates` (row, column). "
        "ValueError when it leaves the image. Any dtype.",
    .args = {"coordinates: ints", "size: ints"},
    .make =
        [](const Options& o) {
          const std::vector<int64_t> at = o.ints("coordinates");
          if (at.size() != 2 || at[0] < 0 || at[1] < 0)
            o.fail("coordinates", "must be (row, column), none negative, got {}",
                   o["coordinates"].str());
          const Size size = size_option(o, "size");
          const Crop r{at[0], at[1], size.h, size.w};
          const CropStep step{[r](int64_t h, int64_t w, Philox&, Crop* out) {
            *out = r;
            return r.top <= h - r.h && r.left <= w - r.w;
          }};
          return with_steps(image_transform([r](const Tensor& t) { return crop(t, r); }), {step});
        },
};

const TransformDef kPad{
    .name = "vision.Pad",
    .doc =
        "Margins around the image: one width for all sides, (left and right, top and bottom) or "
        "(left, top, right, bottom). CONSTANT fills with `fill_value`, EDGE repeats the border, "
        "REFLECT mirrors without the border, SYMMETRIC with it. Any dtype.",
    .args = {"padding: ints", "fill_value: ints = 0", "padding_mode: Border = CONSTANT"},
    .make =
        [](const Options& o) {
          return image_transform([m = margins_option(o, "padding"),
                                  fill = fill_option(o, "fill_value"),
                                  b = border_of(o.choice("padding_mode"))](const Tensor& t) {
            return pad(t, m, b, fill);
          });
        },
};

const TransformDef kPadToSize{
    .name = "vision.PadToSize",
    .doc =
        "Margins up to `size`; the image stands `offset` (from the top, from the left) inside, "
        "in the middle for None. ValueError when the image is larger or the offset leaves no "
        "room. Any dtype.",
    .args = {"size: ints", "offset: ints? = None", "fill_value: ints = 0",
             "padding_mode: Border = CONSTANT"},
    .make =
        [](const Options& o) {
          const std::vector<int64_t> at = o.ints("offset");
          if (at.size() > 2 || std::any_of(at.begin(), at.end(), [](int64_t v) { return v < 0; }))
            o.fail("offset", "must be one int or (top, left), none negative, got {}",
                   o["offset"].str());
          return image_transform([size = size_option(o, "size"), at,
                                  fill = fill_option(o, "fill_value"),
                                  b = border_of(o.choice("padding_mode"))](const Tensor& t) {
            const Extent e = extent_of(t);
            const int64_t down = size.h - e.h, across = size.w - e.w;
            if (down < 0 || across < 0)
              value_error("'size' {} x {} is smaller than the image of {} x {}", size.h, size.w,
                          e.h, e.w);
            const int64_t top = at.empty() ? down / 2 : at[0];
            const int64_t left = at.empty() ? across / 2 : at.back();
            if (top > down || left > across)
              value_error("'offset' ({}, {}) leaves no room for the image of {} x {} in {} x {}",
                          top, left, e.h, e.w, size.h, size.w);
            return pad(t, {left, top, across - left, down - top}, b, fill);
          });
        },
};

const TransformDef kRandomCrop{
    .name = "vision.RandomCrop",
    .doc =
        "A rectangle of `size` at a random place, every place equally likely. Before, margins as "
        "in Pad are put around, and, with `pad_if_needed`, as much on both sides as the image "
        "lacks. ValueError when the image is too small. Any dtype.",
    .args = {"size: ints", "padding: ints? = None", "pad_if_needed: bool = False",
             "fill_value: ints = 0", "padding_mode: Border = CONSTANT"},
    .make =
        [](const Options& o) {
          const RandomPlace place(o);
          auto alone = random_image_transform(
              [place](const Tensor& t, Philox& draw) { return place.run(t, draw); });
          const Margins& m = place.margins;
          if (place.if_needed || m.left || m.top || m.right || m.bottom) return alone;
          const CropStep step{[place](int64_t h, int64_t w, Philox& draw, Crop* r) {
            *r = place.choose(h, w, draw);
            return true;
          }};
          return with_steps(alone, {step});
        },
};

// Rows and columns of patches; the rest is padded or dropped.
const TransformDef kSlicePatches{
    .name = "vision.SlicePatches",
    .doc =
        "The image cut into num_height x num_width patches, row by row, each a column of the "
        "output. PAD fills the last patches up with `fill_value`, DROP leaves out what does not "
        "fill them. ValueError for more patches than rows or columns. Any dtype.",
    .args = {"num_height: int = 1", "num_width: int = 1", "slice_mode: SliceMode = PAD",
             "fill_value: int = 0"},
    .make =
        [](const Options& o) {
          const int64_t rows = o.positive("num_height"), columns = o.positive("num_width");
          const bool fills = o.choice("slice_mode") == "PAD";
          const int64_t value = o.integer("fill_value");
          if (value < 0 || value > 255) o.fail("fill_value", "must be in [0, 255], got {}", value);
          const auto byte = static_cast<uint8_t>(value);
          return of_row(
              [=](Row* row, Philox&) {
                Row out;
                for (const Value& v : *row) {
                  const Extent e = extent_of(v.tensor());
                  if (rows > e.h || columns > e.w)
                    value_error("{} x {} patches of an image of {} x {} pixels", rows, columns, e.h,
                                e.w);
                  const int64_t h = fills ? (e.h + rows - 1) / rows : e.h / rows;
                  const int64_t w = fills ? (e.w + columns - 1) / columns : e.w / columns;
                  const Tensor whole =
                      fills ? pad(v.tensor(), {0, 0, w * columns - e.w, h * rows - e.h},
                                  Border::kConstant, {{byte, byte, byte, byte}})
                            : v.tensor();
                  for (int64_t y = 0; y < rows; ++y)
                    for (int64_t x = 0; x < columns; ++x)
                      out.emplace_back(crop(whole, {y * h, x * w, h, w}));
                }
                *row = std::move(out);
              },
              false);
        },
};

std::vector<Tensor> five(const Tensor& t, Size s) {
  const Extent e = extent_of(t);
  if (s.h > e.h || s.w > e.w)
    value_error("crops of {} x {} pixels of an image of {} x {}", s.h, s.w, e.h, e.w);
  return {crop(t, {0, 0, s.h, s.w}), crop(t, {0, e.w - s.w, s.h, s.w}),
          crop(t, {e.h - s.h, 0, s.h, s.w}), crop(t, {e.h - s.h, e.w - s.w, s.h, s.w}),
          crop(t, middle(e.h, e.w, s))};
}

void replace(Row* row, const std::function<std::vector<Tensor>(const Tensor&)>& f) {
  Row out;
  for (const Value& v : *row)
    for (Tensor& t : f(v.tensor())) out.emplace_back(std::move(t));
  *row = std::move(out);
}

const TransformDef kFiveCrop{
    .name = "vision.FiveCrop",
    .doc =
        "Five rectangles of `size`, each a column of the output: the four corners (upper left, "
        "upper right, lower left, lower right) and the middle. ValueError when the image is "
        "smaller. Any dtype.",
    .args = {"size: ints"},
    .make =
        [](const Options& o) {
          return of_row(
              [s = size_option(o, "size")](Row* row, Philox&) {
                replace(row, [&](const Tensor& t) { return five(t, s); });
              },
              false);
        },
};

const TransformDef kTenCrop{
    .name = "vision.TenCrop",
    .doc =
        "FiveCrop of the image, then of its mirror image: left to right, or upside down with "
        "`use_vertical_flip`.",
    .args = {"size: ints", "use_vertical_flip: bool = False"},
    .make =
        [](const Options& o) {
          return of_row(
              [s = size_option(o, "size"), down = o.boolean("use_vertical_flip")](Row* row,
                                                                                  Philox&) {
                replace(row, [&](const Tensor& t) {
                  std::vector<Tensor> all = five(t, s);
                  for (Tensor& more : five(mirrored(t, down), s)) all.push_back(std::move(more));
                  return all;
                });
              },
              false);
        },
};

}  // namespace

TransformDefs crop_transforms() {
  return {&kCenterCrop, &kCrop,         &kPad,      &kPadToSize,
          &kRandomCrop, &kSlicePatches, &kFiveCrop, &kTenCrop};
}

}  // namespace mycel::data::vision
