#include "data/vision/vision.h"

namespace mycel::data {

TransformDefs vision_transforms() {
  TransformDefs all;
  for (const auto& part :
       {vision::decode_transforms(), vision::size_transforms(), vision::crop_transforms(),
        vision::flip_transforms(), vision::number_transforms()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace mycel::data
