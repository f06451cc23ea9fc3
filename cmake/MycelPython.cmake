# The Python package: python/mycel plus the extension module _mycel, importable from build/python.
file(GLOB_RECURSE bind_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/bind/*.cc)
if(bind_sources)
  # STABLE_ABI takes effect from Python 3.12 on, where nanobind supports it.
  nanobind_add_module(_mycel STABLE_ABI NB_STATIC NOMINSIZE ${bind_sources})
  target_link_libraries(_mycel PRIVATE mycel_flags mycel_dependencies mycel ${MYCEL_SUITES})
  mycel_runs_kernels(_mycel)
  target_include_directories(_mycel PRIVATE ${PROJECT_SOURCE_DIR}/python)
  set_target_properties(_mycel PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${MYCEL_PYTHON_DIR})
endif()

# The package's own files are linked, not copied: an edit is seen without a build.
file(GLOB_RECURSE python_files RELATIVE ${PROJECT_SOURCE_DIR}/python/mycel CONFIGURE_DEPENDS
     ${PROJECT_SOURCE_DIR}/python/mycel/*)
list(FILTER python_files EXCLUDE REGEX "(__pycache__|\\.pyc$)")
foreach(file IN LISTS python_files)
  cmake_path(GET file PARENT_PATH folder)
  file(MAKE_DIRECTORY ${MYCEL_PYTHON_DIR}/${folder})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/python/mycel/${file} ${MYCEL_PYTHON_DIR}/${file} SYMBOLIC)
endforeach()
# A file removed from the source must not stay importable.
file(GLOB_RECURSE linked_files RELATIVE ${MYCEL_PYTHON_DIR} ${MYCEL_PYTHON_DIR}/*.py ${MYCEL_PYTHON_DIR}/*.pyi)
foreach(file IN LISTS linked_files)
  if(IS_SYMLINK ${MYCEL_PYTHON_DIR}/${file} AND NOT EXISTS ${MYCEL_PYTHON_DIR}/${file})
    file(REMOVE ${MYCEL_PYTHON_DIR}/${file})
  endif()
endforeach()
# The C++ program lies in the package's bin folder, here as in a wheel.
file(CREATE_LINK ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${MYCEL_PYTHON_DIR}/bin SYMBOLIC)
