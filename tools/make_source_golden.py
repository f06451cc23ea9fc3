"""Writes tests/python/dataset/golden_sources.json: what the published framework reads from the tiny
files of tests/python/dataset/tiny_files.py. Run it with a Python that has it installed:

    <python> tools/make_source_golden.py [names of cases]
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1] / "tests" / "python" / "dataset"
sys.path.insert(0, str(TESTS))

import mindspore.dataset as ds  # noqa: E402
import source_cases  # noqa: E402
import tiny_files  # noqa: E402


def rows_of(cls: str, args: dict) -> dict:
    dataset = getattr(ds, cls)(**args, shuffle=False)
    columns = dataset.get_col_names()
    rows = [
        [source_cases.digest(row[c]) for c in columns]
        for row in dataset.create_dict_iterator(num_epochs=1, output_numpy=True)
    ]
    return {"columns": columns, "rows": rows}


def main() -> None:
    ds.config.set_num_parallel_workers(1)
    path = TESTS / "golden_sources.json"
    golden = json.loads(path.read_text()) if path.exists() else {}
    with tempfile.TemporaryDirectory() as root:
        tiny_files.make_all(Path(root))
        for name, cls, args in source_cases.CASES:
            if sys.argv[1:] and name not in sys.argv[1:]:
                continue
            try:
                golden[name] = rows_of(cls, source_cases.placed(args, root))
            except Exception as e:  # told apart by hand
                golden.pop(name, None)
                print(f"{name}: {type(e).__name__}: {str(e)[:900]}")
    known = {name for name, _, _ in source_cases.CASES}
    lines = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in golden.items() if k in known]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
