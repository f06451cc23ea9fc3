// The registration functions of the files of this room, called by register_image.
#pragma once

namespace mycel::ops {

void register_resample();
void register_resize();
void register_grids();
void register_crops();
void register_boxes();

}  // namespace mycel::ops
