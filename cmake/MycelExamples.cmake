# Each examples/*.cc and bench/*.cc is a program of its own, in build/examples and build/bench.
foreach(folder IN ITEMS examples bench)
  file(GLOB programs CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cc)
  foreach(source IN LISTS programs)
    cmake_path(GET source STEM name)
    mycel_program(${name} SOURCES ${source} LINK ${MYCEL_SUITES})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${folder})
  endforeach()
endforeach()
