# Turns src/ into object libraries (one a room, so that flags stay apart), libmycel.so, the
# generator, the generated headers, the mycel program, the suites and the Python package.
file(GLOB_RECURSE MYCEL_ALL_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.cc)
file(GLOB MYCEL_FOUND_ROOMS RELATIVE ${PROJECT_SOURCE_DIR}/src CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*)
foreach(room IN LISTS MYCEL_FOUND_ROOMS)
  if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/src/${room}
     AND NOT room IN_LIST MYCEL_DEFINITION_ROOMS AND NOT room IN_LIST MYCEL_ROOMS AND NOT room STREQUAL "cli")
    message(FATAL_ERROR "src/${room} is not a known room: name it in MYCEL_ROOMS in CMakeLists.txt "
                        "and in tools/check_layers.py.")
  endif()
endforeach()

# Sources under src/ whose path from there matches a regular expression; tests left out.
function(mycel_sources out match)
  set(sources ${MYCEL_ALL_SOURCES})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER sources INCLUDE REGEX "^${PROJECT_SOURCE_DIR}/src/${match}")
  set(${out} ${sources} PARENT_SCOPE)
endfunction()

# One object library; its objects join the list named by `into`. Nothing happens without sources.
function(mycel_object_library name into)
  cmake_parse_arguments(PARSE_ARGV 2 arg "GENERATED" "" "SOURCES;LINK")
  if(NOT arg_SOURCES)
    return()
  endif()
  add_library(${name} OBJECT ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE mycel_flags mycel_dependencies ${arg_LINK})
  if(TARGET mycel_flatbuffers)
    add_dependencies(${name} mycel_flatbuffers)
  endif()
  if(arg_GENERATED AND TARGET mycel_generated)
    add_dependencies(${name} mycel_generated)
  endif()
  set(${into} ${${into}} $<TARGET_OBJECTS:${name}> PARENT_SCOPE)
endfunction()

# --- Model file schemas: src/<room>/x.fbs -> generated/<room>/x_generated.h
file(GLOB_RECURSE schemas RELATIVE ${PROJECT_SOURCE_DIR}/src CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.fbs)
if(schemas)
  find_program(MYCEL_FLATC flatc REQUIRED)
  find_path(MYCEL_FLATBUFFERS_INCLUDE flatbuffers/flatbuffers.h REQUIRED)
  target_include_directories(mycel_dependencies SYSTEM INTERFACE ${MYCEL_FLATBUFFERS_INCLUDE})
  set(headers)
  foreach(schema IN LISTS schemas)
    cmake_path(GET schema PARENT_PATH folder)
    cmake_path(GET schema STEM stem)
    set(header ${MYCEL_GENERATED_DIR}/${folder}/${stem}_generated.h)
    add_custom_command(OUTPUT ${header} DEPENDS ${PROJECT_SOURCE_DIR}/src/${schema}
      COMMAND ${MYCEL_FLATC} --cpp --scoped-enums -o ${MYCEL_GENERATED_DIR}/${folder}
              ${PROJECT_SOURCE_DIR}/src/${schema}
      COMMENT "flatc ${schema}" VERBATIM)
    list(APPEND headers ${header})
  endforeach()
  add_custom_target(mycel_flatbuffers DEPENDS ${headers})
endif()

# --- Definitions: what mycel_gen, Lite and the planner can link without LLVM, oneDNN or a kernel.
set(definition_objects)
foreach(room IN ITEMS base tensor ir)
  mycel_sources(sources "${room}/")
  mycel_object_library(mycel_${room} definition_objects SOURCES ${sources})
endforeach()
mycel_sources(sources "loops/")
list(FILTER sources EXCLUDE REGEX "/src/loops/llvm/")
mycel_object_library(mycel_loops definition_objects SOURCES ${sources})
mycel_sources(sources "ops/")
list(FILTER sources EXCLUDE REGEX "\\.(cpu|cuda)\\.cc$")
mycel_object_library(mycel_ops definition_objects SOURCES ${sources})
# What compiled kernels in the disk cache depend on: the code that emits them.
mycel_sources(emitter "loops/(llvm/|formula|val|expr|nest|elementwise|reduce|complex)")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${emitter})
set(hashes)
foreach(source IN LISTS emitter)
  file(SHA256 ${source} hash)
  string(APPEND hashes ${hash})
endforeach()
string(SHA256 MYCEL_KERNEL_CODE "${hashes}")
file(CONFIGURE OUTPUT ${MYCEL_GENERATED_DIR}/kernel_code.h
     CONTENT "#pragma once\n\n#define MYCEL_KERNEL_CODE \"@MYCEL_KERNEL_CODE@\"\n" @ONLY)
