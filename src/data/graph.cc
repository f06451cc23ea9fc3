#include "data/graph.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"

namespace mycel::data {
namespace {

Tensor table(int64_t rows, int64_t width, int32_t value) {
  Tensor t = Tensor::empty(DType::kInt32, {rows, width});
  std::fill_n(static_cast<int32_t*>(t.mutable_raw()), rows * width, value);
  return t;
}

Tensor list(const std::vector<int32_t>& v) {
  return Tensor::from(v, {static_cast<int64_t>(v.size())});
}

// One of several with a chance that is proportional to its weight; -1 when all are 0.
int64_t one_of(const std::vector<double>& weights, Philox& draw) {
  double sum = 0;
  for (double w : weights) sum += w;
  if (!(sum > 0)) return -1;
  double at = draw.uniform() * sum;
  int64_t last = -1;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] <= 0) continue;
    last = static_cast<int64_t>(i);
    if ((at -= weights[i]) < 0) break;
  }
  return last;
}

}  // namespace

Graph::Graph(const Tensor& edges, std::vector<int32_t> node_types, std::vector<int32_t> edge_types,
             std::vector<double> weights)
    : node_types_(std::move(node_types)),
      edge_types_(std::move(edge_types)),
      weights_(std::move(weights)) {
  if (edges.dtype() != DType::kInt32 || edges.shape().rank() != 2 || edges.shape()[0] != 2)
    value_error("Graph: edges must be int32 [2, n], got {}", edges.describe());
  const int64_t n = edges.shape()[1];
  const auto* p = static_cast<const int32_t*>(edges.raw());
  from_.assign(p, p + n);
  to_.assign(p + n, p + 2 * n);
  check(from_);
  check(to_);
  if (static_cast<int64_t>(edge_types_.size()) != n)
    value_error("Graph: there are {} edges and {} types of edges", n, edge_types_.size());
  if (!weights_.empty() && static_cast<int64_t>(weights_.size()) != n)
    value_error("Graph: there are {} edges and {} weights", n, weights_.size());
  for (double w : weights_) {
    if (!(w >= 0) || !std::isfinite(w)) value_error("Graph: a weight of an edge is {}", w);
  }
  for (int32_t t : node_types_) {
    if (t < 0) value_error("Graph: a type must not be negative, got {}", t);
    types_ = std::max<int64_t>(types_, t + 1);
  }
  // Counted, summed, put: each in order of edges.
  begins_.assign(nodes() * types_ + 1, 0);
  const auto place = [&](int64_t e) { return from_[e] * types_ + node_types_[to_[e]]; };
  for (int64_t e = 0; e < n; ++e) ++begins_[place(e) + 1];
  for (size_t i = 1; i < begins_.size(); ++i) begins_[i] += begins_[i - 1];
  std::vector<int64_t> next(begins_.begin(), begins_.end() - 1);
  neighbours_.resize(n);
  by_edge_.resize(n);
  for (int64_t e = 0; e < n; ++e) {
    const int64_t at = next[place(e)]++;
    neighbours_[at] = to_[e];
    by_edge_[at] = static_cast<int32_t>(e);
  }
}

void Graph::check(std::span<const int32_t> list) const {
  for (int32_t v : list) {
    if (v < 0 || v >= nodes())
      value_error("Graph: there is no node {}; nodes are 0 to {}", v, nodes() - 1);
  }
}

std::span<const int32_t> Graph::found(int32_t node, int32_t type) const {
  if (node < 0 || type < 0 || type >= types_) return {};
  const int64_t at = node * types_ + type;
  return std::span(neighbours_).subspan(begins_[at], begins_[at + 1] - begins_[at]);
}
std::span<const int32_t> Graph::leading(int32_t node, int32_t type) const {
  if (node < 0 || type < 0 || type >= types_) return {};
  const int64_t at = node * types_ + type;
  return std::span(by_edge_).subspan(begins_[at], begins_[at + 1] - begins_[at]);
}

