#include "interop/script/classes.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "interop/script/python_text.h"

namespace mycel::interop::script {
namespace {

// A piece of code: text, or a literal that may differ between instances.
struct Piece {
  std::string text;
  Literal* literal = nullptr;
};
// One argument of a call; left out when its literal is what it would be anyway.
using Argument = std::vector<Piece>;

struct Line {
  std::string head;  // "x = self.conv("
  std::vector<Argument> arguments;
  std::string tail;  // ")"
  std::string between = ", ";
};

// What an attribute is made of.
struct Made {
  std::string attr;
  Unit* unit = nullptr;     // a layer or a parameter
  Block* block = nullptr;   // an instance of a class, a chain or a list
  std::vector<Made> items;  // of the latter two
  std::vector<Literal> shape;
};

struct Body {
  std::vector<Made> fields;
  std::vector<std::string> inputs;
  std::vector<Line> lines;
  std::string returns;
};

struct Argument_ {
  std::string name;
  std::string otherwise;  // its default, "" for none
};

struct Class {
  std::string name;
  std::vector<Block*> members;
  std::vector<Body*> bodies;
  std::vector<std::string> wishes;
  std::vector<Argument_> arguments;
  // For each literal of a member, in order: "" or the expression in terms of the arguments.
  std::vector<std::string> expression;
  std::vector<int> used_in_construct;  // arguments
  int height = 0;
};

const std::set<std::string, std::less<>> kTaken = {
    "add_flags",   "apply",    "cells", "compile",          "construct",
    "create_time", "place",    "phase", "recompute",        "shard",
    "summary",     "training", "name",  "trainable_params", "get_inputs"};

const std::map<std::string, const char*, std::less<>> kLayerNames = {
    {"nn.Conv1d", "conv"},
    {"nn.Conv2d", "conv"},
    {"nn.Conv3d", "conv"},
    {"nn.Dense", "dense"},
    {"nn.BatchNorm1d", "bn"},
    {"nn.BatchNorm2d", "bn"},
    {"nn.BatchNorm3d", "bn"},
    {"nn.LayerNorm", "norm"},
    {"nn.ReLU", "relu"},
    {"nn.ReLU6", "relu6"},
    {"nn.MaxPool2d", "max_pool"},
    {"nn.AvgPool2d", "avg_pool"},
    {"nn.AdaptiveAvgPool2d", "pool"},
    {"nn.Embedding", "embedding"},
    {"nn.LSTM", "lstm"},
    {"nn.GRU", "gru"},
    {"nn.HSwish", "hswish"},
    {"nn.HSigmoid", "hsigmoid"},
    {"nn.LeakyReLU", "leaky_relu"}};

class Writer {
 public:
  Writer(const Network& n, std::string name, std::string doc)
      : net_(n), name_(std::move(name)), doc_(std::move(doc)) {}
  Script write(Block& root);

 private:
  void visit(Block& b, bool root);
  Body body_of(Block& b, bool root);
  void name_items(Block& b);
  Made made_of(Item& i);
  void lines_of(Block& b, Body& body, bool root);
  std::string signature(Block& b, Body& body);
  void literals(Block& b, Body& body, std::vector<Literal*>& out);
  void literals_of(Made& m, std::vector<Literal*>& out);
  void find_arguments(Class& c);
  std::string class_text(Class& c, bool root);
  std::string made_text(Made& m, const std::map<const Literal*, std::string>& with);
  std::string class_name(const Class& c);
  void weights_of(Block& b, const std::string& prefix, runtime::NamedTensors& out);
  void weights_of(Made& m, const std::string& prefix, runtime::NamedTensors& out);

