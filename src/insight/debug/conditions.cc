#include "insight/debug/conditions.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace mycel::insight::debug {

const Statistics& Facts::now() {
  if (!now_) now_ = statistics_of(value_);
  return *now_;
}
const Change& Facts::change() {
  if (!change_) change_ = before_ ? change_of(value_, before_) : Change{};
  return *change_;
}
int64_t Facts::changed(double rtol, double atol) {
  return before_ ? changed_elements(value_, before_, rtol, atol) : -1;
}
double Facts::inside(double low, double high) { return percent_inside(value_, low, high); }

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// Of finite elements: without any there is nothing to compare.
template <double (*measure)(const Statistics&)>
double finite(Facts& f, const Given&) {
  const Statistics& s = f.now();
  return s.count > s.not_finite() ? measure(s) : kNone;
}
double abs_mean(const Statistics& s) { return s.abs_mean; }
double maximum(const Statistics& s) { return s.max; }
double minimum(const Statistics& s) { return s.min; }
double mean(const Statistics& s) { return s.mean; }
double deviation(const Statistics& s) { return s.deviation; }
double norm(const Statistics& s) { return s.l2; }
double spread(const Statistics& s) { return s.max - s.min; }
double share(int64_t part, int64_t all) {
  return all ? 100.0 * static_cast<double>(part) / static_cast<double>(all) : 0;
}
double zeros(Facts& f, const Given&) { return share(f.now().zero, f.now().count); }
double negatives(Facts& f, const Given&) { return share(f.now().negative, f.now().count); }
double not_finite(Facts& f, const Given&) { return static_cast<double>(f.now().not_finite()); }
double not_finite_share(Facts& f, const Given&) {
  return share(f.now().not_finite(), f.now().count);
}
double born_not_finite(Facts& f, const Given&) {
  return f.finite_operands() ? static_cast<double>(f.now().not_finite()) : 0;
}
double inside_range(Facts& f, const Given& g) {
  return f.inside(g.at("range_start_inclusive"), g.at("range_end_inclusive"));
}
// Outside of the open range between the two ends of what the function can give.
double saturated(Facts& f, const Given& g) {
  const double low = g.at("saturation_low"), high = g.at("saturation_high");
  return 100 - f.inside(std::nextafter(low, high), std::nextafter(high, low));
}
// At the first sight alone: how a tensor begins.
double first_zeros(Facts& f, const Given& g) { return f.first() ? zeros(f, g) : kNone; }
double first_max(Facts& f, const Given&) { return f.first() ? finite<maximum>(f, {}) : kNone; }
double first_min(Facts& f, const Given&) { return f.first() ? finite<minimum>(f, {}) : kNone; }
double update_ratio(Facts& f, const Given& g) {
  const Change& c = f.change();
  if (!f.has_before() || c.count == 0) return kNone;
  return c.abs_mean / (c.before_mean + g.at("epsilon"));
}
double unchanged(Facts& f, const Given& g) {
  return f.changed(g.at("rtol"), g.at("atol")) == 0 ? 1 : 0;
}

constexpr const char* kRatio = "ratio";
constexpr const char* kPercent = "%";

using Parameters = std::vector<ParameterRecord>;
constexpr ParameterRecord kEpsilon = {
    "epsilon", "Added to the mean size of the step before.", "", 1e-9, true, nullptr, ' '};

