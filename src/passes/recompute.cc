#include <algorithm>
#include <map>
#include <memory>

#include "ir/core_ops.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace mycel::passes {
namespace {

using ir::Node;
using ir::Value;

constexpr size_t kMostOps = 4;         // that are run again for one value
constexpr int kMostRounds = 16;        // each takes the highest peak that is left
constexpr int64_t kSmall = 16;         // what is this many times smaller may be kept longer
constexpr int64_t kWorthwhile = 4096;  // what is this many times smaller than the peak stays

int64_t bytes_of(const Value& v) {
  const ir::Type& t = v.type();
  if (t.kind != ir::Type::Kind::kTensor || !t.shape.known()) return 0;
  return t.shape.size() * static_cast<int64_t>(size_of(t.dtype));
}

bool cheap(const Node& n) {
  return is_elementwise(n) && n.types.size() == 1 && !n.op->def.random && !n.op->def.side_effect &&
         !n.inputs.empty();
}

// When values live, and where most memory is taken.
class Lives {
 public:
  explicit Lives(const ir::Graph& g)
      : g_(g), uses_(g.size()), last_(g.size(), 0), viewed_(g.size(), false) {
    for (const Node& n : g.nodes()) {
      last_[n.id] = n.id;
      for (const Value& v : n.inputs) {
        if (v) uses_[v.node->id].push_back(n.id);
      }
    }
    for (const Value& v : g.results()) last_[v.node->id] = static_cast<uint32_t>(g.size());
    for (size_t i = g.size(); i-- > 0;) {
      for (uint32_t u : uses_[i]) {
        // What a view is of lives as long as the view.
        bool view = g.nodes()[u].op->def.view;
        last_[i] = std::max(last_[i], view ? last_[u] : u);
        if (view) viewed_[i] = true;
      }
    }
    find_peak();
  }

  uint32_t peak() const { return peak_; }
  int64_t peak_bytes() const { return peak_bytes_; }
  uint32_t last(const Node& n) const { return last_[n.id]; }
  const std::vector<uint32_t>& uses(const Node& n) const { return uses_[n.id]; }
  bool viewed(const Node& n) const { return viewed_[n.id]; }
  bool kept_over_peak(const Node& n) const { return n.id <= peak_ && last_[n.id] > peak_; }

 private:
  void find_peak() {
    std::vector<int64_t> change(g_.size() + 2, 0);
    for (const Node& n : g_.nodes()) {
      if (n.is_param() || n.op->def.view || n.op == ir::core_ops().constant) continue;
      int64_t bytes = 0;
      for (uint32_t j = 0; j < n.types.size(); ++j) bytes += bytes_of({const_cast<Node*>(&n), j});
      change[n.id] += bytes;
      change[std::min<size_t>(last_[n.id], g_.size()) + 1] -= bytes;
    }
    int64_t now = 0;
    for (size_t i = 0; i < g_.size(); ++i) {
      now += change[i];
      if (now > peak_bytes_) peak_bytes_ = now, peak_ = static_cast<uint32_t>(i);
    }
  }

  const ir::Graph& g_;
  std::vector<std::vector<uint32_t>> uses_;
  std::vector<uint32_t> last_;
  std::vector<bool> viewed_;
  uint32_t peak_ = 0;
  int64_t peak_bytes_ = 0;
};

// What is run again before node `at` instead of being kept over the peak: the ops, in order.
struct Again {
  uint32_t at = 0;
  std::vector<const Node*> ops;
};

class Chooser {
 public:
  Chooser(const ir::Graph& g, const Lives& lives)
      : g_(g), lives_(lives), needed_(g.size(), false) {}

  std::map<uint32_t, Again> run() {
    for (const Node& n : g_.nodes()) {
      if (n.id > lives_.peak()) break;
      if (cheap(n) && large(n) && lives_.kept_over_peak(n) && !needed_[n.id] && !lives_.viewed(n)) {
        consider(n);
      }
    }
    return std::move(chosen_);
  }

