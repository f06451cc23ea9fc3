"""Parquet and Arrow IPC files: rows against what went into the files."""

import datetime
import tarfile
import threading
import zipfile

import mycel
import mycel.dataset as ds
import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
for part in ("compute", "feather", "ipc", "parquet"):
    pytest.importorskip(f"pyarrow.{part}")

DTYPES = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
DTYPES += ["float16", "float32", "float64"]
N = 23


def rows(dataset, epochs=1):
    return list(dataset.create_dict_iterator(num_epochs=epochs, output_numpy=True))


def whole_table():
    rng = np.random.default_rng(3)
    columns = {t: (rng.standard_normal(N) * 50).astype(np.uint8).astype(t) for t in DTYPES}
    columns["bool"] = rng.integers(0, 2, N).astype(bool)
    columns["text"] = [f"zeile {i} é" * (i % 3) for i in range(N)]
    columns["long_text"] = pa.array(columns["text"], pa.large_string())
    columns["bytes"] = [bytes(range(i)) for i in range(N)]
    columns["long_bytes"] = pa.array(columns["bytes"], pa.large_binary())
    columns["four_bytes"] = pa.array([b"%04d" % i for i in range(N)], pa.binary(4))
    columns["floats"] = pa.array([[0.5 * i] * (i % 4) for i in range(N)], pa.list_(pa.float32()))
    columns["long_ints"] = pa.array([list(range(i)) for i in range(N)], pa.large_list(pa.int16()))
    columns["pair"] = pa.array([[i, -i] for i in range(N)], pa.list_(pa.int64(), 2))
    columns["matrix"] = [[[i, 1, 2], [3, 4, 5]] for i in range(N)]
    columns["words"] = [["a", "b" * i] for i in range(N)]
    columns["flags"] = [[True, i % 2 == 0, False] for i in range(N)]
    columns["category"] = pa.array([f"c{i % 3}" for i in range(N)]).dictionary_encode()
    columns["code"] = pa.array([10 * (i % 3) for i in range(N)]).dictionary_encode()
    columns["day"] = [datetime.date(1970, 1, 1 + i) for i in range(N)]
    columns["at"] = pa.array([i * 1000 for i in range(N)], pa.timestamp("us"))
    columns["picture"] = [{"bytes": bytes([i]), "size": {"h": i, "w": 2 * i}} for i in range(N)]
    return pa.table(columns)


def want(table, i):
    """Row i as NumPy holds it."""
    out = {}
    for name in table.column_names:
        column = table[name].combine_chunks()
        if pa.types.is_struct(column.type):
            v = column[i].as_py()
            out |= {"picture.bytes": np.frombuffer(v["bytes"], np.uint8)}
            out |= {f"picture.size.{k}": np.int64(n) for k, n in v["size"].items()}
        elif name == "day":
            out[name] = np.int32(i)
        elif name == "at":
            out[name] = np.int64(i * 1000)
        elif "bytes" in name:
            out[name] = np.frombuffer(column[i].as_py(), np.uint8)
        elif name in ("floats", "long_ints"):
            out[name] = np.array(column[i].as_py(), {"f": "float32", "l": "int16"}[name[0]])
        elif name in DTYPES:
            out[name] = np.array(column[i].as_py(), name)
        else:
            out[name] = np.array(column[i].as_py())
    return out


def check(got, table):
    assert len(got) == table.num_rows
    for i, row in enumerate(got):
        expected = want(table, i)
        assert list(row) == list(expected)
        for name, v in expected.items():
            assert row[name].dtype.kind == v.dtype.kind, name
            assert row[name].dtype == v.dtype or v.dtype.kind == "U", name
            np.testing.assert_array_equal(row[name], v, err_msg=name)


def write_stream(table, file, size):
    with pa.ipc.new_stream(file, table.schema) as out:
        out.write_table(table, max_chunksize=size)


@pytest.mark.parametrize("size", [4, 1000])
def test_every_type_of_parquet(tmp_path, size):
    table = whole_table()
    pa.parquet.write_table(table, tmp_path / "a.parquet", row_group_size=size)
    check(rows(ds.ParquetDataset(str(tmp_path / "a.parquet"))), table)


