// Boxes that overlap: how many stay is known only when the scores are.
#include "interop/onnx/ops/build.h"

namespace mycel::interop::onnx {
namespace {

struct Box {
  double y0, x0, y1, x1;
  double area() const { return (y1 - y0) * (x1 - x0); }
};

Box box_of(const Tensor& boxes, int64_t row, bool centre) {
  auto v = [&](int64_t k) { return element_as_double(boxes.raw(), boxes.dtype(), row * 4 + k); };
  if (centre) return {v(1) - v(3) / 2, v(0) - v(2) / 2, v(1) + v(3) / 2, v(0) + v(2) / 2};
  return {std::min(v(0), v(2)), std::min(v(1), v(3)), std::max(v(0), v(2)), std::max(v(1), v(3))};
}

double overlap(const Box& a, const Box& b) {
  double h = std::min(a.y1, b.y1) - std::max(a.y0, b.y0),
         w = std::min(a.x1, b.x1) - std::max(a.x0, b.x0);
  if (h <= 0 || w <= 0) return 0;
  return h * w / (a.area() + b.area() - h * w);
}

Values non_max_suppression(Call& c) {
  Tensor boxes = c.known(0), scores = c.known(1);
  if (boxes.rank() != 3 || scores.rank() != 3 || boxes.dim(2) != 4 || scores.dim(2) != boxes.dim(1))
    c.fail("boxes {} and scores {}", boxes.shape().str(), scores.shape().str());
  int64_t most = c.has(2) ? c.known_ints(2).at(0) : 0;
  double threshold = c.has(3) ? c.known_reals(3).at(0) : 0;
  bool bounded = c.has(4), centre = c.integer("center_point_box", 0) == 1;
  double least = bounded ? c.known_reals(4).at(0) : 0;
  int64_t n = boxes.dim(1);
  Ints out;
  for (int64_t b = 0; b < scores.dim(0); ++b) {
    for (int64_t k = 0; k < scores.dim(1); ++k) {
      auto score = [&](int64_t i) {
        return element_as_double(scores.raw(), scores.dtype(), (b * scores.dim(1) + k) * n + i);
      };
      Ints order;
      for (int64_t i = 0; i < n; ++i) {
        if (!bounded || score(i) > least) order.push_back(i);
      }
      std::stable_sort(order.begin(), order.end(),
                       [&](int64_t i, int64_t j) { return score(i) > score(j); });
      std::vector<Box> kept;
      for (int64_t i : order) {
        if (static_cast<int64_t>(kept.size()) >= most) break;
        Box box = box_of(boxes, b * n + i, centre);
        if (std::ranges::any_of(kept, [&](const Box& o) { return overlap(o, box) > threshold; }))
          continue;
        kept.push_back(box);
        out.insert(out.end(), {b, k, i});
      }
    }
  }
  return one(Tensor::from(out, Shape{static_cast<int64_t>(out.size()) / 3, 3}));
}

constexpr Record kRecords[] = {{"NonMaxSuppression", non_max_suppression, "2 3 4"}};

}  // namespace

Records box_records() { return kRecords; }

}  // namespace mycel::interop::onnx
