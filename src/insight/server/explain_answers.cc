// Page Explain: samples with their saliency maps, counterfactuals, scores of methods.
#include <algorithm>
#include <set>

#include "insight/server/arguments.h"
#include "insight/server/follow_records.h"

namespace mycel::insight::server {
namespace {

constexpr size_t kMostSamples = 200'000, kMostScores = 10'000, kMostLabels = 10'000;

// A sample as it was recorded, checked.
struct Sample {
  int64_t number = 0, label = -1, predicted = -1;
  double probability = 0;
  Json json;
};

struct Known {
  Json labels = Json::array(), scores = Json::array();
  std::vector<Sample> samples;
  std::vector<Json> counterfactuals;
  std::set<std::string> methods;
  int64_t damaged = 0;
  std::map<std::string, Reading> read;
};

bool whole(const Json& j, const char* name) {
  return j.contains(name) && j[name].is_number_integer();
}

bool add_sample(Known* k, Json j) {
  if (!whole(j, "sample") || !whole(j, "label") || !whole(j, "image")) return false;
  if (!j.contains("probabilities") || !j["probabilities"].is_array()) return false;
  if (!j.contains("maps") || !j["maps"].is_array() || j["maps"].size() > 1000) return false;
  Sample s{j["sample"].get<int64_t>(), j["label"].get<int64_t>(), -1, 0, {}};
  int64_t cls = 0;
  for (const Json& p : j["probabilities"]) {
    if (!p.is_number()) return false;
    if (s.predicted < 0 || p.get<double>() > s.probability) {
      s.predicted = cls;
      s.probability = p.get<double>();
    }
    ++cls;
  }
  for (const Json& m : j["maps"]) {
    if (!m.is_object() || !whole(m, "class") || !whole(m, "map") || !m.contains("method") ||
        !m["method"].is_string() || !m.contains("low") || !m["low"].is_number() ||
        !m.contains("high") || !m["high"].is_number())
      return false;
    k->methods.insert(m["method"].get<std::string>().substr(0, 200));
  }
  s.json = std::move(j);
  if (k->samples.size() < kMostSamples) k->samples.push_back(std::move(s));
  return true;
}

bool add_score(Known* k, const Json& j) {
  if (!j.contains("method") || !j["method"].is_string() || !j.contains("metric") ||
      !j["metric"].is_string() || !whole(j, "class") || !j.contains("value") ||
      !j["value"].is_number())
    return false;
  // The newest score of its kind counts.
  for (Json& s : k->scores) {
    if (s["method"] == j["method"] && s["metric"] == j["metric"] && s["class"] == j["class"]) {
      s = j;
      return true;
    }
  }
  if (k->scores.size() < kMostScores) k->scores.push_back(j);
  return true;
}

bool add_counterfactual(Known* k, Json j) {
  if (!whole(j, "sample") || !whole(j, "class") || !j.contains("steps") || !j["steps"].is_array() ||
      j["steps"].empty() || j["steps"].size() > 1000 || !j.contains("method") ||
      !j["method"].is_string())
    return false;
  for (const Json& s : j["steps"]) {
    if (!s.is_object() || !whole(s, "image") || !s.contains("probability") ||
        !s["probability"].is_number())
      return false;
  }
  if (k->counterfactuals.size() < kMostSamples) k->counterfactuals.push_back(std::move(j));
  return true;
}

void read(Index& index, int64_t run, Known* k) {
  const auto follow = [&](const char* tag, auto&& take) {
    Reading& r = k->read[tag];
    r = read_records(index, run, tag, r.done, [&](const std::string& content) {
      Json j = Json::parse(content, nullptr, false);
      if (j.is_discarded() || !take(std::move(j))) ++k->damaged;
    });
  };
  follow("explain/labels", [&](Json j) {
    if (!j.is_array() || j.size() > kMostLabels) return false;
    for (const Json& l : j) {
      if (!l.is_string()) return false;
    }
    k->labels = std::move(j);
    return true;
  });
  follow("explain/sample", [&](Json j) { return j.is_object() && add_sample(k, std::move(j)); });
  follow("explain/score", [&](const Json& j) { return j.is_object() && add_score(k, j); });
  follow("explain/counterfactual",
         [&](Json j) { return j.is_object() && add_counterfactual(k, std::move(j)); });
}

// {"labels", "methods", "scores", "count", "right", "shown", "samples": [...], "counterfactuals"}:
// samples that fit, from `from` on, at most `limit`.
Answer explain(Index& index, const Arguments& a) {
  static PerRun<Known> all;
  const RunInfo run = run_of(index, a);
  const auto from = number_or<int64_t>(a, "from", 0), limit = number_or<int64_t>(a, "limit", 12);
  const auto label = number_or<int64_t>(a, "label", -1),
             sample = number_or<int64_t>(a, "sample", -1);
  const auto predicted = number_or<int64_t>(a, "predicted", -1);
  const std::string* which = find(a, "which");  // right, wrong, unsure; all without it
  if (from < 0 || limit < 0 || limit > 200) value_error("'from' and 'limit' are out of range");
  if (which && *which != "right" && *which != "wrong" && *which != "unsure")
    value_error("'which' must be right, wrong or unsure, got '{}'", which->substr(0, 40));
  return all.with(index, run.id, [&](Known& k) {
    read(index, run.id, &k);
    int64_t fitting = 0, right = 0;
    Json samples = Json::array();
    for (const Sample& s : k.samples) {
      right += s.label >= 0 && s.label == s.predicted;
      if (sample >= 0 && s.number != sample) continue;
      if (label >= 0 && s.label != label) continue;
      if (predicted >= 0 && s.predicted != predicted) continue;
      if (which && *which == "right" && s.label != s.predicted) continue;
      if (which && *which == "wrong" && (s.label < 0 || s.label == s.predicted)) continue;
      if (which && *which == "unsure" && s.probability >= 0.6) continue;
      if (fitting++ < from || static_cast<int64_t>(samples.size()) >= limit) continue;
      Json j = s.json;
      j["predicted"] = s.predicted;
      samples.push_back(std::move(j));
    }
    Json counter = Json::array();
    for (const Json& c : k.counterfactuals) {
      if (sample >= 0 && c["sample"].get<int64_t>() == sample && counter.size() < 50)
        counter.push_back(c);
    }
    Json with = Json::array();  // samples that have counterfactuals
    for (const Json& c : k.counterfactuals) {
      if (with.size() < 500) with.push_back(c["sample"]);
    }
    const Reading& r = k.read["explain/sample"];
    return answer({{"labels", k.labels},
                   {"methods", k.methods},
                   {"scores", k.scores},
                   {"count", k.samples.size()},
                   {"right", right},
                   {"fitting", fitting},
                   {"samples", samples},
                   {"counterfactuals", counter},
                   {"with_counterfactuals", with},
                   {"damaged", k.damaged},
                   {"read", {r.done, r.all}}});
  });
}

}  // namespace

Questions explain_questions() { return {{"explain", explain}}; }

}  // namespace mycel::insight::server
