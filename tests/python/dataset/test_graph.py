"""Graphs: what the published framework gives for the same graph, and counts of what is drawn."""

import collections

import mycel
import mycel.dataset as ds
import numpy as np
import pytest
from mycel.dataset.engine import OutputFormat, SamplingStrategy

EDGES = np.array([[0, 0, 2, 1, 3, 4, 2, 5], [1, 2, 0, 3, 4, 1, 3, 0]], np.int32)


@pytest.fixture
def graph():
    return ds.Graph(
        EDGES,
        {"f": np.arange(12, dtype=np.float32).reshape(6, 2), "k": np.arange(6).reshape(6, 1)},
        {"e": np.arange(16).reshape(8, 2), "weight": np.arange(8.0).reshape(8, 1)},
        {"g": np.array([1, 2, 3])},
        node_type=["a", "b", "a", "b", "a", "b"],
        edge_type=["x", "x", "y", "y", "x", "x", "y", "y"],
    )


def same(got, want, dtype=np.int32):
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, want)
    assert got.shape == np.shape(want)


def test_nodes_edges_and_neighbours(graph):
    # As the published framework gives them, but for the edges of a type, which it cannot name.
    same(graph.get_all_nodes("a"), [0, 2, 4])
    same(graph.get_all_nodes("b"), [1, 3, 5])
    same(graph.get_all_edges("x"), [0, 1, 4, 5])
    same(graph.get_nodes_from_edges([0, 3, 7]), [[0, 1], [1, 3], [5, 0]])
    same(graph.get_edges_from_nodes([(0, 1), (2, 3)]), [0, 6])
    same(graph.get_edges_from_nodes([(1, 0)]), -1)
    nodes = [0, 1, 2, 5]
    same(graph.get_all_neighbors(nodes, "a"), [[0, 2], [1, -1], [2, 0], [5, 0]])
    same(graph.get_all_neighbors(nodes, "b"), [[0, 1], [1, 3], [2, 3], [5, -1]])
    same(graph.get_all_neighbors([3], "b"), 3)
    coo = graph.get_all_neighbors(np.array(nodes), "a", OutputFormat.COO)
    same(coo, [[0, 2], [2, 0], [5, 0]])
    offsets, table = graph.get_all_neighbors(nodes, "b", OutputFormat.CSR)
    same(offsets, [0, 1, 2, 3])
    same(table, [1, 3, 3])


def test_features(graph):
    f, k = graph.get_node_feature([0, 5], ["f", "k"])
    same(f, [[0, 1], [10, 11]], np.float32)
    same(k, [0, 5], np.int64)
    same(graph.get_node_feature([[0, 1], [2, 3]], ["f"])[0],
         np.arange(8.0).reshape(2, 2, 2), np.float32)  # fmt: skip
    same(graph.get_node_feature([0, -1], ["f"])[0], [[0, 1], [0, 0]], np.float32)
    same(graph.get_edge_feature([7, 0], ["e"])[0], [[14, 15], [0, 1]], np.int64)
    same(graph.get_graph_feature(["g"])[0], [1, 2, 3], np.int64)
    assert graph.graph_info() == {
        "node_type": ["a", "b"], "edge_type": ["x", "y"], "node_feature_type": ["f", "k"],
        "edge_feature_type": ["e", "weight"], "graph_feature_type": ["g"],
        "node_num": {"a": 3, "b": 3}, "edge_num": {"x": 4, "y": 4},
    }  # fmt: skip


def test_sampled_neighbours(graph):
    mycel.set_seed(4)
    got = graph.get_sampled_neighbors([0, 2], [2, 2], ["b", "a"])
    same(got, [[0, 1, 1, -1, -1, -1, -1], [2, 3, 3, 4, 4, 4, 4]])
    same(graph.get_sampled_neighbors([3], [2, 1], ["b", "a"]), [3, -1, -1, -1, -1])
    star = ds.Graph([[0] * 4, [1, 2, 3, 4]], edge_feat={"weight": np.array([[1.0], [0], [2], [5]])})
    drawn = collections.Counter()
    weighted = collections.Counter()
    for _ in range(50):
        drawn.update(star.get_sampled_neighbors([0], [100], ["0"])[1:].tolist())
        by_weight = star.get_sampled_neighbors([0], [100], ["0"], SamplingStrategy.EDGE_WEIGHT)
        weighted.update(by_weight[1:].tolist())
    assert all(abs(drawn[v] / 5000 - 0.25) < 0.03 for v in (1, 2, 3, 4))
    for v, share in {1: 1 / 8, 2: 0, 3: 2 / 8, 4: 5 / 8}.items():
        assert abs(weighted[v] / 5000 - share) < 0.03
    assert weighted[2] == 0
    with pytest.raises(ValueError, match="needs the feature 'weight' of edges"):
        ds.Graph([[0], [1]]).get_sampled_neighbors([0], [1], ["0"], SamplingStrategy.EDGE_WEIGHT)


def test_the_seed_decides():
    edges = np.random.default_rng(0).integers(0, 50, (2, 600))

    def drawn():
        g = ds.Graph(edges)
        return [
            g.get_sampled_neighbors(list(range(50)), [3, 2], ["0", "0"]),
            g.get_neg_sampled_neighbors(list(range(50)), 4, "0"),
            g.random_walk(list(range(50)), ["0"] * 6, 0.5, 2.0),
            g.random_walk(list(range(50)), ["0"] * 6, 0.5, 2.0),
        ]

    mycel.set_seed(1)
    first, again = drawn(), drawn()
    mycel.set_seed(2)
    other = drawn()
    for a, b, c in zip(first, again, other):
        np.testing.assert_array_equal(a, b)
        assert (a != c).any()
    assert (first[2] != first[3]).any()


