#include "insight/debug/desk.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "insight/distribution.h"

namespace mycel::insight::debug {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostListed = 1000, kMostFound = 200, kMostHits = 2000;
constexpr int64_t kHeat = 64;  // cells along a side of a heat map
constexpr int64_t kWindowRows = 24, kWindowColumns = 12;
constexpr int64_t kMostRead = int64_t{4} << 20;  // elements that a heat map looks at

Json number(double v) {
  if (std::isfinite(v)) return v;
  return std::isnan(v) ? "nan" : v > 0 ? "inf" : "-inf";
}

std::string text(const Json& q, const char* name, const char* otherwise = nullptr) {
  if (!q.contains(name) && otherwise) return otherwise;
  if (!q.contains(name) || !q[name].is_string()) value_error("'{}' must be a text", name);
  return q[name].get<std::string>();
}

int64_t whole(const Json& q, const char* name, int64_t otherwise) {
  if (!q.contains(name)) return otherwise;
  if (!q[name].is_number_integer()) value_error("'{}' must be a whole number", name);
  return q[name].get<int64_t>();
}

Json statistics_json(const Statistics& s) {
  return {{"count", s.count},       {"nan", s.nan},
          {"inf", s.positive_inf},  {"-inf", s.negative_inf},
          {"zero", s.zero},         {"negative", s.negative},
          {"min", s.min},           {"max", s.max},
          {"mean", s.mean},         {"deviation", s.deviation},
          {"abs_mean", s.abs_mean}, {"l2", s.l2}};
}

std::vector<int64_t> dims_of(const Shape& s) {
  std::vector<int64_t> out;
  for (int64_t d : s) out.push_back(d);
  return out;
}

Json brief(const Entry& e) {
  Json out = {{"name", e.name},
              {"role", name_of(e.role)},
              {"op", e.op},
              {"at", e.at},
              {"scope", e.scope},
              {"dtype", std::string(name_of(e.dtype))},
              {"shape", dims_of(e.shape)},
              {"order", e.order},
              {"visits", e.visits}};
  out["kept"] = static_cast<bool>(e.value);
  if (e.statistics) out["not_finite"] = e.statistics->not_finite();
  return out;
}

int64_t step_of(Shelf& shelf, const Json& q) {
  const std::vector<int64_t> steps = shelf.steps();
  if (steps.empty()) fail(ErrorKind::kKey, "no step has values yet");
  const int64_t step = whole(q, "step", steps.back());
  if (std::find(steps.begin(), steps.end(), step) == steps.end())
    fail(ErrorKind::kKey, "the values of step {} are not there", step);
  return step;
}

Json tree(Shelf& shelf, const Json& q) {
  const int64_t step = step_of(shelf, q);
  const std::string scope = text(q, "scope", "");
  const std::string prefix = scope.empty() ? "" : scope + "/";
  struct Group {
    int64_t count = 0, order = 0;
  };
  std::map<std::string, Group> groups;
  Json entries = Json::array();
  int64_t count = 0;
  for (const Entry& e : shelf.entries(step)) {
    if (!e.name.starts_with(prefix)) continue;
    const size_t slash = e.name.find('/', prefix.size());
    if (slash != e.name.npos) {
      Group& g = groups[e.name.substr(prefix.size(), slash - prefix.size())];
      if (g.count++ == 0) g.order = e.order;
    } else if (++count <= static_cast<int64_t>(kMostListed)) {
      entries.push_back(brief(e));
    }
  }
  std::vector<std::pair<std::string, Group>> sorted(groups.begin(), groups.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const auto& a, const auto& b) { return a.second.order < b.second.order; });
  if (sorted.size() > kMostListed) sorted.resize(kMostListed);
  Json listed = Json::array();
  for (const auto& [name, g] : sorted) listed.push_back({{"name", name}, {"count", g.count}});
  return {
      {"step", step}, {"scope", scope}, {"groups", listed}, {"entries", entries}, {"count", count}};
}

Json search(Shelf& shelf, const Json& q) {
  const int64_t step = step_of(shelf, q);
  const std::string wanted = text(q, "text", ""), role = text(q, "role", "");
  if (!role.empty() && !role_named(role)) value_error("there is no role '{}'", role.substr(0, 40));
  Json entries = Json::array();
  int64_t count = 0;
  for (const Entry& e : shelf.entries(step)) {
    if (!role.empty() && role != name_of(e.role)) continue;
    if (e.name.find(wanted) == e.name.npos && e.at.find(wanted) == e.at.npos) continue;
    if (++count <= static_cast<int64_t>(kMostFound)) entries.push_back(brief(e));
  }
  return {{"step", step}, {"entries", entries}, {"count", count}};
}

