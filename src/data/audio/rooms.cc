#include "data/audio/audio.h"

namespace mycel::data {

TransformDefs audio_transforms() {
  TransformDefs all;
  for (auto* room : {filter_transforms, level_transforms, modulation_transforms, mask_transforms,
                     feature_transforms, filterbank_transforms, spectrum_transforms,
                     stretch_transforms, detection_transforms}) {
    const TransformDefs some = room();
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

}  // namespace mycel::data
