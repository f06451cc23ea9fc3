"""Tiny files in the published layouts of further data sets of pictures; as tiny_files."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np


def picture(k: int) -> bytes:
    """Bytes that stand for an encoded image where nobody decodes it."""
    return b"\xff\xd8\xff\xe0" + bytes([k] * (5 + k % 7))


def write(path: Path, content: bytes | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def write_pictures(root: Path, paths: list[str], first: int = 0) -> None:
    for k, path in enumerate(paths):
        write(root / path, picture(first + k))


def bmp(pixels: np.ndarray) -> bytes:
    """A grey picture [h, w], w a multiple of 4, with a palette of 256 greys."""
    h, w = pixels.shape
    palette = b"".join(bytes([g, g, g, 0]) for g in range(256))
    offset = 14 + 40 + len(palette)
    head = b"BM" + struct.pack("<IHHI", offset + pixels.size, 0, 0, offset)
    info = struct.pack("<IiiHHIIiiII", 40, w, h, 1, 8, 0, pixels.size, 2835, 2835, 256, 0)
    return head + info + palette + pixels[::-1].tobytes()


def make_cityscapes(root: Path) -> None:
    folder = root / "cityscapes"
    k = 0
    for quality, parts in {
        "gtFine": ["train", "test", "val"],
        "gtCoarse": ["train", "train_extra", "val"],
    }.items():
        for part in parts:
            for city, number in [("ulm", 1), ("bonn", 7), ("bonn", 2)]:
                stem = f"{city}_{number:06d}_000019"
                k += 1
                write(folder / "leftImg8bit" / part / city / f"{stem}_leftImg8bit.png", picture(k))
                for ending in ["color.png", "instanceIds.png", "labelIds.png"]:
                    k += 1
                    write(folder / quality / part / city / f"{stem}_{quality}_{ending}", picture(k))
                text = json.dumps({"imgHeight": k, "objects": [{"label": "road"}]}, indent=1)
                write(folder / quality / part / city / f"{stem}_{quality}_polygons.json", text)


def make_div2k(root: Path) -> None:
    folder = root / "div2k"
    for p, part in enumerate(["train", "valid"]):
        for n in [9, 1, 3]:
            write(folder / f"DIV2K_{part}_HR" / f"{n:04d}.png", picture(n + p))
            for way, scales in {"bicubic": [2, 3, 4], "unknown": [2, 3, 4]}.items():
                for s in scales:
                    low = folder / f"DIV2K_{part}_LR_{way}" / f"X{s}" / f"{n:04d}x{s}.png"
                    write(low, picture(20 + n + p + 3 * s))
            write(folder / f"DIV2K_{part}_LR_x8" / f"{n:04d}x8.png", picture(60 + n + p))
            for way in ["mild", "difficult", "wild"]:
                low = folder / f"DIV2K_{part}_LR_{way}" / f"{n:04d}x4{way[0]}.png"
                write(low, picture(70 + n + p + ord(way[0]) % 10))


def make_kitti(root: Path) -> None:
    folder = root / "kitti"
    for n in [2, 0, 1]:
        write(folder / "data_object_image_2" / "training" / "image_2" / f"{n:06d}.png", picture(n))
        lines = [
            f"{kind} 0.{n}5 {n} -1.{n}2 {10 + j}.5 20.25 30.75 4{n}.125 1.5 2.{n} 3.5 {j}.5 -6.5 "
            f"7.{n} 0.0{n}\n"
            for j, kind in enumerate(["Car", "DontCare", "Pedestrian", "Cyclist"][: n + 1])
        ]
        write(
            folder / "data_object_label_2" / "training" / "label_2" / f"{n:06d}.txt", "".join(lines)
        )
        test = folder / "data_object_image_2" / "testing" / "image_2" / f"{n:06d}.png"
        write(test, picture(n + 8))
    kinds = "Car Van Truck Pedestrian Person_sitting Cyclist Tram Misc DontCare".split()
    line = " 0.00 0 -1.5 1.0 2.0 3.0 4.0 1 2 3 4 5 6 0.5\n"
    write(folder / "data_object_image_2" / "training" / "image_2" / "000003.png", picture(9))
    write(
        folder / "data_object_label_2" / "training" / "label_2" / "000003.txt",
        "".join(k + line for k in kinds),
    )


def make_lfw(root: Path) -> None:
    folder = root / "lfw"
    k = 0
    for images in ["lfw", "lfw_funneled", "lfw-deepfunneled"]:
        for name, count in [("Ann_Bo", 3), ("Cy_Do", 2), ("Ed_Fu", 1), ("Gil_Hu", 2)]:
            for n in range(count):
                k += 1
                write(folder / images / name / f"{name}_{n + 1:04d}.jpg", picture(k))
    write(folder / "lfw-names.txt", "Ann_Bo\t3\nCy_Do\t2\nEd_Fu\t1\nGil_Hu\t2\n")
    write(folder / "peopleDevTrain.txt", "2\nGil_Hu\t2\nAnn_Bo\t3\n")
    write(folder / "peopleDevTest.txt", "2\nCy_Do\t2\nEd_Fu\t1\n")
    write(folder / "people.txt", "2\n2\nAnn_Bo\t3\nEd_Fu\t1\n2\nCy_Do\t2\nGil_Hu\t2\n")
    train = "2\nAnn_Bo\t1\t3\nCy_Do\t1\t2\nAnn_Bo\t2\tEd_Fu\t1\nGil_Hu\t1\tCy_Do\t2\n"
    write(folder / "pairsDevTrain.txt", train)
    write(folder / "pairsDevTest.txt", "1\nGil_Hu\t2\t1\nEd_Fu\t1\tGil_Hu\t2\n")
    pairs = "2\t1\nAnn_Bo\t1\t2\nCy_Do\t1\tEd_Fu\t1\nGil_Hu\t1\t2\nAnn_Bo\t3\tCy_Do\t1\n"
    write(folder / "pairs.txt", pairs)


def make_lsun(root: Path) -> None:
    k = 0
    for place in ["bedroom_train", "bedroom_val", "classroom_train", "classroom_val", "test"]:
        for name in ["1_2.jpg", "1_1.jpg"]:
            k += 1
            write(root / "lsun" / place / name, picture(k))


def make_omniglot(root: Path) -> None:
    k = 0
    for part in ["images_background", "images_evaluation"]:
        for path in [
            "Latin/character02/2.png",
            "Latin/character01/1.png",
            "Greek/character01/3.png",
        ]:
            k += 1
            write(root / "omniglot" / part / path, picture(k))
            write(root / "omniglot" / part / path.replace("/", "/0", 1), picture(k + 7))


def make_photo_tour(root: Path) -> None:
    folder = root / "phototour" / "liberty"
    count = 300  # more than one picture of 16 x 16 patches holds
    side = np.arange(1024)
    for n in range(2):
        pixels = (side[:, None] // 64 * 16 + side[None, :] // 64 + side[None, :] % 5 + n).astype(
            np.uint8
        )
        write(folder / f"patches{n:04d}.bmp", bmp(pixels))
    write(folder / "info.txt", "".join(f"{i // 3} 0\n" for i in range(count)))
    lines = "5 1 0 6 2 0 0\n299 99 0 298 99 0 0\n0 0 0 256 85 0 0\n"
    write(folder / "m50_100000_100000_0.txt", lines)


def make_rendered_sst2(root: Path) -> None:
    k = 0
    for part in ["train", "test", "valid"]:
        for path in ["positive/2.png", "positive/1.png", "negative/7.png"]:
            k += 1
            write(root / "rendered_sst2" / part / path, picture(k))


def make_sbu(root: Path) -> None:
    folder = root / "sbu"
    urls = [
        "http://static.flickr.com/2723/4385058960_b0f291553e.jpg",
        "http://static.flickr.com/3348/3183472382_156bcbc461.jpg",
        "http://static.flickr.com/1/missing_0.jpg",
        "http://static.flickr.com/3348/a_b.jpg",
    ]
    write(folder / "SBU_captioned_photo_dataset_urls.txt", "\n".join(urls) + "\n")
    captions = ["A wooden chair.", " the view ", "not there", "é, the last"]
    write(folder / "SBU_captioned_photo_dataset_captions.txt", "\n".join(captions) + "\n")
    for k, url in enumerate(urls):
        if "missing" not in url:
            name = url.removeprefix("http://static.flickr.com/").replace("/", "_")
            write(folder / "sbu_images" / f"m_{name}", picture(k))


def make_semeion(root: Path) -> None:
    text = ""
    for k in range(4):
        bits = (np.arange(256) * (k + 3) % 7 < 3).astype(int)
        text += " ".join(f"{b}.0000" for b in bits) + " "
        text += " ".join(str(int(d == 3 * k % 10)) for d in range(10)) + " \n"
    write(root / "semeion" / "semeion.data", text)
    write(root / "semeion" / "semeion.names", "text")


def make_usps(root: Path) -> None:
    for f, name in enumerate(["usps", "usps.t"]):
        text = ""
        for k in range(3):
            values = ((np.arange(256) * (k + 5 + f)) % 201 - 100) / 100
            text += f"{(k + 4 * f) % 10 + 1} "
            text += " ".join(f"{i + 1}:{v:g}" for i, v in enumerate(values)) + " \n"
        write(root / "usps" / name, text)


def make_wider_face(root: Path) -> None:
    folder = root / "wider"
    k = 0
    for part, listed in {
        "train": ["0--Parade/b", "0--Parade/a", "9--Press/c"],
        "val": ["3--Riot/d"],
    }.items():
        text = ""
        for name in listed:
            k += 1
            write(folder / f"WIDER_{part}" / "images" / f"{name}.jpg", picture(k))
            text += f"{name}.jpg\n{k % 3}\n"
            for box in range(max(1, k % 3)):
                text += f"{k + box} {2 * k} {30 + box} 40 0 1 0 {k % 3} 1 0 \n"
        write(folder / "wider_face_split" / f"wider_face_{part}_bbx_gt.txt", text)
    for name in ["0--Parade/t2", "0--Parade/t1"]:
        k += 1
        write(folder / "WIDER_test" / "images" / f"{name}.jpg", picture(k))
    write(
        folder / "wider_face_split" / "wider_face_test_filelist.txt",
        "0--Parade/t2.jpg\n0--Parade/t1.jpg\n",
    )


def make_mat_sets(root: Path) -> None:
    import scipy.io
    import scipy.sparse

    folder = root / "flowers"
    write_pictures(folder, [f"jpg/image_{n:05d}.jpg" for n in range(1, 7)])
    write_pictures(folder, [f"segmim/segmim_{n:05d}.jpg" for n in range(1, 7)], 30)
    scipy.io.savemat(folder / "imagelabels.mat", {"labels": np.array([[3, 1, 102, 7, 7, 2]], "u1")})
    ids = {"trnid": [[4, 2]], "valid": [[1]], "tstid": [[6, 3, 5]]}
    scipy.io.savemat(folder / "setid.mat", {k: np.array(v, "u2") for k, v in ids.items()})

    folder = root / "sbd"
    write(folder / "train.txt", "2008_2\n2008_1\n")
    write(folder / "val.txt", "2008_3\n")
    write(folder / "train_noval.txt", "2008_1\n")
    for n in (1, 2, 3):
        write(folder / "img" / f"2008_{n}.jpg", picture(n))
        boundaries = np.empty((20, 1), object)
        for c in range(20):
            dense = (np.arange(5 * (3 + n)).reshape(5, 3 + n) * (c + n) % 9 == 0) & (c % 3 != 1)
            boundaries[c, 0] = scipy.sparse.csc_matrix(dense)
        segmentation = (np.arange(5 * (3 + n)).reshape(5, 3 + n) * n % 21).astype(np.uint8)
        present = np.array([[1], [7]], np.uint8)
        struct_ = {
            "Boundaries": boundaries,
            "Segmentation": segmentation,
            "CategoriesPresent": present,
        }
        (folder / "cls").mkdir(exist_ok=True)
        scipy.io.savemat(
            folder / "cls" / f"2008_{n}.mat", {"GTcls": struct_}, do_compression=n == 2
        )


MAKERS = [make for name, make in list(globals().items()) if name.startswith("make_")]
