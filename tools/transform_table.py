"""Prints docs/transforms.md: every transform of images, text, sound and any data, what
its results are compared with, and how far apart they may be. Cases and tolerances come from the
tests.

    PYTHONPATH=build/python python tools/transform_table.py > docs/transforms.md
"""

import enum
import json
import pathlib
import sys

import mycel.dataset.audio as audio
import mycel.dataset.text as text
import mycel.dataset.transforms as transforms
import mycel.dataset.vision as vision

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/python/dataset"))
import audio_cases  # noqa: E402
import vision_cases  # noqa: E402

TESTS = pathlib.Path(vision_cases.__file__).parent

PEER = "published framework (OpenCV)"
# What no case of vision_cases.py covers: compared with, tolerance.
OTHERS = {
    "Decode": ("published framework; Pillow for WebP", "equal; CMYK 1"),
    "RandomCropDecodeResize": ("Decode, then RandomResizedCrop", "equal"),
    "RandomResize": ("seeds decide; interpolations of Resize", "equal"),
    "RandomResizedCrop": ("Resize; area, ratio and places counted", "equal"),
    "RandomCrop": ("Pad, Crop; places counted", "equal"),
    "FiveCrop": ("NumPy slices", "equal"),
    "TenCrop": ("NumPy slices", "equal"),
    "NormalizePad": ("formula", "1e-5"),
    "ToType": ("dtype", "equal"),
    "ToNumpy": ("identity", "equal"),
    "ToPIL": ("Pillow", "equal"),
    "encode_jpeg": ("Pillow reads it; its quality", "equal pixels; 3 on average from the image"),
    "encode_png": ("Pillow reads it", "equal"),
    "write_jpeg": ("Pillow reads it", "equal"),
    "write_png": ("Pillow reads it", "equal"),
    "read_image": ("Pillow; Decode", "equal"),
    "read_file": ("the file", "equal"),
    "write_file": ("the file", "equal"),
    "get_image_size": ("Pillow", "equal"),
    "get_image_num_channels": ("Pillow", "equal"),
    "LinearTransformation": ("NumPy", "1e-8"),
    "Grayscale": ("formula; ConvertColor", "0.51"),
    "RandomSelectSubpolicy": ("all its results listed", "equal"),
    "UniformAugment": ("all its results listed", "equal"),
    "AutoAugment": ("tables of the paper; seeds decide", "equal"),
    "RandAugment": ("all its results listed", "1 on 99.5 %"),
    "TrivialAugmentWide": ("all its results listed", "1 on 99.5 %"),
    "CutOut": ("squares found in the result", "equal"),
    "RandomErasing": ("rectangles and moments found in the result", "equal"),
    "MixUp": ("formula; moments of the beta distribution", "1e-10"),
    "MixUpBatch": ("formula", "1e-3"),
    "CutMixBatch": ("areas and pixels found in the result", "equal"),
    "BoundingBoxAugment": ("NumPy", "equal"),
    "Rotate": None,
}
ONE_RESULT = "the transform without chance, at one value"
BOXES = "the rectangle found in the image"
ANY = {
    "Compose": ("the steps one by one", "2e-6 where joined"),
    "Concatenate": ("NumPy", "equal"),
    "Duplicate": ("identity", "equal"),
    "Fill": ("NumPy", "equal"),
    "Mask": ("NumPy", "equal"),
    "OneHot": ("NumPy", "1e-8 with smoothing"),
    "PadEnd": ("published framework's results", "equal"),
    "Plugin": ("a library built by the test", "equal"),
    "RandomApply": ("all its results; frequency", "equal"),
    "RandomChoice": ("all its results; frequency", "equal"),
    "RandomOrder": ("all its results; frequency", "equal"),
    "Slice": ("NumPy", "equal"),
    "TypeCast": ("NumPy", "equal"),
    "Unique": ("NumPy; published order", "equal"),
}
TEXT = {
    "ByteLevelBPETokenizer": ("`tokenizers` 0.23, five kinds", "equal"),
    "ByteLevelBPEDecoder": ("the text again", "equal"),
    "JiebaTokenizer": ("published framework, three modes, words of the user", "equal"),
    "SentencePieceTokenizer": ("its own library; the text again", "equal"),
    "SentencePieceVocab": ("its own library", "equal"),
    "ToVectors": ("means and rows by hand", "1e-6"),
    "Vectors": ("rows of the file", "equal"),
    "GloVe": ("rows of the file", "equal"),
    "FastText": ("rows of the file", "equal"),
    "CharNGram": ("means by hand", "1e-6"),
    "Vocab": ("published framework's results; counts by hand", "equal"),
    "PythonTokenizer": ("the function", "equal"),
    "to_bytes": ("Python", "equal"),
    "to_str": ("Python", "equal"),
}
TEXT_NOTES = """
Where published behaviour is not followed:

- `BasicTokenizer(lower_case=True)` keeps `[CLS]` and the others in their places; the published one
  writes what stands in front of them again.
- Offsets of `WordpieceTokenizer` and `BertTokenizer` are as many as the words: the published ones
  have those of pieces that were given up.
- `RegexReplace` of several strings gives several; the published one joins the second to the first.
- `ToNumber` refuses `'1.5'` for an int and `'1.5x'` for a float; the published one reads as far as
  it can. `ToVectors` of one token in a list is (1, dim), not (dim,).
- A line of `Vocab.from_file` that ends in a carriage return does so without it.
- `CharNGram` with `lower_case_backup` looks up the lower-case word as if it had been given; the
  published one loses its last n-gram.
- Text that is not UTF-8 is refused everywhere, with the byte.
- `UnicodeScriptTokenizer`, `CaseFold` and `NormalizeUTF8` follow the Unicode of the ICU installed.
"""
AUDIO = {
    "MaskAlongAxisIID": ("width, place and seed of what is masked", "equal"),
    "InverseMelScale": ("MelScale of its result", "0.05"),
}
AUDIO_NOTES = """
Compared are float32 and float64 inputs; the tolerance is a share of the largest number, at least
1. All is computed in double precision. `Spectrogram`, `LFilter` and `Filtfilt` are compared with
NumPy's formulas as well (1e-10).

Where published behaviour is not followed:

- `Vad` finds a voice as torchaudio and SoX do, and keeps a signal without one; the published one
  misses voices and gives the end of the signal.
- `DCShift` with a negative shift and a limiter, and `Fade` with the logarithmic curve (never above
  1), are as in torchaudio.
- `GriffinLim` with momentum is as in torchaudio; the published one differs from the second step on.
- `InverseMelScale` keeps the dims in front: (n_mels, time) gives (n_stft, time), not (1, …).
- `SlidingWindowCmn` with variances is compared in float64: the published float32 loses digits.
- `MFCC` and `LFCC` fill in the arguments that their dicts leave out; an unknown one is refused.
"""
NOTES = """
Where published behaviour is not followed:

- `Rotate` and `RandomRotation` fill with `fill_value` in the order red, green, blue, as
  documented; the published kernel swaps red and blue.
- `NormalizePad` adds a channel of zeros to every pixel; the published kernel writes them at the
  end of the memory.
- `AutoContrast` and `Equalize` of `[h, w]` give `[h, w]`, not `[h, w, 1]`.
- `OneHot` refuses a label of -1 instead of giving zeros, and with smoothing fills every row.
- `MixUp(is_single=False)`, which mixes with the mixture of all batches before, is refused: no batch
  could be made, nor a run resumed, without all of them.
- `ANTIALIAS` works on arrays too.

Joined steps: in a chain such as `Decode, RandomResizedCrop, RandomHorizontalFlip, Normalize,
HWC2CHW` all is one pass over the pixels and only the rows and columns needed are decoded. Bytes
are equal to those of the steps one by one, floats within 2e-6 of the largest. One exception: when
an image becomes at most half as large, by the linear filter or by area, a JPEG is decoded at 1/2,
1/4 or 1/8 of its size. That averages where the linear filter alone skips pixels; on photographs
it changes a byte by 1 to 3 on average. A transform that changes nothing between the steps
(`ToNumpy`) keeps them apart.
"""


