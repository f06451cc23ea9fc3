// For tests: runs one nest by the interpreter, by the JIT with one and two threads, and as compiled
// C99, and says where they differ. `EXPECT_EQ(check_nest(...), "")`.
#pragma once

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/threads.h"
#include "loops/emit_c.h"
#include "loops/interpret.h"
#include "loops/jit.h"
#include "tensor/dtype.h"

namespace mycel::loops {

using Bytes = std::vector<char>;

// Elements in a range that suits most formulas; integers small enough not to be all overflow.
inline Bytes random_bytes(DType t, int64_t n, uint32_t seed, double low = -4, double high = 4) {
  Bytes data(size_of(t) * n + 64);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> real(low, high);
  const int64_t parts = is_complex(t) ? 2 * n : n;
  for (int64_t i = 0; i < parts; ++i) {
    const DType part = real_part_of(t);
    if (is_float(part)) {
      set_element(data.data(), part, i, real(random));
    } else if (is_bool(part)) {
      data[i] = random() & 1;
    } else {
      set_element(data.data(), part, i,
                  static_cast<int64_t>(random() % 200) - (is_unsigned_int(part) ? 0 : 100));
    }
  }
  return data;
}

struct Operands {
  std::vector<Bytes> in, out;
  std::vector<void*> pointers() {
    std::vector<void*> p;
    for (Bytes& b : in) p.push_back(b.data());
    for (Bytes& b : out) p.push_back(b.data());
    return p;
  }
};

// Near: |a - b| <= tolerance * max(1, |b|); NaN equals NaN. Tolerance 0 asks for equal values.
inline std::string difference(const Nest& nest, const Operands& got, const Operands& want,
                              const std::vector<int64_t>& counts, double tolerance,
                              const char* which) {
  size_t k = 0;
  for (const auto& info : nest.buffers()) {
    if (info.role != Nest::BufferInfo::kOutput) continue;
    const DType part = real_part_of(info.dtype);
    const int64_t parts = counts[k] * (is_complex(info.dtype) ? 2 : 1);
    for (int64_t i = 0; i < parts; ++i) {
      const double a = element_as_double(got.out[k].data(), part, i),
                   b = element_as_double(want.out[k].data(), part, i);
      const bool same = (std::isnan(a) && std::isnan(b)) || a == b ||
                        std::fabs(a - b) <= tolerance * std::fmax(1, std::fabs(b));
      if (!same) {
        return fmt::format("{}: output {} element {} is {}, expected {}\n{}", which, k, i, a, b,
                           nest.str());
      }
    }
    ++k;
  }
  return "";
}

// Compiles the C99 text with the system compiler and runs it; false when that failed. In
// emit_c_test.cc.
bool run_as_c(const Nest& nest, void* const* buffers);

inline std::string check_nest(const Nest& nest, std::vector<Bytes> inputs,
                              const std::vector<int64_t>& out_counts, double tolerance,
                              bool with_c = false) {
  Operands base{std::move(inputs), {}};
  size_t k = 0;
  for (const auto& info : nest.buffers()) {
    if (info.role == Nest::BufferInfo::kOutput)
      base.out.emplace_back(size_of(info.dtype) * out_counts[k++] + 64);
  }
  Operands reference = base;
  interpret(nest, reference.pointers().data());
  Operands one = base, two = base;
  const int threads = thread_count();
  set_thread_count(1);
  run(nest, one.pointers().data());
  set_thread_count(2);
  Launch many = launch(nest);
  for (auto& stage : many.stages) stage.grain = 1;  // as many shares as there are threads
  many.run(two.pointers().data());
  set_thread_count(threads);
  if (one.out != two.out) return "bits differ between one thread and two\n" + nest.str();
  std::string found = difference(nest, one, reference, out_counts, tolerance, "jit");
  if (!found.empty() || !with_c) return found;
  Operands c = base;
  if (!run_as_c(nest, c.pointers().data()))
    return "C99 does not compile\n" + emit_c(nest, "kernel");
  return difference(nest, c, reference, out_counts, tolerance, "C99");
}

}  // namespace mycel::loops
