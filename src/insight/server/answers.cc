#include "insight/server/answers.h"

#include <charconv>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "insight/distribution.h"
#include "insight/server/arguments.h"

namespace mycel::insight::server {
namespace {

// "1,4,7"
std::vector<int64_t> numbers(const std::string& text, const std::string& name) {
  std::vector<int64_t> out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    out.push_back(number<int64_t>(text.substr(at, end - at), name));
    at = end + 1;
  }
  if (out.size() > 1000) value_error("'{}' has {} numbers; at most 1000", name, out.size());
  return out;
}

Json fact_of(const HParam& v) {
  return std::visit(
      [](const auto& x) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(x)>, double>)
          return value_of(x);
        else
          return x;
      },
      v);
}

Kind kind_of(const std::string& name) {
  for (int k = 0; k < kKindCount; ++k) {
    if (name == name_of(static_cast<Kind>(k))) return static_cast<Kind>(k);
  }
  value_error("there is no kind '{}'", name.substr(0, 40));
}

Answer runs(Index& index, const Arguments&) {
  Json out = Json::array();
  for (const RunInfo& r : index.runs()) {
    out.push_back(
        {{"id", r.id}, {"name", r.name}, {"first", r.first}, {"last", r.last}, {"step", r.step}});
  }
  return answer(out);
}

// {"scalar": [{"tag", "runs": [[run, count, last step, last value]…]}…], …}
Answer tags(Index& index, const Arguments&) {
  Json out = Json::object();
  for (const SeriesInfo& s : index.series()) {
    Json& kind = out[name_of(s.kind)];
    if (kind.is_null()) kind = Json::array();
    if (kind.empty() || kind.back()["tag"] != s.tag)
      kind.push_back({{"tag", s.tag}, {"runs", Json::array()}});
    kind.back()["runs"].push_back({s.run, s.count, s.last_step, value_of(s.last_value)});
  }
  return answer(out);
}

// Numbers as short as charts need them.
void append(fmt::memory_buffer* out, double v) {
  if (std::isfinite(v)) {
    fmt::format_to(std::back_inserter(*out), "{:.9g},", v);
  } else {
    fmt::format_to(std::back_inserter(*out), "null,");
  }
}

// {"runs": {id: {"step": […], "when": […], "min", "max", "mean", "count", "not_finite"}}}
Answer scalars(Index& index, const Arguments& a) {
  CurveQuery q;
  q.columns = number_or(a, "columns", 500);
  q.from = number_or(a, "from", q.from);
  q.to = number_or(a, "to", q.to);
  if (const std::string* axis = find(a, "axis")) {
    if (*axis != "step" && *axis != "time")
      value_error("'axis' must be step or time, got '{}'", axis->substr(0, 40));
    q.axis = *axis == "time" ? Axis::kTime : Axis::kStep;
  }
  const std::string& tag = text(a, "tag");
  fmt::memory_buffer out;
  fmt::format_to(std::back_inserter(out), "{{\"runs\":{{");
  bool first = true;
  for (int64_t run : numbers(text(a, "runs"), "runs")) {
    SeriesInfo s;
    try {
      s = index.find(run, Kind::kScalar, tag);
    } catch (const UserError& e) {
      if (e.kind() != ErrorKind::kKey) throw;
      continue;  // not each run has each tag
    }
    const std::vector<CurvePoint> points = index.curve(s.id, q);
    fmt::format_to(std::back_inserter(out), "{}\"{}\":{{", first ? "" : ",", run);
    first = false;
    bool first_column = true;
    const auto column = [&](const char* name, auto&& get) {
      fmt::format_to(std::back_inserter(out), "{}\"{}\":[", first_column ? "" : ",", name);
      first_column = false;
      for (const CurvePoint& p : points) append(&out, get(p));
      if (!points.empty()) out.resize(out.size() - 1);
      out.push_back(']');
    };
    column("step", [](const CurvePoint& p) { return static_cast<double>(p.step); });
    fmt::format_to(std::back_inserter(out), ",\"when\":[");
    for (const CurvePoint& p : points) fmt::format_to(std::back_inserter(out), "{:.3f},", p.when);
    if (!points.empty()) out.resize(out.size() - 1);
    out.push_back(']');
    column("mean", [](const CurvePoint& p) { return p.mean; });
    bool ranges = false;
    for (const CurvePoint& p : points) ranges |= p.count > 1;
    if (ranges) {
      column("min", [](const CurvePoint& p) { return p.min; });
      column("max", [](const CurvePoint& p) { return p.max; });
      column("count", [](const CurvePoint& p) { return static_cast<double>(p.count); });
    }
    column("not_finite", [](const CurvePoint& p) { return static_cast<double>(p.not_finite); });
    out.push_back('}');
  }
  fmt::format_to(std::back_inserter(out), "}}}}");
  return {fmt::to_string(out)};
}

SeriesInfo series_of(Index& index, const Arguments& a, Kind kind) {
  return index.find(number<int64_t>(text(a, "run"), "run"), kind, text(a, "tag"));
}

Answer histograms(Index& index, const Arguments& a) {
  const SeriesInfo s = series_of(index, a, Kind::kHistogram);
  Json out = Json::array();
  for (const Item& item : index.items(s.id, number_or<int64_t>(a, "limit", 50))) {
    index.read(item, [&](const Recorded& r) {
      const Distribution& d = r.distribution;
      Json limits = Json::array(), buckets = Json::array();
      for (double v : d.limits) limits.push_back(value_of(v));
      for (double v : d.buckets) buckets.push_back(value_of(v));
      out.push_back({{"step", r.step},
                     {"when", r.when},
                     {"min", value_of(d.min)},
                     {"max", value_of(d.max)},
                     {"count", value_of(d.count)},
                     {"sum", value_of(d.sum)},
                     {"sum_squares", value_of(d.sum_squares)},
                     {"limits", limits},
                     {"buckets", buckets}});
    });
  }
  return answer(out);
}

