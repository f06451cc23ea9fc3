#include "data/source.h"

#include "data/media.h"
#include "data/registry.h"

namespace mycel::data {

const std::vector<const SourceDef*>& all_sources() { return media().sources; }
const SourceDef* find_source(const std::string& name) { return find_record(all_sources(), name); }
std::shared_ptr<const OptionSpecs> specs_of(const SourceDef& def) { return specs_of_record(def); }

DatasetPtr open_source(const std::string& name, const NamedOptions& args) {
  const SourceDef& def = record_named(all_sources(), name, "dataset");
  return def.open(Options(specs_of(def), args));
}

}  // namespace mycel::data
