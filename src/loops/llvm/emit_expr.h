// One expression node to LLVM instructions: arithmetic with Mycel's definitions of division by
// zero, wide shifts, NaN in min/max and conversions; functions by expansion of their formula.
#pragma once

#include <unordered_set>
#include <vector>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "loops/expr.h"
#include "loops/llvm/lower.h"

namespace mycel::loops {

class ExprEmitter {
 public:
  ExprEmitter(llvm::IRBuilder<>& b, llvm::Module& module, const MachineTraits& traits)
      : b_(b), module_(module), traits_(traits) {}

  void begin_function(int exprs) { values_.assign(exprs, nullptr); }
  void set(const Expr* e, llvm::Value* v) { values_[e->id] = v; }
  llvm::Value* get(const Expr* e);
  llvm::Value* emit(const Expr* e);

  llvm::Type* type_of(DType t);      // in a register
  llvm::Type* memory_type(DType t);  // in a buffer; of a complex: its parts
  llvm::Value* from_memory(llvm::Value* v, DType stored);
  llvm::Value* to_memory(llvm::Value* v, DType stored);

  std::vector<llvm::Value*> numbers;
  std::unordered_set<const Expr*> reassociable;  // accumulations

 private:
  llvm::Value* arithmetic(const Expr* e, llvm::Value* x, llvm::Value* y);
  llvm::Value* divide(const Expr* e, llvm::Value* x, llvm::Value* y);
  llvm::Value* shift(const Expr* e, llvm::Value* x, llvm::Value* y);
  llvm::Value* less(llvm::Value* x, llvm::Value* y);
  llvm::Value* compare(const Expr* e, llvm::Value* x, llvm::Value* y);
  llvm::Value* min_max(const Expr* e, llvm::Value* x, llvm::Value* y);
  llvm::Value* unary(const Expr* e, llvm::Value* x);
  llvm::Value* convert(DType from, DType to, llvm::Value* x);
  llvm::Value* function(const Expr* e);
  llvm::Value* round_to_bfloat16(llvm::Value* x);
  llvm::Value* half_to_float(llvm::Value* x);
  llvm::Value* float_to_half(llvm::Value* x);

  llvm::IRBuilder<>& b_;
  llvm::Module& module_;
  MachineTraits traits_;
  std::vector<llvm::Value*> values_;
  const std::vector<llvm::Value*>* arguments_ = nullptr;  // while a formula is expanded
};

}  // namespace mycel::loops
