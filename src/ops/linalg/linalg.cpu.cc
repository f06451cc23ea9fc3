// Linear algebra on the CPU: stacks of matrices spread over threads, each one by the functions of
// decompositions.cpu.h.
#include <algorithm>
#include <limits>
#include <vector>

#include "backend/cpu/function_kernel.h"
#include "base/error.h"
#include "base/threads.h"
#include "ops/linalg/decompositions.cpu.h"

namespace mycel::ops {
namespace {

using cpu::KernelDef;
using cpu::Prepared;
using cpu::Problem;

template <typename F>
void with_number(DType d, F&& f) {
  switch (d) {
    case DType::kFloat32:
      return f(float{});
    case DType::kFloat64:
      return f(double{});
    case DType::kComplex64:
      return f(std::complex<float>{});
    case DType::kComplex128:
      return f(std::complex<double>{});
    default:
      MYCEL_CHECK(false, "dtype {} in linear algebra", name_of(d));
  }
}

// A stack of m by n matrices.
struct Stack {
  int64_t count, m, n;
  explicit Stack(const Shape& s) : count(s.size(0, s.rank() - 2)), m(s[-2]), n(s[-1]) {}
  int64_t size() const { return m * n; }
};

// f(i) for each matrix of a stack; small ones share a thread's turn.
template <typename F>
void each(int64_t count, int64_t edge, F&& f) {
  int64_t work = std::max<int64_t>(1, edge * edge * edge);
  parallel_for(count, std::max<int64_t>(1, 200'000 / work), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) f(i);
  });
}

constexpr const char* kNotFinite = "holds NaN or inf: it has no singular values";

[[noreturn]] void refuse(const std::string& op, int64_t i, int64_t count, const char* what) {
  if (count == 1) value_error("{}: the matrix {}", op, what);
  value_error("{}: matrix {} of {} {}", op, i, count, what);
}

template <typename T>
const T* in(void* const* b, int i) {
  return static_cast<const T*>(b[i]);
}

// A kernel of one operand: run(T{}, buffers, i) for matrix i of the operand's stack.
template <typename Run>
std::unique_ptr<Prepared> unary(const Problem& p, Run run) {
  Stack s(p.in[0]->shape);
  return cpu::prepared_by("eigen", [=, d = p.in[0]->dtype](void* const* b) {
    with_number(d, [&](auto number) {
      each(s.count, std::max(s.m, s.n), [&](int64_t i) { run(number, s, b, i); });
    });
  });
}

std::unique_ptr<Prepared> cholesky(const Problem& p) {
  return unary(p, [](auto t, const Stack& s, void* const* b, int64_t i) {
    using T = decltype(t);
    if (!cholesky_of(in<T>(b, 0) + i * s.size(), static_cast<T*>(b[1]) + i * s.size(), s.n))
      refuse("cholesky", i, s.count, "is not positive definite");
  });
}

std::unique_ptr<Prepared> lu(const Problem& p) {
  return unary(p, [](auto t, const Stack& s, void* const* b, int64_t i) {
    using T = decltype(t);
    lu_of(in<T>(b, 0) + i * s.size(), static_cast<T*>(b[1]) + i * s.size(),
          static_cast<int32_t*>(b[2]) + i * std::min(s.m, s.n),
          static_cast<int32_t*>(b[3]) + i * s.m, s.m, s.n);
  });
}

std::unique_ptr<Prepared> inverse(const Problem& p) {
  return unary(p, [](auto t, const Stack& s, void* const* b, int64_t i) {
    using T = decltype(t);
    if (!inverse_of(in<T>(b, 0) + i * s.size(), static_cast<T*>(b[1]) + i * s.size(), s.n))
      refuse("inverse", i, s.count, "is singular");
  });
}

std::unique_ptr<Prepared> det(const Problem& p) {
  return unary(p, [](auto t, const Stack& s, void* const* b, int64_t i) {
    using T = decltype(t);
    static_cast<T*>(b[1])[i] = determinant_of(in<T>(b, 0) + i * s.size(), s.n).value;
  });
}

std::unique_ptr<Prepared> slogdet(const Problem& p) {
  return unary(p, [](auto t, const Stack& s, void* const* b, int64_t i) {
    using T = decltype(t);
    Determinant<T> d = determinant_of(in<T>(b, 0) + i * s.size(), s.n);
    static_cast<T*>(b[1])[i] = d.sign;
    static_cast<Real<T>*>(b[2])[i] = d.log_size;
  });
}

template <typename T>
Real<T> largest_row(const T* a, int64_t n) {
  Real<T> most = 0;
  for (int64_t i = 0; i < n; ++i) {
    Real<T> sum = 0;
    for (int64_t j = 0; j < n; ++j) sum += std::abs(a[i * n + j]);
    most = std::max(most, sum);
  }
  return most;
}

template <typename T>
T conjugate(T v) {
  if constexpr (std::is_same_v<T, Real<T>>)
    return v;
  else
    return std::conj(v);
}

// conj(det a) a^-H; of (nearly) singular matrices u diag(products of all other s) v^H times what
// the determinants of u and v turn it by.
template <typename T>
void cofactor_of(const T* a, T* y, int64_t n) {
  std::vector<T> u(n * n), v(n * n);
  constexpr Real<T> kSafe = Real<T>(0.01) / std::numeric_limits<Real<T>>::epsilon();
  if (inverse_of(a, u.data(), n) && largest_row(a, n) * largest_row(u.data(), n) < kSafe) {
    T det = conjugate(determinant_of(a, n).value);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) y[i * n + j] = det * conjugate(u[j * n + i]);
    }
    return;
  }
  std::vector<Real<T>> s(n);
  if (!svd_of(a, s.data(), u.data(), v.data(), n, n, false)) {
    std::fill(y, y + n * n, T(std::numeric_limits<Real<T>>::quiet_NaN()));
    return;
  }
  T turn = conjugate(determinant_of(u.data(), n).value) * determinant_of(v.data(), n).value;
  std::fill(y, y + n * n, T(0));
  for (int64_t k = 0; k < n; ++k) {
    T others = turn;
    for (int64_t l = 0; l < n; ++l) others *= l == k ? Real<T>(1) : s[l];
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j)
        y[i * n + j] += others * u[i * n + k] * conjugate(v[j * n + k]);
    }
  }
}

