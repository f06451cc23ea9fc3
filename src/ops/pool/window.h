// Windows of a pooling: which input positions belong to which output position.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/op.h"
#include "ir/type_rule.h"
#include "ops/conv/geometry.h"

namespace mycel::ops {

// The attributes of a pooling record. An empty kernel means adaptive windows: output o of n over
// `in` positions covers [floor(o in / n), ceil((o + 1) in / n)).
struct PoolSteps {
  std::vector<int64_t> kernel;
  ConvSteps steps;  // stride, dilation, padding
  bool ceil_mode = false;
  bool adaptive() const { return kernel.empty(); }
};
// Of the records with a dilation (maxima), of those without (means), and of the adaptive ones.
PoolSteps max_steps_of(const ir::AttrsView& attrs);
PoolSteps avg_steps_of(const ir::AttrsView& attrs);
PoolSteps adaptive_steps_of(const ir::AttrsView& attrs);
void check_pool_steps(const ir::TypeRuleCtx& c, const PoolSteps& s, int rank);

// Output positions of one spatial dim. In ceil mode the last window may reach beyond the padded
// input but must start inside the input or the padding before it.
int64_t pool_out(const PoolSteps& s, int dim, int rank, int64_t in);

struct PoolGeometry {
  int64_t batch = 1, channels = 1;
  std::vector<int64_t> in, out;
  std::vector<int64_t> kernel, stride, dilation, pad_begin, pad_end;  // empty when adaptive
  bool channel_last = false;
  int rank() const { return static_cast<int>(in.size()); }
  bool adaptive() const { return kernel.empty(); }
};
PoolGeometry pool_geometry(const Shape& x, const Shape& y, const PoolSteps& s);

}  // namespace mycel::ops
