"""Writes tests/python/dataset/published_mindrecord.zip: MindRecord files made by the published
framework, and rows.json with what was put in. Run it with a Python that has it installed."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import zipfile
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1] / "tests" / "python" / "dataset"
sys.path.insert(0, str(TESTS))

import mindrecord_rows  # noqa: E402
from mindspore.mindrecord import FileWriter  # noqa: E402


def main() -> None:
    with tempfile.TemporaryDirectory() as root:
        os.chdir(root)
        for name, case in mindrecord_rows.CASES.items():
            writer = FileWriter(name, case["shards"])
            writer.set_header_size(1 << 14)
            writer.set_page_size(1 << 15)
            writer.add_schema(case["schema"], "a schema")
            if case["index"]:
                writer.add_index(case["index"])
            for batch in case["batches"]:
                writer.write_raw_data(batch)
            writer.commit()
        path = TESTS / "published_mindrecord.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
            for file in sorted(Path(root).iterdir()):
                z.writestr(zipfile.ZipInfo(file.name), file.read_bytes(), zipfile.ZIP_DEFLATED, 9)
    print(path.stat().st_size, "bytes", json.dumps(list(mindrecord_rows.CASES)))


if __name__ == "__main__":
    main()
