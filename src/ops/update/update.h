// The update room: one step of an optimizer as a function of states, gradient and factors. Each
// formula gives the new states; published classes assign them to the Parameters that they were
// called with. The sparse forms do the same to the rows that indices name.
#pragma once

#include <string_view>
#include <vector>

#include "ir/expansion.h"

namespace mycel::ops {

// New states from the operands, in the order of the record's results.
using UpdateFormula = std::vector<ir::Value> (*)(const ir::Expansion& e,
                                                 const std::vector<ir::Value>& x);

// What a formula calls `name`: that operand, else that attribute, else nothing. Published classes
// take the same factor now as the one, now as the other.
ir::Value factor(const ir::Expansion& e, const std::vector<ir::Value>& x, std::string_view name);

// Formulas that both whole and sparse updates have.
std::vector<ir::Value> adagrad(const ir::Expansion& e, const std::vector<ir::Value>& x);
std::vector<ir::Value> ftrl(const ir::Expansion& e, const std::vector<ir::Value>& x);
std::vector<ir::Value> proximal_adagrad(const ir::Expansion& e, const std::vector<ir::Value>& x);
std::vector<ir::Value> rms_prop(const ir::Expansion& e, const std::vector<ir::Value>& x);
std::vector<ir::Value> adadelta(const ir::Expansion& e, const std::vector<ir::Value>& x);
std::vector<ir::Value> adam(const ir::Expansion& e, const std::vector<ir::Value>& x);

void expand_update(ir::Expansion& e, UpdateFormula formula);
void expand_sparse_update(ir::Expansion& e, UpdateFormula formula);
void expand_spread_update(ir::Expansion& e, UpdateFormula formula);

// The expansions of records. Operands have the shape of the first or are numbers.
template <UpdateFormula F>
constexpr ir::ExpandRule updates = [](ir::Expansion& e) { expand_update(e, F); };

// The rows `indices`, the last operand; the operand before it, the gradient, has a row for each.
// Rows named several times get the sum of their gradients.
template <UpdateFormula F>
constexpr ir::ExpandRule updates_rows = [](ir::Expansion& e) { expand_sparse_update(e, F); };

// All rows, with gradients of 0 where no index points.
template <UpdateFormula F>
constexpr ir::ExpandRule updates_spread = [](ir::Expansion& e) { expand_spread_update(e, F); };

void register_dense_updates();
void register_sparse_updates();
void register_scaled_updates();

}  // namespace mycel::ops
