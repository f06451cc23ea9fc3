"""Graphs in memory: features of nodes and edges, neighbours, samples, walks."""

import enum
import os

import numpy as np

from mycel import _mycel
from mycel._mycel import entry
from mycel.dataset import _arguments as arguments
from mycel.dataset import config
from mycel.dataset.generator import GeneratorDataset

_LOCAL = {"working_mode": "local", "hostname": "127.0.0.1", "port": 50051, "num_client": 1}


class SamplingStrategy(enum.IntEnum):
    """How get_sampled_neighbors draws: all alike, or by the feature "weight" of edges."""

    RANDOM = 0
    EDGE_WEIGHT = 1


class OutputFormat(enum.IntEnum):
    """What get_all_neighbors gives: a row for each node, pairs, or offsets and neighbours."""

    NORMAL = 0
    COO = 1
    CSR = 2


def _features(given, what, count):
    """{name: array} with a row for each of `count` things (None: of any shape)."""
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise TypeError(f"Graph: '{what}' must be a dict, got {type(given).__name__}")
    for name, array in given.items():
        if not isinstance(name, str) or not isinstance(array, np.ndarray):
            raise TypeError(f"Graph: '{what}' must map names to NumPy arrays, got {name!r}")
        if count is not None and (array.ndim != 2 or len(array) != count):
            raise ValueError(
                f"Graph: '{name}' of '{what}' must have the shape ({count}, n), got {array.shape}"
            )
    return dict(given)


def _types(given, what, count):
    """(a number for each, {name: number})."""
    names = ["0"] * count if given is None else np.asarray(given).tolist()
    if len(names) != count or not all(isinstance(n, str) for n in names):
        raise ValueError(f"Graph: '{what}' must name the types of {count}, got {len(names)}")
    known = {}
    return [known.setdefault(n, len(known)) for n in names], known


def _ids(given, what):
    """Ids as a list of ints."""
    if not isinstance(given, (list, tuple, np.ndarray)):
        raise TypeError(f"Graph: '{what}' must be a list or an array, got {type(given).__name__}")
    array = np.asarray(given)
    if array.size == 0 or array.dtype.kind not in "iu":
        raise TypeError(f"Graph: '{what}' must be of ints, got {given!r}")
    if array.min() < -(2**31) or array.max() >= 2**31:
        raise ValueError(f"Graph: '{what}' must be of 32 bits")
    return array.ravel().tolist()


