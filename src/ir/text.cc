#include "ir/text.h"

#include <cstring>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "ir/function.h"
#include "ir/phase.h"

namespace mycel::ir {
namespace {

std::string quoted(const std::string& s) {
  std::string out = "\"";
  for (char c : s) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + "\"";
}

// The bytes of a tensor in hexadecimal: exact for every dtype.
std::string tensor_text(const Tensor& t) {
  std::string s = fmt::format("tensor {} ", Type(t.dtype(), t.shape()).str());
  s += "\"";
  const auto* bytes = static_cast<const unsigned char*>(t.bytes() ? t.raw() : nullptr);
  for (size_t i = 0; i < t.bytes(); ++i) s += fmt::format("{:02x}", bytes[i]);
  return s + "\"";
}

class Printer {
 public:
  // The graph, then every function that it reaches.
  std::string print_all(const Graph& g) {
    std::string s = print(g, "") + "\n";
    for (size_t i = 0; i < functions_.size(); ++i) {  // printing a body may find more
      const Function& f = *functions_[i];
      s += "@" + names_.at(&f) + "(" + types_text(f.params) + ") -> " + types_text(f.results) +
           " = " + (f.body ? print(*f.body, "") : "unknown") + "\n";
    }
    return s;
  }

  std::string print(const Graph& g, const std::string& indent) {
    std::vector<int> first(g.size());
    int next = 0;
    for (const Node& n : g.nodes()) {
      if (n.is_param()) first[n.id] = next++;
    }
    for (const Node& n : g.nodes()) {
      if (n.is_param()) continue;
      first[n.id] = next;
      next += static_cast<int>(n.types.size());
    }
    auto ref = [&](const Value& v) {
      return v ? fmt::format("%{}", first[v.node->id] + v.index) : "_";
    };
    std::string s = "graph " + name_text(g.name()) + "(";
    const char* comma = "";
    for (const Value& p : g.params()) {
      s += fmt::format("{}{}: {}", comma, ref(p), p.type().str());
      if (!p.node->name.empty()) s += " " + quoted(p.node->name);
      comma = ", ";
    }
    s += ") {\n";
    for (const Node& n : g.nodes()) {
      if (!n.is_param()) s += indent + "  " + node_text(n, ref, indent) + "\n";
    }
    s += indent + "  return";
    comma = " ";
    for (const Value& v : g.results()) {
      s += comma + ref(v);
      comma = ", ";
    }
    return s + "\n" + indent + "}";
  }

 private:
  static std::string types_text(const Types& types) {
    std::string s;
    for (const Type& t : types) s += (s.empty() ? "" : ", ") + t.str();
    return s;
  }
  // A name of its own for every function.
  std::string function_text(const FunctionPtr& f) {
    auto it = names_.find(f.get());
    if (it != names_.end()) return "@" + it->second;
    std::string base = is_snake_case(f->name) ? f->name : "function", name = base;
    for (int i = 2; !taken_.insert(name).second; ++i) name = fmt::format("{}_{}", base, i);
    names_[f.get()] = name;
    functions_.push_back(f);
    return "@" + name;
  }

  static std::string name_text(const std::string& name) {
    return is_snake_case(name) ? name : quoted(name);
  }

  template <typename R>
  std::string node_text(const Node& n, const R& ref, const std::string& indent) {
    std::string s;
    for (uint32_t j = 0; j < n.types.size(); ++j) {
      s += (j ? ", " : "") + ref({const_cast<Node*>(&n), j});
    }
    s += fmt::format("{}{}(", n.types.empty() ? "" : " = ", n.op->name);
    for (size_t i = 0; i < n.inputs.size(); ++i) s += (i ? ", " : "") + ref(n.inputs[i]);
    s += ")" + attrs_text(n, indent);
    for (size_t j = 0; j < n.types.size(); ++j) s += (j ? ", " : " : ") + n.types[j].str();
    if (has_line(n.loc)) s += " @" + quoted(loc_text(n.loc));
    return s;
  }

  std::string attrs_text(const Node& n, const std::string& indent) {
    std::string s;
    for (size_t i = 0; i < n.attrs.size(); ++i) {
      const AttrSpec& spec = n.op->attrs[i];
      const Attr& a = n.attrs[i];
      if (spec.has_default && a == spec.default_value) continue;
      s += (s.empty() ? " {" : ", ") + spec.name + "=";
      if (a.is<GraphPtr>()) {
        s += print(*a.graph(), indent + "  ");
      } else if (a.is<FunctionPtr>()) {
        s += function_text(a.function());
      } else {
        s += a.is<Tensor>() ? tensor_text(a.tensor()) : a.str();
      }
    }
    return s.empty() ? s : s + "}";
  }

  std::vector<FunctionPtr> functions_;  // in order of appearance
  std::map<const Function*, std::string> names_;
  std::set<std::string> taken_;
};

class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text) {}

  std::shared_ptr<Graph> parse() {
    declare_functions();
    auto g = graph(0);
    while (next_is('@')) define_function();
    space();
    if (at_ != text_.size()) bad("nothing after the graph");
    return g;
  }

