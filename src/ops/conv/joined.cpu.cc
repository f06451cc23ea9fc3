// Convolutions with elementwise ops after them as one kernel: biases, scales, additions, ReLU and
// clipping are done by oneDNN on each element before it is stored; what is no such chain runs over
// the stored result in place.
#include <fmt/format.h>

#include "backend/cpu/epilogue.h"
#include "backend/cpu/onednn/convolution.h"
#include "ops/all_kernels.cpu.h"
#include "ops/conv/convolution.cpu.h"
#include "ops/conv/post_ops.cpu.h"

namespace mycel::ops {
namespace {

using cpu::EpilogueStep;
using cpu::Joined;
using cpu::Problem;
using cpu::onednn::Convolution;
using cpu::onednn::PostOp;
using Kind = EpilogueStep::Kind;

bool is_convolution(const ir::Op& op) {
  return op.name == "conv1d" || op.name == "conv2d" || op.name == "conv3d";
}

std::string refuses(const Problem& p) {
  const ir::Graph& body = *p.attrs[0].graph();
  const ir::Node* op = nullptr;
  for (const ir::Node& n : body.nodes()) {
    if (!op && !n.is_param()) op = &n;
  }
  if (!is_convolution(*op->op)) return fmt::format("{} is no convolution", op->op->name);
  if (p.out[0].dtype != DType::kFloat32) return "the result is not float32";
  for (const ir::Type* t : p.in) {
    if (t->dtype != DType::kFloat32) return "an operand is not float32";
  }
  return p.out[0].shape.size() == 0 ? "a dimension is 0" : "";
}

// The steps as oneDNN's, a bias apart. False when it has no such.
bool describe_steps(const Problem& p, std::vector<EpilogueStep> steps, Convolution& c) {
  const Shape& y = p.out[0].shape;
  auto bias = [&](const EpilogueStep& s) {
    if (s.kind != Kind::kAdd || s.operand < 0) return false;
    const Shape& b = p.in[static_cast<size_t>(s.operand)]->shape;
    return b.rank() > 0 && b.size() == c.out_channels && b[b.rank() - 1] == c.out_channels;
  };
  if (!c.bias && !steps.empty() && bias(steps[0])) {
    c.bias = true;
    c.bias_at = steps[0].operand;
    steps.erase(steps.begin());
  }
  for (const EpilogueStep& s : steps) {
    bool positive = !c.post.empty() && c.post.back().kind == PostOp::Kind::kRelu;
    std::optional<PostOp> op;
    if (s.kind == Kind::kRound) return false;
    if (s.kind != Kind::kMax && s.kind != Kind::kMin) {
      op = s.operand < 0 ? number_step(s)
                         : operand_step(s, *p.in[static_cast<size_t>(s.operand)], y.rank());
      if (!op) return false;
    } else if (s.operand < 0 && s.kind == Kind::kMax && s.number == 0) {
      op.emplace().kind = PostOp::Kind::kRelu;
    } else if (s.operand < 0 && s.kind == Kind::kMin && positive && s.number >= 0) {
      c.post.back().kind = PostOp::Kind::kClip;
      c.post.back().a = s.number;
      continue;
    } else {
      return false;
    }
    c.post.push_back(std::move(*op));
  }
  return true;
}

std::unique_ptr<cpu::Prepared> prepare(const Problem& p) {
  Joined joined(*p.attrs[0].graph());
  auto own = p.in.first(static_cast<size_t>(joined.operands()));
  Problem alone{*joined.op->op, own, joined.op->types, joined.op->attrs};
  Convolution c = describe_convolution(alone);
  c.y_at = static_cast<int>(p.in.size());
  auto steps = c.channel_last ? cpu::steps_of(joined) : std::nullopt;
  if (steps && describe_steps(p, *steps, c) && cpu::onednn::refuses(c).empty()) {
    return cpu::onednn::prepare(c);
  }
  return cpu::then_rest(cpu::choose(alone).prepared, joined, p);
}

constexpr cpu::KernelDef kKernels[] = {{"joined", "convolution", refuses, prepare}};

}  // namespace

void register_joined_convolution_kernels() { cpu::register_kernels(kKernels); }

}  // namespace mycel::ops
