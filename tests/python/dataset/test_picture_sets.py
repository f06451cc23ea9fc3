"""Data sets of pictures that the published framework cannot read here, and what sources refuse."""

import mycel.dataset as ds
import numpy as np
import pytest
import tiny_vision
from tiny_vision import picture


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures")
    for make in tiny_vision.MAKERS:
        make(folder)
    return folder


def rows(dataset):
    return list(dataset.create_dict_iterator(num_epochs=1, output_numpy=True))


@pytest.mark.parametrize(
    ("usage", "ids"),
    [("train", [4, 2]), ("test", [6, 3, 5]), ("valid", [1]), ("all", [4, 2, 6, 3, 5, 1])],
)
def test_flowers102(root, usage, ids):
    data = ds.Flowers102Dataset(str(root / "flowers"), usage=usage, shuffle=False)
    got = rows(data)
    assert [r["image"].tobytes() for r in got] == [picture(n - 1) for n in ids]
    labels = [3, 1, 102, 7, 7, 2]
    assert [int(r["label"]) for r in got] == [labels[n - 1] - 1 for n in ids]
    assert got[0]["label"].dtype == np.uint32
    classes = data.get_class_indexing()
    assert len(classes) == 102 and classes["fire lily"] == 20 and classes["blackberry lily"] == 101
    data = ds.Flowers102Dataset(str(root / "flowers"), "Segmentation", usage, shuffle=False)
    assert data.get_col_names() == ["image", "segmentation", "label"]
    assert [r["segmentation"].tobytes() for r in rows(data)] == [picture(n + 29) for n in ids]


def test_wider_face_of_all_is_training_then_validation(root):
    def of(usage):
        return rows(ds.WIDERFaceDataset(str(root / "wider"), usage, shuffle=False))

    got, want = of("all"), of("train") + of("valid")
    assert len(got) == len(want) == 4
    for a, b in zip(got, want):
        for name in b:
            np.testing.assert_array_equal(a[name], b[name])


def test_wider_face_reads_the_columns_of_the_file(root):
    first, second, _ = rows(ds.WIDERFaceDataset(str(root / "wider"), "train", shuffle=False))
    assert second["bbox"].tolist() == [[2, 4, 30, 40], [3, 4, 31, 40]]
    assert second["bbox"].dtype == np.int32
    # Left, top, width, height, blur, expression, illumination, invalid, occlusion, pose.
    names = ["blur", "expression", "illumination", "invalid", "occlusion", "pose"]
    assert [first[n].tolist() for n in names] == [[0], [1], [0], [1], [1], [0]]
    assert [second[n].tolist() for n in names] == [[0, 0], [1, 1], [0, 0], [2, 2], [1, 1], [0, 0]]


def test_fake_images():
    data = ds.FakeImageDataset(20, (6, 5, 3), 4, base_seed=7, shuffle=False)
    got = rows(data)
    assert len(got) == 20 and all(r["image"].shape == (6, 5, 3) for r in got)
    assert {int(r["label"]) for r in got} == {0, 1, 2, 3}
    pixels = np.stack([r["image"] for r in got])
    assert abs(pixels.mean() - 127.5) < 5 and len(np.unique(pixels)) > 250
    later = rows(ds.FakeImageDataset(20, (6, 5, 3), 4, base_seed=8, shuffle=False))
    np.testing.assert_array_equal(pixels[1:], np.stack([r["image"] for r in later])[:-1])
    shuffled = rows(ds.FakeImageDataset(20, (6, 5, 3), 4, base_seed=7, shuffle=True))
    assert sorted(r["image"].tobytes() for r in shuffled) == sorted(p.tobytes() for p in pixels)
    with pytest.raises(ValueError, match="'image_size' must be"):
        ds.FakeImageDataset(image_size=(3, 4))


