# Where things are built: programs in bin/, libraries in lib/, generated headers in generated/,
# an importable Python package in python/mycel.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release (-O2), Debug or RelWithDebInfo" FORCE)
endif()
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(MYCEL_GENERATED_DIR ${PROJECT_BINARY_DIR}/generated)
set(MYCEL_PYTHON_DIR ${PROJECT_BINARY_DIR}/python/mycel)

if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(MYCEL_CCACHE ccache)
  if(MYCEL_CCACHE)
    # base_dir and no hash_dir: two checkouts of the same sources share their objects.
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
        CCACHE_NOHASHDIR=1 ${MYCEL_CCACHE})
    set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
  endif()
endif()
