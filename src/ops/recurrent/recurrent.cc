#include "ops/recurrent/recurrent.h"

#include "ir/op.h"
#include "ops/all_ops.h"

namespace mycel::ops {

void register_recurrent() {
  register_ctc();
  register_ctc_decode();
  register_rnnt();
  register_steps();
}

}  // namespace mycel::ops
