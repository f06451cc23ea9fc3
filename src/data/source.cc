#include "data/source.h"

#include <map>
#include <mutex>

#include <fmt/format.h>

#include "base/error.h"
#include "data/media.h"

namespace mycel::data {

const std::vector<const SourceDef*>& all_sources() { return media().sources; }

const SourceDef* find_source(const std::string& name) {
  for (const SourceDef* def : all_sources()) {
    if (name == def->name) return def;
  }
  return nullptr;
}

std::shared_ptr<const OptionSpecs> specs_of(const SourceDef& def) {
  static std::mutex mutex;
  static std::map<const SourceDef*, std::shared_ptr<const OptionSpecs>> known;
  std::lock_guard lock(mutex);
  auto& specs = known[&def];
  if (!specs) specs = std::make_shared<OptionSpecs>(def.name, def.args);
  return specs;
}

DatasetPtr open_source(const std::string& name, const NamedOptions& args) {
  const SourceDef* def = find_source(name);
  if (!def) {
    std::vector<const char*> names;
    for (const SourceDef* d : all_sources()) names.push_back(d->name);
    const std::string near = did_you_mean(name, names.data(), names.size());
    throw UserError(ErrorKind::kAttribute, fmt::format("there is no dataset '{}'", name),
                    near.empty() ? "" : fmt::format("Did you mean '{}'?", near));
  }
  return def->open(Options(specs_of(*def), args));
}

}  // namespace mycel::data