Tensor Graph::nodes_of(int32_t type) const {
  std::vector<int32_t> out;
  for (int64_t i = 0; i < nodes(); ++i) {
    if (node_types_[i] == type) out.push_back(static_cast<int32_t>(i));
  }
  return list(out);
}
Tensor Graph::edges_of(int32_t type) const {
  std::vector<int32_t> out;
  for (int64_t i = 0; i < edges(); ++i) {
    if (edge_types_[i] == type) out.push_back(static_cast<int32_t>(i));
  }
  return list(out);
}

Tensor Graph::ends(std::span<const int32_t> some) const {
  Tensor t = table(static_cast<int64_t>(some.size()), 2, 0);
  auto* to = static_cast<int32_t*>(t.mutable_raw());
  for (int32_t e : some) {
    if (e < 0 || e >= edges())
      value_error("Graph: there is no edge {}; edges are 0 to {}", e, edges() - 1);
    *to++ = from_[e];
    *to++ = to_[e];
  }
  return t;
}

Tensor Graph::edges_between(std::span<const int32_t> pairs) const {
  check(pairs);
  std::vector<int32_t> out;
  for (size_t i = 0; i + 1 < pairs.size(); i += 2) {
    const auto some = found(pairs[i], node_types_[pairs[i + 1]]);
    const auto by = leading(pairs[i], node_types_[pairs[i + 1]]);
    const auto it = std::find(some.begin(), some.end(), pairs[i + 1]);
    out.push_back(it == some.end() ? -1 : by[it - some.begin()]);
  }
  return list(out);
}

Tensor Graph::neighbours(std::span<const int32_t> some, int32_t type) const {
  check(some);
  size_t most = 0;
  for (int32_t v : some) most = std::max(most, found(v, type).size());
  const auto width = static_cast<int64_t>(most) + 1;
  Tensor t = table(static_cast<int64_t>(some.size()), width, kNoNode);
  auto* to = static_cast<int32_t*>(t.mutable_raw());
  for (int32_t v : some) {
    to[0] = v;
    const auto all = found(v, type);
    std::copy(all.begin(), all.end(), to + 1);
    to += width;
  }
  return t;
}

Tensor Graph::neighbour_pairs(std::span<const int32_t> some, int32_t type) const {
  check(some);
  std::vector<int32_t> out;
  for (int32_t v : some) {
    for (int32_t w : found(v, type)) out.insert(out.end(), {v, w});
  }
  return Tensor::from(out, {static_cast<int64_t>(out.size() / 2), 2});
}

Tensor Graph::neighbour_offsets(std::span<const int32_t> some, int32_t type) const {
  check(some);
  std::vector<int32_t> out, all;
  for (int32_t v : some) {
    out.push_back(static_cast<int32_t>(all.size()));
    const auto these = found(v, type);
    all.insert(all.end(), these.begin(), these.end());
  }
  out.insert(out.end(), all.begin(), all.end());
  return list(out);
}

Tensor Graph::sample(std::span<const int32_t> some, std::span<const int64_t> counts,
                     std::span<const int32_t> types, bool weighted, Philox& draw) const {
  check(some);
  if (counts.size() != types.size() || counts.empty())
    value_error("Graph: {} numbers of neighbours and {} types were given; one each a hop",
                counts.size(), types.size());
  if (weighted && weights_.empty())
    value_error("Graph: sampling by weights needs the feature 'weight' of edges");
  int64_t width = 1, hop_width = 1;
  for (int64_t c : counts) {
    if (c < 1) value_error("Graph: the number of neighbours must be positive, got {}", c);
    if (__builtin_mul_overflow(hop_width, c, &hop_width) || hop_width > (int64_t{1} << 31))
      value_error("Graph: the numbers of neighbours make too many nodes");
    width += hop_width;
  }
  Tensor t = table(static_cast<int64_t>(some.size()), width, kNoNode);
  auto* row = static_cast<int32_t*>(t.mutable_raw());
  std::vector<double> weights;
  for (int32_t v : some) {
    row[0] = v;
    int64_t before = 0, have = 1, many = 1;  // where the last hop begins, and how many it has
    for (size_t hop = 0; hop < counts.size(); ++hop) {
      for (int64_t i = 0; i < many; ++i) {
        const auto all = found(row[before + i], types[hop]);
        weights.clear();
        if (weighted) {
          for (int32_t e : leading(row[before + i], types[hop])) weights.push_back(weights_[e]);
        }
        for (int64_t k = 0; k < counts[hop]; ++k, ++have) {
          if (all.empty()) continue;
          const int64_t at =
              weighted ? one_of(weights, draw) : static_cast<int64_t>(draw.below(all.size()));
          if (at >= 0) row[have] = all[at];
        }
      }
      before += many;
      many *= counts[hop];
    }
    row += width;
  }
  return t;
}

