#include "lite/plan/nest_table.h"

#include <unordered_map>

#include "loops/expr.h"

namespace mycel::lite {
namespace {

using loops::Expr;
using loops::Stmt;

// Whoever changes the list changes what the numbers in files mean: the version of .lite files
// (lite/runtime/file.h) goes up.
static_assert(loops::kOpCount == 60);

class Writer {
 public:
  explicit Writer(const loops::Nest& nest) : nest_(nest) {}

  flatbuffers::Offset<file::Nest> write(flatbuffers::FlatBufferBuilder& to) {
    std::vector<file::Buffer> buffers;
    for (const auto& b : nest_.buffers()) {
      buffers.emplace_back(b.scratch_elements, static_cast<uint8_t>(b.dtype),
                           static_cast<uint8_t>(b.role));
    }
    std::vector<uint8_t> vars;
    for (DType t : nest_.impl().vars) vars.push_back(static_cast<uint8_t>(t));
    const int32_t preamble = list(nest_.impl().preamble);
    std::vector<file::Stage> stages;
    for (const auto& s : nest_.stages()) {
      const int32_t induction = number(s.induction);
      stages.emplace_back(s.extent, s.cost, induction, list(s.body));
    }
    return file::CreateNest(to, to.CreateVectorOfStructs(buffers), to.CreateVector(nest_.numbers()),
                            to.CreateVector(vars), to.CreateVectorOfStructs(exprs_),
                            to.CreateVectorOfStructs(stmts_), to.CreateVectorOfStructs(stages),
                            preamble);
  }

 private:
  // Operands come before what is computed from them.
  int32_t number(const Expr* e) {
    if (!e) return -1;
    if (auto it = numbers_.find(e); it != numbers_.end()) return it->second;
    int32_t arg[3] = {-1, -1, -1};
    for (int k = 0; k < e->count; ++k) arg[k] = number(e->arg[k]);
    exprs_.emplace_back(e->bits, e->index, arg[0], arg[1], arg[2], static_cast<uint8_t>(e->op),
                        static_cast<uint8_t>(e->dtype), e->count);
    return numbers_[e] = static_cast<int32_t>(exprs_.size()) - 1;
  }

  // The positions of bodies are known behind them, of the next statement behind that.
  int32_t list(const Stmt* s) {
    int32_t first = -1, last = -1;
    for (; s; s = s->next) {
      const int32_t a = number(s->a), b = number(s->b);
      const auto at = static_cast<int32_t>(stmts_.size());
      stmts_.emplace_back();
      const int32_t body = list(s->body), other = list(s->other);
      stmts_[static_cast<size_t>(at)] =
          file::Stmt(s->index, a, b, body, other, -1, static_cast<uint8_t>(s->kind),
                     static_cast<uint8_t>(s->loop));
      if (last >= 0) {
        file::Stmt& l = stmts_[static_cast<size_t>(last)];
        l = file::Stmt(l.index(), l.a(), l.b(), l.body(), l.other(), at, l.kind(), l.loop());
      }
      if (first < 0) first = at;
      last = at;
    }
    return first;
  }

  const loops::Nest& nest_;
  std::vector<file::Expr> exprs_;
  std::vector<file::Stmt> stmts_;
  std::unordered_map<const Expr*, int32_t> numbers_;
};

}  // namespace

flatbuffers::Offset<file::Nest> write_nest(flatbuffers::FlatBufferBuilder& to,
                                           const loops::Nest& nest) {
  return Writer(nest).write(to);
}

}  // namespace mycel::lite
