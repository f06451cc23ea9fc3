"""Rates of the data pipeline: small JPEG images from a tar archive, and the same images kept in
memory.

Usage: python bench/data.py [--images TAR/FOLDER] [--workers 2]
       python bench/data.py --peer torch --images TAR/FOLDER      (in an environment that has it)

Without --images the 50,000 JPEG files of CIFAR-10 are read if they lie beside the checkout, else
5,000 images are drawn. MYCEL_BENCH_PYTHON names the Python that has torch and torchvision, which
read the same images, unpacked, through ImageFolder and DataLoader. The large photographs are
measured by `./dev bench peers data`.
"""

import argparse
import io
import os
import subprocess
import sys
import tarfile
import tempfile
import time

BATCH = 256
BESIDE = os.path.join(os.path.dirname(__file__), "../../shared/data/cifar10/train.tar")


def drawn(folder):
    """A tar of 5,000 images of 32 x 32 pixels in ten classes; needs pillow."""
    import numpy as np
    from PIL import Image

    path, random = os.path.join(folder, "drawn.tar"), np.random.default_rng(0)
    with tarfile.open(path, "w") as tar:
        for i in range(5000):
            small = random.integers(0, 256, (8, 8, 3), np.uint8)
            data = io.BytesIO()
            Image.fromarray(small).resize((32, 32), Image.Resampling.BICUBIC).save(data, "JPEG")
            info = tarfile.TarInfo(f"train/class{i % 10}/{i:05d}.jpg")
            info.size = data.tell()
            data.seek(0)
            tar.addfile(info, data)
    return path + "/train"


def rate(epoch, count, epochs):
    """Images a second: the median of some epochs behind a first one."""
    epoch()
    rates = []
    for _ in range(epochs):
        start = time.perf_counter()
        epoch()
        rates.append(count / (time.perf_counter() - start))
    return sorted(rates)[len(rates) // 2]


def ours(images, workers):
    import mycel.dataset as ds
    import mycel.dataset.vision as vision

    def epochs_of(dataset, epochs):
        it = dataset.batch(BATCH, num_parallel_workers=workers).create_tuple_iterator()
        made = rate(lambda: sum(1 for _ in it), len(source), epochs)
        it.release()
        return made

    source = ds.ImageFolderDataset(images, decode=True)
    normal = [
        vision.RandomHorizontalFlip(),
        vision.Normalize([125.3, 123.0, 113.9], [63.0, 62.1, 66.7]),
        vision.HWC2CHW(),
    ]
    yield "from JPEG", epochs_of(source.shuffle(2).map(normal, "image"), 3)
    yield "kept, bytes", epochs_of(source.cache().shuffle(2), 7)
    yield (
        "kept, flipped and normalized",
        epochs_of(source.cache().shuffle(2).map(normal, "image"), 5),
    )


def torch_rate(images, workers):
    """The same from JPEG with torchvision; images: a folder of classes."""
    import torch
    import torchvision
    from torchvision.transforms import v2

    change = v2.Compose(
        [
            v2.RandomHorizontalFlip(),
            v2.PILToTensor(),
            v2.ToDtype(torch.float32),
            v2.Normalize([125.3, 123.0, 113.9], [63.0, 62.1, 66.7]),
        ]
    )
    data = torchvision.datasets.ImageFolder(images, change)
    loader = torch.utils.data.DataLoader(
        data, BATCH, shuffle=True, num_workers=workers, persistent_workers=True
    )
    return rate(lambda: sum(1 for _ in loader), len(data), 1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--images")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--peer")
    args = parser.parse_args()
    if args.peer:
        print(torch_rate(args.images, args.workers))
        return
    with tempfile.TemporaryDirectory() as folder:
        images = args.images or (BESIDE + "/train" if os.path.exists(BESIDE) else drawn(folder))
        best = None
        python = os.environ.get("MYCEL_BENCH_PYTHON")
        if python:
            archive, _, inside = images.partition(".tar/")
            with tarfile.open(archive + ".tar") as tar:
                tar.extractall(folder)
            command = [
                python,
                __file__,
                "--peer",
                "torch",
                "--images",
                os.path.join(folder, inside),
            ]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"the peer failed: {done.stderr[-500:]}")
            best = float(done.stdout)
            print(f"{'torchvision, from JPEG':32} {best:12,.0f} images/s")
        for name, made in ours(images, args.workers):
            ratio = f"   {made / best:6.1f} x torchvision from JPEG" if best else ""
            print(f"{name:32} {made:12,.0f} images/s{ratio}")


if __name__ == "__main__":
    main()
