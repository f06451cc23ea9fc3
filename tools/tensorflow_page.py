"""Writes docs/tensorflow.md: which TFLite operators and TensorFlow ops are read; --check says
whether it is up to date. Run it with the built package: PYTHONPATH=build/python <python>
tools/tensorflow_page.py [--check]"""

from __future__ import annotations

import sys
from pathlib import Path

from mycel import _mycel

PAGE = Path(__file__).resolve().parents[1] / "docs" / "tensorflow.md"

HEAD = """# TFLite files and TensorFlow graphs

This page is made by `tools/tensorflow_page.py`.

```python
net = mycel.tflite.load("model.tflite")  # a Cell: runs, trains, compiles like any other
net.quantization  # ({input: (scale, zero point)}, {output: …}); real = scale (stored - zero point)
net = mycel.tensorflow.load("frozen.pb", inputs=["x"], outputs=["probabilities"])
```

```
mycel convert model.tflite --to mycel -o model.mindir
mycel codegen model.tflite --target cortex-m --out model_c
```

C++: `load_tflite`, `load_tensorflow` (`interop/tensorflow.h`); the model is the one that ONNX files
give (`interop/onnx.h`).

- **Integers with a scale** (int8, uint8; int16 where the table's ops are sums and products of
  elements) are computed as TFLite's reference kernels compute them, bit for bit: integer ops and
  fixed-point multipliers, tables for functions of 8 bits. An operator without a mark in the column
  *quantized* is refused where its tensors have scales.
- **Floats beside integer weights** ("dynamic range") are rounded to 8 bits by their range while the
  network runs, as TFLite does; the sums are exact. A result may differ where a number lies on the
  border between two roundings.
- **Variables** of recurrent operators start at zero in every run.
- **GraphDefs** are frozen: constants, no variables. Control flow of version 2 (If, While,
  functions) is read; Switch, Merge, Enter and the like are refused.
- **Shapes** that follow from values are constants where the values are known, as in docs/onnx.md.
- **Damaged files** are refused with the byte, tensor, operator or node where they are wrong.

"""


def page() -> str:
    ops = sorted(_mycel.tensorflow_ops(), key=lambda op: (op[1] or op[0]).lower())
    lite = [op for op in ops if op[0]]
    lines = [
        HEAD,
        f"{len(lite)} operators of TFLite, {sum(q for *_, q in lite)} of them quantized too, and "
        f"{sum(bool(g) for _, g, _ in ops)} ops of GraphDefs:\n",
        "| TFLite | quantized | GraphDef |",
        "|---|---|---|",
    ]
    for name, graph, quantized in ops:
        lines.append(
            f"| {f'`{name}`' if name else ''} | {'yes' if quantized else ''} "
            f"| {f'`{graph}`' if graph else ''} |"
        )
    return "\n".join(lines) + "\n"


def main() -> int:
    text = page()
    if "--check" not in sys.argv:
        PAGE.write_text(text, encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != text:
        print("docs/tensorflow.md is not up to date: run python tools/tensorflow_page.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
