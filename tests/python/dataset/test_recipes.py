"""Pipelines as JSON, rows as MindRecord files, vocabularies of datasets."""

import json

import mycel
import mycel.dataset as ds
import numpy as np
import pytest
from mycel.dataset import text, transforms, vision
from tiny_files import make_all


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recipes")
    make_all(folder)
    return folder


def rows(dataset):
    return [
        {n: np.asarray(v) for n, v in r.items()}
        for r in dataset.create_dict_iterator(num_epochs=1, output_numpy=True)
    ]


def same(a, b):
    a, b = rows(a), rows(b)
    assert len(a) == len(b) > 0
    for x, y in zip(a, b):
        assert list(x) == list(y)
        for name in x:
            assert x[name].dtype == y[name].dtype
            np.testing.assert_array_equal(x[name], y[name])


def numbers():
    return ds.NumpySlicesDataset(
        {"x": np.arange(40, dtype=np.float32).reshape(20, 2), "k": list(range(20))}, shuffle=False
    )


def mnist(root):
    return ds.MnistDataset(str(root / "mnist"), shuffle=True, num_samples=3)


PIPELINES = {
    "mnist": lambda r: (
        mnist(r)
        .map([vision.Resize((7, 9), vision.Inter.NEAREST), vision.HWC2CHW()], "image")
        .map(transforms.Compose([transforms.OneHot(10), transforms.TypeCast(mycel.bool_)]), "label")
        .batch(2, drop_remainder=True)
    ),
    "operators": lambda r: (
        numbers().shuffle(5).skip(2).take(10).repeat(2).rename("x", "y").project(["k", "y"])
    ),
    "zip": lambda r: ds.zip((numbers().rename(["x", "k"], ["a", "b"]), numbers())).take(3),
    "concat": lambda r: numbers() + numbers().take(4),
    "split": lambda r: numbers().split([5, 15])[1],
    "padded": lambda r: numbers().padded_batch(3, pad_info={"x": ([4], -1.0)}),
    "buckets": lambda r: numbers().bucket_batch_by_length(["x"], [2, 5], [1, 2, 3]),
    "sampler": lambda r: ds.MnistDataset(
        str(r / "mnist"), sampler=ds.SubsetSampler([3, 0], num_samples=2)
    ),
    "child": lambda r: numbers().use_sampler(chained()),
    "cache": lambda r: numbers().map(transforms.Fill(3), "x", cache=ds.DatasetCache(1)).cache(),
    "schema": lambda r: ds.RandomDataset(5, schema_of()),
    "text": lambda r: ds.TextFileDataset(f"{r}/text/*.txt").map(
        text.Lookup(text.Vocab.from_list(["a", "b"]), "a"), "text"
    ),
    "nested": lambda r: numbers().map(
        [transforms.RandomChoice([transforms.Fill(1), transforms.Fill(2)])], "k",
        output_columns=["k"],
    ).project("x"),
    "padding rows": lambda r: numbers() + ds.PaddedDataset([{"x": np.ones(2, "f4"), "k": 1}]),
    "random": lambda r: mnist(r).map(vision.RandomCrop((20, 20), [1, 2, 3, 4]), "image"),
}  # fmt: skip


def chained():
    sampler = ds.RandomSampler(num_samples=4)
    sampler.add_child(ds.SequentialSampler(3, 9))
    return sampler


def schema_of():
    schema = ds.Schema()
    schema.add_column("a", mycel.int16, [2])
    return schema


@pytest.mark.parametrize("name", PIPELINES)
def test_pipelines_are_made_again(root, tmp_path, name):
    make = PIPELINES[name]
    written = ds.serialize(make(root), str(tmp_path / "p.json"))
    assert json.loads((tmp_path / "p.json").read_text()) == written
    again = ds.deserialize(json_filepath=str(tmp_path / "p.json"))
    if name == "concat":
        again = ds.deserialize(written)
    same(again, make(root))
    assert ds.compare(again, make(root)) and again.to_json() == written
    assert not ds.compare(make(root).repeat(2), make(root))
    assert not ds.compare(make(root), PIPELINES["operators" if name == "mnist" else "mnist"](root))


def test_functions_of_python_are_named_and_refused():
    def f(x):
        return x + 1

    d = numbers().map(f, "x")
    written = ds.serialize(d)
    assert written["arguments"]["operations"]["function"].endswith("<locals>.f")
    with pytest.raises(TypeError, match=r"function .*<locals>\.f of Python"):
        ds.deserialize(written)
    assert ds.compare(d, numbers().map(f, "x"))
    assert not ds.compare(numbers().map(lambda x: x, "x"), numbers().map(lambda x: x, "x"))


