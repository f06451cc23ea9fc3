#include "insight/debug/watch.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace mycel::insight::debug {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostWatchpoints = 200, kMostScopes = 100;

// * is any text, ? any character. Goes back to the last * alone, so that no pattern takes long.
bool glob(const std::string& pattern, const std::string& name) {
  size_t p = 0, n = 0, star = pattern.npos, from = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      from = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (star != pattern.npos) {
      p = star + 1;
      n = ++from;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool names_or_holds(const std::string& pattern, const std::string& name) {
  if (glob(pattern, name)) return true;
  // A scope means what is inside.
  return glob(pattern + "/*", name) || glob(pattern + ".*", name);
}

Json number(double v) {
  return std::isfinite(v) ? Json(v) : Json(std::isnan(v) ? "nan" : v > 0 ? "inf" : "-inf");
}

}  // namespace

bool matches(const std::string& pattern, const Entry& e) {
  if (names_or_holds(pattern, e.name)) return true;
  if (e.role != Role::kWeight && e.role != Role::kGradient && e.role != Role::kState) return false;
  const size_t slash = e.name.find('/');  // "Parameters/fc1.weight"
  return slash != e.name.npos && names_or_holds(pattern, e.name.substr(slash + 1));
}

int64_t Watches::add(Watchpoint w) {
  Given completed = complete(condition_named(w.condition), w.given);
  if (w.scopes.size() > kMostScopes)
    value_error("a watchpoint takes at most {} scopes, got {}", kMostScopes, w.scopes.size());
  if (w.id == 0) w.id = next_;
  next_ = std::max(next_, w.id + 1);
  for (size_t i = 0; i < list_.size(); ++i) {
    if (list_[i].id != w.id) continue;
    list_[i] = std::move(w);
    completed_[i] = std::move(completed);
    return list_[i].id;
  }
  if (list_.size() >= kMostWatchpoints) value_error("at most {} watchpoints", kMostWatchpoints);
  list_.push_back(std::move(w));
  completed_.push_back(std::move(completed));
  return list_.back().id;
}

void Watches::remove(int64_t id) {
  for (size_t i = 0; i < list_.size(); ++i) {
    if (list_[i].id != id) continue;
    list_.erase(list_.begin() + static_cast<int64_t>(i));
    completed_.erase(completed_.begin() + static_cast<int64_t>(i));
    return;
  }
  fail(ErrorKind::kKey, "there is no watchpoint {}", id);
}

namespace {

bool looks_at(const Watchpoint& w, const ConditionRecord& c, const Entry& e) {
  if (!w.on || (c.role != Role::kTensor && c.role != e.role)) return false;
  if (w.scopes.empty()) return true;
  return std::any_of(w.scopes.begin(), w.scopes.end(),
                     [&](const std::string& s) { return matches(s, e); });
}

}  // namespace

bool Watches::wanted(const Entry& e, bool* compares) const {
  bool any = false;
  for (const Watchpoint& w : list_) {
    const ConditionRecord& c = condition_named(w.condition);
    if (!looks_at(w, c, e)) continue;
    any = true;
    *compares |= c.compares;
  }
  return any;
}

std::vector<Hit> Watches::look(const Entry& e, const Tensor& before, bool first) const {
  std::vector<Hit> hits;
  if (!e.value) return hits;
  Facts facts(e.value, before, first, e.operands_finite);
  for (size_t i = 0; i < list_.size(); ++i) {
    const ConditionRecord& c = condition_named(list_[i].condition);
    if (!looks_at(list_[i], c, e)) continue;
    std::vector<Finding> found = check(c, completed_[i], facts);
    if (found.empty()) continue;
    hits.push_back({list_[i].id, e.step, e.order, c.name, e.name, e.op, e.at, e.scope, e.role,
                    std::move(found)});
  }
  return hits;
}

std::vector<Hit> recheck(Shelf& shelf, const Watches& watches, size_t most) {
  std::vector<Hit> hits;
  std::set<std::string> seen;
  int64_t last = -1;
  bool any = false;
  for (int64_t step : shelf.steps()) {
    for (const Entry& listed : shelf.entries(step)) {
      const bool first = seen.insert(listed.name).second;
      bool compares = false;
      if (!watches.wanted(listed, &compares)) continue;
      std::optional<Entry> e = shelf.find(step, listed.name);
      if (!e || !e->value) continue;
      Tensor before;
      if (compares && any) {
        if (auto was = shelf.find(last, listed.name)) before = was->value;
      }
      for (Hit& h : watches.look(*e, before, first)) {
        if (hits.size() >= most) return hits;
        hits.push_back(std::move(h));
      }
    }
    last = step;
    any = true;
  }
  return hits;
}

Json to_json(const Watchpoint& w) {
  Json given = Json::object();
  for (const auto& [name, value] : w.given) given[name] = value;
  return {{"id", w.id}, {"condition", w.condition}, {"parameters", given}, {"scopes", w.scopes},
          {"on", w.on}, {"pauses", w.pauses}};
}

Json to_json(const Hit& h) {
  Json findings = Json::array();
  for (const Finding& f : h.findings)
    findings.push_back(
        {{"parameter", f.parameter}, {"threshold", f.threshold}, {"measured", number(f.measured)}});
  return {{"watchpoint", h.watchpoint},
          {"condition", h.condition},
          {"step", h.step},
          {"order", h.order},
          {"name", h.name},
          {"op", h.op},
          {"at", h.at},
          {"scope", h.scope},
          {"role", name_of(h.role)},
          {"findings", findings}};
}

Watchpoint watchpoint_of(const Json& json) {
  if (!json.is_object()) value_error("a watchpoint is an object with a condition");
  Watchpoint w;
  for (const auto& [key, value] : json.items()) {
    if (key == "id" && value.is_number_integer()) {
      w.id = value.get<int64_t>();
    } else if (key == "condition" && value.is_string()) {
      w.condition = value.get<std::string>();
    } else if ((key == "on" || key == "pauses") && value.is_boolean()) {
      (key == "on" ? w.on : w.pauses) = value.get<bool>();
    } else if (key == "scopes" && value.is_array()) {
      for (const Json& s : value) {
        if (!s.is_string() || s.get_ref<const std::string&>().size() > 1000)
          value_error("'scopes' are names of scopes, tensors or parameters");
        w.scopes.push_back(s.get<std::string>());
      }
    } else if (key == "parameters" && value.is_object()) {
      for (const auto& [name, number] : value.items()) {
        if (!number.is_number()) value_error("parameter '{}' must be a number", name.substr(0, 80));
        w.given[name] = number.get<double>();
      }
    } else {
      value_error("a watchpoint has no such '{}'", key.substr(0, 80));
    }
  }
  if (w.id < 0 || w.id > 1'000'000'000) value_error("'id' of a watchpoint is out of range");
  if (w.condition.empty()) value_error("a watchpoint needs a 'condition'");
  return w;
}

}  // namespace mycel::insight::debug
