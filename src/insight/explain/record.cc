#include "insight/explain/record.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "insight/debug/statistics.h"
#include "runtime/trace.h"

namespace mycel::insight {
namespace {

using Json = nlohmann::ordered_json;

RecorderOptions options() {
  RecorderOptions o;
  o.prefix = "explain";
  return o;
}

std::string text_of(const Json& j) {
  return j.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Tensor picture(const Tensor& given, const char* what) {
  if (!given) type_error("explain: there is no {}", what);
  Tensor t = runtime::concrete(given, "explain");
  if (t.rank() != 3 || (t.dim(0) != 1 && t.dim(0) != 3) || t.size() == 0 || is_complex(t.dtype()))
    value_error("explain: {} has the shape [c, h, w] with c = 1 or 3, got {}", what, t.describe());
  return t.view({1, t.dim(0), t.dim(1), t.dim(2)});
}

void check_probability(double p) {
  if (!(p >= 0 && p <= 1)) value_error("explain: a probability lies in [0, 1], got {}", p);
}

}  // namespace

ExplainRecorder::ExplainRecorder(const std::string& folder, const std::vector<std::string>& labels)
    : recorder_(folder, options()), classes_(static_cast<int64_t>(labels.size())) {
  if (labels.empty()) value_error("explain: there are no labels");
  recorder_.record("explain/labels", text_of(labels));
}

void ExplainRecorder::check_class(int64_t cls, bool may_be_none) const {
  if (cls >= classes_ || cls < (may_be_none ? -1 : 0))
    value_error("explain: class {} is none of {}", cls, classes_);
}

int64_t ExplainRecorder::sample(const Tensor& image, int64_t label,
                                const std::vector<double>& probabilities,
                                const std::vector<SaliencyMap>& maps) {
  const Tensor shown = picture(image, "an image");
  check_class(label, true);
  if (!probabilities.empty() && static_cast<int64_t>(probabilities.size()) != classes_)
    value_error("explain: {} probabilities for {} classes", probabilities.size(), classes_);
  for (double p : probabilities) check_probability(p);
  Tensors grey;
  Json listed = Json::array();
  for (const SaliencyMap& m : maps) {
    check_class(m.cls, false);
    if (!m.values) type_error("explain: there is no saliency map");
    Tensor t = runtime::concrete(m.values, "explain");
    if (t.rank() != 2 || t.size() == 0 || is_complex(t.dtype()))
      value_error("explain: a saliency map has the shape [h, w], got {}", t.describe());
    const debug::Statistics s = debug::statistics_of(t);
    Tensor scaled = Tensor::empty(DType::kUInt8, {1, 1, t.dim(0), t.dim(1)});
    uint8_t* to = scaled.mutable_data<uint8_t>().data();
    const double range = s.max > s.min ? s.max - s.min : 1;
    for (int64_t i = 0; i < t.size(); ++i) {
      const double v = (element_as_double(t.raw(), t.dtype(), i) - s.min) / range;
      to[i] =
          std::isfinite(v) ? static_cast<uint8_t>(std::lround(std::clamp(v, 0.0, 1.0) * 255)) : 0;
    }
    grey.push_back(scaled);
    listed.push_back({{"method", m.method},
                      {"class", m.cls},
                      {"map", maps_ + static_cast<int64_t>(grey.size()) - 1},
                      {"low", s.min},
                      {"high", s.max}});
  }
  recorder_.image("explain/image", shown, samples_);
  for (const Tensor& t : grey) recorder_.image("explain/map", t, maps_++);
  recorder_.record("explain/sample",
                   text_of({{"sample", samples_},
                            {"label", label},
                            {"probabilities", probabilities},
                            {"image", samples_},
                            {"maps", listed}}),
                   samples_);
  return samples_++;
}

void ExplainRecorder::counterfactual(int64_t sample, int64_t cls, const std::string& method,
                                     const std::vector<std::pair<Tensor, double>>& steps) {
  if (sample < 0 || sample >= samples_)
    value_error("explain: sample {} is none of {}", sample, samples_);
  check_class(cls, false);
  if (steps.empty()) value_error("explain: a counterfactual has at least one step");
  Tensors shown;
  Json listed = Json::array();
  for (const auto& [image, probability] : steps) {
    shown.push_back(picture(image, "a step of a counterfactual"));
    check_probability(probability);
    listed.push_back({{"image", masked_ + static_cast<int64_t>(shown.size()) - 1},
                      {"probability", probability}});
  }
  for (const Tensor& t : shown) recorder_.image("explain/masked", t, masked_++);
  recorder_.record(
      "explain/counterfactual",
      text_of({{"sample", sample}, {"class", cls}, {"method", method}, {"steps", listed}}), sample);
}

void ExplainRecorder::score(const std::string& method, const std::string& metric, int64_t cls,
                            double value) {
  check_class(cls, true);
  if (!std::isfinite(value)) value_error("explain: a score must be finite, got {}", value);
  recorder_.record(
      "explain/score",
      text_of({{"method", method}, {"metric", metric}, {"class", cls}, {"value", value}}));
}

}  // namespace mycel::insight
