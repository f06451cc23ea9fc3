#include "backend/cpu/onednn/convolution.h"
#include "backend/cpu/onednn/unsuited.h"
#include "ops/all_kernels.cpu.h"
#include "ops/conv/convolution.cpu.h"
#include "ops/conv/geometry.h"

namespace mycel::ops {
namespace {

using cpu::onednn::Convolution;
using Pass = Convolution::Pass;

// The problem as oneDNN's description. `x`, `w` and `y`: positions among the buffers, results
// counted on after the operands.
Convolution describe(const cpu::Problem& p, Pass pass, int x, int w, int y) {
  auto shape = [&](int at) -> const Shape& {
    int operands = static_cast<int>(p.in.size());
    return at < operands ? p.in[at]->shape : p.out[at - operands].shape;
  };
  ConvGeometry g = geometry_of(shape(x), shape(w), shape(y), p.view());
  Convolution c;
  c.pass = pass;
  c.dtype = p.out[0].dtype;
  c.batch = g.batch;
  c.groups = g.groups;
  c.in_channels = g.in_channels;
  c.out_channels = g.out_channels;
  c.in = g.in;
  c.kernel = g.kernel;
  c.out = g.out;
  c.stride = g.stride;
  c.dilation = g.dilation;
  c.pad_begin = g.pad_begin;
  c.pad_end = g.pad_end;
  c.channel_last = g.channel_last;
  c.bias = pass == Pass::kForward && p.has(2);
  c.x_at = x, c.w_at = w, c.y_at = y;
  return c;
}

template <Pass pass>
Convolution describe(const cpu::Problem& p) {
  int result = static_cast<int>(p.in.size());
  if constexpr (pass == Pass::kForward) return describe(p, pass, 0, 1, result);
  if constexpr (pass == Pass::kBackwardData) return describe(p, pass, result, 1, 0);
  return describe(p, pass, 0, result, 1);
}

template <Pass pass>
std::string refuses(const cpu::Problem& p) {
  // The third operand of a gradient lends only its shape.
  std::string why = cpu::onednn::unsuited(p, pass == Pass::kForward ? 3 : 2);
  return why.empty() ? cpu::onednn::refuses(describe<pass>(p)) : why;
}

template <Pass pass>
std::unique_ptr<cpu::Prepared> prepare(const cpu::Problem& p) {
  return cpu::onednn::prepare(describe<pass>(p));
}

constexpr cpu::KernelDef kKernels[] = {
    {"conv1d", "onednn", refuses<Pass::kForward>, prepare<Pass::kForward>},
    {"conv2d", "onednn", refuses<Pass::kForward>, prepare<Pass::kForward>},
    {"conv3d", "onednn", refuses<Pass::kForward>, prepare<Pass::kForward>},
    {"conv_dx", "onednn", refuses<Pass::kBackwardData>, prepare<Pass::kBackwardData>},
    {"conv_dw", "onednn", refuses<Pass::kBackwardWeights>, prepare<Pass::kBackwardWeights>},
};

}  // namespace

Convolution describe_convolution(const cpu::Problem& p) { return describe<Pass::kForward>(p); }

void register_conv_kernels() {
  cpu::register_kernels(kKernels);
  register_joined_convolution_kernels();
}

}  // namespace mycel::ops
