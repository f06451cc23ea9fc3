#include "loops/jit.h"

#include <cmath>
#include <thread>

#include <gtest/gtest.h>

#include "loops/check_nest.h"

namespace mycel::loops {
namespace {

// Formulas drawn at random, of operations that are exact or correctly rounded: JIT and interpreter
// agree bit for bit.
class RandomFormula {
 public:
  RandomFormula(uint32_t seed, DType type) : random_(seed), type_(type) {}

  Val operator()(std::vector<Val> pool) {
    for (int k = 0; k < 14; ++k) pool.push_back(step(pool));
    return pool.back();
  }

 private:
  const Val& pick(const std::vector<Val>& pool) { return pool[random_() % pool.size()]; }
  Val step(const std::vector<Val>& pool) {
    const Val a = pick(pool), b = pick(pool), c = pick(pool);
    switch (random_() % 14) {
      case 0:
        return a + b;
      case 1:
        return a - b;
      case 2:
        return a * b;
      case 3:
        return a / b;
      case 4:
        return min(a, b);
      case 5:
        return max(a, b);
      case 6:
        return select(a < b, b, c);
      case 7:
        return select((a == b) | !(b <= c), a, c);
      case 8:
        return abs(a);
      case 9:
        return -a;
      case 10:
        return is_float(type_) ? sqrt(abs(a)) : a ^ (b & c);
      case 11:
        return is_float(type_) ? floor(a) * rint(b) : (a << (b & 3)) | (c >> 1);
      case 12:
        return is_float(type_) ? fma(a, b, c) : a % b;
      default:
        return cast(cast(a, other()), type_);
    }
  }
  DType other() {
    static constexpr DType kTypes[] = {DType::kInt8,    DType::kUInt8,  DType::kInt32,
                                       DType::kUInt32,  DType::kInt64,  DType::kFloat32,
                                       DType::kFloat64, DType::kUInt64, DType::kBool};
    return kTypes[random_() % std::size(kTypes)];
  }
  std::mt19937 random_;
  DType type_;
};

void check_random(uint32_t seed, DType type) {
  const int64_t n = 301;
  Nest nest("random");
  Buf x = nest.input(type), y = nest.input(type), z = nest.output(type);
  nest.parallel(n, 0, [&](Val i) {
    RandomFormula formula(seed, type);
    nest.store(z, i, formula({nest.load(x, i), nest.load(y, i)}));
  });
  EXPECT_EQ(check_nest(nest, {random_bytes(type, n, seed), random_bytes(type, n, seed + 1)}, {n}, 0,
                       seed % 20 == 3),
            "");
}

constexpr DType kNumeric[] = {DType::kInt8,    DType::kInt16,    DType::kInt32,   DType::kInt64,
                              DType::kUInt8,   DType::kUInt16,   DType::kUInt32,  DType::kUInt64,
                              DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64};

TEST(Jit, RandomFormulas) {
  for (uint32_t seed = 0; seed < 24; ++seed)
    check_random(seed, kNumeric[seed % std::size(kNumeric)]);
}
TEST(CiJit, ManyRandomFormulas) {
  for (uint32_t seed = 100; seed < 700; ++seed)
    check_random(seed, kNumeric[seed % std::size(kNumeric)]);
}

// Loops, branches, while loops and variables together.
TEST(Jit, ControlFlow) {
  Nest nest("control");
  const int64_t n = 100, m = 37;
  Buf x = nest.input(DType::kFloat32), scan = nest.output(DType::kFloat32),
      steps = nest.output(DType::kInt32), found = nest.output(DType::kInt64);
  const Val cols = nest.number(m);
  nest.parallel(n, 0, [&](Val i) {
    const Val base = i * cols;
    Var running = nest.var(nest.literal(DType::kFloat32, 0.0));
    Var where = nest.var(nest.index(-1));
    nest.loop(cols, LoopKind::kSequential, [&](Val j) {
      const Val v = nest.load(x, base + j);
      nest.if_((v > 3) & (where.get() < 0), [&] { where.set(j); });
      nest.if_(v > 0, [&] { running += v; }, [&] { running.set(running.get() * 0.5); });
      nest.store(scan, base + j, running);
    });
    Var k = nest.var(cast(i, DType::kInt32) + 1),
        count = nest.var(nest.literal(DType::kInt32, int64_t{0}));
    nest.loop_while([&] { return k.get() > 1; },
                    [&] {
                      nest.if_((k.get() & 1) == 0, [&] { k.set(k.get() / 2); },
                               [&] { k.set(k.get() * 3 + 1); });
                      count += nest.literal(DType::kInt32, int64_t{1});
                    });
    nest.store(steps, i, count);
    nest.store(found, i, where);
  });
  EXPECT_EQ(check_nest(nest, {random_bytes(DType::kFloat32, n * m, 9)}, {n * m, n, n}, 0, true),
            "");
}

TEST(Jit, BranchesInsideVectorLoops) {
  Nest nest("masked");
  const int64_t n = 1000;
  Buf x = nest.input(DType::kFloat32), y = nest.output(DType::kFloat32);
  nest.parallel(n, 0, [&](Val i) {
    const Val v = nest.load(x, i);
    Var r = nest.var(v);
    nest.if_(
        v < 0, [&] { r.set(v * v); },
        [&] { nest.if_(v > 2, [&] { r.set(v - nest.load(x, nest.index(0))); }); });
    nest.store(y, i, r);
  });
  EXPECT_EQ(check_nest(nest, {random_bytes(DType::kFloat32, n, 4)}, {n}, 0), "");
}

TEST(Jit, MaximumOfAModulusAndZero) {
  Nest nest("modulus");
  Buf x = nest.input(DType::kFloat32), y = nest.output(DType::kFloat32);
  nest.parallel(40, 0, [&](Val i) {
    const Val a = abs(nest.load(x, i));
    nest.store(y, i, max(a, 0) + max(-a, 0) * 8 + min(a, 0) * 16 + min(-a, 0) * 0.25);
  });
  std::vector<float> in(40), out(40);
  for (int i = 0; i < 40; ++i) in[i] = static_cast<float>(i - 20);
  void* buffers[] = {in.data(), out.data()};
  run(nest, buffers);
  for (int i = 0; i < 40; ++i) EXPECT_EQ(out[i], std::fabs(in[i]) * 0.75f) << in[i];
}

TEST(Jit, LaunchKeepsNumbersApart) {
  auto build = [](double factor, int64_t n) {
    Nest nest("scaled");
    Buf x = nest.input(DType::kFloat32), y = nest.output(DType::kFloat32);
    const Val f = nest.number(factor, DType::kFloat32);
    nest.parallel(n, 0, [&](Val i) { nest.store(y, i, nest.load(x, i) * f); });
    return launch(nest);
  };
  const Launch twice = build(2, 3), thrice = build(3, 2);
  EXPECT_EQ(twice.code, thrice.code);
  float x[] = {1, 2, 3}, y[] = {0, 0, 0};
  void* buffers[] = {x, y};
  twice.run(buffers);
  EXPECT_EQ(y[2], 6);
  thrice.run(buffers);
  EXPECT_EQ(y[1], 6);
  EXPECT_EQ(y[2], 6);
}

TEST(Jit, ThreadsCompileOnceEach) {
  clear_memory_cache();
  const auto before = jit_counts();
  auto build = [](int k) {
    Nest nest("parallel");
    Buf y = nest.output(DType::kInt64);
    nest.parallel(4, 0, [&](Val i) { nest.store(y, i, i * (k + 12345)); });
    return nest;
  };
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int k = 0; k < 6; ++k) {
        int64_t y[4];
        void* buffers[] = {y};
        run(build(k), buffers);
        if (y[3] != 3 * (k + 12345)) ++wrong;
      }
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  const auto after = jit_counts();
  EXPECT_EQ(after.compiled + after.from_disk - before.compiled - before.from_disk, 6);
}

}  // namespace
}  // namespace mycel::loops
