// Colours between red, green, blue and hue, saturation, value (Smith 1978), all in [0, 1].
#include "base/error.h"
#include "ir/expansion.h"
#include "ops/elementwise/elementwise.h"
#include "ops/image/image.h"
#include "ops/image/rooms.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Attr;
using ir::check;
using ir::Expansion;

namespace {

struct Three {
  Value a, b, c;
};

Three channels(const Expansion& e) {
  Value x = e.x(0);
  if (x.rank() < 1 || (x.shape()[-1] != 3 && x.shape()[-1] != kUnknownDim))
    value_error("{}: the last dim of '{}' must hold three colours, got {}", e.op.name,
                e.op.inputs[0].name, x.type().str());
  int last = x.rank() - 1;
  return {sliced(x, last, 0, 1), sliced(x, last, 1, 1), sliced(x, last, 2, 1)};
}

Value joined(const Three& t) { return kConcat({t.a, t.b, t.c}, {-1}); }

Three to_hsv(const Three& rgb) {
  Value most = kMaximum({kMaximum({rgb.a, rgb.b}), rgb.c});
  Value range = most - kMinimum({kMinimum({rgb.a, rgb.b}), rgb.c});
  Value grey = equal(range, 0.0), span = where(grey, 1.0, range) * 6.0;
  // The first channel that is the largest decides.
  Value of_red = (rgb.b - rgb.c) / span, of_green = (rgb.c - rgb.a) / span + 1.0 / 3,
        of_blue = (rgb.a - rgb.b) / span + 2.0 / 3;
  Value hue = where(kEqual({most, rgb.a}), of_red, where(kEqual({most, rgb.b}), of_green, of_blue));
  hue = where(less(hue, 0.0), hue + 1.0, hue);
  Value dark = kLessEqual({most, number(most, 0)});
  Value saturation = where(dark, 0.0, range / where(dark, 1.0, most));
  return {where(grey, 0.0, hue), saturation, most};
}

Value unit(Value v) { return where(less(v, 0.0), 0.0, where(greater(v, 1.0), 1.0, v)); }

Three to_rgb(const Three& hsv) {
  Value turn = hsv.a * 6.0;
  auto mixed = [&](Value share) { return (1.0 - hsv.b + hsv.b * share) * hsv.c; };
  return {mixed(unit(kAbs({turn - 3.0}) - 1.0)), mixed(unit(2.0 - kAbs({turn - 2.0}))),
          mixed(unit(2.0 - kAbs({turn - 4.0})))};
}

// A factor or shift without dims in the images' dtype.
Value factor(const Expansion& e) {
  if (e.x(1).rank() != 0)
    value_error("{}: '{}' must be a number, got {}", e.op.name, e.op.inputs[1].name,
                e.x(1).type().str());
  return cast_to(e.x(1), e.x(0).dtype());
}

}  // namespace

constexpr OpDef kRgbToHsv = check({
    .name = "rgb_to_hsv",
    .doc =
        "Hue, saturation and value of colours (red, green, blue) in the last dim; all in [0, 1].",
    .in = {"images: float[n, 3]"},
    .shard = "none",
    .expand = [](Expansion& e) { e.result(joined(to_hsv(channels(e)))); },
    .cases = "images[4, 3] [2, 2, 3]; images in distinct(0.1, 0.9); bad images[4, 2]; skip dtypes: "
             "rounding moves hues near the ends",
    .primitive = "RGBToHSV()",
    .internal = true,
});

constexpr OpDef kHsvToRgb = check({
    .name = "hsv_to_rgb",
    .doc = "Red, green and blue of colours (hue, saturation, value) in the last dim; all in [0, "
           "1].",
    .in = {"x: float[n, 3]"},
    .shard = "none",
    .expand = [](Expansion& e) { e.result(joined(to_rgb(channels(e)))); },
    .cases = "x[4, 3] [2, 2, 3]; x in distinct(0.11, 0.93); bad x[4, 2]",
    .primitive = "HSVToRGB()",
    .internal = true,
});

constexpr OpDef kAdjustHue = check({
    .name = "adjust_hue",
    .doc = "Images [..., 3] (red, green, blue) with delta, a part of the circle, added to the hue.",
    .in = {"images: float[n, 3]", "delta: float[]"},
    .shard = "none",
    .expand =
        [](Expansion& e) {
          Three hsv = to_hsv(channels(e));
          Value turned = hsv.a + factor(e);
          e.result(joined(to_rgb({turned - kFloor({turned}), hsv.b, hsv.c})));
        },
    .cases = "images[4, 3]; images in distinct(0.1, 0.9); delta in (0.2, 0.3); bad images[4, 2]; "
             "bad delta[2]; skip dtypes: rounding moves hues near the ends",
    .primitive = "AdjustHue()",
    .internal = true,
});

constexpr OpDef kAdjustSaturation = check({
    .name = "adjust_saturation",
    .doc = "Images [..., 3] (red, green, blue) with the saturation times scale, cut off to [0, 1].",
    .in = {"images: float[n, 3]", "scale: float[]"},
    .shard = "none",
    .expand =
        [](Expansion& e) {
          Three hsv = to_hsv(channels(e));
          e.result(joined(to_rgb({hsv.a, unit(hsv.b * factor(e)), hsv.c})));
        },
    .cases = "images[4, 3]; images in distinct(0.1, 0.9); scale in (0.4, 0.6); bad images[4, 2]; "
             "bad scale[2]; skip dtypes: rounding moves hues near the ends",
    .primitive = "AdjustSaturation()",
    .internal = true,
});

void register_colors() {
  ir::register_ops({&kRgbToHsv, &kHsvToRgb, &kAdjustHue, &kAdjustSaturation});
}

}  // namespace mycel::ops
