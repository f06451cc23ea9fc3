"""Sources of files against what the published framework reads from the same files."""

import json
from pathlib import Path

import mycel.dataset as ds
import numpy as np
import pytest
from source_cases import CASES, digest, placed
from tiny_files import make_all

GOLDEN = json.loads((Path(__file__).parent / "golden_sources.json").read_text())


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sources")
    make_all(folder)
    return folder


def rows_of(dataset):
    columns = dataset.get_col_names()
    rows = dataset.create_dict_iterator(num_epochs=1, output_numpy=True)
    return [[digest(row[c]) for c in columns] for row in rows]


@pytest.mark.parametrize(("name", "cls", "args"), CASES, ids=[c[0] for c in CASES])
def test_rows_are_those_of_the_published_framework(root, name, cls, args):
    dataset = getattr(ds, cls)(**placed(args, root), shuffle=False)
    assert dataset.get_col_names() == GOLDEN[name]["columns"]
    assert rows_of(dataset) == GOLDEN[name]["rows"]


@pytest.mark.parametrize("place", ["folder.tar", "folder.zip"])
def test_an_archive_is_read_where_it_lies(root, place):
    want = ds.ImageFolderDataset(str(root / "folder"), shuffle=False)
    got = ds.ImageFolderDataset(str(root / place), shuffle=False)
    assert rows_of(got) == rows_of(want)
    assert got.get_class_indexing() == {"Alpha": 0, "beta": 1, "empty": 2, "zeta": 3}


def test_a_member_of_an_archive_is_a_file(root, tmp_path):
    import tarfile

    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        tar.add(root / "text", "inside/text")
    got = ds.TextFileDataset(f"{tmp_path}/a.tar/inside/text/b.txt", shuffle=False)
    want = ds.TextFileDataset(f"{root}/text/b.txt", shuffle=False)
    assert rows_of(got) == rows_of(want)


def test_every_row_comes_once_in_a_shuffle(root):
    rows = [
        str(r["text"])
        for r in ds.TextFileDataset(f"{root}/text/*.txt").create_dict_iterator(
            num_epochs=1, output_numpy=True
        )
    ]
    plain = ds.TextFileDataset(f"{root}/text/*.txt", shuffle=False)
    assert sorted(rows) == sorted(
        str(r["text"]) for r in plain.create_dict_iterator(num_epochs=1, output_numpy=True)
    )


def test_json_lines(tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_text(
        '{"b": true, "i": 3, "x": 1.5, "s": "text", "l": [[1, 2], [3, 4]], "o": {"k": null}}\n\n'
        '{"b": false, "i": -1, "x": 2, "s": "", "l": [[5, 6.5]], "o": null, "more": 1}\n'
    )
    first, second = ds.JsonLinesDataset(str(file), shuffle=False).create_tuple_iterator(
        num_epochs=1, output_numpy=True
    )
    b, i, lists, o, s, x = first
    assert b.dtype == bool and bool(b) and i.dtype == np.int64 and i == 3
    assert lists.tolist() == [[1, 2], [3, 4]] and json.loads(str(o)) == {"k": None}
    assert str(s) == "text" and x.dtype == np.float64 and x == 1.5
    assert second[2].dtype == np.float64 and second[2].tolist() == [[5.0, 6.5]]
    chosen = ds.JsonLinesDataset(str(file), columns_list=["x", "i"], shuffle=False)
    assert chosen.get_col_names() == ["x", "i"]


def test_cifar_in_binary_files(tmp_path):
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (3, 3, 32, 32), dtype=np.uint8)
    record = b"".join(bytes([k + 4]) + images[k].tobytes() for k in range(3))
    (tmp_path / "test_batch.bin").write_bytes(record)
    rows = list(
        ds.Cifar10Dataset(str(tmp_path), "test", shuffle=False).create_dict_iterator(
            num_epochs=1, output_numpy=True
        )
    )
    for k, row in enumerate(rows):
        assert np.array_equal(row["image"], images[k].transpose(1, 2, 0))
        assert row["label"].dtype == np.uint32 and row["label"] == k + 4
    hundred = b"".join(bytes([k, 50 + k]) + images[k].tobytes() for k in range(3))
    (tmp_path / "train.bin").write_bytes(hundred)
    rows = list(
        ds.Cifar100Dataset(str(tmp_path), "train", shuffle=False).create_dict_iterator(
            num_epochs=1, output_numpy=True
        )
    )
    assert [int(r["coarse_label"]) for r in rows] == [0, 1, 2]
    assert [int(r["fine_label"]) for r in rows] == [50, 51, 52]
    assert np.array_equal(rows[2]["image"], images[2].transpose(1, 2, 0))