Parameters too_large(double abs_mean_gt) {
  return {{"abs_mean_gt", "Mean of absolute values above this.", "", abs_mean_gt, true,
           finite<abs_mean>, '>'},
          {"max_gt", "Largest element above this.", "", 0, false, finite<maximum>, '>'},
          {"min_gt", "Smallest element above this.", "", 0, false, finite<minimum>, '>'},
          {"mean_gt", "Mean above this.", "", 0, false, finite<mean>, '>'}};
}
Parameters too_small(double abs_mean_lt) {
  return {{"abs_mean_lt", "Mean of absolute values below this.", "", abs_mean_lt, true,
           finite<abs_mean>, '<'},
          {"max_lt", "Largest element below this.", "", 0, false, finite<maximum>, '<'},
          {"min_lt", "Smallest element below this.", "", 0, false, finite<minimum>, '<'},
          {"mean_lt", "Mean below this.", "", 0, false, finite<mean>, '<'}};
}
Parameters range(double low, double high) {
  return {{"range_start_inclusive", "Where the range begins.", "", low, true, nullptr, ' '},
          {"range_end_inclusive", "Where the range ends.", "", high, true, nullptr, ' '},
          {"range_percentage_lt", "Less than this share of elements in the range.", kPercent, 100,
           true, inside_range, '<'},
          {"range_percentage_gt", "More than this share of elements in the range.", kPercent, 0,
           false, inside_range, '>'},
          {"max_min_lt", "Largest minus smallest element below this.", "", 0, false, finite<spread>,
           '<'},
          {"max_min_gt", "Largest minus smallest element above this.", "", 0, false, finite<spread>,
           '>'}};
}
Parameters change_large(double ratio) {
  return {{"abs_mean_update_ratio_gt",
           "Mean change since the step before, as a share of the mean size, above this.", kRatio,
           ratio, true, update_ratio, '>'},
          kEpsilon};
}
Parameters change_small(double ratio) {
  return {{"abs_mean_update_ratio_lt",
           "Mean change since the step before, as a share of the mean size, below this.", kRatio,
           ratio, true, update_ratio, '<'},
          kEpsilon};
}
Parameters tolerances() {
  return {
      {"rtol", "Relative difference that counts as no change.", kRatio, 1e-5, true, nullptr, ' '},
      {"atol", "Absolute difference that counts as no change.", "", 1e-8, true, nullptr, ' '}};
}
Parameters initial() {
  return {{"zero_percentage_ge", "At least this share of elements 0 when first seen.", kPercent,
           100, true, first_zeros, 'g'},
          {"max_gt", "Largest element above this when first seen.", "", 0, false, first_max, '>'},
          {"min_lt", "Smallest element below this when first seen.", "", 0, false, first_min, '<'}};
}
Parameters general() {
  return {
      {"max_gt", "Largest element above this.", "", 0, false, finite<maximum>, '>'},
      {"max_lt", "Largest element below this.", "", 0, false, finite<maximum>, '<'},
      {"min_gt", "Smallest element above this.", "", 0, false, finite<minimum>, '>'},
      {"min_lt", "Smallest element below this.", "", 0, false, finite<minimum>, '<'},
      {"mean_gt", "Mean above this.", "", 0, false, finite<mean>, '>'},
      {"mean_lt", "Mean below this.", "", 0, false, finite<mean>, '<'},
      {"abs_mean_gt", "Mean of absolute values above this.", "", 0, false, finite<abs_mean>, '>'},
      {"abs_mean_lt", "Mean of absolute values below this.", "", 0, false, finite<abs_mean>, '<'},
      {"sd_gt", "Standard deviation above this.", "", 0, false, finite<deviation>, '>'},
      {"sd_lt", "Standard deviation below this.", "", 0, false, finite<deviation>, '<'},
      {"norm_gt", "Euclidean norm above this.", "", 0, false, finite<norm>, '>'},
      {"norm_lt", "Euclidean norm below this.", "", 0, false, finite<norm>, '<'},
      {"zero_percentage_ge", "At least this share of elements 0.", kPercent, 0, false, zeros, 'g'},
      {"not_finite_percentage_gt", "More than this share NaN or infinite.", kPercent, 0, false,
       not_finite_share, '>'}};
}

