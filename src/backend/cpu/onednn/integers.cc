#include "backend/cpu/onednn/integers.h"

#include <bit>

namespace mycel::cpu::onednn {

using dnnl::memory;

void add_quantization(Program& program, const Integers& q, int64_t channels,
                      std::vector<std::pair<int, int>>& args) {
  auto list = [](int64_t n, memory::data_type type) {
    return memory::desc({n}, type, memory::format_tag::a);
  };
  if (q.scale_at >= 0) {
    auto md = list(q.scale_by_channel ? channels : 1, memory::data_type::f32);
    args.emplace_back(DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS, program.operand(md, q.scale_at));
  }
  if (q.x_zero_at >= 0) {
    auto md = list(1, memory::data_type::s32);
    args.emplace_back(DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC, program.operand(md, q.x_zero_at));
  }
  if (q.y_zero != 0) {
    args.emplace_back(DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_DST, program.constant(q.y_zero));
  }
}

void add_to_key(Key& key, const Integers& q) {
  for (DType t : {q.x, q.w, q.y}) key.add(static_cast<int64_t>(t));
  key.add(q.x_zero_at).add(q.scale_at).add(q.scale_by_channel).add(q.y_zero);
}

void add_to_key(Key& key, const PostOp& p) {
  key.add(static_cast<int64_t>(p.kind)).add(p.at).add(p.dims).add(static_cast<int64_t>(p.dtype));
  key.add(std::bit_cast<int64_t>(p.a)).add(std::bit_cast<int64_t>(p.b));
}

}  // namespace mycel::cpu::onednn
