// From a record's `.cases` line to operands and attributes. Reads clauses (case_text.h), forms the
// product of their alternatives, makes values (op_values.cc).
#include "op_cases.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "case_clauses.h"
#include "case_text.h"

namespace mycel::op_cases {
namespace {

constexpr size_t kMaxCombinations = 24;

DType widest(const std::string& cls, const std::vector<DType>& allowed) {
  for (DType d : {DType::kFloat64, DType::kFloat32, DType::kInt64, DType::kInt32,
                  DType::kComplex128, DType::kBool}) {
    if (std::find(allowed.begin(), allowed.end(), d) != allowed.end()) return d;
  }
  MYCEL_CHECK(!allowed.empty(), "no dtype is left for class {}", cls);
  return allowed[0];
}

std::vector<DType> dtypes_of_class(const std::string& cls) {
  std::vector<DType> list;
  for (int i = 0; i < kDTypeCount; ++i) {
    auto d = static_cast<DType>(i);
    bool ok = cls == "any" || (cls == "bool" && is_bool(d)) || (cls == "int" && is_int(d)) ||
              (cls == "float" && is_float(d)) || (cls == "complex" && is_complex(d)) ||
              (cls == "number" && !is_bool(d)) || (cls == "real" && (is_int(d) || is_float(d))) ||
              (cls == "inexact" && (is_float(d) || is_complex(d))) ||
              (cls == "index" && (d == DType::kInt32 || d == DType::kInt64));
    if (ok) list.push_back(d);
  }
  return list;
}

// One thing that varies, with its number of alternatives.
struct Axis {
  enum Kind { kValue, kShape, kCount, kPresence } kind;
  std::string name;
  size_t choices;
};

class Maker {
 public:
  Maker(const ir::Op& op, const Clauses& c, uint64_t seed, OpCases* out)
      : op_(op), c_(c), group_(std::make_shared<Group>(c.group)), seed_(seed), out_(out) {}

  void make() {
    collect_axes();
    check_names();
    std::vector<std::vector<size_t>> all = combinations();
    size_t made = out_->cases.size();
    for (const auto& pick : all) out_->cases.push_back(make_case(pick));
    MYCEL_CHECK(out_->cases.size() > made, "no combination satisfies the `when` clauses");
    const Case first = out_->cases[made];
    for (const std::string& p : c_.points) out_->points.push_back(make_point(p, first));
    for (const std::string& b : c_.bad) out_->bad.push_back(make_bad(b, first));
  }

 private:
  bool is_attr(const std::string& name) const { return op_.attr_index(name) >= 0; }
  bool shape_is_default(const ir::InputSpec& in) const {
    return !c_.shapes.count(in.name) && in.dims.empty();
  }

  // The text of a shape alternative of an operand.
  std::string shape_text(const ir::InputSpec& in, size_t choice) const {
    auto it = c_.shapes.find(in.name);
    if (it != c_.shapes.end()) return it->second[choice];
    if (!in.dims.empty()) return in.dims;
    return elementwise(op_) ? "[3, 4]" : "[2, 3, 4]";
  }

  void collect_axes() {
    for (const auto& [name, list] : c_.values) axes_.push_back({Axis::kValue, name, list.size()});
    for (const ir::InputSpec& in : op_.inputs) {
      auto it = c_.shapes.find(in.name);
      if (it != c_.shapes.end() && !in.variadic && it->second.size() > 1) {
        axes_.push_back({Axis::kShape, in.name, it->second.size()});
      }
      if (in.optional && !c_.present.count(in.name)) axes_.push_back({Axis::kPresence, in.name, 2});
      bool listed = it != c_.shapes.end() && it->second.size() > 1;
      if (in.variadic && !listed && c_.count.count(in.name))
        axes_.push_back({Axis::kCount, in.name, c_.count.at(in.name).size()});
      // Dims without a clause of their own get sizes by first appearance.
      for (const std::string& shape :
           it == c_.shapes.end() ? std::vector<std::string>{shape_text(in, 0)} : it->second) {
        for (const std::string& dim : names_in(shape)) {
          if (!c_.values.count(dim) && !is_attr(dim) && !default_dims_.count(dim)) {
            default_dims_[dim] = 2 + static_cast<int64_t>(default_dims_.size()) % 4;
          }
        }
      }
    }
  }

