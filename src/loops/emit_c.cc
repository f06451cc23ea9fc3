#include "loops/emit_c.h"

#include <cctype>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "loops/emit_c_expr.h"

namespace mycel::loops {
namespace {

class Writer {
 public:
  Writer(const Nest& nest, const std::string& name) : nest_(nest), name_(name) {}

  std::string text() {
    std::string stages;
    for (size_t i = 0; i < nest_.stages().size(); ++i) stages += stage(i);
    return "#include <math.h>\n#include <stdint.h>\n\n" + exprs_.helpers() + "\n" + stages +
           driver();
  }

 private:
  std::string stage(size_t at) {
    const Nest::Stage& s = nest_.stages()[at];
    collect(s.body);
    out_.clear();
    statements(nest_.impl().preamble, 1);
    const std::string preamble = std::move(out_);
    out_.clear();
    statements(s.body, 2);
    return fmt::format(
        "void {}_stage{}(void* const* buffers, const int64_t* numbers, int64_t begin, int64_t end) "
        "{{\n"
        "{}{}  for (int64_t t{} = begin; t{} < end; ++t{}) {{\n{}  }}\n}}\n\n",
        name_, at, operands(), preamble, s.induction->id, s.induction->id, s.induction->id, out_);
  }

  // What a stage uses: everything that a store, a variable or a condition depends on.
  void collect(const Stmt* body) {
    used_.clear();
    buffers_.clear();
    vars_.clear();
    roots(body);
    for (const Expr* e : used_) {
      if (e->op == Op::kLoad) buffers_.insert(e->index);
      if (e->op == Op::kVar) vars_.insert(e->index);
    }
  }
  void roots(const Stmt* s) {
    for (; s; s = s->next) {
      if (s->kind != Stmt::kLet) collect_used(s->a, &used_);
      if (s->kind == Stmt::kStore) {
        collect_used(s->b, &used_);
        buffers_.insert(s->index);
      }
      if (s->kind == Stmt::kSet) vars_.insert(s->index);
      roots(s->body);
      roots(s->other);
    }
  }

  std::string operands() {
    std::string text;
    const auto& infos = nest_.buffers();
    for (size_t i = 0; i < infos.size(); ++i) {
      if (!buffers_.contains(static_cast<int>(i))) continue;
      const char* constant = infos[i].role == Nest::BufferInfo::kInput ? "const " : "";
      const char* type = c_memory_type(infos[i].dtype);
      text += fmt::format("  {0}{1}* b{2} = ({0}{1}*)buffers[{2}];\n", constant, type, i);
    }
    std::set<std::pair<int, DType>> numbers;
    for (const Expr* e : used_) {
      if (e->op == Op::kNumber) numbers.insert({e->index, e->dtype});
    }
    for (auto [index, dtype] : numbers) {
      std::string value = fmt::format("numbers[{}]", index);
      if (dtype != DType::kInt64)
        value = fmt::format("({}){}", c_type(dtype), number_as_double(value));
      text += fmt::format("  const {} n{} = {};\n", c_type(dtype), index, value);
    }
    if (numbers.empty()) text += "  (void)numbers;\n";
    for (int v : vars_) text += fmt::format("  {} v{};\n", c_type(nest_.impl().vars[v]), v);
    return text;
  }

  std::string number_as_double(const std::string& bits) {
    Expr word{.op = Op::kArgument, .dtype = DType::kInt64},
        real{.op = Op::kBitcast, .dtype = DType::kFloat64};
    real.count = 1;
    real.arg[0] = &word;
    std::string text = exprs_.text(&real);
    return text.replace(text.rfind("x0"), 2, bits);
  }

  void line(int depth, const std::string& text) {
    out_ += std::string(2 * depth, ' ') + text + "\n";
  }

  void let(const Expr* e, int depth) {
    if (!used_.contains(e)) return;
    std::string value;
    if (e->op == Op::kLoad) {
      value = exprs_.from_memory(fmt::format("b{}[{}]", e->index, exprs_.ref(e->arg[0])),
                                 nest_.buffers()[e->index].dtype);
    } else {
      value = exprs_.text(e);
    }
    line(depth, fmt::format("const {} t{} = {};", c_type(e->dtype), e->id, value));
  }

  void loop(const Stmt* s, int depth) {
    const std::string i = exprs_.ref(s->b);
    line(depth, fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0}) {{", i, exprs_.ref(s->a)));
    statements(s->body, depth + 1);
    line(depth, "}");
  }

  void statements(const Stmt* s, int depth) {
    for (; s; s = s->next) {
      switch (s->kind) {
        case Stmt::kLet:
          let(s->a, depth);
          break;
        case Stmt::kStore:
          line(depth,
               fmt::format("b{}[{}] = {};", s->index, exprs_.ref(s->a),
                           exprs_.to_memory(exprs_.ref(s->b), nest_.buffers()[s->index].dtype)));
          break;
        case Stmt::kSet:
          line(depth, fmt::format("v{} = {};", s->index, exprs_.ref(s->a)));
          break;
        case Stmt::kLoop:
          loop(s, depth);
          break;
        case Stmt::kWhile:
          line(depth, "for (;;) {");
          statements(s->other, depth + 1);
          line(depth + 1, fmt::format("if (!{}) break;", exprs_.ref(s->a)));
          statements(s->body, depth + 1);
          line(depth, "}");
          break;
        case Stmt::kIf:
          line(depth, fmt::format("if ({}) {{", exprs_.ref(s->a)));
          statements(s->body, depth + 1);
          if (s->other) line(depth, "} else {");
          statements(s->other, depth + 1);
          line(depth, "}");
          break;
      }
    }
  }

  std::string driver() const {
    std::string numbers, scratch, calls;
    for (int64_t n : nest_.numbers())
      numbers += fmt::format("{}(int64_t)UINT64_C({}),", numbers.empty() ? "" : " ",
                             static_cast<uint64_t>(n));
    for (const auto& b : nest_.buffers()) {
      if (b.role == Nest::BufferInfo::kScratch) {
        scratch += fmt::format("{}, ", b.scratch_elements * static_cast<int64_t>(size_of(b.dtype)));
      }
    }
    for (size_t i = 0; i < nest_.stages().size(); ++i) {
      calls += fmt::format("  {}_stage{}(buffers, numbers, 0, {});\n", name_, i,
                           nest_.stages()[i].extent);
    }
    std::string text;
    if (!scratch.empty())
      text += fmt::format("const int64_t {}_scratch_bytes[] = {{{}0}};\n\n", name_, scratch);
    return text + fmt::format(
                      "void {}(void* const* buffers) {{\n  static const int64_t numbers[] = {{{} "
                      "0}};\n{}}}\n",
                      name_, numbers, calls);
  }

  const Nest& nest_;
  const std::string& name_;
  CExpressions exprs_;
  std::string out_;
  std::set<const Expr*> used_;
  std::set<int> buffers_, vars_;
};

}  // namespace

std::string emit_c(const Nest& nest, const std::string& name) {
  bool valid = !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0]));
  for (char c : name) valid &= std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  MYCEL_CHECK(valid, "'{}' is not a C identifier", name);
  return Writer(nest, name).text();
}

}  // namespace mycel::loops
