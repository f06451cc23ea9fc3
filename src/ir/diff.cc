#include "ir/diff.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/function.h"

namespace mycel::ir {
namespace {

// Above this product of lengths nodes are aligned in order of appearance.
constexpr size_t kMaxAlign = 4'000'000;

size_t mix(size_t h, size_t v) { return (h ^ (v + 0x9e3779b97f4a7c15ull)) * 0xff51afd7ed558ccdull; }

bool same_content(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         (a.bytes() == 0 || std::memcmp(a.raw(), b.raw(), a.bytes()) == 0);
}

std::string brief(const Attr& a) {
  if (a.is<GraphPtr>()) return "graph " + a.graph()->name();
  if (a.is<Tensor>()) return "tensor " + type_of(a.tensor()).str();
  return a.str();
}

// A graph with the hashes by which its nodes are matched, and their numbers in its text.
class Side {
 public:
  explicit Side(const Graph& g)
      : graph(g), match(g.size(), nullptr), shallow(g.size()), deep(g.size()), first_(g.size()) {
    int next = 0;
    for (const Value& p : g.params()) first_[p.node->id] = next++;
    for (const Node& n : g.nodes()) {
      if (n.is_param()) continue;
      first_[n.id] = next;
      next += static_cast<int>(n.types.size());
    }
    for (size_t i = 0; i < g.params().size(); ++i) deep[g.params()[i].node->id] = mix(1, i);
    for (const Node& n : g.nodes()) {
      if (!n.is_param()) hash(n);
    }
  }

  // What the results compute.
  size_t meaning() const {
    size_t h = graph.params().size();
    for (const Value& v : graph.results()) h = mix(h, mix(deep[v.node->id], v.index));
    return h;
  }

  std::string number(const Value& v) const {
    return v ? fmt::format("%{}", first_[v.node->id] + static_cast<int>(v.index)) : "nothing";
  }
  // "%3 (add)", "%0 (x)".
  std::string operand(const Value& v) const {
    if (!v) return "nothing";
    const std::string& name = v.node->is_param() ? v.node->name : v.node->op->name;
    return name.empty() ? number(v) : fmt::format("{} ({})", number(v), name);
  }
  std::string numbers(const Node& n) const {
    std::vector<std::string> all;
    for (uint32_t j = 0; j < n.types.size(); ++j) all.push_back(number({const_cast<Node*>(&n), j}));
    return fmt::format("{}", fmt::join(all, ", "));
  }
  std::string text(const Node& n) const {
    std::vector<std::string> in, attrs, types;
    for (const Value& v : n.inputs) in.push_back(v ? number(v) : "_");
    for (size_t i = 0; i < n.attrs.size(); ++i) {
      const AttrSpec& spec = n.op->attrs[i];
      if (!(spec.has_default && n.attrs[i] == spec.default_value))
        attrs.push_back(spec.name + "=" + brief(n.attrs[i]));
    }
    for (const Type& t : n.types) types.push_back(t.str());
    return fmt::format("{}{}{}({}){}{}{}", numbers(n), n.types.empty() ? "" : " = ", n.op->name,
                       fmt::join(in, ", "),
                       attrs.empty() ? "" : fmt::format(" {{{}}}", fmt::join(attrs, ", ")),
                       types.empty() ? "" : " : ", fmt::join(types, ", "));
  }

  const Graph& graph;
  std::vector<const Node*> match;     // by node id: the node of the other side
  std::vector<size_t> shallow, deep;  // by node id: without and with what operands compute

 private:
  void hash(const Node& n) {
    size_t h = static_cast<size_t>(n.op->id) + 2;
    for (size_t i = 0; i < n.attrs.size(); ++i) h = mix(h, hash(n.attrs[i]));
    for (const Type& t : n.types) h = mix(h, t.hash());
    shallow[n.id] = h;
    for (const Value& v : n.inputs) h = mix(h, v ? mix(deep[v.node->id], v.index) : 0);
    deep[n.id] = h;
  }
  static size_t hash(const Attr& a) {
    if (a.is<GraphPtr>()) return Side(*a.graph()).meaning();
    if (a.is<FunctionPtr>()) return std::hash<std::string>()(a.function()->name);
    if (!a.is<Tensor>()) return a.hash();
    const Tensor& t = a.tensor();
    std::string_view bytes(t.bytes() ? static_cast<const char*>(t.raw()) : "", t.bytes());
    return mix(type_of(t).hash(), std::hash<std::string_view>()(bytes));
  }

  std::vector<int> first_;
};

class Differ {
 public:
  std::vector<DiffLine> run(const Graph& a, const Graph& b) {
    graphs(a, b, "");
    for (size_t i = 0; i < functions_.size(); ++i) {  // comparing a body may find more
      auto [f, g] = functions_[i];
      if (!f->body || !g->body) continue;
      under(fmt::format("function @{}", f->name), "", [&] { graphs(*f->body, *g->body, "  "); });
    }
    return std::move(lines_);
  }

