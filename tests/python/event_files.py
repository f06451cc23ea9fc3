"""Event files read by other means than Mycel's: frames, checksums and the wire format by hand."""

import glob
import os
import struct

_TABLE = []
for _i in range(256):
    for _ in range(8):
        _i = (_i >> 1) ^ 0x82F63B78 if _i & 1 else _i >> 1
    _TABLE.append(_i)


def masked_crc(data):
    """The checksum of a frame, byte by byte."""
    c = 0xFFFFFFFF
    for byte in data:
        c = _TABLE[(c ^ byte) & 255] ^ (c >> 8)
    c ^= 0xFFFFFFFF
    return ((c >> 15 | c << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(path):
    """The whole records of a file."""
    with open(path, "rb") as f:
        data = f.read()
    at = 0
    while at + 12 <= len(data):
        (n,) = struct.unpack_from("<Q", data, at)
        assert struct.unpack_from("<I", data, at + 8)[0] == masked_crc(data[at : at + 8])
        if at + 16 + n > len(data):
            return
        body = data[at + 12 : at + 12 + n]
        assert struct.unpack_from("<I", data, at + 12 + n)[0] == masked_crc(body)
        yield body
        at += 16 + n


def fields(message):
    """{number: [values]}: ints, bytes, or the bytes of fixed ones."""
    out, at = {}, 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        key = varint()
        if key & 7 == 0:
            value = varint()
        else:
            size = {1: 8, 5: 4}.get(key & 7) or varint()
            value = message[at : at + size]
            at += size
        out.setdefault(key >> 3, []).append(value)
    return out


def values(folder):
    """[(tag, step, kind, value)] of all files of a folder, in the order of their names."""
    out = []
    for path in sorted(glob.glob(os.path.join(folder, "*tfevents*"))):
        for body in records(path):
            event = fields(body)
            step = event.get(2, [0])[0]
            if 4 in event:
                out.append(("", step, "graph", event[4][0]))
            for summary in event.get(5, []):
                for value in fields(summary).get(1, []):
                    out.append(_value(fields(value), step))
    return out


def _value(v, step):
    tag = v[1][0].decode()
    if 2 in v:
        return tag, step, "scalar", struct.unpack("<f", v[2][0])[0]
    if 4 in v:
        return tag, step, "image", fields(v[4][0])[4][0]
    if 5 in v:
        h = fields(v[5][0])
        doubles = lambda n: struct.unpack(f"<{len(h[n][0]) // 8}d", h[n][0])
        numbers = {n: struct.unpack("<d", h[n][0])[0] for n in (1, 2, 3, 4, 5)}
        return tag, step, "histogram", (numbers, doubles(6), doubles(7))
    tensor, plugin = fields(v[8][0]), fields(fields(v[9][0])[1][0])[1][0].decode()
    return tag, step, plugin, tensor[8][0].decode() if 8 in tensor else tensor.get(4, [b""])[0]
