// The gradient of a convolution's weights: a sum over all pixels of all images. oneDNN shares the
// images out between as many threads as there are, so that the order of its sums, and with it the
// last bits, would depend on their number. Here the problem is cut by its shape alone: into parts
// of the batch and slices of the output channels, each computed by one thread; parts are added in
// order.
#pragma once

#include "backend/cpu/onednn/convolution.h"
#include "backend/cpu/onednn/recipe.h"

namespace mycel::cpu::onednn {

Recipe weight_gradient(const Convolution& c);

}  // namespace mycel::cpu::onednn
