"""Tiny files in the published layouts of data sets, made the same on every machine.

Used twice: by tools/make_source_golden.py, which lets the published framework read them and keeps
what it gave, and by test_sources.py, which compares Mycel with that.
"""

from __future__ import annotations

import gzip
import io
import json
import struct
import tarfile
import wave
import zipfile
import zlib
from pathlib import Path

import numpy as np

# 4 x 4 pixels of one colour each; made with Pillow, quality 90.
JPEGS: list[bytes] = []


def fake_image(k: int) -> bytes:
    """Bytes that stand for an encoded image where nobody decodes it."""
    return b"\xff\xd8\xff\xe0" + bytes([k] * (5 + k % 7))


def write(path: Path, content: bytes | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


# --- IDX (MNIST and its relatives)


def idx(values: np.ndarray, kind: int = 8) -> bytes:
    head = bytes([0, 0, kind, values.ndim]) + struct.pack(f">{values.ndim}I", *values.shape)
    return head + values.astype("u1" if kind == 8 else ">i4").tobytes()


def digits(count: int, first: int) -> np.ndarray:
    return (np.arange(count * 784).reshape(count, 28, 28) * 7 + first) % 256


def make_mnist(root: Path) -> None:
    for k, front in enumerate(["train", "t10k"]):
        write(root / "mnist" / f"{front}-images-idx3-ubyte", idx(digits(2, k)))
        write(root / "mnist" / f"{front}-labels-idx1-ubyte", idx(np.array([3 * k, 3 * k + 1])))
    for k, front in enumerate(["letters-train", "letters-test", "digits-train"]):
        write(root / "emnist" / f"emnist-{front}-images-idx3-ubyte", idx(digits(2, k)))
        labels = idx(np.array([3 * k, 3 * k + 1]))
        write(root / "emnist" / f"emnist-{front}-labels-idx1-ubyte", labels)
    for k, front in enumerate(["qmnist-train", "qmnist-test", "xnist"]):
        write(root / "qmnist" / f"{front}-images-idx3-ubyte", idx(digits(2, k)))
        labels = np.arange(16).reshape(2, 8) + 100 * k
        write(root / "qmnist" / f"{front}-labels-idx2-int", idx(labels, 12))


# --- TFRecord


def _crc_table() -> list[int]:
    table = []
    for c in range(256):
        for _ in range(8):
            c = c >> 1 ^ 0x82F63B78 if c & 1 else c >> 1
        table.append(c)
    return table


_TABLE = _crc_table()


def masked_crc(data: bytes) -> int:
    c = 0xFFFFFFFF
    for byte in data:
        c = _TABLE[(c ^ byte) & 255] ^ c >> 8
    c ^= 0xFFFFFFFF
    return ((c >> 15 | c << 17) + 0xA282EAD8) & 0xFFFFFFFF


def _varint(n: int) -> bytes:
    n &= (1 << 64) - 1
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _feature(values: list) -> bytes:
    if isinstance(values[0], bytes):
        return _field(1, b"".join(_field(1, v) for v in values))
    if isinstance(values[0], float):
        return _field(2, _field(1, struct.pack(f"<{len(values)}f", *values)))
    return _field(3, _field(1, b"".join(_varint(v) for v in values)))


def example(features: dict[str, list]) -> bytes:
    entries = [_field(1, k.encode()) + _field(2, _feature(v)) for k, v in features.items()]
    return _field(1, b"".join(_field(1, e) for e in entries))


def tfrecord(rows: list[dict[str, list]]) -> bytes:
    out = b""
    for row in rows:
        data = example(row)
        length = struct.pack("<Q", len(data))
        out += length + struct.pack("<I", masked_crc(length))
        out += data + struct.pack("<I", masked_crc(data))
    return out


TF_ROWS = [
    {
        "i": [k],
        "f": [0.5 * k, 1.5],
        "s": [b"text%d" % k],
        "two": [b"a", b"bb%d" % k],
        "neg": [-5 - k, 2**40],
    }
    for k in range(3)
]


def make_tfrecord(root: Path) -> None:
    folder = root / "tfrecord"
    data = tfrecord(TF_ROWS)
    write(folder / "b.tfrecord", data)
    write(folder / "a.tfrecord", tfrecord(TF_ROWS[1:]))
    write(folder / "gzip.tfr", gzip.compress(data, mtime=0))
    write(folder / "zlib.tfr", zlib.compress(data))
    schemas = {
        "list": {
            "columns": [
                {"name": "neg", "type": "int16", "rank": 1, "shape": [2]},
                {"name": "two", "type": "uint8", "rank": 2, "shape": [2, -1]},
                {"name": "s", "type": "string", "rank": 0, "shape": []},
                {"name": "i", "type": "int32", "rank": 0, "shape": []},
                {"name": "f", "type": "float32", "rank": 2, "shape": [-1, 1]},
            ]
        },
        "dict": {
            "datasetType": "TF",
            "numRows": 2,
            "columns": {"i": {"type": "int64", "rank": 1}, "two": {"type": "string", "rank": 1}},
        },
    }
    for name, schema in schemas.items():
        write(folder / f"{name}.json", json.dumps(schema))


# --- Text


def make_text(root: Path) -> None:
    text = b"first line\n\n  third  \r\nfourth\n\n\nno end \xc3\xa9"
    write(root / "text" / "b.txt", text)
    write(root / "text" / "a.txt", b"A1\nA2\n")
    write(root / "csv" / "a.csv", 'a,b,c\n1,2.5,x y\n3,4,"quoted, ""q"" end"\n5,6,\n')
    write(root / "csv" / "b.csv", '1,2.5,x y\r\n-3,4,"multi\nline"\r\n\r\n7,6e2,last')
    write(root / "csv" / "c.csv", "8;x\n9; y \n")


# --- Folders of images


def make_folders(root: Path) -> None:
    folder = root / "folder"
    k = 0
    for name, files in {
        "zeta": ["b.jpg", "a.png"],
        "Alpha": ["10.jpg", "9.jpg", "x.JPG", "y.txt"],
        "beta": ["k.bmp"],
    }.items():
        for file in files:
            k += 1
            write(folder / name / file, fake_image(k))
    (folder / "empty").mkdir()
    write(folder / "stray.jpg", b"not in a class")
    with tarfile.open(root / "folder.tar", "w") as tar:
        tar.add(folder, "./")
    with zipfile.ZipFile(root / "folder.zip", "w", zipfile.ZIP_DEFLATED) as z:
        for path in sorted(folder.rglob("*")):
            z.write(path, path.relative_to(folder))


def wav(samples: np.ndarray, rate: int) -> bytes:
    """int16 [n] or [n, channels] as a WAV file."""
    out = io.BytesIO()
    with wave.open(out, "wb") as w:
        w.setnchannels(1 if samples.ndim == 1 else samples.shape[1])
        w.setsampwidth(2)
        w.setframerate(rate)
        w.writeframes(samples.astype("<i2").tobytes())
    return out.getvalue()


def make_all(root: Path) -> None:
    for name, make in globals().items():
        if name.startswith("make_") and name != "make_all":
            make(root)