std::vector<ConditionRecord> make() {
  return {
      {"tensor_overflow",
       "TensorOverflowCondition",
       Role::kTensor,
       "Some element is NaN or infinite.",
       "存在 NaN 或无穷大元素",
       {},
       not_finite,
       false},
      {"operator_overflow",
       "OperatorOverflowCondition",
       Role::kTensor,
       "An operator makes NaN or infinity out of finite operands: where it begins.",
       "算子由有限输入产生 NaN 或无穷大",
       {},
       born_not_finite,
       false},
      {"tensor_initialization", "TensorInitializationCondition", Role::kTensor,
       "How a tensor begins.", "张量初始值异常", initial(), nullptr, false},
      {"tensor_all_zero",
       "TensorAllZeroCondition",
       Role::kTensor,
       "Elements are 0.",
       "张量全为零",
       {{"zero_percentage_ge", "At least this share of elements 0.", kPercent, 100, true, zeros,
         'g'}},
       nullptr,
       false},
      {"tensor_negative",
       "",
       Role::kTensor,
       "Elements are negative.",
       "张量含负数",
       {{"negative_percentage_gt", "More than this share of elements below 0.", kPercent, 0, true,
         negatives, '>'}},
       nullptr,
       false},
      {"tensor_too_large", "TensorTooLargeCondition", Role::kTensor, "Values are large.",
       "张量值过大", too_large(1e3), nullptr, false},
      {"tensor_too_small", "TensorTooSmallCondition", Role::kTensor, "Values are small.",
       "张量值过小", too_small(1e-9), nullptr, false},
      {"tensor_range", "TensorRangeCondition", Role::kTensor,
       "Elements leave a range, or the range of elements is odd.", "张量值超出范围",
       range(-1e3, 1e3), nullptr, false},
      {"tensor_unchanged", "TensorUnchangedCondition", Role::kTensor,
       "No element has changed since the step before.", "张量值未变化", tolerances(), unchanged,
       true},
      {"tensor_change_too_large", "TensorChangeAboveThresholdCondition", Role::kTensor,
       "Values change fast.", "张量变化过大", change_large(10), nullptr, true},
      {"tensor_change_too_small", "TensorChangeBelowThresholdCondition", Role::kTensor,
       "Values hardly change.", "张量变化过小", change_small(1e-9), nullptr, true},
      {"tensor_general", "", Role::kTensor, "Any statistic against a threshold.", "通用张量检查",
       general(), nullptr, false},
      {"weight_overflow",
       "",
       Role::kWeight,
       "Some weight is NaN or infinite.",
       "权重溢出",
       {},
       not_finite,
       false},
      {"weight_initialization", "", Role::kWeight, "How a weight begins.", "权重初始值异常",
       initial(), nullptr, false},
      {"weight_too_large", "", Role::kWeight, "Weights are large.", "权重过大", too_large(10),
       nullptr, false},
      {"weight_too_small", "", Role::kWeight, "Weights are small.", "权重过小", too_small(1e-6),
       nullptr, false},
      {"weight_change_too_large", "", Role::kWeight, "A step changes weights much.", "权重变化过大",
       change_large(0.1), nullptr, true},
      {"weight_change_too_small", "", Role::kWeight, "A step hardly changes weights.",
       "权重变化过小", change_small(1e-4), nullptr, true},
      {"weight_not_changed", "", Role::kWeight, "A step leaves a weight as it was.", "权重未变化",
       tolerances(), unchanged, true},
      {"gradient_vanishing", "", Role::kGradient, "A gradient is next to nothing.", "梯度消失",
       too_small(1e-9), nullptr, false},
      {"gradient_too_large", "", Role::kGradient, "A gradient is large.", "梯度过大", too_large(10),
       nullptr, false},
      {"gradient_exploding",
       "",
       Role::kGradient,
       "Some element of a gradient is NaN or infinite.",
       "梯度爆炸",
       {},
       not_finite,
       false},
      {"activation_range", "", Role::kActivation, "Results of activation functions leave a range.",
       "激活值超出范围", range(-1e3, 1e3), nullptr, false},
      {"activation_saturation",
       "",
       Role::kActivation,
       "Results of activation functions lie at the ends of what they can be.",
       "激活值饱和",
       {{"saturation_low", "The lower end and below.", "", -0.99, true, nullptr, ' '},
        {"saturation_high", "The upper end and above.", "", 0.99, true, nullptr, ' '},
        {"saturation_percentage_gt", "More than this share of elements there.", kPercent, 90, true,
         saturated, '>'}},
       nullptr,
       false},
      {"loss_overflow",
       "",
       Role::kLoss,
       "The loss is NaN or infinite.",
       "损失溢出",
       {},
       not_finite,
       false},
      {"loss_too_large", "", Role::kLoss, "The loss is large.", "损失过大", too_large(1e4), nullptr,
       false},
      {"loss_change_too_large", "", Role::kLoss, "The loss jumps.", "损失突变", change_large(5),
       nullptr, true},
      {"loss_unchanged", "", Role::kLoss, "The loss is what it was a step before.", "损失未变化",
       tolerances(), unchanged, true},
  };
}

bool holds(char compare, double measured, double threshold) {
  if (compare == '>') return measured > threshold;
  if (compare == '<') return measured < threshold;
  return measured >= threshold;
}

