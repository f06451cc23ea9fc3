"""All workloads on Mycel and its peers, side by side: a table of ratios to the best peer with the
machine's limits on top.

    ./dev bench peers [workload...] [--rounds N] [--results bench/results.md]
    ./dev bench --explain WORKLOAD

The peers' benchmarks (w1_kernels.py ... w7_control.py, each printing JSON lines) lie in the folder
--peers, or MYCEL_PEER_BENCH, or ../shared/bench beside the checkout.
Every round runs each framework once, one process at a time, in turn, so that a slow minute of the
machine meets all of them; the value of a workload is its median over the rounds. The peers live in
an environment of their own: MYCEL_BENCH_PYTHON. --explain prints where Mycel's time goes, kernel by
kernel, each with its share of the machine's peak.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
BOTH = ("mycel-graph", "torch", "torch-compile", "jax")
INFER = ("mycel-graph", "onnxruntime", "torch", "jax")
# what to run: script, its --only, frameworks (+cl: channels last, +sparse: sparse gradients)
RUNS = {
    "gemm": ("w1_kernels.py", "gemm1024,gemm2048", ("mycel-graph", "torch", "jax")),
    "conv": (
        "w1_kernels.py",
        "conv3x3_b1,conv3x3_b16,conv1x1_b1,conv1x1_b16",
        ("mycel-graph", "torch", "torch+cl", "jax"),
    ),
    "eager": ("w2_eager.py", "add,mlp", ("mycel-pynative", "torch", "numpy", "jax")),
    "lenet5": ("w3_train.py", "lenet5", BOTH),
    "resnet50": ("w3_train.py", "resnet50", (*BOTH, "torch+cl")),
    "bert4": ("w3_train.py", "bert4", BOTH),
    "gpt6": ("w3_train.py", "gpt6", BOTH),
    "widedeep": ("w3_train.py", "widedeep", (*BOTH, "mycel-graph+sparse", "torch+sparse")),
    "infer_resnet50": ("w4_infer.py", "resnet50", INFER),
    "infer_mobilenetv2": ("w4_infer.py", "mobilenetv2", INFER),
    "infer_bert": ("w4_infer.py", "bert", INFER),
    "data": ("w6_data.py", "pipeline", ("mycel-graph", "torch")),
    "loop": ("w7_control.py", "forward,while", ("mycel-graph", "torch", "jax")),
}
LOWER = {"ns/op", "us", "ms", "s"}
# name in the results: the ratio to the best peer that the project wants
GOALS = {
    "add4x4": 2.5,
    "mlp_step": 2.5,
    "lenet5": 3.0,
    "resnet50": 1.3,
    "bert4": 1.2,
    "gpt6": 1.2,
    "widedeep": 2.0,
    "resnet50_infer": 1.05,
    "mobilenetv2_infer": 1.2,
    "bert_infer": 1.25,
    "while_forward": 2.0,
    "while_grad": 2.0,
}


def python_of(framework):
    ours = framework.startswith("mycel")
    return sys.executable if ours else os.environ.get("MYCEL_BENCH_PYTHON", sys.executable)


def run_script(folder, script, framework, only, limit, more=(), env=None):
    """The JSON lines that one process prints; its errors go to stderr."""
    name, *marks = framework.split("+")
    command = [python_of(framework), script, "--framework", name, "--only", only, *more]
    command += [{"cl": "--channels-last", "sparse": "--sparse"}[m] for m in marks]
    try:
        done = subprocess.run(
            command, cwd=folder, stdout=subprocess.PIPE, text=True, timeout=limit, env=env
        )
    except subprocess.TimeoutExpired:
        return [{"workload": only, "metric": "error", "value": None, "error": f"over {limit} s"}]
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def machine_limits(folder):
    """FMA peak in GFLOP/s and memory bandwidth in GB/s, with 2 threads."""
    command = [os.environ.get("MYCEL_BENCH_PYTHON", sys.executable), "w0_machine.py"]
    lines = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True).stdout
    found = {}
    for line in map(json.loads, filter(lambda t: t.startswith("{"), lines.splitlines())):
        if line["threads"] == 2 and line["value"]:
            found[line["workload"]] = line["value"]
    peak = max((v for k, v in found.items() if k.startswith("fma")), default=0.0)
    memory = max((v for k, v in found.items() if k.startswith("mem")), default=0.0)
    return peak, memory


def collect(folder, names, rounds, limit):
    """{workload: {framework: [line, ...]}}"""
    found = {}
    for round_ in range(rounds):
        for name in names:
            script, only, frameworks = RUNS[name]
            for framework in frameworks:
                start = time.time()
                for line in run_script(folder, script, framework, only, limit):
                    if line["metric"] == "error" or line["value"] is None:
                        print(f"  {framework}: {line.get('error')}", file=sys.stderr)
                        continue
                    found.setdefault(line["workload"], {}).setdefault(framework, []).append(line)
                print(
                    f"round {round_ + 1}/{rounds} {name} {framework} {time.time() - start:.0f} s",
                    file=sys.stderr,
                    flush=True,
                )
    return found


def median_of(lines, key):
    values = [line[key] for line in lines if line.get(key) is not None]
    return statistics.median(values) if values else None


def table_of(found):
    """Markdown: a row per workload, Mycel's value and its ratio to the best peer."""
    rows = [
        "| workload | Mycel | best peer | ratio | goal | first call, s | memory, MiB | peers |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for workload, by in found.items():
        metric = next(iter(by.values()))[0]["metric"]
        sign = 1 if metric in LOWER else -1
        value = {f: median_of(lines, "value") for f, lines in by.items()}
        ours = {f: v for f, v in value.items() if f.startswith("mycel")}
        peers = {f: v for f, v in value.items() if not f.startswith("mycel")}
        if not ours:
            rows.append(f"| {workload} | no result | | | | | | |")
            continue
        mine = min(ours, key=lambda f: sign * ours[f])
        best = min(peers, key=lambda f: sign * peers[f]) if peers else None
        ratio = (value[best] / value[mine]) ** sign if best else None
        first = median_of(by[mine], "first_call_s")
        memory = [
            f"{m:.0f}" for f in (mine, "torch") if f in by
            for m in [median_of(by[f], "peak_rss_mib")] if m
        ]  # fmt: skip
        rows.append(
            f"| {workload}, {metric} | {value[mine]:.4g} | "
            + (f"{value[best]:.4g} ({best}) | {ratio:.2f} | " if best else "| | ")
            + f"{GOALS.get(workload, '')} | {'' if first is None else f'{first:.2f}'} | "
            + f"{' / '.join(memory)} | "
            + ", ".join(f"{f} {v:.4g}" for f, v in sorted(peers.items()))
            + " |"
        )
    return "\n".join(rows)


def versions():
    code = (
        "import importlib.metadata as m\n"
        "for n in ('torch', 'jax', 'onnxruntime', 'numpy'):\n"
        "    try: print(n, m.version(n))\n"
        "    except m.PackageNotFoundError: pass"
    )
    python = os.environ.get("MYCEL_BENCH_PYTHON", sys.executable)
    out = subprocess.run([python, "-c", code], stdout=subprocess.PIPE, text=True).stdout
    return ", ".join(out.split("\n")).strip(", ")


def cpu_name():
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def explain(folder, name, limit):
    """One run of a workload with the runtime's probe on: the table of its kernels."""
    if name not in RUNS:
        sys.exit(f"peers: there is no workload '{name}'; expected one of {', '.join(RUNS)}")
    script, only, frameworks = RUNS[name]
    peak, memory = machine_limits(folder)
    print(f"machine: FMA peak {peak:.0f} GFLOP/s, memory {memory:.1f} GB/s, 2 threads")
    print("A kernel near neither limit is bound by neither: latency, caches or its own code.")
    ours = next(f for f in frameworks if f.startswith("mycel"))
    env = dict(os.environ, MYCEL_PROFILE="1", MYCEL_PROFILE_LIMITS=f"{peak},{memory}")
    for line in run_script(folder, script, ours, only, limit, ("--reps", "3"), env):
        print(f"{line['workload']}: {line['value']} {line['metric']} {line.get('error', '')}")


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("workload", nargs="*", help=f"of {', '.join(RUNS)}; all when none is given")
    folder = os.environ.get("MYCEL_PEER_BENCH", HERE.parent.parent / "shared" / "bench")
    p.add_argument("--peers", default=folder, type=Path, help="folder of the peers' benchmarks")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--limit", type=int, default=300, help="seconds for one process")
    p.add_argument("--results", type=Path, help="also write the tables to this file")
    p.add_argument("--explain", metavar="WORKLOAD")
    a = p.parse_args()
    if not (a.peers / "harness.py").is_file():
        sys.exit(
            f"peers: {a.peers} holds no benchmarks (harness.py is missing)"
            "\n  Give their folder with --peers or in MYCEL_PEER_BENCH."
        )
    if a.explain:
        return explain(a.peers, a.explain, a.limit)
    for name in a.workload:
        if name not in RUNS:
            sys.exit(f"peers: there is no workload '{name}'; expected one of {', '.join(RUNS)}")
    names = a.workload or list(RUNS)
    peak, memory = machine_limits(a.peers)
    if any(n.startswith("infer") for n in names):
        wanted = ",".join(n.removeprefix("infer_") for n in names if n.startswith("infer"))
        run_script(a.peers, "w4_infer.py", "torch", wanted, 600, ("--export",))
    text = (
        f"{cpu_name()}, 2 threads; FMA peak {peak:.0f} GFLOP/s, memory {memory:.1f} GB/s; "
        f"{versions()}; medians of {a.rounds} interleaved rounds.\n\n"
        + table_of(collect(a.peers, names, a.rounds, a.limit))
        + "\n"
    )
    print(text)
    if a.results:
        a.results.write_text("# Results of the last full run\n\n" + text)


if __name__ == "__main__":
    main()
