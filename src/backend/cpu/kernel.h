// Kernels of the CPU. An op has an ordered list of kernels; the first that accepts a problem is
// prepared once (primitive created, nest compiled) and then run any number of times. Lists come
// from the rooms'
// *.cpu.cc files (vendor kernels, host kernels), after them the record's own loop rule and scalar
// formula.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/op.h"
#include "ir/type.h"
#include "tensor/tensor.h"

namespace mycel::cpu {

// One use of an op with everything known.
struct Problem {
  const ir::Op& op;
  std::span<const ir::Type* const> in;  // null: optional operand absent
  std::span<const ir::Type> out;
  const ir::Attrs& attrs;

  ir::AttrsView view() const { return {op, attrs}; }
  bool has(int i) const { return i < static_cast<int>(in.size()) && in[i]; }
};

// A kernel ready to run. `buffers`: one pointer per operand (null when absent), then one per
// result. run is const and may be called from several threads at once.
class Prepared {
 public:
  virtual ~Prepared() = default;
  virtual void run(void* const* buffers) const = 0;
  // True when result 0 may share the buffer of operand `i` (same offset): decided by the kernel.
  virtual bool can_alias(int /*operand*/) const { return false; }
  virtual const char* implementation() const = 0;  // "onednn:brgemm:avx512_core", "loops", …
  // For an operand that stays the same over many runs.
  struct Packed {
    size_t bytes = 0;
    std::shared_ptr<const Prepared> pack;    // buffers: the operand, its packed form
    std::shared_ptr<const Prepared> kernel;  // as this one, with the packed form for the operand
  };
  // Nothing when packing operand `i` gains nothing.
  virtual std::optional<Packed> packed(int /*operand*/) const { return {}; }
};

struct KernelDef {
  const char* op;
  const char* name;
  // Empty text: accepted. Otherwise why this kernel cannot do it (shown when none can).
  std::string (*refuses)(const Problem&);
  std::unique_ptr<Prepared> (*prepare)(const Problem&);
  // For ops whose result shapes depend on values: computes and allocates the results itself.
  // Exactly one of prepare and host is set.
  Tensors (*host)(const Problem&, std::span<const Tensor>) = nullptr;
};

// What `choose` gives: exactly one of the two is set.
struct Chosen {
  std::shared_ptr<const Prepared> prepared;
  const KernelDef* host = nullptr;
};

// Whether one of the kernels that the rooms list accepts the problem. Its primitive is not made.
bool has_listed_kernel(const Problem& problem);
void register_kernels(std::span<const KernelDef> kernels);
// The kernel for a problem; null members when the op is composite and has none of its own (the
// caller expands it). UserError(kUnsupported) listing every refusal otherwise.
Chosen choose(const Problem& problem);
// The kernel named `kernel` ("onednn", "loops", "interpreter"), for tests that compare kernels.
Chosen choose_named(const Problem& problem, const std::string& kernel);
// Names of all kernels that accept the problem, best first; "interpreter" (the reference) comes
// last.
std::vector<std::string> accepting(const Problem& problem);

// Registers the kernels of all rooms (ops/all_kernels.cc defines it); cheap after the first call.
void ensure_kernels();

}  // namespace mycel::cpu
