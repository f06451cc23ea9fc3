#include "ops/image/image.h"

#include "ops/all_ops.h"
#include "ops/image/rooms.h"

namespace mycel::ops {

void register_image() {
  register_resample();
  register_resize();
  register_grids();
  register_crops();
  register_boxes();
  register_colors();
  register_image_patches();
  register_glimpses();
  register_deformable();
  register_suppression();
}

}  // namespace mycel::ops
