// Scattering on the CPU. All three kinds come down to a list of slice offsets. Equal indices must
// be applied in order whatever the number of threads: work is shared by destination (a thread owns
// the slices whose number is its own modulo the thread count) or, for long slices, by columns.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "backend/cpu/function_kernel.h"
#include "base/threads.h"
#include "ops/index/index_tables.h"
#include "ops/index/indices.h"
#include "ops/shape/moves.h"
#include "tensor/element.h"
#include "tensor/wrapping.h"

namespace mycel::ops {
namespace {

using cpu::KernelDef;
using cpu::Prepared;
using cpu::Problem;

constexpr int64_t kElementsPerThread = 32 << 10;

struct Set {
  template <typename T>
  static T apply(T, T u) {
    return u;
  }
};
struct Add {
  template <typename T>
  static T apply(T y, T u) {
    return wrapping_add(y, u);
  }
};
struct Subtract {
  template <typename T>
  static T apply(T y, T u) {
    return wrapping_sub(y, u);
  }
};
struct Multiply {
  template <typename T>
  static T apply(T y, T u) {
    return wrapping_mul(y, u);
  }
};
struct Divide {
  template <typename T>
  static T apply(T y, T u) {
    if constexpr (std::is_integral_v<T>) {
      if (u == T(0)) return 0;
      if constexpr (std::is_signed_v<T>) {
        if (u == T(-1)) return wrapping_sub(T(0), y);  // no overflow trap
      }
    }
    return static_cast<T>(y / u);
  }
};
struct Smaller {
  template <typename T>
  static T apply(T y, T u) {
    return y != y || y < u ? y : u;
  }  // NaN wins
};
struct Larger {
  template <typename T>
  static T apply(T y, T u) {
    return y != y || y > u ? y : u;
  }
};

template <typename Combine, typename E>
void apply_slice(typename E::Stored* y, const typename E::Stored* u, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = E::store(Combine::apply(E::load(y[i]), E::load(u[i])));
}

template <typename Combine, typename E>
void scatter(void* out, const std::vector<int64_t>& at, const void* updates, int64_t inner) {
  using T = typename E::Stored;
  auto* y = static_cast<T*>(out);
  auto* u = static_cast<const T*>(updates);
  int64_t count = static_cast<int64_t>(at.size());
  if (inner == 0) return;
  int threads =
      static_cast<int>(std::clamp<int64_t>(count * inner / kElementsPerThread, 1, thread_count()));
  bool by_column = inner >= 512 * threads;
  auto share = [&](int t) {
    int64_t from = by_column ? inner * t / threads : 0,
            to = by_column ? inner * (t + 1) / threads : inner;
    for (int64_t k = 0; k < count; ++k) {
      int64_t place = at[static_cast<size_t>(k)];
      if (place == kSkipped || (!by_column && threads > 1 && place / inner % threads != t))
        continue;
      apply_slice<Combine, E>(y + place + from, u + k * inner + from, to - from);
    }
  };
  parallel_for(threads, 1, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) share(static_cast<int>(t));
  });
}

using ScatterFn = void (*)(void*, const std::vector<int64_t>&, const void*, int64_t);

template <typename Combine>
ScatterFn scatter_for(DType d) {
  return with_element(d, [](auto e) -> ScatterFn { return scatter<Combine, decltype(e)>; });
}
template <typename Combine>
ScatterFn real_scatter_for(DType d) {
  return with_real_element(d, [](auto e) -> ScatterFn { return scatter<Combine, decltype(e)>; });
}

ScatterFn scatter_fn(std::string_view op, DType d) {
  if (op == "tensor_scatter_update" || op == "elements_scatter_update") return scatter_for<Set>(d);
  if (op == "tensor_scatter_sub") return scatter_for<Subtract>(d);
  if (op == "tensor_scatter_mul") return scatter_for<Multiply>(d);
  if (op == "tensor_scatter_div") return scatter_for<Divide>(d);
  if (op == "tensor_scatter_min") return real_scatter_for<Smaller>(d);
  if (op == "tensor_scatter_max") return real_scatter_for<Larger>(d);
  return scatter_for<Add>(d);
}

