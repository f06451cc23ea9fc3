// What measurements say of a node besides its time: a name that tells what a fused op is made of,
// types, work, memory traffic.
#pragma once

#include <cstdint>
#include <string>

#include "base/timeline.h"
#include "ir/graph.h"

namespace mycel::runtime {

std::string name_of(const ir::Node& n);   // "fused(mul, add)"
std::string types_of(const ir::Node& n);  // "float32[8, 4], float32[4] -> float32[8, 4]"
int64_t flops_of(const ir::Node& n);      // -1: the record does not tell
int64_t bytes_of(const ir::Node& n);      // operands and results once
timeline::What describe(const ir::Node& n, const char* implementation);
// The same of an op on operands of these types.
timeline::What describe(const ir::Op& op, std::span<const ir::Type* const> in,
                        std::span<const ir::Type> out, const ir::Attrs& attrs,
                        const char* implementation);

}  // namespace mycel::runtime
