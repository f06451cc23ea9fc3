// Sound files through libsndfile: WAV, FLAC, NIST Sphere and what else it reads.
#pragma once

#include "data/files/folder.h"

namespace mycel::data {

struct Sound {
  Tensor waveform;  // float32 [channels, frames]; 16-bit integers over 32767, others in [-1, 1)
  int64_t rate = 0;
};

// OsError naming the file when it cannot be read. Frames from `begin`, `count` of them (-1: to the
// end), which must be there.
Sound read_sound(const Bytes& file, int64_t begin = 0, int64_t count = -1);

}  // namespace mycel::data
