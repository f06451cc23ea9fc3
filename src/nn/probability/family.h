// Families of probability distributions as records: parameters and a table of formulas. A formula
// that is missing and follows from others (cdf from log_cdf, sd from var, …) is derived by
// derive.h; nothing is written twice. Families live in families_*.cc; distribution.h is what C++
// programs use.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/tensor.h"

namespace mycel::nn::probability {

using Params = std::span<const Tensor>;  // of equal shape and dtype, in the family's order

// What a parameter may be; values are checked where they are known.
enum class Domain {
  kAny,
  kPositive,
  kNotNegative,
  kAbovePrevious,  // above the parameter before it
  kProbability,    // inside (0, 1)
  kProbabilities,  // the same, with sums of 1 along the last dim
};

struct ParamDef {
  const char* name = nullptr;
  Domain domain = Domain::kAny;
};
// ValueError when a known value lies outside of the parameter's domain. `owner`: for the message.
void check_parameter(const char* owner, const ParamDef& def, const Tensor& value);

struct Family {
  using Of = Tensor (*)(Params);
  using At = Tensor (*)(const Tensor& x, Params);

  const char* name = "";
  const char* doc = "";  // support and density, with source where the convention is not obvious
  ParamDef params[3] = {};
  bool discrete = false;          // samples are whole numbers, of any integer or float dtype
  DType dtype = DType::kFloat32;  // of samples, unless asked otherwise
  bool category = false;          // the last dim of the parameter counts categories
  bool no_moments = false;        // mean, sd and var do not exist (Cauchy): ValueError

  Of mean = nullptr, mode = nullptr, sd = nullptr, var = nullptr, entropy = nullptr;
  At prob = nullptr, log_prob = nullptr, cdf = nullptr, log_cdf = nullptr,
     survival_function = nullptr, log_survival = nullptr;
  // Kullback-Leibler divergence of b from a.
  Tensor (*kl_loss)(Params a, Params b) = nullptr;
  // Draws of this shape, to which the parameters broadcast.
  Tensor (*sample)(const Shape& shape, Params, const Tensor& key) = nullptr;

  size_t arity() const {
    size_t n = 0;
    while (n < 3 && params[n].name) ++n;
    return n;
  }
  // The formula of a name ("mean", "cdf"); null when there is none.
  Of of(std::string_view quantity) const;
  At at(std::string_view quantity) const;
};

// Every quantity that `of` and `at` know.
inline constexpr const char* kQuantities[] = {
    "mean",        "mode",     "sd",  "var",     "entropy",
    "prob",        "log_prob", "cdf", "log_cdf", "survival_function",
    "log_survival"};

using Families = std::vector<const Family*>;
const Families& all_families();
// ValueError with the name that was meant when there is none.
const Family& family(std::string_view name);

Families bounded_families();   // families_bounded.cc: Uniform, Beta
Families discrete_families();  // families_discrete.cc
Families line_families();      // families_line.cc: on the whole line
Families positive_families();  // families_positive.cc

}  // namespace mycel::nn::probability
