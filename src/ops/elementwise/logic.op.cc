// Logical operations (on truth values) and bitwise ones (on integers).
#include "ir/adjoint.h"
#include "ir/type_rule.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/rooms.h"

namespace mycel::ops {

using namespace ir;  // NOLINT: the vocabulary of records

namespace {
constexpr GradRule kBoolResult = no_gradient("the result is bool");
constexpr GradRule kInteger = no_gradient("integers have no gradient");

void bits_type(TypeRuleCtx& c) {
  if (!is_int(c.dtype(0)) && !is_bool(c.dtype(0))) c.fail_type("integers or bools expected");
  types::broadcast(c);
}
void shift_type(TypeRuleCtx& c) {
  if (!is_int(c.dtype(0))) c.fail_type("integers expected");
  types::broadcast(c);
}

// Counts the ones of a pattern of up to 64 bits, by the usual sums of neighbouring fields.
loops::Val ones(loops::Val x) {
  auto v = cast(x, DType::kUInt64);
  if (is_signed_int(x.dtype()) && size_of(x.dtype()) < 8) {
    v = v & constant(v, (int64_t{1} << (8 * size_of(x.dtype()))) -
                            1);  // drop the copies of the sign bit
  }
  v = v - ((v >> 1) & 0x5555555555555555);
  v = (v & 0x3333333333333333) + ((v >> 2) & 0x3333333333333333);
  v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0f;
  return (v * constant(v, int64_t{0x0101010101010101})) >> 56;
}
}  // namespace

constexpr OpDef kLogicalAnd = check({
    .name = "logical_and",
    .doc = "Whether x and y are both true (not zero).",
    .in = {"input: any", "other: any"},
    .type = types::broadcast_bool,
    .shard = "..., ... -> ...",
    .grad = kBoolResult,
    .scalar = binary([](auto x, auto y) { return x && y; }),
    .cases = "input in {0, 1, 2}; other in {0, 1, 2}; at (1, 2) -> 1; at (1, 0) -> 0; bad input[2] "
             "other[3]",
    .onnx = "And",
    .primitive = "LogicalAnd",
    .method = "logical_and",
    .alias = "bool_and",
    .commutative = true,
});

constexpr OpDef kLogicalOr = check({
    .name = "logical_or",
    .doc = "Whether x or y is true (not zero).",
    .in = {"input: any", "other: any"},
    .type = types::broadcast_bool,
    .shard = "..., ... -> ...",
    .grad = kBoolResult,
    .scalar = binary([](auto x, auto y) { return x || y; }),
    .cases = "input in {0, 1, 2}; other in {0, 1, 2}; at (0, 2) -> 1; at (0, 0) -> 0",
    .onnx = "Or",
    .primitive = "LogicalOr",
    .method = "logical_or",
    .alias = "bool_or",
    .commutative = true,
});

constexpr OpDef kLogicalXor = check({
    .name = "logical_xor",
    .doc = "Whether exactly one of x and y is true (not zero).",
    .in = {"input: any", "other: any"},
    .type = types::broadcast_bool,
    .shard = "..., ... -> ...",
    .grad = kBoolResult,
    .scalar = binary([](auto x, auto y) { return cast(x, DType::kBool) ^ cast(y, DType::kBool); }),
    .cases = "input in {0, 1, 2}; other in {0, 1, 2}; at (1, 2) -> 0; at (1, 0) -> 1",
    .onnx = "Xor",
    .primitive = "LogicalXor",
    .method = "logical_xor",
    .commutative = true,
});

constexpr OpDef kLogicalNot = check({
    .name = "logical_not",
    .doc = "Whether x is false (zero).",
    .in = {"input: any"},
    .type = types::bool_like_first,
    .shard = "... -> ...",
    .grad = kBoolResult,
    .scalar = unary([](auto x) { return !x; }),
    .cases = "input in {0, 1, 2}; at (0) -> 1; at (0.5) -> 0",
    .onnx = "Not",
    .primitive = "LogicalNot",
    .method = "logical_not",
    .alias = "bool_not",
});

constexpr OpDef kBitwiseAnd = check({
    .name = "bitwise_and",
    .doc = "Bitwise and of integers; logical and of bools.",
    .in = {"input: any", "other: any"},
    .promote = Promote::kCommon,
    .type = bits_type,
    .shard = "..., ... -> ...",
    .grad = kInteger,
    .scalar = binary([](auto x, auto y) { return x & y; }),
    .cases = "dtypes bool int8 int16 int32 int64 uint8 uint16 uint32 uint64; at (12, 10) -> 8; at "
             "(-1, 5) -> 5",
    .onnx = "BitwiseAnd",
    .primitive = "BitwiseAnd",
    .method = "bitwise_and __and__",
    .commutative = true,
});

constexpr OpDef kBitwiseOr = check({
    .name = "bitwise_or",
    .doc = "Bitwise or of integers; logical or of bools.",
    .in = {"input: any", "other: any"},
    .promote = Promote::kCommon,
    .type = bits_type,
    .shard = "..., ... -> ...",
    .grad = kInteger,
    .scalar = binary([](auto x, auto y) { return x | y; }),
    .cases = "dtypes bool int8 int16 int32 int64 uint8 uint16 uint32 uint64; at (12, 10) -> 14",
    .onnx = "BitwiseOr",
    .primitive = "BitwiseOr",
    .method = "bitwise_or __or__",
    .commutative = true,
});

constexpr OpDef kBitwiseXor = check({
    .name = "bitwise_xor",
    .doc = "Bitwise exclusive or of integers; logical one of bools.",
    .in = {"input: any", "other: any"},
    .promote = Promote::kCommon,
    .type = bits_type,
    .shard = "..., ... -> ...",
    .grad = kInteger,
    .scalar = binary([](auto x, auto y) { return x ^ y; }),
    .cases = "dtypes bool int8 int16 int32 int64 uint8 uint16 uint32 uint64; at (12, 10) -> 6",
    .onnx = "BitwiseXor",
    .primitive = "BitwiseXor",
    .method = "bitwise_xor __xor__",
    .commutative = true,
});

constexpr OpDef kInvert = check({
    .name = "invert",
    .doc = "Every bit flipped: -x - 1 for signed integers; of a bool its logical not.",
    .in = {"x: any"},
    .type = bits_type,
    .shard = "... -> ...",
    .grad = kInteger,
    .scalar = unary([](auto x) { return ~x; }),
    .cases = "dtypes bool int8 int16 int32 int64 uint8 uint16 uint32 uint64; at (5) -> -6",
    .onnx = "BitwiseNot",
    .primitive = "Invert",
    .method = "invert __invert__",
});

constexpr OpDef kLeftShift = check({
    .name = "bitwise_left_shift",
    .doc = "x * 2^y modulo the width; shifts of the width or more give 0.",
    .in = {"input: any", "other: any"},
    .promote = Promote::kCommon,
    .type = shift_type,
    .shard = "..., ... -> ...",
    .grad = kInteger,
    .scalar = binary([](auto x, auto y) { return x << y; }),
    .cases = "other in ints(0, 6); dtypes int8 int16 int32 int64 uint8 uint16 uint32 uint64; at "
             "(3, 4) -> 48; "
             "at (1, 70) -> 0",
    .onnx = "BitShift(direction='LEFT')",
    .primitive = "LeftShift",
    .method = "bitwise_left_shift",
});

constexpr OpDef kRightShift = check({
    .name = "bitwise_right_shift",
    .doc = "x / 2^y rounded down; shifts of the width or more give 0, or -1 for negative x.",
    .in = {"input: any", "other: any"},
    .promote = Promote::kCommon,
    .type = shift_type,
    .shard = "..., ... -> ...",
    .grad = kInteger,
    .scalar = binary([](auto x, auto y) { return x >> y; }),
    .cases = "other in ints(0, 6); dtypes int8 int16 int32 int64 uint8 uint16 uint32 uint64; at "
             "(48, 4) -> 3; "
             "at (-3, 1) -> -2; at (-1, 70) -> -1",
    .onnx = "BitShift(direction='RIGHT')",
    .primitive = "RightShift",
    .method = "bitwise_right_shift",
});

constexpr OpDef kPopulationCount = check({
    .name = "population_count",
    .doc = "Number of one bits, as uint8.",
    .in = {"input_x: int"},
    .type = [](TypeRuleCtx& c) { c.result(DType::kUInt8, c.shape(0)); },
    .shard = "... -> ...",
    .grad = kInteger,
    .scalar = unary([](auto x) { return ones(x); }),
    .cases = "skip dtypes: negative numbers have more ones in wider dtypes; at (11) -> 3; at (-1) "
             "-> 64; at (0) -> 0",
    .primitive = "PopulationCount",
});

void register_logic() {
  register_ops({&kLogicalAnd, &kLogicalOr, &kLogicalXor, &kLogicalNot, &kBitwiseAnd, &kBitwiseOr,
                &kBitwiseXor, &kInvert, &kLeftShift, &kRightShift, &kPopulationCount});
}

}  // namespace mycel::ops
