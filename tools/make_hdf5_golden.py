"""Writes tests/python/dataset/arrays.h5, an HDF5 file as h5py makes it. Run it with a Python
that has h5py."""

from __future__ import annotations

import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1] / "tests" / "python" / "dataset"
sys.path.insert(0, str(TESTS))

import h5py  # noqa: E402
import hdf5_arrays  # noqa: E402


def main() -> None:
    with h5py.File(TESTS / "arrays.h5", "w", libver="earliest") as f:
        for name, array in hdf5_arrays.arrays().items():
            options = {"chunks": (2, *array.shape[1:]), "compression": 9} if array.ndim > 1 else {}
            if name == "variable":
                f.create_dataset(name, data=list(array), dtype=h5py.string_dtype())
            elif name == "fixed":
                f.create_dataset(name, data=array.astype("S9"))
            else:
                f.create_dataset(name, data=array, **options)
        f["other/length"] = [1.0, 2.0]
        f["complex"] = [1j] * 5


if __name__ == "__main__":
    main()
