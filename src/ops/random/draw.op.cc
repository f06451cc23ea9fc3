// Distributions with kernels of their own.
#include <algorithm>
#include <cmath>

#include "ir/loop_rule.h"
#include "ir/type_rule.h"
#include "ops/random/philox.h"
#include "ops/random/random.h"

namespace mycel::ops {

using ir::Attr;
using ir::check;
using ir::LoopCtx;
using ir::no_gradient;
using ir::TypeRuleCtx;
using loops::Nest;
using loops::Val;
using loops::Var;

namespace {

constexpr const char* kNoOperand = "random numbers depend on the key alone, which is an integer";

void need_key(TypeRuleCtx& c, int i) {
  const Shape& s = c.shape(i);
  if (c.dtype(i) != DType::kUInt32 || s.rank() != 1 || (s[0] != 2 && s[0] != kUnknownDim)) {
    c.fail_type("the key must be uint32[2]");
  }
}

Shape asked_shape(TypeRuleCtx& c) {
  for (int64_t n : c.attrs.ints("shape")) {
    if (n < 0) c.fail("shape must have no negative entries, got {}", c.attrs["shape"].str());
  }
  return Shape(c.attrs.ints("shape"));
}

void float_type(TypeRuleCtx& c) {
  need_key(c, 0);
  DType d = c.attrs.dtype("dtype");
  if (!is_float(d)) c.fail_type("dtype must be a float type, got {}", name_of(d));
  c.result(d, asked_shape(c));
}

void bits_type(TypeRuleCtx& c) {
  need_key(c, 0);
  DType d = c.attrs.dtype("dtype");
  if (d != DType::kUInt32 && d != DType::kUInt64)
    c.fail_type("dtype must be uint32 or uint64, got {}", name_of(d));
  c.result(d, asked_shape(c));
}

Val both_words(Val high, Val low) {
  return cast(high, DType::kUInt64) << 32 | cast(low, DType::kUInt64);
}

void bits_loops(LoopCtx& c) {
  if (c.out_type().dtype == DType::kUInt32) {
    fill_random(c, c.in(0), 4, [](const Val* w, Val* v) { std::copy_n(w, 4, v); });
    return;
  }
  fill_random(c, c.in(0), 2, [](const Val* w, Val* v) {
    v[0] = both_words(w[0], w[1]);
    v[1] = both_words(w[2], w[3]);
  });
}

// Uniform values as the result's dtype can hold them below 1: the 16-bit floats take fewer bits, so
// that storing never rounds up to 1.
Val short_unit(Val word, DType d) {
  int bits = d == DType::kFloat16 ? 11 : d == DType::kBFloat16 ? 8 : 24;
  return cast(word >> (32 - bits), DType::kFloat32) * std::ldexp(1.0, -bits);
}

void uniform_loops(LoopCtx& c) {
  DType d = c.out_type().dtype;
  double low = c.attrs.real("low"), high = c.attrs.real("high");
  DType compute = d == DType::kFloat64 ? d : DType::kFloat32;
  Val from = c.nest.number(low, compute), span = c.nest.number(high - low, compute),
      to = c.nest.number(high, compute);
  auto placed = [&](Val u) {
    Val v = from + u * span;
    return select(v < to, v, from);  // rounding may reach the open end
  };
  bool unit = low == 0 && high == 1;
  if (d == DType::kFloat64) {
    fill_random(c, c.in(0), 2, [&](const Val* w, Val* v) {
      for (int l = 0; l < 2; ++l) {
        Val u = unit_double(w[2 * l], w[2 * l + 1]);
        v[l] = unit ? u : placed(u);
      }
    });
    return;
  }
  fill_random(c, c.in(0), 4, [&](const Val* w, Val* v) {
    for (int l = 0; l < 4; ++l) {
      Val u = short_unit(w[l], d);
      v[l] = unit ? u : placed(u);
    }
  });
}

void normal_loops(LoopCtx& c) {
  bool wide = c.out_type().dtype == DType::kFloat64;
  DType compute = wide ? DType::kFloat64 : DType::kFloat32;
  Val mean = c.nest.number(c.attrs.real("mean"), compute),
      deviation = c.nest.number(c.attrs.real("stddev"), compute);
  fill_random(c, c.in(0), wide ? 2 : 4, [&](const Val* w, Val* v) {
    if (wide) {
      box_muller(1.0 - unit_double(w[0], w[1]), unit_double(w[2], w[3]), &v[0], &v[1]);
    } else {
      // All 32 bits count in the logarithm: its argument reaches down to 2^-33.
      auto open = [](Val word) { return (cast(word, DType::kFloat32) + 0.5) * 0x1p-32; };
      box_muller(open(w[0]), unit_float(w[1]), &v[0], &v[1]);
      box_muller(open(w[2]), unit_float(w[3]), &v[2], &v[3]);
    }
    for (int l = 0; l < (wide ? 2 : 4); ++l) v[l] = mean + v[l] * deviation;
  });
}

void int_type(TypeRuleCtx& c) {
  need_key(c, 0);
  DType d = c.attrs.dtype("dtype");
  if (!is_int(d)) c.fail_type("dtype must be an integer type, got {}", name_of(d));
  if (c.attrs.integer("low") >= c.attrs.integer("high")) {
    c.fail("low must be below high, got {} and {}", c.attrs.integer("low"),
           c.attrs.integer("high"));
  }
  c.result(d, asked_shape(c));
}

// 64 bits modulo the number of values: no value is preferred by more than 2^-64 times that number.
void int_loops(LoopCtx& c) {
  uint64_t low = static_cast<uint64_t>(c.attrs.integer("low")),
           high = static_cast<uint64_t>(c.attrs.integer("high"));
  Val count = cast(c.nest.number(static_cast<int64_t>(high - low)), DType::kUInt64);
  Val from = c.nest.number(c.attrs.integer("low"));
  fill_random(c, c.in(0), 2, [&](const Val* w, Val* v) {
    for (int l = 0; l < 2; ++l)
      v[l] = from + cast(both_words(w[2 * l], w[2 * l + 1]) % count, DType::kInt64);
  });
}

void like_parameter(TypeRuleCtx& c) {
  need_key(c, 0);
  c.result(c.dtype(1), c.shape(1));
}

// Uniform in (0, 1), never an end.
Val open_unit(Val high, Val low) { return unit_double(high, low) + 0x1p-54; }

// Marsaglia and Tsang, "A simple method for generating gamma variables" (2000), by rejection. For
// alpha below 1: gamma(alpha + 1) · u^(1 / alpha). In double precision throughout.
void gamma_loops(LoopCtx& c) {
  Nest& nest = c.nest;
  nest.parallel(c.out_type().shape.size(), 400, [&](Val i) {
    Val alpha = cast(nest.load(c.in(1), i), DType::kFloat64);
    Val small = alpha < 1.0, shape = select(small, alpha + 1.0, alpha);
    Val d = shape - 1.0 / 3.0, s = 1.0 / sqrt(9.0 * d);
    Var attempt = nest.var(nest.index(0)), open = nest.var(alpha > 0.0 && isfinite(alpha));
    Var result = nest.var(select(alpha == 0.0, alpha * 0.0, constant(alpha, std::nan(""))));
    nest.loop_while([&] { return open.get(); },
                    [&] {
                      Val w[4], more[4], z, unused;
                      key_block(nest, c.in(0), i, attempt.get(), w);
                      key_block(nest, c.in(0), i, attempt.get() + 1, more);
                      box_muller(open_unit(w[0], w[1]), unit_double(w[2], w[3]), &z, &unused);
                      Val root = 1.0 + s * z, v = root * root * root,
                          u = open_unit(more[0], more[1]);
                      Val safe = select(v > 0.0, v, 1.0);
                      Val good = v > 0.0 && log(u) < 0.5 * z * z + d - d * v + d * log(safe);
                      Val scale = select(small, exp(log(open_unit(more[2], more[3])) / alpha),
                                         constant(alpha, 1.0));
                      result.set(select(good, d * v * scale, result.get()));
                      open.set(!good);
                      attempt.set(attempt.get() + 2);
                    });
    nest.store(c.out(), i, result.get());
  });
}

// Rates below 10: how many uniforms multiply to at least exp(-rate) (Knuth). From 10 on: Hörmann's
// transformed rejection PTRS ("The transformed rejection method for generating Poisson random
// variables", 1993).
void poisson_loops(LoopCtx& c) {
  Nest& nest = c.nest;
  nest.parallel(c.out_type().shape.size(), 400, [&](Val i) {
    Val rate = cast(nest.load(c.in(1), i), DType::kFloat64);
    Val valid = rate >= 0.0 && isfinite(rate), few = rate < 10.0,
        safe = select(valid && !few, rate, 10.0);
    Val b = 0.931 + 2.53 * sqrt(safe), a = -0.059 + 0.02483 * b,
        inverse = 1.1239 + 1.1328 / (b - 3.4);
    Val limit = exp(-rate), ratio = 0.9277 - 3.6224 / (b - 2.0);
    Var attempt = nest.var(nest.index(0)), open = nest.var(valid),
        product = nest.var(constant(rate, 1.0));
    Var count = nest.var(select(valid, rate * 0.0, constant(rate, std::nan(""))));
    nest.loop_while([&] { return open.get(); },
                    [&] {
                      Val w[4];
                      key_block(nest, c.in(0), i, attempt.get(), w);
                      Val u = open_unit(w[0], w[1]), v = open_unit(w[2], w[3]);
                      Val times = product.get() * u, more = times > limit;
                      Val centred = u - 0.5, side = 0.5 - abs(centred);
                      Val k = floor((2.0 * a / side + b) * centred + safe + 0.43);
                      Val quick = side >= 0.07 && v <= ratio,
                          out = k < 0.0 || (side < 0.013 && v > side);
                      Val slow = log(v * inverse / (a / (side * side) + b)) <=
                                 k * log(safe) - safe - lgamma(select(out, k * 0.0, k) + 1.0);
                      Val good = quick || (!out && slow);
                      count.set(select(few, select(more, count.get() + 1.0, count.get()),
                                       select(good, k, count.get())));
                      open.set(select(few, more, !good));
                      product.set(times);
                      attempt.set(attempt.get() + 1);
                    });
    nest.store(c.out(), i, count.get());
  });
}

}  // namespace

constexpr OpDef kRandomBits = check({
    .name = "keyed_bits",
    .doc = "Random 32 or 64 bit words: Philox-4x32-10 of the key.",
    .in = {"key: int[2]"},
    .attr = {"shape: int[]", "dtype: dtype = uint32"},
    .type = bits_type,
    .shard = "none",
    .grad = no_gradient(kNoOperand),
    .loops = bits_loops,
    .cases = "key[2]; key dtypes uint32; key in ints(0, 4000000000); shape = [] [7] [3, 700]; "
             "dtype = uint32 uint64; bad "
             "key[3]; bad shape = [-1]; skip zero_size: a key has two words; skip scalar: a key "
             "has two words",
    .random = true,
    .internal = true,
});

constexpr OpDef kRandomUniform = check({
    .name = "keyed_uniform",
    .doc = "Uniform numbers in [low, high): multiples of 2^-24 (float64: 2^-53) of the span.",
    .in = {"key: int[2]"},
    .attr = {"shape: int[]", "dtype: dtype = float32", "low: float = 0", "high: float = 1"},
    .type = float_type,
    .shard = "none",
    .grad = no_gradient(kNoOperand),
    .loops = uniform_loops,
    .cases = "key[2]; key dtypes uint32; key in ints(0, 4000000000); shape = [] [7] [3, 700]; "
             "dtype = float32 float64 float16 "
             "bfloat16; low = 0.0 -1.5; high = 1.0 2.5; bad key[3]; bad dtype = int32; skip "
             "zero_size: a key has two words; "
             "skip scalar: a key has two words",
    .random = true,
    .internal = true,
});

constexpr OpDef kRandomNormal = check({
    .name = "keyed_normal",
    .doc = "Normal numbers mean + stddev · z, z standard normal by the Box-Muller transform.",
    .in = {"key: int[2]"},
    .attr = {"shape: int[]", "dtype: dtype = float32", "mean: float = 0", "stddev: float = 1"},
    .type = float_type,
    .shard = "none",
    .grad = no_gradient(kNoOperand),
    .loops = normal_loops,
    .cases = "key[2]; key dtypes uint32; key in ints(0, 4000000000); shape = [] [7] [3, 700]; "
             "dtype = float32 float64 float16 "
             "bfloat16; mean = 0.0 1.5; stddev = 1.0 0.5; bad key[3]; bad dtype = int32; skip "
             "zero_size: a key has two words; "
             "skip scalar: a key has two words",
    .random = true,
    .internal = true,
});

constexpr OpDef kRandomInt = check({
    .name = "keyed_randint",
    .doc = "Uniform integers in [low, high).",
    .in = {"key: int[2]"},
    .attr = {"shape: int[]", "low: int", "high: int", "dtype: dtype = int32"},
    .type = int_type,
    .shard = "none",
    .grad = no_gradient(kNoOperand),
    .loops = int_loops,
    .cases = "key[2]; key dtypes uint32; key in ints(0, 4000000000); shape = [] [7] [3, 700]; low "
             "= -3 0; high = 7 "
             "5000000000; dtype = int64 int32 uint8; bad low = 9000000000; bad key[3]; skip "
             "zero_size: a key has two words; "
             "skip scalar: a key has two words",
    .random = true,
    .internal = true,
});

constexpr OpDef kRandomGamma = check({
    .name = "keyed_gamma",
    .doc = "One gamma variable of rate 1 for each shape parameter alpha; NaN where alpha is "
           "negative or not finite.",
    .in = {"key: int[2]", "alpha: float"},
    .type = like_parameter,
    .shard = "none",
    .grad = no_gradient("drawn by rejection; a reparametrised gradient is not defined here"),
    .loops = gamma_loops,
    .cases = "key[2]; key dtypes uint32; key in ints(0, 4000000000); alpha[40]; alpha in (0.1, 5); "
             "bad key[3]; skip "
             "zero_size: a key has two words; skip scalar: a key has two words",
    .random = true,
    .internal = true,
});

constexpr OpDef kRandomPoisson = check({
    .name = "keyed_poisson",
    .doc = "One Poisson variable for each rate; NaN where the rate is negative or not finite.",
    .in = {"key: int[2]", "rate: float"},
    .type = like_parameter,
    .shard = "none",
    .grad = no_gradient("a count does not change with small changes of its rate"),
    .loops = poisson_loops,
    .cases = "key[2]; key dtypes uint32; key in ints(0, 4000000000); rate[40]; rate in (0, 30); "
             "bad key[3]; skip zero_size: a "
             "key has two words; skip scalar: a key has two words",
    .random = true,
    .internal = true,
});

}  // namespace mycel::ops
