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
  std::string file_name = {};  // for a download
};

// Questions by the last part of their address: "runs" for /api/runs.
using Questions = std::map<std::string, std::function<Answer(Index&, const Arguments&)>>;
const Questions& questions();
Questions debug_questions();    // debug_answers.cc
Questions cluster_questions();  // cluster_answers.cc
Questions explain_questions();  // explain_answers.cc

// A command to a process that is being debugged, as JSON with the run's number; the answer is JSON.
Answer debug_command(Index& index, const std::string& body);

// profile_answers.cc
Answer profiles(Index&, const Arguments&);
Answer profile_summary(Index&, const Arguments&);
Answer profile_slices(Index&, const Arguments&);
Answer profile_trace(Index&, const Arguments&);

}  // namespace mycel::insight::server