 private:
  void say(char mark, const std::string& indent, const std::string& text) {
    lines_.push_back({mark, indent + text});
  }
  // Lines that `body` adds, under a line that says where; none when it adds none.
  template <typename F>
  void under(const std::string& where, const std::string& indent, F body) {
    size_t before = lines_.size();
    say(' ', indent, where + ":");
    body();
    if (lines_.size() == before + 1) lines_.pop_back();
  }

  void graphs(const Graph& first, const Graph& second, const std::string& indent) {
    Side a(first), b(second);
    params(a, b, indent);
    match_meaning(a, b);
    align(a, b);
    report(a, b, indent);
    results(a, b, indent);
  }

  void params(Side& a, Side& b, const std::string& indent) {
    auto text = [](const Side& s, const Value& p) {
      return fmt::format("parameter {}: {}", s.operand(p), p.type().str());
    };
    size_t common = std::min(a.graph.params().size(), b.graph.params().size());
    for (size_t i = 0; i < common; ++i) {
      Value p = a.graph.params()[i], q = b.graph.params()[i];
      a.match[p.node->id] = q.node;
      b.match[q.node->id] = p.node;
      if (!(p.type() == q.type()) || p.node->name != q.node->name)
        say('~', indent, fmt::format("{} -> {}", text(a, p), text(b, q)));
    }
    for (size_t i = common; i < a.graph.params().size(); ++i)
      say('-', indent, text(a, a.graph.params()[i]));
    for (size_t i = common; i < b.graph.params().size(); ++i)
      say('+', indent, text(b, b.graph.params()[i]));
  }

  static void pair(Side& a, const Node& x, Side& b, const Node& y) {
    a.match[x.id] = &y;
    b.match[y.id] = &x;
  }

  // Nodes that compute the same of the parameters.
  static void match_meaning(Side& a, Side& b) {
    std::unordered_map<size_t, std::pair<std::vector<const Node*>, size_t>> known;
    for (const Node& n : a.graph.nodes()) {
      if (!n.is_param()) known[a.deep[n.id]].first.push_back(&n);
    }
    for (const Node& n : b.graph.nodes()) {
      auto it = n.is_param() ? known.end() : known.find(b.deep[n.id]);
      if (it == known.end() || it->second.second == it->second.first.size()) continue;
      pair(a, *it->second.first[it->second.second++], b, n);
    }
  }

  using Nodes = std::vector<const Node*>;
  static Nodes open(const Side& s) {
    Nodes out;
    for (const Node& n : s.graph.nodes()) {
      if (!n.is_param() && !s.match[n.id]) out.push_back(&n);
    }
    return out;
  }

  // Of the rest: the longest common sequence of nodes alike up to their operands; then, between
  // those, nodes of the same op in order.
  static void align(Side& a, Side& b) {
    Nodes x = open(a), y = open(b);
    size_t i = 0, j = 0;
    auto gap = [&](size_t to_i, size_t to_j) {
      for (; i < to_i; ++i) {
        for (size_t k = j; k < to_j; ++k) {
          if (y[k]->op != x[i]->op || b.match[y[k]->id]) continue;
          pair(a, *x[i], b, *y[k]);
          break;
        }
      }
      j = to_j;
    };
    for (auto [p, q] : common(a, x, b, y)) {
      gap(p, q);
      pair(a, *x[p], b, *y[q]);
      i = p + 1;
      j = q + 1;
    }
    gap(x.size(), y.size());
  }

  static std::vector<std::pair<size_t, size_t>> common(const Side& a, const Nodes& x, const Side& b,
                                                       const Nodes& y) {
    auto alike = [&](size_t i, size_t j) { return a.shallow[x[i]->id] == b.shallow[y[j]->id]; };
    std::vector<std::pair<size_t, size_t>> out;
    if (x.size() * y.size() > kMaxAlign) {
      for (size_t i = 0, j = 0; i < std::min(x.size(), y.size()); ++i, ++j) {
        if (alike(i, j)) out.emplace_back(i, j);
      }
      return out;
    }
    size_t columns = y.size() + 1;
    std::vector<uint32_t> length((x.size() + 1) * columns, 0);  // of the rests from (i, j)
    for (size_t i = x.size(); i-- > 0;) {
      for (size_t j = y.size(); j-- > 0;) {
        length[i * columns + j] =
            alike(i, j) ? length[(i + 1) * columns + j + 1] + 1
                        : std::max(length[(i + 1) * columns + j], length[i * columns + j + 1]);
      }
    }
    for (size_t i = 0, j = 0; i < x.size() && j < y.size();) {
      if (alike(i, j)) {
        out.emplace_back(i++, j++);
      } else {
        ++(length[(i + 1) * columns + j] >= length[i * columns + j + 1] ? i : j);
      }
    }
    return out;
  }

