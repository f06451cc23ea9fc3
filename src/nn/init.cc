#include "nn/init.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "base/error.h"
#include "base/threads.h"
#include "nn/args.h"
#include "nn/draws.h"

namespace mycel::nn {
namespace {

using ir::Names;

// Fills a tensor from a function of the element's number.
template <typename F>
Tensor filled(const InitRequest& r, F f) {
  Tensor t = Tensor::empty(r.dtype, r.shape);
  void* data = t.mutable_raw();
  for (int64_t i = 0, n = t.size(); i < n; ++i)
    set_element(data, r.dtype, i, static_cast<double>(f(i)));
  return t;
}

using Draw = void (Draws::*)(int64_t first, std::span<double> out) const;

// f of each element of a stream, drawn by all threads.
template <typename F>
Tensor drawn(const InitRequest& r, Draw draw, F f) {
  constexpr int64_t kGrain = 1024;
  Draws d;
  Tensor t = Tensor::empty(r.dtype, r.shape);
  void* data = t.mutable_raw();
  parallel_for(t.size(), kGrain, [&](int64_t begin, int64_t end) {
    double x[kGrain];
    for (int64_t from = begin; from < end; from += kGrain) {
      int64_t n = std::min(kGrain, end - from);
      (d.*draw)(from, {x, static_cast<size_t>(n)});
      if (r.dtype == DType::kFloat32) {
        auto* out = static_cast<float*>(data) + from;
        for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(f(x[i]));
      } else {
        for (int64_t i = 0; i < n; ++i) set_element(data, r.dtype, from + i, f(x[i]));
      }
    }
  });
  return t;
}

std::vector<double> all_of(int64_t n, Draw draw) {
  Draws d;
  std::vector<double> x(static_cast<size_t>(n));
  (d.*draw)(0, x);
  return x;
}

const std::string& owner(const InitRequest& r) { return r.args.signature().owner(); }

struct Fans {
  double in, out;
};

// [out, in, kernel…]: the layout of every weight with fans.
Fans fans_of(const InitRequest& r) {
  if (r.shape.rank() < 2) {
    value_error("{}: a weight with fans has 2 dims or more ([out, in, kernel...]), got shape {}",
                owner(r), r.shape.str());
  }
  auto kernel = static_cast<double>(r.shape.size(2, r.shape.rank()));
  return {static_cast<double>(r.shape[1]) * kernel, static_cast<double>(r.shape[0]) * kernel};
}

double fan_of_mode(const InitRequest& r) {
  Fans f = fans_of(r);
  const std::string& mode = r.args.string("mode");
  return mode == "fan_in" ? f.in : mode == "fan_out" ? f.out : (f.in + f.out) / 2;
}

Tensor uniform_in(const InitRequest& r, double bound) {
  return drawn(r, &Draws::uniform, [=](double u) { return (2 * u - 1) * bound; });
}
Tensor normal_of(const InitRequest& r, double sigma, double mean = 0) {
  return drawn(r, &Draws::normal, [=](double z) { return mean + sigma * z; });
}
Tensor truncated_of(const InitRequest& r, double sigma) {
  return drawn(r, &Draws::truncated_normal, [=](double z) { return sigma * z; });
}

// The factor that keeps the variance through a nonlinearity (He et al. 2015, section 2.2).
double gain_of(const InitRequest& r) {
  const std::string& f = r.args.string("nonlinearity");
  double slope = r.args.real("negative_slope");
  if (f == "leaky_relu") return std::sqrt(2 / (1 + slope * slope));
  if (f == "relu") return std::sqrt(2.0);
  if (f == "tanh") return 5.0 / 3;
  return 1;
}

// Orthonormal columns from a normal matrix of rows >= columns, by modified Gram-Schmidt, twice for
// full precision. Their signs follow the draw, so the result is uniform over the orthogonal
// matrices.
void orthonormal_columns(std::vector<double>& m, int64_t rows, int64_t columns) {
  for (int64_t j = 0; j < columns; ++j) {
    for (int pass = 0; pass < 2; ++pass) {
      for (int64_t k = 0; k < j; ++k) {
        double dot = 0;
        for (int64_t i = 0; i < rows; ++i) dot += m[i * columns + j] * m[i * columns + k];
        for (int64_t i = 0; i < rows; ++i) m[i * columns + j] -= dot * m[i * columns + k];
      }
    }
    double norm = 0;
    for (int64_t i = 0; i < rows; ++i) norm += m[i * columns + j] * m[i * columns + j];
    norm = std::sqrt(norm);
    for (int64_t i = 0; i < rows; ++i) m[i * columns + j] /= norm;
  }
}

Tensor orthogonal(const InitRequest& r) {
  if (r.shape.rank() < 2) {
    value_error("Orthogonal: the shape needs 2 dims or more, got {}", r.shape.str());
  }
  int64_t rows = r.shape[0], columns = r.shape.size(1, r.shape.rank());
  int64_t tall = std::max(rows, columns), thin = std::min(rows, columns);
  std::vector<double> m = all_of(tall * thin, &Draws::normal);
  orthonormal_columns(m, tall, thin);
  double gain = r.args.real("gain");
  return filled(r, [&](int64_t e) {
    int64_t i = e / columns, j = e % columns;
    return gain * (rows >= columns ? m[i * thin + j] : m[j * thin + i]);
  });
}

Tensor identity(const InitRequest& r) {
  if (r.shape.rank() != 2) value_error("Identity: the shape needs 2 dims, got {}", r.shape.str());
  int64_t columns = r.shape[1];
  return filled(r, [&](int64_t e) { return e / columns == e % columns ? 1.0 : 0.0; });
}

// In every column the same share of elements, at random rows, is zero (Martens 2010).
Tensor sparse(const InitRequest& r) {
  if (r.shape.rank() != 2) value_error("Sparse: the shape needs 2 dims, got {}", r.shape.str());
  double share = r.args.within("sparsity", 0, 1), sigma = r.args.real("sigma");
  int64_t rows = r.shape[0], columns = r.shape[1];
  auto zeros = static_cast<int64_t>(std::ceil(share * static_cast<double>(rows)));
  std::vector<double> order = all_of(rows * columns, &Draws::uniform);
  std::vector<double> value = all_of(rows * columns, &Draws::normal);
  std::vector<char> dropped(rows * columns, 0);
  std::vector<int64_t> at(rows);
  for (int64_t j = 0; j < columns; ++j) {
    std::iota(at.begin(), at.end(), 0);
    std::sort(at.begin(), at.end(), [&](int64_t a, int64_t b) {
      return order[a * columns + j] < order[b * columns + j];
    });
    for (int64_t k = 0; k < zeros; ++k) dropped[at[k] * columns + j] = 1;
  }
  return filled(r, [&](int64_t e) { return dropped[e] ? 0.0 : sigma * value[e]; });
}

// Convolution that hands its input through, per group.
Tensor dirac(const InitRequest& r) {
  int rank = r.shape.rank();
  int64_t groups = r.args.positive("groups");
  if (rank < 3 || rank > 5)
    value_error("Dirac: the shape needs 3, 4 or 5 dims, got {}", r.shape.str());
  if (r.shape[0] % groups) {
    value_error("Dirac: the first dim {} is not divisible by groups {}", r.shape[0], groups);
  }
  int64_t out = r.shape[0] / groups, in = r.shape[1], kernel = r.shape.size(2, rank), centre = 0;
  for (int d = 2; d < rank; ++d) centre = centre * r.shape[d] + r.shape[d] / 2;
  return filled(r, [&](int64_t e) {
    int64_t o = e / (in * kernel) % out, i = e / kernel % in;
    return o == i && e % kernel == centre ? 1.0 : 0.0;
  });
}

Tensor variance_scaling(const InitRequest& r) {
  double scale = r.args.positive_real("scale") / std::max(1.0, fan_of_mode(r));
  const std::string& d = r.args.string("distribution");
  if (d == "uniform") return uniform_in(r, std::sqrt(3 * scale));
  // A normal cut at two deviations has 0.87962566103423978 of its deviation.
  if (d == "truncated_normal") return truncated_of(r, std::sqrt(scale) / 0.87962566103423978);
  return normal_of(r, std::sqrt(scale));
}

constexpr const char* kMode = "mode: str(fan_in|fan_out) = fan_in";
constexpr const char* kNonlinearity =
    "nonlinearity: str(leaky_relu|relu|tanh|sigmoid|linear|conv1d|conv2d|conv3d) = leaky_relu";

constexpr InitDef kInitializers[] = {
    {"Zero",
     "All zeros.",
     {},
     "zeros zero",
     [](const InitRequest& r) { return Tensor::zeros(r.dtype, r.shape); }},
    {"One",
     "All ones.",
     {},
     "ones one",
     [](const InitRequest& r) { return Tensor::full(r.dtype, r.shape, 1); }},
    {"Constant",
     "Every element is `value`.",
     {"value: float"},
     "",
     [](const InitRequest& r) { return Tensor::full(r.dtype, r.shape, r.args.real("value")); }},
    {"Uniform",
     "Uniform in [-scale, scale).",
     {"scale: float = 0.07"},
     "",
     [](const InitRequest& r) { return uniform_in(r, r.args.real("scale")); }},
    {"Normal",
     "Normal with deviation `sigma` around `mean`.",
     {"sigma: float = 0.01", "mean: float = 0.0"},
     "",
     [](const InitRequest& r) { return normal_of(r, r.args.real("sigma"), r.args.real("mean")); }},
    {"TruncatedNormal",
     "Normal with deviation `sigma`, cut at two deviations.",
     {"sigma: float = 0.01"},
     "",
     [](const InitRequest& r) { return truncated_of(r, r.args.real("sigma")); }},
    {"XavierUniform",
     "Uniform within gain * sqrt(6 / (fan_in + fan_out)) (Glorot and Bengio 2010, equation 16).",
     {"gain: float = 1"},
     "xavier_uniform",
     [](const InitRequest& r) {
       Fans f = fans_of(r);
       return uniform_in(r, r.args.real("gain") * std::sqrt(6 / (f.in + f.out)));
     }},
    {"XavierNormal",
     "Normal with deviation gain * sqrt(2 / (fan_in + fan_out)) (Glorot and Bengio 2010).",
     {"gain: float = 1"},
     "xavier_normal",
     [](const InitRequest& r) {
       Fans f = fans_of(r);
       return normal_of(r, r.args.real("gain") * std::sqrt(2 / (f.in + f.out)));
     }},
    {"HeUniform",
     "Uniform within gain * sqrt(3 / fan) (He et al. 2015).",
     {"negative_slope: float = 0", kMode, kNonlinearity},
     "he_uniform",
     [](const InitRequest& r) {
       return uniform_in(r, gain_of(r) * std::sqrt(3 / fan_of_mode(r)));
     }},
    {"HeNormal",
     "Normal with deviation gain / sqrt(fan) (He et al. 2015).",
     {"negative_slope: float = 0", kMode, kNonlinearity},
     "he_normal",
     [](const InitRequest& r) { return normal_of(r, gain_of(r) / std::sqrt(fan_of_mode(r))); }},
    {"VarianceScaling",
     "Variance scale / fan, from the distribution named.",
     {"scale: float = 1.0", "mode: str(fan_in|fan_out|fan_avg) = fan_in",
      "distribution: str(truncated_normal|untruncated_normal|uniform) = truncated_normal"},
     "variance_scaling",
     variance_scaling},
    {"Orthogonal",
     "Orthonormal rows or columns times `gain`, dims after the first taken as one.",
     {"gain: float = 1.0"},
     "",
     orthogonal},
    {"Identity", "The unit matrix (2 dims).", {}, "", identity},
    {"Sparse",
     "Normal with deviation `sigma`; in every column the share `sparsity` is zero (2 dims).",
     {"sparsity: float", "sigma: float = 0.01"},
     "",
     sparse},
    {"Dirac",
     "A convolution that hands its input through, for each of `groups` (3 to 5 dims).",
     {"groups: int = 1"},
     "",
     dirac},
};

std::string lower(const std::string& s) {
  std::string out;
  for (char c : s) out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace

const InitDef& initializer_named(const std::string& name) {
  if (const InitDef* d = find_initializer(name)) return *d;
  std::vector<const char*> names;
  for (const InitDef& d : kInitializers) names.push_back(d.name);
  std::string near = did_you_mean(name, names.data(), names.size());
  throw UserError(ErrorKind::kValue, fmt::format("there is no initializer '{}'", name),
                  near.empty() ? "" : "Did you mean '" + near + "'?");
}

std::shared_ptr<const Signature> signature_of(const InitDef& d) {
  static std::map<const InitDef*, std::shared_ptr<const Signature>> made = [] {
    std::map<const InitDef*, std::shared_ptr<const Signature>> m;
    for (const InitDef& def : kInitializers)
      m[&def] = std::make_shared<const Signature>(def.name, def.args);
    return m;
  }();
  return made.at(&d);
}

const std::vector<const InitDef*>& all_initializers() {
  static const std::vector<const InitDef*> all = [] {
    std::vector<const InitDef*> v;
    for (const InitDef& d : kInitializers) v.push_back(&d);
    return v;
  }();
  return all;
}

const InitDef* find_initializer(const std::string& name) {
  std::string wanted = lower(name);
  for (const InitDef& d : kInitializers) {
    if (lower(d.name) == wanted) return &d;
    if ((" " + std::string(d.alias) + " ").find(" " + wanted + " ") != std::string::npos) return &d;
  }
  return nullptr;
}

Init::Init(const std::string& name) : Init(named(name)) {}
Init::Init(double constant) : Init(named("Constant", {constant})) {}
Init::Init(Tensor values) : values_(std::move(values)) {}
Init::Init(Function f) : function_(std::move(f)) {}

Init Init::named(const std::string& name, std::vector<Arg> positional,
                 const std::vector<std::pair<std::string, Arg>>& named) {
  const InitDef& d = initializer_named(name);
  Init init{Tensor()};
  init.def_ = &d;
  init.args_ = std::make_shared<const Args>(signature_of(d), std::move(positional), named);
  return init;
}

Tensor Init::make(const Shape& shape, DType dtype) const {
  if (def_) return def_->fill({*args_, shape, dtype});
  Tensor t = function_ ? function_(shape, dtype) : values_;
  if (!(t.shape() == shape)) {
    value_error("initializer: the values given are {}, the parameter has shape {}", t.describe(),
                shape.str());
  }
  if (t.dtype() == dtype) return t;
  Tensor cast = Tensor::empty(dtype, shape);
  for (int64_t i = 0, n = t.size(); i < n; ++i) {
    set_element(cast.mutable_raw(), dtype, i, element_as_double(t.raw(), t.dtype(), i));
  }
  return cast;
}

std::string Init::str() const {
  if (!def_) return function_ ? "a function" : values_.describe();
  std::string s = std::string(def_->name) + "(";
  const auto& specs = args_->signature().specs();
  for (size_t i = 0; i < specs.size(); ++i) {
    s += fmt::format("{}{}={}", i ? ", " : "", specs[i].name, args_->values()[i].str());
  }
  return s + ")";
}

}  // namespace mycel::nn