std::unique_ptr<Prepared> cofactor(const Problem& p) {
  return unary(p, [](auto t, const Stack& s, void* const* b, int64_t i) {
    using T = decltype(t);
    cofactor_of(in<T>(b, 0) + i * s.size(), static_cast<T*>(b[1]) + i * s.size(), s.n);
  });
}

std::unique_ptr<Prepared> qr(const Problem& p) {
  int64_t k = p.out[0].shape[-1];
  return unary(p, [k](auto t, const Stack& s, void* const* b, int64_t i) {
    using T = decltype(t);
    int64_t steps = std::min(s.m, s.n);
    std::vector<T> packed(s.size()), tau(steps);
    reflectors_of(in<T>(b, 0) + i * s.size(), packed.data(), tau.data(), s.m, s.n);
    reflected_columns(packed.data(), tau.data(), static_cast<T*>(b[1]) + i * s.m * k, s.m, s.n,
                      steps, k);
    T* r = static_cast<T*>(b[2]) + i * k * s.n;
    for (int64_t row = 0; row < k; ++row) {
      for (int64_t j = 0; j < s.n; ++j) r[row * s.n + j] = j < row ? T(0) : packed[row * s.n + j];
    }
  });
}

std::unique_ptr<Prepared> geqrf(const Problem& p) {
  return unary(p, [](auto t, const Stack& s, void* const* b, int64_t i) {
    using T = decltype(t);
    reflectors_of(in<T>(b, 0) + i * s.size(), static_cast<T*>(b[1]) + i * s.size(),
                  static_cast<T*>(b[2]) + i * std::min(s.m, s.n), s.m, s.n);
  });
}

std::unique_ptr<Prepared> svd(const Problem& p) {
  int64_t left = p.out[1].shape[-1], right = p.out[2].shape[-1];
  bool full = p.view().boolean("full_matrices");
  return unary(p, [=](auto t, const Stack& s, void* const* b, int64_t i) {
    using T = decltype(t);
    if (!svd_of(in<T>(b, 0) + i * s.size(), static_cast<Real<T>*>(b[1]) + i * std::min(s.m, s.n),
                static_cast<T*>(b[2]) + i * s.m * left, static_cast<T*>(b[3]) + i * s.n * right,
                s.m, s.n, full))
      refuse("svd", i, s.count, kNotFinite);
  });
}

std::unique_ptr<Prepared> singular_values(const Problem& p) {
  return unary(p, [](auto t, const Stack& s, void* const* b, int64_t i) {
    using T = decltype(t);
    if (!svd_of<T>(in<T>(b, 0) + i * s.size(), static_cast<Real<T>*>(b[1]) + i * std::min(s.m, s.n),
                   nullptr, nullptr, s.m, s.n, false))
      refuse("svd", i, s.count, kNotFinite);
  });
}

