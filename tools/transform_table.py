"""Prints docs/transforms.md: every transform of images and of any data, what its results are
compared with, and how far apart they may be. Cases and tolerances come from the tests.

    PYTHONPATH=build/python python tools/transform_table.py > docs/transforms.md
"""

import pathlib
import sys

import mycel.dataset.transforms as transforms
import mycel.dataset.vision as vision

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/python/dataset"))
import vision_cases  # noqa: E402

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
    "ToPIL": ("shape", "equal"),
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
NOTES = """
Where published behaviour is not followed:

- `Rotate` and `RandomRotation` fill with `fill_value` in the order red, green, blue, as
  documented; the published kernel swaps red and blue.
- `NormalizePad` adds a channel of zeros to every pixel; the published kernel writes them at the
  end of the memory.
- `AutoContrast` and `Equalize` of `[h, w]` give `[h, w]`, not `[h, w, 1]`.
- `OneHot` refuses a label of -1 instead of giving zeros, and with smoothing fills every row.
- `MixUp(is_single=False)`, which mixes with the batch before, is refused: results must not depend
  on the order of calls.
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


cases = of_cases()
images = [(n, row(n, cases)) for n in names(vision)]
print(f"""# Transforms and what they are compared with

Made by `tools/transform_table.py` from the tests. A difference is in levels of a byte, or absolute
for floats.

## Images: `mycel.dataset.vision` ({len(images)})

{table(images)}
{NOTES}
## Any data: `mycel.dataset.transforms` ({len(names(transforms))})

{table([(n, ANY[n]) for n in names(transforms)])}""")