@pytest.mark.parametrize("kind", ["uncompressed", "lz4", "zstd", "stream", "slices"])
def test_every_type_of_arrow_files(tmp_path, kind):
    table, file = whole_table(), str(tmp_path / "a.arrow")
    if kind == "stream":
        write_stream(table, file, 5)
    elif kind == "slices":  # batches whose columns begin in the middle of buffers
        twice = pa.concat_tables([table.slice(10), table]).combine_chunks()
        with pa.ipc.new_file(file, table.schema) as out:
            for at in range(N - 10, 2 * N - 10, 5):
                out.write_batch(twice.slice(at, 5).to_batches()[0])
    else:
        pa.feather.write_feather(table, file, compression=kind, chunksize=5)
    check(rows(ds.ArrowDataset(file)), table)


def test_files_in_order_and_columns(tmp_path):
    for k in (1, 0):
        table = pa.table({"x": np.arange(5) + 10 * k, "s": ["t"] * 5, "y": [k] * 5})
        pa.parquet.write_table(table, tmp_path / f"{k}.parquet", row_group_size=2)
    data = ds.ParquetDataset(f"{tmp_path}/*.parquet", columns_list=["y", "x"])
    assert data.get_col_names() == ["y", "x"] and data.get_dataset_size() == 10
    assert [int(r["x"]) for r in rows(data)] == [0, 1, 2, 3, 4, 10, 11, 12, 13, 14]
    with pytest.raises(KeyError, match="no column 'z'; columns: x, s, y"):
        ds.ParquetDataset(f"{tmp_path}/*.parquet", columns_list=["z"])
    with pytest.raises(FileNotFoundError, match="there is no file"):
        ds.ParquetDataset(f"{tmp_path}/*.orc")


@pytest.mark.parametrize("cls", ["ParquetDataset", "ArrowDataset"])
def test_filters(tmp_path, cls):
    table = pa.table({"x": np.arange(100), "k": [f"k{i % 7}" for i in range(100)]})
    file = str(tmp_path / "a")
    if cls == "ParquetDataset":
        pa.parquet.write_table(table, file, row_group_size=10)
    else:
        pa.feather.write_feather(table, file, chunksize=10)
    make = getattr(ds, cls)
    data = make(file, columns_list="x", filters=[("x", ">=", 37), ("k", "in", ["k2", "k5"])])
    expected = [i for i in range(37, 100) if i % 7 in (2, 5)]
    assert data.get_dataset_size() == len(expected)
    assert [int(r["x"]) for r in rows(data)] == expected
    expression = pa.compute.field("x") < 3
    assert [int(r["x"]) for r in rows(make(file, filters=expression))] == [0, 1, 2]
    with pytest.raises(ValueError, match="'filters' must be an expression"):
        make(file, filters=[("x", "~", 3)])
    with pytest.raises(ValueError, match="there are no rows"):
        make(file, filters=[("x", ">", 1000)])


def test_nulls(tmp_path):
    file = str(tmp_path / "a.parquet")
    table = pa.table(
        {
            "i": pa.array([1, None, 3], pa.int8()),
            "f": [None, 0.5, 1.0],
            "b": [True, None, None],
            "s": ["x", "y", None],
            "l": [[1.0, None], [2.0], []],
            "c": pa.array(["u", None, "u"]).dictionary_encode(),
        }
    )
    pa.parquet.write_table(table, file)
    fill = {"i": -1, "f": float("nan"), "b": False, "s": "", "l": 7.5, "c": "none"}
    got = rows(ds.ParquetDataset(file, fill_null=fill))
    assert [int(r["i"]) for r in got] == [1, -1, 3]
    assert np.isnan(got[0]["f"]) and got[1]["f"] == 0.5
    assert [bool(r["b"]) for r in got] == [True, False, False]
    assert [str(r["s"]) for r in got] == ["x", "y", ""]
    assert got[0]["l"].tolist() == [1.0, 7.5] and got[2]["l"].tolist() == []
    assert [str(r["c"]) for r in got] == ["u", "none", "u"]

    plain = ds.ParquetDataset(file, columns_list=["i"])
    with pytest.raises(ValueError, match=r"sample 1 \(.*row group 0\): column 'i' holds a null"):
        rows(plain)
    assert [int(r["i"]) for r in rows(plain.skip_errors())] == [1, 3]
    with pytest.raises(TypeError, match="an int must stand for nulls of column 'i', got 0.5"):
        rows(ds.ParquetDataset(file, columns_list=["i"], fill_null={"i": 0.5}))
    with pytest.raises(TypeError, match="an int that fits into int8"):
        rows(ds.ParquetDataset(file, columns_list=["i"], fill_null={"i": 300}))
    with pytest.raises(ValueError, match="fill_null names the column 'z'"):
        ds.ParquetDataset(file, fill_null={"z": 0})


