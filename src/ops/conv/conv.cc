#include "ops/conv/conv.h"

#include "ops/all_ops.h"
#include "ops/conv/rooms.h"

namespace mycel::ops {

void register_conv() {
  register_convolutions();
  register_transposed_convolutions();
  register_conv_classes();
}

}  // namespace mycel::ops
