// The registration functions of the files of this room, called by register_image.
#pragma once

namespace mycel::ops {

void register_resample();
void register_resize();
void register_grids();
void register_crops();
void register_boxes();
void register_colors();
void register_image_patches();
void register_glimpses();
void register_deformable();
void register_suppression();

}  // namespace mycel::ops