@pytest.mark.parametrize(
    "wrong", [{"dataset": "Schema"}, {"operator": "__init__", "input": {}}, {"x": 1}, [], "text"]
)
def test_what_serialize_did_not_write_is_refused(wrong):
    with pytest.raises(ValueError, match="deserialize: "):
        ds.deserialize(wrong)


def test_no_or_two_sources_are_refused(tmp_path):
    with pytest.raises(ValueError, match="give input_dict or json_filepath"):
        ds.deserialize()
    with pytest.raises(OSError, match="none.json"):
        ds.deserialize(json_filepath=str(tmp_path / "none.json"))
    with pytest.raises(TypeError, match="compare: expected a dataset, got int"):
        ds.compare(3, numbers())
    ds.show(numbers().batch(2))


COLUMNS = {
    "i8": (np.int8, np.int32), "i16": (np.int16, np.int32), "u16": (np.uint16, np.int32),
    "i32": (np.int32, np.int32), "u32": (np.uint32, np.int64), "i64": (np.int64, np.int64),
    "f16": (np.float16, np.float32), "f32": (np.float32, np.float32),
    "f64": (np.float64, np.float64),
}  # fmt: skip


@pytest.mark.parametrize("files", [1, 3])
def test_save(tmp_path, files):
    count = 7
    data = {n: np.arange(count).astype(t) for n, (t, _) in COLUMNS.items()}
    data |= {
        f"{n}_a": np.arange(2 * count).astype(t).reshape(-1, 2) for n, (t, _) in COLUMNS.items()
    }
    data["text"] = [f"é{i}" for i in range(count)]
    data["bytes"] = np.arange(4 * count, dtype=np.uint8).reshape(-1, 2, 2)
    d = ds.NumpySlicesDataset(data, shuffle=False)
    d.save(str(tmp_path / "rows"), files)
    got = rows(ds.MindDataset(str(tmp_path / ("rows" if files == 1 else "rows0")), shuffle=False))
    assert len(got) == count
    for i, row in enumerate(sorted(got, key=lambda r: int(r["i32"]))):
        for n, (_, after) in COLUMNS.items():
            assert row[n].dtype == after and row[n] == data[n][i]
            assert row[f"{n}_a"].dtype == after
            np.testing.assert_array_equal(row[f"{n}_a"], data[f"{n}_a"][i])
        assert str(row["text"]) == data["text"][i]
        assert row["bytes"].tolist() == list(range(4 * i, 4 * i + 4))


def test_save_arrays_of_changing_length_and_what_it_refuses(tmp_path):
    lengths = [3, 0, 5]
    d = ds.GeneratorDataset(lambda: ((np.ones((n, 2), np.float32),) for n in lengths), ["x"])
    d.save(str(tmp_path / "a"))
    got = rows(ds.MindDataset(str(tmp_path / "a"), shuffle=False))
    assert [r["x"].shape for r in got][0] == (3, 2) and len(got) == 3
    for bad, text_ in [
        (np.ones(2, bool), "column 'x' holds bool"),
        (np.ones(2, np.uint64), "column 'x' holds uint64"),
        (np.array([["a"], ["b"]]), "arrays of strings"),
    ]:
        with pytest.raises(TypeError, match=text_):
            ds.NumpySlicesDataset({"x": bad}).save(str(tmp_path / "b"))
    with pytest.raises(ValueError, match="'file_type' must be 'mindrecord'"):
        numbers().save(str(tmp_path / "c"), 1, "tfrecord")


def test_vocabularies():
    d = ds.NumpySlicesDataset({"t": ["b", "a", "b", "c"]}, shuffle=False)
    vocab = d.build_vocab("t", None, 2, ["<x>"], True)
    assert vocab.vocab() == {"<x>": 0, "b": 1, "a": 2}
    sentences = ["the cat sat on the mat", "a dog ran in the park", "cats and dogs"] * 20
    d = ds.NumpySlicesDataset({"t": sentences}, shuffle=False)
    model = d.build_sentencepiece_vocab(["t"], 26, 0.9995, text.SentencePieceModel.UNIGRAM, {})
    pieces = text.SentencePieceTokenizer(model, text.SPieceTokenizerOutType.STRING)("the cat")
    assert "".join(pieces.tolist()).replace("\u2581", " ").strip() == "the cat"


def test_queues_of_devices_are_refused():
    with pytest.raises(NotImplementedError, match="there is no queue of a device"):
        numbers().device_que()
