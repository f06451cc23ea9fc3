#include "ops/random/philox.h"

#include <numbers>

namespace mycel::ops {

using loops::LoopKind;
using loops::Nest;
using loops::Val;

void philox(const Val counter[4], Val key0, Val key1, Val words[4]) {
  constexpr int kRounds = 10;
  constexpr int64_t kMultiply0 = 0xD2511F53, kMultiply1 = 0xCD9E8D57;
  constexpr int64_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
  Val c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
  Val m0 = constant(c0, kMultiply0), m1 = constant(c0, kMultiply1);
  for (int round = 0; round < kRounds; ++round) {
    Val high0 = mul_hi(c0, m0), low0 = c0 * m0, high1 = mul_hi(c2, m1), low1 = c2 * m1;
    c0 = high1 ^ c1 ^ key0;
    c2 = high0 ^ c3 ^ key1;
    c1 = low1;
    c3 = low0;
    key0 = key0 + kWeyl0;
    key1 = key1 + kWeyl1;
  }
  words[0] = c0;
  words[1] = c1;
  words[2] = c2;
  words[3] = c3;
}

void key_block(Nest& nest, loops::Buf key, Val block, Val attempt, Val words[4]) {
  Val counter[4] = {cast(block, DType::kUInt32), cast(block >> 32, DType::kUInt32),
                    cast(attempt, DType::kUInt32), nest.literal(DType::kUInt32, int64_t{0})};
  philox(counter, nest.load(key, nest.index(0)), nest.load(key, nest.index(1)), words);
}

void fill_random(ir::LoopCtx& c, loops::Buf key, int lanes, const MakeValues& make,
                 const FinishValue& finish) {
  constexpr int64_t kBlocks = 256;
  Nest& nest = c.nest;
  int64_t size = c.out_type().shape.size(), segment = lanes * kBlocks, segments = size / segment;
  auto put = [&](Val i, Val value) { nest.store(c.out(), i, finish ? finish(value, i) : value); };
  auto values_of = [&](Val block, Val* values) {
    Val words[4];
    key_block(nest, key, block, nest.index(0), words);
    make(words, values);
  };
  nest.parallel(segments, segment * 40, [&](Val s) {
    nest.loop(nest.index(kBlocks), LoopKind::kVector, [&](Val j) {
      Val values[4];
      values_of(s * kBlocks + j, values);
      for (int l = 0; l < lanes; ++l) put(s * segment + l * kBlocks + j, values[l]);
    });
  });
  // What is left of the last segment, element by element.
  Val whole = nest.number(segments);
  nest.parallel(size - segments * segment, 160, [&](Val e) {
    Val values[4], lane = e / kBlocks;
    values_of(whole * kBlocks + e % kBlocks, values);
    Val value = values[0];
    for (int l = 1; l < lanes; ++l) value = select(lane == l, values[l], value);
    put(whole * segment + e, value);
  });
}

Val unit_float(Val word) { return cast(word >> 8, DType::kFloat32) * 0x1p-24; }

Val unit_double(Val high, Val low) {
  return (cast(high >> 5, DType::kFloat64) * 0x1p26 + cast(low >> 6, DType::kFloat64)) * 0x1p-53;
}

void box_muller(Val u, Val v, Val* z0, Val* z1) {
  Val radius = sqrt(log(u) * -2.0), angle = v * (2 * std::numbers::pi);
  *z0 = radius * cos(angle);
  *z1 = radius * sin(angle);
}

}  // namespace mycel::ops