configure_file(${PROJECT_SOURCE_DIR}/cmake/version.h.in ${MYCEL_GENERATED_DIR}/mycel/version.h @ONLY)
configure_file(${PROJECT_SOURCE_DIR}/cmake/version.cc.in ${MYCEL_GENERATED_DIR}/version.cc @ONLY)
mycel_object_library(mycel_version definition_objects SOURCES ${MYCEL_GENERATED_DIR}/version.cc)

# --- Generated API: mycel_gen <what> prints one file from the op records.
include(MycelGenerated)

# --- The rooms above, and the folders that alone see a foreign library's headers.
set(room_objects)
set(MYCEL_MEDIA_FOLDERS "media|general|vision|text|audio|files")  # of src/data: libmycel_media
mycel_sources(sources "ops/.*\\.cpu\\.cc$")
mycel_sources(eigen_sources "ops/linalg/(factors|reflectors|singular_values|eigenvalues|matrix_functions).*\\.cpu\\.cc$")
mycel_object_library(mycel_ops_cpu room_objects SOURCES ${sources} GENERATED LINK Eigen3::Eigen)
# Stacks of matrices are spread over our threads; a second way to split work inside Eigen only waits.
target_compile_definitions(mycel_ops_cpu PRIVATE EIGEN_DONT_PARALLELIZE)
# These files instantiate Eigen and nothing else; with sanitizers each would compile for minutes.
if(MYCEL_SANITIZE)
  set_source_files_properties(${eigen_sources} PROPERTIES COMPILE_OPTIONS -fno-sanitize=all)
endif()
include(MycelLiteFlags)
mycel_lite_flags(${PROJECT_SOURCE_DIR}/src/lite/runtime)
foreach(room IN LISTS MYCEL_ROOMS)
  mycel_sources(sources "${room}/")
  list(FILTER sources EXCLUDE REGEX "/src/backend/(cpu/onednn|cuda)/")
  if(MYCEL_ONEDNN)
    list(FILTER sources EXCLUDE REGEX "/without_onednn\\.cc$")
  endif()
  list(FILTER sources EXCLUDE REGEX "/src/data/(${MYCEL_MEDIA_FOLDERS})/")
  list(FILTER sources EXCLUDE REGEX "/src/lite/(serve/http|library)/")
  list(FILTER sources EXCLUDE REGEX "/src/insight/(store|server)/")
  list(FILTER sources EXCLUDE REGEX "/src/interop/(onnx|tensorflow)/")
  mycel_object_library(mycel_${room} room_objects SOURCES ${sources} GENERATED)
endforeach()
if(MYCEL_ONEDNN)
  mycel_sources(sources "backend/cpu/onednn/")
  mycel_object_library(mycel_onednn room_objects SOURCES ${sources} LINK DNNL::dnnl)
