#include "ops/loss/loss.h"

#include "ops/all_ops.h"
#include "ops/elementwise/elementwise.h"
#include "ops/loss/rooms.h"
#include "ops/reduce/reduce.h"

namespace mycel::ops {

void register_loss() {
  register_class_losses();
  register_softmax_losses();
  register_element_losses();
  register_distance_losses();
  register_label_set_losses();
}

Value reduced(const ir::Expansion& e, Value v) {
  const std::string& how = e.attrs.string("reduction");
  if (how == "none") return v;
  if (how == "mean") return kReduceMean({v});
  Value sum = kReduceSum({v});
  if (how == "sum") return sum;
  int64_t batch = v.rank() > 0 ? v.shape()[0] : 1;
  if (batch == kUnknownDim)
    value_error("{}: the batch size must be known for reduction batchmean", e.op.name);
  return sum / static_cast<double>(batch);
}

}  // namespace mycel::ops