  // A clause for a name that nothing uses is a slip of the pen.
  void check_names() const {
    std::string texts;
    for (const ir::InputSpec& in : op_.inputs) texts += in.dims + " ";
    for (const auto& [name, list] : c_.shapes) texts += fmt::format("{} ", fmt::join(list, " "));
    for (const auto& [name, list] : c_.values) texts += fmt::format("{} ", fmt::join(list, " "));
    for (const auto& [name, list] : c_.count) texts += fmt::format("{} ", fmt::join(list, " "));
    for (const auto& [name, text] : c_.domain) texts += text + " ";
    for (const std::string& condition : c_.when) texts += condition + " ";
    std::vector<std::string> used = names_in(texts);
    for (const auto& [name, list] : c_.values) {
      bool known = is_attr(name) || std::find(used.begin(), used.end(), name) != used.end();
      MYCEL_CHECK(known, "'{}' is neither an attribute nor a dim", name);
    }
  }

  size_t choice(const std::vector<size_t>& pick, Axis::Kind kind, const std::string& name) const {
    for (size_t i = 0; i < axes_.size(); ++i) {
      if (axes_[i].kind == kind && axes_[i].name == name) return pick[i];
    }
    return 0;
  }

  // Sizes of dims and whole-number attributes under one choice of alternatives.
  Env environment(const std::vector<size_t>& pick) const {
    Env env = default_dims_;
    for (const ir::AttrSpec& a : op_.attrs) {
      if (!c_.values.count(a.name) && a.has_default) number_into(env, a.name, a.default_value);
    }
    // A clause may use names that another clause defines: a few rounds settle any order.
    std::map<std::string, std::string> open;
    for (const auto& [name, list] : c_.values) open[name] = list[choice(pick, Axis::kValue, name)];
    for (int round = 0; round < 4 && !open.empty(); ++round) {
      for (auto it = open.begin(); it != open.end();) {
        bool known = true;
        for (const std::string& n : names_in(it->second)) known &= env.count(n) > 0;
        int attr = op_.attr_index(it->first);
        bool whole = attr < 0 || op_.attrs[attr].kind == ir::AttrKind::kInt;
        if (attr >= 0 && op_.attrs[attr].kind == ir::AttrKind::kBool)
          env[it->first] = it->second == "True";
        if (attr >= 0 && op_.attrs[attr].kind == ir::AttrKind::kFloat && it->second != "None") {
          number_into(env, it->first, ir::Attr(parse_number(it->second)));
        }
        if (whole && it->second != "None" && known) env[it->first] = evaluate(it->second, env);
        it = !whole || it->second == "None" || known ? open.erase(it) : std::next(it);
      }
    }
    MYCEL_CHECK(open.empty(), "'{}' depends on names without a value",
                open.empty() ? "" : open.begin()->first);
    return env;
  }
  static void number_into(Env& env, const std::string& name, const ir::Attr& v) {
    if (v.is<int64_t>()) env[name] = v.integer();
    if (v.is<bool>()) env[name] = v.boolean();
    if (v.is<double>() && v.real() == std::trunc(v.real()))
      env[name] = static_cast<int64_t>(v.real());
  }

  bool holds(const std::string& condition, const Env& env) const {
    for (const char* op : {"!=", "<=", ">=", "=", "<", ">"}) {
      size_t at = condition.find(op);
      if (at == std::string::npos) continue;
      int64_t a = evaluate(condition.substr(0, at), env);
      int64_t b = evaluate(condition.substr(at + std::string(op).size()), env);
      std::string o = op;
      return o == "!="   ? a != b
             : o == "<=" ? a <= b
             : o == ">=" ? a >= b
             : o == "="  ? a == b
             : o == "<"  ? a < b
                         : a > b;
    }
    MYCEL_CHECK(false, "'when {}' compares nothing", condition);
    return false;
  }

  std::vector<std::vector<size_t>> combinations() const {
    size_t total = 1;
    for (const Axis& a : axes_) total *= a.choices;
    MYCEL_CHECK(total <= 100000, "too many combinations: {}", total);
    std::vector<std::vector<size_t>> all;
    for (size_t k = 0; k < total; ++k) {
      std::vector<size_t> pick;
      size_t rest = k;
      for (const Axis& a : axes_) {
        pick.push_back(rest % a.choices);
        rest /= a.choices;
      }
      Env env = environment(pick);
      bool ok = std::all_of(c_.when.begin(), c_.when.end(),
                            [&](const std::string& w) { return holds(w, env); });
      if (ok) all.push_back(pick);
    }
    if (all.size() <= kMaxCombinations) return all;
    // Spread by the golden ratio, so that every axis keeps varying; the first always stays.
    std::vector<std::vector<size_t>> some;
    for (size_t k = 0; k < kMaxCombinations; ++k) {
      double turn = static_cast<double>(k) * 0.6180339887498949;
      some.push_back(
          all[static_cast<size_t>((turn - std::floor(turn)) * static_cast<double>(all.size()))]);
    }
    std::sort(some.begin(), some.end());
    some.erase(std::unique(some.begin(), some.end()), some.end());
    return some;
  }

