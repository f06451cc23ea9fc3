// Nest::str(): the nest as people read it. Pure values are written where they are used while they
// are small; others get a name.
#include <unordered_map>

#include <fmt/format.h>

#include "loops/expr.h"

namespace mycel::loops {
namespace {

class Writer {
 public:
  explicit Writer(const Nest& nest) : nest_(nest) {}

  std::string text() {
    out_ = fmt::format("nest {}(", nest_.name());
    for (size_t i = 0; i < nest_.buffers().size(); ++i) {
      static constexpr const char* kRoles[] = {"in", "out", "scratch"};
      const auto& b = nest_.buffers()[i];
      out_ += fmt::format("{}{} {}: {}", i ? ", " : "", kRoles[b.role], buffer(i),
                          mycel::name_of(b.dtype));
    }
    out_ += ")\n";
    statements(nest_.impl().preamble, 0);
    for (const Nest::Stage& s : nest_.stages()) {
      out_ += fmt::format("parallel {} in 0..{} {{  # cost {}\n", induction(s.induction), s.extent,
                          s.cost);
      statements(s.body, 1);
      out_ += "}\n";
    }
    return out_;
  }

 private:
  static constexpr size_t kInlineLength = 60;

  static std::string buffer(size_t i) { return fmt::format("b{}", i); }

  const std::string& induction(const Expr* e) {
    std::string& name = names_[e];
    if (name.empty()) name = fmt::format("i{}", inductions_++);
    return name;
  }

  std::string number(const Expr* e) const {
    const int64_t bits = nest_.numbers()[e->index];
    const std::string value = is_float(e->dtype) ? fmt::format("{}", std::bit_cast<double>(bits))
                                                 : fmt::format("{}", bits);
    return fmt::format("n{}:{}", e->index, value);
  }

  std::string ref(const Expr* e) {
    if (e->op == Op::kLiteral) {
      if (is_bool(e->dtype)) return e->bits ? "true" : "false";
      return is_float(e->dtype) ? fmt::format("{}", e->real()) : fmt::format("{}", e->bits);
    }
    if (e->op == Op::kNumber) return number(e);
    if (e->op == Op::kArgument) return fmt::format("arg{}", e->index);
    return names_[e];
  }

  std::string expression(const Expr* e) {
    auto a = [&](int i) { return ref(e->arg[i]); };
    switch (e->op) {
      case Op::kLoad:
        return fmt::format("{}[{}]", buffer(e->index), a(0));
      case Op::kVar:
        return fmt::format("v{}", e->index);
      case Op::kAdd:
        return fmt::format("({} + {})", a(0), a(1));
      case Op::kSub:
        return fmt::format("({} - {})", a(0), a(1));
      case Op::kMul:
        return fmt::format("({} * {})", a(0), a(1));
      case Op::kDiv:
        return fmt::format("({} / {})", a(0), a(1));
      case Op::kLt:
        return fmt::format("({} < {})", a(0), a(1));
      case Op::kLe:
        return fmt::format("({} <= {})", a(0), a(1));
      case Op::kEq:
        return fmt::format("({} == {})", a(0), a(1));
      case Op::kNe:
        return fmt::format("({} != {})", a(0), a(1));
      case Op::kNeg:
        return fmt::format("-{}", a(0));
      case Op::kCast:
        return fmt::format("{}({})", mycel::name_of(e->dtype), a(0));
      default:
        break;
    }
    std::string text = name_of(e->op);
    for (int i = 0; i < e->count; ++i) text += (i ? ", " : "(") + a(i);
    return text + ")";
  }

  void let(const Expr* e, int depth) {
    std::string text = expression(e);
    // Loads and variables are read here and now, so they are never moved into a later text.
    if (e->op != Op::kLoad && e->op != Op::kVar && text.size() < kInlineLength) {
      names_[e] = std::move(text);
      return;
    }
    names_[e] = fmt::format("%{}", e->id);
    line(depth, fmt::format("%{}: {} = {}", e->id, mycel::name_of(e->dtype), text));
  }

  void line(int depth, const std::string& text) {
    out_ += std::string(2 * depth, ' ') + text + "\n";
  }

  void statements(const Stmt* s, int depth) {
    for (; s; s = s->next) {
      switch (s->kind) {
        case Stmt::kLet:
          let(s->a, depth);
          break;
        case Stmt::kStore:
          line(depth, fmt::format("{}[{}] = {}", buffer(s->index), ref(s->a), ref(s->b)));
          break;
        case Stmt::kSet:
          line(depth, fmt::format("v{} = {}", s->index, ref(s->a)));
          break;
        case Stmt::kLoop: {
          static constexpr const char* kKinds[] = {"vector", "reduce", "for"};
          line(depth, fmt::format("{} {} in 0..{} {{", kKinds[static_cast<int>(s->loop)],
                                  induction(s->b), ref(s->a)));
          statements(s->body, depth + 1);
          line(depth, "}");
          break;
        }
        case Stmt::kWhile:
          line(depth, "while {");
          statements(s->other, depth + 1);
          line(depth, fmt::format("}} {} {{", ref(s->a)));
          statements(s->body, depth + 1);
          line(depth, "}");
          break;
        case Stmt::kIf:
          line(depth, fmt::format("if {} {{", ref(s->a)));
          statements(s->body, depth + 1);
          if (s->other) line(depth, "} else {");
          statements(s->other, depth + 1);
          line(depth, "}");
          break;
      }
    }
  }

  const Nest& nest_;
  std::string out_;
  std::unordered_map<const Expr*, std::string> names_;
  int inductions_ = 0;
};

}  // namespace

std::string Nest::str() const { return Writer(*this).text(); }

}  // namespace mycel::loops
