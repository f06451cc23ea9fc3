// Steps that other transforms share.
#pragma once

#include "data/audio/signal.h"

namespace mycel::data {

// factor log10(max(x, least) / max(reference, least)), raised to what lies `range` below the
// maximum of each spectrogram with its channels.
void to_decibels(Signal* s, double factor, double reference, double least, double range);

}  // namespace mycel::data