class Graph:
    """A directed graph with features, for sampling.

    edges: (2, n), from and to, nodes counted from 0. node_feat, edge_feat: {name: array} with a row
    for each node or edge; graph_feat: {name: array}. node_type, edge_type: a str for each ("0"
    without). num_parallel_workers: calls run on the thread that makes them. working_mode: "local";
    there are no servers for graphs. Arrays come without dims of 1, as published. What is drawn
    follows mycel.set_seed and the number of the call."""

    @entry
    def __init__(
        self,
        edges,
        node_feat=None,
        edge_feat=None,
        graph_feat=None,
        node_type=None,
        edge_type=None,
        num_parallel_workers=None,
        working_mode="local",
        hostname="127.0.0.1",
        port=50051,
        num_client=1,
        auto_shutdown=True,
    ):
        given = {"working_mode": working_mode, "hostname": hostname, "port": port}
        given |= {"num_client": num_client}
        arguments.refuse("Graph", **{n: (v, (_LOCAL[n],)) for n, v in given.items()})
        arguments.refuse("Graph", auto_shutdown=(auto_shutdown, (True, False)))
        arguments.workers(num_parallel_workers)
        if not isinstance(edges, (list, np.ndarray)):
            raise TypeError(f"Graph: 'edges' must be a list or an array, got {type(edges)}")
        edges = np.array(edges, np.int32)
        if edges.ndim != 2 or edges.shape[0] != 2 or edges.size == 0:
            raise ValueError(f"Graph: 'edges' must have the shape (2, n), got {edges.shape}")
        nodes, count = int(edges.max()) + 1, edges.shape[1]
        node_numbers, self._node_types = _types(node_type, "node_type", nodes)
        edge_numbers, self._edge_types = _types(edge_type, "edge_type", count)
        self._node_feat = _features(node_feat, "node_feat", nodes)
        self._edge_feat = _features(edge_feat, "edge_feat", count)
        self._graph_feat = _features(graph_feat, "graph_feat", None)
        weights = self._edge_feat.get("weight")
        weights = [] if weights is None or weights.shape[1] != 1 else weights.ravel().tolist()
        weights = [float(w) for w in weights]
        self._graph = _mycel.data.Graph(edges, node_numbers, edge_numbers, weights)
        self._parts = (edges, node_type, edge_type)
        self._calls = 0

    def _drawn(self):
        self._calls += 1
        return config.current_seed(), self._calls

    @staticmethod
    def _number(name, known, what):
        if not isinstance(name, str):
            raise TypeError(f"Graph: a type of {what} must be a str, got {name!r}")
        if name not in known:
            raise ValueError(f"Graph: there is no type {name!r} of {what}, only {list(known)}")
        return known[name]

    @entry
    def get_all_nodes(self, node_type):
        """The nodes of a type."""
        return self._graph.nodes_of(self._number(node_type, self._node_types, "nodes"))

    @entry
    def get_all_edges(self, edge_type):
        """The edges of a type."""
        return self._graph.edges_of(self._number(edge_type, self._edge_types, "edges"))

    @entry
    def get_nodes_from_edges(self, edge_list):
        """From and to of edges."""
        return self._graph.ends(_ids(edge_list, "edge_list"))

    @entry
    def get_edges_from_nodes(self, node_list):
        """The edges between pairs [(from, to), …]; -1 where there is none."""
        pairs = [_ids(list(p), "node_list") for p in node_list]
        if not pairs or any(len(p) != 2 for p in pairs):
            raise ValueError(f"Graph: 'node_list' must hold pairs of nodes, got {node_list!r}")
        return np.squeeze(self._graph.edges_between([n for p in pairs for n in p]))

    @entry
    def get_all_neighbors(self, node_list, neighbor_type, output_format=OutputFormat.NORMAL):
        """The neighbours of a type: rows with the node first, filled with -1; pairs; or where those
        of each node begin and all of them."""
        nodes = _ids(node_list, "node_list")
        number = self._number(neighbor_type, self._node_types, "nodes")
        match output_format:
            case OutputFormat.NORMAL:
                return np.squeeze(self._graph.neighbours(nodes, number))
            case OutputFormat.COO:
                return np.squeeze(self._graph.neighbour_pairs(nodes, number))
            case OutputFormat.CSR:
                both = self._graph.neighbour_offsets(nodes, number)
                return both[: len(nodes)], both[len(nodes) :]
        raise TypeError(f"Graph: 'output_format' must be an OutputFormat, got {output_format!r}")

    @entry
    def get_sampled_neighbors(
        self, node_list, neighbor_nums, neighbor_types, strategy=SamplingStrategy.RANDOM
    ):
        """neighbor_nums[h] neighbours of neighbor_types[h] of each node of hop h - 1, drawn with
        replacement: rows of the node, the first hop, the second, …; -1 where there is none."""
        if not isinstance(strategy, SamplingStrategy):
            raise TypeError(f"Graph: 'strategy' must be a SamplingStrategy, got {strategy!r}")
        counts = _ids(neighbor_nums, "neighbor_nums")
        types = [self._number(str(t), self._node_types, "nodes") for t in neighbor_types]
        if not 1 <= len(counts) <= 6:
            raise ValueError(f"Graph: there must be 1 to 6 hops, got {len(counts)}")
        weighted = strategy == SamplingStrategy.EDGE_WEIGHT
        return np.squeeze(
            self._graph.sample(
                _ids(node_list, "node_list"), counts, types, weighted, *self._drawn()
            )
        )

    @entry
    def get_neg_sampled_neighbors(self, node_list, neg_neighbor_num, neg_neighbor_type):
        """neg_neighbor_num nodes of a type that are no neighbours, drawn with replacement, behind
        each node; -1 where all are neighbours."""
        count = arguments.count(neg_neighbor_num, "Graph: 'neg_neighbor_num'")
        number = self._number(neg_neighbor_type, self._node_types, "nodes")
        nodes = _ids(node_list, "node_list")
        return np.squeeze(self._graph.strangers(nodes, count, number, *self._drawn()))

    @entry
    def random_walk(
        self, target_nodes, meta_path, step_home_param=1.0, step_away_param=1.0, default_node=-1
    ):
        """Walks from nodes to neighbours of the types of meta_path, one after the other, drawn as
        node2vec does; default_node where there is none."""
        types = [self._number(str(t), self._node_types, "nodes") for t in meta_path]
        home, away = float(step_home_param), float(step_away_param)
        end = arguments.count(default_node, "Graph: 'default_node'", -1)
        nodes = _ids(target_nodes, "target_nodes")
        return np.squeeze(self._graph.random_walk(nodes, types, home, away, end, *self._drawn()))

    @staticmethod
    def _gathered(ids, what, names, known):
        ids = np.asarray(ids)
        _ids(ids, what)
        out = []
        for name in names:
            if name not in known:
                raise ValueError(f"Graph: there is no feature {name!r}, only {list(known)}")
            rows = known[name]
            inside = (ids >= 0) & (ids < len(rows))
            found = rows[np.where(inside, ids, 0)]
            found[~inside] = 0  # of what is not there: an index filled with -1
            out.append(np.squeeze(found))
        return out

    @entry
    def get_node_feature(self, node_list, feature_types):
        """The features named of nodes; zeros for ids that are none, as -1."""
        return self._gathered(node_list, "node_list", feature_types, self._node_feat)

    @entry
    def get_edge_feature(self, edge_list, feature_types):
        """The features named of edges; zeros for ids that are none, as -1."""
        return self._gathered(edge_list, "edge_list", feature_types, self._edge_feat)

    @entry
    def get_graph_feature(self, feature_types):
        """The features named of the graph."""
        for name in feature_types:
            if name not in self._graph_feat:
                raise ValueError(
                    f"Graph: there is no feature {name!r}, only {list(self._graph_feat)}"
                )
        return [self._graph_feat[name] for name in feature_types]

    @entry
    def graph_info(self):
        """Types, features and how many nodes and edges there are of each type."""
        return {
            "node_type": list(self._node_types),
            "edge_type": list(self._edge_types),
            "node_feature_type": list(self._node_feat),
            "edge_feature_type": list(self._edge_feat),
            "graph_feature_type": list(self._graph_feat),
            "node_num": {n: len(self._graph.nodes_of(i)) for n, i in self._node_types.items()},
            "edge_num": {n: len(self._graph.edges_of(i)) for n, i in self._edge_types.items()},
        }

    def _arrays(self):
        """What makes the graph again, as arrays by name."""
        edges, node_type, edge_type = self._parts
        out = {"edges": edges}
        for front, features in (
            ("node_feat", self._node_feat),
            ("edge_feat", self._edge_feat),
            ("graph_feat", self._graph_feat),
        ):
            out |= {f"{front}:{name}": array for name, array in features.items()}
        for name, types in (("node_type", node_type), ("edge_type", edge_type)):
            if types is not None:
                out[name] = np.asarray(types)
        return out

    @classmethod
    def _from_arrays(cls, arrays):
        given = {"node_feat": {}, "edge_feat": {}, "graph_feat": {}}
        for name, array in arrays.items():
            front, colon, feature = name.partition(":")
            if colon:
                given[front][feature] = array
            else:
                given[name] = array
        return cls(**given)


