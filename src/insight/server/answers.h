// The data of the pages as JSON: one function a question. Arguments are the texts of the address;
// ValueError and KeyError say what is wrong with them.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "insight/index.h"

namespace mycel::insight::server {

using Arguments = std::multimap<std::string, std::string>;

struct Answer {
  std::string body, type = "application/json";
};

// Questions by the last part of their address: "runs" for /api/runs.
const std::map<std::string, std::function<Answer(Index&, const Arguments&)>>& questions();

}  // namespace mycel::insight::server
