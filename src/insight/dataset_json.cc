#include "insight/dataset_json.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/threads.h"

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
  nlohmann::ordered_json out = json_of(dataset);
  out["at"] = static_cast<double>(clock_ns()) * 1e-9;
  const data::Dataset::Queue& q = dataset.queue();
  if (q.threads > 0) {
    out["queue"] = {{"threads", q.threads.load()},    {"ahead", q.ahead.load()},
                    {"most", q.ahead_at_most.load()}, {"bytes", q.bytes.load()},
                    {"rows", q.rows.load()},          {"waits", q.waits.load()},
                    {"wait_ns", q.wait_ns.load()}};
  }
  return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::function<std::string()> states_of(data::DatasetPtr dataset) {
  return [dataset = std::move(dataset), made = int64_t{-1}]() mutable -> std::string {
    const int64_t now = dataset->work().rows;
    if (std::exchange(made, now) == now) return {};
    return dataset_json(*dataset);
  };
}

}  // namespace mycel::insight
