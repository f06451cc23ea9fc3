// A nest as C99 source that needs nothing but <stdint.h> and <math.h>: for microcontrollers, and as
// a third opinion in tests. One function per stage and a driver:
//   void NAME_stage0(void* const* buffers, const int64_t* numbers, int64_t begin, int64_t end);
//   void NAME(void* const* buffers);   // all stages, with the run-time numbers and extents of this
//   nest
// `buffers` holds inputs, outputs, then scratch (NAME_scratch_bytes[] says how much; the caller
// provides it). Shared helpers are guarded, so that several such texts may be put in one file.
//
// Compile with -ffp-contract=off for results equal to the JIT's; multiply-adds of math formulas use
// fma where the compiler says that it is fast (FP_FAST_FMA), as the JIT does.
#pragma once

#include <string>

#include "loops/nest.h"

namespace mycel::loops {

// `name` must be a C identifier.
std::string emit_c(const Nest& nest, const std::string& name);

// The same for a program of many kernels that knows all sizes, of a microcontroller say: one static
// function `NAME(void* const* buffers)` with the run-time numbers and extents written into it.
// `narrow`: indices have 32 bits (fits_32_bits must hold).
struct CFunction {
  std::string helpers;  // guarded; stand before the function
  std::string text;
};
CFunction emit_c_function(const Nest& nest, const std::string& name, bool narrow);
// Whether the indices of a nest are small: no operand holds 64-bit values, and no literal, integer
// number or extent that an index depends on needs more than 31 bits. Values between (products of
// fixed-point numbers) keep their 64 bits.
bool fits_32_bits(const Nest& nest);

}  // namespace mycel::loops
