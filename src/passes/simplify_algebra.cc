#include <cmath>
#include <cstring>

#include "base/error.h"
#include "passes/pass.h"
#include "passes/rewrite.h"
#include "passes/simplify.h"

namespace mycel::passes {

namespace {

// The patterns of each op, by its number.
const std::vector<std::vector<const Pattern*>>& patterns_by_op() {
  static const auto* table = [] {
    auto* t = new std::vector<std::vector<const Pattern*>>(ir::all_ops().size());
    for (std::span<const Pattern> list :
         {arithmetic_patterns(), layout_patterns(), quantized_patterns()}) {
      for (const Pattern& p : list) {
        std::string_view name = p.op;
        for (const ir::Op* op : ir::all_ops()) {
          bool fits = name.empty()     ? op->def.scalar.set()
                      : name == "view" ? op->def.view
                                       : op->name == name;
          if (fits) (*t)[op->id].push_back(&p);
        }
      }
    }
    return t;
  }();
  return *table;
}

}  // namespace

class Simplifier {
 public:
  explicit Simplifier(ir::Graph& out) : out_(out) {}

  // What stands for the node, or nothing when no pattern fits.
  ir::Value rewrite(const ir::Op& op, std::span<const ir::Value> in, const ir::Attrs& attrs,
                    const ir::Types& types, ir::Loc loc) {
    if (types.size() != 1) return {};
    Site site{*this, op, in, attrs, types[0], loc};
    for (const Pattern* p : patterns_by_op()[op.id]) {
      if (ir::Value v = p->rewrite(site)) {
        MYCEL_CHECK(v.type() == types[0], "pattern '{}' of {} turns {} into {}", p->what, op.name,
                    types[0].str(), v.type().str());
        return v;
      }
    }
    return {};
  }

  ir::Value emit(const ir::Op& op, ir::ValueList in, ir::Attrs attrs, ir::Loc loc) {
    attrs = op.complete(std::move(attrs));
    std::vector<const ir::Type*> in_types;
    for (const ir::Value& v : in) in_types.push_back(v ? &v.type() : nullptr);
    ir::Types types = ir::infer_types(op, in_types, attrs);
    if (ir::Value v = rewrite(op, in, attrs, types, loc)) return v;
    return out_.add_typed(op, std::move(in), std::move(attrs), std::move(types), loc)->out();
  }

 private:
  ir::Graph& out_;
};

ir::Value Site::emit(const char* name, ir::ValueList operands, ir::Attrs given) const {
  return simplifier.emit(ir::op_named(name), std::move(operands), std::move(given), loc);
}

ir::Value Site::filled(double value, const ir::Type& t) const {
  return simplifier.emit(*ir::core_ops().full, {},
                         {ir::Attr(value), ir::Attr(t.shape), ir::Attr(t.dtype)}, loc);
}

bool made_by(const ir::Value& v, const char* op) {
  return v && v.node->op && v.node->op->name == op;
}

bool is_constant(const ir::Value& v) {
  return v && (v.node->op == ir::core_ops().constant || v.node->op == ir::core_ops().full);
}

std::optional<double> uniform(const ir::Value& v) {
  if (!is_constant(v) || is_complex(v.dtype())) return {};
  alignas(16) char element[16];
  if (v.node->op == ir::core_ops().full) {
    // As it is stored: rounded to the dtype.
    set_element(element, v.dtype(), 0, v.node->attrs[0].real());
    return element_as_double(element, v.dtype(), 0);
  }
  const Tensor& t = v.node->attrs[0].tensor();
  if (t.size() != 1) return {};
  double value = element_as_double(t.raw(), t.dtype(), 0);
  bool exact = !is_int(t.dtype()) || std::fabs(value) < 0x1p53;
  return exact ? std::optional(value) : std::nullopt;
}

namespace {

int significant_bits(DType d) {
  switch (d) {
    case DType::kBool:
      return 1;
    case DType::kFloat16:
      return 11;
    case DType::kBFloat16:
      return 8;
    case DType::kFloat32:
    case DType::kComplex64:
      return 24;
    case DType::kFloat64:
    case DType::kComplex128:
      return 53;
    default:
      return static_cast<int>(8 * size_of(d)) - (is_signed_int(d) ? 1 : 0);
  }
}

GraphOut simplify_level(const ir::Graph& g) {
  Rewrite r(g);
  Simplifier s(r.out());
  for (const ir::Node& n : g.nodes()) {
    if (n.is_param() || n.op->def.random || n.op->def.side_effect || n.op->holds_code) {
      r.copy(n);
      continue;
    }
    ir::ValueList in = r.operands(n);
    if (ir::Value v = s.rewrite(*n.op, in, n.attrs, n.types, n.loc)) {
      r.replace(n, {v});
    } else {
      r.copy(n, std::move(in), n.attrs);
    }
  }
  return r.finish();
}

}  // namespace

bool lossless(DType from, DType to) {
  if (from == to || is_bool(from)) return true;
  if (is_bool(to) || is_complex(from)) return false;
  if (is_int(from) && is_int(to)) {
    if (is_signed_int(from) && is_unsigned_int(to)) return false;
    return significant_bits(from) <= significant_bits(to);
  }
  if (is_int(from)) return significant_bits(from) <= significant_bits(to);
  if (is_int(to)) return false;
  // float16 has a narrower range than bfloat16 and more digits.
  return size_of(from) < size_of(real_part_of(to)) || from == real_part_of(to);
}

GraphOut simplify_algebra(const ir::Graph& g) { return at_every_level(g, simplify_level); }

}  // namespace mycel::passes