// Two dims of a tensor as a matrix; the others at one place.
struct Slice {
  int64_t base = 0, rows = 1, columns = 1, row_stride = 0, column_stride = 0;
  std::string text;  // as it was understood
};

Slice slice_of(const Shape& shape, const std::string& given) {
  std::vector<int64_t> strides(shape.rank());
  int64_t stride = 1;
  for (int d = shape.rank(); d-- > 0;) {
    strides[d] = stride;
    stride *= shape[d];
  }
  std::vector<int64_t> at(shape.rank(), 0);
  for (int d = std::max(0, shape.rank() - 2); d < shape.rank(); ++d) at[d] = -1;
  if (!given.empty()) {
    int d = 0, open = 0;
    for (size_t i = 0; i <= given.size(); ++d) {
      const size_t end = std::min(given.find(',', i), given.size());
      const std::string part = given.substr(i, end - i);
      if (d >= shape.rank())
        value_error("slice '{}' has more parts than the tensor has dims, {}", given.substr(0, 80),
                    shape.rank());
      if (part == ":") {
        at[d] = -1;
        ++open;
      } else {
        int64_t index = 0;
        const auto [stop, error] = std::from_chars(part.data(), part.data() + part.size(), index);
        if (error != std::errc() || stop != part.data() + part.size())
          value_error("a slice has whole numbers and ':', got '{}'", part.substr(0, 40));
        if (index < 0) index += shape[d];
        if (index < 0 || index >= shape[d])
          value_error("slice: {} is outside of dim {} of {}", part, d, shape[d]);
        at[d] = index;
      }
      i = end + 1;
    }
    if (d != shape.rank())
      value_error("slice '{}' has {} parts; the tensor has {} dims", given.substr(0, 80), d,
                  shape.rank());
    if (open > 2) value_error("slice '{}': at most two ':'", given.substr(0, 80));
  }
  Slice s;
  bool columns = false;
  for (int d = shape.rank(); d-- > 0;) {
    s.text = (at[d] < 0 ? ":" : std::to_string(at[d])) + (s.text.empty() ? "" : ",") + s.text;
    if (at[d] >= 0) {
      s.base += at[d] * strides[d];
    } else if (!columns) {
      columns = true;
      s.columns = shape[d];
      s.column_stride = strides[d];
    } else {
      s.rows = shape[d];
      s.row_stride = strides[d];
    }
  }
  return s;
}

double element(const Tensor& t, int64_t i) {
  if (!is_complex(t.dtype())) return element_as_double(t.raw(), t.dtype(), i);
  // The size of a complex number.
  if (t.dtype() == DType::kComplex64) {
    const auto* p = static_cast<const float*>(t.raw()) + 2 * i;
    return std::hypot(static_cast<double>(p[0]), static_cast<double>(p[1]));
  }
  const auto* p = static_cast<const double*>(t.raw()) + 2 * i;
  return std::hypot(p[0], p[1]);
}

// The mean of each cell's finite elements, and what else it holds: 1 NaN, 2 infinity.
template <typename F>
Json heat(const Slice& s, F&& at) {
  const int64_t rows = std::min(s.rows, kHeat), columns = std::min(s.columns, kHeat);
  Json cells = Json::array(), marks = Json::array();
  const int64_t each = std::max<int64_t>(1, kMostRead / std::max<int64_t>(1, rows * columns));
  double low = INFINITY, high = -INFINITY;
  bool sampled = false;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      const int64_t top = r * s.rows / rows, bottom = (r + 1) * s.rows / rows;
      const int64_t left = c * s.columns / columns, right = (c + 1) * s.columns / columns;
      const int64_t all = (bottom - top) * (right - left), taken = std::min(all, each);
      sampled |= taken < all;
      double sum = 0;
      int64_t finite = 0;
      int mark = 0;
      for (int64_t k = 0; k < taken; ++k) {
        const int64_t place = taken == all ? k : k * (all / taken);
        const double v = at(s.base + (top + place / (right - left)) * s.row_stride +
                            (left + place % (right - left)) * s.column_stride);
        if (std::isfinite(v)) {
          sum += v;
          ++finite;
        } else {
          mark |= std::isnan(v) ? 1 : 2;
        }
      }
      const double mean = finite ? sum / static_cast<double>(finite) : NAN;
      if (finite) {
        low = std::min(low, mean);
        high = std::max(high, mean);
      }
      cells.push_back(finite ? Json(mean) : Json(nullptr));
      marks.push_back(mark);
    }
  }
  return {{"rows", rows},
          {"columns", columns},
          {"cells", cells},
          {"marks", marks},
          {"low", low <= high ? Json(low) : Json(nullptr)},
          {"high", low <= high ? Json(high) : Json(nullptr)},
          {"sampled", sampled}};
}

