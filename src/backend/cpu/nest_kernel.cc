#include "backend/cpu/nest_kernel.h"

#include "loops/expr.h"
#include "loops/interpret.h"
#include "loops/jit.h"

namespace mycel::cpu {
namespace {

// A nest has no buffer for an absent optional operand: the positions of those that are there, or
// nothing when all are.
std::vector<int> present_buffers(const Problem& p) {
  std::vector<int> present;
  size_t count = p.in.size() + p.out.size();
  for (size_t i = 0; i < count; ++i) {
    if (i >= p.in.size() || p.in[i]) present.push_back(static_cast<int>(i));
  }
  if (present.size() == count) present.clear();
  return present;
}

class JitKernel final : public Prepared {
 public:
  JitKernel(const Problem& p, const loops::Nest& nest) : launch_(loops::launch(nest)) {
    size_t buffer = 0;  // absent operands have none
    for (const ir::Type* t : p.in) in_place_.push_back(t && nest.impl().in_place[buffer++]);
    present_ = present_buffers(p);
  }
  void run(void* const* buffers) const override {
    if (present_.empty()) return launch_.run(buffers);
    std::vector<void*> packed;
    for (int i : present_) packed.push_back(buffers[i]);
    launch_.run(packed.data());
  }
  bool can_alias(int operand) const override { return in_place_[operand]; }
  const char* implementation() const override { return "loops"; }

 private:
  loops::Launch launch_;
  std::vector<bool> in_place_;  // per operand: the nest reads each element before it writes it
  std::vector<int> present_;    // empty: all
};

class InterpretedKernel final : public Prepared {
 public:
  InterpretedKernel(const Problem& p, loops::Nest nest)
      : nest_(std::move(nest)), present_(present_buffers(p)) {}
  void run(void* const* buffers) const override {
    if (present_.empty()) return loops::interpret(nest_, buffers);
    std::vector<void*> packed;
    for (int i : present_) packed.push_back(buffers[i]);
    loops::interpret(nest_, packed.data());
  }
  const char* implementation() const override { return "interpreter"; }

 private:
  loops::Nest nest_;
  std::vector<int> present_;
};

}  // namespace

std::unique_ptr<Prepared> prepare_nest(const Problem& p) {
  return std::make_unique<JitKernel>(p, build_nest(p));
}

std::unique_ptr<Prepared> prepare_interpreted_nest(const Problem& p) {
  return std::make_unique<InterpretedKernel>(p, build_nest(p));
}

}  // namespace mycel::cpu
