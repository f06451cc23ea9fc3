"""Writes docs/onnx.md: which ONNX ops are read and written, and what the published cases say;
--check says whether it is up to date. Needs the package `onnx`; run it with the built package:
PYTHONPATH=build/python <python> tools/onnx_page.py [--check]"""

from __future__ import annotations

import collections
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "python" / "interop"))

import mycel.onnx  # noqa: E402
import onnx  # noqa: E402
import onnx_cases  # noqa: E402
from mycel import _mycel  # noqa: E402

PAGE = ROOT / "docs" / "onnx.md"

HEAD = """# ONNX

This page is made by `tools/onnx_page.py`. Every op of the columns below is read in each of its
versions from opset 7 on; models in older opsets are read where the op has not changed since.

```python
net = mycel.onnx.load("model.onnx")  # a Cell: runs, trains, compiles like any other
handle = mycel.onnx.prepare("model.onnx")  # onnx.backend.base: handle.run([x]) -> [y]
mycel.onnx.export(net, x, file="net.onnx")  # the same as mycel.export(..., file_format="ONNX")
```

C++: `load_onnx`, `parse_onnx`, `save_onnx` (`interop/onnx.h`).

- **How a model runs.** Nodes are built from Mycel's ops: on tensors with values they run, while a
  graph is traced they become its nodes. `run` compiles the model for the dtypes and shapes that
  come. Shapes that follow from values (the second input of Reshape) are constants where those
  values are known; where they come from a small input of the model, it is compiled for the value
  that came; where only a computed tensor tells (NonZero, NonMaxSuppression), the nodes run one by
  one. `handle.how` says which.
- **Weights.** Initializers of floats with at least one dim are Parameters, unless they decide
  shapes; statistics of batch normalization have `requires_grad` False. Everything else is constant.
- **Control flow.** If, Loop and Scan become `cond`, `while_loop` and `scan`, with gradients. A Loop
  whose carried types change, or that carries sequences, is unrolled up to 256 iterations.
- **Sequences and optionals** are Python lists and None.
- **External data** lies beneath the model's folder: no absolute path, no `..`, no link on the way,
  no second hard link, nothing but a regular file.
- **Damaged files** are refused with the byte, the tensor or the node where they are wrong.
"""


def _failing(ordinary):
    rows = collections.defaultdict(list)
    for name in ordinary:
        if entry := onnx_cases.expectation(name):
            rows[entry[0]].append(name)
    return rows


def page() -> str:
    all_cases = onnx_cases.cases()
    ordinary = [n for n, c in all_cases.items() if not onnx_cases.odd_types(c)]
    disk = list(onnx_cases.disk_cases())
    rows = _failing(ordinary)
    failing = sum(map(len, rows.values()))
    passing = len(ordinary) - failing
    lines = [
        HEAD,
        "## The published cases\n",
        f"Of the {len(all_cases)} node cases of onnx {onnx.__version__}, {len(ordinary)} have "
        f"element types that Mycel has; {passing} of them pass ({passing / len(ordinary):.1%}). "
        f"Of the {len(disk)} cases "
        f"whose models lie in the package, {len(disk) - sum(map(len, _failing(disk).values()))} "
        "pass.\n",
        "| cases | why not |",
        "|---|---|",
    ]
    rows |= _failing(disk)
    for reason, names in sorted(rows.items(), key=lambda r: -len(r[1])):
        lines.append(f"| {len(names)}: {', '.join(f'`{n}`' for n in names)} | {reason} |")
    odd = collections.Counter(t for c in all_cases.values() for t in onnx_cases.odd_types(c))
    types = ", ".join(f"{name} {count}" for name, count in sorted(odd.items()))
    lines.append(f"\nElement types that Mycel has not, with the number of their cases: {types}.\n")
    lines.append("## Ops that are read\n")
    lines.append(", ".join(f"`{name}`" for name in mycel.onnx.ops()) + "\n")
    known = set(mycel.onnx.ops())
    missing = sorted(
        {
            s.name
            for s in onnx.defs.get_all_schemas()
            if s.domain == "" and s.name not in known and not s.deprecated
        }
    )
    lines.append("Not read: " + ", ".join(f"`{name}`" for name in missing) + ".\n")
    lines.append("## Ops that are written\n")
    lines.append(
        "Export expands a network into primitives and writes each as the line `onnx` of its record "
        "says, in opset 20. Loops and branches on tensors become Loop and If. A network with one "
        "of these ops, with complex numbers or with random ones is refused by name:\n"
    )
    refused = sorted(name for name, line in _mycel.onnx_lines().items() if not line)
    lines.append(", ".join(f"`{name}`" for name in refused) + ".\n")
    return "\n".join(lines)


def main() -> int:
    text = page()
    if "--check" not in sys.argv:
        PAGE.write_text(text, encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != text:
        print("docs/onnx.md is not up to date: run python tools/onnx_page.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
