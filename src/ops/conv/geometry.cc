#include "ops/conv/geometry.h"

#include <algorithm>

namespace mycel::ops {

namespace {
// Far above any use, far below what overflows.
constexpr int64_t kMaxStep = int64_t{1} << 20;
}  // namespace

ConvSteps steps_of(const ir::AttrsView& attrs) {
  return {attrs.ints("stride"),  attrs.ints("dilation"),  attrs.string("pad_mode"),
          attrs.ints("padding"), attrs.integer("groups"), attrs.string("layout") == "channel_last"};
}

Border border_of(const ConvSteps& s, int dim, int rank, int64_t in, int64_t kernel) {
  if (s.pad_mode == "same") {
    if (in == kUnknownDim || kernel == kUnknownDim) return {};
    int64_t out = (in + s.stride[dim] - 1) / s.stride[dim];
    int64_t total = (out - 1) * s.stride[dim] + s.dilation[dim] * (kernel - 1) + 1 - in;
    total = std::max<int64_t>(total, 0);
    return {total / 2, total - total / 2};
  }
  if (s.pad_mode == "valid") return {};
  size_t n = s.padding.size();
  if (n == 1) return {s.padding[0], s.padding[0]};
  if (static_cast<int>(n) == rank) return {s.padding[dim], s.padding[dim]};
  return {s.padding[2 * dim], s.padding[2 * dim + 1]};
}

int64_t conv_out(const ConvSteps& s, int dim, int rank, int64_t in, int64_t kernel) {
  if (in == kUnknownDim || (kernel == kUnknownDim && s.pad_mode != "same")) return kUnknownDim;
  if (s.pad_mode == "same") return (in + s.stride[dim] - 1) / s.stride[dim];
  Border b = border_of(s, dim, rank, in, kernel);
  int64_t room = in + b.before + b.after - s.dilation[dim] * (kernel - 1) - 1;
  return room < 0 ? 0 : room / s.stride[dim] + 1;
}

void check_steps(const ir::TypeRuleCtx& c, const ConvSteps& s, int rank) {
  auto at_least_one = [&](const char* name, const std::vector<int64_t>& v) {
    if (static_cast<int>(v.size()) != rank || *std::min_element(v.begin(), v.end()) < 1) {
      c.fail("'{}' must be {} numbers of at least 1, got {}", name, rank, c.attrs[name].str());
    }
    if (*std::max_element(v.begin(), v.end()) > kMaxStep)
      c.fail("'{}' must not be above {}, got {}", name, kMaxStep, c.attrs[name].str());
  };
  at_least_one("stride", s.stride);
  at_least_one("dilation", s.dilation);
  if (s.groups < 1 || s.groups > kMaxStep)
    c.fail("'groups' must be 1 to {}, got {}", kMaxStep, s.groups);
  int n = static_cast<int>(s.padding.size());
  bool zero = std::all_of(s.padding.begin(), s.padding.end(), [](int64_t p) { return p == 0; });
  if (n != 1 && n != rank && n != 2 * rank) {
    c.fail("'padding' must be 1, {} or {} numbers, got {}", rank, 2 * rank,
           c.attrs["padding"].str());
  }
  if (*std::min_element(s.padding.begin(), s.padding.end()) < 0)
    c.fail("'padding' must not be negative");
  if (*std::max_element(s.padding.begin(), s.padding.end()) > kMaxStep)
    c.fail("'padding' must not be above {}, got {}", kMaxStep, c.attrs["padding"].str());
  if (s.pad_mode != "pad" && !zero) {
    c.fail("'padding' must be 0 unless pad_mode is 'pad', got {} with pad_mode '{}'",
           c.attrs["padding"].str(), s.pad_mode);
  }
}

ConvGeometry geometry_of(const Shape& x, const Shape& w, const Shape& y,
                         const ir::AttrsView& attrs) {
  ConvSteps s = steps_of(attrs);
  int rank = x.rank() - 2;
  ConvGeometry g;
  g.batch = x[0];
  g.groups = s.groups;
  g.in_channels = x[channel_axis(rank, s.channel_last)];
  g.out_channels = w[0];
  g.stride = s.stride;
  g.dilation = s.dilation;
  g.channel_last = s.channel_last;
  for (int d = 0; d < rank; ++d) {
    g.in.push_back(x[spatial_axis(d, s.channel_last)]);
    g.kernel.push_back(w[d + 2]);
    g.out.push_back(y[spatial_axis(d, s.channel_last)]);
    Border b = border_of(s, d, rank, g.in[d], g.kernel[d]);
    g.pad_begin.push_back(b.before);
    g.pad_end.push_back(b.after);
  }
  return g;
}

}  // namespace mycel::ops
