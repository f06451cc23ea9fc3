// Records: batches of images, and their labels, mixed with each other.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/error.h"
#include "data/cast.h"
#include "data/vision/image.h"
#include "data/vision/vision.h"

namespace mycel::data::vision {
namespace {

// A number of the gamma distribution of shape `a` > 0 and scale 1 (G. Marsaglia, W. W. Tsang, "A
// simple method for generating gamma variables", 2000), as a logarithm: shapes near 0 give numbers
// that are too small for a double.
double log_gamma_number(Philox& draw, double a) {
  if (a < 1) {
    const double more = log_gamma_number(draw, a + 1);
    return more + std::log(1 - draw.uniform()) / a;
  }
  const double d = a - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = draw.normal(), v = std::pow(1 + c * x, 3);
    if (v <= 0) continue;
    if (std::log(1 - draw.uniform()) < 0.5 * x * x + d - d * v + d * std::log(v))
      return std::log(d * v);
  }
}

// A number in [0, 1] of the beta distribution (a, a).
double beta_number(Philox& draw, double a) {
  const double x = log_gamma_number(draw, a), y = log_gamma_number(draw, a);
  return 1 / (1 + std::exp(y - x));
}

std::vector<int64_t> shuffled(int64_t n, Philox& draw) {
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), int64_t{0});
  for (auto i = static_cast<uint64_t>(n); i > 1; --i) std::swap(order[i - 1], order[draw.below(i)]);
  return order;
}

// Images and labels of a row; ValueError unless both have as many.
void check_batch(const Row& row, int label_rank) {
  if (row.size() != 2) value_error("takes the columns image and label, got {}", row.size());
  const Tensor &images = row[0].tensor(), &labels = row[1].tensor();
  if (images.rank() != 4)
    value_error("expected a batch of images with 4 dims, got {}", images.describe());
  if (labels.rank() < 2 || labels.rank() > label_rank || labels.dim(0) != images.dim(0))
    throw UserError(
        ErrorKind::kValue,
        fmt::format("expected labels as {} for {} images, got {}",
                    label_rank == 3 ? "[n, classes] or [n, l, classes]" : "[n, classes]",
                    images.dim(0), labels.describe()),
        "OneHot makes vectors of labels.");
}

// part * first + (1 - part) * second, in T.
template <typename T>
void mix(const T* first, const T* second, int64_t n, T part, T* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = part * first[i] + (1 - part) * second[i];
}

// Item i of `t` mixed with item with[i], parts[i] of the first.
template <typename T>
Tensor mixed(const Tensor& t, const std::vector<int64_t>& with, const std::vector<double>& parts) {
  const Tensor x = cast(t, dtype_of<T>());
  Tensor out = Tensor::empty(dtype_of<T>(), t.shape());
  const auto in = x.template data<T>();
  const auto to = out.template mutable_data<T>();
  const int64_t n = t.dim(0), each = n ? t.size() / n : 0;
  for (int64_t i = 0; i < n; ++i)
    mix(in.data() + i * each, in.data() + with[i] * each, each, static_cast<T>(parts[i]),
        to.data() + i * each);
  return out;
}

double alpha_of(const Options& o) {
  const double a = o.real("alpha");
  if (!(a > 0 && a < 1 << 24)) o.fail("alpha", "must be positive, got {}", a);
  return a;
}

const TransformDef kMixUp{
    .name = "vision.MixUp",
    .doc =
        "Each image of a batch, and its label, mixed with the next (the last with the first): "
        "l * own + (1 - l) * next, with l drawn for each from the beta distribution (alpha, alpha) "
        "(H. Zhang et al., \"mixup: beyond empirical risk minimization\", 2017). Columns image "
        "[batch_size, ...] with 4 dims, label [batch_size, classes]; both become float64. "
        "ValueError for another batch size. is_single=False, which mixes with the mixture "
        "of all batches before, is refused: no batch could be made without all of them.",
    .args = {"batch_size: int", "alpha: number", "is_single: bool = True"},
    .make =
        [](const Options& o) {
          if (!o.boolean("is_single"))
            throw UserError(
                ErrorKind::kUnsupported,
                "MixUp: is_single=False mixes with the mixture of all batches before, so that no "
                "batch could be made, nor a run resumed, without all of them; use is_single=True "
                "or MixUpBatch");
          return of_row(
              [n = o.positive("batch_size"), alpha = alpha_of(o)](Row* row, Philox& draw) {
                check_batch(*row, 2);
                if ((*row)[0].tensor().dim(0) != n)
                  value_error("'batch_size' is {}, the batch has {} images", n,
                              (*row)[0].tensor().dim(0));
                std::vector<int64_t> next(static_cast<size_t>(n));
                std::vector<double> parts;
                for (int64_t i = 0; i < n; ++i) {
                  next[i] = (i + 1) % n;
                  parts.push_back(beta_number(draw, alpha));
                }
                for (Value& v : *row) v = mixed<double>(v.tensor(), next, parts);
              },
              true);
        },
};

