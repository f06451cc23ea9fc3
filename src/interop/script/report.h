// What a conversion says of itself, for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "interop/script.h"
#include "interop/script/classes.h"
#include "interop/script/match.h"

namespace mycel::interop::script {

struct Facts {
  std::string source;
  std::string refused;  // why there is no script; "": there is one
  ScriptReport summary;
  struct Row {
    std::string from, to, kind;
  };
  std::vector<Row> rows;  // of each unit: the nodes of the file, what it became
  std::map<std::string, int> instances;
  std::vector<std::string> internal;  // nodes whose op has no public name

  void fill(const Matched& m, const Script& s, const Recovered& r, const std::string& text,
            int64_t weights);
};

std::string report_markdown(const Facts& f);
std::string report_json(const Facts& f);

}  // namespace mycel::interop::script
