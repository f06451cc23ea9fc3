# Compiler and linker flags of every target in the tree.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
# -O2 and no -march: one binary for every machine. Kernels that need wide vectors come from the
# just-in-time compiler and from oneDNN, which both look at the CPU they run on.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
  message(FATAL_ERROR "Mycel needs g++ 12 or clang 16; this is g++ ${CMAKE_CXX_COMPILER_VERSION}.")
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 16)
  message(FATAL_ERROR "Mycel needs g++ 12 or clang 16; this is clang ${CMAKE_CXX_COMPILER_VERSION}.")
endif()

# Carried by every target below; never exported to users of the installed library.
add_library(mycel_flags INTERFACE)
target_compile_options(mycel_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wno-missing-field-initializers>
  # No program of ours reads errno or the exception flags after a math call; without them sqrt and
  # selects vectorize. Neither changes a computed value.
  -fno-math-errno -fno-trapping-math
  # Calls inside libmycel.so may be inlined and bound at link time.
  -fno-semantic-interposition)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 and 13 report -Wmaybe-uninitialized, -Wrestrict, -Warray-bounds and -Wdangling-pointer
  # inside their own headers; g++ 13 takes a reference into a member for one to a temporary.
  target_compile_options(mycel_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized -Wno-restrict -Wno-dangling-pointer
    -Wno-array-bounds>)
  if(CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    target_compile_options(mycel_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-dangling-reference>)
  endif()
endif()
if(MYCEL_WERROR)
  target_compile_options(mycel_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()
target_include_directories(mycel_flags INTERFACE ${PROJECT_SOURCE_DIR}/src ${MYCEL_GENERATED_DIR})

if(MYCEL_SANITIZE)
  if(NOT MYCEL_SANITIZE MATCHES "^(address|undefined|address,undefined|thread)$")
    message(FATAL_ERROR "MYCEL_SANITIZE=${MYCEL_SANITIZE}: "
                        "expected address, undefined, address,undefined or thread.")
  endif()
  add_compile_options(-fsanitize=${MYCEL_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all -g1)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND MYCEL_SANITIZE MATCHES "undefined")
    # With these g++ takes no function's address for a constant, which the check of op records needs.
    # A null pointer that is used still ends the program.
    add_compile_options(-fno-sanitize=null,nonnull-attribute,returns-nonnull-attribute)
  endif()
  add_link_options(-fsanitize=${MYCEL_SANITIZE})
  set(CMAKE_CXX_FLAGS_RELEASE "-O1")
endif()

include(CheckLinkerFlag)
check_linker_flag(CXX -fuse-ld=mold MYCEL_HAVE_MOLD)
if(MYCEL_HAVE_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
# LLVM's and Z3's archives name more shared libraries than we use.
add_link_options(-Wl,--as-needed)
