#include "passes/moved.h"

#include <algorithm>
#include <sstream>

#include "base/error.h"

namespace mycel::passes {
namespace {

using ir::Attr;
using Ints = Attr::Ints;

void read_marks(std::istringstream& text, std::vector<char>& marks, bool& any) {
  for (std::string word; text >> word && word != "->" && word != ":";) {
    marks.push_back(word[0]);
    any = word.size() > 1 && word[1] == '*';
  }
}

Moves parse(const ir::Op& op) {
  Moves m;
  std::istringstream text(op.def.moves);
  read_marks(text, m.in, m.any_in);
  read_marks(text, m.out, m.any_out);
  for (std::string name, what; text >> name >> what;) {
    if (what.back() == ',') what.pop_back();
    int at = op.attr_index(name);
    MYCEL_CHECK(at >= 0, "{}: `moves` names no attribute: {}", op.name, name);
    auto kind = Moves::Kind::kOrder;
    if (what == "axis") kind = Moves::Kind::kAxis;
    if (what == "each") kind = Moves::Kind::kEach;
    if (what == "shape") kind = Moves::Kind::kShape;
    if (kind == Moves::Kind::kOrder) {
      MYCEL_CHECK(what == "order" || what == "best", "{}: `moves`: {}", op.name, what);
      m.order = at;
      m.best = what == "best";
    }
    m.attrs.emplace_back(at, kind);
  }
  return m;
}

int64_t moved_axis(int64_t axis, const Order& order) {
  int rank = static_cast<int>(order.size());
  if (axis < 0) axis += rank;
  return std::find(order.begin(), order.end(), axis) - order.begin();
}

// No axes at all mean every axis, in any order.
Attr moved_axes(const Attr& a, const Order& order) {
  if (a.none()) return a;
  if (!a.is<Ints>()) return Attr(moved_axis(a.integer(), order));
  Ints axes;
  for (int64_t axis : a.ints()) axes.push_back(moved_axis(axis, order));
  std::sort(axes.begin(), axes.end());
  return Attr(axes);
}

Attr moved_entries(const Attr& a, const Order& order) {
  Ints to;
  for (int d : order) to.push_back(a.ints()[d]);
  return Attr(to);
}

}  // namespace

Order inverse(const Order& order) {
  Order to(order.size());
  for (size_t k = 0; k < order.size(); ++k) to[static_cast<size_t>(order[k])] = static_cast<int>(k);
  return to;
}

Shape moved(const Shape& s, const Order& order) {
  Shape to;
  for (int d : order) to.push_back(s[d]);
  return to;
}

Shape under_ones(const Shape& s, int rank) {
  Shape to;
  for (int d = s.rank(); d < rank; ++d) to.push_back(1);
  for (int64_t n : s) to.push_back(n);
  return to;
}

const Moves* moves_of(const ir::Op& op) {
  static const auto* table = [] {
    auto* t = new std::vector<std::optional<Moves>>(ir::all_ops().size());
    for (const ir::Op* o : ir::all_ops()) {
      if (*o->def.moves) (*t)[static_cast<size_t>(o->id)] = parse(*o);
    }
    return t;
  }();
  auto id = static_cast<size_t>(op.id);
  return id < table->size() && (*table)[id] ? &*(*table)[id] : nullptr;
}

std::optional<ir::Attrs> moved_attrs(const ir::Node& n, const Moves& m, const Order& order) {
  ir::Attrs to = n.attrs;
  for (auto [at, kind] : m.attrs) {
    const Attr& a = n.attrs[static_cast<size_t>(at)];
    auto set = [&](Attr value) { to.set(static_cast<size_t>(at), std::move(value)); };
    switch (kind) {
      case Moves::Kind::kAxis:
        set(moved_axes(a, order));
        break;
      case Moves::Kind::kEach:
        if (a.ints().size() != order.size()) return {};
        set(moved_entries(a, order));
        break;
      case Moves::Kind::kShape:
        set(Attr(moved(under_ones(n.types[0].shape, static_cast<int>(order.size())), order)));
        break;
      case Moves::Kind::kOrder:
        if (a.string() != "channel_first") return {};
        set(Attr("channel_last"));
        break;
    }
  }
  return to;
}

}  // namespace mycel::passes