def of_cases():
    """Name -> largest difference in bytes, in floats, and the share that may differ by more."""
    out = {}
    for name, given, within, share, _ in vision_cases.CASES:
        kind = "floats" if given.startswith(("float", "unit")) else "bytes"
        entry = out.setdefault(name, {"bytes": 0, "floats": 0, "share": 0.0})
        entry[kind] = max(entry[kind], within)
        entry["share"] = max(entry["share"], share)
    return out


def row(name, cases):
    if OTHERS.get(name):
        return OTHERS[name]
    if name in cases:
        c = cases[name]
        text = "equal" if not c["bytes"] else f"{c['bytes']:g}"
        text += f", floats {c['floats']:g}" if c["floats"] else ""
        return PEER, text + (f" ({100 * c['share']:g} % more)" if c["share"] else "")
    if name.endswith("WithBBox"):
        return BOXES, "1.5 pixels where resized"
    if name.startswith("Random"):
        return ONE_RESULT, "equal"
    raise SystemExit(f"{name}: say in OTHERS what it is compared with")


def table(rows):
    lines = ["| transform | compared with | largest difference |", "|---|---|---|"]
    return "\n".join(lines + [f"| `{name}` | {a} | {b} |" for name, (a, b) in rows])


def names(module):
    return sorted(n for n, v in vars(module).items() if hasattr(v, "_record") and n != "Transform")


def others(module):
    """Names that are no transforms of C++ alone: classes and functions beside them."""
    found = vars(module).items()
    enums = {n for n, v in found if isinstance(v, type) and issubclass(v, enum.Enum)}
    return sorted(set(module.__all__) - enums)


def text_rows():
    golden = json.loads((TESTS / "text_golden.json").read_text())
    published = {c[0] for c in golden["mindspore"]}
    for name in others(text):
        if name not in published and name not in TEXT:
            raise SystemExit(f"{name}: say in TEXT what it is compared with")
        yield name, TEXT.get(name, ("published framework", "equal"))


def audio_rows():
    peers = {}
    for c in audio_cases.cases(audio):
        peers.setdefault(c[1], set()).add("published framework")
    for c in audio_cases.peer_cases(audio):
        peers.setdefault(c[1], set()).add("torchaudio 2.11")
    for name in others(audio):
        if name not in peers and name not in AUDIO:
            raise SystemExit(f"{name}: say in AUDIO what it is compared with")
        yield name, AUDIO.get(name) or (", ".join(sorted(peers[name])), "1e-5")


cases = of_cases()
# Classes, and the functions beside them.
images = [(n, row(n, cases)) for n in others(vision) if n != "not_random"]
print(f"""# Transforms and what they are compared with

Made by `tools/transform_table.py` from the tests. A difference is in levels of a byte, or absolute
for floats.

## Images: `mycel.dataset.vision` ({len(images)})

{table(images)}
{NOTES}
## Text: `mycel.dataset.text` ({len(others(text))})

{table(text_rows())}
{TEXT_NOTES}
## Sound: `mycel.dataset.audio` ({len(others(audio))})

{table(audio_rows())}
{AUDIO_NOTES}
## Any data: `mycel.dataset.transforms` ({len(names(transforms))})

{table([(n, ANY[n]) for n in names(transforms)])}""")