class _Items:
    """The items of a dataset that defines __getitem__ and __len__."""

    def __init__(self, dataset):
        self._dataset = dataset

    def __getitem__(self, i):
        return self._dataset[i]

    def __len__(self):
        return type(self._dataset).__len__(self._dataset)


class InMemoryGraphDataset(GeneratorDataset):
    """Base of datasets of graphs: a subclass defines process(), which fills self.graphs from the
    files in data_dir, and __getitem__ and __len__ for its rows.

    With the first use process() and save() run; later the folder save_dir in data_dir is read by
    load(). column_names: names of what __getitem__ gives. num_samples, shuffle, num_shards,
    shard_id, num_parallel_workers, python_multiprocessing, max_rowsize: as of GeneratorDataset."""

    @entry
    def __init__(
        self,
        data_dir,
        save_dir="./processed",
        column_names="graph",
        num_samples=None,
        num_parallel_workers=1,
        shuffle=None,
        num_shards=None,
        shard_id=None,
        python_multiprocessing=True,
        max_rowsize=6,
    ):
        self.graphs = []
        self.data_dir, self.save_dir = os.fspath(data_dir), os.fspath(save_dir)
        if not os.path.isdir(self.data_dir):
            raise FileNotFoundError(f"{type(self).__name__}: there is no folder '{self.data_dir}'")
        self.processed_path = os.path.join(self.data_dir, self.save_dir)
        os.makedirs(self.processed_path, exist_ok=True)
        self.processed = bool(os.listdir(self.processed_path))
        if self.processed:
            self.load()
        else:
            self.process()
            self.save()
        super().__init__(
            _Items(self),
            column_names,
            num_samples=num_samples,
            num_parallel_workers=num_parallel_workers,
            shuffle=shuffle,
            num_shards=num_shards,
            shard_id=shard_id,
            python_multiprocessing=False,  # the graphs are here
            max_rowsize=max_rowsize,
        )
        arguments.flag(python_multiprocessing, "InMemoryGraphDataset: 'python_multiprocessing'")

    def __getitem__(self, index):
        raise NotImplementedError(f"{type(self).__name__} must define __getitem__")

    def __len__(self):
        raise NotImplementedError(f"{type(self).__name__} must define __len__")

    def process(self):
        """Fills self.graphs from the files in self.data_dir."""
        raise NotImplementedError(f"{type(self).__name__} must define process")

    def save(self):
        """Writes self.graphs, a file each, in the format npz of NumPy."""
        for i, graph in enumerate(self.graphs):
            np.savez(os.path.join(self.processed_path, f"graph_{i:06d}.npz"), **graph._arrays())

    def load(self):
        """Reads what save wrote."""
        self.graphs = []
        for name in sorted(os.listdir(self.processed_path)):
            if name.startswith("graph_") and name.endswith(".npz"):
                with np.load(os.path.join(self.processed_path, name)) as arrays:
                    self.graphs.append(Graph._from_arrays(dict(arrays)))
