"""Packed archives and texts, which are read from begin to end, against the same unpacked."""

import bz2
import gzip
import io
import json
import lzma
import tarfile

import mycel.dataset as ds
import numpy as np
import pytest

PACK = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


def rows(dataset):
    return list(dataset.create_dict_iterator(num_epochs=1, output_numpy=True))


def values(dataset):
    return [[np.asarray(v).tolist() for v in r.values()] for r in rows(dataset)]


def png(value):
    image = pytest.importorskip("PIL.Image")
    out = io.BytesIO()
    image.fromarray(np.full((3, 4, 3), value, np.uint8)).save(out, "PNG")
    return out.getvalue()


def write_tar(path, first, count=5, length=3000):
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as tar:
        for k in range(first, first + count):
            long_name = "x" * (120 if k % 2 else 3)
            array = io.BytesIO()
            np.save(array, np.arange(k * length, dtype=np.int32))
            members = {
                "cls": b"%d" % k,
                "txt": f"é {k}".encode(),
                "npy": array.getvalue(),
                "json": json.dumps({"k": k}).encode(),
                "png": png(k),
                "bin": bytes(k),
            }
            for extension, content in members.items():
                info = tarfile.TarInfo(f"{long_name}/{k:04d}.{extension}")
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
    return path.read_bytes()


@pytest.mark.parametrize("kind", PACK)
def test_webdataset_of_packed_tars(tmp_path, kind):
    for s in range(2):
        content = write_tar(tmp_path / f"{s}.tar", 10 * s)
        (tmp_path / f"{s}.tar.{kind}").write_bytes(PACK[kind](content))
    plain = ds.WebDataset(f"{tmp_path}/*.tar", decode=True, shuffle=False)
    packed = ds.WebDataset(f"{tmp_path}/*.tar.{kind}", decode=True, shuffle=False)
    assert packed.get_col_names() == plain.get_col_names()
    assert values(packed) == values(plain) and packed.get_dataset_size() == 10
    assert values(packed) == values(plain)  # the next epoch too
    keys = ds.WebDataset(f"{tmp_path}/0.tar.{kind}", columns_list=["__key__", "cls"])
    assert [int(r["cls"]) for r in rows(keys)] == list(range(5))
    assert str(rows(keys)[0]["__key__"]) == "xxx/0000"
    assert len(rows(packed.take(3))) == 3
    threads = packed.map(lambda x: x, "cls", num_parallel_workers=3)
    assert values(threads) == values(plain)
    mixed = ds.WebDataset(f"{tmp_path}/*.tar.{kind}", columns_list=["cls"], shuffle=True)
    assert sorted(int(r["cls"]) for r in rows(mixed)) == [*range(5), *range(10, 15)]
    with pytest.raises(ValueError, match="is packed and .* is not"):
        ds.WebDataset([f"{tmp_path}/0.tar", f"{tmp_path}/1.tar.{kind}"])


def test_several_packed_parts_are_one(tmp_path):
    content = write_tar(tmp_path / "a.tar", 1)
    for kind, pack in PACK.items():
        parts = b"".join(pack(content[i : i + 4096]) for i in range(0, len(content), 4096))
        (tmp_path / f"a.tar.{kind}").write_bytes(parts)
        got = ds.WebDataset(str(tmp_path / f"a.tar.{kind}"), columns_list=["npy", "bin"])
        assert values(got) == values(
            ds.WebDataset(str(tmp_path / "a.tar"), columns_list=["npy", "bin"], shuffle=False)
        )