const char* const kRoles[] = {"tensor", "weight", "gradient", "activation", "loss", "state"};

}  // namespace

const char* name_of(Role r) { return kRoles[static_cast<int>(r)]; }

std::optional<Role> role_named(const std::string& name) {
  for (int i = 0; i < 6; ++i) {
    if (name == kRoles[i]) return static_cast<Role>(i);
  }
  return {};
}

const std::vector<ConditionRecord>& conditions() {
  static const auto* all = new std::vector<ConditionRecord>(make());
  return *all;
}

const ConditionRecord& condition_named(const std::string& name) {
  std::vector<const char*> names;
  for (const ConditionRecord& c : conditions()) {
    if (name == c.name) return c;
    names.push_back(c.name);
  }
  const std::string near = did_you_mean(name, names.data(), names.size());
  fail(ErrorKind::kKey, "there is no condition '{}'.{}", name.substr(0, 80),
       near.empty() ? "" : fmt::format(" Did you mean '{}'?", near));
}

Given complete(const ConditionRecord& c, const Given& given) {
  Given all;
  bool test = c.fixed != nullptr;
  for (const ParameterRecord& p : c.parameters) {
    auto found = given.find(p.name);
    // Naming a test switches off those that are on without being named.
    bool others = false;
    for (const auto& [name, value] : given) {
      for (const ParameterRecord& q : c.parameters) others |= name == q.name && q.measure;
    }
    if (found != given.end()) {
      if (!std::isfinite(found->second))
        value_error("{}: '{}' must be a finite number", c.name, p.name);
      all[p.name] = found->second;
    } else if (p.set && !(p.measure && others)) {
      all[p.name] = p.otherwise;
    }
    test |= p.measure && all.count(p.name);
  }
  for (const auto& [name, value] : given) {
    if (all.count(name)) continue;
    std::vector<const char*> names;
    for (const ParameterRecord& p : c.parameters) names.push_back(p.name);
    const std::string near = did_you_mean(name, names.data(), names.size());
    fail(ErrorKind::kKey, "{} has no parameter '{}'.{}", c.name, name.substr(0, 80),
         near.empty() ? "" : fmt::format(" Did you mean '{}'?", near));
  }
  if (!test) value_error("{}: give at least one of its thresholds", c.name);
  return all;
}

std::vector<Finding> check(const ConditionRecord& c, const Given& completed, Facts& facts) {
  std::vector<Finding> found;
  if (facts.value().size() == 0) return found;
  if (c.fixed) {
    const double measured = c.fixed(facts, completed);
    if (measured > 0) found.push_back({"", 0, measured});
  }
  for (const ParameterRecord& p : c.parameters) {
    auto threshold = completed.find(p.name);
    if (!p.measure || threshold == completed.end()) continue;
    const double measured = p.measure(facts, completed);
    if (holds(p.compare, measured, threshold->second))
      found.push_back({p.name, threshold->second, measured});
  }
  return found;
}

std::string conditions_json() {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const ConditionRecord& c : conditions()) {
    nlohmann::ordered_json params = nlohmann::ordered_json::array();
    for (const ParameterRecord& p : c.parameters) {
      params.push_back({{"name", p.name},
                        {"doc", p.doc},
                        {"unit", p.unit},
                        {"default", p.otherwise},
                        {"set", p.set},
                        {"test", p.measure != nullptr}});
    }
    out.push_back({{"name", c.name},
                   {"published", c.published},
                   {"role", name_of(c.role)},
                   {"doc", c.doc},
                   {"chinese", c.chinese},
                   {"compares", c.compares},
                   {"parameters", params}});
  }
  return out.dump();
}

std::string conditions_markdown() {
  std::string out =
      "| condition | looks at | holds when | parameters (defaults) |\n|---|---|---|---|\n";
  for (const ConditionRecord& c : conditions()) {
    std::string params;
    for (const ParameterRecord& p : c.parameters) {
      params += params.empty() ? "" : ", ";
      params += fmt::format("`{}`", p.name);
      if (p.set) params += fmt::format(" ({:g}{}{})", p.otherwise, *p.unit ? " " : "", p.unit);
    }
    out += fmt::format("| `{}` | {} | {} | {} |\n", c.name, name_of(c.role), c.doc,
                       params.empty() ? "–" : params);
  }
  return out;
}

}  // namespace mycel::insight::debug
