#include "ir/verify.h"

#include <set>
#include <vector>

#include <fmt/format.h>

#include "base/config.h"
#include "base/error.h"
#include "ir/function.h"

namespace mycel::ir {
namespace {

constexpr int kMaxDepth = 64;  // of regions inside regions

struct Problem {
  std::string text;
};

bool fits(const AttrSpec& spec, const Attr& a) {
  if (a.none()) return spec.optional;
  switch (spec.kind) {
    case AttrKind::kBool:
      return a.is<bool>();
    case AttrKind::kInt:
      return a.is<int64_t>();
    case AttrKind::kFloat:
      return a.is<double>();
    case AttrKind::kString:
      return a.is<std::string>();
    case AttrKind::kDType:
      return a.is<DType>();
    case AttrKind::kGraph:
      return a.is<GraphPtr>() && a.graph();
    case AttrKind::kTensor:
      return a.is<Tensor>() && a.tensor();
    case AttrKind::kCallback:
      return a.is<CallbackPtr>() && a.callback();
    case AttrKind::kFunction:
      return a.is<FunctionPtr>() && a.function();
    case AttrKind::kInts:
      return a.is<Attr::Ints>();
    case AttrKind::kFloats:
      return a.is<Attr::Floats>();
  }
  return false;
}

// Functions that calls have led to; each is verified once.
struct Functions {
  std::set<const Function*> seen;
  std::vector<const Function*> open;
};

class Verifier {
 public:
  Verifier(const Graph& g, int depth, Functions& functions)
      : g_(g), depth_(depth), functions_(functions) {}

  void run() {
    if (depth_ > kMaxDepth) bad("more than {} regions inside each other", kMaxDepth);
    size_t params = 0;
    uint32_t id = 0;
    for (const Node& n : g_.nodes()) {
      node_ = &n;
      if (n.id != id++ || n.graph != &g_) bad("is not numbered by its place in its graph");
      if (n.is_param()) {
        if (params >= g_.params().size() || g_.params()[params++].node != &n)
          bad("is a parameter that the graph does not list");
        if (n.types.size() != 1 || !n.inputs.empty()) bad("is a parameter of other than one value");
      } else {
        check_node(n);
      }
    }
    node_ = nullptr;
    if (params != g_.params().size()) bad("lists a parameter that is none of its nodes");
    for (const Value& v : g_.results()) check_use(v, g_.size());
  }

 private:
  template <typename... A>
  [[noreturn]] void bad(fmt::format_string<A...> f, A&&... a) const {
    std::string at = fmt::format("graph '{}'", g_.name());
    if (node_) {
      at += fmt::format(", node {} ({})", node_->id, node_->op ? node_->op->name : "parameter");
    }
    throw Problem{at + ": " + fmt::format(f, std::forward<A>(a)...)};
  }

  // `before`: the value must come from a node of a smaller number.
  void check_use(const Value& v, size_t before) const {
    if (!v) bad("a result is no value");
    if (v.node->graph != &g_) bad("uses a value of another graph");
    if (v.node->id >= before) bad("uses the value of node {} before it is defined", v.node->id);
    if (&g_.nodes()[v.node->id] != v.node) bad("uses a node that is not in the graph");
    if (v.index >= v.node->types.size()) {
      bad("uses result {} of node {}, which has {}", v.index, v.node->id, v.node->types.size());
    }
  }

  void check_node(const Node& n) {
    for (const Value& v : n.inputs) {
      if (v) check_use(v, n.id);
    }
    if (n.attrs.size() != n.op->attrs.size()) {
      bad("has {} attributes, its record {}", n.attrs.size(), n.op->attrs.size());
    }
    for (size_t i = 0; i < n.attrs.size(); ++i) {
      const AttrSpec& spec = n.op->attrs[i];
      if (!fits(spec, n.attrs[i])) bad("attribute '{}' is {}", spec.name, n.attrs[i].str());
      if (n.attrs[i].is<GraphPtr>()) Verifier(*n.attrs[i].graph(), depth_ + 1, functions_).run();
      if (n.attrs[i].is<FunctionPtr>() &&
          functions_.seen.insert(n.attrs[i].function().get()).second)
        functions_.open.push_back(n.attrs[i].function().get());
    }
    check_types(n);
  }

  void check_types(const Node& n) const {
    for (const AttrSpec& a : n.op->attrs) {
      // What a host function gives is known only when it runs.
      if (a.kind == AttrKind::kCallback) return;
    }
    std::vector<const Type*> in;
    for (const Value& v : n.inputs) in.push_back(v ? &v.type() : nullptr);
    Types inferred;
    try {
      inferred = infer_types(*n.op, in, n.attrs);
    } catch (const UserError& e) {
      bad("{}", e.message());
    }
    if (inferred == n.types) return;
    auto list = [](const Types& types) {
      std::string s;
      for (const Type& t : types) s += (s.empty() ? "" : ", ") + t.str();
      return s;
    };
    bad("gives {}; its type rule infers {}", list(n.types), list(inferred));
  }

  const Graph& g_;
  const int depth_;
  Functions& functions_;
  const Node* node_ = nullptr;
};

void verify_function(const Function& f, Functions& functions) {
  if (!f.body) throw Problem{fmt::format("function '{}' has no body", f.name)};
  Verifier(*f.body, 0, functions).run();
  Types params, results;
  for (const Value& v : f.body->params()) params.push_back(v.type());
  for (const Value& v : f.body->results()) results.push_back(v.type());
  if (params != f.params || results != f.results)
    throw Problem{fmt::format("the body of function '{}' has other types than declared", f.name)};
}

}  // namespace

std::string problem_of(const Graph& g) {
  try {
    Functions functions;
    Verifier(g, 0, functions).run();
    while (!functions.open.empty()) {
      const Function* f = functions.open.back();
      functions.open.pop_back();
      verify_function(*f, functions);
    }
    return "";
  } catch (const Problem& p) {
    return p.text;
  }
}

bool verifying() {
#ifndef NDEBUG
  return true;
#else
  return debug();
#endif
}

void verify_after(const char* after, const Graph& g) {
  if (!verifying()) return;
  std::string problem = problem_of(g);
  MYCEL_CHECK(problem.empty(), "after {}: {}", after, problem);
}

}  // namespace mycel::ir
