#include "loops/emit_c.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "loops/check_nest.h"
#include "loops/elementwise.h"
#include "loops/reduce.h"

namespace mycel::loops {

bool run_as_c(const Nest& nest, void* const* buffers) {
  namespace fs = std::filesystem;
  static int count = 0;
  const fs::path stem = fs::temp_directory_path() / fmt::format("mycel_c_{}_{}", getpid(), count++);
  const std::string source = stem.string() + ".c", library = stem.string() + ".so";
  std::ofstream(source) << emit_c(nest, "kernel");
  const std::string command = fmt::format(
      "cc -std=c99 -O1 -march=native -ffp-contract=off -Wall -Wno-unused-function -Werror -shared "
      "-fPIC -o {} {} -lm",
      library, source);
  if (std::system(command.c_str()) != 0) return false;
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) return false;
  std::vector<void*> all;
  std::vector<Bytes> scratch;
  for (size_t i = 0; i < nest.buffers().size(); ++i) {
    const auto& info = nest.buffers()[i];
    if (info.role == Nest::BufferInfo::kScratch)
      scratch.emplace_back(size_of(info.dtype) * info.scratch_elements + 1);
    all.push_back(info.role == Nest::BufferInfo::kScratch ? scratch.back().data() : buffers[i]);
  }
  reinterpret_cast<void (*)(void* const*)>(dlsym(handle, "kernel"))(all.data());
  dlclose(handle);
  fs::remove(source);
  fs::remove(library);
  return true;
}

namespace {

TEST(EmitC, EveryFunctionAgrees) {
  using Function = Val (*)(Val);
  const Function functions[] = {exp,  exp2,   expm1, log,   log2,  log10, log1p, sin,   cos,   tan,
                                asin, acos,   atan,  sinh,  cosh,  tanh,  asinh, acosh, atanh, erf,
                                erfc, lgamma, sqrt,  rsqrt, floor, ceil,  trunc, rint};
  for (DType t : {DType::kFloat32, DType::kFloat64}) {
    Nest nest("functions");
    const int64_t n = 100;
    Buf x = nest.input(t);
    std::vector<Buf> out;
    for (size_t f = 0; f < std::size(functions); ++f) out.push_back(nest.output(t));
    nest.parallel(n, 0, [&](Val i) {
      Val v = nest.load(x, i);
      for (size_t f = 0; f < out.size(); ++f) nest.store(out[f], i, functions[f](v));
    });
    EXPECT_EQ(check_nest(nest, {random_bytes(t, n, 1, -2, 2)}, std::vector<int64_t>(out.size(), n),
                         t == DType::kFloat32 ? 1e-6 : 2e-15, true),
              "");
  }
}

TEST(EmitC, IntegersAndConversions) {
  Nest nest("integers");
  std::vector<Bytes> in;
  std::vector<int64_t> counts;
  const int64_t n = 64;
  const DType types[] = {DType::kInt8,  DType::kUInt8,  DType::kInt16, DType::kUInt16,
                         DType::kInt32, DType::kUInt32, DType::kInt64, DType::kUInt64};
  std::vector<Buf> x, y;
  for (DType t : types) {
    x.push_back(nest.input(t));
    in.push_back(random_bytes(t, n, 3));
  }
  Buf f = nest.input(DType::kFloat32);
  in.push_back(random_bytes(DType::kFloat32, n, 4, -300, 300));
  for (DType t : types) {
    y.push_back(nest.output(t));
    counts.push_back(n);
  }
  nest.parallel(n, 0, [&](Val i) {
    const Val other = nest.index(n - 1) - i;
    for (size_t k = 0; k < x.size(); ++k) {
      const Val a = nest.load(x[k], i), b = nest.load(x[k], other);
      Val r = (a * b + (a << (b & 15)) - (a >> (b & 7))) ^ (a / (b & 3)) ^ (a % (b & 7)) ^ ~a;
      r = r + min(a, b) * max(a, -b) + abs(a) + cast(nest.load(f, i), a.dtype()) +
          pow(a & 3, b & 3);
      nest.store(y[k], i, r);
    }
  });
  EXPECT_EQ(check_nest(nest, in, counts, 0, true), "");
}

TEST(EmitC, SixteenBitFloats) {
  for (DType t : {DType::kFloat16, DType::kBFloat16}) {
    Bytes all(2 * 65536);
    for (int i = 0; i < 65536; ++i)
      reinterpret_cast<uint16_t*>(all.data())[i] = static_cast<uint16_t>(i);
    const Shape shape{65536};
    Nest nest = elementwise("sixteen", {{t}}, {{shape}}, {{t, DType::kFloat32}}, shape,
                            [](std::span<const Val> in, std::span<Val> out) {
                              out[0] = in[0] * 1.0009765 + 1e-7;
                              out[1] = in[0];
                            });
    EXPECT_EQ(check_nest(nest, {all}, {65536, 65536}, 0, true), "");
  }
}

TEST(EmitC, TwoStagesWithScratch) {
  Reduction r;
  r.name = "mean";
  r.in = {{DType::kFloat32}};
  r.out = {DType::kFloat32};
  r.accumulators = {{DType::kFloat32, 0}};
  r.lift = [](std::span<const Val> in, Val, std::span<Val> t) { t[0] = in[0]; };
  r.combine = [](std::span<const Val> a, std::span<const Val> b, std::span<Val> t) {
    t[0] = a[0] + b[0];
  };
  r.finish = [](std::span<const Val> t, std::span<const Val>, Val n, std::span<Val> out) {
    out[0] = t[0] / cast(n, DType::kFloat32);
  };
  EXPECT_EQ(check_nest(reduce(r, 3, 40000, 1), {random_bytes(DType::kFloat32, 120000, 5)}, {3},
                       1e-5, true),
            "");
  EXPECT_EQ(check_nest(reduce(r, 2, 3000, 40), {random_bytes(DType::kFloat32, 240000, 5)}, {80},
                       1e-5, true),
            "");
}

}  // namespace
}  // namespace mycel::loops
