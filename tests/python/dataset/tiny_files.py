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
import tiny_vision

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


# --- Data sets of text


def make_text_sets(root: Path) -> None:
    for k, usage in enumerate(["train", "test"]):
        two = f'"{k + 1}","A ""q"" {usage}","line one, {usage}"\n"2","B\\nb","last"\n'
        write(root / "news" / f"{usage}.csv", two)
        four = f'"{k + 1}","title {usage}","content",""\n"9","t","c, c","best answer"\n'
        write(root / "answers" / f"{usage}.csv", four)
        write(root / "yelp" / f"{usage}.csv", f'"{k + 1}","review {usage}"\n"2","x, y"\n')
        for sentiment in ["pos", "neg"]:
            for file in ["10_7.txt", "2_9.txt"]:
                text = f"{usage} {sentiment} <br /> text of {file}"
                write(root / "imdb" / usage / sentiment / file, text)
        lines = f"In IN B-PP\n{usage} NN B-NP\n. . O\n\nOne CD B-NP\n\n"
        write(root / "conll" / f"{usage}.txt", lines)
    for usage in ["train", "test", "valid"]:
        text = f" \n = Title {usage} = \n\n no it was  {usage} <unk> \nlast"
        write(root / "wikitext" / f"wiki.{usage}.tokens", text)
        write(root / "ptb" / f"ptb.{usage}.txt", text)
    write(root / "enwik9" / "enwik9", "<mediawiki>\n\n  <page>\n text \n")
    for usage in ["train", "test", "dev"]:
        lines = f"From\tADP\tIN\n{usage}\tPROPN\tNNP\n\nThe\tDET\tDT\n\n"
        write(root / "udpos" / f"en-ud-tag.v2.{usage}.txt", lines)
    write(root / "sst2" / "train.tsv", "sentence\tlabel\nhide new  \t0\ncontains, wit\t1\n")
    write(root / "sst2" / "dev.tsv", "sentence\tlabel\nit 's a charming\t1\n")
    write(root / "sst2" / "test.tsv", "index\tsentence\n0\tuneasy mishmash\n1\tlast \n")
    for part, file in {
        "training": "train",
        "validation": "val",
        "mmt16_task1_test": "test",
    }.items():
        for language in ["en", "de"]:
            text = f"{file} one {language}\n\n{file} two {language}\n"
            write(root / "multi30k" / part / f"{file}.{language}", text)
    make_squad(root)
    make_clue(root)
    make_iwslt(root)


def make_squad(root: Path) -> None:
    for version in ["1.1", "2.0"]:
        for usage in ["train", "dev"]:
            questions = [
                {
                    "question": f"Who {usage}?",
                    "id": "1",
                    "answers": [
                        {"text": "me", "answer_start": 3},
                        {"text": "us", "answer_start": 7},
                    ],
                },
                {"question": "Why?", "id": "2", "answers": []},
            ]
            if version == "1.1":
                questions.pop()
            data = {
                "data": [
                    {"title": "t", "paragraphs": [{"context": f"ctx {usage}", "qas": questions}]}
                ],
                "version": version,
            }
            folder = root / ("squad1" if version == "1.1" else "squad2")
            write(folder / f"{usage}-v{version}.json", json.dumps(data))


def make_clue(root: Path) -> None:
    rows = {
        "afqmc": {"sentence1": "s1", "sentence2": "s2", "label": "1"},
        "tnews": {"label": "102", "label_desc": "news", "sentence": "s", "keywords": "k,l"},
        "iflytek": {"label": "11", "label_des": "d", "sentence": "s"},
        "cmnli": {"sentence1": "s1", "sentence2": "s2", "label": "neutral"},
        "wsc": {
            "target": {"span2_index": 4, "span1_index": 0, "span1_text": "a", "span2_text": "b"},
            "idx": 7,
            "label": "false",
            "text": "t",
        },
        "csl": {"id": 3, "abst": "ab", "keyword": ["x", "y", "zz"], "label": "1"},
    }
    for task, row in rows.items():
        folder = root / "clue" / task
        write(folder / "train.json", (json.dumps(row) + "\n") * 2)
        write(folder / "dev.json", json.dumps(row) + "\n")
        test = {k: v for k, v in row.items() if not k.startswith("label")}
        if task != "wsc":
            test["id"] = 5
        write(folder / "test.json", json.dumps(test) + "\n")


