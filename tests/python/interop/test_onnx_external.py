"""External data of ONNX models: read beneath the model's folder, and from nowhere else."""

import os
import socket

import mycel.onnx
import numpy as np
import pytest

pytestmark = pytest.mark.one_mode("reading does not depend on the mode")

WEIGHT = np.arange(6, dtype=np.float32).reshape(2, 3)


def varint(n):
    out = b""
    while True:
        n, low = n >> 7, n & 0x7F
        out += bytes([low | (0x80 if n else 0)])
        if not n:
            return out


def field(number, payload):
    if isinstance(payload, int):
        return varint(number << 3) + varint(payload)
    payload = payload.encode() if isinstance(payload, str) else payload
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def model(**entries):
    """y = x + w, where w lies in external data that `entries` describe."""
    tensor = field(1, 2) + field(1, 3) + field(2, 1) + field(8, "w") + field(14, 1)
    for key, value in entries.items():
        tensor += field(13, field(1, key) + field(2, str(value)))
    node = field(1, "x") + field(1, "w") + field(2, "y") + field(4, "Add")
    kind = field(2, field(1, field(1, 1)))
    graph = field(1, node) + field(5, tensor)
    graph += field(11, field(1, "x") + kind) + field(12, field(1, "y") + kind)
    return field(1, 8) + field(7, graph) + field(8, field(2, 17))


@pytest.fixture
def folder(tmp_path):
    inside = tmp_path / "model"
    (inside / "parts").mkdir(parents=True)
    (inside / "w.bin").write_bytes(WEIGHT.tobytes())
    (inside / "parts" / "w.bin").write_bytes(b"12345678" + WEIGHT.tobytes())
    (tmp_path / "outside.bin").write_bytes(WEIGHT.tobytes())
    return inside


def load(folder, **entries):
    (folder / "m.onnx").write_bytes(model(**entries))
    return mycel.onnx.prepare(folder / "m.onnx")


@pytest.mark.parametrize(
    "entries",
    [
        {"location": "w.bin"},
        {"location": "w.bin", "offset": 0, "length": 24},
        {"location": "parts/w.bin", "offset": 8},
        {"location": "./parts//w.bin", "offset": 8, "length": 24},
    ],
)
def test_beneath_the_folder(folder, entries):
    np.testing.assert_array_equal(
        load(folder, **entries).run([np.ones((2, 3), "f4")])[0], WEIGHT + 1
    )


def test_bytes_with_a_folder(folder):
    handle = mycel.onnx.prepare(model(location="w.bin"), folder=folder)
    np.testing.assert_array_equal(handle.run([np.zeros((2, 3), "f4")])[0], WEIGHT)
    with pytest.raises(ValueError, match="a model given as bytes has no folder"):
        mycel.onnx.prepare(model(location="w.bin"))


@pytest.mark.parametrize(
    ("entries", "text"),
    [
        ({"location": "../outside.bin"}, "leaves its folder"),
        ({"location": "parts/../../outside.bin"}, "leaves its folder"),
        ({"location": "/etc/passwd"}, "absolute"),
        ({"location": "/dev/zero"}, "absolute"),
        ({"location": ""}, "empty"),
        ({"location": "."}, "names a folder"),
        ({"location": "parts"}, "no regular file"),
        ({"location": "parts\\w.bin"}, "backslash"),
        ({"location": "w.bin\0x"}, "zero byte"),
        ({"location": "none.bin"}, "No such file"),
        ({"location": "w.bin", "offset": 4}, "is 20 bytes"),
        ({"location": "w.bin", "length": 25}, "of a file of 24"),
        ({"location": "w.bin", "offset": 2**62, "length": 2**62}, "of a file of 24"),
        ({"location": "w.bin", "offset": -1}, "'offset' of its external data is '-1'"),
        ({"location": "w.bin", "length": "1e3"}, "'length' of its external data is '1e3'"),
    ],
)
def test_everything_else_is_refused(folder, entries, text):
    with pytest.raises((ValueError, OSError), match=text) as e:
        load(folder, **entries)
    assert "tensor 'w'" in str(e.value)


def test_links_and_devices(folder):
    os.symlink(folder.parent / "outside.bin", folder / "soft.bin")
    os.link(folder.parent / "outside.bin", folder / "hard.bin")
    os.symlink(folder.parent, folder / "up")
    os.mkfifo(folder / "pipe")
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(folder / "socket"))
    for name, text in {
        "soft.bin": "a link",
        "hard.bin": "2 hard links",
        "up/outside.bin": "a link",
        "pipe": "no regular file",
        "socket": "No such device",
    }.items():
        with pytest.raises((ValueError, OSError), match=text):
            load(folder, location=name)
    server.close()