def test_random_rows():
    schema = ds.Schema()
    schema.add_column("a", "int16", [2, 3])
    schema.add_column("x", "float32", [4])
    schema.add_column("flag", "bool", [1])
    data = ds.RandomDataset(400, schema, shuffle=False)
    got = rows(data)
    assert data.get_col_names() == ["a", "x", "flag"] and len(got) == 400
    assert got[0]["a"].shape == (2, 3) and got[0]["a"].dtype == np.int16
    x = np.stack([r["x"] for r in got])
    assert x.dtype == np.float32 and x.min() >= 0 and x.max() < 1 and abs(x.mean() - 0.5) < 0.05
    a = np.stack([r["a"] for r in got])
    assert a.min() < -20000 and a.max() > 20000
    assert 0.4 < np.mean([bool(r["flag"][0]) for r in got]) < 0.6
    again = rows(ds.RandomDataset(50, schema, columns_list=["x"], shuffle=False))
    assert list(again[0]) == ["x"]
    free = ds.RandomDataset(shuffle=False)
    assert len(rows(free)) == free.get_dataset_size() > 0
    assert len(rows(ds.RandomDataset(9, num_samples=4))) == 4
    with pytest.raises(ValueError, match="'columns_list' names 'z'"):
        ds.RandomDataset(5, schema, columns_list=["z"])


def test_pictures_are_decoded(root, tmp_path):
    import io

    image = pytest.importorskip("PIL.Image")
    pixels = np.full((6, 8, 3), 40, np.uint8)
    out = io.BytesIO()
    image.fromarray(pixels).save(out, "PNG")
    for high, low in [("DIV2K_train_HR/1.png", "DIV2K_train_LR_bicubic/X2/1x2.png")]:
        tiny_vision.write(tmp_path / high, out.getvalue())
        tiny_vision.write(tmp_path / low, out.getvalue())
    row = rows(ds.DIV2KDataset(str(tmp_path), decode=True, shuffle=False))[0]
    np.testing.assert_array_equal(row["hr_image"], pixels)
    np.testing.assert_array_equal(row["lr_image"], pixels)
    row = rows(ds.PhotoTourDataset(str(root / "phototour"), "liberty", shuffle=False))[17]
    y, x = np.mgrid[0:64, 0:64]
    np.testing.assert_array_equal(row["image"][..., 0], 16 + 1 + (x + 64) % 5)


REFUSED = [
    ("CityscapesDataset", {"usage": "train_extra"}, "'usage' must be one of train, test, val, all"),
    ("CityscapesDataset", {"usage": "test", "quality_mode": "coarse"}, "train, train_extra, val"),
    ("DIV2KDataset", {"scale": 5}, "'scale' must be 2, 3, 4 or 8, got 5"),
    ("DIV2KDataset", {"scale": 2, "downgrade": "wild"}, "'scale' must be 4 for the downgrade"),
    ("DIV2KDataset", {"scale": 8, "downgrade": "unknown"}, "needs the downgrade 'bicubic'"),
    ("PhotoTourDataset", {"name": "paris"}, "'name' must be one of notredame"),
    ("LSUNDataset", {"classes": ["attic"]}, "names 'attic', but"),
    ("LFWDataset", {"task": "twins"}, "'task' must be one of people, pairs"),
    ("SBDataset", {"usage": "test"}, "'usage' must be one of"),
]


@pytest.mark.parametrize(("cls", "args", "text"), REFUSED)
def test_what_is_refused(root, cls, args, text):
    folder = {"CityscapesDataset": "cityscapes", "DIV2KDataset": "div2k", "LSUNDataset": "lsun"}
    folder |= {"PhotoTourDataset": "phototour", "LFWDataset": "lfw", "SBDataset": "sbd"}
    with pytest.raises(ValueError, match=text):
        getattr(ds, cls)(str(root / folder[cls]), **args)


