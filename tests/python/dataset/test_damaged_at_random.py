"""A few hundred random changes of each format: rows or an error of the user, nothing else.
tests/fuzz/data_files_fuzz.cc does it in any number."""

import bz2
import gzip
import lzma
import random
import zipfile
from pathlib import Path

import mycel.dataset as ds
import numpy as np
import pytest
import tiny_vision
from tiff_files import write_tiff
from tiny_files import make_all

CASES = [
    ("ImageFolderDataset", "dataset_dir", "folder.tar"),
    ("ImageFolderDataset", "dataset_dir", "folder.zip"),
    ("TFRecordDataset", "dataset_files", "tfrecord/b.tfrecord"),
    ("CSVDataset", "dataset_files", "csv/a.csv"),
    ("NumpyFileDataset", "dataset_files", "x.npy"),
    ("GeoTiffDataset", "dataset_files", "a.tif"),
    ("MindDataset", "dataset_files", "mixed"),
    ("ManifestDataset", "dataset_file", "manifest/all.manifest"),
    ("WebDataset", "dataset_files", "folder.tar.gz"),
    ("WebDataset", "dataset_files", "folder.tar.bz2"),
    ("TextFileDataset", "dataset_files", "text.xz"),
]


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("damaged")
    make_all(folder)
    np.save(folder / "x.npy", np.arange(12.0).reshape(3, 4))
    write_tiff(folder / "a.tif", np.ones((40, 40, 2), np.uint8), tile=(16, 16))
    tar, text = (folder / "folder.tar").read_bytes(), b"some text\n" * 400
    (folder / "folder.tar.gz").write_bytes(gzip.compress(tar))
    (folder / "folder.tar.bz2").write_bytes(bz2.compress(tar))
    (folder / "text.xz").write_bytes(lzma.compress(text))
    with zipfile.ZipFile(Path(__file__).parent / "published_mindrecord.zip") as z:
        z.extractall(folder)
    return folder


def changed(data, draw):
    data = bytearray(data)
    for _ in range(draw.randint(1, 6)):
        at = draw.randrange(len(data))
        # Headers are at the beginning, directories of zip at the end.
        at = draw.choice([at, at % 600, -1 - at % 300]) if len(data) > 700 else at
        kind = draw.randrange(4)
        if kind == 0:
            data[at] ^= 1 << draw.randrange(8)
        elif kind == 1:
            data[at] = draw.choice(b'\x00\xff09-,"{[')
        elif kind == 2 and len(data) > 40:
            del data[at : at + draw.randint(1, 20)]
        elif len(data) > 40 and draw.random() < 0.3:
            del data[at:]
        if not data:
            return b""
    return bytes(data)


@pytest.mark.parametrize(("cls", "argument", "name"), CASES, ids=[c[2] for c in CASES])
def test_random_changes(root, tmp_path, cls, argument, name):
    whole = (root / name).read_bytes()
    target = tmp_path / Path(name).name
    index = root / f"{name}.db"
    if index.exists():
        (tmp_path / index.name).write_bytes(index.read_bytes())
    draw = random.Random(1)
    refused = 0
    for _ in range(150):
        target.unlink(missing_ok=True)
        target.write_bytes(changed(whole, draw))
        try:
            dataset = getattr(ds, cls)(**{argument: str(target)}, shuffle=False)
            for _ in dataset.create_tuple_iterator(num_epochs=1, output_numpy=True):
                pass
        except (OSError, ValueError, TypeError, KeyError):
            refused += 1
    assert refused > 10


@pytest.mark.parametrize("number", [1, 2])  # the second is packed
def test_random_changes_of_structs_and_cells(tmp_path, number):
    tiny_vision.make_mat_sets(tmp_path)
    (tmp_path / "sbd" / "val.txt").write_text(f"2008_{number}\n")
    file = tmp_path / "sbd" / "cls" / f"2008_{number}.mat"
    whole, draw, refused = file.read_bytes(), random.Random(2), 0
    for _ in range(400):
        file.write_bytes(changed(whole, draw))
        for task in ("Boundaries", "Segmentation"):
            try:
                list(ds.SBDataset(str(tmp_path / "sbd"), task, "val", shuffle=False))
            except (OSError, ValueError):
                refused += 1
    assert refused > 20
