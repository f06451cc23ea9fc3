"""Missing, truncated and damaged files end in an OSError that names the file (and the sample)."""

import mycel.dataset as ds
import pytest
from tiny_files import make_all


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("broken")
    make_all(folder)
    return folder


def read(dataset):
    return list(dataset.create_tuple_iterator(num_epochs=1, output_numpy=True))


def cut(source, target, keep):
    target.write_bytes(source.read_bytes()[:keep])
    return str(target)


def flipped(source, target, at):
    data = bytearray(source.read_bytes())
    data[at] ^= 0x55
    target.write_bytes(data)
    return str(target)


def test_missing(root):
    with pytest.raises(OSError, match="no folder or archive '.*/nowhere'"):
        ds.ImageFolderDataset(f"{root}/nowhere")
    with pytest.raises(OSError, match="TextFileDataset: there is no file '.*/nowhere.txt'"):
        ds.TextFileDataset(f"{root}/nowhere.txt")
    with pytest.raises(OSError, match="no folder or archive '.*folder.tar/nowhere'"):
        ds.ImageFolderDataset(f"{root}/folder.tar/nowhere")
    with pytest.raises(OSError, match="no file '.*mnist/emnist-letters-test-images-idx3-ubyte'"):
        ds.EMnistDataset(f"{root}/mnist", "letters")


def test_tar(root, tmp_path):
    with pytest.raises(OSError, match="cut.tar' is not a sound tar archive: at byte 2560"):
        ds.ImageFolderDataset(cut(root / "folder.tar", tmp_path / "cut.tar", 2600))
    with pytest.raises(OSError, match="bad.tar' is not a sound tar archive: at byte 0"):
        ds.ImageFolderDataset(flipped(root / "folder.tar", tmp_path / "bad.tar", 3))


def test_zip(root, tmp_path):
    with pytest.raises(OSError, match="cut.zip"):
        ds.ImageFolderDataset(cut(root / "folder.zip", tmp_path / "cut.zip", -30))
    data = (root / "folder.zip").read_bytes()
    at = data.index(b"10.jpg") + 8  # inside the packed bytes of the first image
    dataset = ds.ImageFolderDataset(
        flipped(root / "folder.zip", tmp_path / "bad.zip", at), shuffle=False
    )
    with pytest.raises(OSError, match="ImageFolderDataset: sample 0: '.*bad.zip/Alpha/10.jpg'"):
        read(dataset)


def test_tfrecord(root, tmp_path):
    whole = root / "tfrecord" / "b.tfrecord"
    with pytest.raises(OSError, match="checksum of the record at byte 0"):
        read(ds.TFRecordDataset(flipped(whole, tmp_path / "a", 40), shuffle=False))
    with pytest.raises(OSError, match="no TFRecord file, or damaged: the checksum at byte 0"):
        ds.TFRecordDataset(flipped(whole, tmp_path / "b", 2))
    with pytest.raises(OSError, match="truncated: it ends inside the record at byte"):
        ds.TFRecordDataset(cut(whole, tmp_path / "c", -5))
    packed = cut(root / "tfrecord" / "gzip.tfr", tmp_path / "d", -25)
    with pytest.raises(OSError, match="sample .*: '.*/d' is truncated"):
        read(ds.TFRecordDataset(packed, compression_type="GZIP", shuffle=False))
    with pytest.raises(OSError, match="not packed by gzip, zlib, bzip2"):
        ds.TFRecordDataset(str(whole), compression_type="GZIP")


def test_values_that_do_not_fit(root):
    with pytest.raises(ValueError, match="names the column 'x'; columns: f, i, neg, s, two"):
        ds.TFRecordDataset(f"{root}/tfrecord/b.tfrecord", columns_list=["x"])
    short = ds.CSVDataset(f"{root}/csv/a.csv", column_names=["a", "b"], shuffle=False)
    with pytest.raises(OSError, match="sample 0: '.*a.csv': the record has 3 fields.*2 columns"):
        read(short)
    numbers = ds.CSVDataset(
        f"{root}/csv/c.csv",
        field_delim=";",
        column_names=["a", "b"],
        column_defaults=[1, 1],
        shuffle=False,
    )
    with pytest.raises(OSError, match="sample 0: '.*c.csv': column 'b' is int32, but holds 'x'"):
        read(numbers)


def test_idx(root, tmp_path):
    for name in ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"):
        (tmp_path / name).write_bytes((root / "mnist" / name).read_bytes())
    cut(root / "mnist" / "train-images-idx3-ubyte", tmp_path / "train-images-idx3-ubyte", 900)
    with pytest.raises(OSError, match="truncated: 2 items are promised, 884 bytes are there"):
        ds.MnistDataset(str(tmp_path), "train")
    flipped(root / "mnist" / "train-images-idx3-ubyte", tmp_path / "train-images-idx3-ubyte", 3)
    with pytest.raises(OSError, match="not an IDX file of 3 dims"):
        ds.MnistDataset(str(tmp_path), "train")
