// The update room: one step of an optimizer as a function of states, gradient and factors. Each
// formula gives the new states; published classes assign them to the Parameters that they were
// called with. The sparse forms do the same to the rows that indices name.
#pragma once

#include <vector>

#include "ir/expansion.h"

namespace mycel::ops {

// New states from the operands, in the order of the record's results.
using UpdateFormula = std::vector<ir::Value> (*)(const ir::Expansion& e,
                                                 const std::vector<ir::Value>& x);

// Operands from `states` on are the other operands; those of no dims meet all elements.
void expand_update(ir::Expansion& e, UpdateFormula formula);
// The same for the rows `indices`, the last operand; the operand before it (or `grad`) has a row
// for each. Rows named several times get the sum of their gradients.
void expand_sparse_update(ir::Expansion& e, UpdateFormula formula, int grad);

// The same for all rows, with gradients of 0 where no index points.
void expand_spread_update(ir::Expansion& e, UpdateFormula formula, int grad);

std::vector<ir::Value> adagrad(const ir::Expansion& e, ir::Value var, ir::Value accum, ir::Value lr,
                               ir::Value grad, double epsilon);
std::vector<ir::Value> ftrl(ir::Value var, ir::Value accum, ir::Value linear, ir::Value grad,
                            ir::Value lr, ir::Value l1, ir::Value l2, ir::Value lr_power,
                            ir::Value shrinkage = {});
std::vector<ir::Value> proximal_adagrad(ir::Value var, ir::Value accum, ir::Value lr, ir::Value l1,
                                        ir::Value l2, ir::Value grad);
// x: var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad.
std::vector<ir::Value> adam(const ir::Expansion& e, const std::vector<ir::Value>& x);

void register_dense_updates();
void register_sparse_updates();

}  // namespace mycel::ops