void copy_base(void* const* b, size_t bytes) {
  if (b[3] == b[0]) return;
  constexpr int64_t kPiece = 1 << 18;
  const auto n = static_cast<int64_t>(bytes);
  parallel_for((n + kPiece - 1) / kPiece, 4, [&](int64_t begin, int64_t end) {
    const int64_t from = begin * kPiece, to = std::min(n, end * kPiece);
    std::memcpy(static_cast<char*>(b[3]) + from, static_cast<const char*>(b[0]) + from,
                static_cast<size_t>(to - from));
  });
}

std::unique_ptr<Prepared> prepare_tuples(const Problem& p) {
  Shape x = p.in[0]->shape, index = p.in[1]->shape;
  DType index_type = p.in[1]->dtype, dtype = p.out[0].dtype;
  int depth = static_cast<int>(index[-1]);
  int64_t count = index.size(0, index.rank() - 1), inner = x.size(depth, x.rank());
  Strides strides = row_strides(x);
  size_t bytes = static_cast<size_t>(x.size()) * size_of(dtype);
  ScatterFn fn = scatter_fn(p.op.name, dtype);
  return cpu::prepared_by(
      "host",
      [=, name = p.op.name.c_str()](void* const* b) {
        std::vector<int64_t> at =
            read_tuples(name, b[1], index_type, count, depth, x.begin(), strides.data());
        copy_base(b, bytes);
        fn(b[3], at, b[2], inner);
      },
      0);
}

std::unique_ptr<Prepared> prepare_axis(const Problem& p) {
  const Shape &x = p.in[0]->shape, &index = p.in[1]->shape;
  int64_t a = p.view().integer("axis"), given = p.view().integer("batch_dims");
  int axis = static_cast<int>(a < 0 ? a + x.rank() : a);
  int batch_dims = static_cast<int>(given < 0 ? given + index.rank() : given);
  int64_t batch = x.size(0, batch_dims), outer = x.size(batch_dims, axis), n = x[axis];
  int64_t inner = x.size(axis + 1, x.rank()), count = index.size(batch_dims, index.rank());
  DType index_type = p.in[1]->dtype, dtype = p.out[0].dtype;
  size_t bytes = static_cast<size_t>(x.size()) * size_of(dtype);
  Bounds bounds = bounds_of(p.view().string("bounds"));
  ScatterFn fn = scatter_fn(p.op.name, dtype);
  return cpu::prepared_by(
      "host",
      [=, name = p.op.name.c_str()](void* const* b) {
        std::vector<int64_t> index = read_indices(name, b[1], index_type, batch * count, n, bounds);
        std::vector<int64_t> at;
        at.reserve(static_cast<size_t>(batch * outer * count));
        for (int64_t row = 0; row < batch * outer; ++row) {
          const int64_t* of_batch = index.data() + row / outer * count;
          for (int64_t k = 0; k < count; ++k) {
            at.push_back(of_batch[k] == kSkipped ? kSkipped : (row * n + of_batch[k]) * inner);
          }
        }
        copy_base(b, bytes);
        fn(b[3], at, b[2], inner);
      },
      0);
}

std::unique_ptr<Prepared> prepare_elements(const Problem& p) {
  Shape x = p.in[0]->shape, index = p.in[1]->shape;
  int64_t a = p.view().integer("axis");
  int axis = static_cast<int>(a < 0 ? a + x.rank() : a);
  DType index_type = p.in[1]->dtype, dtype = p.out[0].dtype;
  size_t bytes = static_cast<size_t>(x.size()) * size_of(dtype);
  ScatterFn fn = scatter_fn(p.op.name, dtype);
  return cpu::prepared_by(
      "host",
      [=, name = p.op.name.c_str()](void* const* b) {
        std::vector<int64_t> at =
            read_indices(name, b[1], index_type, index.size(), x[axis], Bounds::kError);
        ElementPlaces places(x, index, axis);
        for (int64_t r = 0; r < places.rows; ++r) {
          int64_t base = places.row_offset(r);
          for (int64_t i = 0; i < places.inner; ++i) {
            int64_t& place = at[static_cast<size_t>(r * places.inner + i)];
            place = places.element(base, i, place);
          }
        }
        copy_base(b, bytes);
        fn(b[3], at, b[2], 1);
      },
      0);
}

