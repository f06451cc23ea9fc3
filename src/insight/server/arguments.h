// How questions read the texts of their address, and write their answers.
#pragma once

#include <charconv>
#include <cmath>
#include <string>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "insight/server/answers.h"

namespace mycel::insight::server {

using Json = nlohmann::ordered_json;

inline Json value_of(double v) { return std::isfinite(v) ? Json(v) : Json(nullptr); }

inline Answer answer(const Json& json) {
  return {json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)};
}

inline const std::string* find(const Arguments& a, const std::string& name) {
  auto it = a.find(name);
  return it == a.end() ? nullptr : &it->second;
}

inline const std::string& text(const Arguments& a, const std::string& name) {
  const std::string* found = find(a, name);
  if (!found) value_error("the argument '{}' is missing", name);
  return *found;
}

template <typename T>
T number(const std::string& text, const std::string& name) {
  T out{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size())
    value_error("'{}' must be a number, got '{}'", name, text.substr(0, 40));
  return out;
}

template <typename T>
T number_or(const Arguments& a, const std::string& name, T otherwise) {
  const std::string* found = find(a, name);
  return found ? number<T>(*found, name) : otherwise;
}

// The run that the address names; KeyError when there is none.
RunInfo run_of(Index& index, const Arguments& a);

}  // namespace mycel::insight::server