 private:
  [[noreturn]] void bad(const std::string& expected) {
    size_t line = 1, column = 1;
    for (size_t i = 0; i < at_ && i < text_.size(); ++i) {
      column = text_[i] == '\n' ? 1 : column + 1;
      line += text_[i] == '\n';
    }
    std::string found = at_ < text_.size()
                            ? text_.substr(at_, std::min<size_t>(12, text_.size() - at_))
                            : "the end";
    found = found.substr(0, found.find('\n'));
    value_error("graph text, line {} column {}: expected {}, found '{}'", line, column, expected,
                found);
  }
  void space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool take(std::string_view token) {
    space();
    if (text_.compare(at_, token.size(), token) != 0) return false;
    at_ += token.size();
    return true;
  }
  void need(std::string_view token) {
    if (!take(token)) bad("'" + std::string(token) + "'");
  }
  bool next_is(char c) {
    space();
    return at_ < text_.size() && text_[at_] == c;
  }
  std::string word() {
    space();
    size_t from = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_'))
      ++at_;
    if (from == at_) bad("a name");
    return text_.substr(from, at_ - from);
  }
  std::string string() {
    need("\"");
    std::string s;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        ++at_;
        s += text_[at_] == 'n' ? '\n' : text_[at_];
      } else {
        s += text_[at_];
      }
      ++at_;
    }
    need("\"");
    return s;
  }
  std::string number_text() {
    space();
    size_t from = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) ||
                                  std::strchr("+-.", text_[at_]))) {
      ++at_;
    }
    if (from == at_) bad("a number");
    return text_.substr(from, at_ - from);
  }
  int64_t integer() {
    std::string s = number_text();
    char* end = nullptr;
    errno = 0;
    int64_t v = std::strtoll(s.c_str(), &end, 10);
    if (*end || errno) bad("an integer");
    return v;
  }
  static bool integral(const std::string& s) {
    return s.find_first_not_of("+-0123456789") == std::string::npos;
  }
  double real(const std::string& s) {
    char* end = nullptr;
    double v = std::strtod(s.c_str(), &end);
    if (*end) bad("a number");
    return v;
  }

  Type type() {
    bool stack = take("stack<");
    std::string name = word();
    DType d;
    if (!parse_dtype(name, &d)) bad("a dtype, not '" + name + "'");
    need("[");
    std::vector<int64_t> dims;
    while (!next_is(']')) {
      dims.push_back(take("?") ? kUnknownDim : integer());
      if (dims.back() < kUnknownDim) bad("a dimension of at least 0");
      if (!take(",")) break;
    }
    need("]");
    if (stack) need(">");
    return {d, Shape(dims), stack ? Type::Kind::kStack : Type::Kind::kTensor};
  }

  // Functions are declared before anything is read: calls need their types. A definition is the
  // only thing that starts a line with '@'.
  void declare_functions() {
    for (size_t i = 0; i < text_.size(); ++i) {
      if (text_[i] != '@' || (i > 0 && text_[i - 1] != '\n')) continue;
      at_ = i;
      FunctionPtr f = signature();
      if (!functions_.emplace(f->name, f).second) bad("one definition of @" + f->name);
    }
    at_ = 0;
  }
  FunctionPtr signature() {
    need("@");
    std::string name = word();
    Types params, results;
    need("(");
    while (!next_is(')')) {
      params.push_back(type());
      if (!take(",")) break;
    }
    need(")");
    need("->");
    while (!next_is('=')) {
      results.push_back(type());
      if (!take(",")) break;
    }
    need("=");
    return make_function(name, std::move(params), std::move(results),
                         functions_.empty() ? nullptr : functions_.begin()->second);
  }
  void define_function() {
    FunctionPtr f = functions_.at(signature()->name);
    auto g = graph(1);
    bool fits = g->params().size() == f->params.size() && g->results().size() == f->results.size();
    for (size_t i = 0; fits && i < f->params.size(); ++i) {
      fits = g->params()[i].type() == f->params[i];
    }
    for (size_t i = 0; fits && i < f->results.size(); ++i) {
      fits = g->results()[i].type() == f->results[i];
    }
    if (!fits) bad("a body of the types that @" + f->name + " declares");
    set_body(f, std::move(g));
  }

  std::shared_ptr<Graph> graph(int depth) {
    if (depth > 64) bad("at most 64 nested regions");
    need("graph");
    auto g = std::make_shared<Graph>(next_is('"') ? string() : word());
    std::vector<Value> values;
    need("(");
    while (!next_is(')')) {
      define(values.size());
      need(":");
      Type t = type();
      values.push_back(g->add_param(t, next_is('"') ? string() : ""));
      if (!take(",")) break;
    }
    need(")");
    need("{");
    while (!take("return")) node(*g, values, depth);
    std::vector<Value> results;
    while (next_is('%')) {
      results.push_back(use(values));
      if (!take(",")) break;
    }
    need("}");
    g->set_results(std::move(results));
    return g;
  }

  void define(size_t number) {
    need("%");
    if (integer() != static_cast<int64_t>(number))
      bad(fmt::format("the definition of %{}", number));
  }
  Value use(const std::vector<Value>& values) {
    if (take("_")) return {};
    need("%");
    int64_t i = integer();
    if (i < 0 || i >= static_cast<int64_t>(values.size())) bad("a value defined before");
    return values[i];
  }

  void node(Graph& g, std::vector<Value>& values, int depth) {
    size_t count = 0;
    while (next_is('%')) {
      define(values.size() + count++);
      if (!take(",")) break;
    }
    if (count) need("=");
    std::string name = word();
    const Op* op = find_op(name);
    if (!op) bad("an op, there is none named '" + name + "'");
    need("(");
    std::vector<Value> in;
    while (!next_is(')')) {
      in.push_back(use(values));
      if (!take(",")) break;
    }
    need(")");
    Attrs attrs = attributes(*op, depth);
    Types types;
    if (take(":")) {
      do types.push_back(type());
      while (take(","));
    }
    Loc loc = take("@") ? intern_loc(string()) : 0;
    std::vector<const Type*> in_types;
    for (const Value& v : in) in_types.push_back(v ? &v.type() : nullptr);
    if (infer_types(*op, in_types, attrs) != types || types.size() != count) {
      bad("the result types that " + name + " infers");
    }
    Node* n = g.add_typed(*op, std::move(in), std::move(attrs), std::move(types), loc);
    for (uint32_t j = 0; j < count; ++j) values.push_back(n->out(j));
  }

  Attrs attributes(const Op& op, int depth) {
    std::vector<Attr> given;
    std::vector<bool> set(op.attrs.size(), false);
    for (const AttrSpec& a : op.attrs) given.push_back(a.default_value);
    if (take("{")) {
      do {
        std::string name = word();
        int i = op.attr_index(name);
        if (i < 0) bad("an attribute of " + op.name + ", there is none named '" + name + "'");
        need("=");
        given[i] = attribute(op.attrs[i], depth);
        set[i] = true;
      } while (take(","));
      need("}");
    }
    for (size_t i = 0; i < op.attrs.size(); ++i) {
      if (!set[i] && !op.attrs[i].has_default)
        bad("attribute '" + op.attrs[i].name + "' of " + op.name);
    }
    return op.complete(Attrs(std::move(given)));
  }

  Attr attribute(const AttrSpec& spec, int depth) {
    if (take("None")) return {};
    switch (spec.kind) {
      case AttrKind::kBool:
        if (take("True")) return Attr(true);
        need("False");
        return Attr(false);
      case AttrKind::kInt:
        return Attr(integer());
      case AttrKind::kFloat:
        return Attr(real(number_text()));
      case AttrKind::kString:
        return Attr(string());
      case AttrKind::kDType: {
        DType d;
        if (!parse_dtype(word(), &d)) bad("a dtype");
        return Attr(d);
      }
      case AttrKind::kGraph:
        return Attr(GraphPtr(graph(depth + 1)));
      case AttrKind::kTensor:
        return Attr(tensor());
      case AttrKind::kInts:
      case AttrKind::kFloats:
        return list(spec.kind);
      case AttrKind::kFunction: {
        need("@");
        std::string name = word();
        auto it = functions_.find(name);
        if (it == functions_.end()) bad("a function, there is none named @" + name);
        return Attr(it->second);
      }
      case AttrKind::kCallback:
        bad("a graph without host functions, which have no text");
    }
    return {};
  }

  Attr list(AttrKind kind) {
    Attr::Ints ints;
    Attr::Floats floats;
    need("[");
    while (!next_is(']')) {
      if (kind == AttrKind::kInts) {
        ints.push_back(integer());
      } else {
        floats.push_back(real(number_text()));
      }
      if (!take(",")) break;
    }
    need("]");
    return kind == AttrKind::kInts ? Attr(ints) : Attr(floats);
  }

  Tensor tensor() {
    need("tensor");
    Type t = type();
    std::string hex = string();
    if (!t.shape.known()) bad("a tensor with known dims");
    size_t bytes = static_cast<size_t>(t.shape.size()) * size_of(t.dtype);
    if (hex.size() != 2 * bytes) bad(fmt::format("{} bytes of tensor data", bytes));
    Tensor out = Tensor::empty(t.dtype, t.shape);
    auto digit = [&](char c) {
      if (c >= '0' && c <= '9') return c - '0';
      if (c >= 'a' && c <= 'f') return c - 'a' + 10;
      bad("hexadecimal digits");
    };
    for (size_t i = 0; i < bytes; ++i) {
      static_cast<unsigned char*>(out.mutable_raw())[i] =
          static_cast<unsigned char>(digit(hex[2 * i]) * 16 + digit(hex[2 * i + 1]));
    }
    return out;
  }

  const std::string& text_;
  size_t at_ = 0;
  std::map<std::string, FunctionPtr> functions_;
};

}  // namespace

std::string text_of(const Graph& g) { return Printer().print_all(g); }
std::string Graph::str() const { return text_of(*this); }
std::shared_ptr<Graph> parse(const std::string& text) { return Parser(text).parse(); }

}  // namespace mycel::ir
