# One GoogleTest program for all C++ tests. A tier is told by the start of the suite's name:
# Slow... is tier all, Ci... is tier ci, everything else smoke.
find_package(GTest REQUIRED)
enable_testing()
file(GLOB_RECURSE test_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*_test.cc
     ${PROJECT_SOURCE_DIR}/tests/cpp/*.cc ${PROJECT_SOURCE_DIR}/suites/*_test.cc)
if(NOT MYCEL_SANITIZE)  # a program without the sanitizer's run-time cannot load the library
  add_test(NAME install COMMAND ${PROJECT_SOURCE_DIR}/tests/install/run build ${PROJECT_BINARY_DIR})
  set_tests_properties(install PROPERTIES LABELS ci)
endif()
if(NOT test_sources)
  return()
endif()
mycel_program(mycel_tests SOURCES ${test_sources} LINK GTest::gtest GTest::gtest_main ${MYCEL_SUITES})
# Test data is found from the source tree, wherever the program is started. A header and no -D, so
# that checkouts in different places share the compiler cache.
file(CONFIGURE OUTPUT ${MYCEL_GENERATED_DIR}/test_paths.h
     CONTENT "#pragma once\n\n#define MYCEL_SOURCE_DIR \"@PROJECT_SOURCE_DIR@\"\n" @ONLY)

# Damaged model files in any number: the readers and the type rules, without kernels.
add_executable(mycel_graph_file_fuzz EXCLUDE_FROM_ALL
  ${PROJECT_SOURCE_DIR}/tests/fuzz/graph_file_fuzz.cc
  ${PROJECT_SOURCE_DIR}/tests/cpp/mutated_graph_files.cc ${definition_objects})
target_include_directories(mycel_graph_file_fuzz PRIVATE ${PROJECT_SOURCE_DIR}/tests/cpp)
target_link_libraries(mycel_graph_file_fuzz PRIVATE mycel_flags mycel_dependencies)

# Damaged checkpoint files in any number: the reader alone.
add_executable(mycel_safetensors_damage EXCLUDE_FROM_ALL
  ${PROJECT_SOURCE_DIR}/tests/fuzz/safetensors_damage.cc
  ${PROJECT_SOURCE_DIR}/tests/cpp/mutated_safetensors.cc $<TARGET_OBJECTS:mycel_base> $<TARGET_OBJECTS:mycel_tensor>)
target_include_directories(mycel_safetensors_damage PRIVATE ${PROJECT_SOURCE_DIR}/tests/cpp)
target_link_libraries(mycel_safetensors_damage PRIVATE mycel_flags mycel_dependencies)

# Damaged ONNX files in any number: the reader, without ops and kernels.
set(onnx_reader file tensors external_data wire_check)
list(TRANSFORM onnx_reader PREPEND ${PROJECT_SOURCE_DIR}/src/interop/onnx/)
list(TRANSFORM onnx_reader APPEND .cc)
list(APPEND onnx_reader ${PROJECT_SOURCE_DIR}/src/interop/wire_check.cc)
add_executable(mycel_onnx_fuzz EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tests/fuzz/onnx_fuzz.cc
  ${onnx_reader} $<TARGET_OBJECTS:mycel_onnx_pb> $<TARGET_OBJECTS:mycel_base> $<TARGET_OBJECTS:mycel_tensor>)
target_link_libraries(mycel_onnx_fuzz PRIVATE mycel_flags mycel_dependencies protobuf::libprotobuf-lite)

# The same for TFLite files and TensorFlow graphs.
set(tensorflow_reader lite_file lite_attributes lite_names graph_def graph_tensors)
list(TRANSFORM tensorflow_reader PREPEND ${PROJECT_SOURCE_DIR}/src/interop/tensorflow/)
list(TRANSFORM tensorflow_reader APPEND .cc)
list(APPEND tensorflow_reader ${PROJECT_SOURCE_DIR}/src/interop/wire_check.cc)
add_executable(mycel_tensorflow_fuzz EXCLUDE_FROM_ALL
  ${PROJECT_SOURCE_DIR}/tests/fuzz/tensorflow_fuzz.cc ${tensorflow_reader}
  $<TARGET_OBJECTS:mycel_tensorflow_pb> $<TARGET_OBJECTS:mycel_base> $<TARGET_OBJECTS:mycel_tensor>)
target_link_libraries(mycel_tensorflow_fuzz PRIVATE mycel_flags mycel_dependencies protobuf::libprotobuf-lite)
foreach(fuzz IN ITEMS onnx tensorflow)
  target_include_directories(mycel_${fuzz}_fuzz PRIVATE ${PROJECT_SOURCE_DIR}/tests/fuzz)
endforeach()

# Damaged data files in any number, through the sources that read them.
mycel_program(mycel_data_files_fuzz SOURCES ${PROJECT_SOURCE_DIR}/tests/fuzz/data_files_fuzz.cc)
set_target_properties(mycel_data_files_fuzz PROPERTIES EXCLUDE_FROM_ALL TRUE)

set(smoke "-Ci*.*:*/Ci*.*:Slow*.*:*/Slow*.*")
set(ci "Ci*.*:*/Ci*.*")
set(all "Slow*.*:*/Slow*.*")
foreach(tier IN ITEMS smoke ci all)
  add_test(NAME cpp_${tier} COMMAND mycel_tests --gtest_brief=1 --gtest_filter=${${tier}})
  set_tests_properties(cpp_${tier} PROPERTIES LABELS ${tier} TIMEOUT 1800)
endforeach()

# Random calls of ops, for tests/fuzz/compare_ops.py.
file(GLOB case_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/cpp/case_*.cc
     ${PROJECT_SOURCE_DIR}/tests/cpp/op_*.cc)
list(FILTER case_sources EXCLUDE REGEX "_test\\.cc$")
mycel_program(mycel_op_calls SOURCES ${PROJECT_SOURCE_DIR}/tests/fuzz/op_calls.cc ${case_sources})
set_target_properties(mycel_op_calls PROPERTIES EXCLUDE_FROM_ALL TRUE)
target_include_directories(mycel_op_calls PRIVATE ${PROJECT_SOURCE_DIR}/tests/cpp)

# Every op on code for older machines: what the JIT and oneDNN choose on AVX2 and on plain x86-64.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  foreach(machine haswell:AVX2 x86-64:SSE41)
    string(REPLACE ":" ";" parts ${machine})
    list(GET parts 0 cpu)
    list(GET parts 1 isa)
    add_test(NAME cpp_on_${cpu} COMMAND ${CMAKE_COMMAND} -E env MYCEL_CPU=${cpu} ONEDNN_MAX_CPU_ISA=${isa}
      $<TARGET_FILE:mycel_tests> --gtest_brief=1 --gtest_filter=Columns/OpCases.*)
    set_tests_properties(cpp_on_${cpu} PROPERTIES LABELS ci TIMEOUT 1800)
  endforeach()
endif()

# Damaged images in any number, for tests/fuzz.
mycel_program(mycel_image_fuzz SOURCES ${PROJECT_SOURCE_DIR}/tests/fuzz/image_fuzz.cc
              ${PROJECT_SOURCE_DIR}/tests/cpp/mutated_images.cc)
set_target_properties(mycel_image_fuzz PROPERTIES EXCLUDE_FROM_ALL TRUE)
target_include_directories(mycel_image_fuzz PRIVATE ${PROJECT_SOURCE_DIR}/tests/cpp)

# The pipeline alone, all it needs linked in: small enough for CI to build it with the thread
# sanitizer.
mycel_sources(pipeline_sources "(base|tensor|data)/")
list(FILTER pipeline_sources EXCLUDE REGEX "/src/data/(media\\.cc$|media/|text/|audio/)")
file(GLOB_RECURSE pipeline_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/data/*_test.cc)
list(FILTER pipeline_tests EXCLUDE REGEX "/src/data/(text|audio)/")
add_executable(mycel_pipeline_tests EXCLUDE_FROM_ALL ${pipeline_sources} ${pipeline_tests}
  ${PROJECT_SOURCE_DIR}/src/base/random_test.cc ${PROJECT_SOURCE_DIR}/tests/threads/linked_media.cc)
target_link_libraries(mycel_pipeline_tests PRIVATE mycel_flags mycel_dependencies
  ${MYCEL_MEDIA_LIBRARIES} GTest::gtest GTest::gtest_main)
