// libmycel_insight: the index of event files (SQLite) and the server (cpp-httplib). A library of
// its own, loaded with the first question, so that programs that only record need neither.
#pragma once

#include <memory>

#include "insight/index.h"
#include "insight/server.h"

namespace mycel::insight {

struct Library {
  std::unique_ptr<Index> (*open_index)(const std::string& folder, const IndexOptions& options);
  void (*serve)(const ServerOptions& options, const std::function<void(const std::string&)>& ready);
};

}  // namespace mycel::insight
