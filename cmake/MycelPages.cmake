# Puts the files of the web app into a source file: FOLDER is web/dist, OUT the file. Without a built
# app there is one page that says so.
set(types html "text/html; charset=utf-8" js "text/javascript; charset=utf-8"
  css "text/css; charset=utf-8" svg "image/svg+xml" json "application/json" png "image/png"
  woff2 "font/woff2" ico "image/x-icon")
file(GLOB_RECURSE files RELATIVE ${FOLDER} ${FOLDER}/*)
set(arrays "")
set(entries "")
set(number 0)
foreach(file IN LISTS files)
  cmake_path(GET file EXTENSION LAST_ONLY ending)
  if(NOT ending)
    continue()
  endif()
  string(SUBSTRING "${ending}" 1 -1 ending)
  list(FIND types "${ending}" at)
  if(at EQUAL -1)
    continue()
  endif()
  math(EXPR at "${at} + 1")
  list(GET types ${at} type)
  file(READ ${FOLDER}/${file} hex HEX)
  string(LENGTH "${hex}" length)
  math(EXPR length "${length} / 2")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(APPEND arrays "constexpr unsigned char k${number}[] = {${bytes}0};\n")
  string(APPEND entries "    {\"/${file}\", \"${type}\", {reinterpret_cast<const char*>(k${number}), ${length}}},\n")
  math(EXPR number "${number} + 1")
endforeach()
if(number EQUAL 0)
  set(entries "    {\"/index.html\", \"text/html; charset=utf-8\",
     \"<!doctype html><title>Mycel Insight</title><p>The pages were not built: run ./dev web, then ./dev build.\"},\n")
endif()
file(WRITE ${OUT}.new "// Made by cmake/MycelPages.cmake.
#include \"insight/server/pages.h\"

namespace mycel::insight::server {
namespace {
${arrays}
}  // namespace

std::span<const Page> pages() {
  static const Page kAll[] = {
${entries}  };
  return kAll;
}

}  // namespace mycel::insight::server
")
execute_process(COMMAND ${CMAKE_COMMAND} -E copy_if_different ${OUT}.new ${OUT})
