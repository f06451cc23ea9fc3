// Nest: one kernel under construction. It has buffers (operands of the op, in order: inputs, then
// outputs, then scratch), run-time numbers (extents and the like, so that one compiled kernel
// serves every shape) and stages. A stage is one parallel loop over [0, extent) whose body is any
// tree of loops, branches, variables, loads and stores; stages run one after the other.
//
// The same Nest is interpreted (interpret.h, the reference), compiled (llvm/jit.h) or printed as
// C99 (emit_c.h). Kernels are shared by structure: two nests that differ only in run-time numbers
// have equal `structure()` and one compiled body.
//
// Determinism: iterations of the parallel loop must be independent; how they are spread over
// threads never changes a result. Reductions over a whole tensor are written as two stages with a
// fixed chunk.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "loops/val.h"

namespace mycel::loops {

struct Stmt;

struct Buf {
  Nest* nest = nullptr;
  int index = -1;
  DType dtype = DType::kFloat32;  // as stored
};

// A mutable scalar, for accumulators. Lives in a register.
class Var {
 public:
  Val get() const;
  void set(Val v) const;
  operator Val() const { return get(); }  // NOLINT(google-explicit-constructor)
  void operator+=(Val v) const { set(get() + v); }
  Nest* nest = nullptr;
  int index = -1;
  DType dtype = DType::kFloat32;
};

enum class LoopKind {
  kVector,      // iterations independent: vectorise
  kReduce,      // accumulates into Vars with + * min max & |: may be reassociated into vector lanes
                // (fixed width, so results do not depend on the thread count)
  kSequential,  // order matters (scans, searches)
};

// A hint: loops of few iterations are vectorised without interleaving, whose remainders would run
// scalar.
enum class Trips { kMany, kFew };

class Nest {
 public:
  explicit Nest(std::string name);
  ~Nest();
  Nest(Nest&&) noexcept;
  Nest& operator=(Nest&&) noexcept;

  // Buffers are declared in the order in which the caller passes pointers.
  Buf input(DType dtype);
  Buf output(DType dtype);
  // Temporary memory of `elements` (host value), allocated by the caller of the kernel for the run.
  Buf scratch(DType dtype, int64_t elements);
  // Says that the caller may pass the memory of `input` as an output too (donated, in place):
  // outputs then coincide with it element for element or not at all. Other buffers never overlap.
  void allow_in_place(Buf input);

  // A number known to the host now but only at run time to the kernel (int64). Not part of
  // structure().
  Val number(int64_t value);
  // The same for a real parameter (e.g. epsilon, learning rate); dtype float32 or float64.
  Val number(double value, DType dtype);
  // A literal, part of the structure.
  Val literal(DType dtype, int64_t value);
  Val literal(DType dtype, double value);
  Val index(int64_t value) { return literal(DType::kInt64, value); }

  // Loads and stores by linear element offset (int64 Val). A complex buffer loads a complex Val.
  Val load(Buf b, Val offset);
  void store(Buf b, Val offset, Val value);  // casts to b.dtype if it differs
  // Adds to memory; only where no other parallel iteration touches the element.
  void accumulate(Buf b, Val offset, Val value) { store(b, offset, load(b, offset) + value); }

  // A stage: body(i) for i in [0, extent). `cost` is a guess of element operations per iteration,
  // from which the runtime chooses how many iterations one thread takes at a time; 0 = estimated
  // from the body.
  void parallel(int64_t extent, int64_t cost, const std::function<void(Val i)>& body);
  // A loop inside a stage over [0, extent); extent is an int64 Val.
  void loop(Val extent, LoopKind kind, const std::function<void(Val i)>& body,
            Trips trips = Trips::kMany);
  void loop_while(const std::function<Val()>& condition, const std::function<void()>& body);
  void if_(Val condition, const std::function<void()>& then,
           const std::function<void()>& otherwise = {});
  Var var(Val initial);

  // -- seen by interpreters and emitters ---------------------------------------------------------
  struct BufferInfo {
    DType dtype;
    enum Role { kInput, kOutput, kScratch } role;
    int64_t scratch_elements;
  };
  struct Stage {
    int64_t extent;
    int64_t cost;
    Expr* induction;
    Stmt* body;  // first of a list
  };
  const std::string& name() const;
  const std::vector<BufferInfo>& buffers() const;
  const std::vector<int64_t>& numbers()
      const;  // run-time numbers as 64-bit patterns (doubles bit-cast)
  const std::vector<Stage>& stages() const;
  // A text that is equal for nests that compile to the same code.
  std::string structure() const;
  // Readable form for people: `for i in 0..n0 { y[i] = exp(x[i]) }`.
  std::string str() const;

  struct Impl;
  Impl& impl() { return *impl_; }
  const Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

// A compiled nest: one function per stage, `fn(buffers, numbers, begin, end)`.
using StageFn = void (*)(void* const* buffers, const int64_t* numbers, int64_t begin, int64_t end);

}  // namespace mycel::loops
