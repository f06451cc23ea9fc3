"""Writes tests/python/dataset/vision_golden.npz: what the peer gives for the cases of
vision_cases.py, and image files with the pixels that it decodes. Run with a Python that has
MindSpore 2.0 and Pillow:

    python tools/vision_golden.py
"""

import io
import pathlib
import sys

import mindspore.dataset.vision as vision
import numpy as np
from PIL import Image

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tests/python/dataset"
sys.path.insert(0, str(FOLDER))
import vision_cases  # noqa: E402

ENUMS = {
    "interpolation": vision.Inter,
    "resample": vision.Inter,
    "padding_mode": vision.Border,
    "slice_mode": vision.SliceMode,
    "convert_mode": vision.ConvertMode,
}


def given(name, value):
    if name in ENUMS:
        return getattr(ENUMS[name], value)
    return np.dtype(value) if name == "output_type" else value


def transformed():
    inputs, out = vision_cases.inputs(), {}
    for i, (name, source, _, _, arguments) in enumerate(vision_cases.CASES):
        arguments = {k: given(k, v) for k, v in arguments.items()}
        made = getattr(vision, name)(**arguments)(inputs[source].copy())
        for k, part in enumerate(made if isinstance(made, (tuple, list)) else [made]):
            out[f"case_{i}_{k}"] = np.asarray(part)
    return out


def files():
    rgb = vision_cases.picture(33, 45, 3, 9)
    rgba, grey = vision_cases.picture(20, 31, 4, 1), vision_cases.picture(25, 33, 1, 2)[:, :, 0]
    image, palette = Image.fromarray(rgb), Image.fromarray(rgb).quantize(16)
    made = {
        "jpeg444": (image, "JPEG", {"quality": 90, "subsampling": 0}),
        "jpeg422": (image, "JPEG", {"quality": 90, "subsampling": 1}),
        "jpeg420": (image, "JPEG", {"quality": 90, "subsampling": 2}),
        "jpeg_progressive": (image, "JPEG", {"progressive": True}),
        "jpeg_grey": (Image.fromarray(grey), "JPEG", {}),
        "jpeg_cmyk": (image.convert("CMYK"), "JPEG", {}),
        "png": (image, "PNG", {}),
        "png_alpha": (Image.fromarray(rgba), "PNG", {}),
        "png_grey": (Image.fromarray(grey), "PNG", {}),
        "png_palette": (palette, "PNG", {}),
        "png_bits": (Image.fromarray(grey).convert("1"), "PNG", {}),
        "png_grey16": (Image.fromarray(grey.astype(np.uint16) * 251), "PNG", {}),
        "webp": (image, "WEBP", {}),
        "webp_lossless": (Image.fromarray(rgba[:, :, :3].copy()), "WEBP", {"lossless": True}),
        "tiff": (image, "TIFF", {}),
        "tiff_lzw": (image, "TIFF", {"compression": "tiff_lzw"}),
        "tiff_deflate": (image, "TIFF", {"compression": "tiff_adobe_deflate"}),
        "tiff_grey": (Image.fromarray(grey), "TIFF", {}),
        "tiff_palette": (palette, "TIFF", {}),
        "bmp": (image, "BMP", {}),
        "bmp_palette": (palette, "BMP", {}),
        "bmp_grey": (Image.fromarray(grey), "BMP", {}),
    }
    out = {}
    for name, (picture, kind, options) in made.items():
        data = io.BytesIO()
        picture.save(data, kind, **options)
        data = np.frombuffer(data.getvalue(), np.uint8)
        out["file_" + name] = data
        if kind == "WEBP":  # the peer does not read it
            out["pixels_" + name] = np.asarray(
                Image.open(io.BytesIO(data.tobytes())).convert("RGB")
            )
        else:
            out["pixels_" + name] = vision.Decode()(data)
    return out


np.savez_compressed(FOLDER / "vision_golden.npz", **transformed(), **files())