@pytest.mark.parametrize("kind", PACK)
def test_broken_packed_tars(tmp_path, kind):
    content = write_tar(tmp_path / "a.tar", 1, length=50)
    packed = PACK[kind](content)
    for name, bad, text in [
        ("short", packed[: len(packed) // 2], "truncated|cannot be unpacked"),
        ("inside", PACK[kind](content[: len(content) // 2 + 100]), "truncated"),
        ("text", PACK[kind](b"no tar" * 200), "not a sound tar archive: at byte 0"),
        ("plain", content, "not packed by gzip, zlib, bzip2, xz or zstd"),
        ("empty", b"", "not packed by"),
    ]:
        (tmp_path / f"{name}.tar.{kind}").write_bytes(bad)
        with pytest.raises(OSError, match=text) as e:
            rows(ds.WebDataset(str(tmp_path / f"{name}.tar.{kind}"), columns_list=["cls"]))
        assert f"{name}.tar.{kind}" in str(e.value)


@pytest.mark.parametrize("kind", PACK)
def test_positions_in_packed_archives_are_refused(tmp_path, kind):
    content = write_tar(tmp_path / "a.tar", 1)
    (tmp_path / f"a.tar.{kind}").write_bytes(PACK[kind](content))
    (tmp_path / "b.tar").write_bytes(PACK[kind](content))
    for path, text in [
        (f"a.tar.{kind}", "packed archives cannot be read by position; unpack it to a plain .tar"),
        (f"a.tar.{kind}/xxx", "leads into a packed archive"),
        ("b.tar", "it is packed, and packed files cannot be read by position"),
    ]:
        with pytest.raises(OSError, match=text):
            ds.ImageFolderDataset(str(tmp_path / path))


@pytest.mark.parametrize("kind", PACK)
def test_packed_texts(tmp_path, kind):
    lines = [f"line {i} é" * (i % 5) for i in range(3000)]
    text = "\n".join(lines).encode()
    (tmp_path / f"a.txt.{kind}").write_bytes(PACK[kind](text))
    (tmp_path / "b.txt").write_text("the last\n")
    data = ds.TextFileDataset([f"{tmp_path}/a.txt.{kind}", f"{tmp_path}/b.txt"], shuffle=False)
    want = [line for line in lines if line] + ["the last"]
    assert [str(r["text"]) for r in rows(data)] == want
    mixed = ds.TextFileDataset(f"{tmp_path}/a.txt.{kind}")
    assert sorted(str(r["text"]) for r in rows(mixed)) == sorted(line for line in lines if line)

    objects = [{"i": i, "s": f"t{i}"} for i in range(50)]
    text = "".join(json.dumps(o) + "\n" for o in objects).encode()
    (tmp_path / f"o.jsonl.{kind}").write_bytes(PACK[kind](text))
    data = ds.JsonLinesDataset(f"{tmp_path}/o.jsonl.{kind}", shuffle=False)
    assert data.get_col_names() == ["i", "s"]
    assert [{"i": int(r["i"]), "s": str(r["s"])} for r in rows(data)] == objects
    data = ds.JsonLinesDataset(f"{tmp_path}/o.jsonl.{kind}", columns_list=["x"], shuffle=False)
    with pytest.raises(KeyError, match="JsonLinesDataset: sample 0: .*has no member 'x'"):
        rows(data)


def test_zstd(tmp_path):
    pa = pytest.importorskip("pyarrow")
    packed = pa.Codec("zstd").compress(b"one\ntwo\n" * 1000, asbytes=True)
    (tmp_path / "a.txt.zst").write_bytes(packed + packed)
    data = ds.TextFileDataset(f"{tmp_path}/a.txt.zst", shuffle=False)
    assert [str(r["text"]) for r in rows(data)] == ["one", "two"] * 2000


@pytest.mark.parametrize("count", [1, 2, 6, 7, 8, 12])
@pytest.mark.parametrize("shards", [1, 3, 4])
def test_shards_of_streams_are_those_of_files(tmp_path, count, shards):
    text = "".join(f"line {k}\n" for k in range(count)).encode()
    (tmp_path / "a.txt").write_bytes(text)
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(text))
    for shard in range(shards):
        which = {"shuffle": False, "num_shards": shards, "shard_id": shard}
        want = values(ds.TextFileDataset(str(tmp_path / "a.txt"), **which))
        packed = ds.TextFileDataset(str(tmp_path / "a.txt.gz"), **which)
        assert values(packed) == want
        assert packed.get_dataset_size() == len(want) == -(-count // shards)


def test_shards_of_shuffled_packed_tars_share_all_samples(tmp_path):
    (tmp_path / "a.tar.gz").write_bytes(gzip.compress(write_tar(tmp_path / "a.tar", 0, 9, 10)))
    found = []
    for shard in range(3):
        d = ds.WebDataset(
            str(tmp_path / "a.tar.gz"), ["cls"], shuffle=True, num_shards=3, shard_id=shard
        )
        found.append([v for (v,) in values(d)])
        with pytest.raises(ValueError, match="'shard_id' must be from 0 to 2, got 3"):
            ds.WebDataset(str(tmp_path / "a.tar.gz"), num_shards=3, shard_id=3)
    assert sorted(sum(found, [])) == list(range(9))