  const Network& net_;
  std::string name_, doc_;
  std::vector<std::unique_ptr<Class>> classes_;
  std::map<std::string, int> by_signature_;
  std::map<const Block*, std::unique_ptr<Body>> bodies_;
  std::set<std::string> class_names_;
};

// -- names of attributes

void Writer::name_items(Block& b) {
  std::set<std::string> taken(kTaken.begin(), kTaken.end());
  std::map<std::string, int> wanted;
  std::vector<std::string> wishes;
  auto wish = [&](const Item& i) {
    std::string s = identifier(i.name);
    if (i.name.empty() || std::isdigit(static_cast<unsigned char>(i.name[0]))) s = "";
    if (s.empty() && i.unit && i.unit->kind == Unit::Kind::kLayer) {
      auto it = kLayerNames.find(i.unit->callee);
      s = it != kLayerNames.end() ? it->second : i.unit->callee.substr(3);
      for (char& c : s) c = static_cast<char>(std::tolower(c));
      if (!i.name.empty() && std::isdigit(static_cast<unsigned char>(i.name[0]))) s += i.name;
    }
    if (s.empty()) s = "block" + i.name;
    return identifier(s);
  };
  // Layers without parameters that are alike are one.
  std::map<std::string, Item*> stateless;
  for (Item& i : b.items) {
    if (i.unit && i.unit->kind != Unit::Kind::kLayer && i.unit->kind != Unit::Kind::kParameter)
      continue;
    std::string w = wish(i);
    if (i.unit && i.unit->kind == Unit::Kind::kLayer && i.unit->stored.empty()) {
      std::string key = i.unit->callee;
      for (const Literal& l : i.unit->made_with) key += "," + l.text;
      auto [it, fresh] = stateless.try_emplace(key, &i);
      if (!fresh) {
        i.made = false;
        continue;
      }
    }
    ++wanted[w];
  }
  std::map<std::string, int> count;
  for (Item& i : b.items) {
    if (i.unit && i.unit->kind != Unit::Kind::kLayer && i.unit->kind != Unit::Kind::kParameter)
      continue;
    if (!i.made) continue;
    std::string w = wish(i);
    std::string name = w;
    bool numbered = wanted[w] > 1 || taken.count(w);
    while (numbered) {
      bool digit = std::isdigit(static_cast<unsigned char>(w.back()));
      name = fmt::format("{}{}{}", w, digit ? "_" : "", ++count[w]);
      if (!taken.count(name)) break;
    }
    i.attr = name;
    taken.insert(name);
  }
  for (Item& i : b.items) {
    if (i.made || !i.unit) continue;
    std::string key = i.unit->callee;
    for (const Literal& l : i.unit->made_with) key += "," + l.text;
    i.attr = stateless[key]->attr;
  }
}

// -- one block as code

Made Writer::made_of(Item& i) {
  Made m;
  m.attr = i.attr;
  m.unit = i.unit;
  m.block = i.block.get();
  if (m.unit && m.unit->kind == Unit::Kind::kParameter) {
    const Tensor& t = m.unit->stored[0].value;
    std::vector<int64_t> dims(t.shape().begin(), t.shape().end());
    m.shape = {{"shape", literal(dims), "", true}};
  }
  if (m.block && m.block->kind != Block::Kind::kClass) {
    for (Item& inner : m.block->items) m.items.push_back(made_of(inner));
  }
  return m;
}

class Names {
 public:
  std::string fresh() {
    static const char* const kLetters[] = {"x", "y", "z", "u", "v", "w"};
    for (const char* l : kLetters) {
      if (taken_.insert(l).second) return l;
    }
    for (int i = 1;; ++i) {
      std::string s = fmt::format("y{}", i);
      if (taken_.insert(s).second) return s;
    }
  }
  std::string named(std::string wish) {
    if (wish.empty()) return fresh();
    std::string s = wish;
    for (int i = 2; !taken_.insert(s).second; ++i) s = fmt::format("{}{}", wish, i);
    return s;
  }
  void release(const std::string& s) { taken_.erase(s); }

