// A directed graph in memory with types of nodes and edges, and samples of it for training: the
// neighbours of nodes, some of them drawn, nodes that are none, walks. Nodes and edges are numbered
// from 0, types too. Neighbours of a node are the ends of its edges, in order of the edges. From
// many threads at once; all that is drawn comes from the generator given.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "tensor/tensor.h"

namespace mycel::data {

constexpr int32_t kNoNode = -1;

// How random_walk goes on (A. Grover, J. Leskovec, "node2vec: scalable feature learning for
// networks", 2016): back to the node before with 1 / home, to one of its neighbours with 1, to
// others with 1 / away, each times the number of edges.
struct WalkBias {
  double home = 1, away = 1;
};

class Graph {
 public:
  // edges: int32 [2, n], from and to. types of nodes and edges, a number each; `weights` of edges
  // for sample, empty without. ValueError: a node that is negative or has no type, other lengths,
  // weights that are negative or not finite.
  Graph(const Tensor& edges, std::vector<int32_t> node_types, std::vector<int32_t> edge_types,
        std::vector<double> weights = {});

  int64_t nodes() const { return static_cast<int64_t>(node_types_.size()); }
  int64_t edges() const { return static_cast<int64_t>(from_.size()); }
  // Of a type, int32 [n], in order.
  Tensor nodes_of(int32_t type) const;
  Tensor edges_of(int32_t type) const;
  // int32 [n, 2].
  Tensor ends(std::span<const int32_t> edges) const;
  // The first edge between each pair, int32 [n]; -1 where there is none. `pairs`: from, to, ….
  Tensor edges_between(std::span<const int32_t> pairs) const;

  // Below, ValueError for nodes that are not there.
  // The neighbours of a type: int32 [n, 1 + most], a node and its neighbours, filled with -1.
  Tensor neighbours(std::span<const int32_t> nodes, int32_t type) const;
  // The same as pairs, int32 [pairs, 2]; and as where those of each node begin, int32 [n + pairs].
  Tensor neighbour_pairs(std::span<const int32_t> nodes, int32_t type) const;
  Tensor neighbour_offsets(std::span<const int32_t> nodes, int32_t type) const;
  // counts[h] neighbours of types[h], drawn with replacement for each node of hop h - 1; int32 [n,
  // 1 + counts[0] + counts[0] counts[1] + …]; -1 for neighbours of nodes that have none.
  // `weighted`: by the weights of edges (ValueError without).
  Tensor sample(std::span<const int32_t> nodes, std::span<const int64_t> counts,
                std::span<const int32_t> types, bool weighted, Philox& draw) const;
  // A node and `count` nodes of a type that are neither it nor neighbours of it, drawn with
  // replacement; int32 [n, 1 + count]; -1 where all are neighbours.
  Tensor strangers(std::span<const int32_t> nodes, int64_t count, int32_t type, Philox& draw) const;
  // Walks from nodes, step by step to a neighbour of the types given; int32 [n, 1 + steps], filled
  // with `end` where there is none.
  Tensor random_walk(std::span<const int32_t> nodes, std::span<const int32_t> types, WalkBias bias,
                     int32_t end, Philox& draw) const;

 private:
  void check(std::span<const int32_t> nodes) const;
  // Neighbours of a type in order of edges, and the edges that lead to them.
  std::span<const int32_t> found(int32_t node, int32_t type) const;
  std::span<const int32_t> leading(int32_t node, int32_t type) const;
  int32_t step(int32_t before, int32_t node, int32_t type, WalkBias bias, Philox& draw) const;
  bool leads(int32_t from, int32_t to) const;

  int64_t types_ = 0;
  std::vector<int32_t> from_, to_, node_types_, edge_types_;
  std::vector<double> weights_;
  // Of node and type: where its neighbours begin in neighbours_ and by_edge_.
  std::vector<int64_t> begins_;
  std::vector<int32_t> neighbours_, by_edge_;
};

}  // namespace mycel::data
