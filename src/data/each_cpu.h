// The attribute that has a function compiled for several generations of processors; the program
// chooses when it is loaded. Templates and lambdas cannot carry it.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define MYCEL_FOR_EACH_CPU \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define MYCEL_FOR_EACH_CPU
#endif
