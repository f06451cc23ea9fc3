// Watchpoints: a condition on the values of some scopes; and hits, where one holds.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "insight/debug/entry.h"

namespace mycel::insight::debug {

struct Watchpoint {
  int64_t id = 0;
  std::string condition;
  Given given;                      // parameters that were named
  std::vector<std::string> scopes;  // patterns of names, see matches; empty: everything
  bool on = true;
  bool pauses = true;
};

struct Hit {
  int64_t watchpoint = 0, step = 0, order = 0;
  std::string condition, name, op, at, scope;
  Role role = Role::kTensor;
  std::vector<Finding> findings;
};

// Whether a name is meant: `pattern` may have * and ? and names the entry, a scope around it, or a
// parameter ("fc1.weight" is its value and its gradient).
bool matches(const std::string& pattern, const Entry& e);

// Prepared watchpoints. KeyError and ValueError for what cannot be one.
class Watches {
 public:
  // Gives the watchpoint its id when it has none.
  int64_t add(Watchpoint w);
  void remove(int64_t id);  // KeyError
  const std::vector<Watchpoint>& all() const { return list_; }
  // Whether some watchpoint looks at this entry, and whether it compares with the step before.
  bool wanted(const Entry& e, bool* compares) const;
  // The hits of this value. `before`: the step before's, or empty; `first`: it has not been seen.
  std::vector<Hit> look(const Entry& e, const Tensor& before, bool first) const;

 private:
  std::vector<Watchpoint> list_;
  std::vector<Given> completed_;
  int64_t next_ = 1;
};

// All hits on a shelf, in order; at most `most`.
std::vector<Hit> recheck(Shelf& shelf, const Watches& watches, size_t most);

nlohmann::ordered_json to_json(const Watchpoint& w);
nlohmann::ordered_json to_json(const Hit& h);
// ValueError for what is no watchpoint.
Watchpoint watchpoint_of(const nlohmann::ordered_json& json);

}  // namespace mycel::insight::debug
