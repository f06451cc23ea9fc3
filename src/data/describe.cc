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

Json json_of(const Dataset::Queue& q) {
  const auto most = static_cast<double>(std::max<int64_t>(q.ahead_at_most, 1));
  return {{"workers", q.threads.load()},
          {"ahead", q.ahead.load()},
          {"ahead_at_most", q.ahead_at_most.load()},
          {"fill", static_cast<double>(q.ahead) / most},
          {"bytes", q.bytes.load()},
          {"rows", q.rows.load()},
          {"waits", q.waits.load()},
          {"wait_seconds", static_cast<double>(q.wait_ns) * 1e-9}};
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
  const Dataset::Queue& q = dataset.queue();
  if (q.threads > 0) {
    out += fmt::format(
        "queue: {} of {} rows ahead, {:.1f} MB, by {} threads; waited for {} of {} rows, {:.3f} "
        "s\n",
        q.ahead.load(), q.ahead_at_most.load(), static_cast<double>(q.bytes) * 1e-6,
        q.threads.load(), q.waits.load(), q.rows.load(), static_cast<double>(q.wait_ns) * 1e-9);
  }
  return out;
}

std::string describe_json(const Dataset& dataset) {
  return text_of(
      {{"pipeline", json_of(pipeline_tree(dataset))}, {"queue", json_of(dataset.queue())}});
}

std::string describe_json(const Reader& reader) {
  const Position p = reader.position();
  return text_of({{"pipeline", json_of(pipeline_tree(reader.dataset()))},
                  {"position", {{"epoch", p.epoch}, {"row", p.position}}},
                  {"queue", json_of(reader.dataset().queue())}});
}

}  // namespace mycel::data
