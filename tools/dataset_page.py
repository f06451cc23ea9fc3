"""Writes docs/datasets.md from the records of the sources; --check says whether it is up to date.
Run it with the built package: PYTHONPATH=build/python <python> tools/dataset_page.py [--check]"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

from mycel import _mycel
from mycel.dataset import arrow

PAGE = Path(__file__).resolve().parents[1] / "docs" / "datasets.md"
_COMMON = (
    "num_samples num_parallel_workers shuffle sampler num_shards shard_id cache decrypt".split()
)

HEAD = """# Data sets from files

This page is made from the records of the sources by `tools/dataset_page.py`; C++ opens them with
`data::open_source(name, arguments)`, Python with the classes of `mycel.dataset`.

- **Places.** A path may lead into a tar or zip archive (`data.tar/train/cat/1.jpg`), and an
  archive may stand where a folder is expected; nothing is unpacked. Of zip, members that are
  stored or deflated are read. A packed tar (.tar.gz, .tar.bz2, .tar.xz, .tar.zst) cannot be read
  by position: WebDataset alone reads it, from begin to end; packed texts are streams as well.
- **Order.** Files are read in order of their names (bytes), lists in their own order: the same on
  every machine. Rows have numbers, so a shuffle is a permutation of all rows; packed files
  alone are streams, which are shuffled through a window; each of their shards reads the whole and
  keeps its rows. Where `shuffle` takes a `Shuffle`, FILES gives the files in a new order, each as
  it is, and INFILE mixes the rows inside of each file.
- **Arguments that all have:** `num_samples`, `shuffle`, `sampler`, `num_shards`, `shard_id`,
  `num_parallel_workers`, `cache`.
- **Errors.** A missing, truncated or damaged file is an `OSError` naming it, and the sample when
  it is found while reading; `dataset.skip_errors()` leaves such rows out and counts them.
- **Handles and memory.** At most 64 files are held open. What is kept is an index: 8 bytes a line
  or TFRecord, 32 bytes a row of MindRecord, the names of pictures.
- **Progress** of long index builds: a bar on stderr where that is a terminal, or what a function
  given to `data::on_index_progress` makes of it.
"""

ARROW = """
## Parquet and Arrow

These are unpacked by the package `pyarrow`, which need not be installed otherwise. It hands over
groups of rows through the Arrow C data interface, and C++ reads rows from their columns in place
(`src/data/arrow`). Nothing is linked with the C++ libraries inside pyarrow: their interface changes
with every release, that of C does not. A C++ program gives `data::arrow_rows` the groups that the
Arrow library it is linked with reads.
"""


def page() -> str:
    lines = [HEAD, "| class | arguments | files and columns |", "|---|---|---|"]
    for name, doc, arguments in sorted(_mycel.data.source_records()):
        own = [
            a if not has_default else f"{a}={default!r}"
            for a, has_default, default, *_ in arguments
            if a not in _COMMON
        ]
        text = doc.replace("|", "\\|").replace("<", "\\<")
        lines.append(f"| {name} | {', '.join(own)} | {text} |")
    lines += [ARROW, "| class | arguments | files and columns |", "|---|---|---|"]
    for cls in (arrow.ParquetDataset, arrow.ArrowDataset):
        own = [
            p.name if p.default is p.empty else f"{p.name}={p.default!r}"
            for p in inspect.signature(cls).parameters.values()
            if p.name not in _COMMON
        ]
        doc = " ".join(inspect.getdoc(cls).split()).replace("|", "\\|")
        lines.append(f"| {cls.__name__} | {', '.join(own)} | {doc} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    if "--check" in sys.argv[1:]:
        if PAGE.read_text() != page():
            print("docs/datasets.md is not up to date: run python tools/dataset_page.py")
            return 1
        return 0
    PAGE.write_text(page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
