#include "loops/llvm/lower.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/MDBuilder.h>

#include "base/error.h"
#include "loops/expr.h"
#include "loops/formulas.h"
#include "loops/llvm/emit_expr.h"

namespace mycel::loops {
namespace {

using llvm::BasicBlock;
using llvm::MDNode;
using llvm::Metadata;
using llvm::Value;

bool has_loop(const Stmt* s) {
  for (; s; s = s->next) {
    if (s->kind == Stmt::kLoop || s->kind == Stmt::kWhile) return true;
    if (s->kind == Stmt::kIf && (has_loop(s->body) || has_loop(s->other))) return true;
  }
  return false;
}

class StageLowering {
 public:
  StageLowering(const Nest& nest, const MachineTraits& traits, llvm::Module& module)
      : nest_(nest),
        context_(module.getContext()),
        module_(module),
        b_(context_),
        exprs_(b_, module, traits) {
    make_scopes();
  }

  void stage(size_t at) {
    const Nest::Stage& stage = nest_.stages()[at];
    llvm::Type* ptr = b_.getPtrTy();
    auto* type = llvm::FunctionType::get(b_.getVoidTy(),
                                         {ptr, ptr, b_.getInt64Ty(), b_.getInt64Ty()}, false);
    function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage,
                                       "stage" + std::to_string(at), module_);
    function_->addFnAttr(llvm::Attribute::NoUnwind);
    BasicBlock* entry = BasicBlock::Create(context_, "entry", function_);
    b_.SetInsertPoint(entry);
    exprs_.begin_function(nest_.impl().expr_count);
    load_operands();
    make_variables();
    statements(nest_.impl().preamble);
    loop(function_->getArg(2), function_->getArg(3), stage.induction, stage.body, LoopKind::kVector,
         Trips::kMany);
    b_.CreateRetVoid();
  }

 private:
  // Operands never overlap, except that outputs may be exactly a donated input.
  void make_scopes() {
    llvm::MDBuilder md(context_);
    MDNode* domain = md.createAnonymousAliasScopeDomain("operands");
    const auto& infos = nest_.buffers();
    std::vector<MDNode*> scopes;
    for (size_t i = 0; i < infos.size(); ++i)
      scopes.push_back(md.createAnonymousAliasScope(domain));
    const auto& in_place = nest_.impl().in_place;
    for (size_t i = 0; i < infos.size(); ++i) {
      llvm::SmallVector<Metadata*> others;
      for (size_t j = 0; j < infos.size(); ++j) {
        const bool coincide = (in_place[i] && infos[j].role == Nest::BufferInfo::kOutput) ||
                              (in_place[j] && infos[i].role == Nest::BufferInfo::kOutput);
        if (j != i && !coincide) others.push_back(scopes[j]);
      }
      own_scope_.push_back(MDNode::get(context_, {scopes[i]}));
      other_scopes_.push_back(MDNode::get(context_, others));
    }
  }

  // Pointers and numbers are read once, at the entry; unused ones are dropped by the optimiser.
  void load_operands() {
    MDNode* none = MDNode::get(context_, {});
    auto invariant = [&](Value* table, size_t i, llvm::Type* type) {
      Value* address = b_.CreateConstInBoundsGEP1_64(b_.getInt64Ty(), table, i);
      llvm::LoadInst* load = b_.CreateAlignedLoad(type, address, llvm::Align(8));
      load->setMetadata(llvm::LLVMContext::MD_invariant_load, none);
      return load;
    };
    pointers_.clear();
    for (size_t i = 0; i < nest_.buffers().size(); ++i) {
      pointers_.push_back(invariant(function_->getArg(0), i, b_.getPtrTy()));
    }
    exprs_.numbers.clear();
    for (size_t i = 0; i < nest_.numbers().size(); ++i) {
      const DType type = nest_.impl().number_types[i];
      Value* v = invariant(
          function_->getArg(1), i,
          type == DType::kInt64 ? b_.getInt64Ty() : static_cast<llvm::Type*>(b_.getDoubleTy()));
      exprs_.numbers.push_back(type == DType::kFloat32 ? b_.CreateFPTrunc(v, b_.getFloatTy()) : v);
    }
  }

  void make_variables() {
    variables_.clear();
    for (DType t : nest_.impl().vars) variables_.push_back(b_.CreateAlloca(exprs_.type_of(t)));
  }

  BasicBlock* block(const char* name) { return BasicBlock::Create(context_, name, function_); }

  // Rotated (guard, then do-while), the form the vectorizer wants.
  void loop(Value* begin, Value* end, Expr* induction, const Stmt* body, LoopKind kind,
            Trips trips) {
    const bool innermost = !has_loop(body);
    MDNode* outer_group = group_;
    group_ =
        innermost && kind != LoopKind::kSequential ? MDNode::getDistinct(context_, {}) : nullptr;
    if (kind == LoopKind::kReduce) mark_reductions(body);
    BasicBlock *preheader = block("enter"), *inside = block("loop"), *exit = block("done");
    b_.CreateCondBr(b_.CreateICmpSLT(begin, end), preheader, exit);
    b_.SetInsertPoint(preheader);
    b_.CreateBr(inside);
    b_.SetInsertPoint(inside);
    llvm::PHINode* i = b_.CreatePHI(b_.getInt64Ty(), 2);
    i->addIncoming(begin, preheader);
    exprs_.set(induction, i);
    statements(body);
    Value* next = b_.CreateAdd(i, b_.getInt64(1), "", true, true);
    i->addIncoming(next, b_.GetInsertBlock());
    llvm::BranchInst* back = b_.CreateCondBr(b_.CreateICmpSLT(next, end), inside, exit);
    back->setMetadata(llvm::LLVMContext::MD_loop, loop_metadata(kind, trips, innermost));
    group_ = outer_group;
    b_.SetInsertPoint(exit);
  }