def test_null_lists_and_ragged_lists_are_errors(tmp_path):
    file = str(tmp_path / "a.parquet")
    pa.parquet.write_table(pa.table({"n": [[1], None], "r": [[[1], [2]], [[1], [2, 3]]]}), file)
    with pytest.raises(ValueError, match="sample 1.*column 'n' holds a null"):
        rows(ds.ParquetDataset(file, columns_list=["n"], fill_null={"n": 0}))
    with pytest.raises(ValueError, match="lists of 1 and of 2 elements, which make no array"):
        rows(ds.ParquetDataset(file, columns_list=["r"]))


@pytest.mark.parametrize(
    "column", [pa.array([1, 2]).cast(pa.decimal128(24, 2)), [[{"a": 1}]] * 2, [None, None]]
)
def test_types_that_rows_cannot_hold(tmp_path, column):
    file = str(tmp_path / "a.parquet")
    pa.parquet.write_table(pa.table({"bad": column, "x": [1, 2]}), file)
    with pytest.raises(ValueError, match="column 'bad'.*which rows cannot hold"):
        ds.ParquetDataset(file)
    assert len(rows(ds.ParquetDataset(file, columns_list=["x"]))) == 2


def write_numbers(folder, groups, size, files=1):
    n = groups * size
    for f in range(files):
        table = pa.table({"x": np.arange(n) + f * n})
        pa.parquet.write_table(table, folder / f"{f}.parquet", row_group_size=size)
    return f"{folder}/*.parquet", n * files