BROKEN = [
    ("KITTIDataset", "kitti/data_object_label_2/training/label_2/000001.txt", "Bicycle 1 2 3\n"),
    ("SemeionDataset", "semeion/semeion.data", "1.0 0.0 7.0\n"),
    ("USPSDataset", "usps/usps", "3 1:0.5 2:7.5\n"),
    ("WIDERFaceDataset", "wider/wider_face_split/wider_face_train_bbx_gt.txt", "a.jpg\n1\n1 2 3\n"),
    ("LFWDataset", "lfw/peopleDevTest.txt", "1\nNobody\t3\n"),
    ("PhotoTourDataset", "phototour/liberty/m50_100000_100000_0.txt", "1 2 3 900 5 6\n"),
    (
        "CityscapesDataset",
        "cityscapes/gtFine/train/bonn/bonn_000002_000019_gtFine_polygons.json",
        "{",
    ),
    ("SBDataset", "sbd/cls/2008_2.mat", "MATLAB 5.0 MAT-file"),
    ("Flowers102Dataset", "flowers/setid.mat", "MATLAB 7.3 MAT-file"),
]


@pytest.mark.parametrize(("cls", "file", "content"), BROKEN)
def test_broken_files_are_named(tmp_path, cls, file, content):
    for make in tiny_vision.MAKERS:
        make(tmp_path)
    tiny_vision.write(tmp_path / file, content)
    args = {
        "PhotoTourDataset": ("liberty", "test"),
        "CityscapesDataset": ("train", "fine", "polygon"),
    }
    with pytest.raises(OSError, match=file.rsplit("/", 1)[1]):
        folder = str(tmp_path / file.split("/")[0])
        rows(getattr(ds, cls)(folder, *args.get(cls, ()), shuffle=False))


def write_lmdb(folder, values):
    lmdb = pytest.importorskip("lmdb")
    folder.mkdir(parents=True)
    with lmdb.open(str(folder), map_size=1 << 24) as env, env.begin(write=True) as txn:
        for key, value in values.items():
            txn.put(key.encode(), value)


def test_lsun_as_databases(tmp_path):
    # Small values lie in pages of keys, large ones in pages of their own.
    values = {f"{(k * 7919) % 500:04d}": picture(k % 250) * (1 + k % 3 * 400) for k in range(300)}
    write_lmdb(tmp_path / "bridge_train_lmdb", values)
    write_lmdb(tmp_path / "church_train_lmdb", {"x": picture(1), "a": picture(2)})
    write_lmdb(tmp_path / "bridge_val_lmdb", {"v": picture(3)})
    write_lmdb(tmp_path / "test_lmdb", {"t": picture(4)})
    tiny_vision.write(tmp_path / "tower_train" / "1.jpg", picture(5))
    data = ds.LSUNDataset(str(tmp_path), "train", shuffle=False)
    assert data.get_class_indexing() == {"bridge_train": 0, "church_train": 1, "tower_train": 2}
    got = rows(data)
    want = [values[k] for k in sorted(values)] + [picture(2), picture(1), picture(5)]
    assert [r["image"].tobytes() for r in got] == want
    assert [int(r["label"]) for r in got] == [0] * 300 + [1, 1, 2]
    shuffled = rows(ds.LSUNDataset(str(tmp_path), "train", shuffle=True))
    assert sorted(r["image"].tobytes() for r in shuffled) == sorted(want)
    for usage, expected in [("valid", [picture(3)]), ("test", [picture(4)])]:
        got = rows(ds.LSUNDataset(str(tmp_path), usage, shuffle=False))
        assert [r["image"].tobytes() for r in got] == expected
    file = tmp_path / "bridge_train_lmdb" / "data.mdb"
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(OSError, match="bridge_train_lmdb/data.mdb' is truncated"):
        ds.LSUNDataset(str(tmp_path), "train")
    file.write_bytes(b"no database" * 2000)
    with pytest.raises(OSError, match="bridge_train_lmdb' cannot be read as an LMDB database"):
        ds.LSUNDataset(str(tmp_path), "train")
    tiny_vision.write(tmp_path / "church_train" / "1.jpg", picture(5))
    with pytest.raises(ValueError, match="has both 'church_train' and 'church_train_lmdb'"):
        ds.LSUNDataset(str(tmp_path), "train", classes=["tower"])