 private:
  std::set<std::string> taken_;
};

// A name for what a layer gives, where its attribute says more than what kind of layer it is.
std::string result_wish(const Item& i) {
  if (i.block || i.unit->kind != Unit::Kind::kLayer || i.unit->stored.empty()) return "";
  if (i.name.empty() || i.attr.empty() || std::isdigit(static_cast<unsigned char>(i.attr.back())))
    return "";
  static const std::set<std::string> kPlain = {"conv", "bn",   "fc",    "dense",
                                               "norm", "proj", "linear"};
  for (const std::string& p : kPlain) {
    if (i.attr.starts_with(p) || i.attr.ends_with(p)) return "";
  }
  return i.unit->callee == "nn.Dense" || i.unit->callee == "nn.Embedding" ? i.attr : "";
}

void Writer::lines_of(Block& b, Body& body, bool root) {
  Names names;
  std::map<ValueId, std::string> name;
  std::map<ValueId, size_t> last;  // the item that reads it last
  auto reads = [](const Item& i) { return i.block ? i.block->inputs : reads_of(*i.unit); };
  for (size_t k = 0; k < b.items.size(); ++k) {
    for (ValueId v : reads(b.items[k])) last[v] = k;
  }
  for (ValueId v : b.outputs) last[v] = b.items.size();
  if (root) {
    for (const Port& p : net_.inputs) {
      std::string id = identifier(p.name);
      bool only = net_.inputs.size() == 1;
      bool made_up = id.empty() || id.find("__") != id.npos || id.starts_with("input") ||
                     id.starts_with("onnx") || id.size() > 20;
      name[p.value] = names.named(only && made_up ? "x" : id);
      body.inputs.push_back(name[p.value]);
    }
    for (const Port& p : net_.outputs) last[p.value] = b.items.size();
  } else {
    for (ValueId v : b.inputs) {
      name[v] = names.fresh();
      body.inputs.push_back(name[v]);
    }
  }
  std::function<Argument(Operand&)> text = [&](Operand& o) -> Argument {
    switch (o.kind) {
      case Operand::Kind::kLiteral:
        return {{"", &o.literal}};
      case Operand::Kind::kValue:
        return {{name.at(o.value)}};
      case Operand::Kind::kSize: {
        std::string s = fmt::format("{}.shape[{}]", name.at(o.value), o.dim);
        return {{o.times == 1 ? s : fmt::format("{} * {}", o.times, s)}};
      }
      default:
        break;
    }
    bool tuple = o.kind == Operand::Kind::kTuple;
    Argument a;
    if (!o.literal.name.empty()) a.push_back({o.literal.name + "="});
    a.push_back({tuple ? "(" : "["});
    for (size_t i = 0; i < o.items.size(); ++i) {
      if (i) a.push_back({", "});
      for (Piece& p : text(o.items[i])) a.push_back(std::move(p));
    }
    a.push_back({tuple ? (o.items.size() == 1 ? ",)" : ")") : "]"});
    return a;
  };
  // A result takes the name of an operand that nobody reads any more.
  auto target = [&](size_t k, ValueId v, const std::vector<ValueId>& in, const std::string& wish) {
    if (wish.empty()) {
      for (ValueId i : in) {
        auto it = name.find(i);
        if (it == name.end() || last[i] != k || it->second.starts_with("self.")) continue;
        std::string s = it->second;
        name.erase(it);
        name[v] = s;
        return s;
      }
    }
    return name[v] = names.named(wish);
  };
  auto let_go = [&](size_t k, const std::vector<ValueId>& in) {
    for (ValueId i : in) {
      auto it = name.find(i);
      if (it == name.end() || last[i] != k || it->second.starts_with("self.")) continue;
      names.release(it->second);
      name.erase(it);
    }
  };
  for (size_t k = 0; k < b.items.size(); ++k) {
    Item& i = b.items[k];
    std::vector<ValueId> in = reads(i);
    if (i.block) {
      Line line;
      std::string args;
      bool list = i.block->kind == Block::Kind::kList;
      std::vector<std::string> given;
      for (ValueId v : i.block->inputs) given.push_back(name.at(v));
      std::string carried = list ? given[i.block->carried] : "";
      ValueId carried_value = list ? i.block->inputs[i.block->carried] : -1;
      std::vector<std::string> out;
      if (list) {
        // What is carried has one name, which is overwritten.
        std::string now = carried;
        if (last[carried_value] != k) {
          now = names.fresh();
          body.lines.push_back({fmt::format("{} = {}", now, carried), {}, ""});
        } else {
          name.erase(carried_value);
        }
        given[i.block->carried] = now;
        body.lines.push_back({fmt::format("for block in self.{}:", i.attr), {}, ""});
        line.head = fmt::format("    {} = block(", now);
        let_go(k, in);
        name[i.block->outputs[0]] = now;
      } else {
        std::string targets;
        std::vector<ValueId> results = i.block->outputs;
        for (ValueId v : results) {
          std::string s = target(k, v, in, "");
          targets += (targets.empty() ? "" : ", ") + s;
        }
        let_go(k, in);
        line.head = fmt::format("{} = self.{}(", targets, i.attr);
      }
      for (const std::string& s : given) line.arguments.push_back({{s}});
      line.tail = ")";
      body.lines.push_back(std::move(line));
      continue;
    }
    Unit& u = *i.unit;
    if (u.kind == Unit::Kind::kParameter) {
      name[u.results[0]] = "self." + i.attr;
      continue;
    }
    Line line;
    std::vector<Argument> arguments;
    for (Operand& o : u.operands) arguments.push_back(text(o));
    bool recurrent = u.callee == "nn.LSTM" || u.callee == "nn.GRU";
    std::string targets;
    if (u.results.size() == 1) {
      targets = target(k, u.results[0], in, result_wish(i));
    } else {
      std::vector<std::string> each;
      for (ValueId v : u.results) each.push_back(v < 0 ? "_" : target(k, v, in, ""));
      if (recurrent && each.size() == 3)
        targets = each[1] == "_" && each[2] == "_"
                      ? fmt::format("{}, _", each[0])
                      : fmt::format("{}, ({}, {})", each[0], each[1], each[2]);
      else if (each.size() > 1 &&
               std::all_of(each.begin() + 1, each.end(), [](auto& s) { return s == "_"; }))
        targets = each[0] + ", *_";
      else
        targets = fmt::format("{}", fmt::join(each, ", "));
    }
    let_go(k, in);
    line.head = targets + " = ";
    line.arguments = std::move(arguments);
    if (u.kind == Unit::Kind::kLayer) {
      line.head += fmt::format("self.{}(", i.attr);
      line.tail = ")";
      if (recurrent && line.arguments.size() == 3) {
        Argument pair{
            {fmt::format("({}, {})", line.arguments[1][0].text, line.arguments[2][0].text)}};
        line.arguments.resize(1);
        line.arguments.push_back(pair);
      }
    } else if (u.callee == "[") {
      line.head += line.arguments[0][0].text + "[";
      line.arguments.erase(line.arguments.begin());
      line.tail = "]";
    } else if (!std::isalpha(static_cast<unsigned char>(u.callee[0]))) {
      line.between = " " + u.callee + " ";
    } else {
      line.head += u.callee + "(";
      line.tail = ")";
    }
    body.lines.push_back(std::move(line));
  }
  std::vector<ValueId> results = b.outputs;
  if (root) {
    results.clear();
    for (const Port& p : net_.outputs) results.push_back(p.value);
  }
  for (ValueId v : results) body.returns += (body.returns.empty() ? "" : ", ") + name.at(v);
}

Body Writer::body_of(Block& b, bool root) {
  Body body;
  name_items(b);
  for (Item& i : b.items) {
    bool field =
        i.block || i.unit->kind == Unit::Kind::kLayer || i.unit->kind == Unit::Kind::kParameter;
    if (field && i.made) body.fields.push_back(made_of(i));
  }
  lines_of(b, body, root);
  return body;
}

// -- classes

std::string made_signature(const Made& m) {
  std::string s = m.attr + ":";
  if (m.unit) {
    s += m.unit->callee;
    for (const Literal& l : m.unit->made_with) s += "," + l.name;
    for (const Stored& t : m.unit->stored)
      s += fmt::format(
          ";{}{}{}", t.role, t.trainable,
          m.unit->kind == Unit::Kind::kParameter ? std::string(name_of(t.value.dtype())) : "");
    return s;
  }
  if (m.block->kind == Block::Kind::kClass) return s + fmt::format("class {}", m.block->class_of);
  s += m.block->kind == Block::Kind::kChain ? "chain(" : "list(";
  for (const Made& i : m.items) s += made_signature(i) + " ";
  return s + ")";
}

std::string Writer::signature(Block& b, Body& body) {
  std::string s;
  for (const Made& m : body.fields) s += made_signature(m) + "\n";
  for (const std::string& i : body.inputs) s += i + " ";
  for (const Line& l : body.lines) {
    s += "\n" + l.head;
    for (const Argument& a : l.arguments) {
      for (const Piece& p : a) s += p.literal ? "?" + p.literal->name : p.text;
      s += l.between;
    }
    s += l.tail;
  }
  (void)b;
  return s + "\n" + body.returns;
}

void Writer::literals_of(Made& m, std::vector<Literal*>& out) {
  for (Literal& l : m.shape) out.push_back(&l);
  if (m.unit) {
    for (Literal& l : m.unit->made_with) out.push_back(&l);
    return;
  }
  if (m.block->kind == Block::Kind::kClass) {
    for (Literal& l : m.block->args) out.push_back(&l);
    return;
  }
  for (Made& i : m.items) literals_of(i, out);
}

void Writer::literals(Block&, Body& body, std::vector<Literal*>& out) {
  for (Made& m : body.fields) literals_of(m, out);
  for (Line& l : body.lines) {
    for (Argument& a : l.arguments) {
      for (Piece& p : a) {
        if (p.literal) out.push_back(p.literal);
      }
    }
  }
}

int height_of(const Made& m, const std::vector<std::unique_ptr<Class>>& classes) {
  if (m.unit) return 0;
  if (m.block->kind == Block::Kind::kClass)
    return classes[static_cast<size_t>(m.block->class_of)]->height;
  int h = 0;
  for (const Made& i : m.items) h = std::max(h, height_of(i, classes));
  return h;
}

void Writer::visit(Block& b, bool root) {
  for (Item& i : b.items) {
    if (i.block) visit(*i.block, false);
  }
  if (b.kind != Block::Kind::kClass) {
    for (size_t k = 0; k < b.items.size(); ++k) b.items[k].attr = std::to_string(k);
    return;
  }
  auto body = std::make_unique<Body>(body_of(b, root));
  std::string key = signature(b, *body);
  auto [it, fresh] = by_signature_.try_emplace(key, static_cast<int>(classes_.size()));
  if (fresh) {
    classes_.push_back(std::make_unique<Class>());
    int h = 0;
    for (const Made& m : body->fields) h = std::max(h, height_of(m, classes_));
    classes_.back()->height = h + 1;
  }
  b.class_of = it->second;
  Class& c = *classes_[static_cast<size_t>(it->second)];
  c.members.push_back(&b);
  c.bodies.push_back(body.get());
  std::string path, last;
  for (const std::string& p : b.path) {
    path += (path.empty() ? "" : ".") + p;
    if (!std::isdigit(static_cast<unsigned char>(p[0]))) last = p;
  }
  auto known = net_.class_of_path.find(path);
  c.wishes.push_back(known != net_.class_of_path.end() ? known->second : camel(last));
  bodies_[&b] = std::move(body);
}

std::optional<int64_t> as_int(const std::string& s) {
  if (s.empty() || s.size() > 15) return {};
  for (char ch : s) {
    if (!std::isdigit(static_cast<unsigned char>(ch))) return {};
  }
  return std::stoll(s);
}

void Writer::find_arguments(Class& c) {
  std::vector<std::vector<Literal*>> all(c.members.size());
  for (size_t m = 0; m < c.members.size(); ++m) literals(*c.members[m], *c.bodies[m], all[m]);
  size_t n = all[0].size();
  c.expression.assign(n, "");
  std::vector<std::vector<std::string>> values;  // of each argument
  std::vector<size_t> first;
  std::set<std::string> taken;
  for (const std::string& s : c.bodies[0]->inputs) taken.insert(s);
  for (size_t i = 0; i < n; ++i) {
    std::vector<std::string> v;
    for (auto& literals_of_member : all) v.push_back(literals_of_member[i]->text);
    if (std::ranges::all_of(v, [&](const std::string& s) { return s == v[0]; })) continue;
    size_t a = 0;
    while (a < values.size() && values[a] != v) ++a;
    if (a < values.size()) {
      c.expression[i] = c.arguments[a].name;
      continue;
    }
    // A multiple of one that is there already.
    for (size_t k = 0; k < values.size() && c.expression[i].empty(); ++k) {
      int64_t times = 0;
      bool fits = true;
      for (size_t m = 0; fits && m < v.size(); ++m) {
        auto x = as_int(values[k][m]), y = as_int(v[m]);
        fits = x && y && *x > 0 && *y % *x == 0 && (times == 0 || times == *y / *x);
        if (fits) times = *y / *x;
      }
      if (fits && times > 1) c.expression[i] = fmt::format("{} * {}", times, c.arguments[k].name);
    }
    if (!c.expression[i].empty()) continue;
    const Literal& l = *all[0][i];
    std::string name = l.name.empty() ? "size" : l.name;
    std::string base = name;
    for (int k = 2; !taken.insert(name).second; ++k) name = fmt::format("{}{}", base, k);
    // A default where some instance has what the layer has anyway.
    std::string otherwise = l.positional ? "" : l.otherwise;
    c.arguments.push_back({name, otherwise});
    values.push_back(v);
    first.push_back(i);
    c.expression[i] = name;
  }
  // Those without a default first, as Python asks.
  std::vector<size_t> order(c.arguments.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t x, size_t y) {
    return c.arguments[x].otherwise.empty() && !c.arguments[y].otherwise.empty();
  });
  std::vector<Argument_> sorted;
  for (size_t i : order) sorted.push_back(c.arguments[i]);
  for (size_t m = 0; m < c.members.size(); ++m) {
    for (size_t k = 0; k < order.size(); ++k) {
      const Argument_& a = sorted[k];
      c.members[m]->args.push_back({a.name, values[order[k]][m], a.otherwise, a.otherwise.empty()});
    }
  }
  c.arguments = std::move(sorted);
}

// -- text

std::string argument_list(const std::vector<Literal>& literals,
                          const std::map<const Literal*, std::string>& with) {
  std::string s;
  for (const Literal& l : literals) {
    auto it = with.find(&l);
    const std::string& text = it != with.end() ? it->second : l.text;
    if (it == with.end() && !l.positional && l.text == l.otherwise) continue;
    s += (s.empty() ? "" : ", ") + (l.positional ? text : l.name + "=" + text);
  }
  return s;
}

std::string Writer::made_text(Made& m, const std::map<const Literal*, std::string>& with) {
  if (m.unit && m.unit->kind == Unit::Kind::kParameter) {
    const Stored& t = m.unit->stored[0];
    auto it = with.find(&m.shape[0]);
    std::string shape = it != with.end() ? it->second : m.shape[0].text;
    std::string dtype = t.value.dtype() == DType::kFloat32 ? "" : ", " + literal(t.value.dtype());
    if (dtype.empty()) dtype = ", mycel.float32";
    return fmt::format("Parameter(ops.zeros({}{}){})", shape, dtype,
                       t.trainable ? "" : ", requires_grad=False");
  }
  if (m.unit) return fmt::format("{}({})", m.unit->callee, argument_list(m.unit->made_with, with));
  if (m.block->kind == Block::Kind::kClass)
    return fmt::format("{}({})", classes_[static_cast<size_t>(m.block->class_of)]->name,
                       argument_list(m.block->args, with));
  std::vector<std::string> items;
  for (Made& i : m.items) items.push_back(made_text(i, with));
  bool list = m.block->kind == Block::Kind::kList;
  const char* cls = list ? "nn.CellList" : "nn.SequentialCell";
  bool alike =
      items.size() > 2 && std::ranges::all_of(items, [&](auto& s) { return s == items[0]; });
  if (alike) return fmt::format("{}([{} for _ in range({})])", cls, items[0], items.size());
  std::string all = fmt::format("{}", fmt::join(items, ", "));
  return list ? fmt::format("{}([{}])", cls, all) : fmt::format("{}({})", cls, all);
}

std::string Writer::class_name(const Class& c) {
  std::map<std::string, int> votes;
  for (const std::string& w : c.wishes) ++votes[w];
  std::string best = c.wishes[0];
  for (const auto& [w, n] : votes) {
    if (n > votes[best]) best = w;
  }
  // "Layer1" names an instance, not what it is; a letter says nothing.
  while (!best.empty() && std::isdigit(static_cast<unsigned char>(best.back())) && best != "ReLU6")
    best.pop_back();
  if (best.size() < 2) best = "Block";
  if (best == "Layer" || best == "Layers" || best == "Features") best = "Block";
  std::string name = best;
  for (int k = 2; !class_names_.insert(name).second; ++k) name = fmt::format("{}{}", best, k);
  return name;
}

// "layer1.0, layer1.1 and 5 more."
std::string places(const Class& c) {
  std::string s;
  size_t shown = 0;
  for (const Block* b : c.members) {
    std::string path;
    for (const std::string& p : b->path) path += (path.empty() ? "" : ".") + p;
    if (s.size() + path.size() > 50) break;
    s += (s.empty() ? "" : ", ") + path;
    ++shown;
  }
  if (shown == 0) return fmt::format("{} modules of the network.", c.members.size());
  if (shown < c.members.size()) s += fmt::format(" and {} more", c.members.size() - shown);
  return s + ".";
}

std::string Writer::class_text(Class& c, bool root) {
  Block& b = *c.members[0];
  Body& body = *c.bodies[0];
  std::vector<Literal*> all, in_fields;
  literals(b, body, all);
  for (Made& m : body.fields) literals_of(m, in_fields);
  std::map<const Literal*, std::string> with;
  std::set<std::string> kept;
  for (size_t i = 0; i < all.size(); ++i) {
    if (c.expression[i].empty()) continue;
    if (i < in_fields.size()) {
      with[all[i]] = c.expression[i];
      continue;
    }
    // Arguments that construct reads are attributes.
    std::string e = c.expression[i];
    size_t at = e.rfind(' ');
    std::string name = at == e.npos ? e : e.substr(at + 1);
    kept.insert(name);
    with[all[i]] = (at == e.npos ? "" : e.substr(0, at + 1)) + "self." + name;
  }
  std::string s = fmt::format("class {}(nn.Cell):\n", c.name);
  if (root)
    s += doc_ + "\n";
  else
    s += fmt::format("    \"\"\"{}\"\"\"\n\n", places(c));
  std::string head = "def __init__(self";
  for (const Argument_& a : c.arguments)
    head += ", " + a.name + (a.otherwise.empty() ? "" : "=" + a.otherwise);
  s += statement(head + "):", 4);
  s += "        super().__init__()\n";
  for (const std::string& k : kept) s += fmt::format("        self.{} = {}\n", k, k);
  for (Made& m : body.fields)
    s += statement(fmt::format("self.{} = {}", m.attr, made_text(m, with)), 8);
  s += fmt::format("\n    def construct(self, {}):\n", fmt::join(body.inputs, ", "));
  for (Line& l : body.lines) {
    std::string text;
    for (Argument& a : l.arguments) {
      std::string one;
      bool skip = false;
      for (Piece& p : a) {
        if (!p.literal) {
          one += p.text;
          continue;
        }
        auto it = with.find(p.literal);
        const Literal& lit = *p.literal;
        if (it == with.end() && !lit.positional && !lit.otherwise.empty() &&
            lit.text == lit.otherwise)
          skip = true;
        std::string value = it != with.end() ? it->second : lit.text;
        one += lit.positional || lit.name.empty() ? value : lit.name + "=" + value;
      }
      if (!skip) text += (text.empty() ? "" : l.between) + one;
    }
    std::string line = l.head + text + l.tail;
    int indent = 8;
    while (line.starts_with("    ")) {
      line = line.substr(4);
      indent += 4;
    }
    s += statement(line, indent);
  }
  return s + "        return " + body.returns + "\n";
}

void Writer::weights_of(Made& m, const std::string& prefix, runtime::NamedTensors& out) {
  std::string path = prefix.empty() ? m.attr : prefix + "." + m.attr;
  if (m.unit && m.unit->kind == Unit::Kind::kParameter)
    out.emplace_back(path, m.unit->stored[0].value);
  else if (m.unit) {
    for (const Stored& t : m.unit->stored) out.emplace_back(path + "." + t.role, t.value);
  } else if (m.block->kind == Block::Kind::kClass) {
    weights_of(*m.block, path, out);
  } else {
    for (Made& i : m.items) weights_of(i, path, out);
  }
}

void Writer::weights_of(Block& b, const std::string& prefix, runtime::NamedTensors& out) {
  for (Made& m : bodies_.at(&b)->fields) weights_of(m, prefix, out);
}

Script Writer::write(Block& root) {
  visit(root, true);
  std::vector<Class*> order;
  for (auto& c : classes_) order.push_back(c.get());
  std::stable_sort(order.begin(), order.end(),
                   [](Class* a, Class* b) { return a->height < b->height; });
  Class* last = classes_[static_cast<size_t>(root.class_of)].get();
  class_names_.insert(name_);
  last->name = name_;
  for (Class* c : order) {
    find_arguments(*c);
    if (c != last) c->name = class_name(*c);
  }
  Script s;
  s.network = name_;
  for (Class* c : order) {
    if (c == last) continue;
    s.classes += "\n\n" + class_text(*c, false);
    s.instances[c->name] = static_cast<int>(c->members.size());
  }
  s.classes += "\n\n" + class_text(*last, true);
  s.class_count = static_cast<int>(order.size());
  weights_of(root, "", s.weights);
  for (const Unit& u : net_.units) s.internal_ops = s.internal_ops || u.internal;
  return s;
}

}  // namespace

Script write_classes(const Network& network, Block& root, const std::string& name,
                     const std::string& doc) {
  return Writer(network, name, doc).write(root);
}

}  // namespace mycel::interop::script