@pytest.mark.parametrize("window", [1, 3, 0])
def test_shuffle_in_windows(tmp_path, window):
    file, n = write_numbers(tmp_path, 10, 50, files=2)
    mycel.set_seed(5)
    data = ds.ParquetDataset(file, shuffle=True, window=window)
    epochs = [[int(r["x"]) for r in rows(data)] for _ in range(2)]
    assert epochs[0] != epochs[1]
    for order in epochs:
        assert sorted(order) == list(range(n))
        # Rows of a window come from as many groups, and not in their order.
        of_window = order[: 50 * (window or 20)]
        assert len({x // 50 for x in of_window}) == (window or 20)
        assert of_window != sorted(of_window)
    again = ds.ParquetDataset(file, shuffle=True, window=window)
    assert [int(r["x"]) for r in rows(again)] == epochs[0]
    # Mixed well: within a window, the mean distance of neighbours is a third of its length.
    if window == 0:
        steps = np.abs(np.diff(epochs[0]))
        assert abs(steps.mean() / n - 1 / 3) < 0.03


def test_shards_and_num_samples(tmp_path):
    file, n = write_numbers(tmp_path, 7, 30)
    for shuffle in (False, True):
        parts = [
            [
                int(r["x"])
                for r in rows(ds.ParquetDataset(file, shuffle=shuffle, num_shards=4, shard_id=s))
            ]
            for s in range(4)
        ]
        assert [len(p) for p in parts] == [53] * 4  # 210 rows: the last shard wraps around
        assert set().union(*parts) == set(range(n))
        whole = [int(r["x"]) for r in rows(ds.ParquetDataset(file, shuffle=shuffle))]
        assert sum(parts, [])[:n] == whole
    assert len(rows(ds.ParquetDataset(file, num_samples=11))) == 11
    sampler = ds.SubsetSampler([5, 199, 0])
    assert [int(r["x"]) for r in rows(ds.ParquetDataset(file, sampler=sampler))] == [5, 199, 0]
    with pytest.raises(ValueError, match="'shard_id' must be below 2"):
        ds.ParquetDataset(file, num_shards=2, shard_id=2)


def test_threads_change_nothing_and_a_run_goes_on(tmp_path):
    file, n = write_numbers(tmp_path, 12, 40)

    def made():
        return ds.ParquetDataset(file, shuffle=True, window=2, memory=1).map(
            lambda x: x + 0, "x", num_parallel_workers=4
        )

    plain = [int(r["x"]) for r in rows(ds.ParquetDataset(file, shuffle=True, window=2))]
    assert [int(r["x"]) for r in rows(made())] == plain
    first = made().create_dict_iterator(num_epochs=1, output_numpy=True)
    seen = [int(next(first)["x"]) for _ in range(77)]
    rest = made()
    rest.load_state_dict(first.state_dict())
    assert seen + [int(r["x"]) for r in rows(rest)] == plain


def test_few_groups_are_unpacked_at_a_time(tmp_path, monkeypatch):
    from mycel.dataset import arrow

    file, n = write_numbers(tmp_path, 40, 4000)
    reads, lock = [], threading.Lock()
    table = arrow._Groups.table

    def counted(self, part):
        with lock:
            reads.append(part)
        return table(self, part)

    monkeypatch.setattr(arrow._Groups, "table", counted)
    data = ds.ParquetDataset(file, shuffle=True, window=4, memory=1).batch(100)
    assert sum(len(r["x"]) for r in rows(data)) == n
    assert len(reads) == 40  # each once, although less than all fit into the memory
    assert sum(len(r["x"]) for r in rows(data)) == n
    assert 45 <= len(reads) <= 80  # of 1.3 MB, 1 was kept


def test_damaged_files(tmp_path):
    file, _ = write_numbers(tmp_path, 4, 1000)
    path = tmp_path / "0.parquet"
    content = bytearray(path.read_bytes())
    (tmp_path / "short.parquet").write_bytes(content[:-30])
    with pytest.raises(OSError, match="short.parquet' cannot be read"):
        ds.ParquetDataset(str(tmp_path / "short.parquet"))
    (tmp_path / "x.arrow").write_bytes(b"ARROW1 and nothing else that would fit")
    with pytest.raises(OSError, match="x.arrow' cannot be read"):
        ds.ArrowDataset(str(tmp_path / "x.arrow"))
    content[40:60] = bytes(20)  # in the first row group
    path.write_bytes(content)
    iterator = ds.ParquetDataset(str(path)).create_dict_iterator(num_epochs=1, output_numpy=True)
    with pytest.raises(
        OSError, match=r"ParquetDataset: '.*0.parquet', row group 0 cannot be read: Corr"
    ):
        next(iterator)


def test_files_with_other_columns(tmp_path):
    pa.parquet.write_table(pa.table({"x": [1]}), tmp_path / "a.parquet")
    pa.parquet.write_table(pa.table({"x": ["one"]}), tmp_path / "b.parquet")
    with pytest.raises(ValueError, match="b.parquet': column 'x' holds string, that of the first"):
        ds.ParquetDataset(f"{tmp_path}/*.parquet")
    pa.parquet.write_table(pa.table({"y": [1]}), tmp_path / "b.parquet")
    with pytest.raises(ValueError, match="b.parquet': there is no column 'x'"):
        ds.ParquetDataset(f"{tmp_path}/*.parquet")


@pytest.mark.parametrize("cls", ["ParquetDataset", "ArrowDataset"])
def test_files_in_a_tar(tmp_path, cls):
    table = whole_table()
    (tmp_path / "in").mkdir()
    for name, part in {"a": table.slice(0, 9), "b": table.slice(9)}.items():
        if cls == "ParquetDataset":
            pa.parquet.write_table(part, tmp_path / "in" / name, row_group_size=4)
        else:
            pa.feather.write_feather(part, tmp_path / "in" / name, chunksize=4)
    with tarfile.open(tmp_path / "x.tar", "w") as tar:
        tar.add(tmp_path / "in", "in")
    make = getattr(ds, cls)
    check(rows(make([f"{tmp_path}/x.tar/in/b", f"{tmp_path}/x.tar/in/a"])), table)
    with pytest.raises(FileNotFoundError, match="there is no file '.*x.tar/in/c'"):
        make(f"{tmp_path}/x.tar/in/c")


def test_without_pyarrow(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ModuleNotFoundError, match="pip install pyarrow"):
        ds.ParquetDataset(str(tmp_path))


@pytest.mark.parametrize("cls", ["ParquetDataset", "ArrowDataset"])
@pytest.mark.parametrize("packing", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_files_in_a_zip(tmp_path, cls, packing):
    table = whole_table()
    (tmp_path / "in").mkdir()
    if cls == "ParquetDataset":
        pa.parquet.write_table(table, tmp_path / "in" / "a", row_group_size=7)
    else:
        pa.feather.write_feather(table, tmp_path / "in" / "a", chunksize=7)
    with zipfile.ZipFile(tmp_path / "x.zip", "w", packing) as z:
        z.writestr("first.txt", "something in front of it")
        z.write(tmp_path / "in" / "a", "in/a")
    make = getattr(ds, cls)
    check(rows(make(f"{tmp_path}/x.zip/in/a")), table)
    with pytest.raises(FileNotFoundError, match="there is no file '.*x.zip/in/c'"):
        make(f"{tmp_path}/x.zip/in/c")
    whole = (tmp_path / "x.zip").read_bytes()
    (tmp_path / "x.zip").write_bytes(whole[:-20])
    with pytest.raises(OSError, match="cannot be read as a zip"):
        make(f"{tmp_path}/x.zip/in/a")
