// Graphs for mycel/dataset/graph.py.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind/data.h"
#include "data/graph.h"

namespace mycel::bind {

namespace {

using Ids = std::vector<int32_t>;

// A generator for one call: of a seed, and of how many calls were before.
Philox drawing(uint64_t seed, uint64_t call) { return Philox(seed, call); }

}  // namespace

void bind_data_graph(nb::module_& m) {
  using data::Graph;
  nb::class_<Graph>(m, "Graph", "A graph in memory.")
      .def("__init__",
           [](Graph* self, nb::handle edges, Ids node_types, Ids edge_types,
              std::vector<double> weights) {
             new (self) Graph(to_value(edges, "Graph: 'edges'").tensor(), std::move(node_types),
                              std::move(edge_types), std::move(weights));
           })
      .def("nodes", &Graph::nodes)
      .def("edges", &Graph::edges)
      .def("nodes_of", [](const Graph& g, int32_t t) { return from_value(g.nodes_of(t)); })
      .def("edges_of", [](const Graph& g, int32_t t) { return from_value(g.edges_of(t)); })
      .def("ends", [](const Graph& g, const Ids& e) { return from_value(g.ends(e)); })
      .def("edges_between",
           [](const Graph& g, const Ids& p) { return from_value(g.edges_between(p)); })
      .def("neighbours",
           [](const Graph& g, const Ids& n, int32_t t) { return from_value(g.neighbours(n, t)); })
      .def("neighbour_pairs", [](const Graph& g, const Ids& n,
                                 int32_t t) { return from_value(g.neighbour_pairs(n, t)); })
      .def("neighbour_offsets", [](const Graph& g, const Ids& n,
                                   int32_t t) { return from_value(g.neighbour_offsets(n, t)); })
      .def("sample",
           [](const Graph& g, const Ids& n, const std::vector<int64_t>& counts, const Ids& types,
              bool weighted, uint64_t seed, uint64_t call) {
             Philox draw = drawing(seed, call);
             return from_value(g.sample(n, counts, types, weighted, draw));
           })
      .def("strangers",
           [](const Graph& g, const Ids& n, int64_t count, int32_t type, uint64_t seed,
              uint64_t call) {
             Philox draw = drawing(seed, call);
             return from_value(g.strangers(n, count, type, draw));
           })
      .def("random_walk", [](const Graph& g, const Ids& n, const Ids& types, double home,
                             double away, int32_t end, uint64_t seed, uint64_t call) {
        Philox draw = drawing(seed, call);
        return from_value(g.random_walk(n, types, {home, away}, end, draw));
      });
}

}  // namespace mycel::bind