def test_strangers_are_no_neighbours(graph):
    got = graph.get_neg_sampled_neighbors([0, 1], 30, "b")
    assert set(got[0, 1:]) == {3, 5} and set(got[1, 1:]) == {5}  # 1 itself and 3 are left out
    assert graph.get_neg_sampled_neighbors([0], 5, "a").tolist() == [0, 4, 4, 4, 4, 4]
    full = ds.Graph([[0, 1], [1, 0]])
    assert full.get_neg_sampled_neighbors([0, 1], 2, "0").tolist() == [[0, -1, -1], [1, -1, -1]]
    # All of many are drawn alike.
    wide = ds.Graph([[0, 0, 0, 0], [3, 5, 9, 19]])
    counts = collections.Counter(wide.get_neg_sampled_neighbors([0], 16000, "0")[1:].tolist())
    assert set(counts) == set(range(1, 20)) - {3, 5, 9, 19}
    assert all(abs(n / 16000 * 15 - 1) < 0.15 for n in counts.values())


def test_walks(graph):
    walk = graph.random_walk([0, 5], ["b", "b", "a"])
    assert walk.tolist() == [[0, 1, 3, 4], [5, -1, -1, -1]]
    assert graph.random_walk([0], ["b", "a"], default_node=7).tolist() == [0, 1, 7]
    # From 1, reached from 0: back to 0 with 1/home, to 2 (a neighbour of 0) with 1, to 3 with
    # 1/away.
    g = ds.Graph([[0, 0, 1, 1, 1], [1, 2, 0, 2, 3]], node_type=["e", "m", "e", "e"])
    ends = collections.Counter()
    for _ in range(30):
        walks = g.random_walk([0] * 200, ["m", "e"], 0.5, 4.0)
        assert (walks[:, 1] == 1).all()
        ends.update(walks[:, 2].tolist())
    for v, share in {0: 2 / 3.25, 2: 1 / 3.25, 3: 0.25 / 3.25}.items():
        assert abs(ends[v] / 6000 - share) < 0.025


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda g: g.get_all_nodes("z"), ValueError, "there is no type 'z' of nodes"),
        (lambda g: g.get_all_neighbors([99], "a"), ValueError, "no node 99; nodes are 0 to 5"),
        (lambda g: g.get_nodes_from_edges([8]), ValueError, "no edge 8; edges are 0 to 7"),
        (lambda g: g.get_all_neighbors("ab", "a"), TypeError, "'node_list' must be a list"),
        (lambda g: g.get_sampled_neighbors([0], [1, 1], ["a"]), ValueError, "one each a hop"),
        (lambda g: g.get_sampled_neighbors([0], [1] * 7, ["a"] * 7), ValueError, "1 to 6 hops"),
        (lambda g: g.get_node_feature([0], ["z"]), ValueError, "there is no feature 'z'"),
        (lambda g: g.random_walk([0], ["a"], 0.0), ValueError, "must be positive"),
        (lambda g: ds.Graph([[0, 1]]), ValueError, r"must have the shape \(2, n\)"),
        (lambda g: ds.Graph([[0], [-1]]), ValueError, "there is no node -1"),
        (lambda g: ds.Graph([[0], [1]], {"f": np.ones((3, 1))}), ValueError, r"shape \(2, n\)"),
        (lambda g: ds.Graph([[0], [1]], node_type=["a"]), ValueError, "types of 2, got 1"),
        (
            lambda g: ds.Graph([[0], [1]], working_mode="server"),
            NotImplementedError,
            "working_mode",
        ),
        (lambda g: ds.GraphData("x"), NotImplementedError, "graphs in MindRecord files"),
    ],
)
def test_what_is_refused(graph, call, error, text):
    with pytest.raises(error, match=text):
        call(graph)


class Rings(ds.InMemoryGraphDataset):
    made = 0

    def process(self):
        Rings.made += 1
        for n in (3, 4, 5):
            ids = np.arange(n)
            features = {"f": ids.reshape(n, 1) * 1.5}
            ring = np.stack([ids, (ids + 1) % n])
            self.graphs.append(
                ds.Graph(ring, features, graph_feat={"n": np.array(n)}, node_type=["t"] * n)
            )

    def __getitem__(self, i):
        graph = self.graphs[i]
        nodes = graph.get_all_nodes("t")
        return nodes, graph.get_node_feature(nodes, ["f"])[0]

    def __len__(self):
        return len(self.graphs)


def test_datasets_of_graphs(tmp_path):
    Rings.made = 0
    for _ in range(2):  # made, then read again
        data = Rings(str(tmp_path), column_names=["nodes", "f"])
        rows = list(data.create_dict_iterator(num_epochs=1, output_numpy=True))
        assert [r["nodes"].tolist() for r in rows] == [[0, 1, 2], [0, 1, 2, 3], [0, 1, 2, 3, 4]]
        assert rows[1]["f"].tolist() == [0, 1.5, 3, 4.5]
        assert int(data.graphs[2].get_graph_feature(["n"])[0]) == 5
        assert data.graphs[0].get_all_neighbors([2], "t").tolist() == [2, 0]
    assert Rings.made == 1 and len(list((tmp_path / "processed").iterdir())) == 3
    assert len(list(Rings(str(tmp_path), column_names=["nodes", "f"], num_samples=2))) == 2
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        Rings(str(tmp_path / "none"))
    with pytest.raises(NotImplementedError, match="must define process"):
        ds.InMemoryGraphDataset(str(tmp_path), "other")
