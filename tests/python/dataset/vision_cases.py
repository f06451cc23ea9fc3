"""What the transforms of images are compared with: a transform, its arguments, an input, and how
far apart the results may be. tools/vision_golden.py runs the list through the peer and stores what
it gives.
"""

import numpy as np


def picture(h, w, c, seed):
    """Something like a photograph: slopes, an edge and grain."""
    r = np.random.RandomState(seed)
    y, x = np.mgrid[0:h, 0:w]
    planes = []
    for k in range(c):
        p = (
            90
            + 60 * np.sin(x / (7.0 + k))
            + 50 * np.cos(y / (5.0 + 2 * k))
            + 40 * ((x + y) % 19 > 11)
        )
        planes.append(p + 12 * r.standard_normal((h, w)))
    return np.clip(np.stack(planes, -1), 0, 255).astype(np.uint8)


def inputs():
    rgb = picture(37, 51, 3, 0)
    small = rgb[:12, :15].copy()
    return {
        "rgb": rgb,
        "grey": rgb[:, :, 0].copy(),
        "one": rgb[:, :, :1].copy(),
        "rgba": picture(20, 31, 4, 1),
        "float": small.astype(np.float32) / 255,
        "float64": small.astype(np.float64),
        "uint16": small.astype(np.uint16) * 200,
        "int16": small.astype(np.int16) * 50 - 3000,
        "stack": np.stack([small, picture(12, 15, 3, 2)]),
        "even": picture(40, 60, 3, 3),
        "large": picture(90, 111, 3, 4),
        "dark": (picture(37, 51, 3, 5) // 3 + 20).astype(np.uint8),
        "chw": small.transpose(2, 0, 1).copy(),
        "unit": rgb[:8, :9].astype(np.float64) / 255,
    }


CASES = []


def case(name, given, within=0, share=0.0, **arguments):
    """`within`: largest difference; `share`: the part of the elements that may differ by more."""
    CASES.append((name, given, within, share, arguments))


for size in (20, (15, 33), (37, 51), (80, 60), (74, 102), (9, 11)):
    case("Resize", "rgb", size=size)
for inter in ("NEAREST", "BICUBIC", "AREA"):
    for size in ((15, 33), (80, 60), (37, 90), (9, 90)):
        case("Resize", "rgb", 1, size=size, interpolation=inter)
for inter in ("BILINEAR", "NEAREST", "AREA", "BICUBIC"):
    case("Resize", "even", 1 if inter == "BICUBIC" else 0, size=(20, 30), interpolation=inter)
    case("Resize", "even", 1, size=(20, 15), interpolation=inter)
    case("Resize", "float", 1e-5, size=(7, 20), interpolation=inter)
    case("Resize", "uint16", 1, size=(7, 20), interpolation=inter)
    case("Resize", "large", 1, size=(33, 32), interpolation=inter)
for size in ((15, 33), (80, 60), (9, 11)):
    case("Resize", "rgb", size=size, interpolation="PILCUBIC")
case("Resize", "grey", size=25)
case("Resize", "one", size=(25, 26))
case("Resize", "rgba", size=(25, 26))
case("Resize", "int16", 1, size=(25, 26))
case("Resize", "float64", 1e-3, size=(25, 26))
case("Resize", "stack", size=(25, 26))
case("ResizedCrop", "rgb", top=3, left=5, height=20, width=30, size=(24, 25))
case(
    "ResizedCrop", "rgb", 1, top=3, left=5, height=20, width=30, size=(24, 25), interpolation="AREA"
)
for size in ((20, 20), 37, (50, 60), (10, 70), (38, 52)):
    case("CenterCrop", "rgb", size=size)
case("CenterCrop", "grey", size=(10, 11))
case("Crop", "rgb", coordinates=(3, 4), size=(5, 6))
case("Crop", "float", coordinates=(0, 0), size=7)
for mode in ("CONSTANT", "EDGE", "REFLECT", "SYMMETRIC"):
    case("Pad", "rgb", padding=(1, 2, 3, 4), fill_value=7, padding_mode=mode)
    case("Pad", "rgb", padding=(60, 45), padding_mode=mode)
    case("PadToSize", "rgb", size=(50, 60), offset=(3, 2), padding_mode=mode)
case("Pad", "grey", padding=3, fill_value=9)
case("Pad", "float", padding=3, fill_value=9)
case("PadToSize", "rgb", size=60)
for given in ("rgb", "grey", "float", "stack", "int16"):
    case("HorizontalFlip", given)
    case("VerticalFlip", given)
case("SlicePatches", "rgb", num_height=2, num_width=3, fill_value=5)
case("SlicePatches", "rgb", num_height=3, num_width=4, slice_mode="DROP")
for given in ("rgb", "float", "uint16", "int16"):
    case("Normalize", given, 2e-3, mean=[121.0, 115.0, 100.0], std=[70.0, 68.0, 71.0])
case("Normalize", "rgb", 2e-5, mean=[121.0], std=[70.0])
case("Normalize", "chw", 2e-5, mean=[121.0, 115.0, 100.0], std=[70.0, 68.0, 71.0], is_hwc=False)
case("Rescale", "rgb", 1e-6, rescale=1 / 255.0, shift=-0.5)
case("Rescale", "int16", 1e-2, rescale=3.0, shift=2)
case("HWC2CHW", "rgb")
case("HWC2CHW", "float")
case("HWC2CHW", "grey")
for given in ("rgb", "grey", "float"):
    case("ToTensor", given, 1e-6)
case("ToTensor", "rgb", 1e-3, output_type="float16")
for factor in (0.0, 0.3, 1.0, 1.7):
    case("AdjustBrightness", "rgb", brightness_factor=factor)
    case("AdjustContrast", "rgb", 1, contrast_factor=factor)
    case("AdjustSaturation", "rgb", 1, saturation_factor=factor)
    case("AdjustSharpness", "rgb", 1, 0.001, sharpness_factor=factor)
case("AdjustSharpness", "grey", 1, sharpness_factor=1.6)
case("AdjustSharpness", "float", 1e-5, sharpness_factor=1.6)
case("AdjustBrightness", "float", 1e-6, brightness_factor=1.3)
case("AdjustContrast", "float", 1e-5, contrast_factor=1.3)
case("AdjustSaturation", "float", 1e-6, saturation_factor=1.3)
for turn in (-0.5, -0.2, 0.0, 0.1, 0.4, 0.5):
    case("AdjustHue", "rgb", 1, hue_factor=turn)
for given in ("rgb", "grey", "one"):
    case("AdjustGamma", given, gamma=1.7, gain=1.1)
case("AdjustGamma", "float", 1e-6, gamma=0.7, gain=1.1)
case("Invert", "rgb")
case("Invert", "float", 1e-5)
for bits in (0, 1, 3, 8):
    case("Posterize", "rgb", bits=bits)
for threshold in (0, 100, (60, 140), (10, 10)):
    case("Solarize", "rgb", threshold=threshold)
    case("Solarize", "grey", threshold=threshold)
for given in ("rgb", "dark", "one"):
    case("Equalize", given)
    case("AutoContrast", given)
    case("AutoContrast", given, cutoff=10.0, ignore=[30, 40])
for mode in (
    "RGB2BGR",
    "RGB2RGBA",
    "RGB2BGRA",
    "RGB2GRAY",
    "BGR2GRAY",
    "GRAY2RGB",
    "GRAY2RGBA",
    "RGBA2RGB",
    "RGBA2BGR",
    "RGBA2BGRA",
    "RGBA2GRAY",
    "BGRA2GRAY",
):
    given = "grey" if mode[0:4] == "GRAY" else "rgba" if mode.split("2")[0][-1] == "A" else "rgb"
    case("ConvertColor", given, convert_mode="COLOR_" + mode)
case("RgbToHsv", "unit", 1e-12, is_hwc=True)
case("HsvToRgb", "unit", 1e-12, is_hwc=True)
for inter in ("NEAREST", "BILINEAR", "BICUBIC", "AREA"):
    slack = 1 if inter == "BICUBIC" else 0
    for degrees in (0, 30, 90, 180, 200.5, 270, -17):
        case("Rotate", "rgb", slack, degrees=degrees, resample=inter, fill_value=100)
        case("Rotate", "rgb", slack, degrees=degrees, resample=inter, expand=True)
    case("Rotate", "grey", slack, degrees=45, resample=inter, center=(5, 9), fill_value=9)
    case("Rotate", "float", 1e-5, degrees=45, resample=inter)
    case(
        "Affine",
        "rgb",
        slack,
        0.001,
        degrees=20,
        translate=(0.1, -0.2),
        scale=1.2,
        shear=10,
        resample=inter,
    )
    case(
        "Affine",
        "rgb",
        slack,
        0.001,
        degrees=200,
        translate=(0, 0),
        scale=0.5,
        shear=(5, -8),
        resample=inter,
        fill_value=(7, 50, 200),
    )
    ends = [[4, 2], [45, 6], [50, 30], [1, 36]]
    start = [[0, 0], [50, 0], [50, 36], [0, 36]]
    case("Perspective", "rgb", slack, start_points=start, end_points=ends, interpolation=inter)
    case("Perspective", "float", 1e-4, start_points=start, end_points=ends, interpolation=inter)
for size, sigma in ((3, None), (5, None), (7, None), (9, None), ((3, 11), (1.5, 2.5)), (5, 3.0)):
    case("GaussianBlur", "rgb", 1, kernel_size=size, sigma=sigma)
    case("GaussianBlur", "float", 1e-5, kernel_size=size, sigma=sigma)
case("Erase", "rgb", top=3, left=40, height=10, width=20, value=(7, 50, 200))
case("Erase", "float", top=3, left=4, height=5, width=14, value=3)
