#include "data/vision/step.h"
#include "data/vision/vision.h"

namespace mycel::data {

TransformDefs vision_transforms() {
  TransformDefs all;
  for (const auto& part :
       {vision::decode_transforms(), vision::size_transforms(), vision::crop_transforms(),
        vision::flip_transforms(), vision::number_transforms(), vision::colour_transforms(),
        vision::random_colour_transforms(), vision::histogram_transforms(),
        vision::hsv_transforms(), vision::warp_transforms(), vision::blur_transforms(),
        vision::erase_transforms(), vision::mix_transforms(), vision::box_transforms(),
        vision::augment_transforms(), vision::file_transforms()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

std::vector<TransformPtr> vision_fused(std::vector<TransformPtr> transforms) {
  return vision::fused_images(std::move(transforms));
}

}  // namespace mycel::data
