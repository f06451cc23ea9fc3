#include "backend/cpu/onednn/restore_nan.h"

#include <algorithm>
#include <cmath>

#include "base/threads.h"
#include "tensor/storage.h"

namespace mycel::cpu::onednn {
namespace {

// Where a post-op's operand lies for an element of the result: n, spatial…, c with ones where it
// broadcasts.
int64_t offset_under(int64_t at, const std::vector<int64_t>& y, const std::vector<int64_t>& dims) {
  int64_t offset = 0, stride = 1;
  for (size_t d = y.size(); d-- > 0;) {
    if (dims[d] != 1) offset += at % y[d] * stride;
    stride *= dims[d];
    at /= y[d];
  }
  return offset;
}

float step(const PostOp& p, float x, float other) {
  switch (p.kind) {
    case PostOp::Kind::kAdd:
      return x + other;
    case PostOp::Kind::kSub:
      return x - other;
    case PostOp::Kind::kMul:
      return x * other;
    case PostOp::Kind::kDiv:
      return x / other;
    case PostOp::Kind::kLinear:
      return static_cast<float>(p.a) * x + static_cast<float>(p.b);
    case PostOp::Kind::kRelu:
      return x < 0 ? 0 : x;
    case PostOp::Kind::kClip:
      return x < 0 ? 0 : x > static_cast<float>(p.a) ? static_cast<float>(p.a) : x;
  }
  return x;
}

}  // namespace

bool loses_nan(const PostOp& p) {
  return p.kind == PostOp::Kind::kRelu || p.kind == PostOp::Kind::kClip;
}

Restore restore_nan(const Convolution& c, std::shared_ptr<const Program> before) {
  std::vector<int64_t> dims = {c.batch};
  dims.insert(dims.end(), c.out.begin(), c.out.end());
  dims.push_back(c.out_channels);
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  size_t count = static_cast<size_t>(std::max({c.x_at, c.w_at, c.y_at, c.bias ? c.bias_at : 0}));
  for (const PostOp& p : c.post) count = std::max(count, static_cast<size_t>(std::max(p.at, 0)));
  std::vector<PostOp> rest(std::find_if(c.post.begin(), c.post.end(), loses_nan), c.post.end());
  return [=](void* const* buffers) {
    Ref<Storage> memory = Storage::allocate(static_cast<size_t>(n) * sizeof(float));
    std::vector<void*> with(buffers, buffers + count + 1);
    with[static_cast<size_t>(c.y_at)] = memory->data();
    before->run(with.data());
    const auto* x = static_cast<const float*>(memory->data());
    auto* y = static_cast<float*>(buffers[c.y_at]);
    parallel_for(n, 4096, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        float v = x[i];
        for (const PostOp& p : rest) {
          const auto* operand = p.at >= 0 ? static_cast<const float*>(buffers[p.at]) : nullptr;
          v = step(p, v, operand ? operand[offset_under(i, dims, p.dims)] : 0);
        }
        if (std::isnan(v)) y[i] = v;
      }
    });
  };
}

}  // namespace mycel::cpu::onednn