Json histogram(const Tensor& t) {
  if (is_complex(t.dtype()) || t.size() == 0) return nullptr;
  const Measured m = distribution_of(t, 40);
  if (m.distribution.count == 0) return nullptr;
  return {{"min", m.distribution.min},
          {"limits", m.distribution.limits},
          {"buckets", m.distribution.buckets}};
}

Json tensor(Shelf& shelf, const Json& q) {
  const int64_t step = step_of(shelf, q);
  const std::string name = text(q, "name");
  std::optional<Entry> e = shelf.find(step, name);
  if (!e) fail(ErrorKind::kKey, "step {} has no tensor '{}'", step, name.substr(0, 200));
  Json out = brief(*e);
  out["step"] = step;
  out["inputs"] = e->inputs;
  if (!e->value) {
    if (e->statistics) out["statistics"] = statistics_json(*e->statistics);
    return out;
  }
  const Tensor& t = e->value;
  out["statistics"] = statistics_json(statistics_of(t));
  const std::vector<double> quantiles = quantiles_of(t, {0.01, 0.25, 0.5, 0.75, 0.99});
  out["quantiles"] = quantiles;
  out["histogram"] = histogram(t);
  if (t.size() == 0) return out;
  const Slice s = slice_of(t.shape(), text(q, "slice", ""));
  out["slice"] = s.text;
  out["heat"] = heat(s, [&](int64_t i) { return element(t, i); });
  const int64_t row = std::clamp<int64_t>(whole(q, "row", 0), 0, s.rows - 1);
  const int64_t column = std::clamp<int64_t>(whole(q, "column", 0), 0, s.columns - 1);
  Json window = Json::array();
  for (int64_t r = row; r < std::min(s.rows, row + kWindowRows); ++r) {
    Json line = Json::array();
    for (int64_t c = column; c < std::min(s.columns, column + kWindowColumns); ++c)
      line.push_back(number(element(t, s.base + r * s.row_stride + c * s.column_stride)));
    window.push_back(line);
  }
  out["window"] = {{"row", row},
                   {"column", column},
                   {"rows", s.rows},
                   {"columns", s.columns},
                   {"values", window}};
  // Against the step before that is there.
  const std::vector<int64_t> steps = shelf.steps();
  auto now = std::find(steps.begin(), steps.end(), step);
  if (now == steps.begin()) return out;
  std::optional<Entry> was = shelf.find(*(now - 1), name);
  if (!was || !was->value || !(was->value.shape() == t.shape())) return out;
  const Tensor& b = was->value;
  const Change c = change_of(t, b);
  out["before"] = {{"step", *(now - 1)},
                   {"statistics", statistics_json(statistics_of(b))},
                   {"mean_change", c.abs_mean},
                   {"largest_change", c.max},
                   {"ratio", c.before_mean > 0 ? Json(c.abs_mean / c.before_mean) : Json(nullptr)},
                   {"heat", heat(s, [&](int64_t i) { return element(t, i) - element(b, i); })}};
  return out;
}

Json check(Shelf& shelf, const Json& q) {
  if (!q.contains("watchpoints") || !q["watchpoints"].is_array())
    value_error("'watchpoints' must be a list");
  Watches watches;
  for (const Json& w : q["watchpoints"]) watches.add(watchpoint_of(w));
  Json hits = Json::array();
  for (const Hit& h : recheck(shelf, watches, kMostHits)) hits.push_back(to_json(h));
  return {{"hits", hits}, {"most", kMostHits}};
}

}  // namespace

Json answer_of(Shelf& shelf, const Json& q) {
  if (!q.is_object()) value_error("a question is an object");
  const std::string ask = text(q, "ask");
  if (ask == "steps") return {{"steps", shelf.steps()}};
  if (ask == "tree") return tree(shelf, q);
  if (ask == "search") return search(shelf, q);
  if (ask == "tensor") return tensor(shelf, q);
  if (ask == "check") return check(shelf, q);
  value_error("there is no question '{}'", ask.substr(0, 40));
}

}  // namespace mycel::insight::debug
