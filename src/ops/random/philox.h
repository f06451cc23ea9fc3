// Counter-based random numbers: Philox-4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random
// numbers: as easy as 1, 2, 3", 2011). A key and a counter give four 32-bit words; nothing else is
// state, so an element's bits depend on the key and its position alone, never on threads, vector
// width or order.
#pragma once

#include <functional>

#include "ir/loop_rule.h"
#include "loops/val.h"

namespace mycel::ops {

// Four uint32 words from four counter words and two key words.
void philox(const loops::Val counter[4], loops::Val key0, loops::Val key1, loops::Val words[4]);

// The words of block `block` (int64) of the stream of key operand `key` (uint32[2]). Draws of one
// element that need several blocks differ in `attempt` (int64).
void key_block(loops::Nest& nest, loops::Buf key, loops::Val block, loops::Val attempt,
               loops::Val words[4]);

// Fills result 0. Each block gives `lanes` values (at most 4) through `make(words, values)`, of
// which value l lies kBlocks · l elements behind value 0, so that vector loops store contiguously;
// `finish(value, i)` may then look at element i of another operand.
using MakeValues = std::function<void(const loops::Val words[4], loops::Val* values)>;
using FinishValue = std::function<loops::Val(loops::Val value, loops::Val i)>;
void fill_random(ir::LoopCtx& c, loops::Buf key, int lanes, const MakeValues& make,
                 const FinishValue& finish = {});

// In [0, 1), from one word (float32) or two (float64): all multiples of 2^-24 or 2^-53.
loops::Val unit_float(loops::Val word);
loops::Val unit_double(loops::Val high, loops::Val low);
// Two independent standard normals of the dtype of u and v, which lie in (0, 1] and [0, 1) (Box and
// Muller, 1958).
void box_muller(loops::Val u, loops::Val v, loops::Val* z0, loops::Val* z1);

}  // namespace mycel::ops
