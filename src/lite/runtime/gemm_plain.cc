// 128-bit vectors: SSE2, NEON and what the compiler makes of them elsewhere.
#define MYCEL_GEMM_NAME kPlainGemm
#define MYCEL_GEMM_TEXT "plain"
#define MYCEL_GEMM_WIDTH 4
#if defined(__aarch64__)
#define MYCEL_GEMM_ROWS 6
#else
#define MYCEL_GEMM_ROWS 2
#endif
#define MYCEL_GEMM_PANELS 1
#include "lite/runtime/gemm.inc"