  Domain domain_of(const ir::InputSpec& in, const Env& env) const {
    auto it = c_.domain.find(in.name);
    return it == c_.domain.end() ? Domain{} : parse_domain(it->second, env);
  }

  void add_operand(Case& c, const ir::InputSpec& in, const std::string& shape_text,
                   const Env& env) {
    size_t i = c.inputs.size();
    Shape shape = evaluate_shape(shape_text, env);
    c.domains.push_back(domain_of(in, env));
    c.default_shape.push_back(shape_is_default(in));
    c.inputs.emplace_back();
    c.inputs[i] = c.remade(i, widest(in.cls, c.allowed(i)), shape);
    c.text += fmt::format("{}{}{} ", in.name, name_of(c.inputs[i].dtype()), shape.str());
  }

  Case make_case(const std::vector<size_t>& pick) {
    Env env = environment(pick);
    Case c;
    c.op = &op_;
    c.group = group_;
    c.seed = seed_ += 1000;
    c.text = op_.name + " ";
    for (const ir::InputSpec& in : op_.inputs) {
      bool present =
          !in.optional || (c_.present.count(in.name) ? c_.present.at(in.name)
                                                     : choice(pick, Axis::kPresence, in.name) == 0);
      if (!present) {
        c.inputs.emplace_back();
        c.domains.emplace_back();
        c.default_shape.push_back(false);
        continue;
      }
      if (!in.variadic) {
        add_operand(c, in, shape_text(in, choice(pick, Axis::kShape, in.name)), env);
        continue;
      }
      auto shapes = c_.shapes.find(in.name);
      bool listed = shapes != c_.shapes.end() && shapes->second.size() > 1;
      size_t members = listed ? shapes->second.size() : 2;
      if (!listed && c_.count.count(in.name)) {
        members = static_cast<size_t>(
            evaluate(c_.count.at(in.name)[choice(pick, Axis::kCount, in.name)], env));
      }
      for (size_t m = 0; m < members; ++m) add_operand(c, in, shape_text(in, listed ? m : 0), env);
    }
    std::vector<ir::Attr> attrs;
    for (const ir::AttrSpec& a : op_.attrs) {
      auto it = c_.values.find(a.name);
      if (it == c_.values.end()) {
        MYCEL_CHECK(a.has_default, "attribute '{}' needs a clause: it has no default", a.name);
        attrs.push_back(a.default_value);
        continue;
      }
      const std::string& text = it->second[choice(pick, Axis::kValue, a.name)];
      attrs.push_back(parse_value(a, text, env, seed_ + 7));
      c.text += a.name + "=" + text + " ";
    }
    c.attrs = ir::Attrs(std::move(attrs));
    return c;
  }

  // "1.5", "[1, 2]", "1-2i" to a tensor of the operand's widest dtype.
  Tensor literal(const std::string& text, const Case& like, size_t i) {
    std::vector<DType> allowed = like.allowed(i);
    DType d = widest(like.spec(i).cls, allowed);
    Shape shape;
    std::vector<double> values = numbers(text, &shape);
    Tensor t = Tensor::empty(d, shape);
    if (is_complex(d)) {
      for (size_t k = 0; k < values.size(); ++k)
        set_element(t.mutable_raw(), real_part_of(d), static_cast<int64_t>(k), values[k]);
      return t;
    }
    for (int64_t k = 0; k < t.size(); ++k) set_element(t.mutable_raw(), d, k, values[k]);
    return t;
  }

  // Numbers of nested lists in order; a complex number gives two.
  static std::vector<double> numbers(const std::string& text, Shape* shape) {
    if (text[0] == '[') {
      auto parts = split_outside(text.substr(1, text.size() - 2), ',');
      std::vector<double> all;
      Shape inner;
      for (const std::string& p : parts) {
        inner = Shape();
        auto v = numbers(p, &inner);
        all.insert(all.end(), v.begin(), v.end());
      }
      if (shape) {
        *shape = inner;
        shape->insert(0, static_cast<int64_t>(parts.size()));
      }
      return all;
    }
    if (text.back() == 'i' && text.size() > 1) {
      size_t at = text.find_last_of("+-");
      while (at > 0 && (text[at - 1] == 'e' || text[at - 1] == 'E'))
        at = text.find_last_of("+-", at - 1);
      return {parse_number(text.substr(0, at)),
              parse_number(text.substr(at, text.size() - at - 1))};
    }
    if (text == "True" || text == "False") return {text == "True" ? 1.0 : 0.0};
    return {parse_number(text)};
  }

