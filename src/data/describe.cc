#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "data/description.h"

namespace mycel::data {
namespace {

using Json = nlohmann::ordered_json;

double a_second(const PipelineNode& n) {
  return static_cast<double>(n.made) / std::max(n.seconds, 1e-9);
}

void add_lines(const PipelineNode& n, int depth, std::string* out) {
  const std::string size = n.rows < 0 ? "?" : std::to_string(n.rows);
  *out += fmt::format("{:{}}{}: {} rows an epoch", "", 2 * depth, n.text, size);
  if (n.made > 0) {
    const auto each = [&](double seconds) { return seconds * 1e6 / static_cast<double>(n.made); };
    *out += fmt::format("; {} made, {:.1f} us each ({:.1f} us of its own), {:.0f} a second", n.made,
                        each(n.seconds), each(n.own_seconds), a_second(n));
  }
  *out += '\n';
  for (const PipelineNode& input : n.inputs) add_lines(input, depth + 1, out);
}

Json json_of(const PipelineNode& n) {
  Json out = {{"text", n.text},
              {"rows", n.rows < 0 ? Json() : Json(n.rows)},
              {"made", n.made},
              {"seconds", n.seconds},
              {"own_seconds", n.own_seconds},
              {"rows_a_second", n.made ? Json(a_second(n)) : Json()},
              {"columns", n.columns},
              {"inputs", Json::array()}};
  for (const PipelineNode& input : n.inputs) out["inputs"].push_back(json_of(input));
  return out;
}

// Texts may hold bytes of paths that are no UTF-8.
std::string text_of(const Json& j) {
  return j.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

PipelineNode pipeline_tree(const Dataset& d) {
  PipelineNode n;
  n.text = d.describe();
  n.rows = d.size();
  n.columns = d.columns();
  n.made = d.work().rows;
  const int64_t ns = d.work().ns;
  int64_t own = ns;
  for (const DatasetPtr& input : d.inputs()) {
    own -= input->work().ns;
    n.inputs.push_back(pipeline_tree(*input));
  }
  n.seconds = static_cast<double>(ns) * 1e-9;
  n.own_seconds = static_cast<double>(std::max<int64_t>(own, 0)) * 1e-9;
  return n;
}

std::string describe(const Dataset& dataset) {
  std::string out;
  add_lines(pipeline_tree(dataset), 0, &out);
  return out;
}

std::string describe_json(const Dataset& dataset) {
  return text_of({{"pipeline", json_of(pipeline_tree(dataset))}});
}

std::string describe_json(const Reader& reader) {
  const Workers::Stats s = reader.stats();
  const Position p = reader.position();
  const double most = static_cast<double>(std::max<int64_t>(s.ahead_at_most, 1));
  return text_of({{"pipeline", json_of(pipeline_tree(reader.dataset()))},
                  {"position", {{"epoch", p.epoch}, {"row", p.position}}},
                  {"queue",
                   {{"workers", s.threads},
                    {"ahead", s.ahead},
                    {"ahead_at_most", s.ahead_at_most},
                    {"fill", static_cast<double>(s.ahead) / most},
                    {"rows", s.rows},
                    {"waits", s.waits},
                    {"wait_seconds", static_cast<double>(s.wait_ns) * 1e-9}}}});
}

}  // namespace mycel::data
