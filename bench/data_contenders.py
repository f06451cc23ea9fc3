"""What bench/data.py measures, as each of the peers does it. Runs in the peer's environment:

    python data_contenders.py WHO WORK PATH WORKERS        prints items a second

photographs: decode, random resized crop to 224, flip, normalize, channels first, batches of 32.
small: decode, flip, normalize, channels first, batches of 256, in a new order each epoch.
kept: the same, pixels decoded once and held in memory; kept-bytes: these pixels alone.
spectrogram, mel: sounds of two seconds at 16 kHz, windows of 400, one thread, one sound a call.
resize-linear, -cubic, -nearest, -area: 500 x 375 pixels to 224 x 224 without a filter that grows
with the scale (torchvision's linear and cubic: with antialias=False), one thread, one image a call.
tokens: texts to ids by GPT-2's words and byte pairs, one thread, one line a call; ids a second.
"""

import importlib
import json
import os
import random
import sys
import time

SECONDS = 4.0
MEAN, STD = [123.7, 116.3, 103.5], [58.4, 57.1, 57.4]
BATCH = {"photographs": 32, "small": 256, "kept": 256, "kept-bytes": 256}


def rate(epoch):
    """Items a second over whole epochs, behind a first one; `epoch` gives how many it made."""
    epoch()
    start, made = time.perf_counter(), 0
    while time.perf_counter() - start < SECONDS:
        made += epoch()
    return made / (time.perf_counter() - start)


def images(resize, path):
    import numpy as np

    all_images = list(np.load(path))
    return rate(lambda: sum(1 for i in all_images if resize(i).size))


def tokens(count, path):
    with open(path, encoding="utf-8") as f:
        lines = [line for line in f.read().split("\n") if line]
    return rate(lambda: sum(map(count, lines)))


def of_framework(package):
    """Mycel, and the framework whose names it follows."""

    def run(work, path, workers):
        ds = importlib.import_module(package + ".dataset")
        vision = importlib.import_module(package + ".dataset.vision")
        if work in ("spectrogram", "mel"):
            return sounds(package, work, path)
        if work.startswith("resize"):
            kinds = {"area": "AREA", "linear": "LINEAR", "cubic": "CUBIC", "nearest": "NEAREST"}
            inter = getattr(vision.Inter, kinds[work[7:]])
            return images(vision.Resize((224, 224), inter), path)
        if work == "tokens":
            text = importlib.import_module(package + ".dataset.text")
            encode = text.ByteLevelBPETokenizer(os.path.dirname(path) + "/tokenizer.json")
            return tokens(lambda line: len(encode(line)), path)
        change = [vision.RandomHorizontalFlip(), vision.Normalize(MEAN, STD), vision.HWC2CHW()]
        workers = {"num_parallel_workers": workers}
        if work == "photographs":
            rows = ds.ImageFolderDataset(path, shuffle=True, **workers)
            change.insert(0, vision.RandomCropDecodeResize(224))
        elif work == "small":
            rows = ds.ImageFolderDataset(path, shuffle=True, decode=True, **workers)
        else:  # of Mycel alone
            rows = ds.ImageFolderDataset(path, shuffle=False, decode=True).cache().shuffle(2)
        if work != "kept-bytes":
            rows = rows.map(change, input_columns="image", **workers)
        rows = rows.batch(BATCH[work], **({"num_parallel_workers": 2} if "kept" in work else {}))
        batches = rows.create_tuple_iterator(output_numpy=True, num_epochs=-1)
        return rate(lambda: sum(len(b[0]) for b in batches))

    def sounds(package, work, path):
        import numpy as np

        audio = importlib.import_module(package + ".dataset.audio")
        if work == "mel":
            change = audio.MelSpectrogram(n_fft=400)
        else:
            change = audio.Spectrogram(n_fft=400)
        all_sounds = list(np.load(path))
        return rate(lambda: sum(1 for s in all_sounds if change(s).size))

    return run