// [{"number", "step", "when"}…] of images, texts, tensors, records.
Answer items(Index& index, const Arguments& a) {
  const SeriesInfo s = series_of(index, a, kind_of(text(a, "kind")));
  Json out = Json::array();
  for (const Item& i : index.items(s.id, number_or<int64_t>(a, "limit", 1000)))
    out.push_back({{"number", i.number}, {"step", i.step}, {"when", i.when}});
  return answer(out);
}

// Calls f for the item that the address names; without a number for the last one.
void with_item(Index& index, const Arguments& a, Kind kind,
               const std::function<void(const Recorded&)>& f) {
  const SeriesInfo s = series_of(index, a, kind);
  const Item item = index.item(s.id, number_or<int64_t>(a, "number", s.count - 1));
  bool found = false;
  index.read(item, [&](const Recorded& r) {
    f(r);
    found = true;
  });
  if (!found) fail(ErrorKind::kKey, "'{}' cannot be read from its file any more", s.tag);
}

Answer image(Index& index, const Arguments& a) {
  Answer out;
  with_item(index, a, Kind::kImage, [&](const Recorded& r) {
    // Whatever somebody wrote into the file, a browser takes it for a picture or for nothing.
    const bool jpeg = r.content.starts_with("\xff\xd8"), gif = r.content.starts_with("GIF8");
    out = {std::string(r.content), jpeg ? "image/jpeg" : gif ? "image/gif" : "image/png"};
  });
  return out;
}

Answer texts(Index& index, const Arguments& a) {
  const SeriesInfo s = series_of(index, a, Kind::kText);
  Json out = Json::array();
  for (const Item& i : index.items(s.id, number_or<int64_t>(a, "limit", 50))) {
    index.read(i, [&](const Recorded& r) {
      out.push_back({{"step", r.step}, {"when", r.when}, {"text", std::string(r.content)}});
    });
  }
  return answer(out);
}

// A tensor's shape, statistics and its first elements.
Answer tensor(Index& index, const Arguments& a) {
  Json out;
  with_item(index, a, Kind::kTensor, [&](const Recorded& r) {
    Shape shape;
    for (int64_t d : r.shape) shape.push_back(std::max<int64_t>(d, 0));
    const int64_t n =
        std::min<int64_t>(shape.size(), static_cast<int64_t>(r.content.size() / size_of(r.dtype)));
    out = {{"step", r.step}, {"dtype", std::string(name_of(r.dtype))}, {"shape", r.shape}};
    if (!is_complex(r.dtype) && n > 0) {
      Tensor t = Tensor::empty(r.dtype, {n});
      __builtin_memcpy(t.mutable_raw(), r.content.data(), t.bytes());
      const Measured m = distribution_of(t);
      out["min"] = value_of(m.distribution.min);
      out["max"] = value_of(m.distribution.max);
      out["mean"] = value_of(m.distribution.sum / m.distribution.count);
      out["nan"] = m.nan;
      out["inf"] = m.inf;
      Json values = Json::array();
      for (int64_t i = 0; i < std::min<int64_t>(n, 4096); ++i)
        values.push_back(value_of(element_as_double(t.raw(), r.dtype, i)));
      out["values"] = values;
    }
  });
  return answer(out);
}

// JSON that a recorder wrote, as it stands in the file if it is JSON.
Answer record(Index& index, const Arguments& a) {
  Answer out;
  with_item(index, a, Kind::kRecord, [&](const Recorded& r) {
    if (!nlohmann::json::accept(r.content)) value_error("'{}' is no JSON", std::string(r.tag));
    out.body = std::string(r.content);
  });
  return out;
}

// [{"run", "name", "step", "first", "last", "facts": {…}, "scalars": {tag: last value}}…]
Answer lineage(Index& index, const Arguments&) {
  Json out = Json::array();
  std::map<int64_t, size_t> places;
  for (const RunInfo& r : index.runs()) {
    places[r.id] = out.size();
    out.push_back({{"run", r.id},
                   {"name", r.name},
                   {"step", r.step},
                   {"first", r.first},
                   {"last", r.last},
                   {"facts", Json::object()},
                   {"scalars", Json::object()}});
  }
  for (const Fact& f : index.facts()) {
    if (places.count(f.run)) out[places[f.run]]["facts"][f.key] = fact_of(f.value);
  }
  for (const SeriesInfo& s : index.series()) {
    if (s.kind == Kind::kScalar && places.count(s.run))
      out[places[s.run]]["scalars"][s.tag] = value_of(s.last_value);
  }
  return answer(out);
}

Answer problems(Index& index, const Arguments&) {
  Json out = Json::array();
  for (const Problem& p : index.problems()) out.push_back({{"file", p.file}, {"text", p.text}});
  return answer(out);
}

}  // namespace

const Questions& questions() {
  static const Questions kAll = [] {
    Questions all = {{"runs", runs},
                     {"tags", tags},
                     {"scalars", scalars},
                     {"histograms", histograms},
                     {"items", items},
                     {"image", image},
                     {"texts", texts},
                     {"tensor", tensor},
                     {"record", record},
                     {"lineage", lineage},
                     {"problems", problems},
                     {"profiles", profiles},
                     {"profile", profile_summary},
                     {"slices", profile_slices},
                     {"trace", profile_trace}};
    for (const auto& more : {debug_questions(), cluster_questions(), explain_questions()})
      all.insert(more.begin(), more.end());
    return all;
  }();
  return kAll;
}

}  // namespace mycel::insight::server
