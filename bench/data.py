"""The data pipeline against its peers: photographs and small images from files to batches, images
kept in memory, resizing, spectrograms, tokens. The same files for all, one process at a time, in
turns.

    ./dev bench data                                  (only Mycel)
    python bench/data.py [work...] [--rounds 3] [--workers 2] [--images TAR/FOLDER]
                         [--peer torch=PYTHON] [--peer published=PYTHON] [--peer opencv=PYTHON]
                         [--peer tokenizers=PYTHON]

A peer lives in an environment of its own, named by its Python: torch (torchvision, torchaudio),
published (mindspore), opencv (opencv-python, NumPy) and tokenizers.
MYCEL_BENCH_PEERS="torch=... opencv=..." does the same. Photographs are 300 JPEG files of
500 x 375 pixels with the spectrum of photographs, made with Pillow; small images are those of
--images, an archive with a folder of classes (CIFAR-10 if it lies beside the checkout, else 5,000
drawn ones). Mycel reads the archive, the others its files, unpacked. Tokens are those of a byte
pair vocabulary of 8,000 that `tokenizers` trains on the pages in docs/. Each figure is the median
of the rounds, in items a second; the ratio is to the best peer. What each does:
data_contenders.py.
"""

import argparse
import glob
import io
import json
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BESIDE = os.path.join(HERE, "../../shared/data/cifar10/train.tar")
WORK = {
    "photographs": ("mycel", "torch", "published", "opencv"),
    "small": ("mycel", "torch", "published", "opencv"),
    "kept": ("mycel",),
    "kept-bytes": ("mycel",),
    "spectrogram": ("mycel", "torch", "published"),
    "mel": ("mycel", "torch", "published"),
    "resize-linear": ("mycel", "torch", "published", "opencv"),
    "resize-cubic": ("mycel", "torch", "published", "opencv"),
    "resize-nearest": ("mycel", "torch", "published", "opencv"),
    "resize-area": ("mycel", "published", "opencv"),
    "tokens": ("mycel", "tokenizers"),
}
PEERS = ("torch", "published", "opencv", "tokenizers")
SAME_AS = {"kept": "small", "kept-bytes": "small"}  # whose peers the ratio is to


