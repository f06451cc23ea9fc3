// What float and quantized pools share.
#pragma once

#include "interop/tensorflow/ops/build.h"

namespace mycel::interop::tensorflow {

struct Pool {
  Ints in, kernel, stride, pads;  // spatial
  int64_t channels = 0;
  bool channels_last = true;
  const char* layout() const { return channels_last ? "channel_last" : "channel_first"; }
};

Pool pool_of(Call& c, const Tensor& x);
Tensor pooled_max(const Pool& p, const Tensor& x);

}  // namespace mycel::interop::tensorflow
