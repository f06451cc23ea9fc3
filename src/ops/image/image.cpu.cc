// The host kernel of combined_non_max_suppression: short sorts and comparisons of few boxes.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "backend/cpu/function_kernel.h"
#include "ops/all_kernels.cpu.h"

namespace mycel::ops {
namespace {

using cpu::Problem;
using Box = std::array<double, 4>;

Box upright(Box b) {
  if (b[0] > b[2]) std::swap(b[0], b[2]);
  if (b[1] > b[3]) std::swap(b[1], b[3]);
  return b;
}

double area(const Box& b) { return (b[2] - b[0]) * (b[3] - b[1]); }

double shared(const Box& x, const Box& y) {
  Box a = upright(x), b = upright(y);
  double h = std::min(a[2], b[2]) - std::max(a[0], b[0]);
  double w = std::min(a[3], b[3]) - std::max(a[1], b[1]);
  if (h <= 0 || w <= 0 || area(a) <= 0 || area(b) <= 0) return 0;
  return h * w / (area(a) + area(b) - h * w);
}

struct Found {
  Box box;
  double score;
  int64_t cls;
};

struct Limits {
  double iou, score;
  int64_t each;
};

// The boxes of one class of one image that stay, best first.
void of_class(const std::vector<Box>& boxes, const std::vector<double>& scores, int64_t cls,
              const Limits& limit, std::vector<Found>* out) {
  std::vector<size_t> order(boxes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  std::vector<Box> kept;
  for (size_t i : order) {
    if (!(scores[i] > limit.score) || static_cast<int64_t>(kept.size()) == limit.each) break;
    bool free = std::none_of(kept.begin(), kept.end(),
                             [&](const Box& k) { return shared(k, boxes[i]) > limit.iou; });
    if (!free) continue;
    kept.push_back(boxes[i]);
    out->push_back({boxes[i], scores[i], cls});
  }
}

std::unique_ptr<cpu::Prepared> prepare_combined(const Problem& p) {
  Shape boxes = p.in[0]->shape, scores = p.in[1]->shape;
  DType d = p.in[0]->dtype, ds = p.in[1]->dtype, di = p.in[2]->dtype, dt = p.in[3]->dtype;
  int64_t each = p.view().integer("max_output_size_per_class"), rows = p.out[0].shape[1];
  bool clip = p.view().boolean("clip_boxes");
  auto run = [=](void* const* b) {
    int64_t n = boxes[1], q = boxes[2], classes = scores[2];
    Limits limit{element_as_double(b[2], di, 0), element_as_double(b[3], dt, 0), each};
    for (int64_t image = 0; image < boxes[0]; ++image) {
      std::vector<Found> found;
      for (int64_t c = 0; c < classes; ++c) {
        std::vector<Box> own(static_cast<size_t>(n));
        std::vector<double> score(static_cast<size_t>(n));
        for (int64_t i = 0; i < n; ++i) {
          int64_t at = ((image * n + i) * q + (q == 1 ? 0 : c)) * 4;
          for (int64_t k = 0; k < 4; ++k)
            own[static_cast<size_t>(i)][static_cast<size_t>(k)] =
                element_as_double(b[0], d, at + k);
          score[static_cast<size_t>(i)] =
              element_as_double(b[1], ds, (image * n + i) * classes + c);
        }
        of_class(own, score, c, limit, &found);
      }
      std::stable_sort(found.begin(), found.end(),
                       [](const Found& x, const Found& y) { return x.score > y.score; });
      int64_t valid = std::min<int64_t>(rows, static_cast<int64_t>(found.size()));
      for (int64_t r = 0; r < rows; ++r) {
        Found f = r < valid ? found[static_cast<size_t>(r)] : Found{{0, 0, 0, 0}, 0, 0};
        for (int64_t k = 0; k < 4; ++k) {
          double v = f.box[static_cast<size_t>(k)];
          set_element(b[4], d, (image * rows + r) * 4 + k, clip ? std::clamp(v, 0.0, 1.0) : v);
        }
        set_element(b[5], d, image * rows + r, f.score);
        set_element(b[6], d, image * rows + r, static_cast<double>(f.cls));
      }
      set_element(b[7], DType::kInt32, image, valid);
    }
  };
  return cpu::prepared_by("host", run);
}

constexpr cpu::KernelDef kKernels[] = {
    {"combined_non_max_suppression", "host", nullptr, prepare_combined},
};

}  // namespace

void register_image_kernels() { cpu::register_kernels(kKernels); }

}  // namespace mycel::ops
