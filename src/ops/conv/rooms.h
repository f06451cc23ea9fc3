// The registration functions of the files of this room, called by register_conv.
#pragma once

namespace mycel::ops {

void register_convolutions();
void register_transposed_convolutions();
void register_conv_classes();

}  // namespace mycel::ops
