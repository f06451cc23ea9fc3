"""Rows for MindRecord files, the same for the published framework and for Mycel."""

from __future__ import annotations

import numpy as np


def _mixed(k: int) -> dict:
    return {
        "label": k - 1,
        "name": f"n\u00e9{k}",
        "weights": (np.arange(4, dtype=np.float32).reshape(2, 2) + k),
        "image": bytes([k] * (3 + k)),
        "thumbnail": b"second%d" % k,
        "big": 2**40 + k,
        "ratio": 0.1 * k,
        "ids": np.array([1, -2, 300, 70000, 2**40, 5, -128, -129, 128, 32767][: k + 1], np.int64),
        "few": np.array([k, -70000 * k], np.int32),
        "part": np.float32(0.25 * k),
    }


_MIXED = {
    "label": {"type": "int32"},
    "name": {"type": "string"},
    "weights": {"type": "float32", "shape": [2, -1]},
    "image": {"type": "bytes"},
    "thumbnail": {"type": "bytes"},
    "big": {"type": "int64"},
    "ratio": {"type": "float64"},
    "ids": {"type": "int64", "shape": [-1]},
    "few": {"type": "int32", "shape": [2]},
    "part": {"type": "float32"},
}
_SMALL = {"k": {"type": "int32"}, "b": {"type": "bytes"}}


def _small(first: int, end: int, size: int) -> list[dict]:
    return [{"k": k, "b": bytes([65 + k]) * size} for k in range(first, end)]


def _case(schema, batches, shards=1, index=None) -> dict:
    return {"schema": schema, "batches": batches, "shards": shards, "index": index}


CASES = {
    "mixed": _case(_MIXED, [[_mixed(k) for k in range(5)]], index=["label", "name"]),
    "shards": _case(_SMALL, [_small(0, 6, 5), _small(6, 9, 5)], shards=3),
    "pages": _case(_SMALL, [_small(k, k + 2, 9000) for k in range(0, 10, 2)]),
    "numbers": _case(
        {"x": {"type": "float64"}, "s": {"type": "string"}},
        [[{"x": 0.5 * k, "s": "x" * 5000} for k in range(10)]],
    ),
    "array": _case(
        {"a": {"type": "int64", "shape": [-1]}}, [[{"a": np.array([1, -2, 300])} for _ in range(2)]]
    ),
}
