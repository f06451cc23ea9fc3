// The records of each file of this folder; media/rooms.h lists them all as audio_transforms().
#pragma once

#include "data/media/rooms.h"

namespace mycel::data {

TransformDefs filter_transforms();      // recursive filters
TransformDefs level_transforms();       // loudness, distortion, quantization
TransformDefs modulation_transforms();  // flanger, phaser
TransformDefs mask_transforms();        // of spectrograms
TransformDefs feature_transforms();     // decibels, deltas, means, parts of complex numbers
TransformDefs filterbank_transforms();  // matrices of filters, mel scales
TransformDefs spectrum_transforms();    // spectrograms and what is made of them
TransformDefs stretch_transforms();     // time, pitch, rate
TransformDefs detection_transforms();   // pitch, voice

}  // namespace mycel::data