// What an empty segment holds: the neutral element, finite as published.
template <typename E>
typename E::Stored neutral(std::string_view op) {
  using T = typename E::Number;
  if (op == "unsorted_segment_prod") return E::store(T(1));
  if constexpr (!std::is_same_v<T, std::complex<float>> &&
                !std::is_same_v<T, std::complex<double>>) {
    bool lowest = op == "unsorted_segment_max";
    if (std::is_same_v<E, HalfElement> && op != "unsorted_segment_sum")
      return E::store(T(lowest ? -65504 : 65504));
    if (std::is_same_v<E, BFloat16Element> && op != "unsorted_segment_sum") {
      return E::store(T(lowest ? -0x1.fep127f : 0x1.fep127f));
    }
    if (lowest) return E::store(std::numeric_limits<T>::lowest());
    if (op == "unsorted_segment_min") return E::store(std::numeric_limits<T>::max());
  }
  return E::store(T(0));
}

ScatterFn segment_fn(std::string_view op, DType d) {
  if (op == "unsorted_segment_max") return real_scatter_for<Larger>(d);
  if (op == "unsorted_segment_min") return real_scatter_for<Smaller>(d);
  if (op == "unsorted_segment_prod") return scatter_for<Multiply>(d);
  return scatter_for<Add>(d);
}

std::unique_ptr<Prepared> prepare_segments(const Problem& p) {
  const Shape &x = p.in[0]->shape, &ids = p.in[1]->shape;
  int64_t count = ids.size(), inner = x.size(ids.rank(), x.rank()), segments = p.out[0].shape[0];
  DType index_type = p.in[1]->dtype, dtype = p.out[0].dtype;
  ScatterFn fn = segment_fn(p.op.name, dtype);
  return cpu::prepared_by("host", [=, &name = p.op.name](void* const* b) {
    std::vector<int64_t> at =
        read_indices(name.c_str(), b[1], index_type, count, segments, Bounds::kSkipNegative);
    for (int64_t& place : at) place = place == kSkipped ? kSkipped : place * inner;
    with_element(dtype, [&](auto e) {
      using E = decltype(e);
      std::fill_n(static_cast<typename E::Stored*>(b[2]), segments * inner, neutral<E>(name));
    });
    fn(b[2], at, b[0], inner);
  });
}

constexpr KernelDef kKernels[] = {
    {"tensor_scatter_update", "host", nullptr, prepare_tuples},
    {"tensor_scatter_add", "host", nullptr, prepare_tuples},
    {"tensor_scatter_sub", "host", nullptr, prepare_tuples},
    {"tensor_scatter_mul", "host", nullptr, prepare_tuples},
    {"tensor_scatter_div", "host", nullptr, prepare_tuples},
    {"tensor_scatter_min", "host", nullptr, prepare_tuples},
    {"tensor_scatter_max", "host", nullptr, prepare_tuples},
    {"axis_scatter_add", "host", nullptr, prepare_axis},
    {"elements_scatter_add", "host", nullptr, prepare_elements},
    {"elements_scatter_update", "host", nullptr, prepare_elements},
    {"unsorted_segment_sum", "host", nullptr, prepare_segments},
    {"unsorted_segment_max", "host", nullptr, prepare_segments},
    {"unsorted_segment_min", "host", nullptr, prepare_segments},
    {"unsorted_segment_prod", "host", nullptr, prepare_segments},
};

}  // namespace

void register_scatter_kernels() { cpu::register_kernels(kKernels); }

}  // namespace mycel::ops