template <bool vectors>
std::unique_ptr<Prepared> eigh(const Problem& p) {
  return unary(p, [op = p.op.name](auto t, const Stack& s, void* const* b, int64_t i) {
    using T = decltype(t);
    T* v = nullptr;
    if constexpr (vectors) v = static_cast<T*>(b[2]) + i * s.size();
    if (!eigh_of(in<T>(b, 0) + i * s.size(), static_cast<Real<T>*>(b[1]) + i * s.n, v, s.n))
      refuse(op, i, s.count, "has no eigenvalues that were found: does it hold NaN or inf?");
  });
}

template <bool vectors>
std::unique_ptr<Prepared> eig(const Problem& p) {
  return unary(p, [op = p.op.name](auto t, const Stack& s, void* const* b, int64_t i) {
    using T = decltype(t);
    using C = std::complex<Real<T>>;
    C* v = nullptr;
    if constexpr (vectors) v = static_cast<C*>(b[2]) + i * s.size();
    if (!eig_of(in<T>(b, 0) + i * s.size(), static_cast<C*>(b[1]) + i * s.n, v, s.n))
      refuse(op, i, s.count, "has no eigenvalues that were found: does it hold NaN or inf?");
  });
}

std::unique_ptr<Prepared> exponential(const Problem& p) {
  return unary(p, [](auto t, const Stack& s, void* const* b, int64_t i) {
    using T = decltype(t);
    exponential_of(in<T>(b, 0) + i * s.size(), static_cast<T*>(b[1]) + i * s.size(), s.n);
  });
}

std::unique_ptr<Prepared> logarithm(const Problem& p) {
  return unary(p, [](auto t, const Stack& s, void* const* b, int64_t i) {
    using T = decltype(t);
    if constexpr (!std::is_same_v<T, Real<T>>)
      logarithm_of(in<T>(b, 0) + i * s.size(), static_cast<T*>(b[1]) + i * s.size(), s.n);
  });
}

// For each element of the broadcast batch dims, which element of an operand's own it is.
std::vector<int64_t> places(const Shape& whole, const Shape& s, int drop) {
  int rank = whole.rank(), own = s.rank() - drop;
  std::vector<int64_t> at(whole.size(), 0);
  for (int64_t i = 0; i < whole.size(); ++i) {
    int64_t rest = i, stride = 1;
    for (int d = rank - 1; d >= 0; --d) {
      int64_t place = rest % whole[d];
      rest /= whole[d];
      int e = d - (rank - own);
      if (e < 0) break;
      if (s[e] != 1) at[i] += place * stride;
      stride *= s[e];
    }
  }
  return at;
}

Shape batch_of(const Shape& s) { return Shape(s.dims().first(s.rank() - 2)); }

// Kernels of a x = b: run(T{}, a, b, x, n, k) says whether it could be solved.
template <typename Run>
std::unique_ptr<Prepared> solving(const Problem& p, Run run) {
  const Shape& y = p.out[0].shape;
  Shape batch = batch_of(y);
  auto of_a = places(batch, p.in[0]->shape, 2), of_b = places(batch, p.in[1]->shape, 2);
  int64_t n = y[-2], k = y[-1];
  return cpu::prepared_by("eigen", [=, op = p.op.name, d = p.in[0]->dtype](void* const* b) {
    with_number(d, [&](auto t) {
      using T = decltype(t);
      auto count = static_cast<int64_t>(of_a.size());
      each(count, n, [&](int64_t i) {
        if (!run(in<T>(b, 0) + of_a[i] * n * n, in<T>(b, 1) + of_b[i] * n * k,
                 static_cast<T*>(b[2]) + i * n * k, n, k))
          refuse(op, i, count, "is singular");
      });
    });
  });
}

std::unique_ptr<Prepared> solve(const Problem& p) {
  bool adjoint = p.view().boolean("adjoint");
  return solving(p, [=](auto a, auto b, auto x, int64_t n, int64_t k) {
    return n == 0 || solution_of(a, b, x, n, k, adjoint);
  });
}

std::unique_ptr<Prepared> triangular(const Problem& p) {
  auto attrs = p.view();
  Triangle t{attrs.boolean("lower"), attrs.boolean("unit_diagonal"), attrs.boolean("adjoint")};
  return solving(p, [=](auto a, auto b, auto x, int64_t n, int64_t k) {
    return triangle_solution(a, b, x, n, k, t);
  });
}

