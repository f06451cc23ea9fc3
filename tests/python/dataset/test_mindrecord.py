"""MindRecord: files of the published framework are read, ours have the same bytes where it matters,
and what is written comes back."""

import json
import sqlite3
import struct
import zipfile
from pathlib import Path

import mycel.dataset as ds
import numpy as np
import pytest
from mindrecord_rows import CASES
from mycel.mindrecord import (
    CsvToMR,
    FileReader,
    FileWriter,
    ImageNetToMR,
    MindPage,
    MRMDefineIndexError,
    MRMOpenError,
    MRMValidateDataError,
    TFRecordToMR,
)

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    folder = tmp_path_factory.mktemp("published")
    with zipfile.ZipFile(HERE / "published_mindrecord.zip") as z:
        z.extractall(folder)
    return folder


def write(folder, name):
    case = CASES[name]
    writer = FileWriter(str(folder / name), case["shards"])
    writer.set_header_size(1 << 14)
    writer.set_page_size(1 << 15)
    writer.add_schema(case["schema"], "a schema")
    if case["index"]:
        writer.add_index(case["index"])
    for batch in case["batches"]:
        writer.write_raw_data(batch)
    writer.commit()
    return str(folder / name)


def first_file(folder, name):
    return str(folder / (name if CASES[name]["shards"] == 1 else f"{name}0"))


def same(got, want):
    assert set(got) == set(want)
    for name, value in want.items():
        if isinstance(value, np.ndarray):
            assert got[name].dtype == value.dtype
            assert np.array_equal(got[name], value)
        else:
            assert got[name] == value, name


def check(path, name):
    rows = [row for batch in CASES[name]["batches"] for row in batch]
    got = list(FileReader(path).get_next())
    assert len(got) == len(rows)
    key = next(iter(rows[0]))
    if CASES[name]["shards"] > 1:  # shards one after the other
        got.sort(key=lambda row: row[key])
    for a, b in zip(got, rows, strict=True):
        same(a, b)


@pytest.mark.parametrize("name", CASES)
def test_files_of_the_published_framework(published, name):
    check(first_file(published, name), name)


@pytest.mark.parametrize("name", CASES)
def test_what_is_written_comes_back(tmp_path, name):
    write(tmp_path, name)
    check(first_file(tmp_path, name), name)


@pytest.mark.parametrize("name", ["mixed", "numbers", "array"])
def test_the_file_is_the_published_one(tmp_path, published, name):
    """Pages byte by byte, header and index by content (members may be in any order)."""
    write(tmp_path, name)
    ours, theirs = ((d / name).read_bytes() for d in (tmp_path, published))
    headers = []
    for data in (ours, theirs):
        (n,) = struct.unpack("<Q", data[:8])
        headers.append(json.loads(data[8 : 8 + n]))
        assert not any(data[8 + n : 1 << 14])
    if name == "mixed" or name == "array":
        assert headers[0] == headers[1]
        assert ours[1 << 14 :] == theirs[1 << 14 :]
        tables = []
        for folder in (tmp_path, published):
            db = sqlite3.connect(folder / f"{name}.db")
            schema = db.execute("SELECT sql FROM sqlite_master ORDER BY name").fetchall()
            tables.append((schema, db.execute("SELECT * FROM INDEXES").fetchall()))
            db.close()
        assert tables[0] == tables[1]
    else:  # pages are numbered in another order
        for h in headers:
            h.pop("page")
        assert headers[0] == headers[1]


def test_mind_dataset(published, tmp_path):
    data = ds.MindDataset(first_file(published, "shards"), shuffle=False)
    assert data.get_dataset_size() == 9 and data.get_col_names() == ["b", "k"]
    rows = list(data.create_dict_iterator(num_epochs=1, output_numpy=True))
    assert {int(r["k"]) for r in rows} == set(range(9))
    assert rows[0]["k"].dtype == np.int32 and rows[0]["b"].dtype == np.uint8
    two = ds.MindDataset([str(published / "shards2"), str(published / "shards1")], shuffle=False)
    alone = ds.MindDataset([str(published / "shards2")], shuffle=False)
    assert two.get_dataset_size() == 6 and alone.get_dataset_size() == 3
    keys = [int(r["k"]) for r in two.create_dict_iterator(num_epochs=1, output_numpy=True)]
    assert keys[:3] == [
        int(r["k"]) for r in alone.create_dict_iterator(num_epochs=1, output_numpy=True)
    ]
    chosen = ds.MindDataset(
        str(published / "pages"), ["k", "b"], shuffle=False,
        padded_sample={"k": -1, "b": b"pad"}, num_padded=2,
    )  # fmt: skip
    rows = list(chosen.create_dict_iterator(num_epochs=1, output_numpy=True))
    assert [int(r["k"]) for r in rows] == [*range(10), -1, -1]
    assert rows[-1]["b"].tobytes() == b"pad"
    shuffled = ds.MindDataset(str(published / "pages"), shuffle=True)
    keys = [int(r["k"]) for r in shuffled.create_dict_iterator(num_epochs=1, output_numpy=True)]
    assert sorted(keys) == list(range(10)) and keys != list(range(10))


