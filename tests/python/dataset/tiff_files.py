"""Writes TIFF and BigTIFF files, unpacked, tiled or in strips, pixel by pixel or band by band."""

from __future__ import annotations

import struct

import numpy as np

_KINDS = {"u": 1, "i": 2, "f": 3}


def write_tiff(path, image, tile=None, rows_per_strip=None, planar=False, big=False, photometric=1):
    """image: [h, w, bands], an array or an object with shape, dtype and slices of it (blocks are
    asked for one by one). tile: (rows, columns), multiples of 16. None for a block: a hole in the
    file, which reads as 0."""
    h, w, bands = image.shape
    dtype = np.dtype(image.dtype)
    bh, bw = tile or (rows_per_strip or h, w)
    planes = bands if planar else 1
    places = [(p, y, x) for p in range(planes) for y in range(0, h, bh) for x in range(0, w, bw)]
    block_bytes = bh * bw * (1 if planar else bands) * dtype.itemsize
    entries = [
        (256, "I", [w]), (257, "I", [h]), (258, "H", [8 * dtype.itemsize] * bands),
        (259, "H", [1]), (262, "H", [photometric]), (277, "H", [bands]),
        (284, "H", [2 if planar else 1]),
        (339, "H", [_KINDS[dtype.kind]] * bands),
    ]  # fmt: skip
    offset_kind = "Q" if big else "I"
    counts = [block_bytes] * len(places)
    if not tile:  # the last strip may be shorter
        counts = [min(bh, h - y) * (block_bytes // bh) for _, y, _ in places]
    if tile:
        entries += [(322, "I", [bw]), (323, "I", [bh])]
        entries += [(324, offset_kind, None), (325, "I", counts)]
    else:
        entries += [(273, offset_kind, None), (278, "I", [bh]), (279, "I", counts)]
    entries.sort()
    types = {"H": (3, 2), "I": (4, 4), "Q": (16, 8)}
    head = 16 if big else 8
    entry_bytes, inline = (20, 8) if big else (12, 4)
    at = head + (8 if big else 2) + entry_bytes * len(entries) + (8 if big else 4)
    extra, table = b"", []
    sizes = {e[0]: types[e[1]][1] * (len(places) if e[2] is None else len(e[2])) for e in entries}
    data_at = at + sum(n + n % 8 for n in sizes.values() if n > inline)
    data_at += -data_at % 16
    offsets = list(np.cumsum([data_at, *counts[:-1]])) if places else []
    for tag, kind, values in entries:
        values = [int(o) for o in offsets] if values is None else values
        raw = struct.pack(f"<{len(values)}{kind}", *values)
        if len(raw) > inline:
            where = at + len(extra)
            extra += raw + bytes(len(raw) % 8)
            raw = struct.pack("<Q" if big else "<I", where)
        count = struct.pack("<Q" if big else "<I", len(values))
        table.append(struct.pack("<HH", tag, types[kind][0]) + count + raw.ljust(inline, b"\0"))
    with open(path, "wb") as f:
        f.write(b"II" + (struct.pack("<HHHQ", 43, 8, 0, 16) if big else struct.pack("<HI", 42, 8)))
        f.write(struct.pack("<Q" if big else "<H", len(table)) + b"".join(table))
        f.write(bytes(8 if big else 4) + extra)
        end = offsets[-1] + counts[-1]
        f.truncate(int(end))
        for (p, y, x), offset, count in zip(places, offsets, counts, strict=True):
            block = image[y : y + bh, x : x + bw]
            if block is None:
                continue
            block = block[:, :, p : p + 1] if planar else block
            full = np.zeros((bh if tile else block.shape[0], bw, block.shape[2]), dtype)
            full[: block.shape[0], : block.shape[1]] = block
            f.seek(int(offset))
            f.write(full.tobytes()[:count])
