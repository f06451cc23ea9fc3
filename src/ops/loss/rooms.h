// The registration functions of the files of this room, called by register_loss, and what they
// share.
#pragma once

#include "ir/expansion.h"

namespace mycel::ops {

void register_class_losses();
void register_softmax_losses();
void register_element_losses();
void register_distance_losses();
void register_label_set_losses();

// The attribute `reduction` applied to a loss per element: none, mean, sum, batchmean (sum over dim
// 0's size).
ir::Value reduced(const ir::Expansion& e, ir::Value v);

}  // namespace mycel::ops
