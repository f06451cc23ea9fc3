# Builds for 64-bit ARM Linux on another machine and runs what it built with QEMU:
#
#   ./dev setup aarch64
#   cmake -S . -B build-aarch64 -G Ninja --toolchain cmake/toolchains/aarch64.cmake
#
# MYCEL_SYSROOT: a root file system of the target (./dev setup aarch64 makes build-aarch64/sysroot).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(MYCEL_SYSROOT "${CMAKE_CURRENT_LIST_DIR}/../../build-aarch64/sysroot" CACHE PATH "Root file system of the target")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES MYCEL_SYSROOT)
cmake_path(ABSOLUTE_PATH MYCEL_SYSROOT NORMALIZE OUTPUT_VARIABLE CMAKE_SYSROOT)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L ${CMAKE_SYSROOT})
# Programs come from this machine, everything else from the target.
set(CMAKE_FIND_ROOT_PATH ${CMAKE_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${CMAKE_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig)
# oneDNN's packages hold no ARM build, Python's headers and modules are this machine's.
set(MYCEL_ONEDNN OFF CACHE BOOL "")
set(MYCEL_PYTHON OFF CACHE BOOL "")
# FindHDF5 asks the compiler wrapper of this machine, which names the folder of this machine.
set(HDF5_C_LIBRARY_hdf5 ${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu/hdf5/serial/libhdf5.so CACHE FILEPATH "")
