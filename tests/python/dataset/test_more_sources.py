"""Sources that only Mycel has: WebDataset, NumPy files, windows of large images; and what the
published ones do beyond the golden rows."""

import io
import json
import tarfile

import mycel.dataset as ds
import numpy as np
import pytest
from tiff_files import write_tiff


def rows(dataset):
    return list(dataset.create_dict_iterator(num_epochs=1, output_numpy=True))


def add(tar, name, content):
    info = tarfile.TarInfo(name)
    info.size = len(content)
    tar.addfile(info, io.BytesIO(content))


def test_webdataset(tmp_path):
    array = io.BytesIO()
    np.save(array, np.arange(6, dtype=">f8").reshape(2, 3))
    for shard in range(2):
        with tarfile.open(tmp_path / f"s{shard}.tar", "w") as tar:
            for k in (7, 2):
                key = f"dir.x/{shard}{k}"
                add(tar, f"{key}.jpg", bytes([k]))
                add(tar, f"{key}.cls", b" %d\n" % k)
                add(tar, f"{key}.seg.npy", array.getvalue())
                add(tar, f"{key}.json", json.dumps([k, 0.5]).encode())
                add(tar, f"{key}.txt", "é".encode())
    data = ds.WebDataset(f"{tmp_path}/s*.tar", shuffle=False)
    assert data.get_col_names() == ["cls", "jpg", "json", "seg.npy", "txt"]
    got = rows(data)
    assert [int(r["cls"]) for r in got] == [7, 2, 7, 2]  # the order of the archives
    assert got[0]["jpg"].tolist() == [7] and str(got[0]["txt"]) == "é"
    assert got[1]["json"].tolist() == [2, 0.5] and got[1]["seg.npy"].dtype == np.float64
    assert got[1]["seg.npy"].tolist() == [[0, 1, 2], [3, 4, 5]]
    keys = ds.WebDataset(f"{tmp_path}/s1.tar", columns_list=["__key__"], shuffle=False)
    assert [str(r["__key__"]) for r in rows(keys)] == ["dir.x/17", "dir.x/12"]
    missing = ds.WebDataset(f"{tmp_path}/s1.tar", columns_list=["png"], shuffle=False)
    with pytest.raises(KeyError, match="has no file with the extension 'png', only cls, jpg"):
        rows(missing)


ARRAYS = {
    "f": np.linspace(0, 1, 6, dtype=np.float32).reshape(3, 2),
    "big": np.arange(3, dtype=">i8"),
    "b": np.array([True, False, True]),
    "u": np.array(["a", "längere", "漢字😀"]),
    "s": np.array([b"x", b"yy", b""]),
    "h": np.array([[1.5], [2], [-3]], np.float16),
    "e": np.zeros((3, 0), np.uint8),
}


@pytest.mark.parametrize("packed", [False, True])
def test_numpy_files(tmp_path, packed):
    (np.savez_compressed if packed else np.savez)(tmp_path / "a.npz", **ARRAYS)
    data = ds.NumpyFileDataset(str(tmp_path / "a.npz"), shuffle=False)
    assert data.get_col_names() == sorted(ARRAYS)
    got = rows(data)
    for k in range(3):
        for name, want in ARRAYS.items():
            cell = got[k][name]
            if want.dtype.kind in "US":
                assert str(cell) == (want[k].decode() if want.dtype.kind == "S" else want[k])
            else:
                assert cell.dtype == want.dtype.newbyteorder("="), name
                assert np.array_equal(cell, want[k])
    files = []
    for name in ("f", "b"):
        np.save(tmp_path / f"{name}.npy", ARRAYS[name])
        files.append(str(tmp_path / f"{name}.npy"))
    data = ds.NumpyFileDataset(files, ["x", "y"], shuffle=False)
    assert data.get_col_names() == ["x", "y"]
    assert np.array_equal([r["x"] for r in rows(data)], ARRAYS["f"])


def test_numpy_files_that_cannot_be_read(tmp_path):
    def saved(name, array):
        np.save(tmp_path / name, array, allow_pickle=True)
        return str(tmp_path / name)

    for array, text in [
        (np.zeros((2, 3)).T, "in Fortran's order"),
        (np.array([{}, {}], object), r"the dtype .* is not supported"),
        (np.zeros(2, "M8[s]"), "is not supported"),
        (np.zeros(2, [("a", "f4")]), "is not supported"),
    ]:
        with pytest.raises(OSError, match=text):
            ds.NumpyFileDataset(saved("x.npy", array))
    path = saved("x.npy", np.zeros(100))
    data = (tmp_path / "x.npy").read_bytes()
    (tmp_path / "x.npy").write_bytes(data[:-1])
    with pytest.raises(OSError, match="x.npy' cannot be read as a NumPy array: it is truncated"):
        ds.NumpyFileDataset(path)
    (tmp_path / "x.npy").write_bytes(data[:60])
    with pytest.raises(OSError, match="its header is truncated"):
        ds.NumpyFileDataset(path)
    with pytest.raises(ValueError, match="'b' has 2 rows, 'a' has 3"):
        ds.NumpyFileDataset([saved("a.npy", np.zeros(3)), saved("b.npy", np.zeros(2))])


