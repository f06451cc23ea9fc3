// The nodes behind Val and Nest. A node is evaluated where it was created: the builder appends each
// one to the block that is open at that moment (a kLet statement), so program order is creation
// order and loads, variables and stores need no further rules. Literals and run-time numbers are
// leaves and stand in no block. Every node lives in its Nest's arena and is freed with it.
#pragma once

#include <bit>
#include <cstdint>
#include <functional>

#include "loops/nest.h"

namespace mycel::loops {

enum class Op : uint8_t {
  kLiteral,   // bits
  kNumber,    // index into numbers()
  kIndex,     // induction variable of a loop or a stage
  kVar,       // value of variable `index` at this point
  kLoad,      // arg[0] = offset, index = buffer (of a complex buffer: of its real elements)
  kArgument,  // parameter `index` of a formula in math.h
  // two operands
  kAdd,
  kSub,
  kMul,
  kDiv,
  kRem,
  kAnd,
  kOr,
  kXor,
  kShl,
  kShr,
  kLt,
  kLe,
  kEq,
  kNe,
  kMin,
  kMax,
  kMulHi,
  kAtan2,
  kPow,
  // three operands
  kSelect,  // arg[0] ? arg[1] : arg[2]
  kFma,     // always one rounding
  kMulAdd,  // one rounding where the machine has FMA, else two; only in math formulas
  // one operand
  kNeg,
  kNot,
  kCast,
  kBitcast,
  kAbs,
  kFloor,
  kCeil,
  kTrunc,
  kRint,
  kSqrt,
  // one operand, by formula (math.h) or, in double, the C library
  kExp,
  kExp2,
  kExpm1,
  kLog,
  kLog2,
  kLog10,
  kLog1p,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kTanh,
  kAsinh,
  kAcosh,
  kAtanh,
  kErf,
  kErfc,
  kLgamma,
};
constexpr int kOpCount = static_cast<int>(Op::kLgamma) + 1;
constexpr bool is_function(Op op) { return op >= Op::kExp || op == Op::kAtan2 || op == Op::kPow; }
constexpr bool is_comparison(Op op) { return op >= Op::kLt && op <= Op::kNe; }

// "add", "exp", …: the C library's name for functions.
const char* name_of(Op op);

struct Expr {
  Op op;
  DType dtype;  // never complex, float16 or bfloat16
  uint8_t count = 0;
  int32_t id = 0;     // dense, in order of creation
  int32_t block = 0;  // where it is visible; 0 = everywhere
  int32_t index = 0;
  Expr* arg[3] = {};
  int64_t bits = 0;  // literal: the integer, or the bit pattern of the double
  Nest::Impl* home = nullptr;

  double real() const { return std::bit_cast<double>(bits); }
  bool is_literal() const { return op == Op::kLiteral; }
};

struct Stmt {
  enum Kind : uint8_t { kLet, kStore, kSet, kLoop, kWhile, kIf } kind;
  LoopKind loop = LoopKind::kSequential;
  Trips trips = Trips::kMany;
  int32_t index = 0;  // buffer of a store, variable of a set
  Expr* a = nullptr;  // let: the node; store: offset; set: value; loop: extent; while/if: condition
  Expr* b = nullptr;  // store: value; loop: induction variable
  Stmt* body = nullptr;   // loop, while, if
  Stmt* other = nullptr;  // if: else; while: what computes the condition, run before it
  Stmt* next = nullptr;
};

// What builders (val.cc, nest.cc) and emitters share of a nest under construction.
struct Nest::Impl {
  explicit Impl(std::string n) : name(std::move(n)) { log.reserve(512); }
  ~Impl();
  Impl(const Impl&) = delete;

  Nest* self = nullptr;
  std::string name;
  std::vector<BufferInfo> buffers;
  std::vector<bool> in_place;  // per buffer: outputs may be exactly this input
  std::vector<int64_t> numbers;
  std::vector<DType> number_types;
  std::vector<DType> vars;
  std::vector<Stage> stages;
  Stmt* preamble = nullptr;  // lets outside any stage
  int32_t expr_count = 0;
  std::string log;  // structure(): what the builder was asked, in order

  // Takes stores in their place, where it gives true: an op whose results go through others before
  // they reach memory.
  std::function<bool(int buffer, Val offset, Val value)> capture;

  bool in_stage = false;
  Stmt** tail = &preamble;
  int32_t block = 0;
  std::vector<bool> open{true};
  std::vector<Expr*> literals;

  // A node in the open block (leaves: in none).
  Expr* add(Op op, DType dtype, std::initializer_list<Expr*> args, int32_t index = 0);
  Expr* literal(DType dtype, int64_t bits);
  Expr* leaf(Op op, DType dtype, int32_t index);
  Stmt* append(Stmt::Kind kind);
  void use(const Expr* e) const;  // checks that e may be read here
  // Runs `body` with a fresh block open, whose statements go to *first.
  template <typename F>
  void in_block(Stmt** first, F&& body) {
    Stmt** outer_tail = tail;
    int32_t outer = block;
    tail = first;
    block = static_cast<int32_t>(open.size());
    open.push_back(true);
    body();
    open[block] = false;
    block = outer;
    tail = outer_tail;
    log.push_back('\x7f');
  }
  void note(const void* data, size_t bytes) { log.append(static_cast<const char*>(data), bytes); }
  void* allocate(size_t bytes);

 private:
  static constexpr size_t kInline = 6144, kChunk = 32768;
  alignas(16) char first_chunk_[kInline];
  char* at_ = first_chunk_;
  char* end_ = first_chunk_ + kInline;
  std::vector<char*> chunks_;
};

}  // namespace mycel::loops