def make_iwslt(root: Path) -> None:
    def tags(text: str) -> str:
        return (
            "<url>http://x</url>\n<keywords>k</keywords>\n<title>T</title>\n"
            f"<translator></translator>\n {text} one.\n{text} two & three \n"
        )

    def xml(text: str) -> str:
        return (
            '<?xml version="1.0" encoding="UTF-8"?>\n<mteval>\n<srcset setid="x" srclang="e">\n'
            '<doc docid="1" genre="lectures">\n<url>u</url>\n<title>T</title>\n'
            f'<seg id="1"> {text} one. </seg>\n<seg id="2">{text} &amp; two</seg>\n</doc>\n'
            '<doc docid="2">\n<seg id="1"> third </seg>\n</doc>\n</srcset>\n</mteval>\n'
        )

    for year, folder in {
        16: root / "iwslt2016" / "texts" / "de" / "en" / "de-en",
        17: root / "iwslt2017" / "texts" / "DeEnItNlRo" / "DeEnItNlRo" / "DeEnItNlRo-DeEnItNlRo",
    }.items():
        for language in ["de", "en"]:
            write(folder / f"train.tags.de-en.{language}", tags(language))
            sets = ["dev2010", "tst2010"]
            if year == 16:
                sets += ["tst2013", "tst2014"]
            for name in sets:
                file = f"IWSLT{year}.TED.{name}.de-en.{language}.xml"
                write(folder / file, xml(f"{name} {language}"))


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


def make_voc(root: Path) -> None:
    folder = root / "voc"
    for k, name in enumerate(["2011_1", "2012_2"]):
        objects = "".join(
            f"<object><name>{n}</name><pose>Unspecified</pose><truncated>{k}</truncated>"
            f"<difficult>{d}</difficult><bndbox><xmin>{5 * d + 1}</xmin><ymin>{k + 2}</ymin>"
            f"<xmax>{60 + k}</xmax><ymax>{40 + d}</ymax></bndbox></object>"
            for n, d in [("dog", 0), ("cat", 1)][: k + 1]
        )
        xml = (
            f"<?xml version='1.0'?><annotation><folder>V</folder><filename>{name}.jpg</filename>"
            "<size><width>64</width><height>48</height><depth>3</depth></size>"
            f"<segmented>1</segmented>{objects}</annotation>"
        )
        write(folder / "Annotations" / f"{name}.xml", xml)
        write(folder / "JPEGImages" / f"{name}.jpg", fake_image(k))
        write(folder / "SegmentationClass" / f"{name}.png", fake_image(k + 9))
    for task in ["Main", "Segmentation"]:
        write(folder / "ImageSets" / task / "train.txt", "2012_2\n2011_1\n")
        write(folder / "ImageSets" / task / "val.txt", "2011_1\n")