// v diag(1 / s) u^H without the singular values of `least` or less.
template <typename T>
bool pseudo_inverse(const T* a, Real<T> atol, Real<T> rtol, T* y, int64_t m, int64_t n) {
  int64_t k = std::min(m, n);
  std::fill(y, y + m * n, T(0));
  if (k == 0) return true;
  std::vector<Real<T>> s(k);
  std::vector<T> u(m * k), v(n * k);
  if (!svd_of(a, s.data(), u.data(), v.data(), m, n, false)) return false;
  Real<T> least = std::max(atol, rtol * s[0]);
  for (int64_t l = 0; l < k; ++l) {
    if (s[l] <= least) continue;
    for (int64_t i = 0; i < n; ++i) {
      T scaled = v[i * k + l] / s[l];
      for (int64_t j = 0; j < m; ++j) {
        y[i * m + j] += scaled * conjugate(u[j * k + l]);
      }
    }
  }
  return true;
}

std::unique_ptr<Prepared> pinv(const Problem& p) {
  Shape batch = batch_of(p.out[0].shape);
  auto of_a = places(batch, p.in[0]->shape, 2);
  auto of_atol = places(batch, p.in[1]->shape, 0), of_rtol = places(batch, p.in[2]->shape, 0);
  int64_t m = p.in[0]->shape[-2], n = p.in[0]->shape[-1];
  return cpu::prepared_by("eigen", [=, d = p.in[0]->dtype](void* const* b) {
    with_number(d, [&](auto t) {
      using T = decltype(t);
      each(static_cast<int64_t>(of_a.size()), std::max(m, n), [&](int64_t i) {
        if (!pseudo_inverse(in<T>(b, 0) + of_a[i] * m * n, in<Real<T>>(b, 1)[of_atol[i]],
                            in<Real<T>>(b, 2)[of_rtol[i]], static_cast<T*>(b[3]) + i * m * n, m, n))
          refuse("pinv", i, static_cast<int64_t>(of_a.size()), kNotFinite);
      });
    });
  });
}

std::unique_ptr<Prepared> permutation(const Problem& p) {
  int64_t rows = p.out[0].shape[-1], steps = p.in[0]->shape[-1];
  int64_t count = p.out[0].shape.size(0, p.out[0].shape.rank() - 1);
  bool wide = p.in[0]->dtype == DType::kInt64;
  return cpu::prepared_by("host", [=](void* const* b) {
    for (int64_t i = 0; i < count; ++i) {
      int32_t* y = static_cast<int32_t*>(b[1]) + i * rows;
      for (int64_t j = 0; j < rows; ++j) y[j] = static_cast<int32_t>(j);
      for (int64_t j = 0; j < steps; ++j) {
        int64_t with = wide ? in<int64_t>(b, 0)[i * steps + j] : in<int32_t>(b, 0)[i * steps + j];
        if (with < 0 || with >= rows)
          throw UserError(ErrorKind::kIndex,
                          fmt::format("pivots_to_permutation: pivot {} at {} is outside of {} rows",
                                      with, j, rows));
        std::swap(y[j], y[with]);
      }
    }
  });
}

constexpr KernelDef kKernels[] = {
    {"cholesky_factor", "eigen", nullptr, cholesky},
    {"lu_factor", "eigen", nullptr, lu},
    {"pivots_to_permutation", "host", nullptr, permutation},
    {"matrix_solve", "eigen", nullptr, solve},
    {"triangular_solve", "eigen", nullptr, triangular},
    {"inverse", "eigen", nullptr, inverse},
    {"det", "eigen", nullptr, det},
    {"cofactor", "eigen", nullptr, cofactor},
    {"slogdet", "eigen", nullptr, slogdet},
    {"qr", "eigen", nullptr, qr},
    {"geqrf", "eigen", nullptr, geqrf},
    {"svd_vectors", "eigen", nullptr, svd},
    {"singular_values", "eigen", nullptr, singular_values},
    {"pinv_within", "eigen", nullptr, pinv},
    {"eigh", "eigen", nullptr, eigh<true>},
    {"eigvalsh", "eigen", nullptr, eigh<false>},
    {"eig", "eigen", nullptr, eig<true>},
    {"eigvals", "eigen", nullptr, eig<false>},
    {"matrix_exp", "eigen", nullptr, exponential},
    {"matrix_logarithm", "eigen", nullptr, logarithm},
};

}  // namespace

void register_linalg_kernels() { cpu::register_kernels(kKernels); }

}  // namespace mycel::ops
