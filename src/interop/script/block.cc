#include "interop/script/block.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

namespace mycel::interop::script {
namespace {

bool digits(const std::string& s) {
  return !s.empty() && std::ranges::all_of(s, [](unsigned char c) { return std::isdigit(c); });
}

void values_in(const std::vector<Operand>& operands, std::vector<ValueId>& out) {
  for (const Operand& o : operands) {
    if (o.kind == Operand::Kind::kValue || o.kind == Operand::Kind::kSize) out.push_back(o.value);
    values_in(o.items, out);
  }
}

void units_of(const Block& b, std::vector<const Unit*>& out) {
  for (const Item& i : b.items) {
    if (i.unit)
      out.push_back(i.unit);
    else
      units_of(*i.block, out);
  }
}

class Builder {
 public:
  explicit Builder(Network& n) : net_(n) {
    for (const Port& p : n.outputs) results_.insert(p.value);
    for (const Unit& u : n.units) {
      for (ValueId v : reads_of(u)) readers_[v].push_back(&u);
    }
  }

  std::unique_ptr<Block> build(std::vector<Unit*> units, size_t depth, Path path);

 private:
  using Group = std::vector<Unit*>;
  bool convex(const std::vector<Unit*>& all, const Group& part) const;
  void order(Block& b);
  void ports(Block& b);
  bool chain(Block& b) const;
  bool walked(Block& b) const;

  Network& net_;
  std::set<ValueId> results_;
  std::map<ValueId, std::vector<const Unit*>> readers_;
};

bool Builder::convex(const std::vector<Unit*>& all, const Group& part) const {
  std::set<const Unit*> inside(part.begin(), part.end());
  std::set<ValueId> own, outside;  // given by the part; by others that follow from it
  for (const Unit* u : all) {
    bool from_own = false, from_outside = false;
    for (ValueId v : reads_of(*u)) {
      from_own = from_own || own.count(v);
      from_outside = from_outside || outside.count(v);
    }
    if (inside.count(u)) {
      if (from_outside) return false;
      own.insert(u->results.begin(), u->results.end());
    } else if (from_own || from_outside) {
      outside.insert(u->results.begin(), u->results.end());
    }
  }
  return true;
}

void Builder::ports(Block& b) {
  std::vector<const Unit*> units;
  units_of(b, units);
  std::set<const Unit*> inside(units.begin(), units.end());
  std::set<ValueId> given, taken;
  for (const Unit* u : units) given.insert(u->results.begin(), u->results.end());
  b.inputs.clear();
  b.outputs.clear();
  for (const Unit* u : units) {
    for (ValueId v : reads_of(*u)) {
      if (!given.count(v) && taken.insert(v).second) b.inputs.push_back(v);
    }
  }
  for (const Unit* u : units) {
    for (ValueId v : u->results) {
      if (v < 0) continue;
      bool out = results_.count(v) > 0;
      auto it = readers_.find(v);
      if (it != readers_.end()) {
        for (const Unit* reader : it->second) out = out || !inside.count(reader);
      }
      if (out) b.outputs.push_back(v);
    }
  }
}

struct Ends {
  std::vector<ValueId> in, out;
};
Ends ends_of(const Item& i) {
  if (i.block) return {i.block->inputs, i.block->outputs};
  Ends e{reads_of(*i.unit), {}};
  for (ValueId v : i.unit->results) {
    if (v >= 0) e.out.push_back(v);
  }
  return e;
}

// Each item takes what the one before gives, and nothing else.
bool Builder::chain(Block& b) const {
  if (b.items.size() < 2 || b.inputs.size() != 1 || b.outputs.size() != 1) return false;
  ValueId now = b.inputs[0];
  for (const Item& i : b.items) {
    Ends e = ends_of(i);
    bool layer = i.block || (i.unit->kind == Unit::Kind::kLayer && i.unit->results.size() == 1);
    if (!layer || e.in != std::vector{now} || e.out.size() != 1) return false;
    if (!i.name.empty() && !digits(i.name)) return false;
    if (i.block && i.block->kind == Block::Kind::kList) return false;
    // What goes from one to the next goes nowhere else.
    std::vector<const Unit*> inside;
    if (i.block)
      units_of(*i.block, inside);
    else
      inside.push_back(i.unit);
    for (const Unit* reader : now == b.inputs[0] ? std::vector<const Unit*>() : readers_.at(now)) {
      if (std::ranges::find(inside, reader) == inside.end()) return false;
    }
    if (now != b.inputs[0] && results_.count(now)) return false;
    now = e.out[0];
  }
  return now == b.outputs[0];
}

// All items are blocks with the same places for inputs; one is carried along.
bool Builder::walked(Block& b) const {
  if (b.items.size() < 2 || b.outputs.size() != 1) return false;
  size_t count = 0, carried = 0;
  for (size_t k = 0; k < b.items.size(); ++k) {
    const Item& i = b.items[k];
    if (!i.block || !digits(i.name) || i.block->outputs.size() != 1) return false;
    if (k == 0) {
      count = i.block->inputs.size();
      continue;
    }
    const Block &before = *b.items[k - 1].block, &now = *i.block;
    if (now.inputs.size() != count) return false;
    for (size_t p = 0; p < count; ++p) {
      bool same = now.inputs[p] == before.inputs[p];
      bool moved = now.inputs[p] == before.outputs[0];
      if (k == 1 && moved) carried = p;
      if (p == carried && k >= 1 ? !moved : !same) return false;
    }
    if (b.outputs[0] == before.outputs[0]) return false;
    auto it = readers_.find(before.outputs[0]);
    std::vector<const Unit*> inside;
    units_of(now, inside);
    if (results_.count(before.outputs[0])) return false;
    for (const Unit* reader : it->second) {
      if (std::ranges::find(inside, reader) == inside.end()) return false;
    }
  }
  b.carried = carried;
  // The places are those of the first item.
  b.inputs = b.items[0].block->inputs;
  return true;
}

// Items in an order in which each follows what it reads; false when blocks wait for each other.
void Builder::order(Block& b) {
  std::map<ValueId, size_t> giver;
  std::vector<Ends> ends;
  for (size_t i = 0; i < b.items.size(); ++i) {
    ends.push_back(ends_of(b.items[i]));
    for (ValueId v : ends.back().out) giver[v] = i;
  }
  std::vector<Item> sorted;
  std::vector<bool> done(b.items.size(), false);
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t i = 0; i < b.items.size(); ++i) {
      if (done[i]) continue;
      bool ready = true;
      for (ValueId v : ends[i].in) {
        auto it = giver.find(v);
        ready = ready && (it == giver.end() || it->second == i || done[it->second]);
      }
      if (!ready) continue;
      done[i] = moved = true;
      sorted.push_back(std::move(b.items[i]));
      break;  // from the front again: the order of the file where it is one
    }
  }
  b.items = std::move(sorted);
}