Tensor Graph::strangers(std::span<const int32_t> some, int64_t count, int32_t type,
                        Philox& draw) const {
  check(some);
  if (count < 1) value_error("Graph: the number of nodes must be positive, got {}", count);
  const Tensor of_type = nodes_of(type);
  const auto* all = static_cast<const int32_t*>(of_type.raw());
  const int64_t n = of_type.shape()[0];
  Tensor t = table(static_cast<int64_t>(some.size()), count + 1, kNoNode);
  auto* row = static_cast<int32_t*>(t.mutable_raw());
  for (int32_t v : some) {
    row[0] = v;
    const auto near = found(v, type);
    std::vector<int32_t> known(near.begin(), near.end());
    if (node_types_[v] == type) known.push_back(v);
    std::sort(known.begin(), known.end());
    known.erase(std::unique(known.begin(), known.end()), known.end());
    // The k-th that is not known: nodes of a type are in order, and known ones are among them.
    const auto left = n - static_cast<int64_t>(known.size());
    std::vector<int64_t> places;  // of known ones among all
    for (int32_t k : known) places.push_back(std::lower_bound(all, all + n, k) - all);
    for (int64_t i = 1; i <= count && left > 0; ++i) {
      auto at = static_cast<int64_t>(draw.below(static_cast<uint64_t>(left)));
      // places[j] - j strangers stand before the j-th known one.
      size_t low = 0, high = places.size();
      while (low < high) {
        const size_t mid = (low + high) / 2;
        if (places[mid] - static_cast<int64_t>(mid) <= at) {
          low = mid + 1;
        } else {
          high = mid;
        }
      }
      row[i] = all[at + static_cast<int64_t>(low)];
    }
    row += count + 1;
  }
  return t;
}

bool Graph::leads(int32_t from, int32_t to) const {
  const auto all = found(from, node_types_[to]);
  return std::find(all.begin(), all.end(), to) != all.end();
}

int32_t Graph::step(int32_t before, int32_t node, int32_t type, WalkBias bias, Philox& draw) const {
  const auto all = found(node, type);
  if (all.empty()) return kNoNode;
  if (before == kNoNode || (bias.home == 1 && bias.away == 1)) return all[draw.below(all.size())];
  std::vector<double> weights;
  for (int32_t v : all)
    weights.push_back(v == before ? 1 / bias.home : leads(before, v) ? 1 : 1 / bias.away);
  return all[one_of(weights, draw)];
}

Tensor Graph::random_walk(std::span<const int32_t> some, std::span<const int32_t> types,
                          WalkBias bias, int32_t end, Philox& draw) const {
  check(some);
  if (types.empty()) value_error("Graph: a walk needs a step");
  if (!(bias.home > 0) || !(bias.away > 0) || !std::isfinite(bias.home) ||
      !std::isfinite(bias.away))
    value_error("Graph: the parameters of a walk must be positive, got {} and {}", bias.home,
                bias.away);
  const auto width = static_cast<int64_t>(types.size()) + 1;
  Tensor t = table(static_cast<int64_t>(some.size()), width, end);
  auto* row = static_cast<int32_t*>(t.mutable_raw());
  for (int32_t v : some) {
    row[0] = v;
    int32_t before = kNoNode, node = v;
    for (size_t s = 0; s < types.size(); ++s) {
      const int32_t next = step(before, node, types[s], bias, draw);
      if (next == kNoNode) break;
      row[s + 1] = next;
      before = std::exchange(node, next);
    }
    row += width;
  }
  return t;
}

}  // namespace mycel::data