def test_threads_that_are_asked_for(root):
    def of(**args):
        return ds.ImageFolderDataset(str(root / "folder"), shuffle=False, **args)

    iterator = of(num_parallel_workers=3).create_tuple_iterator(num_epochs=1, output_numpy=True)
    rows = list(iterator)
    assert iterator.stats()["workers"] >= 1  # without a wish, none for rows as cheap as these
    assert (
        rows_of(of(num_parallel_workers=3)) == rows_of(of()) == rows_of(of(num_parallel_workers=1))
    )
    assert of(num_parallel_workers=3).get_class_indexing() == of().get_class_indexing()
    assert of(num_parallel_workers=3)._pipeline.workers() == 3 and of()._pipeline.workers() == 0
    with pytest.raises(ValueError, match="'num_parallel_workers' must be at least 1"):
        of(num_parallel_workers=0)
    ds.config.set_num_parallel_workers(2)
    try:
        assert of()._pipeline.workers() == 2
    finally:
        ds.config._settings["num_parallel_workers"] = None
    assert len(rows) == 7


# -- Shuffle.FILES, Shuffle.INFILE ---------------------------------------------

SIZES = [4, 1, 7, 3, 5]


def files_of_text(folder):
    for f, n in enumerate(SIZES):
        (folder / f"{f}.txt").write_text("".join(f"{f} {k}\n" for k in range(n)))
        (folder / f"{f}.csv").write_text("a\n" + "".join(f"{f} {k}\n" for k in range(n)))
        lines = "".join(json.dumps({"a": f"{f} {k}"}) + "\n" for k in range(n))
        (folder / f"{f}.jsonl").write_text(lines)


@pytest.mark.parametrize(
    ("cls", "end"),
    [("TextFileDataset", "txt"), ("CSVDataset", "csv"), ("JsonLinesDataset", "jsonl")],
)
def test_shuffles_of_files_and_inside_of_files(tmp_path, cls, end):
    files_of_text(tmp_path)
    seen = {}
    for shuffle in (ds.Shuffle.FILES, ds.Shuffle.INFILE, ds.Shuffle.GLOBAL):
        d = getattr(ds, cls)([str(tmp_path / f"{f}.{end}") for f in range(5)], shuffle=shuffle)
        for _ in range(4):
            texts = [str(r[0]) for r in d.create_tuple_iterator(num_epochs=1, output_numpy=True)]
            rows = [tuple(map(int, t.split())) for t in texts]
            assert sorted(rows) == [(f, k) for f, n in enumerate(SIZES) for k in range(n)]
            seen.setdefault(shuffle, []).append(rows)
    for rows in seen[ds.Shuffle.FILES]:  # each file whole and in its order
        order = list(dict.fromkeys(f for f, _ in rows))
        assert rows == [(f, k) for f in order for k in range(SIZES[f])]
    assert len({tuple(dict.fromkeys(f for f, _ in r)) for r in seen[ds.Shuffle.FILES]}) > 1
    for rows in seen[ds.Shuffle.INFILE]:  # files in their order, the rows of each mixed
        assert [f for f, _ in rows] == [f for f, n in enumerate(SIZES) for _ in range(n)]
        assert rows != sorted(rows)
    assert len({tuple(r) for r in seen[ds.Shuffle.INFILE]}) == 4
    # A global shuffle keeps nothing together.
    assert all([f for f, _ in r] != sorted(f for f, _ in r) for r in seen[ds.Shuffle.GLOBAL])


def test_shards_of_shuffled_files_share_all_rows(tmp_path):
    files_of_text(tmp_path)
    names = [str(tmp_path / f"{f}.txt") for f in range(5)]
    found = []
    for shard in range(4):
        d = ds.TextFileDataset(names, shuffle=ds.Shuffle.FILES, num_shards=4, shard_id=shard)
        found += [str(t) for (t,) in d.create_tuple_iterator(num_epochs=1, output_numpy=True)]
    assert len(found) == 20 and len(set(found)) == 20
    with pytest.raises(ValueError, match="does not tell which rows lie in which file"):
        (tmp_path / "train" / "pos").mkdir(parents=True)
        (tmp_path / "train" / "neg").mkdir(parents=True)
        (tmp_path / "train" / "pos" / "0_9.txt").write_text("good")
        ds.IMDBDataset(str(tmp_path), "train", shuffle=ds.Shuffle.FILES)
