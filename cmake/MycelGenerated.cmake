# The second build stage: mycel_gen, linked with the definitions alone, prints the API that derives
# from the op records. A file that comes out unchanged keeps its time, so nothing is compiled again.
file(GLOB gen_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/gen/*.cc)
add_executable(mycel_gen ${gen_sources} ${definition_objects})
target_link_libraries(mycel_gen PRIVATE mycel_flags mycel_dependencies)

set(generated_files)
# mycel_generate(<what> <file>): <file> = output of `mycel_gen <what>`.
function(mycel_generate what file)
  add_custom_command(OUTPUT ${file} DEPENDS mycel_gen
    COMMAND mycel_gen ${what} > ${file}.new
    COMMAND ${CMAKE_COMMAND} -E copy_if_different ${file}.new ${file}
    COMMAND ${CMAKE_COMMAND} -E rm ${file}.new
    COMMENT "mycel_gen ${what}" VERBATIM)
  set(generated_files ${generated_files} ${file} PARENT_SCOPE)
endfunction()

file(MAKE_DIRECTORY ${MYCEL_GENERATED_DIR}/mycel ${MYCEL_PYTHON_DIR} ${PROJECT_BINARY_DIR}/docs)
mycel_generate(cpp-ops ${MYCEL_GENERATED_DIR}/mycel/ops.h)
mycel_generate(pyi ${MYCEL_PYTHON_DIR}/_mycel.pyi)
mycel_generate(op-pages ${PROJECT_BINARY_DIR}/docs/operators.md)
add_custom_target(mycel_generated DEPENDS ${generated_files})
