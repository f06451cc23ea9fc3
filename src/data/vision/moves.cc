// Records: turned, sheared and projected images.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "data/vision/vision.h"
#include "data/vision/warp.h"

namespace mycel::data::vision {
namespace {

using Range = std::pair<double, double>;
constexpr double kMost = 1 << 24;

std::vector<double> center_option(const Options& o) {
  std::vector<double> v = o.reals("center");
  if (!o.none("center") && v.size() != 2)
    o.fail("center", "must be (x, y) or None, got {}", o["center"].str());
  return v;
}

const TransformDef kRotate{
    .name = "vision.Rotate",
    .doc =
        "Turned counter-clockwise by `degrees` about `center` (x, y), by default the middle. "
        "`expand`: the output holds the whole turned image. Around it stands `fill_value`. "
        "uint8, int16, uint16, float32 or float64.",
    .args = {"degrees: number", "resample: Inter = NEAREST", "expand: bool = False",
             "center: numbers? = None", "fill_value: ints = 0"},
    .make =
        [](const Options& o) {
          const Rotation r{std::fmod(std::fmod(o.real("degrees"), 360) + 360, 360),
                           o.boolean("expand"), center_option(o)};
          return image_transform([r, f = filter_of(o.choice("resample")),
                                  fill = fill_option(o, "fill_value")](const Tensor& t) {
            return rotate(t, r, f, fill);
          });
        },
};

const TransformDef kRandomRotation{
    .name = "vision.RandomRotation",
    .doc =
        "Rotate by an angle drawn evenly from `degrees`, or from [-degrees, degrees] for one "
        "number.",
    .args = {"degrees: numbers", "resample: Inter = NEAREST", "expand: bool = False",
             "center: numbers? = None", "fill_value: ints = 0"},
    .make =
        [](const Options& o) {
          const std::vector<double> d = o.reals("degrees");
          if (d.size() == 1 && d[0] < 0) o.fail("degrees", "must not be negative, got {}", d[0]);
          const Range range =
              d.size() == 1 ? Range{-d[0], d[0]} : o.range("degrees", -kMost, kMost);
          return random_image_transform(
              [range, r = Rotation{0, o.boolean("expand"), center_option(o)},
               f = filter_of(o.choice("resample")),
               fill = fill_option(o, "fill_value")](const Tensor& t, Philox& draw) {
                Rotation turned = r;
                turned.degrees = between(draw, range.first, range.second);
                return rotate(t, turned, f, fill);
              });
        },
};

std::array<double, 2> shear_of(const Options& o) {
  const std::vector<double> v = o.reals("shear");
  if (v.empty() || v.size() > 2)
    o.fail("shear", "must be one number or two, got {}", o["shear"].str());
  return {v[0], v.size() == 2 ? v[1] : 0.0};
}

const TransformDef kAffine{
    .name = "vision.Affine",
    .doc =
        "About the middle: sheared by `shear` degrees (x, y), scaled, turned by `degrees` "
        "(clockwise); then moved by `translate` (x, y), parts of width and height in [-1, 1]. "
        "The size stays, around stands `fill_value`. uint8, int16, uint16, float32 or float64.",
    .args = {"degrees: number", "translate: numbers", "scale: number", "shear: numbers",
             "resample: Inter = NEAREST", "fill_value: ints = 0"},
    .make =
        [](const Options& o) {
          const std::vector<double> part = o.reals("translate");
          if (part.size() != 2 || std::abs(part[0]) > 1 || std::abs(part[1]) > 1)
            o.fail("translate", "must be two numbers in [-1, 1], got {}", o["translate"].str());
          const double scale = o.real("scale");
          if (!(scale > 0)) o.fail("scale", "must be positive, got {}", scale);
          return image_transform([part, scale, degrees = o.real("degrees"), shear = shear_of(o),
                                  f = filter_of(o.choice("resample")),
                                  fill = fill_option(o, "fill_value")](const Tensor& t) {
            const Extent e = extent_of(t);
            return warp(t,
                        affine_map(e.h, e.w, degrees, part[0] * static_cast<double>(e.w),
                                   part[1] * static_cast<double>(e.h), scale, shear[0], shear[1]),
                        {e.h, e.w}, f, fill);
          });
        },
};

// Two numbers for x, or four for x and y.
std::array<Range, 2> pairs(const Options& o, const char* name, double most) {
  const std::vector<double> v = o.reals(name);
  const bool good = v.size() == 2 || v.size() == 4;
  std::array<Range, 2> r{};
  for (size_t i = 0; good && 2 * i < v.size(); ++i) r[i] = {v[2 * i], v[2 * i + 1]};
  for (const Range& one : r) {
    if (!good || !(one.first <= one.second && one.first >= -most && one.second <= most))
      o.fail(name, "must be (from, to) for x, or these for x and y, in [{}, {}], got {}", -most,
             most, o[name].str());
  }
  return r;
}

const TransformDef kRandomAffine{
    .name = "vision.RandomAffine",
    .doc =
        "Affine with each number drawn evenly: the angle from `degrees` (or [-d, d]), the shift "
        "from `translate` (x from, x to, y from, y to; parts of width and height), the scale from "
        "`scale`, the shear from `shear` (likewise; one number s: x in [-s, s]).",
    .args = {"degrees: numbers", "translate: numbers? = None", "scale: numbers? = None",
             "shear: numbers? = None", "resample: Inter = NEAREST", "fill_value: ints = 0"},
    .make =
        [](const Options& o) {
          const std::vector<double> d = o.reals("degrees"), s = o.reals("shear");
          if (d.size() == 1 && d[0] < 0) o.fail("degrees", "must not be negative, got {}", d[0]);
          const Range turn = d.size() == 1 ? Range{-d[0], d[0]} : o.range("degrees", -kMost, kMost);
          std::array<Range, 2> shift{}, shear{};
          if (!o.none("translate")) shift = pairs(o, "translate", 1);
          if (s.size() == 1) {
            if (s[0] < 0) o.fail("shear", "must not be negative, got {}", s[0]);
            shear[0] = {-s[0], s[0]};
          } else if (!o.none("shear")) {
            shear = pairs(o, "shear", kMost);
          }
          const Range scale = o.none("scale") ? Range{1, 1} : o.range("scale", 0, kMost);
          if (scale.first <= 0) o.fail("scale", "must be positive, got {}", o["scale"].str());
          return random_image_transform(
              [=, f = filter_of(o.choice("resample")), fill = fill_option(o, "fill_value")](
                  const Tensor& t, Philox& draw) {
                const Extent e = extent_of(t);
                const auto from = [&](const Range& r) { return between(draw, r.first, r.second); };
                const double degrees = from(turn);
                const double x = from(shift[0]) * static_cast<double>(e.w);
                const double y = from(shift[1]) * static_cast<double>(e.h);
                const double size = from(scale), shear_x = from(shear[0]), shear_y = from(shear[1]);
                return warp(t, affine_map(e.h, e.w, degrees, x, y, size, shear_x, shear_y),
                            {e.h, e.w}, f, fill);
              });
        },
};

Quad quad_option(const Options& o, const char* name) {
  Quad q{};
  const Option& v = o[name];
  bool good = v.is<Option::List>() && v.get<Option::List>().size() == 4;
  for (size_t i = 0; good && i < 4; ++i) {
    const Option& point = v.get<Option::List>()[i];
    good = point.is<Option::List>() && point.get<Option::List>().size() == 2;
    for (size_t k = 0; good && k < 2; ++k) {
      const Option& number = point.get<Option::List>()[k];
      good = number.is_number();
      if (good) q[i][k] = number.real();
    }
  }
  if (!good) o.fail(name, "must be four points (x, y), got {}", v.str());
  return q;
}

const TransformDef kPerspective{
    .name = "vision.Perspective",
    .doc =
        "The projection that takes the four `start_points` (x, y) to the `end_points`. The size "
        "stays, around stands 0. ValueError when three points lie on a line. uint8, int16, "
        "uint16, float32 or float64.",
    .args = {"start_points: any", "end_points: any", "interpolation: Inter = BILINEAR"},
    .make =
        [](const Options& o) {
          return image_transform(
              [m = projection(quad_option(o, "start_points"), quad_option(o, "end_points")),
               f = filter_of(o.choice("interpolation"))](const Tensor& t) {
                const Extent e = extent_of(t);
                return warp(t, m, {e.h, e.w}, f, {});
              });
        },
};

const TransformDef kRandomPerspective{
    .name = "vision.RandomPerspective",
    .doc =
        "With probability `prob` the corners are moved inwards, each by whole pixels drawn evenly "
        "up to `distortion_scale` times half of width and height, and the image with them.",
    .args = {"distortion_scale: number = 0.5", "prob: number = 0.5",
             "interpolation: Inter = BICUBIC"},
    .make =
        [](const Options& o) {
          return random_image_transform(
              [part = o.within("distortion_scale", 0, 1), p = probability(o, "prob"),
               f = filter_of(o.choice("interpolation"))](const Tensor& t, Philox& draw) {
                if (!(draw.uniform() < p)) return t;
                const Extent e = extent_of(t);
                const auto reach = [part](int64_t n) {
                  return static_cast<int64_t>(static_cast<double>(n) / 2 * part);
                };
                const auto w = static_cast<double>(e.w - 1), h = static_cast<double>(e.h - 1);
                const Quad corners{{{0, 0}, {w, 0}, {w, h}, {0, h}}};
                Quad moved = corners;
                for (auto& [x, y] : moved) {
                  const auto dx =
                      static_cast<double>(whole_between(draw, 0, std::min(reach(e.w), e.w - 1)));
                  const auto dy =
                      static_cast<double>(whole_between(draw, 0, std::min(reach(e.h), e.h - 1)));
                  x += x == 0 ? dx : -dx;
                  y += y == 0 ? dy : -dy;
                }
                if (e.w == 1 || e.h == 1) return t;  // a line has no four corners
                return warp(t, projection(corners, moved), {e.h, e.w}, f, {});
              });
        },
};

}  // namespace

TransformDefs warp_transforms() {
  return {&kRotate, &kRandomRotation, &kAffine, &kRandomAffine, &kPerspective, &kRandomPerspective};
}

}  // namespace mycel::data::vision
