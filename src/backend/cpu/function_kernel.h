// A Prepared kernel made of a C++ function object: `prepared_by("host", [plan](void* const* b)
// {…})`.
#pragma once

#include <memory>
#include <utility>

#include "backend/cpu/kernel.h"

namespace mycel::cpu {

// `alias`: the operand whose buffer result 0 may share, or -1. The function must then expect that
// both pointers are equal.
template <typename F>
std::unique_ptr<Prepared> prepared_by(const char* name, F f, int alias = -1) {
  class Kernel final : public Prepared {
   public:
    Kernel(const char* name, F f, int alias) : name_(name), f_(std::move(f)), alias_(alias) {}
    void run(void* const* buffers) const override { f_(buffers); }
    bool can_alias(int operand) const override { return operand == alias_; }
    const char* implementation() const override { return name_; }

   private:
    const char* name_;
    F f_;
    int alias_;
  };
  return std::make_unique<Kernel>(name, std::move(f), alias);
}

}  // namespace mycel::cpu
