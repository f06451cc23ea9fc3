# Installs libmycel, its headers, the CMake package `Mycel` and pkg-config's `mycel`.
# pip puts all of it into site-packages/mycel, so a C++ program can build against a wheel.
include(CMakePackageConfigHelpers)
set(cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Mycel)

if(SKBUILD)
  # A wheel holds no symbolic links, so no versioned name. libdnnl.so.3 lies in <environment>/lib,
  # four folders above site-packages/mycel/lib.
  set(libmycel_rpath "$ORIGIN/../../../..")
else()
  set_target_properties(mycel PROPERTIES VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  set(libmycel_rpath "$ORIGIN")
  if(MYCEL_ONEDNN)
    get_target_property(dnnl_library DNNL::dnnl IMPORTED_LOCATION_RELEASE)
    cmake_path(GET dnnl_library PARENT_PATH dnnl_folder)
    list(APPEND libmycel_rpath ${dnnl_folder})
  endif()
endif()
set_target_properties(mycel PROPERTIES INSTALL_RPATH "${libmycel_rpath}")
install(TARGETS mycel EXPORT Mycel LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS ${MYCEL_LOADED} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET mycel_jit)
  set_target_properties(mycel_jit PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS mycel_jit LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(TARGET mycel_suites)
  set_target_properties(mycel_suites PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS mycel_suites EXPORT Mycel LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/suites DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
          FILES_MATCHING PATTERN "*.h")
endif()
if(SKBUILD AND TARGET _mycel)
  set_target_properties(_mycel PROPERTIES INSTALL_RPATH "$ORIGIN/${CMAKE_INSTALL_LIBDIR}")
  install(TARGETS _mycel LIBRARY DESTINATION .)
endif()
if(SKBUILD AND TARGET mycel_generated)
  install(DIRECTORY ${MYCEL_PYTHON_DIR}/ DESTINATION . FILES_MATCHING PATTERN "*.pyi"
          PATTERN "bin" EXCLUDE)
endif()
if(TARGET mycel_cli)
  set_target_properties(mycel_cli PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  install(TARGETS mycel_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

if(NOT SKBUILD)  # in a wheel they lie in the package
  install(FILES ${PROJECT_SOURCE_DIR}/python/mycel/data/digits.safetensors
          DESTINATION ${CMAKE_INSTALL_DATADIR}/mycel/data)
endif()

# Headers that name a foreign library stay at home: nobody outside includes them.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/mycel
        FILES_MATCHING PATTERN "*.h"
        PATTERN "loops/llvm" EXCLUDE PATTERN "backend/cpu/onednn" EXCLUDE PATTERN "cli" EXCLUDE
        PATTERN "insight/events/protozero.h" EXCLUDE PATTERN "insight/store" EXCLUDE
        PATTERN "insight/server" EXCLUDE PATTERN "interop/onnx" EXCLUDE PATTERN "interop/tensorflow" EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${MYCEL_GENERATED_DIR}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "mycel/*.h")

install(EXPORT Mycel NAMESPACE Mycel:: DESTINATION ${cmake_dir} FILE MycelTargets.cmake)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/MycelConfig.cmake.in
  ${PROJECT_BINARY_DIR}/MycelConfig.cmake INSTALL_DESTINATION ${cmake_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/MycelConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/MycelConfig.cmake ${PROJECT_BINARY_DIR}/MycelConfigVersion.cmake
        DESTINATION ${cmake_dir})
configure_file(${PROJECT_SOURCE_DIR}/cmake/mycel.pc.in ${PROJECT_BINARY_DIR}/mycel.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/mycel.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
