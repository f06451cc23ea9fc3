"""Compares random calls of ops with the published framework.

    python tests/fuzz/compare_ops.py --peer PYTHON [--count N] [--seed S] [op ...]

PYTHON has the peer (`mindspore`) installed. Calls come from mycel_op_calls; each is made through
the published function or class on both sides, with the same arguments. They agree when both give
the same dtypes, shapes and values (within the tolerance of the dtype), or both refuse. Differences
that known_differences.txt explains are counted apart. Exits with 1 if others are left."""

import argparse
import collections
import json
import os
import re
import select
import subprocess
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = 20  # for one call of the peer
# Of the largest expected magnitude; both sides round in their own order, and the peer computes many
# ops of float64 in float32.
TOLERANCE = {
    "float16": 4e-3, "float32": 2e-4, "float64": 1e-6, "complex64": 2e-4, "complex128": 1e-6,
}  # fmt: skip


class Worker:
    """One side in its own process; started again when it dies or hangs."""

    def __init__(self, python, name):
        self.command = [python, os.path.join(HERE, "peer_worker.py"), name]
        self.process = None

    def run(self, call):
        """The answer, or {"error": "crash"}."""
        if self.process is None:
            env = {**os.environ, "GLOG_v": "4", "OMP_NUM_THREADS": "1"}
            if self.command[0] != sys.executable:
                env.pop("PYTHONPATH", None)
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env
            )
            first = 120
        else:
            first = 0
        try:
            self.process.stdin.write(json.dumps(call) + "\n")
            self.process.stdin.flush()
            if select.select([self.process.stdout], [], [], SECONDS + first)[0]:
                line = self.process.stdout.readline()
                if line:
                    return json.loads(line)
        except BrokenPipeError:
            pass
        self.process.kill()
        self.process.wait()
        self.process = None
        return {"error": "crash", "text": "it died or hung"}


def published(mycel):
    """op -> (name, whether a class, constructor's names) as published."""
    out = {}
    for name, primitive, _, _, internal in mycel.records():
        if not internal:
            out[name] = (name, False, ())
            continue
        first = primitive.split(";")[0].strip()
        m = re.fullmatch(r"(\w+)\(([\w, ]*)\)", first)
        if m:
            out[name] = (m[1], True, tuple(m[2].replace(",", " ").split()))
    return out


def call_of(line, forms):
    """A line of mycel_op_calls as a call, or None when its op has no published form."""
    if line["op"] not in forms:
        return None
    name, is_class, made = forms[line["op"]]
    attrs = dict(line["attrs"])
    built = {k: attrs.pop(k) for k in made if k in attrs}
    operands = line["operands"]
    while operands and operands[-1] is None and not attrs:
        operands = operands[:-1]
    if is_class:
        return {
            "name": name,
            "class": True,
            "made": built,
            "args": operands + list(attrs.values()),
            "kwargs": {},
        }
    named = {n: v for n, v in zip(line["names"], operands) if v is not None}
    if len(set(line["names"])) < len(operands):  # a variadic operand is one tuple
        return {"name": name, "class": False, "made": {}, "args": [operands], "kwargs": attrs}
    return {"name": name, "class": False, "made": {}, "args": [], "kwargs": {**named, **attrs}}


def array(r):
    """The NumPy array of a result."""
    return np.frombuffer(bytes.fromhex(r["data"]), r["dtype"]).reshape(r["shape"])


def difference(ours, theirs):
    """What differs between two answers, in a few words; "" when nothing does."""
    if ours.get("error") == "crash":
        return "we crash"
    if "error" in theirs or "error" in ours:
        if "error" in theirs and "error" in ours:
            return ""
        if "error" in theirs:
            if theirs["error"] == "crash":
                return "peer crashes"
            dtype = theirs["error"] == "TypeError" or re.search(
                r"type|Unsupported op", theirs["text"]
            )
            return "peer refuses the dtype" if dtype else "peer refuses"
        return "we refuse"
    a, b = ours["results"], theirs["results"]
    if len(a) != len(b):
        return "number of results"
    for x, y in zip(a, b):
        if x["dtype"] != y["dtype"]:
            return f"dtype {x['dtype']} for {y['dtype']}"
        if x["shape"] != y["shape"]:
            return "shape"
    for x, y in zip(a, b):
        if x["dtype"] == "bfloat16":
            continue
        u, v = array(x), array(y)
        if x["dtype"] in TOLERANCE:
            finite = np.isfinite(v)
            scale = np.abs(v[finite]).max() if finite.any() else 1.0
            with np.errstate(all="ignore"):
                near = np.abs(u - v) <= TOLERANCE[x["dtype"]] * max(float(scale), 1e-3)
            same = np.where(finite, near, (u == v) | (np.isnan(u) & np.isnan(v)))
        else:
            same = u == v
        if not np.all(same):
            return (
                "not finite" if x["dtype"] in TOLERANCE and not np.isfinite(v).all() else "values"
            )
    return ""


def known():
    """[(pattern of the op, pattern of "kind: difference", reason)]."""
    out = []
    with open(os.path.join(HERE, "known_differences.txt")) as f:
        for text in f:
            text = text.split("#")[0].strip()
            if text:
                op, what, reason = (p.strip() for p in text.split(" | ", 2))
                out.append((re.compile(op), re.compile(what), reason))
    return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--peer", required=True)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--calls", default=os.path.join(HERE, "../../build/bin/mycel_op_calls"))
    parser.add_argument("--show", type=int, default=1, help="examples of each difference")
    parser.add_argument("op", nargs="*")
    options = parser.parse_args()

    from mycel import _mycel

    here, there = Worker(sys.executable, "mycel"), Worker(options.peer, "mindspore")
    forms, explained = published(_mycel), known()
    command = [options.calls, str(options.count), str(options.seed), *options.op]
    lines = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    counts, found = collections.Counter(), collections.defaultdict(list)
    for text in lines.splitlines():
        line = json.loads(text)
        call = call_of(line, forms)
        if call is None:
            counts["no published form"] += 1
            continue
        ours, theirs = here.run(call), there.run(call)
        if "error" in theirs and "has no attribute" in theirs["text"]:
            counts["not in the peer"] += 1
            continue
        what = difference(ours, theirs)
        if not what:
            counts["both refuse" if "error" in ours else "equal"] += 1
            continue
        label = f"{line['kind']}: {what}"
        if any(o.fullmatch(line["op"]) and w.fullmatch(label) for o, w, _ in explained):
            counts["explained"] += 1
            continue
        counts["unexplained"] += 1
        found[line["op"], label].append((call, ours, theirs))
    for (op, label), cases in sorted(found.items()):
        print(f"{op}: {label} ({len(cases)})")
        for call, ours, theirs in cases[: options.show]:
            print("    call:", brief(call))
            print("    mycel:", brief(ours))
            print("    peer: ", brief(theirs))
    print(", ".join(f"{n} {k}" for k, n in counts.most_common()))
    return 1 if found else 0


def brief(value):
    """JSON with arrays shown as values."""
    if isinstance(value, dict) and "data" in value:
        if value["dtype"] == "bfloat16":
            return f"bfloat16{value['shape']}"
        return f"{value['dtype']}{value['shape']} {array(value).ravel()[:8].tolist()}"
    if isinstance(value, dict):
        return ", ".join(f"{k}={brief(v)}" for k, v in value.items() if v not in ({}, []))
    if isinstance(value, list):
        return "[" + ", ".join(map(brief, value)) + "]"
    return repr(value)


if __name__ == "__main__":
    sys.exit(main())