def test_append(tmp_path, published):
    for folder in (tmp_path,):
        (folder / "mixed").write_bytes((published / "mixed").read_bytes())
        (folder / "mixed.db").write_bytes((published / "mixed.db").read_bytes())
    rows = CASES["mixed"]["batches"][0]
    writer = FileWriter.open_for_append(str(tmp_path / "mixed"))
    writer.write_raw_data(rows[:2])
    writer.commit()
    got = list(FileReader(str(tmp_path / "mixed")).get_next())
    assert len(got) == len(rows) + 2
    for a, b in zip(got, [*rows, *rows[:2]], strict=True):
        same(a, b)


def test_pages_by_value(published):
    page = MindPage(first_file(published, "shards"))
    assert page.candidate_fields == ["k"]
    page.category_field = "k"
    info = json.loads(page.read_category_info())
    assert info["key"] == "k_0" and sum(c["count"] for c in info["categories"]) == 9
    (row,) = page.read_at_page_by_name("7", 0, 10)
    assert row == {"k": 7, "b": b"HHHHH"}
    assert page.read_at_page_by_name("7", 1, 10) == []
    one = info["categories"][2]
    assert page.read_at_page_by_id(one["id"], 0, 1)[0]["k"] == int(one["name"])
    assert FileReader(str(published / "mixed"), columns=["name"]).len() == 5


def test_errors(tmp_path, published):
    schema = {"k": {"type": "int32"}, "a": {"type": "float32", "shape": [2]}}
    path = str(tmp_path / "x")
    writer = FileWriter(path)
    writer.add_schema(schema)
    with pytest.raises(MRMDefineIndexError, match="'a' is no number or string"):
        writer.add_index(["a"])
    good = {"k": 1, "a": np.zeros(2, np.float32)}
    for bad, text in [
        ({"k": 1}, "row 1 has no field 'a'"),
        ({**good, "k": 1.5}, "row 1: field 'k' is int32, got float64"),
        ({**good, "k": 2**40}, "row 1: field 'k' is int32, 1099511627776 is too large"),
        ({**good, "a": np.zeros(3, np.float32)}, r"row 1: field 'a' is float32 \[2\], got"),
        ({**good, "a": "text"}, r"row 1: field 'a' is float32 \[2\], got strings"),
    ]:
        with pytest.raises(MRMValidateDataError, match=text):
            writer.write_raw_data([good, bad])
    with pytest.raises(OSError, match="a writer that does not commit leaves such"):
        FileReader(path)
    writer.write_raw_data([good])
    writer.commit()
    assert FileReader(path).len() == 1  # nothing of the calls that failed
    with pytest.raises(MRMOpenError, match="is there already"):
        again = FileWriter(path)
        again.add_schema(schema)
        again.write_raw_data([good])
    big = FileWriter(str(tmp_path / "big"))
    big.set_page_size(1 << 15)
    big.add_schema({"b": {"type": "bytes"}})
    with pytest.raises(MRMValidateDataError, match="more than a page of 32768; set_page_size"):
        big.write_raw_data([{"b": bytes(40000)}])


