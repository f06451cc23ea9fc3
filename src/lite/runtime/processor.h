// Which instruction sets of x86 the processor and the system have; the environment variable
// MYCEL_LITE_ISA (plain, avx2, avx512) names the widest to be used.
#pragma once

namespace mycel::lite {

enum class Isa { kPlain, kAvx2, kAvx512 };
Isa isa();

}  // namespace mycel::lite