endif()
mycel_sources(sources "loops/llvm/")
if(sources)
  find_package(LLVM 19.1 CONFIG REQUIRED)
  # Native code only: the host's own code generator, the pass library and ORC.
  llvm_map_components_to_libnames(llvm_libraries orcjit passes native)
  if(CMAKE_SYSROOT)  # LLVM's package names shared libraries as they lie on the target
    get_target_property(libraries LLVMSupport INTERFACE_LINK_LIBRARIES)
    list(TRANSFORM libraries REPLACE "^/usr/" "${CMAKE_SYSROOT}/usr/")
    set_target_properties(LLVMSupport PROPERTIES INTERFACE_LINK_LIBRARIES "${libraries}")
  endif()
  mycel_object_library(mycel_llvm jit_objects SOURCES ${sources})
  target_include_directories(mycel_llvm SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
  target_compile_definitions(mycel_llvm PRIVATE ${LLVM_DEFINITIONS})
endif()

# --- libmycel.so
add_library(mycel SHARED ${definition_objects} ${room_objects})
add_library(Mycel::mycel ALIAS mycel)
target_link_libraries(mycel PUBLIC $<INSTALL_INTERFACE:fmt::fmt-header-only> $<BUILD_INTERFACE:mycel_fmt> PRIVATE mycel_dependencies ${MYCEL_DNNL} ${CMAKE_DL_LIBS})
target_link_options(mycel PRIVATE -Wl,--exclude-libs,ALL -Wl,-Bsymbolic-functions -Wl,--no-undefined)
target_compile_features(mycel INTERFACE cxx_std_20)
target_include_directories(mycel INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
  $<BUILD_INTERFACE:${MYCEL_GENERATED_DIR}>
  # From outside, "tensor/shape.h" and <mycel/tensor/shape.h> are the same file.
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/mycel>)
if(TARGET mycel_generated)
  add_dependencies(mycel mycel_generated)
endif()

# --- libmycel_jit.so: LLVM, loaded by libmycel with the first kernel (src/loops/codegen.h).
if(TARGET mycel_llvm)
  add_library(mycel_jit MODULE ${jit_objects})
  target_link_libraries(mycel_jit PRIVATE mycel mycel_dependencies ${llvm_libraries})
  target_link_options(mycel_jit PRIVATE -Wl,--exclude-libs,ALL -Wl,-Bsymbolic
    -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/libmycel_jit.map)
  set_target_properties(mycel_jit PROPERTIES LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/libmycel_jit.map
    LIBRARY_OUTPUT_DIRECTORY $<TARGET_FILE_DIR:mycel>)
  if(NOT CMAKE_BUILD_TYPE MATCHES "Deb" AND NOT MYCEL_SANITIZE)  # most of its size
    target_link_options(mycel_jit PRIVATE -Wl,--strip-debug)
  endif()
endif()

# Libraries that libmycel loads with the first call that needs them, so that programs pay for no
# foreign library they do not use. Each shows one symbol, its name, to which a linker script keeps it.
set(MYCEL_LOADED)
function(mycel_loaded_library name target objects)
  cmake_parse_arguments(PARSE_ARGV 3 arg "" "" "LINK")
  set(script ${PROJECT_SOURCE_DIR}/cmake/lib${name}.map)
  add_library(${target} MODULE ${${objects}})
  target_link_libraries(${target} PRIVATE mycel mycel_dependencies ${arg_LINK})
  target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL -Wl,-Bsymbolic -Wl,--no-undefined
    -Wl,--version-script=${script})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} LINK_DEPENDS ${script}
    LIBRARY_OUTPUT_DIRECTORY $<TARGET_FILE_DIR:mycel> INSTALL_RPATH "$ORIGIN")
  list(APPEND MYCEL_LOADED ${target})
  set(MYCEL_LOADED ${MYCEL_LOADED} PARENT_SCOPE)
endfunction()

# --- libmycel_media.so: files and transforms of data, with the foreign libraries that read formats
# (src/data/media.h).
mycel_sources(sources "data/(${MYCEL_MEDIA_FOLDERS})/")
# Loops over pixels and samples are worth vector code of any length; without fused products their
# results are the same on every processor.
if(NOT MYCEL_SANITIZE AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS "-O3;-ffp-contract=off")
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/data/permuted_run.cc
    PROPERTIES COMPILE_OPTIONS "-O3")
endif()
mycel_object_library(mycel_media_objects media_objects SOURCES ${sources} LINK ${MYCEL_MEDIA_LIBRARIES})
mycel_loaded_library(mycel_media mycel_media media_objects LINK ${MYCEL_MEDIA_LIBRARIES})

# --- libmycel_serve.so: the HTTP side of `mycel serve` (src/lite/serve/library.h).
mycel_sources(sources "lite/serve/http/")
mycel_object_library(mycel_serve_objects serve_objects SOURCES ${sources} LINK PkgConfig::MYCEL_httplib)
mycel_loaded_library(mycel_serve mycel_serve serve_objects LINK PkgConfig::MYCEL_httplib)