 private:
  bool large(const Node& n) const {
    return bytes_of({const_cast<Node*>(&n), 0}) * kWorthwhile >= lives_.peak_bytes();
  }
  void consider(const Node& n) {
    if (lives_.last(n) >= g_.size()) return;  // a result
    Again again;
    auto late = std::upper_bound(lives_.uses(n).begin(), lives_.uses(n).end(), lives_.peak());
    again.at = *late;
    std::vector<const Node*> leaves;
    if (!collect(n, n, again, leaves)) return;
    std::sort(again.ops.begin(), again.ops.end(), [](auto* a, auto* b) { return a->id < b->id; });
    for (const Node* leaf : leaves) needed_[leaf->id] = true;
    chosen_.emplace(n.id, std::move(again));
  }

  // `n` and what it takes to compute it for the use of `whole`.
  bool collect(const Node& n, const Node& whole, Again& again, std::vector<const Node*>& leaves) {
    if (std::find(again.ops.begin(), again.ops.end(), &n) != again.ops.end()) return true;
    if (again.ops.size() == kMostOps) return false;
    again.ops.push_back(&n);
    int64_t size = bytes_of({const_cast<Node*>(&whole), 0});
    for (const Value& v : n.inputs) {
      const Node& from = *v.node;
      if (from.is_param() || from.op == ir::core_ops().constant) continue;
      bool there = lives_.kept_over_peak(from) && lives_.last(from) >= again.at;
      if ((there && !chosen_.count(from.id)) || bytes_of(v) * kSmall <= size) {
        leaves.push_back(&from);
      } else if (!cheap(from) || !collect(from, whole, again, leaves)) {
        return false;
      }
    }
    return true;
  }

  const ir::Graph& g_;
  const Lives& lives_;
  std::vector<bool> needed_;
  std::map<uint32_t, Again> chosen_;
};

GraphOut run_again(const ir::Graph& g, const std::map<uint32_t, Again>& chosen, uint32_t peak) {
  std::multimap<uint32_t, uint32_t> before;  // node -> what is run again before it
  for (const auto& [id, again] : chosen) before.emplace(again.at, id);
  std::map<uint32_t, Node*> anew;
  Rewrite r(g);
  for (const Node& n : g.nodes()) {
    auto [from, to] = before.equal_range(n.id);
    for (auto it = from; it != to; ++it) {
      std::map<const Node*, Node*> copies;
      for (const Node* op : chosen.at(it->second).ops) {
        ir::ValueList in;
        for (const Value& v : op->inputs) {
          auto copy = copies.find(v.node);
          in.push_back(copy == copies.end() ? r.translate(v) : copy->second->out());
        }
        copies[op] = r.out().add_typed(*op->op, std::move(in), op->attrs, op->types, op->loc);
      }
      anew[it->second] = copies.at(&g.nodes()[it->second]);
    }
    if (n.is_param() || n.id <= peak) {
      r.copy(n);
      continue;
    }
    ir::ValueList in = r.operands(n);
    for (size_t i = 0; i < n.inputs.size(); ++i) {
      auto it = n.inputs[i] ? anew.find(n.inputs[i].node->id) : anew.end();
      if (it != anew.end()) in[i] = it->second->out();
    }
    r.copy(n, std::move(in), n.attrs);
  }
  return r.finish();
}

}  // namespace

GraphOut recompute(const ir::Graph& g, int64_t above) {
  GraphOut now = copy_of(g);
  auto lives = std::make_unique<Lives>(*now);
  for (int round = 0; round < kMostRounds && lives->peak_bytes() > above; ++round) {
    auto chosen = Chooser(*now, *lives).run();
    if (chosen.empty()) break;
    GraphOut next = run_again(*now, chosen, lives->peak());
    auto after = std::make_unique<Lives>(*next);
    if (after->peak_bytes() >= lives->peak_bytes()) break;
    now = std::move(next);
    lives = std::move(after);
  }
  return now;
}

}  // namespace mycel::passes
