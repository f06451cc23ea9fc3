// The registration functions of the files of this room, called by register_fft.
#pragma once

namespace mycel::ops {

void register_dft();
void register_fft_forms();
void register_spectrogram();

}  // namespace mycel::ops