  void report(const Side& a, const Side& b, const std::string& indent) {
    size_t next = 0;  // in a: removed nodes before it have been said
    auto removed = [&](size_t to) {
      for (; next < to; ++next) {
        const Node& n = a.graph.nodes()[next];
        if (!n.is_param() && !a.match[n.id]) say('-', indent, a.text(n));
      }
    };
    for (const Node& n : b.graph.nodes()) {
      if (n.is_param()) continue;
      const Node* was = b.match[n.id];
      if (!was) {
        removed(end_of_open(a, next));  // what it may stand for
        say('+', indent, b.text(n));
        continue;
      }
      removed(was->id);
      next = std::max<size_t>(next, was->id + 1);
      changed(a, *was, b, n, indent);
    }
    removed(a.graph.size());
  }

  // The first node from `i` on that has a match.
  static size_t end_of_open(const Side& a, size_t i) {
    while (i < a.graph.size() && (!a.match[i] || a.graph.nodes()[i].is_param())) ++i;
    return i;
  }

  bool same_value(const Side& a, const Value& x, const Value& y) const {
    if (!x || !y) return !x && !y;
    return x.index == y.index && a.match[x.node->id] == y.node;
  }

  void changed(const Side& a, const Node& x, const Side& b, const Node& y,
               const std::string& indent) {
    std::vector<std::string> what;
    for (size_t i = 0; i < x.attrs.size() && i < y.attrs.size(); ++i) {
      if (same_attr(x.attrs[i], y.attrs[i])) continue;
      std::string before = brief(x.attrs[i]), after = brief(y.attrs[i]);
      if (before == after) after = "another one";
      what.push_back(fmt::format("{}={} -> {}", x.op->attrs[i].name, before, after));
    }
    for (size_t i = 0; i < std::max(x.inputs.size(), y.inputs.size()); ++i) {
      Value v = i < x.inputs.size() ? x.inputs[i] : Value();
      Value w = i < y.inputs.size() ? y.inputs[i] : Value();
      if (!same_value(a, v, w))
        what.push_back(fmt::format("operand {}: {} -> {}", i, a.operand(v), b.operand(w)));
    }
    for (size_t i = 0; i < std::max(x.types.size(), y.types.size()); ++i) {
      std::string t = i < x.types.size() ? x.types[i].str() : "nothing";
      std::string u = i < y.types.size() ? y.types[i].str() : "nothing";
      if (t != u) what.push_back(fmt::format("{} -> {}", t, u));
    }
    std::string before = a.numbers(x), after = b.numbers(y);
    std::string name = before == after || before.empty() ? after : before + " -> " + after;
    name += (name.empty() ? "" : " ") + x.op->name;
    if (!what.empty()) say('~', indent, fmt::format("{}: {}", name, fmt::join(what, "; ")));
    for (size_t i = 0; i < x.attrs.size() && i < y.attrs.size(); ++i) {
      if (!x.attrs[i].is<GraphPtr>() || !y.attrs[i].is<GraphPtr>()) continue;
      under(fmt::format("in {}, {}", name, x.op->attrs[i].name), indent,
            [&] { graphs(*x.attrs[i].graph(), *y.attrs[i].graph(), indent + "  "); });
    }
  }

  // Regions are compared on their own.
  bool same_attr(const Attr& x, const Attr& y) {
    if (x.is<GraphPtr>() && y.is<GraphPtr>()) return true;
    if (x.is<Tensor>() && y.is<Tensor>()) return same_content(x.tensor(), y.tensor());
    if (x.is<FunctionPtr>() && y.is<FunctionPtr>()) {
      if (seen_.emplace(x.function().get(), y.function().get()).second)
        functions_.emplace_back(x.function(), y.function());
      return x.function()->name == y.function()->name;
    }
    return x == y;
  }

  void results(const Side& a, const Side& b, const std::string& indent) {
    auto x = a.graph.results(), y = b.graph.results();
    for (size_t i = 0; i < std::max(x.size(), y.size()); ++i) {
      Value v = i < x.size() ? x[i] : Value(), w = i < y.size() ? y[i] : Value();
      if (!w) {
        say('-', indent, fmt::format("result {}: {}", i, a.operand(v)));
      } else if (!v) {
        say('+', indent, fmt::format("result {}: {}", i, b.operand(w)));
      } else if (!same_value(a, v, w)) {
        say('~', indent, fmt::format("result {}: {} -> {}", i, a.operand(v), b.operand(w)));
      }
    }
  }

  std::vector<DiffLine> lines_;
  std::vector<std::pair<FunctionPtr, FunctionPtr>> functions_;
  std::set<std::pair<const Function*, const Function*>> seen_;
};

}  // namespace

std::vector<DiffLine> diff(const Graph& a, const Graph& b) { return Differ().run(a, b); }

}  // namespace mycel::ir
