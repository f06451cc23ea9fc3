"""Dumps of tensors after the fact, with the names of the published debugger: DumpAnalyzer finds
nodes and tensors in a dump and checks Watchpoints on them. The condition classes are made from the
C++ records (src/insight/debug/conditions.cc)."""

import inspect
import json
import os

from mycel import _mycel
from mycel._mycel import entry

_debug = _mycel.debug
RECORDS = {r["name"]: r for r in json.loads(_debug.conditions())}


class ConditionBase:
    """Base of conditions: a name and parameters."""

    _record = None

    @property
    def name(self):
        """The condition's name, as the page lists it."""
        return self._record["name"]

    @property
    def param_names(self):
        """The names of all parameters."""
        return [p["name"] for p in self._record["parameters"]]

    @property
    def param_dict(self):
        """The parameters that are given."""
        return dict(self._given)

    def __repr__(self):
        given = ", ".join(f"{k}={v}" for k, v in self._given.items())
        return f"{type(self).__name__}({given})"


def _class_of(record, name):
    names = [p["name"] for p in record["parameters"]]

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    signature = inspect.Signature([inspect.Parameter(n, kind, default=None) for n in names])

    def __init__(self, *args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        given = {k: v for k, v in bound.arguments.items() if v is not None}
        for k, v in given.items():
            if isinstance(v, bool) or not isinstance(v, (int, float)):
                kind = type(v).__name__
                raise TypeError(f"{name}: '{k}' must be a number, got {kind}")
        self._given = {k: float(v) for k, v in given.items()}
        _debug.check_watchpoint(
            json.dumps({"condition": record["name"], "parameters": self._given})
        )

    lines = [record["doc"], ""]
    lines += [
        f"{p['name']}: {p['doc']}" + (f" Default: {p['default']:g}." if p["set"] else "")
        for p in record["parameters"]
    ]
    members = {
        "__init__": entry(__init__),
        "__doc__": "\n".join(lines),
        "__signature__": signature,
        "_record": record,
    }
    return type(name, (ConditionBase,), members)


__all__ = ["ConditionBase", "DebuggerTensor", "DumpAnalyzer", "Node", "Watchpoint", "WatchpointHit"]
for _record in RECORDS.values():
    # gradient_vanishing is GradientVanishingCondition; published names where there are any.
    _title = "".join(w.capitalize() for w in _record["name"].split("_"))
    _name = _record["published"] or f"{_title}Condition"
    globals()[_name] = _class_of(_record, _name)
    __all__.append(_name)


class Node:
    """An operation in a dump, or a parameter."""

    def __init__(self, analyzer, entry_of_node, iteration):
        self._analyzer, self._entry, self._iteration = analyzer, entry_of_node, iteration

    @property
    def name(self):
        """Its full name: scope, operation, number."""
        return self._entry["name"]

    @property
    def rank(self):
        """The process it ran in."""
        return 0

    @property
    def stack(self):
        """The user's line, "file:line in function"; "" where it is not known."""
        return self._entry["at"]

    @entry
    def get_input_nodes(self):
        """The nodes whose results it reads."""
        found = self._analyzer._by_name(self._iteration)
        return [
            Node(self._analyzer, found[n], self._iteration)
            for n in self._entry["inputs"]
            if n in found
        ]

    @entry
    def get_output_nodes(self):
        """The nodes that read its result."""
        return [
            Node(self._analyzer, e, self._iteration)
            for e in self._analyzer._entries(self._iteration)
            if self.name in e["inputs"]
        ]

    @entry
    def get_output_tensors(self, slots=None, iterations=None, ranks=None):
        """Its results in the iterations (all by default)."""
        tensors = self._analyzer.select_tensors(self.name, use_regex=False, iterations=iterations)
        return [t for t in tensors if slots is None or t.slot in slots]

    def __repr__(self):
        return f"Node({self.name!r})"


class DebuggerTensor:
    """A tensor of one iteration of a dump."""

    def __init__(self, analyzer, entry_of_node, iteration):
        self._analyzer, self._entry, self._iteration = analyzer, entry_of_node, iteration

    @property
    def node(self):
        """The node that computes it."""
        return Node(self._analyzer, self._entry, self._iteration)

    @property
    def slot(self):
        """Which of the node's results it is."""
        last = self._entry["name"].rsplit(":", 1)
        return int(last[1]) if len(last) == 2 and last[1].isdigit() else 0

    @property
    def iteration(self):
        """The step."""
        return self._iteration

    @property
    def rank(self):
        """The process it was computed in."""
        return 0

    @entry
    def value(self):
        """The numbers as a NumPy array; None where they were not dumped."""
        found = self._analyzer._dump.value(self._iteration, self._entry["name"])
        return None if found is None else found.asnumpy()

    def __repr__(self):
        shape = tuple(self._entry["shape"])
        return (
            f"DebuggerTensor({self._entry['name']!r}, iteration={self._iteration}, "
            f"{self._entry['dtype']}{shape})"
        )


class Watchpoint:
    """A condition on tensors: those that DumpAnalyzer.select_tensors gives, or patterns of names
    (None: all)."""

    @entry
    def __init__(self, tensors, condition):
        if not isinstance(condition, ConditionBase):
            kind = type(condition).__name__
            raise TypeError(f"Watchpoint: 'condition' must be a condition, got {kind}")
        if isinstance(tensors, (str, DebuggerTensor)):
            tensors = [tensors]
        self._tensors = None if tensors is None else list(tensors)
        for t in self._tensors or []:
            if not isinstance(t, (str, DebuggerTensor)):
                kind = type(t).__name__
                raise TypeError(f"Watchpoint: tensors are DebuggerTensors or names, got {kind}")
        self._condition = condition

    @property
    def tensors(self):
        """What it looks at."""
        return self._tensors

    @property
    def condition(self):
        """What it looks for."""
        return self._condition

    def _plain(self):
        names = [t if isinstance(t, str) else t._entry["name"] for t in self._tensors or []]
        return {
            "condition": self._condition.name,
            "parameters": self._condition.param_dict,
            "scopes": list(dict.fromkeys(names)),
        }


class WatchpointHit:
    """Where a watchpoint's condition holds."""

    def __init__(self, tensor, watchpoint, hit):
        self._tensor, self._watchpoint, self._hit = tensor, watchpoint, hit

    @property
    def tensor(self):
        """The tensor."""
        return self._tensor

    @entry
    def get_hit_detail(self):
        """The condition with the values that were measured, as a dict from parameter to
        (threshold, measured)."""
        return {f["parameter"]: (f["threshold"], f["measured"]) for f in self._hit["findings"]}

    @entry
    def get_threshold(self):
        """The condition as it was given."""
        return self._watchpoint.condition

    def __repr__(self):
        return f"WatchpointHit({self._hit['condition']}, {self._tensor!r})"


class DumpAnalyzer:
    """The tensors of a dump: dump_dir is a run's folder, its debug/dump, or the folder of a dump
    configuration. mem_limit is accepted for programs that give it; one tensor is read at a time."""

    @entry
    def __init__(self, dump_dir, mem_limit=None):
        if mem_limit is not None and (isinstance(mem_limit, bool) or not mem_limit > 0):
            raise ValueError(f"DumpAnalyzer: 'mem_limit' must be above 0, got {mem_limit!r}")
        path = os.fspath(dump_dir)
        below = [p for p in ("debug/dump", "dump", ".") if os.path.isdir(os.path.join(path, p))]
        if not below:
            raise OSError(f"DumpAnalyzer: '{path}' is no folder")
        self._dump = _debug.Dump(path, below[0])
        self._known = {}

    @entry
    def get_iterations(self, ranks=None):
        """The steps that are there."""
        return json.loads(self._dump.answer('{"ask": "steps"}'))["steps"]

    @entry
    def get_ranks(self):
        """The processes that are there."""
        return [0]

    @entry
    def summary(self):
        """What the dump holds, as a text."""
        steps = self.get_iterations()
        lines = [f"iterations: {steps}"]
        if steps:
            entries = self._entries(steps[-1])
            roles = {}
            for e in entries:
                roles[e["role"]] = roles.get(e["role"], 0) + 1
            lines.append(f"tensors of iteration {steps[-1]}: {roles}")
        lines += [f"left out: {p}" for p in self._dump.problems()]
        return "\n".join(lines)

    @entry
    def select_nodes(self, query_string, use_regex=False, select_by="node_name", ranks=None,
                     case_sensitive=True):  # fmt: skip
        """The nodes whose name, or line of the user's program (select_by="code_stack"), holds the
        text or pattern."""
        steps = self.get_iterations()
        found = {}
        for step in steps:
            for e in self._matching(step, query_string, use_regex, select_by, case_sensitive):
                found.setdefault(e["name"], Node(self, e, step))
        return list(found.values())

    @entry
    def select_tensors(self, query_string, use_regex=False, select_by="node_name", iterations=None,
                       ranks=None, slots=None, case_sensitive=True):  # fmt: skip
        """The tensors of these nodes in the iterations (all by default)."""
        wanted = self.get_iterations() if iterations is None else list(iterations)
        tensors = [
            DebuggerTensor(self, e, step)
            for step in wanted
            for e in self._matching(step, query_string, use_regex, select_by, case_sensitive)
        ]
        return [t for t in tensors if slots is None or t.slot in slots]

    @entry
    def check_watchpoints(self, watchpoints, error_on_no_value=False):
        """The hits of watchpoints on all iterations, in order."""
        watchpoints = list(watchpoints)
        plain = []
        for i, w in enumerate(watchpoints):
            if not isinstance(w, Watchpoint):
                kind = type(w).__name__
                raise TypeError(f"check_watchpoints: a Watchpoint was expected, got {kind}")
            plain.append({**w._plain(), "id": i + 1})
            if error_on_no_value:
                for t in w.tensors or []:
                    if isinstance(t, DebuggerTensor) and t.value() is None:
                        raise ValueError(f"{t!r} has no value in the dump")
        question = json.dumps({"ask": "check", "watchpoints": plain})
        hits = []
        for h in json.loads(self._dump.answer(question))["hits"]:
            w = watchpoints[h["watchpoint"] - 1]
            at = self._by_name(h["step"])[h["name"]]
            hits.append(WatchpointHit(DebuggerTensor(self, at, h["step"]), w, h))
        return hits

    @entry
    def list_affected_nodes(self, tensor):
        """All nodes that what this tensor holds goes into, directly or through others."""
        affected, names = [], {tensor._entry["name"]}
        for e in self._entries(tensor.iteration):
            if names.intersection(e["inputs"]) and e["name"] not in names:
                names.add(e["name"])
                affected.append(Node(self, e, tensor.iteration))
        return affected

    @entry
    def export_graphs(self, output_dir=None):
        """NotImplementedError: graphs are recorded by SummaryCollector and shown on page Graph."""
        raise NotImplementedError(
            "export_graphs: a dump holds tensors; SummaryCollector records the graph"
        )

    # -- inside ----------------------------------------

    def _entries(self, step):
        if step not in self._known:
            self._known[step] = json.loads(self._dump.entries(step))
        return self._known[step]

    def _by_name(self, step):
        return {e["name"]: e for e in self._entries(step)}

    def _matching(self, step, query, use_regex, select_by, case_sensitive):
        import re

        if select_by not in ("node_name", "code_stack"):
            raise ValueError(f"'select_by' must be node_name or code_stack, got {select_by!r}")
        key = "name" if select_by == "node_name" else "at"
        pattern = re.compile(
            query if use_regex else re.escape(query), 0 if case_sensitive else re.IGNORECASE
        )
        return [e for e in self._entries(step) if pattern.search(e[key])]
