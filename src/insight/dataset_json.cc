#include "insight/dataset_json.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace mycel::insight {
namespace {

nlohmann::ordered_json json_of(const data::Dataset& d) {
  nlohmann::ordered_json out;
  const int64_t ns = d.work().ns;
  int64_t own = ns;
  auto inputs = nlohmann::ordered_json::array();
  for (const data::DatasetPtr& input : d.inputs()) {
    own -= input->work().ns;
    inputs.push_back(json_of(*input));
  }
  out["op"] = d.describe();
  out["rows"] = d.size();
  out["made"] = d.work().rows.load();
  out["ns"] = ns;
  out["own_ns"] = std::max<int64_t>(own, 0);
  out["columns"] = d.columns();
  out["inputs"] = std::move(inputs);
  return out;
}

}  // namespace

std::string dataset_json(const data::Dataset& dataset) {
  return json_of(dataset).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace mycel::insight
