"""Writes tests/python/dataset/audio_golden.npz: what others give for the cases of
tests/python/dataset/audio_cases.py.

    python tools/make_audio_golden.py mindspore     the published framework, 2.0.0
    python tools/make_audio_golden.py torchaudio    torchaudio 2.11

Each keeps the other's part. Cases that the published framework gets wrong are left to torchaudio;
docs/transforms.md names them."""

import importlib
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent.parent / "tests" / "python" / "dataset"
OUT = HERE / "audio_golden.npz"
sys.path.insert(0, str(HERE))
import audio_cases  # noqa: E402


def from_mindspore():
    from mindspore.dataset import audio

    for key, name, arguments, given in audio_cases.cases(audio):
        made = getattr(audio, name)(**arguments)
        yield key, made if given is None else made(given)


def from_torchaudio():
    import torch

    for key, _, _, given, (name, arguments) in audio_cases.peer_cases(None):
        module, function = name.split(".")
        f = getattr(importlib.import_module("torchaudio." + module), function)
        x = torch.tensor(given)
        if module == "transforms":
            yield key, f(**arguments).to(x.dtype)(x).numpy()
        else:
            yield key, f(x, **arguments).numpy()


if __name__ == "__main__":
    part = sys.argv[1]
    known = dict(np.load(OUT)) if OUT.exists() else {}
    known = {k: v for k, v in known.items() if not k.startswith(part)}
    for key, found in from_mindspore() if part == "mindspore" else from_torchaudio():
        for i, a in enumerate(found if isinstance(found, tuple) else (found,)):
            known[f"{part}/{key}/{i}"] = np.asarray(a)
    np.savez_compressed(OUT, **known)
    print(len(known), "arrays,", OUT.stat().st_size, "bytes")
