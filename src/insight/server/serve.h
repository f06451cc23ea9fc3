// The server itself; see insight/server.h.
#pragma once

#include "insight/server.h"

namespace mycel::insight::server {

void run(const ServerOptions& options, const std::function<void(const std::string&)>& ready);

}  // namespace mycel::insight::server
