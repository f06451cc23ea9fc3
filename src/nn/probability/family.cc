#include "nn/probability/family.h"

#include <cmath>

#include "base/error.h"
#include "tensor/element.h"

namespace mycel::nn::probability {
namespace {

void check_sums(const char* owner, const char* name, const Tensor& value) {
  if (value.rank() == 0) value_error("{}: '{}' must have at least 1 dim, got 0", owner, name);
  DType d = value.dtype();
  int64_t n = value.dim(value.rank() - 1);
  double allowed = d == DType::kFloat64 ? 1e-9 : d == DType::kFloat32 ? 1e-5 : 1e-2;
  for (int64_t row = 0; n && row < value.size() / n; ++row) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += element_as_double(value.raw(), d, row * n + i);
    if (!(std::abs(sum - 1) <= allowed)) {
      value_error("{}: '{}' must sum to 1 along the last dim, got a sum of {}", owner, name, sum);
    }
  }
}

}  // namespace

void check_parameter(const char* owner, const ParamDef& def, const Tensor& value) {
  Domain domain = def.domain;
  if (domain == Domain::kAny || domain == Domain::kAbovePrevious || !value.concrete()) return;
  bool probability = domain == Domain::kProbability || domain == Domain::kProbabilities;
  bool from_zero = domain == Domain::kNotNegative;
  for (int64_t k = 0; k < value.size(); ++k) {
    double v = element_as_double(value.raw(), value.dtype(), k);
    if (!(v > 0 || (from_zero && v == 0)) || (probability && !(v < 1))) {
      value_error("{}: '{}' must be {}, got {}", owner, def.name,
                  probability ? "between 0 and 1"
                  : from_zero ? "0 or above"
                              : "above 0",
                  v);
    }
  }
  if (domain == Domain::kProbabilities) check_sums(owner, def.name, value);
}

Family::Of Family::of(std::string_view quantity) const {
  const std::pair<std::string_view, Of> table[] = {
      {"mean", mean}, {"mode", mode}, {"sd", sd}, {"var", var}, {"entropy", entropy}};
  for (const auto& [name, f] : table) {
    if (name == quantity) return f;
  }
  return nullptr;
}

Family::At Family::at(std::string_view quantity) const {
  const std::pair<std::string_view, At> table[] = {{"prob", prob},
                                                   {"log_prob", log_prob},
                                                   {"cdf", cdf},
                                                   {"log_cdf", log_cdf},
                                                   {"survival_function", survival_function},
                                                   {"log_survival", log_survival}};
  for (const auto& [name, f] : table) {
    if (name == quantity) return f;
  }
  return nullptr;
}

const Families& all_families() {
  static const Families all = [] {
    Families out;
    for (const Families& room :
         {line_families(), positive_families(), bounded_families(), discrete_families()}) {
      out.insert(out.end(), room.begin(), room.end());
    }
    return out;
  }();
  return all;
}

const Family& family(std::string_view name) {
  std::vector<const char*> names;
  for (const Family* f : all_families()) {
    if (name == f->name) return *f;
    names.push_back(f->name);
  }
  std::string meant = did_you_mean(std::string(name), names.data(), names.size());
  value_error("there is no distribution '{}'{}", name,
              meant.empty() ? "" : "; did you mean '" + meant + "'?");
}

}  // namespace mycel::nn::probability
