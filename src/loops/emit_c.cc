#include "loops/emit_c.h"

#include <cctype>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "loops/emit_c_expr.h"

namespace mycel::loops {
namespace {

// Where indices are narrowed to 32 bits, the words of values that keep their 64 are spelt so until
// that is done.
constexpr std::pair<const char*, const char*> kKept[] = {{"int64", "int\x01"},
                                                         {"INT64", "INT\x01"}};

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}
std::string kept(std::string text) {
  for (auto [word, spelt] : kKept) text = replaced(std::move(text), word, spelt);
  return text;
}

// 64-bit integers that are no indices: no offset, extent or condition depends on them.
std::set<const Expr*> wide_values(const Nest& nest);

class Writer {
 public:
  Writer(const Nest& nest, const std::string& name, bool narrow = false)
      : nest_(nest), name_(name) {
    if (narrow) wide_ = wide_values(nest);
  }

  std::string text() {
    std::string stages;
    for (size_t i = 0; i < nest_.stages().size(); ++i) stages += stage(i);
    return "#include <math.h>\n#include <stdint.h>\n\n" + exprs_.helpers() + "\n" + stages +
           driver();
  }

  // All stages in one function, with numbers and extents written out.
  std::string function() {
    written_ = true;
    std::string text = fmt::format("static void {}(void* const* buffers) {{\n", name_);
    for (const Nest::Stage& s : nest_.stages()) {
      const std::string body = bodies(s);
      text += fmt::format(
          "  {{\n{}  for (int64_t t{} = 0; t{} < INT64_C({}); ++t{}) {{\n{}  }}\n  }}\n",
          operands() + preamble_, s.induction->id, s.induction->id, s.extent, s.induction->id,
          body);
    }
    return text + "}\n";
  }
  std::string helpers() const { return exprs_.helpers() + kept(wide_exprs_.helpers()); }

 private:
  std::string stage(size_t at) {
    const Nest::Stage& s = nest_.stages()[at];
    const std::string body = bodies(s);
    return fmt::format(
        "void {}_stage{}(void* const* buffers, const int64_t* numbers, int64_t begin, int64_t end) "
        "{{\n"
        "{}{}  for (int64_t t{} = begin; t{} < end; ++t{}) {{\n{}  }}\n}}\n\n",
        name_, at, operands(), preamble_, s.induction->id, s.induction->id, s.induction->id, body);
  }

  // What stands in the parallel loop; preamble_ gets what stands before it.
  std::string bodies(const Nest::Stage& s) {
    collect(s.body);
    out_.clear();
    statements(nest_.impl().preamble, 1);
    preamble_ = std::move(out_);
    out_.clear();
    statements(s.body, 2);
    return std::move(out_);
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
      if (written_) {
        text += fmt::format("  const {} n{} = {};\n", c_type(dtype), index, written(index, dtype));
        continue;
      }
      std::string value = fmt::format("numbers[{}]", index);
      if (dtype != DType::kInt64)
        value = fmt::format("({}){}", c_type(dtype), number_as_double(value));
      text += fmt::format("  const {} n{} = {};\n", c_type(dtype), index, value);
    }
    if (numbers.empty() && !written_) text += "  (void)numbers;\n";
    for (int v : vars_) text += fmt::format("  {} v{};\n", c_type(nest_.impl().vars[v]), v);
    return text;
  }

  std::string written(int index, DType dtype) {
    const int64_t bits = nest_.numbers()[static_cast<size_t>(index)];
    Expr e{.op = Op::kLiteral, .dtype = dtype};
    e.bits = bits;
    return exprs_.ref(&e);
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
    } else if (is_wide_value(e)) {
      const std::string type = wide_.contains(e) ? kept(c_type(e->dtype)) : c_type(e->dtype);
      return line(depth, fmt::format("const {} t{} = {};", type, e->id, kept(wide_exprs_.text(e))));
    } else {
      value = exprs_.text(e);
    }
    line(depth, fmt::format("const {} t{} = {};", c_type(e->dtype), e->id, value));
  }

  // A wide value, or what follows from one at once.
  bool is_wide_value(const Expr* e) const {
    if (wide_.empty()) return false;
    bool any = wide_.contains(e);
    for (int i = 0; i < e->count; ++i) any = any || wide_.contains(e->arg[i]);
    return any;
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
  CExpressions exprs_, wide_exprs_;
  std::set<const Expr*> wide_;
  bool written_ = false;  // numbers are literals
  std::string out_, preamble_;
  std::set<const Expr*> used_;
  std::set<int> buffers_, vars_;
};

