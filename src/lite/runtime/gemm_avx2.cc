// 256-bit vectors with fused products: 16 registers.
#if defined(__AVX2__)
#define MYCEL_GEMM_NAME kAvx2Gemm
#define MYCEL_GEMM_TEXT "avx2"
#define MYCEL_GEMM_WIDTH 8
#define MYCEL_GEMM_ROWS 6
#define MYCEL_GEMM_PANELS 1
#include "lite/runtime/gemm.inc"
#endif
