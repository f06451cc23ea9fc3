// Layers on images and feature maps.
#include "mycel/ops.h"
#include "nn/arith.h"
#include "nn/layer.h"

namespace mycel::nn {
namespace {

constexpr LayerDef kPixelShuffle = check({
    .name = "PixelShuffle",
    .doc = "[..., c r r, h, w] to [..., c, h r, w r] (Shi et al. 2016).",
    .args = {"upscale_factor: int"},
    .in = {"input"},
    .setup = [](Layer& l) { l.args.positive("upscale_factor"); },
    .construct =
        [](Layer& l, Inputs x) {
          return ops::pixel_shuffle(x[0], l.args.integer("upscale_factor"));
        },
});
constexpr LayerDef kPixelUnshuffle = check({
    .name = "PixelUnshuffle",
    .doc = "[..., c, h r, w r] to [..., c r r, h, w]: undoes PixelShuffle.",
    .args = {"downscale_factor: int"},
    .in = {"input"},
    .setup = [](Layer& l) { l.args.positive("downscale_factor"); },
    .construct =
        [](Layer& l, Inputs x) {
          return ops::pixel_unshuffle(x[0], l.args.integer("downscale_factor"));
        },
});

constexpr LayerDef kChannelShuffle = check({
    .name = "ChannelShuffle",
    .doc = "Channels (dim 1) dealt out over groups: [n, g k, ...] read as [n, g, k], turned to [n, "
           "k, g] (Zhang et al. 2018).",
    .args = {"groups: int"},
    .setup = [](Layer& l) { l.args.positive("groups"); },
    .construct = [](Layer& l,
                    Inputs x) { return ops::channel_shuffle(x[0], l.args.integer("groups")); },
});

constexpr LayerDef kImageGradients = check({
    .name = "ImageGradients",
    .doc = "Differences of neighbouring pixels of images [n, c, h, w]: dy along h and dx along w, "
           "0 in the last row or column.",
    .in = {"images"},
    .construct =
        [](Layer& l, Inputs in) {
          const Tensor& x = in[0];
          if (x.rank() != 4) l.fail("images must be [n, c, h, w], got {}", x.describe());
          int64_t h = x.dim(2), w = x.dim(3);
          Tensor dy = ops::narrow(x, 2, 1, h - 1) - ops::narrow(x, 2, 0, h - 1);
          Tensor dx = ops::narrow(x, 3, 1, w - 1) - ops::narrow(x, 3, 0, w - 1);
          return Tensors{ops::pad(dy, {0, 0, 0, 1}), ops::pad(dx, {0, 1})};
        },
});

constexpr LayerDef kCentralCrop = check({
    .name = "CentralCrop",
    .doc = "The middle of image [..., h, w]: the share central_fraction of each side, in (0, 1].",
    .args = {"central_fraction: float"},
    .in = {"image"},
    .setup = [](Layer& l) { l.args.within("central_fraction", 0, 1, "(]"); },
    .construct =
        [](Layer& l, Inputs in) {
          const Tensor& x = in[0];
          if (x.rank() != 3 && x.rank() != 4)
            l.fail("image must be [c, h, w] or [n, c, h, w], got {}", x.describe());
          double share = l.args.real("central_fraction");
          auto start = [&](int64_t n) {
            return static_cast<int64_t>((static_cast<double>(n) - static_cast<double>(n) * share) /
                                        2);
          };
          int64_t h = x.dim(-2), w = x.dim(-1), top = start(h), left = start(w);
          return ops::narrow(ops::narrow(x, x.rank() - 2, top, h - 2 * top), x.rank() - 1, left,
                             w - 2 * left);
        },
});

constexpr LayerDef kPSNR = check({
    .name = "PSNR",
    .doc = "Peak signal-to-noise ratio 10 log10(max_val^2 / mean((img1 - img2)^2)) of each pair of "
           "images [n, c, h, w].",
    .args = {"max_val: float = 1.0"},
    .in = {"img1", "img2"},
    .setup = [](Layer& l) { l.args.positive_real("max_val"); },
    .construct =
        [](Layer& l, Inputs x) {
          if (x[0].rank() != 4) l.fail("images must be [n, c, h, w], got {}", x[0].describe());
          double top = l.args.real("max_val");
          Tensor mse = ops::reduce_mean(ops::square(x[0] - x[1]), ir::Attr::Ints{-3, -2, -1});
          return 10.0 / std::log(10.0) * ops::log(ops::reciprocal(mse) * (top * top));
        },
});

// A normalised Gaussian window [1, 1, size, size].
Tensor gaussian_window(int64_t size, double sigma) {
  std::vector<float> w(size * size);
  double total = 0;
  auto at = [&](int64_t i) { return static_cast<double>(i) - static_cast<double>(size - 1) / 2; };
  for (int64_t i = 0; i < size * size; ++i) {
    double y = at(i / size), x = at(i % size);
    total += w[i] = static_cast<float>(std::exp(-(x * x + y * y) / (2 * sigma * sigma)));
  }
  for (float& v : w) v = static_cast<float>(v / total);
  return Tensor::from(w, Shape{1, 1, size, size});
}

struct Similarity {
  Tensor whole, contrast;  // [n, c] means of both maps
};
// Structural similarity with constants for pixel values up to `top` (Wang et al. 2004, equation
// 13).
Similarity similarity(const Layer& l, const Tensor& a, const Tensor& b, double top,
                      const Tensor& window) {
  double c1 = std::pow(l.args.real("k1") * top, 2), c2 = std::pow(l.args.real("k2") * top, 2);
  int64_t n = a.dim(0), c = a.dim(1);
  auto blur = [&](const Tensor& t) {
    Tensor flat = ops::reshape(t, {n * c, 1, t.dim(2), t.dim(3)});
    return ops::conv2d(flat, ops::cast(window, t.dtype()), Tensor(), std::vector<int64_t>{1, 1},
                       "valid");
  };
  Tensor ma = blur(a), mb = blur(b), product = ma * mb, squares = ops::square(ma) + ops::square(mb);
  Tensor whole = (2.0 * product + c1) / (squares + c1);
  Tensor contrast =
      (2.0 * (blur(a * b) - product) + c2) / (blur(ops::square(a) + ops::square(b)) - squares + c2);
  auto mean = [&](const Tensor& t) { return ops::reduce_mean(ops::reshape(t, {n, c, -1}), {-1}); };
  return {mean(whole * contrast), mean(contrast)};
}

void setup_similarity(Layer& l) {
  l.args.positive_real("max_val");
  l.keep(gaussian_window(l.args.positive("filter_size"), l.args.positive_real("filter_sigma")));
  l.args.positive_real("k1");
  l.args.positive_real("k2");
}

constexpr LayerDef kSSIM = check({
    .name = "SSIM",
    .doc = "Structural similarity of each pair of images [n, c, h, w], 1 when equal (Wang et al. "
           "2004).",
    .args = {"max_val: float = 1.0", "filter_size: int = 11", "filter_sigma: float = 1.5",
             "k1: float = 0.01", "k2: float = 0.03"},
    .in = {"img1", "img2"},
    .setup = setup_similarity,
    .construct =
        [](Layer& l, Inputs x) {
          Similarity s = similarity(l, x[0], x[1], l.args.real("max_val"), l.kept<Tensor>());
          return ops::reduce_mean(s.whole, {-1});
        },
});

constexpr LayerDef kMSSSIM = check({
    .name = "MSSSIM",
    .doc = "Structural similarity over scales of halved images: the product of contrast^power over "
           "scales, with whole^power "
           "at the last (Wang et al. 2003).",
    .args = {"max_val: float = 1.0",
             "power_factors: float[] = [0.0448, 0.2856, 0.3001, 0.2363, 0.1333]",
             "filter_size: int = 11", "filter_sigma: float = 1.5", "k1: float = 0.01",
             "k2: float = 0.03"},
    .in = {"img1", "img2"},
    .setup = setup_similarity,
    .construct =
        [](Layer& l, Inputs x) {
          Tensor a = x[0], b = x[1], result;
          const auto& powers = l.args.floats("power_factors");
          for (size_t i = 0; i < powers.size(); ++i) {
            if (i > 0) {
              a = ops::avg_pool2d(a, {2, 2}, ir::Attr(ir::Attr::Ints{2, 2}));
              b = ops::avg_pool2d(b, {2, 2}, ir::Attr(ir::Attr::Ints{2, 2}));
            }
            Similarity s = similarity(l, a, b, l.args.real("max_val"), l.kept<Tensor>());
            Tensor term = ops::relu(i + 1 < powers.size() ? s.contrast : s.whole);
            term = ops::pow(term, number(term, powers[i]));
            result = result ? result * term : term;
          }
          return ops::reduce_mean(result, {-1});
        },
});

}  // namespace

LayerDefs image_layers() {
  return {&kPixelShuffle, &kPixelUnshuffle, &kChannelShuffle, &kImageGradients,
          &kCentralCrop,  &kPSNR,           &kSSIM,           &kMSSSIM};
}

}  // namespace mycel::nn