def make_coco(root: Path) -> None:
    folder = root / "coco"
    for k in range(3):
        write(folder / "images" / f"{k:012d}.jpg", fake_image(k))
    images = [{"id": 40 - k, "file_name": f"{k:012d}.jpg"} for k in (1, 0, 2)]
    categories = [
        {"id": 1, "name": "person", "isthing": 1, "supercategory": "p"},
        {"id": 7, "name": "train", "isthing": 0, "supercategory": "v"},
    ]
    boxes = [
        {
            "id": 100 + k,
            "image_id": 40 - k % 2,
            "category_id": [1, 7][k % 2],
            "bbox": [10.5 + k, 20, 30, 40.25],
            "iscrowd": k % 2,
            "area": 1200.5 + k,
            "segmentation": {"counts": [3, 1, 2 + k], "size": [2, 3]}
            if k % 2
            else [[1.0 * k, 2.0, 3.0, 4.0, 5.0, 6.0], [7, 8, 9, 10.5]][: 1 + (k == 0)],
            "keypoints": [k, 2, 2, 3, 4, 1],
            "num_keypoints": 2,
        }
        for k in range(3)
    ]
    panoptic = [
        {
            "image_id": 40 - k,
            "file_name": f"{k:012d}.png",
            "segments_info": [
                {"id": 9, "category_id": 7, "bbox": [1, 2, 3, 4 + k], "iscrowd": 0, "area": 12}
            ],
        }
        for k in range(2)
    ]
    captions = [{"id": 5 + k, "image_id": 40 - k // 2, "caption": f"caption {k}"} for k in range(3)]
    for name, listed in [("boxes", boxes), ("panoptic", panoptic), ("captions", captions)]:
        data = {"info": {}, "images": images, "annotations": listed, "categories": categories}
        write(folder / f"{name}.json", json.dumps(data))


def make_pictures(root: Path) -> None:
    folder = root / "celeba"
    names = " ".join(f"A{k}" for k in range(40))
    lines = []
    for k in range(3):
        write(folder / f"{k:06d}.jpg", fake_image(k))
        lines.append(f"{k:06d}.jpg " + " ".join(str(1 - 2 * ((j + k) % 2)) for j in range(40)))
    write(folder / "list_attr_celeba.txt", f"3\n{names}\n" + "\n".join(lines) + "\n")
    write(folder / "list_eval_partition.txt", "000000.jpg 0\n000001.jpg 1\n000002.jpg 0\n")
    lines = [
        ("train", "a.jpg", ["dog"]),
        ("train", "b.jpg", ["cat"]),
        ("eval", "c.jpg", ["cat"]),
        ("train", "d.jpg", ["dog", "cat"]),
    ]
    text = ""
    for k, (usage, file, labels) in enumerate(lines):
        write(root / "manifest" / file, fake_image(k))
        annotations = [{"type": "modelarts/image_classification", "name": n} for n in labels]
        source = str(root / "manifest" / file)
        text += json.dumps({"source": source, "usage": usage, "annotation": annotations}) + "\n"
    write(root / "manifest" / "all.manifest", text)
    text = "".join(f"{k}.jpg#{c}\tcaption {c} of {k}\n" for k in range(2) for c in range(5))
    write(root / "flickr" / "captions.token", text)
    for k in range(2):
        write(root / "flickr" / "images" / f"{k}.jpg", fake_image(k))
    pixels = (np.arange(3 * 3 * 96 * 96) * 7 % 251).astype(np.uint8)
    for part in ["train", "test"]:
        write(root / "stl10" / f"{part}_X.bin", pixels.tobytes())
        write(root / "stl10" / f"{part}_y.bin", bytes([2, 1, 10]))
    write(root / "stl10" / "unlabeled_X.bin", pixels[: 96 * 96 * 3].tobytes())
    for k, path in enumerate(["apple_pie/1", "apple_pie/2", "sushi/7"]):
        write(root / "food101" / "images" / f"{path}.jpg", fake_image(k))
    write(root / "food101" / "meta" / "train.txt", "apple_pie/2\nsushi/7\n")
    write(root / "food101" / "meta" / "test.txt", "apple_pie/1\n")
    for k, path in enumerate(["a/abbey/sun_b.jpg", "a/abbey/sun_a.jpg", "b/bar/out/sun_x.jpg"]):
        write(root / "sun397" / path, fake_image(k))
    write(root / "sun397" / "ClassName.txt", "/a/abbey\n/b/bar/out\n")
    for k, path in enumerate(["001.ak47/001_0002.jpg", "001.ak47/001_0001.jpg", "002.flag/1.jpg"]):
        write(root / "caltech256" / path, fake_image(k))
    places = root / "places365"
    write(places / "categories_places365.txt", "/a/airfield 0\n/b/bar 5\n")
    write(places / "places365_train_standard.txt", "/b/bar/2.jpg 5\n/a/airfield/1.jpg 0\n")
    write(places / "places365_val.txt", "v1.jpg 5\n")
    for size in ["256", "large"]:
        train = f"data_{size}_standard"
        write(places / train / "b" / "bar" / "2.jpg", fake_image(2))
        write(places / train / "a" / "airfield" / "1.jpg", fake_image(1))
        write(places / f"val_{size}" / "v1.jpg", fake_image(3))


def make_sound(root: Path) -> None:
    tone = (np.arange(40) * 811 % 6000 - 3000).astype(np.int16)
    lj = root / "ljspeech"
    for k in range(2):
        write(lj / "wavs" / f"LJ001-000{k + 1}.wav", wav(tone + k, 22050))
    write(lj / "metadata.csv", "LJ001-0002|No 2|Number two\nLJ001-0001|One|One\n")
    speech = root / "speech"
    for k, path in enumerate(["cat/0a_nohash_1.wav", "cat/0b_nohash_0.wav", "bed/0a_nohash_0.wav"]):
        write(speech / path, wav(tone + k, 16000))
    write(speech / "_background_noise_" / "x.wav", wav(tone, 16000))
    write(speech / "validation_list.txt", "cat/0b_nohash_0.wav\n")
    write(speech / "testing_list.txt", "bed/0a_nohash_0.wav\n")
    write(root / "yesno" / "0_1_0_1_0_1_1_0.wav", wav(tone, 8000))
    for k, (genre, n) in enumerate([("blues", 5), ("rock", 61), ("jazz", 90)]):
        write(root / "gtzan" / genre / f"{genre}.{n:05d}.wav", wav(tone + k, 22050))
    arctic = root / "cmuarctic" / "cmu_us_bdl_arctic"
    for k in range(2):
        write(arctic / "wav" / f"arctic_a000{k + 1}.wav", wav(tone + k, 16000))
    prompts = '( arctic_a0001 "Author of the, etc." )\n( arctic_a0002 "Not at all." )\n'
    write(arctic / "etc" / "txt.done.data", prompts)
    for part in ["dev-clean", "train-clean-100"]:
        folder = root / "libritts" / part / "84" / "121550"
        for k in range(2):
            name = f"84_121550_00000{k}_000000"
            write(folder / f"{name}.wav", wav(tone + k, 24000))
        lines = [f"84_121550_00000{k}_000000\tOriginal {k} {part}\tnormal {k}\n" for k in range(2)]
        write(folder / "84_121550.trans.tsv", "".join(lines))


def wav(samples: np.ndarray, rate: int) -> bytes:
    """int16 [n] or [n, channels] as a WAV file."""
    out = io.BytesIO()
    with wave.open(out, "wb") as w:
        w.setnchannels(1 if samples.ndim == 1 else samples.shape[1])
        w.setsampwidth(2)
        w.setframerate(rate)
        w.writeframes(samples.astype("<i2").tobytes())
    return out.getvalue()


INNER = ("make_squad", "make_clue", "make_iwslt")


def make_all(root: Path) -> None:
    for name, make in globals().items():
        if name.startswith("make_") and name not in ("make_all", *INNER):
            make(root)
    for make in tiny_vision.MAKERS:
        make(root)