  MDNode* loop_metadata(LoopKind kind, Trips trips, bool innermost) {
    llvm::SmallVector<Metadata*> items{nullptr};
    auto add = [&](const char* name, Metadata* value) {
      items.push_back(MDNode::get(context_, {llvm::MDString::get(context_, name), value}));
    };
    const bool vectorise = innermost && kind != LoopKind::kSequential;
    add("llvm.loop.vectorize.enable", llvm::ConstantAsMetadata::get(b_.getInt1(vectorise)));
    if (vectorise && trips == Trips::kFew) {
      add("llvm.loop.interleave.count", llvm::ConstantAsMetadata::get(b_.getInt32(1)));
    }
    if (group_) add("llvm.loop.parallel_accesses", group_);
    MDNode* node = MDNode::getDistinct(context_, items);
    node->replaceOperandWith(0, node);
    return node;
  }

  // An accumulation `v = v + x` in a reduction loop may be split over vector lanes.
  void mark_reductions(const Stmt* s) {
    for (; s; s = s->next) {
      if (s->kind == Stmt::kIf) {
        mark_reductions(s->body);
        mark_reductions(s->other);
      }
      if (s->kind != Stmt::kSet || s->a->count != 2) continue;
      for (int k = 0; k < 2; ++k) {
        const Expr* old = s->a->arg[k];
        if (old->op == Op::kVar && old->index == s->index) exprs_.reassociable.insert(s->a);
      }
    }
  }

  void annotate(llvm::Instruction* access, int buffer) {
    access->setMetadata(llvm::LLVMContext::MD_alias_scope, own_scope_[buffer]);
    access->setMetadata(llvm::LLVMContext::MD_noalias, other_scopes_[buffer]);
    if (group_) access->setMetadata(llvm::LLVMContext::MD_access_group, group_);
  }

  Value* element(int buffer, const Expr* offset) {
    return b_.CreateInBoundsGEP(exprs_.memory_type(nest_.buffers()[buffer].dtype),
                                pointers_[buffer], exprs_.get(offset));
  }

  void let(const Expr* e) {
    if (e->op == Op::kLoad) {
      const DType stored = nest_.buffers()[e->index].dtype;
      llvm::LoadInst* load =
          b_.CreateAlignedLoad(exprs_.memory_type(stored), element(e->index, e->arg[0]),
                               llvm::Align(size_of(real_part_of(stored))));
      annotate(load, e->index);
      exprs_.set(e, exprs_.from_memory(load, stored));
    } else if (e->op == Op::kVar) {
      exprs_.set(e, b_.CreateLoad(exprs_.type_of(e->dtype), variables_[e->index]));
    } else {
      exprs_.set(e, exprs_.emit(e));
    }
  }

  void store(const Stmt* s) {
    const DType stored = nest_.buffers()[s->index].dtype;
    annotate(
        b_.CreateAlignedStore(exprs_.to_memory(exprs_.get(s->b), stored), element(s->index, s->a),
                              llvm::Align(size_of(real_part_of(stored)))),
        s->index);
  }

  void branch(const Stmt* s) {
    BasicBlock *then = block("then"), *otherwise = block("else"), *join = block("join");
    b_.CreateCondBr(exprs_.get(s->a), then, s->other ? otherwise : join);
    b_.SetInsertPoint(then);
    statements(s->body);
    b_.CreateBr(join);
    b_.SetInsertPoint(otherwise);
    if (s->other) {
      statements(s->other);
      b_.CreateBr(join);
    } else {
      otherwise->eraseFromParent();
    }
    b_.SetInsertPoint(join);
  }

  void while_loop(const Stmt* s) {
    MDNode* outer_group = std::exchange(group_, nullptr);
    BasicBlock *test = block("while"), *body = block("body"), *exit = block("end");
    b_.CreateBr(test);
    b_.SetInsertPoint(test);
    statements(s->other);
    b_.CreateCondBr(exprs_.get(s->a), body, exit);
    b_.SetInsertPoint(body);
    statements(s->body);
    b_.CreateBr(test);
    b_.SetInsertPoint(exit);
    group_ = outer_group;
  }

  void statements(const Stmt* s) {
    for (; s; s = s->next) {
      switch (s->kind) {
        case Stmt::kLet:
          let(s->a);
          break;
        case Stmt::kStore:
          store(s);
          break;
        case Stmt::kSet:
          b_.CreateStore(exprs_.get(s->a), variables_[s->index]);
          break;
        case Stmt::kLoop:
          loop(b_.getInt64(0), exprs_.get(s->a), s->b, s->body, s->loop, s->trips);
          break;
        case Stmt::kWhile:
          while_loop(s);
          break;
        case Stmt::kIf:
          branch(s);
          break;
      }
    }
  }

  const Nest& nest_;
  llvm::LLVMContext& context_;
  llvm::Module& module_;
  llvm::IRBuilder<> b_;
  ExprEmitter exprs_;
  llvm::Function* function_ = nullptr;
  std::vector<Value*> pointers_;
  std::vector<llvm::AllocaInst*> variables_;
  std::vector<MDNode*> own_scope_, other_scopes_;
  MDNode* group_ = nullptr;  // of the innermost parallel loop
};

}  // namespace

void lower(const Nest& nest, const MachineTraits& traits, llvm::Module& module) {
  StageLowering lowering(nest, traits, module);
  for (size_t i = 0; i < nest.stages().size(); ++i) lowering.stage(i);
}

}  // namespace mycel::loops