const TransformDef kMixUpBatch{
    .name = "vision.MixUpBatch",
    .doc =
        "Each image of a batch, and its label, mixed with one of a random order of the batch, "
        "with one l for all from the beta distribution (alpha, alpha): l * own + (1 - l) * other. "
        "Columns image with 4 dims, label [n, classes] or [n, l, classes]; both become float32.",
    .args = {"alpha: number = 1.0"},
    .make =
        [](const Options& o) {
          return of_row(
              [alpha = alpha_of(o)](Row* row, Philox& draw) {
                check_batch(*row, 3);
                const int64_t n = (*row)[0].tensor().dim(0);
                const std::vector<double> parts(static_cast<size_t>(n), beta_number(draw, alpha));
                const std::vector<int64_t> others = shuffled(n, draw);
                for (Value& v : *row) v = mixed<float>(v.tensor(), others, parts);
              },
              true);
        },
};

// The rectangle of an image that another fills: (1 - l) of width and height about a random place.
struct Box {
  int64_t x, y, w, h;
};
Box box_of(int64_t h, int64_t w, double part, Philox& draw) {
  const auto cut_w = static_cast<int64_t>(static_cast<double>(w) * (1 - part));
  const auto cut_h = static_cast<int64_t>(static_cast<double>(h) * (1 - part));
  const int64_t cx = whole_between(draw, 0, w), cy = whole_between(draw, 0, h);
  const int64_t x = std::clamp<int64_t>(cx - cut_w / 2, 0, w - 1);
  const int64_t y = std::clamp<int64_t>(cy - cut_h / 2, 0, h - 1);
  const int64_t x2 = std::clamp<int64_t>(cx + cut_w / 2, 0, w - 1);
  const int64_t y2 = std::clamp<int64_t>(cy + cut_h / 2, 0, h - 1);
  return {x, y, std::max<int64_t>(1, x2 - x), std::max<int64_t>(1, y2 - y)};
}

const TransformDef kCutMixBatch{
    .name = "vision.CutMixBatch",
    .doc =
        "With probability `prob` for each image of a batch, a rectangle of it is taken from one of "
        "a random order of the batch; labels are mixed by the areas. The rectangle has (1 - l) of "
        "width and height, l from the beta distribution (alpha, alpha) (S. Yun et al., "
        "\"CutMix\", 2019). Columns image [n, h, w, c] or [n, c, h, w] as `image_batch_format` "
        "says, with 1 or 3 channels, any dtype, kept; label [n, classes] or [n, l, classes] of "
        "ints, float32 afterwards.",
    .args = {"image_batch_format: ImageBatchFormat", "alpha: number = 1.0", "prob: number = 1.0"},
    .make =
        [](const Options& o) {
          return of_row(
              [last = o.choice("image_batch_format") == "NHWC", alpha = alpha_of(o),
               p = o.within("prob", 0, 1)](Row* row, Philox& draw) {
                check_batch(*row, 3);
                const Tensor images = (*row)[0].tensor(), labels = (*row)[1].tensor();
                if (!is_int(labels.dtype()))
                  type_error("labels must be ints, got {}", labels.describe());
                const int64_t n = images.dim(0), h = images.dim(last ? 1 : 2),
                              w = images.dim(last ? 2 : 3);
                const int64_t c = images.dim(last ? 3 : 1), planes = last ? 1 : c,
                              pixel = last ? c : 1;
                if (c != 1 && c != 3)
                  value_error("expected images {} with 1 or 3 channels, got {}",
                              last ? "[n, h, w, c]" : "[n, c, h, w]", images.describe());
                Tensor out = Tensor::empty(images.dtype(), images.shape());
                std::memcpy(out.mutable_raw(), images.raw(), images.bytes());
                const auto bytes = static_cast<int64_t>(size_of(images.dtype())) * pixel;
                const auto* in = static_cast<const char*>(images.raw());
                auto* to = static_cast<char*>(out.mutable_raw());
                const std::vector<int64_t> others = shuffled(n, draw);
                std::vector<double> parts(static_cast<size_t>(n), 1.0);
                for (int64_t i = 0; i < n; ++i) {
                  const double part = beta_number(draw, alpha);
                  if (!(draw.uniform() < p)) continue;
                  const Box b = box_of(h, w, part, draw);
                  for (int64_t k = 0; k < planes; ++k) {
                    for (int64_t y = b.y; y < b.y + b.h; ++y) {
                      const auto at = [&](int64_t image) {
                        return (((image * planes + k) * h + y) * w + b.x) * bytes;
                      };
                      std::memcpy(to + at(i), in + at(others[i]), static_cast<size_t>(b.w * bytes));
                    }
                  }
                  parts[i] = 1 - static_cast<double>(b.w * b.h) / static_cast<double>(h * w);
                }
                *row = {out, mixed<float>(labels, others, parts)};
              },
              true);
        },
};

}  // namespace

TransformDefs mix_transforms() { return {&kMixUp, &kMixUpBatch, &kCutMixBatch}; }

}  // namespace mycel::data::vision
