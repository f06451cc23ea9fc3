#include "ops/fft/fft.h"

#include "ops/all_ops.h"
#include "ops/fft/rooms.h"

namespace mycel::ops {

void register_fft() {
  register_dft();
  register_fft_forms();
  register_spectrogram();
}

}  // namespace mycel::ops