@pytest.mark.parametrize(
    "layout",
    [
        {"tile": (16, 32)},
        {"tile": (32, 16), "planar": True, "big": True},
        {"rows_per_strip": 7},
        {"rows_per_strip": 50, "planar": True},
    ],
)
@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32"])
def test_windows_of_a_large_image(tmp_path, layout, dtype):
    image = (np.arange(50 * 70 * 3).reshape(50, 70, 3) * 31 % 251).astype(dtype)
    path = str(tmp_path / "a.tif")
    write_tiff(path, image, **layout)
    data = ds.GeoTiffDataset(path, [20, 30], [4, 10], shuffle=False)
    got = rows(data)
    assert [(int(r["row"]), int(r["col"])) for r in got] == [
        (y, x) for y in (0, 16, 30) for x in (0, 20, 40)
    ]
    for r in got:
        y, x = int(r["row"]), int(r["col"])
        assert r["image"].dtype == dtype
        assert np.array_equal(r["image"], image[y : y + 20, x : x + 30])
    (whole,) = rows(ds.GeoTiffDataset(path, [64, 80], shuffle=False))  # larger than the image
    assert np.array_equal(whole["image"][:50, :70], image) and not whole["image"][50:].any()
    parts = [ds.GeoTiffDataset(path, 20, num_shards=2, shard_id=k, shuffle=False) for k in range(2)]
    seen = [(int(r["row"]), int(r["col"])) for p in parts for r in rows(p)]
    assert sorted(seen) == [(y, x) for y in (0, 20, 30) for x in (0, 20, 40, 50)]


def test_damaged_image(tmp_path):
    path = tmp_path / "a.tif"
    write_tiff(path, np.ones((50, 70, 1), np.uint8), tile=(16, 16))
    data = path.read_bytes()
    path.write_bytes(data[:-300])
    dataset = ds.GeoTiffDataset(str(path), 16, shuffle=False)
    with pytest.raises(OSError, match="sample 1[0-9]: '.*a.tif' is damaged: the block at row"):
        rows(dataset)
    path.write_bytes(data[:100])
    with pytest.raises(OSError, match="a.tif' is no sound TIFF file"):
        ds.GeoTiffDataset(str(path), 16)
    with pytest.raises(ValueError, match="'overlap' must be smaller than the window"):
        ds.GeoTiffDataset(str(path), 16, 16)


def test_names_of_files(tmp_path):
    """extra_metadata of VOC and COCO."""
    from pathlib import Path

    from tiny_files import make_coco, make_voc

    make_voc(Path(tmp_path))
    make_coco(Path(tmp_path))
    voc = ds.VOCDataset(f"{tmp_path}/voc", "Detection", shuffle=False, extra_metadata=True)
    assert [str(r["_meta-filename"]) for r in rows(voc)] == ["2012_2.jpg", "2011_1.jpg"]
    assert voc.get_class_indexing() == {"cat": 0, "dog": 1}
    coco = ds.CocoDataset(
        f"{tmp_path}/coco/images", f"{tmp_path}/coco/boxes.json", shuffle=False, extra_metadata=True
    )
    assert str(rows(coco)[0]["_meta-filename"]) == "000000000001.jpg"
    with pytest.raises(OSError, match="boxes.json' has not the members of COCO's task Captioning"):
        ds.CocoDataset(f"{tmp_path}/coco/images", f"{tmp_path}/coco/boxes.json", task="Captioning")