def draw_photographs(folder):
    import numpy as np
    from PIL import Image

    r = np.random.default_rng(0)
    fy, fx = np.fft.fftfreq(375)[:, None], np.fft.rfftfreq(500)[None]
    fall = 1 / np.maximum(np.hypot(fy, fx), 1 / 500) ** 1.3

    def plane():
        p = np.fft.irfft2(fall * np.fft.rfft2(r.standard_normal((375, 500))), (375, 500))
        return p / p.std()

    for n in range(300):
        os.makedirs(f"{folder}/class{n % 10}", exist_ok=True)
        grey, ramp = plane(), np.linspace(-1, 1, 500)
        x = np.stack([grey + 0.4 * plane() + r.uniform(-1, 1) * ramp for _ in range(3)], -1)
        x += 0.08 * r.standard_normal(x.shape)  # the grain of a sensor
        pixels = np.clip(128 + 48 * x, 0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(f"{folder}/class{n % 10}/{n:04d}.jpg", quality=90)


def draw_small(path):
    """A tar of 5,000 images of 32 x 32 pixels in ten classes."""
    import numpy as np
    from PIL import Image

    random = np.random.default_rng(0)
    with tarfile.open(path, "w") as tar:
        for i in range(5000):
            small = random.integers(0, 256, (8, 8, 3), np.uint8)
            data = io.BytesIO()
            Image.fromarray(small).resize((32, 32), Image.Resampling.BICUBIC).save(data, "JPEG")
            info = tarfile.TarInfo(f"train/class{i % 10}/{i:05d}.jpg")
            info.size = data.tell()
            data.seek(0)
            tar.addfile(info, data)


TRAIN = """
import sys
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
level = pre_tokenizers.ByteLevel
made = Tokenizer(models.BPE())
made.pre_tokenizer = level(add_prefix_space=False)
how = trainers.BpeTrainer(vocab_size=8000, initial_alphabet=level.alphabet(), show_progress=False)
made.train([sys.argv[1]], how)
made.save(sys.argv[2])
"""


def make_tokens(folder, python):
    """A text, and what the peer learns from it beside."""
    pages = glob.glob(f"{HERE}/../docs/*.md") + glob.glob(f"{HERE}/../*.md")
    with open(f"{folder}/text.txt", "w", encoding="utf-8") as out:
        for page in sorted(pages):
            with open(page, encoding="utf-8") as f:
                out.write(f.read())
    if python:
        files = [f"{folder}/text.txt", f"{folder}/tokenizer.json"]
        subprocess.run([python, "-c", TRAIN, *files], check=True)
    return f"{folder}/text.txt"


def make_files(work, folder, images, peers, tokenizers):
    """What Mycel reads, what peers read."""
    if work == "tokens":
        return (make_tokens(folder, tokenizers),) * 2
    if work.startswith("resize"):
        import numpy as np

        r = np.random.default_rng(0)
        small = r.integers(0, 256, (8, 47, 63, 3)).astype(np.uint8)
        np.save(f"{folder}/images.npy", small.repeat(8, 1).repeat(8, 2)[:, :375, :500])
        return (f"{folder}/images.npy",) * 2
    if work == "photographs":
        path = f"{folder}/photographs"
        if not os.path.isdir(path):
            draw_photographs(path)
        return path, path
    if work in ("spectrogram", "mel"):
        import numpy as np

        path = f"{folder}/sounds.npy"
        sounds = np.random.default_rng(0).standard_normal((100, 32000)).astype(np.float32)
        np.save(path, 0.1 * sounds)
        return path, path
    if not images and os.path.exists(BESIDE):
        images = BESIDE + "/train"
    if not images:
        if not os.path.exists(f"{folder}/small.tar"):
            draw_small(f"{folder}/small.tar")
        images = f"{folder}/small.tar/train"
    archive, _, inside = images.partition(".tar/")
    if peers and not os.path.isdir(f"{folder}/small"):
        with tarfile.open(archive + ".tar") as tar:
            tar.extractall(f"{folder}/small")
    return images, f"{folder}/small/{inside}"


def run(python, who, work, path, workers):
    """Items a second, or none where the peer fails; its error is shown."""
    command = [python, f"{HERE}/data_contenders.py", who, work, path, str(workers)]
    env = dict(os.environ, OMP_NUM_THREADS="1")
    if who != "mycel":
        env.pop("PYTHONPATH", None)
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    if done.returncode:
        print(f"{who}, {work}: {done.stderr[-800:]}", file=sys.stderr)
        return None
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("work", nargs="*", default=list(WORK))
    parser.add_argument("--images")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--peer", action="append", default=[])
    args = parser.parse_args()
    for work in args.work:
        if work not in WORK:
            parser.error(f"there is no work '{work}'; expected {', '.join(WORK)}")
    named = os.environ.get("MYCEL_BENCH_PEERS", "").split() + args.peer
    pythons = {"mycel": sys.executable, **dict(n.split("=", 1) for n in named)}
    rates = {}
    with tempfile.TemporaryDirectory() as folder:
        for work in args.work:
            if work == "tokens" and "tokenizers" not in pythons:
                continue  # Mycel reads what the peer learned
            tokenizers = pythons.get("tokenizers")
            own, theirs = make_files(work, folder, args.images, len(pythons) > 1, tokenizers)
            for _ in range(args.rounds):
                for who in WORK[work]:
                    if who not in pythons:
                        continue
                    path = own if who == "mycel" else theirs
                    rate = run(pythons[who], who, work, path, args.workers)
                    if rate:
                        rates.setdefault(work, {}).setdefault(who, []).append(rate)
    peers = [p for p in PEERS if p in pythons]
    print("| items a second | Mycel |" + "".join(f" {p} |" for p in peers) + " ratio |")
    print("|---|---|" + "---|" * len(peers) + "---|")
    for work in args.work:
        found = {who: statistics.median(r) for who, r in rates.get(work, {}).items()}
        others = {**rates.get(SAME_AS.get(work, work), {})}
        best = max((statistics.median(r) for w, r in others.items() if w != "mycel"), default=0)
        cells = [f"{found[w]:,.0f}" if w in found else "" for w in ("mycel", *peers)]
        ratio = f"{found['mycel'] / best:.2f}" if best and "mycel" in found else ""
        print(f"| {work} | " + " | ".join(cells) + f" | {ratio} |")


if __name__ == "__main__":
    main()