  Point make_point(const std::string& text, const Case& like) {
    Point p;
    p.text = op_.name + " at " + text;
    p.attrs = like.attrs;
    size_t arrow = text.find("->");
    MYCEL_CHECK(arrow != std::string::npos, "'at' needs '->'");
    std::string args = trimmed(text.substr(0, arrow));
    auto list = split_outside(args.substr(1, args.size() - 2), ',');
    for (size_t i = 0; i < list.size(); ++i) {
      p.inputs.push_back(list[i] == "None" ? Tensor() : literal(list[i], like, i));
    }
    for (const std::string& r : split_outside(text.substr(arrow + 2), ','))
      p.expected.push_back(numbers(r, nullptr));
    return p;
  }

  Bad make_bad(const std::string& text, const Case& like) {
    Bad b{like.inputs, like.attrs, op_.name + " bad " + text};
    size_t equal = text.find('=');
    size_t bracket = text.find('[');
    if (equal != std::string::npos && (bracket == std::string::npos || equal < bracket)) {
      std::string name = trimmed(text.substr(0, equal)), value = trimmed(text.substr(equal + 1));
      int a = op_.attr_index(name);
      MYCEL_CHECK(a >= 0, "there is no attribute '{}'", name);
      b.attrs.set(a, parse_value(op_.attrs[a], value, default_dims_, seed_));
      return b;
    }
    for (const std::string& part : split_outside(text, ' ')) {
      size_t open = part.find('[');
      MYCEL_CHECK(open != std::string::npos, "'{}' should read name[shape]", part);
      for (size_t i = 0; i < b.inputs.size(); ++i) {
        if (like.spec(i).name != part.substr(0, open)) continue;
        Shape s = evaluate_shape(part.substr(open), default_dims_);
        b.inputs[i] = like.inputs[i] ? like.remade(i, like.inputs[i].dtype(), s) : Tensor();
      }
    }
    return b;
  }

  const ir::Op& op_;
  const Clauses& c_;
  std::shared_ptr<const Group> group_;
  uint64_t seed_;
  OpCases* out_;
  std::vector<Axis> axes_;
  Env default_dims_;
};

uint64_t name_seed(const std::string& name) {
  uint64_t h = 0xcbf29ce484222325ull;
  for (unsigned char c : name) h = (h ^ c) * 0x100000001b3ull;
  return h;
}

}  // namespace

bool elementwise(const ir::Op& op) {
  if (op.def.scalar.set()) return true;
  std::string s = op.def.shard;
  return s == "... -> ..." && op.inputs.size() == 1 ? false : s.rfind("..., ...", 0) == 0;
}

bool Case::special() const {
  return std::any_of(domains.begin(), domains.end(), [](const Domain& d) { return d.special(); });
}

const ir::InputSpec& Case::spec(size_t i) const {
  return op->inputs[std::min(i, op->inputs.size() - 1)];
}

bool Case::follows_first(size_t i) const {
  const ir::InputSpec& s = spec(i);
  return i == 0 || (s.cls == spec(0).cls && !group->dtypes.count(s.name));
}

std::vector<DType> Case::allowed(size_t i) const {
  const ir::InputSpec& s = spec(i);
  auto own = group->dtypes.find(s.name);
  if (own != group->dtypes.end()) return own->second;
  auto shared = group->dtypes.find("");
  if (shared != group->dtypes.end() && follows_first(i)) return shared->second;
  return dtypes_of_class(s.cls);
}

Tensor Case::remade(size_t i, DType dtype, const Shape& shape) const {
  return make_values(domains[i], spec(i).cls, dtype, shape, seed + 31 * i);
}

Tensors Case::in_dtype(DType dtype) const {
  Tensors made = inputs;
  for (size_t i = 0; i < made.size(); ++i) {
    if (made[i] && follows_first(i)) made[i] = remade(i, dtype, made[i].shape());
  }
  return made;
}

OpCases read_cases(const ir::Op& op) {
  OpCases out;
  out.op = &op;
  std::vector<std::string> groups = split_outside(op.def.cases, '|');
  Clauses base;
  uint64_t seed = name_seed(op.name);
  for (size_t g = 0; g < groups.size(); ++g) {
    Clauses c = base;
    c.points.clear();
    c.bad.clear();
    for (const std::string& clause : split_outside(groups[g], ';')) {
      try {
        read_clause(op, clause, c);
      } catch (const InternalError& e) {
        MYCEL_CHECK(false, "cases of {}: '{}': {}", op.name, clause, e.what());
      }
    }
    if (g == 0) {
      base = c;
      out.skip = c.group.skip;
      if (out.skip.count("all")) return out;
    }
    try {
      Maker(op, c, seed += 0x10000, &out).make();
    } catch (const InternalError& e) {
      MYCEL_CHECK(false, "cases of {}, group {}: {}", op.name, g + 1, e.what());
    }
  }
  return out;
}

}  // namespace mycel::op_cases