std::unique_ptr<Block> Builder::build(std::vector<Unit*> units, size_t depth, Path path) {
  std::set<std::string> refused;
  for (;;) {
    auto b = std::make_unique<Block>();
    b->path = path;
    std::map<std::string, Group> groups;
    for (Unit* u : units) {
      if (u->path.size() > depth && !refused.count(u->path[depth]))
        groups[u->path[depth]].push_back(u);
    }
    std::set<std::string> placed;
    bool again = false;
    for (Unit* u : units) {
      std::string name = u->path.size() > depth ? u->path[depth] : "";
      if (name.empty() || refused.count(name)) {
        Item item;
        item.unit = u;
        item.name = name;
        if (!name.empty() && u->kind == Unit::Kind::kLayer && u->path.size() > depth + 1)
          item.name = name + "_" + u->path.back();
        if (u->kind != Unit::Kind::kLayer) item.name = u->attr;
        b->items.push_back(std::move(item));
        continue;
      }
      if (!placed.insert(name).second) continue;
      const Group& g = groups[name];
      bool one = g.size() == 1;
      bool layers = std::ranges::any_of(
          g, [](const Unit* x) { return x->kind == Unit::Kind::kLayer && !x->stored.empty(); });
      if (!one && (!layers || !convex(units, g))) {
        // Calls alone are no module, and what others lie between is none either.
        refused.insert(name);
        again = true;
        break;
      }
      Item item;
      item.name = name;
      if (one) {
        item.unit = g[0];
        if (g[0]->kind != Unit::Kind::kLayer) item.name = g[0]->attr;
      } else {
        Path inner = path;
        inner.push_back(name);
        item.block = build(g, depth + 1, inner);
        // A module around one other is that one.
        while (item.block->items.size() == 1 && item.block->items[0].block) {
          std::unique_ptr<Block> only = std::move(item.block->items[0].block);
          item.block = std::move(only);
        }
        if (item.block->items.size() == 1) {
          item.unit = item.block->items[0].unit;
          item.block.reset();
        }
      }
      b->items.push_back(std::move(item));
    }
    if (again) continue;
    size_t count = b->items.size();
    // Before the items move: which blocks there are, should they wait for each other.
    std::string last_block;
    for (const Item& i : b->items) {
      if (i.block) last_block = i.name;
    }
    order(*b);
    if (b->items.size() != count) {
      refused.insert(last_block);
      continue;
    }
    ports(*b);
    if (depth > 0 && chain(*b))
      b->kind = Block::Kind::kChain;
    else if (depth > 0 && walked(*b))
      b->kind = Block::Kind::kList;
    return b;
  }
}

}  // namespace

std::vector<ValueId> reads_of(const Unit& u) {
  std::vector<ValueId> all, out;
  values_in(u.operands, all);
  for (ValueId v : all) {
    if (std::ranges::find(out, v) == out.end()) out.push_back(v);
  }
  return out;
}

std::unique_ptr<Block> build_blocks(Network& network) {
  Builder builder(network);
  std::vector<Unit*> units;
  for (Unit& u : network.units) units.push_back(&u);
  std::unique_ptr<Block> root = builder.build(units, 0, {});
  while (root->items.size() == 1 && root->items[0].block &&
         root->items[0].block->kind == Block::Kind::kClass) {
    std::unique_ptr<Block> only = std::move(root->items[0].block);
    root = std::move(only);
  }
  return root;
}

}  // namespace mycel::interop::script
