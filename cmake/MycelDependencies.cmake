# Finds what the build needs. System packages: tools/packages-apt.txt; the rest: tools/requirements-*.txt.
find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(nlohmann_json 3.10 REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_path(MYCEL_XXHASH_INCLUDE xxhash.h REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)

# fmt compiled once, spdlog and xxhash header-only: a wheel must not need the builder's shared copies.
add_library(mycel_fmt STATIC ${PROJECT_SOURCE_DIR}/cmake/fmt.cc)
target_compile_features(mycel_fmt PUBLIC cxx_std_20)
set_target_properties(mycel_fmt PROPERTIES POSITION_INDEPENDENT_CODE ON)
add_library(mycel_dependencies INTERFACE)
target_link_libraries(mycel_dependencies INTERFACE
  Threads::Threads OpenMP::OpenMP_CXX mycel_fmt nlohmann_json::nlohmann_json ${CMAKE_DL_LIBS})
# Its headers alone: spdlog's targets would bring libfmt.so.
get_target_property(spdlog_include spdlog::spdlog_header_only INTERFACE_INCLUDE_DIRECTORIES)
target_include_directories(mycel_dependencies SYSTEM INTERFACE ${MYCEL_XXHASH_INCLUDE} ${spdlog_include})
target_compile_definitions(mycel_dependencies INTERFACE XXH_INLINE_ALL SPDLOG_FMT_EXTERNAL)

find_package(Python 3.10 COMPONENTS Interpreter Development.Module)
if(MYCEL_PYTHON AND NOT Python_Development.Module_FOUND)
  message(FATAL_ERROR "No Python 3.10 or newer with headers was found (apt: python3-dev). "
                      "Give -DPython_EXECUTABLE=..., or -DMYCEL_PYTHON=OFF for C++ only.")
endif()
if(Python_Interpreter_FOUND)
  # oneDNN's PyPI packages unpack into the environment's root, which CMake does not search by itself.
  execute_process(COMMAND ${Python_EXECUTABLE} -c "import sys; print(sys.prefix)"
                  OUTPUT_VARIABLE prefix OUTPUT_STRIP_TRAILING_WHITESPACE)
  list(APPEND CMAKE_PREFIX_PATH ${prefix})
  execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
                  OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(nanobind_ROOT)
    # <prefix>/lib/pythonX.Y/site-packages/nanobind/cmake: also right inside pip's build environment.
    cmake_path(SET prefix NORMALIZE ${nanobind_ROOT}/../../../../..)
    list(APPEND CMAKE_PREFIX_PATH ${prefix})
  endif()
endif()
list(REMOVE_DUPLICATES CMAKE_PREFIX_PATH)
if(MYCEL_PYTHON)
  if(NOT nanobind_ROOT)
    message(FATAL_ERROR "${Python_EXECUTABLE} has no nanobind: pip install -r tools/requirements-build.txt")
  endif()
  find_package(nanobind CONFIG REQUIRED)
endif()
if(MYCEL_ONEDNN)
  find_package(dnnl 3.2 CONFIG)
  if(NOT dnnl_FOUND)
    message(FATAL_ERROR "oneDNN 3.2 or newer was not found. "
                        "pip install -r tools/requirements-build.txt, or -Ddnnl_DIR=<prefix>/lib/cmake/dnnl, "
                        "or -DMYCEL_ONEDNN=OFF (slower products and convolutions)")
  endif()
  set(MYCEL_DNNL DNNL::dnnl)
endif()

# ONNX files, for libmycel_onnx alone.
find_package(Protobuf 3.21 REQUIRED)

# Formats of data files, for libmycel_media alone.
find_package(JPEG REQUIRED)
find_package(TIFF REQUIRED)
find_package(ZLIB REQUIRED)
find_package(BZip2 REQUIRED)
find_package(LibLZMA REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(HDF5 REQUIRED COMPONENTS C)
find_package(ICU 67 REQUIRED COMPONENTS uc i18n)
find_package(PkgConfig REQUIRED)
foreach(library libzip libzstd lmdb sndfile tinyxml2)
  pkg_check_modules(MYCEL_${library} REQUIRED IMPORTED_TARGET ${library})
endforeach()
foreach(library spng webp sentencepiece sentencepiece_train)
  find_library(MYCEL_${library} ${library} REQUIRED)
endforeach()
set(MYCEL_MEDIA_LIBRARIES JPEG::JPEG TIFF::TIFF ZLIB::ZLIB BZip2::BZip2 LibLZMA::LibLZMA
  SQLite::SQLite3 hdf5::hdf5 ICU::uc ICU::i18n
  Eigen3::Eigen
  PkgConfig::MYCEL_libzip PkgConfig::MYCEL_libzstd PkgConfig::MYCEL_lmdb PkgConfig::MYCEL_sndfile PkgConfig::MYCEL_tinyxml2 ${MYCEL_spng} ${MYCEL_webp}
  ${MYCEL_sentencepiece} ${MYCEL_sentencepiece_train})

# Records of runs: their wire format, and the servers of pages and of networks.
find_path(MYCEL_PROTOZERO_INCLUDE protozero/pbf_reader.hpp REQUIRED)
target_include_directories(mycel_dependencies SYSTEM INTERFACE ${MYCEL_PROTOZERO_INCLUDE})
pkg_check_modules(MYCEL_httplib REQUIRED IMPORTED_TARGET cpp-httplib)