# --- libmycel_insight.so: the index of recorded runs and the server of their pages
# (src/insight/library.h). The pages themselves (web/dist, made by ./dev web) lie inside.
mycel_sources(sources "insight/(store|server)/")
file(GLOB_RECURSE page_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/dist/*)
set(pages ${MYCEL_GENERATED_DIR}/insight_pages.cc)
add_custom_command(OUTPUT ${pages}
  DEPENDS ${page_files} ${PROJECT_SOURCE_DIR}/cmake/MycelPages.cmake
  COMMAND ${CMAKE_COMMAND} -DFOLDER=${PROJECT_SOURCE_DIR}/web/dist -DOUT=${pages}
          -P ${PROJECT_SOURCE_DIR}/cmake/MycelPages.cmake
  COMMENT "pages of insight" VERBATIM)
set(insight_libraries SQLite::SQLite3 PkgConfig::MYCEL_httplib)
mycel_object_library(mycel_insight_objects insight_objects SOURCES ${sources} ${pages}
  LINK ${insight_libraries})
mycel_loaded_library(mycel_insight mycel_insight_library insight_objects LINK ${insight_libraries})

# --- libmycel_onnx.so: the ONNX format through protobuf (src/interop/onnx.h).
function(mycel_protobuf target proto)  # src/PROTO.proto -> generated/PROTO.pb.h and an object library
  set(pb ${MYCEL_GENERATED_DIR}/${proto}.pb)
  cmake_path(GET pb PARENT_PATH folder)
  add_custom_command(OUTPUT ${pb}.h ${pb}.cc DEPENDS ${PROJECT_SOURCE_DIR}/src/${proto}.proto
    COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
    COMMAND protobuf::protoc --proto_path=${PROJECT_SOURCE_DIR}/src --cpp_out=${MYCEL_GENERATED_DIR}
            ${PROJECT_SOURCE_DIR}/src/${proto}.proto
    COMMENT "protoc src/${proto}.proto" VERBATIM)
  add_library(${target} OBJECT ${pb}.cc)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${target} PUBLIC protobuf::libprotobuf-lite)
  target_include_directories(${target} SYSTEM PUBLIC ${MYCEL_GENERATED_DIR})
endfunction()
mycel_protobuf(mycel_onnx_pb interop/onnx/onnx)
mycel_sources(sources "interop/onnx/")
mycel_object_library(mycel_onnx_objects onnx_objects SOURCES ${sources} GENERATED LINK protobuf::libprotobuf-lite)
add_dependencies(mycel_onnx_objects mycel_onnx_pb)
list(APPEND onnx_objects $<TARGET_OBJECTS:mycel_onnx_pb>)
mycel_loaded_library(mycel_onnx mycel_onnx onnx_objects LINK protobuf::libprotobuf-lite)

# --- libmycel_tensorflow.so: TFLite files and TensorFlow graphs (src/interop/tensorflow.h).
mycel_protobuf(mycel_tensorflow_pb interop/tensorflow/graph_def)
mycel_sources(sources "interop/tensorflow/")
mycel_object_library(mycel_tensorflow_objects tensorflow_objects SOURCES ${sources} GENERATED LINK protobuf::libprotobuf-lite)
add_dependencies(mycel_tensorflow_objects mycel_tensorflow_pb)
list(APPEND tensorflow_objects $<TARGET_OBJECTS:mycel_tensorflow_pb>)
mycel_loaded_library(mycel_tensorflow mycel_tensorflow tensorflow_objects LINK protobuf::libprotobuf-lite)

# A program or module that runs kernels or reads data: linked with libmycel, built after what
# libmycel loads.
function(mycel_runs_kernels target)
  add_dependencies(${target} ${MYCEL_LOADED})
  if(TARGET mycel_jit)
    add_dependencies(${target} mycel_jit)
  endif()
endfunction()

# --- mycel/nn.h: typed functions from the records of layers and optimizers, which live in libmycel. For
# programs, suites, examples and tests; libmycel itself does without.
file(GLOB gen_nn_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/gen_nn/*.cc)
if(gen_nn_sources)
  add_executable(mycel_gen_nn ${gen_nn_sources})
  target_link_libraries(mycel_gen_nn PRIVATE mycel_flags mycel_dependencies mycel)
  set(nn_header ${MYCEL_GENERATED_DIR}/mycel/nn.h)
  add_custom_command(OUTPUT ${nn_header} DEPENDS mycel_gen_nn mycel
    COMMAND mycel_gen_nn > ${nn_header}.new
    COMMAND ${CMAKE_COMMAND} -E copy_if_different ${nn_header}.new ${nn_header}
    COMMAND ${CMAKE_COMMAND} -E rm ${nn_header}.new
    COMMENT "mycel_gen_nn" VERBATIM)
  add_custom_target(mycel_generated_nn DEPENDS ${nn_header})
endif()

# What a program of ours outside libmycel links: the library, the flags and the generated headers.
function(mycel_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE mycel_flags mycel_dependencies mycel ${arg_LINK})
  mycel_runs_kernels(${name})
  if(TARGET mycel_generated_nn)
    add_dependencies(${name} mycel_generated_nn)
  endif()
endfunction()

# --- Suites: C++ on the public API, in a library of their own.
file(GLOB_RECURSE suite_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/suites/*.cc)
list(FILTER suite_sources EXCLUDE REGEX "(_test\\.cc$|/examples/)")
if(suite_sources)
  add_library(mycel_suites SHARED ${suite_sources})
  target_link_libraries(mycel_suites PRIVATE mycel_flags mycel_dependencies PUBLIC mycel)
  if(TARGET mycel_generated_nn)
    add_dependencies(mycel_suites mycel_generated_nn)
  endif()
  target_include_directories(mycel_suites PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  set(MYCEL_SUITES mycel_suites)
endif()

# --- The mycel program
mycel_sources(sources "cli/")
if(sources)
  find_package(CLI11 REQUIRED)
  mycel_program(mycel_cli SOURCES ${sources} LINK CLI11::CLI11 ${MYCEL_SUITES})
  set_target_properties(mycel_cli PROPERTIES OUTPUT_NAME mycel)
endif()

if(MYCEL_PYTHON)
  include(MycelPython)
endif()