def test_the_page_is_up_to_date():
    import subprocess
    import sys
    from pathlib import Path

    tool = Path(__file__).resolve().parents[3] / "tools" / "dataset_page.py"
    done = subprocess.run(
        [sys.executable, str(tool), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_tar_formats(tmp_path):
    """Long names and large sizes of ustar, GNU and pax; the last of members of one name counts."""
    long_name = "class/" + "y" * 180 + ".jpg"
    for form in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        path = tmp_path / f"{form}.tar"
        with tarfile.open(path, "w", format=form) as tar:
            add(tar, long_name, b"long")
            add(tar, "class/é.jpg", b"old")
            add(tar, "class/é.jpg", b"new")
        got = rows(ds.ImageFolderDataset(str(path), shuffle=False))
        assert [r["image"].tobytes() for r in got] == [b"long", b"new"]
    ustar = "folder" * 16 + "/class/" + "z" * 90 + ".jpg"
    with tarfile.open(tmp_path / "u.tar", "w", format=tarfile.USTAR_FORMAT) as tar:
        add(tar, ustar, b"prefix")
    got = rows(ds.ImageFolderDataset(f"{tmp_path}/u.tar/{'folder' * 16}", shuffle=False))
    assert [r["image"].tobytes() for r in got] == [b"prefix"]
    with tarfile.open(tmp_path / "p.tar.gz", "w:gz") as tar:
        add(tar, "class/a.jpg", b"a")
    with pytest.raises(OSError, match="packed archives cannot be read by position"):
        ds.ImageFolderDataset(str(tmp_path / "p.tar.gz"))


@pytest.mark.parametrize("packed", [False, True])
def test_files_of_matlab(tmp_path, packed):
    """Against what SciPy reads, turned as the published sources turn it."""
    from scipy.io import loadmat, savemat

    rng = np.random.default_rng(0)
    (tmp_path / "svhn").mkdir()
    want = []
    for part in ("train", "test", "extra"):
        arrays = {
            "other": np.ones((2, 2)),
            "X": rng.integers(0, 256, (32, 32, 3, 2), dtype=np.uint8),
            "y": np.array([[10], [3]], np.uint8),
        }
        path = tmp_path / "svhn" / f"{part}_32x32.mat"
        savemat(path, arrays, do_compression=packed)
        want.append(loadmat(path)["X"].transpose(3, 0, 1, 2))
    data = ds.SVHNDataset(str(tmp_path / "svhn"), shuffle=False)
    got = rows(data)
    assert np.array_equal([r["image"] for r in got], np.concatenate(want))
    assert [int(r["label"]) for r in got] == [0, 3] * 3 and got[0]["label"].dtype == np.uint32
    assert ds.SVHNDataset(str(tmp_path / "svhn"), "test").get_dataset_size() == 2

    root = tmp_path / "caltech"
    outlines = []
    for name, notes in (("Faces", "Faces_2"), ("anchor", "anchor")):
        (root / "101_ObjectCategories" / name).mkdir(parents=True)
        (root / "Annotations" / notes).mkdir(parents=True)
        for n in (1, 2):
            image = root / "101_ObjectCategories" / name / f"image_{n:04d}.jpg"
            image.write_bytes(f"{name}{n}".encode())
            outlines.append(rng.random((2, 3 + n)))
            savemat(
                root / "Annotations" / notes / f"annotation_{n:04d}.mat",
                {"box_coord": np.ones((1, 4), np.uint16), "obj_contour": outlines[-1]},
                do_compression=packed,
            )
    (root / "101_ObjectCategories" / "BACKGROUND_Google").mkdir()
    got = rows(ds.Caltech101Dataset(str(root), "all", shuffle=False))
    assert [r["image"].tobytes() for r in got] == [b"Faces1", b"Faces2", b"anchor1", b"anchor2"]
    assert [int(r["category"]) for r in got] == [0, 0, 1, 1]
    for r, outline in zip(got, outlines, strict=True):
        assert np.array_equal(r["annotation"], outline)
    whole = (tmp_path / "svhn" / "test_32x32.mat").read_bytes()
    (tmp_path / "svhn" / "test_32x32.mat").write_bytes(whole[:3000])
    with pytest.raises(OSError, match="test_32x32.mat' cannot be read as a MATLAB file"):
        ds.SVHNDataset(str(tmp_path / "svhn"), "test")


def test_hdf5(tmp_path):
    from pathlib import Path

    from hdf5_arrays import arrays

    path = Path(__file__).parent / "arrays.h5"
    want = arrays()
    got = rows(ds.Hdf5Dataset(str(path), list(want), shuffle=False))
    assert len(got) == 5
    for k, row in enumerate(got):
        for name, array in want.items():
            if array.dtype.kind == "U":
                assert str(row[name]) == array[k]
            else:
                assert row[name].dtype == array.dtype.newbyteorder("=")
                assert np.array_equal(row[name], array[k])
    with pytest.raises(KeyError, match="has no array .*, only big, complex, fixed, other/length"):
        ds.Hdf5Dataset(str(path), ["x"])
    with pytest.raises(ValueError, match="array 'other/length' has 2 rows, 'big' has 5"):
        ds.Hdf5Dataset(str(path), ["big", "other/length"])
    with pytest.raises(NotImplementedError, match="'complex' holds neither numbers nor strings"):
        ds.Hdf5Dataset(str(path))
    (tmp_path / "cut.h5").write_bytes(path.read_bytes()[:3000])
    with pytest.raises(OSError, match="cut.h5' cannot be read as an HDF5 file"):
        ds.Hdf5Dataset(str(tmp_path / "cut.h5"))
