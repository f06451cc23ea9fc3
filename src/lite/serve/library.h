// libmycel_serve: the HTTP side of `mycel serve` (cpp-httplib). A library of its own, loaded with
// the first call of serve, so that programs that only compute need no HTTP.
#pragma once

#include "lite/serve/server.h"

namespace mycel::lite {

struct ServeLibrary {
  void (*serve)(const ServeOptions& options, const std::function<void(const std::string&)>& ready);
};

}  // namespace mycel::lite
