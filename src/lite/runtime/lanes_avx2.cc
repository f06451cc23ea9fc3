// Lanes of AVX2; compiled with its flags on x86, empty elsewhere.
#if defined(__AVX2__)
#define MYCEL_LANES_NAME kAvx2Lanes
#define MYCEL_LANES_TEXT "avx2"
#include "lite/runtime/lanes.inc"
#endif
