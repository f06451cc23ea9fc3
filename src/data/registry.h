// Look-ups that the records of sources and of transforms share; a record has a name and args.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "data/option.h"

namespace mycel::data {

// Null when there is none.
template <typename Def>
const Def* find_record(const std::vector<const Def*>& all, const std::string& name) {
  for (const Def* def : all) {
    if (name == def->name) return def;
  }
  return nullptr;
}

// AttributeError with the name that was meant when there is none; `kind`: "dataset".
template <typename Def>
const Def& record_named(const std::vector<const Def*>& all, const std::string& name,
                        const char* kind) {
  if (const Def* def = find_record(all, name)) return *def;
  std::vector<const char*> names;
  for (const Def* d : all) names.push_back(d->name);
  const std::string near = did_you_mean(name, names.data(), names.size());
  throw UserError(ErrorKind::kAttribute, fmt::format("there is no {} '{}'", kind, name),
                  near.empty() ? "" : fmt::format("Did you mean '{}'?", near));
}

// The parsed lines of a record, parsed once; errors of its arguments are those of the last part of
// its name ("Resize" of "vision.Resize").
template <typename Def>
std::shared_ptr<const OptionSpecs> specs_of_record(const Def& def) {
  static std::mutex mutex;
  static std::map<const Def*, std::shared_ptr<const OptionSpecs>> known;
  std::lock_guard lock(mutex);
  auto& specs = known[&def];
  if (!specs) {
    const std::string name = def.name;
    specs = std::make_shared<OptionSpecs>(name.substr(name.find('.') + 1), def.args);
  }
  return specs;
}

}  // namespace mycel::data
