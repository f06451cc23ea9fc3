// 512-bit vectors: 32 registers.
#if defined(__AVX512F__)
#define MYCEL_GEMM_NAME kAvx512Gemm
#define MYCEL_GEMM_TEXT "avx512"
#define MYCEL_GEMM_WIDTH 16
#define MYCEL_GEMM_ROWS 12
#define MYCEL_GEMM_PANELS 2
#include "lite/runtime/gemm.inc"
#endif