void check_name(const std::string& name) {
  bool valid = !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0]));
  for (char c : name) valid &= std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  MYCEL_CHECK(valid, "'{}' is not a C identifier", name);
}

bool is_wide(DType t) {
  return t == DType::kInt64 || t == DType::kUInt64 || t == DType::kFloat64 ||
         t == DType::kComplex128;
}
bool is_small(int64_t v) { return v >= -INT32_MAX && v <= INT32_MAX; }

// Every expression of a body, in any order.
void each_expression(const Stmt* s, std::set<const Expr*>* used) {
  for (; s; s = s->next) {
    collect_used(s->a, used);
    collect_used(s->b, used);
    each_expression(s->body, used);
    each_expression(s->other, used);
  }
}

std::string narrowed(std::string text) {
  text = replaced(replaced(std::move(text), "int64", "int32"), "INT64_C", "INT32_C");
  for (auto [word, spelt] : kKept) text = replaced(std::move(text), spelt, word);
  return text;
}

// What offsets, extents and conditions depend on.
void each_index(const Stmt* s, std::set<const Expr*>* used) {
  for (; s; s = s->next) {
    if (s->kind == Stmt::kLet) {
      if (s->a->op == Op::kLoad) collect_used(s->a->arg[0], used);
    } else if (s->kind != Stmt::kSet) {
      collect_used(s->a, used);
    }
    each_index(s->body, used);
    each_index(s->other, used);
  }
}

std::set<const Expr*> wide_values(const Nest& nest) {
  std::set<const Expr*> used, indices, wide;
  each_expression(nest.impl().preamble, &used);
  each_index(nest.impl().preamble, &indices);
  for (const auto& s : nest.stages()) {
    each_expression(s.body, &used);
    each_index(s.body, &indices);
  }
  for (const Expr* e : used) {
    const bool leaf = e->is_literal() || e->op == Op::kNumber || e->op == Op::kIndex;
    if (e->dtype == DType::kInt64 && !leaf && !indices.contains(e)) wide.insert(e);
  }
  return wide;
}

}  // namespace

bool fits_32_bits(const Nest& nest) {
  for (const auto& b : nest.buffers()) {
    if (is_wide(b.dtype)) return false;
  }
  std::set<const Expr*> used;
  each_expression(nest.impl().preamble, &used);
  for (const auto& s : nest.stages()) {
    if (!is_small(s.extent)) return false;
    each_expression(s.body, &used);
  }
  std::set<const Expr*> indices;
  each_index(nest.impl().preamble, &indices);
  for (const auto& s : nest.stages()) each_index(s.body, &indices);
  for (const Expr* e : used) {
    if (e->op == Op::kMulHi || (is_wide(e->dtype) && e->dtype != DType::kInt64)) return false;
    if (e->dtype != DType::kInt64) continue;
    // Values keep their bits; those in variables would have to be told apart too.
    if (!indices.contains(e)) {
      if (e->op == Op::kVar) return false;
      continue;
    }
    if (e->is_literal() && !is_small(e->bits)) return false;
    if (e->op == Op::kNumber && !is_small(nest.numbers()[static_cast<size_t>(e->index)])) {
      return false;
    }
    // Clamped at the ends of 64 bits.
    if (e->op == Op::kCast && is_float(e->arg[0]->dtype)) return false;
  }
  return true;
}

CFunction emit_c_function(const Nest& nest, const std::string& name, bool narrow) {
  check_name(name);
  MYCEL_CHECK(!narrow || fits_32_bits(nest), "'{}' needs 64-bit integers", name);
  Writer writer(nest, name, narrow);
  std::string text = writer.function();
  if (narrow) return {narrowed(writer.helpers()), narrowed(text)};
  return {writer.helpers(), std::move(text)};
}

std::string emit_c(const Nest& nest, const std::string& name) {
  check_name(name);
  return Writer(nest, name).text();
}

}  // namespace mycel::loops
