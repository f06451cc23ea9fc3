// Graphs from C++; Python's tests compare more.
#include "data/graph.h"

#include <set>

#include <gtest/gtest.h>

#include "base/error.h"

namespace mycel::data {
namespace {

std::vector<int32_t> numbers(const Tensor& t) {
  const auto* p = static_cast<const int32_t*>(t.raw());
  return {p, p + t.shape().size()};
}

// 0 -> 1, 0 -> 2, 1 -> 2, 2 -> 0, 0 -> 1 again; 2 is of type 1.
Graph small() {
  const std::vector<int32_t> edges = {0, 0, 1, 2, 0, 1, 2, 2, 0, 1};
  return Graph(Tensor::from(edges, {2, 5}), {0, 0, 1}, {0, 0, 0, 0, 0}, {1, 2, 3, 4, 5});
}

TEST(Graph, NeighboursByType) {
  const Graph g = small();
  const std::vector<int32_t> all = {0, 1, 2};
  EXPECT_EQ(numbers(g.neighbours(all, 0)), (std::vector<int32_t>{0, 1, 1, 1, -1, -1, 2, 0, -1}));
  EXPECT_EQ(numbers(g.neighbour_pairs(all, 1)), (std::vector<int32_t>{0, 2, 1, 2}));
  EXPECT_EQ(numbers(g.neighbour_offsets(all, 1)), (std::vector<int32_t>{0, 1, 2, 2, 2}));
  EXPECT_EQ(numbers(g.edges_between(std::vector<int32_t>{0, 1, 1, 0})),
            (std::vector<int32_t>{0, -1}));
}

TEST(Graph, SamplesAreOfTheGeneratorAlone) {
  const Graph g = small();
  const std::vector<int32_t> nodes = {0, 1}, types = {1, 0};
  const std::vector<int64_t> counts = {2, 2};
  Philox one(3), two(3);
  const auto a = numbers(g.sample(nodes, counts, types, true, one));
  EXPECT_EQ(a, numbers(g.sample(nodes, counts, types, true, two)));
  EXPECT_EQ(a, (std::vector<int32_t>{0, 2, 2, 0, 0, 0, 0, 1, 2, 2, 0, 0, 0, 0}));
  Philox three(5);
  EXPECT_EQ(numbers(g.strangers(nodes, 2, 0, three)), (std::vector<int32_t>{0, -1, -1, 1, 0, 0}));
}

TEST(Graph, BadInputIsRefused) {
  const std::vector<int32_t> edges = {0, 1};
  const Tensor t = Tensor::from(edges, {2, 1});
  EXPECT_THROW(Graph(t, {0}, {0}), UserError);    // node 1 has no type
  EXPECT_THROW(Graph(t, {0, 0}, {}), UserError);  // an edge without one
  EXPECT_THROW(Graph(t, {0, 0}, {0}, {-1}), UserError);
  EXPECT_THROW(small().neighbours(std::vector<int32_t>{3}, 0), UserError);
  Philox draw(0);
  EXPECT_THROW(small().random_walk(std::vector<int32_t>{0}, {}, {}, -1, draw), UserError);
}

}  // namespace
}  // namespace mycel::data
