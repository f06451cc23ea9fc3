#include "nn/probability/derive.h"

#include <vector>

#include "mycel/ops.h"
#include "nn/arith.h"

namespace mycel::nn::probability {
namespace {

struct Rule {
  std::string_view wanted, source;
  Tensor (*how)(const Tensor&);
};

Tensor rest(const Tensor& p) { return 1.0 - p; }

// In order of preference; log before complement keeps small probabilities.
constexpr Rule kRules[] = {
    {"prob", "log_prob", ops::exp},
    {"log_prob", "prob", ops::log},
    {"sd", "var", ops::sqrt},
    {"var", "sd", ops::square},
    {"cdf", "log_cdf", ops::exp},
    {"cdf", "survival_function", rest},
    {"survival_function", "log_survival", ops::exp},
    {"survival_function", "cdf", rest},
    {"log_cdf", "cdf", ops::log},
    {"log_survival", "survival_function", ops::log},
};

Tensor search(std::string_view quantity, const std::function<Tensor(std::string_view)>& own,
              std::vector<std::string_view>& tried) {
  if (Tensor t = own(quantity)) return t;
  tried.push_back(quantity);
  for (const Rule& r : kRules) {
    if (r.wanted != quantity) continue;
    if (std::find(tried.begin(), tried.end(), r.source) != tried.end()) continue;
    if (Tensor t = search(r.source, own, tried)) return r.how(t);
  }
  return {};
}

}  // namespace

Tensor derive(std::string_view quantity, const std::function<Tensor(std::string_view)>& own) {
  std::vector<std::string_view> tried;
  return search(quantity, own, tried);
}

}  // namespace mycel::nn::probability
