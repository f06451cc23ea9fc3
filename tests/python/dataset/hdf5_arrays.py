"""What is in arrays.h5 (tools/make_hdf5_golden.py)."""

from __future__ import annotations

import numpy as np


def arrays() -> dict[str, np.ndarray]:
    return {
        "train/images": (np.arange(5 * 4 * 3).reshape(5, 4, 3) * 7 % 251).astype(np.uint8),
        "train/labels": np.array([3, -1, 2**40, 0, 7]),
        "big": np.arange(10.0).reshape(5, 2).astype(">f4"),
        "variable": np.array(["a", "", "längere", "漢字", "e"]),
        "fixed": np.array(["x", "yy", "zzz", "", "123456789"]),
    }
