// The files of the web app (web/), put into the library when it is built.
#pragma once

#include <span>
#include <string_view>

namespace mycel::insight::server {

struct Page {
  std::string_view path, type, body;  // "/index.html", "text/html; charset=utf-8"
};
std::span<const Page> pages();

}  // namespace mycel::insight::server
