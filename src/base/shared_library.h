// Parts of Mycel in libraries of their own, loaded when they are first needed.
#pragma once

namespace mycel {

// The address of `symbol` in `library` ("libmycel_jit.so"), which stands beside this one or where
// the system looks. It stays loaded: its code may run while the process exits. RuntimeError saying
// what the library is for ("compiles kernels") when it cannot be loaded.
void* symbol_of_library(const char* library, const char* symbol, const char* purpose);

}  // namespace mycel