def torch_peer(work, path, workers):
    import torch

    torch.set_num_threads(1)
    if work in ("spectrogram", "mel"):
        import numpy as np
        import torchaudio

        kind = torchaudio.transforms.MelSpectrogram if work == "mel" else None
        change = (kind or torchaudio.transforms.Spectrogram)(n_fft=400)
        all_sounds = [torch.from_numpy(s) for s in np.load(path)]
        with torch.inference_mode():
            return rate(lambda: sum(1 for s in all_sounds if change(s).numel()))
    import torchvision
    from torchvision.transforms import v2

    if work.startswith("resize"):
        import numpy as np

        mode = getattr(
            v2.InterpolationMode,
            {"linear": "BILINEAR", "cubic": "BICUBIC"}.get(work[7:], "NEAREST"),
        )
        change = v2.Resize((224, 224), mode, antialias=False)
        # Channels last in memory, as decoders give them: what is fastest there.
        held = [torch.from_numpy(i).permute(2, 0, 1) for i in np.load(path)]
        return rate(lambda: sum(1 for i in held if change(i).numel()))
    change = [v2.RandomHorizontalFlip(), v2.PILToTensor(), v2.ToDtype(torch.float32)]
    change.append(v2.Normalize(MEAN, STD))
    if work == "photographs":
        change.insert(0, v2.RandomResizedCrop(224, antialias=True))
    data = torchvision.datasets.ImageFolder(path, v2.Compose(change))
    loader = torch.utils.data.DataLoader(
        data, BATCH[work], shuffle=True, num_workers=workers, persistent_workers=True
    )
    return rate(lambda: sum(len(b[0]) for b in loader))


def opencv_peer(work, path, workers):
    """Code by hand on a pool of threads: OpenCV and NumPy let go of the interpreter's lock."""
    from concurrent.futures import ThreadPoolExecutor

    import cv2
    import numpy as np

    cv2.setNumThreads(1)
    if work.startswith("resize"):
        how = getattr(cv2, "INTER_" + work[7:].upper())
        return images(lambda i: cv2.resize(i, (224, 224), interpolation=how), path)
    mean, scale = np.float32(MEAN), 1 / np.float32(STD)
    names = [f"{d}/{f}" for d, _, files in sorted(os.walk(path)) for f in sorted(files)]

    def crop(image):
        h, w = image.shape[:2]
        for _ in range(10):
            area = h * w * random.uniform(0.08, 1)
            ratio = np.exp(random.uniform(np.log(3 / 4), np.log(4 / 3)))
            ch, cw = round((area / ratio) ** 0.5), round((area * ratio) ** 0.5)
            if ch <= h and cw <= w:
                y, x = random.randint(0, h - ch), random.randint(0, w - cw)
                return cv2.resize(image[y : y + ch, x : x + cw], (224, 224))
        return cv2.resize(image, (224, 224))

    def make(name):
        image = cv2.imread(name, cv2.IMREAD_COLOR_RGB)
        if work == "photographs":
            image = crop(image)
        if random.random() < 0.5:
            image = cv2.flip(image, 1)
        image = (image.astype(np.float32) - mean) * scale
        return np.ascontiguousarray(image.transpose(2, 0, 1))

    size = BATCH[work]
    with ThreadPoolExecutor(workers) as pool:

        def epoch():
            random.shuffle(names)
            made, batch = 0, []
            for image in pool.map(make, names, chunksize=8):
                batch.append(image)
                if len(batch) == size:
                    made += len(np.stack(batch))
                    batch = []
            return made + len(batch)

        return rate(epoch)


def tokenizers_peer(work, path, workers):
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    os.environ["RAYON_NUM_THREADS"] = "1"
    import tokenizers

    encode = tokenizers.Tokenizer.from_file(os.path.dirname(path) + "/tokenizer.json").encode
    return tokens(lambda line: len(encode(line, add_special_tokens=False).ids), path)


CONTENDERS = {
    "tokenizers": tokenizers_peer,
    "mycel": of_framework("mycel"),
    "published": of_framework("mindspore"),
    "torch": torch_peer,
    "opencv": opencv_peer,
}

if __name__ == "__main__":
    name, work_name, where, threads = sys.argv[1:]
    print(json.dumps(CONTENDERS[name](work_name, where, int(threads))))
