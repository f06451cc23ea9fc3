#include "ops/matmul/contraction.h"

#include <algorithm>

#include "ops/elementwise/elementwise.h"
#include "ops/matmul/matmul.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Attr;
using ir::Value;

namespace {

int dim_of(const Labelled& t, char label) { return static_cast<int>(t.labels.find(label)); }
int64_t extent_of(const Labelled& t, char label) { return t.value.shape()[dim_of(t, label)]; }

struct Groups {
  std::string batch, free_a, free_b, summed;
  std::string result() const { return batch + free_a + free_b; }
};

Groups groups_of(const Labelled& a, const Labelled& b, const std::string& needed) {
  Groups g;
  for (char c : a.labels) {
    std::string& to = !has_label(b.labels, c) ? g.free_a
                      : has_label(needed, c)  ? g.batch
                                              : g.summed;
    to += c;
  }
  for (char c : b.labels) {
    if (!has_label(a.labels, c)) g.free_b += c;
  }
  return g;
}

// One dim per group: several are merged, none becomes a dim of 1.
Value merged(const Labelled& t, const std::vector<std::string>& groups) {
  std::string order;
  for (const std::string& g : groups) order += g;
  Value v = ordered(t, order);
  int at = 0;
  for (const std::string& g : groups) {
    int64_t n = static_cast<int64_t>(g.size());
    if (n == 0) v = kExpandDims({v}, {at});
    if (n > 1) v = kCollapseDims({v}, {at, at + n - 1});
    ++at;
  }
  return v;
}

// `t` with dims of 1 where it lacks a label.
Value aligned(const Labelled& t, const std::string& labels) {
  std::string own;
  for (char c : labels) {
    if (has_label(t.labels, c)) own += c;
  }
  Value v = ordered(t, own);
  for (size_t d = 0; d < labels.size(); ++d) {
    if (!has_label(t.labels, labels[d])) v = kExpandDims({v}, {static_cast<int64_t>(d)});
  }
  return v;
}

Value broadcast_product(const Labelled& a, const Labelled& b, const Groups& g) {
  std::string labels = g.result() + g.summed;
  Value y = kMul({aligned(a, labels), aligned(b, labels)});
  Attr::Ints axes;
  for (size_t d = g.result().size(); d < labels.size(); ++d)
    axes.push_back(static_cast<int64_t>(d));
  return axes.empty() ? y : kReduceSum({y}, {axes});
}

// The product's dims, merged group by group, back to one dim a label.
Value split(Value y, const std::vector<std::string>& groups, const Attr::Ints& shape) {
  Attr::Ints drop;
  bool merged_dims = false;
  for (size_t d = 0; d < groups.size(); ++d) {
    if (groups[d].empty()) drop.push_back(static_cast<int64_t>(d));
    merged_dims |= groups[d].size() > 1;
  }
  if (merged_dims) return kReshape({y}, {shape});
  return drop.empty() ? y : kSqueeze({y}, {drop});
}

}  // namespace

bool has_label(const std::string& labels, char c) { return labels.find(c) != std::string::npos; }

Value ordered(const Labelled& t, const std::string& labels) {
  Attr::Ints order;
  for (char c : labels) order.push_back(dim_of(t, c));
  return std::is_sorted(order.begin(), order.end()) ? t.value : kTranspose({t.value}, {order});
}

Labelled summed_to(Labelled t, const std::string& needed) {
  Attr::Ints axes;
  std::string kept;
  for (size_t d = 0; d < t.labels.size(); ++d) {
    if (has_label(needed, t.labels[d])) {
      kept += t.labels[d];
    } else {
      axes.push_back(static_cast<int64_t>(d));
    }
  }
  if (axes.empty()) return t;
  return {kept, kReduceSum({t.value}, {axes})};
}

Labelled contract(Labelled a, Labelled b, const std::string& needed) {
  std::string in_a = a.labels, in_b = b.labels;
  a = summed_to(std::move(a), needed + in_b);
  b = summed_to(std::move(b), needed + in_a);
  Groups g = groups_of(a, b, needed);
  Attr::Ints shape;
  for (char c : g.batch + g.free_a) shape.push_back(extent_of(a, c));
  for (char c : g.free_b) shape.push_back(extent_of(b, c));
  auto unknown = std::count(shape.begin(), shape.end(), kUnknownDim);
  bool splits = g.batch.size() > 1 || g.free_a.size() > 1 || g.free_b.size() > 1;
  bool empty_dim = std::count(shape.begin(), shape.end(), 0) > 0;
  if (splits && (unknown > 1 || (unknown == 1 && empty_dim))) {
    return {g.result(), broadcast_product(a, b, g)};
  }
  std::vector<std::string> left = {g.free_a, g.summed}, right = {g.summed, g.free_b},
                           out = {g.free_a, g.free_b};
  if (!g.batch.empty()) {
    for (auto* list : {&left, &right, &out}) list->insert(list->begin(), g.batch);
  }
  return {g.result(), split(kBatchMatmul({merged(a, left), merged(b, right)}), out, shape)};
}

}  // namespace mycel::ops