def test_damaged_files(tmp_path, published):
    data = (published / "mixed").read_bytes()
    index = (published / "mixed.db").read_bytes()
    path = tmp_path / "mixed"

    def put(content, db=index):
        path.write_bytes(content)
        (tmp_path / "mixed.db").write_bytes(db)

    put(data[:100])
    with pytest.raises(OSError, match="mixed' is no sound MindRecord file: the length of its"):
        ds.MindDataset(str(path))
    put(data[:17000])
    with pytest.raises(OSError, match="does not belong to its file: row 0 lies outside"):
        ds.MindDataset(str(path))
    put(data, index[:5000])
    with pytest.raises(OSError, match="the index '.*mixed.db' cannot be used"):
        ds.MindDataset(str(path))
    put(data, (published / "array.db").read_bytes())
    with pytest.raises(OSError, match="has 2 rows, but the file has 5"):
        ds.MindDataset(str(path))
    (tmp_path / "mixed.db").unlink()
    with pytest.raises(OSError, match="there is no file '.*mixed.db'"):
        ds.MindDataset(str(path))
    broken = bytearray(data)
    broken[1 << 14] ^= 1  # the length of the first row's bytes
    put(broken)
    dataset = ds.MindDataset(str(path), shuffle=False)
    with pytest.raises(OSError, match="MindDataset: sample 0: '.*mixed' is damaged"):
        list(dataset.create_tuple_iterator(num_epochs=1))


def test_converters(tmp_path):
    from tiny_files import TF_ROWS, tfrecord

    (tmp_path / "a.csv").write_text("i,f,s,t\n1,0.5,x,True\n2,,y,False\n")
    CsvToMR(str(tmp_path / "a.csv"), str(tmp_path / "csv")).run()
    first, second = FileReader(str(tmp_path / "csv")).get_next()
    assert first == {"i": 1, "f": 0.5, "s": "x", "t": 1}
    assert np.isnan(second["f"]) and second["t"] == 0

    for name in ("n01", "n02"):
        (tmp_path / "images" / name).mkdir(parents=True)
        (tmp_path / "images" / name / "a.JPEG").write_bytes(name.encode())
    (tmp_path / "map").write_text("n02 7\nn01 3\n")
    ImageNetToMR(str(tmp_path / "map"), str(tmp_path / "images"), str(tmp_path / "net")).transform()
    rows = list(FileReader(str(tmp_path / "net")).get_next())
    assert [(r["label"], r["image"]) for r in rows] == [(7, b"n02"), (3, b"n01")]

    class Feature:
        def __init__(self, shape, dtype):
            self.shape, self.dtype = shape, dtype

    (tmp_path / "rows.tfrecord").write_bytes(tfrecord(TF_ROWS))
    features = {
        "i": Feature([], "int64"),
        "f": Feature([2], "float32"),
        "s": Feature([], "string"),
        "neg": Feature([2], "int64"),
    }
    TFRecordToMR(
        str(tmp_path / "rows.tfrecord"), str(tmp_path / "tf"), features, bytes_fields=["s"]
    ).run()
    for k, row in enumerate(FileReader(str(tmp_path / "tf")).get_next()):
        assert row["i"] == k and row["s"] == b"text%d" % k
        assert row["f"].tolist() == [0.5 * k, 1.5] and row["neg"].tolist() == [-5 - k, 2**40]


def test_cifar_and_mnist(tmp_path):
    image = pytest.importorskip("PIL.Image")
    import gzip
    import io
    import pickle

    from mycel.mindrecord import Cifar10ToMR, MnistToMR
    from tiny_files import digits, idx

    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (2, 3072), dtype=np.uint8)
    for file in ("data_batch_1", "test_batch"):
        with open(tmp_path / file, "wb") as f:
            pickle.dump({b"data": pixels, b"labels": [3, 9]}, f)
    Cifar10ToMR(str(tmp_path), str(tmp_path / "cifar")).run(["label"])
    rows = list(FileReader(str(tmp_path / "cifar_test")).get_next())
    assert [(r["id"], r["label"]) for r in rows] == [(0, 3), (1, 9)]
    assert image.open(io.BytesIO(rows[0]["data"])).size == (32, 32)
    for front in ("train", "t10k"):
        with gzip.open(tmp_path / f"{front}-images-idx3-ubyte.gz", "wb") as f:
            f.write(idx(digits(2, 1)))
        with gzip.open(tmp_path / f"{front}-labels-idx1-ubyte.gz", "wb") as f:
            f.write(idx(np.array([4, 5])))
    MnistToMR(str(tmp_path), str(tmp_path / "mnist")).run()
    rows = list(FileReader(str(tmp_path / "mnist_train.mindrecord")).get_next())
    assert [r["label"] for r in rows] == [4, 5]

    class Evil:
        def __reduce__(self):
            return (print, ("this must not run",))

    with open(tmp_path / "data_batch_1", "wb") as f:
        pickle.dump(Evil(), f)
    with pytest.raises(RuntimeError, match="no file of CIFAR"):
        Cifar10ToMR(str(tmp_path), str(tmp_path / "again")).run()
