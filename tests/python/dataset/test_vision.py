"""Transforms of images: against what a peer gives (vision_golden.npz), closed forms, and their own
deterministic relatives for the random ones."""

import pathlib

import mycel
import mycel.dataset.transforms as transforms
import mycel.dataset.vision as vision
import numpy as np
import pytest
import vision_cases

pytestmark = pytest.mark.one_mode("the pipeline has no modes")

GOLDEN = np.load(pathlib.Path(__file__).with_name("vision_golden.npz"))
INPUTS = vision_cases.inputs()
RGB = INPUTS["rgb"]
ENUMS = {
    "interpolation": vision.Inter,
    "resample": vision.Inter,
    "padding_mode": vision.Border,
    "slice_mode": vision.SliceMode,
    "convert_mode": vision.ConvertMode,
}
data = mycel._mycel.data


def given(name, value):
    if name in ENUMS:
        return ENUMS[name][value]
    return np.dtype(value) if name == "output_type" else value


def drawn(record, values, seed, **arguments):
    """What a transform gives with the draws of a seed."""
    made = data.make_transform("vision." + record, arguments)(values, seed, 0)
    return made[0] if len(made) == 1 else made


@pytest.mark.parametrize(
    "i", range(len(vision_cases.CASES)), ids=lambda i: f"{vision_cases.CASES[i][0]}-{i}"
)
def test_equals_peer(i):
    name, source, within, share, arguments = vision_cases.CASES[i]
    arguments = {k: given(k, v) for k, v in arguments.items()}
    made = getattr(vision, name)(**arguments)(INPUTS[source])
    made = made if isinstance(made, tuple) else (made,)
    assert f"case_{i}_{len(made)}" not in GOLDEN
    for k, got in enumerate(made):
        want = GOLDEN[f"case_{i}_{k}"]
        if want.shape == got.shape + (1,):  # the peer adds a dim to grey images here and there
            want = want[..., 0]
        assert got.shape == want.shape
        assert got.dtype == want.dtype
        apart = np.abs(got.astype(np.float64) - want.astype(np.float64)) > within
        assert apart.mean() <= share


def test_every_transform_is_tested():
    """A transform that is added is compared with something."""
    text = pathlib.Path(__file__).read_text() + pathlib.Path(vision_cases.__file__).read_text()
    missing = [
        n
        for n, v in vars(vision).items()
        if isinstance(v, type) and hasattr(v, "_record") and n not in text
    ]
    assert not missing


FILES = sorted(k[5:] for k in GOLDEN if k.startswith("file_"))


@pytest.mark.parametrize("name", FILES)
def test_decode(name):
    got = vision.Decode()(GOLDEN["file_" + name])
    want = GOLDEN["pixels_" + name]
    assert got.dtype == np.uint8
    assert got.shape == want.shape
    # The peer divides colours of ink in another order.
    assert np.abs(got.astype(int) - want).max() <= (1 if name == "jpeg_cmyk" else 0)


@pytest.mark.parametrize("name", FILES)
def test_crop_decodes_the_same_pixels(name):
    file = GOLDEN["file_" + name]
    whole = vision.Decode()(file)
    for seed in range(20):
        for inter in ("BILINEAR", "NEAREST"):
            arguments = {"size": [13, 11], "interpolation": inter}
            want = drawn("RandomResizedCrop", [whole], seed, **arguments)
            assert (drawn("RandomCropDecodeResize", [file], seed, **arguments) == want).all()


@pytest.mark.parametrize(
    "name", ["jpeg420", "jpeg_progressive", "png", "webp", "tiff_lzw", "tiff", "bmp"]
)
def test_truncated_file_is_an_error(name):
    file = GOLDEN["file_" + name]
    for part in (0.02, 0.2, 0.6):
        with pytest.raises(ValueError, match="broken|no image|header|pixels"):
            vision.Decode()(file[: max(5, int(len(file) * part))])


@pytest.mark.parametrize(
    "start, text",
    [
        (b"", "no bytes"),
        (b"GIF89a....", "GIF"),
        (b"hello", "68 65 6c 6c"),
        (b"\0\0\0\x18ftypheic", "HEIF"),
    ],
)
def test_foreign_format_is_named(start, text):
    with pytest.raises(ValueError, match=text):
        vision.Decode()(np.frombuffer(start, np.uint8))


@pytest.mark.parametrize("name, at", [("jpeg420", None), ("png", 16), ("bmp", 18)])
def test_a_header_cannot_claim_what_the_data_does_not_hold(name, at):
    file = GOLDEN["file_" + name].copy()
    if at is None:  # height and width in the frame header
        at = file.tobytes().index(b"\xff\xc0") + 5
        file[at : at + 4] = [0xFF, 0, 0xFF, 0]
    else:
        order = ">u4" if name == "png" else "<u4"
        file[at : at + 8] = np.frombuffer(np.array([30000, 30000], order).tobytes(), np.uint8)
        if name == "png":
            import zlib

            check = zlib.crc32(file[12:29].tobytes())
            file[29:33] = np.frombuffer(np.array([check], ">u4").tobytes(), np.uint8)
    with pytest.raises(ValueError, match="hold"):
        vision.Decode()(file)


@pytest.mark.parametrize("inter", [m.name for m in vision.Inter])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_channels_are_resized_as_if_alone(inter, dtype):
    """Pixels of three and four channels have loops of their own; a plane is computed plainly."""
    sizes = [(1, 1), (2, 3), (5, 4), (9, 7), (16, 33), (37, 51), (64, 90)]
    for h, w in sizes:
        image = vision_cases.picture(h, w, 4, h).astype(dtype)
        for size in sizes:
            change = vision.Resize(size, vision.Inter[inter])
            planes = [change(np.ascontiguousarray(image[..., k])) for k in range(4)]
            for c in (3, 4):
                got = change(np.ascontiguousarray(image[..., :c]))
                assert (got == np.stack(planes[:c], -1)).all(), (h, w, size, c)


def test_decoded_image_is_not_decoded_again():
    with pytest.raises(ValueError, match="bytes of a file"):
        vision.Decode()(RGB)


# --- joined steps

MEAN, STD = [121.0, 115.0, 100.0], [70.0, 68.0, 71.0]
CHAINS = {
    "train": [
        ("RandomCropDecodeResize", {"size": [20, 24]}),
        ("RandomHorizontalFlip", {}),
        ("Normalize", {"mean": MEAN, "std": STD}),
        ("HWC2CHW", {}),
    ],
    "two flips": [
        ("Decode", {}),
        ("RandomResizedCrop", {"size": 17}),
        ("RandomHorizontalFlip", {}),
        ("RandomVerticalFlip", {}),
        ("Rescale", {"rescale": 1 / 255, "shift": 0.1}),
        ("Normalize", {"mean": [0.4, 0.5, 0.6], "std": [0.2, 0.3, 0.4]}),
        ("HWC2CHW", {}),
    ],
    "evaluation": [
        ("Decode", {}),
        ("Resize", {"size": 30}),
        ("CenterCrop", {"size": 18}),
        ("Normalize", {"mean": MEAN, "std": STD}),
        ("HWC2CHW", {}),
    ],
    "tensor": [
        ("Decode", {}),
        ("RandomCrop", {"size": [15, 12]}),
        ("RandomHorizontalFlip", {}),
        ("ToTensor", {}),
        ("Normalize", {"mean": [0.4], "std": [0.2], "is_hwc": False}),
    ],
    "channels last": [
        ("Decode", {}),
        ("Resize", {"size": [40, 41]}),
        ("RandomCrop", {"size": [15, 12]}),
        ("VerticalFlip", {}),
        ("Normalize", {"mean": MEAN, "std": STD}),
    ],
    "bytes": [
        ("Decode", {}),
        ("Resize", {"size": [40, 41]}),
        ("RandomHorizontalFlip", {}),
        ("HWC2CHW", {}),
    ],
    "cubic": [
        ("Decode", {}),
        ("Resize", {"size": [11, 12], "interpolation": "PILCUBIC"}),
        ("HorizontalFlip", {}),
        ("Normalize", {"mean": MEAN, "std": STD}),
        ("HWC2CHW", {}),
    ],
    "crops": [
        ("Decode", {}),
        ("RandomHorizontalFlip", {}),
        ("RandomVerticalFlip", {}),
        ("RandomCrop", {"size": [15, 14]}),
        ("Crop", {"coordinates": [1, 2], "size": [9, 8]}),
        ("HWC2CHW", {}),
    ],
    "padded": [("Decode", {}), ("CenterCrop", {"size": 50}), ("HWC2CHW", {})],
}


@pytest.mark.parametrize("chain", CHAINS)
def test_joined_steps_equal_single_ones(chain):
    steps = CHAINS[chain]
    compose = data.make_transform(
        "transforms.Compose",
        {"transforms": [data.make_transform("vision." + n, a) for n, a in steps]},
    )
    single = [data.make_transform("vision." + n, a) for n, a in steps]
    random = [s for s in single if s.random()]
    for name in ("jpeg420", "jpeg_grey", "png_alpha", "tiff"):
        file = GOLDEN["file_" + name]
        for seed in range(8):
            got = compose([file], seed, 0)[0]
            if len(random) > 1:  # one stream of draws runs through a composition
                value = apart(steps, file, seed)
            else:
                value = file
                for s in single:
                    value = s([value], seed, 0)[0]
            assert got.shape == value.shape
            assert got.dtype == value.dtype
            scale = max(1.0, np.abs(value.astype(np.float64)).max())
            assert np.abs(got.astype(np.float64) - value).max() <= 2e-6 * scale


def apart(steps, value, seed):
    """The steps in a composition that cannot join them: between them stands ToNumpy, which changes
    nothing."""
    parts = []
    for n, a in steps:
        parts += [data.make_transform("vision." + n, a), data.make_transform("vision.ToNumpy", {})]
    if steps[0][0] != "Decode":
        return data.make_transform("transforms.Compose", {"transforms": parts})([value], seed, 0)[0]
    value = data.make_transform("vision.Decode", {})([value], seed, 0)[0]
    return data.make_transform("transforms.Compose", {"transforms": parts[2:]})([value], seed, 0)[0]


def test_large_jpeg_decoded_at_a_part_of_its_size():
    """A smooth picture: what averaging instead of skipping pixels may change is small."""
    y, x = np.mgrid[0:400, 0:600] / 40.0
    smooth = np.stack(
        [128 + 90 * np.sin(x + k) * np.cos(y * (1 + k / 3)) for k in range(3)], -1
    ).astype(np.uint8)
    file = data.make_transform("vision.encode_jpeg", {"quality": 95})([smooth], 0, 0)[0]
    for inter in ("BILINEAR", "AREA"):
        for seed in range(6):
            given = {"size": [40, 50], "scale": [0.5, 1.0], "interpolation": inter}
            steps = [("Decode", {}), ("RandomResizedCrop", given), ("HWC2CHW", {})]
            compose = [data.make_transform("vision." + n, a) for n, a in steps]
            got = data.make_transform("transforms.Compose", {"transforms": compose})(
                [file], seed, 0
            )[0]
            want = drawn("RandomResizedCrop", [vision.Decode()(file)], seed, **given).transpose(
                2, 0, 1
            )
            assert np.abs(got.astype(int) - want).mean() < 1.5
            # The joined form is at the same place: shifted by a pixel the difference is larger.
            assert np.abs(got[:, :, 1:].astype(int) - want[:, :, :-1]).mean() > 3


# --- random transforms, with draws that leave one result

ONE_RESULT = [
    ("RandomColor", {"degrees": [0.3, 0.3]}, "AdjustSaturation", {"saturation_factor": 0.3}),
    ("RandomSharpness", {"degrees": [1.7, 1.7]}, "AdjustSharpness", {"sharpness_factor": 1.7}),
    (
        "RandomAdjustSharpness",
        {"degree": 0.5, "prob": 1.0},
        "AdjustSharpness",
        {"sharpness_factor": 0.5},
    ),
    (
        "RandomColorAdjust",
        {"brightness": [1.3, 1.3]},
        "AdjustBrightness",
        {"brightness_factor": 1.3},
    ),
    ("RandomColorAdjust", {"contrast": [1.3, 1.3]}, "AdjustContrast", {"contrast_factor": 1.3}),
    (
        "RandomColorAdjust",
        {"saturation": [1.3, 1.3]},
        "AdjustSaturation",
        {"saturation_factor": 1.3},
    ),
    ("RandomColorAdjust", {"hue": [0.2, 0.2]}, "AdjustHue", {"hue_factor": 0.2}),
    ("RandomPosterize", {"bits": 3}, "Posterize", {"bits": 3}),
    ("RandomSolarize", {"threshold": [90, 90]}, "Solarize", {"threshold": 90}),
    ("RandomInvert", {"prob": 1}, "Invert", {}),
    ("RandomEqualize", {"prob": 1}, "Equalize", {}),
    ("RandomAutoContrast", {"cutoff": 5, "prob": 1}, "AutoContrast", {"cutoff": 5}),
    ("RandomGrayscale", {"prob": 1}, "Grayscale", {"num_output_channels": 3}),
    ("RandomLighting", {"alpha": 0}, "ToNumpy", {}),
    ("RandomHorizontalFlip", {"prob": 1}, "HorizontalFlip", {}),
    ("RandomVerticalFlip", {"prob": 1}, "VerticalFlip", {}),
    ("RandomRotation", {"degrees": [30, 30]}, "Rotate", {"degrees": 30}),
    ("RandomRotation", {"degrees": 0, "expand": True}, "Rotate", {"degrees": 0, "expand": True}),
    (
        "RandomAffine",
        {
            "degrees": [20, 20],
            "translate": [0.1, 0.1, -0.2, -0.2],
            "scale": [1.2, 1.2],
            "shear": [5, 5, -8, -8],
        },
        "Affine",
        {"degrees": 20, "translate": [0.1, -0.2], "scale": 1.2, "shear": [5, -8]},
    ),
    ("RandomPerspective", {"prob": 0}, "ToNumpy", {}),
    ("RandomPerspective", {"distortion_scale": 0, "prob": 1}, "ToNumpy", {}),
    (
        "RandomResizedCrop",
        {"size": [20, 30], "scale": [1, 1], "ratio": [51 / 37, 51 / 37]},
        "Resize",
        {"size": [20, 30]},
    ),
    ("RandomCrop", {"size": [37, 51]}, "ToNumpy", {}),
    ("RandomCrop", {"size": [43, 57], "padding": 3}, "Pad", {"padding": 3}),
    ("RandomErasing", {"prob": 0}, "ToNumpy", {}),
]


@pytest.mark.parametrize("i", range(len(ONE_RESULT)), ids=lambda i: ONE_RESULT[i][0])
def test_random_with_one_result(i):
    name, arguments, other, of_other = ONE_RESULT[i]
    want = data.make_transform("vision." + other, of_other)([RGB], 0, 0)[0]
    for seed in range(3):
        assert (drawn(name, [RGB], seed, **arguments) == want).all()


@pytest.mark.parametrize(
    "name, other",
    [
        ("RandomInvert", "Invert"),
        ("RandomHorizontalFlip", "HorizontalFlip"),
        ("RandomVerticalFlip", "VerticalFlip"),
        ("RandomEqualize", "Equalize"),
        ("RandomAutoContrast", "AutoContrast"),
    ],
)
def test_probability(name, other):
    small = RGB[:8, :8].copy()
    want = getattr(vision, other)()(small)
    happened = [(drawn(name, [small], seed, prob=0.3) == want).all() for seed in range(600)]
    assert abs(np.mean(happened) - 0.3) < 4 * np.sqrt(0.3 * 0.7 / 600)


def test_random_crop_reaches_every_place():
    places = np.arange(6 * 7, dtype=np.uint8).reshape(6, 7)
    seen = [int(drawn("RandomCrop", [places], seed, size=[3, 4])[0, 0]) for seed in range(1600)]
    counts = np.bincount(seen, minlength=42).reshape(6, 7)
    assert (counts[:4, :4] > 60).all()
    assert counts[:4, :4].sum() == 1600


def test_random_resized_crop_area_and_ratio():
    """A picture of coordinates tells which rectangle was taken."""
    y, x = np.mgrid[0:200, 0:240].astype(np.uint8)
    picture, parts, ratios = np.stack([y, x, x], -1), [], []
    for seed in range(400):
        got = drawn("RandomResizedCrop", [picture], seed, size=100, interpolation="NEAREST").astype(
            int
        )
        h = (got[-1, 0, 0] - got[0, 0, 0]) * 100 / 99
        w = (got[0, -1, 1] - got[0, 0, 1]) * 100 / 99
        parts.append(h * w / (200 * 240))
        ratios.append(w / h)
    assert 0.07 < min(parts) < 0.12
    assert 0.8 < max(parts) <= 1.03
    assert 0.42 < np.mean(parts) < 0.56  # large areas fit less often
    assert 0.73 < min(ratios) < 0.8
    assert 1.25 < max(ratios) < 1.37


def test_same_draws_for_image_and_mask():
    image, mask = drawn("RandomResizedCrop", [RGB, RGB], 5, size=20)
    assert (image == mask).all()


@pytest.mark.parametrize(
    "name, arguments",
    [
        ("AutoAugment", {}),
        ("AutoAugment", {"policy": "CIFAR10"}),
        ("AutoAugment", {"policy": "SVHN"}),
        ("RandAugment", {}),
        ("TrivialAugmentWide", {}),
        ("RandomPerspective", {"prob": 1.0}),
        ("RandomLighting", {}),
        ("RandomRotation", {"degrees": 40}),
        ("RandomAffine", {"degrees": 9, "shear": 4}),
        ("RandomSolarize", {}),
        ("RandomColorAdjust", {"brightness": 0.4, "contrast": 0.4, "saturation": 0.4, "hue": 0.1}),
        ("RandomResize", {"size": 20}),
        ("CutOut", {"length": 7, "num_patches": 2}),
    ],
)
def test_seed_decides(name, arguments):
    results = [drawn(name, [RGB], seed, **arguments) for seed in range(40)]
    again = [drawn(name, [RGB], seed, **arguments) for seed in range(40)]
    assert all((a == b).all() for a, b in zip(results, again, strict=True))
    assert len({r.tobytes() for r in results}) > 3
    assert all(r.dtype == np.uint8 for r in results)


@pytest.mark.parametrize(
    "name, given, part, shift, turn, bits",
    [
        ("TrivialAugmentWide", {"num_magnitude_bins": 2}, 0.99, (32, 32), 135, 2),
        (
            "RandAugment",
            {"num_ops": 1, "magnitude": 30},
            0.9,
            (int(150 / 331 * 51), int(150 / 331 * 37)),
            30,
            4,
        ),
    ],
)
def test_augmentation_is_one_of_its_changes(name, given, part, shift, turn, bits):
    """With the largest strength every result is one of few: nothing, or a change at its largest."""
    wide = name != "RandAugment"
    degrees = np.degrees(0.99 if wide else 0.3)

    def moved(**given):
        full = {"degrees": 0, "translate": (0, 0), "scale": 1, "shear": (0, 0), **given}
        return vision.Affine(**full)(RGB)

    ways = {
        "none": RGB,
        "autocontrast": vision.AutoContrast()(RGB),
        "equalize": vision.Equalize()(RGB),
        "posterize": vision.Posterize(bits)(RGB),
        "solarize": vision.Solarize(0)(RGB),
    }
    for sign in (-1, 1):
        ways[f"shear x {sign}"] = moved(shear=(sign * degrees, 0))
        ways[f"shear y {sign}"] = moved(shear=(0, sign * degrees))
        ways[f"shift x {sign}"] = moved(translate=(sign * shift[0] / 51, 0))
        ways[f"shift y {sign}"] = moved(translate=(0, sign * shift[1] / 37))
        ways[f"rotate {sign}"] = vision.Rotate(sign * turn)(RGB)
        ways[f"brightness {sign}"] = vision.AdjustBrightness(1 + sign * part)(RGB)
        ways[f"color {sign}"] = vision.AdjustSaturation(1 + sign * part)(RGB)
        ways[f"contrast {sign}"] = vision.AdjustContrast(1 + sign * part)(RGB)
        ways[f"sharpness {sign}"] = vision.AdjustSharpness(1 + sign * part)(RGB)
    seen = set()
    for seed in range(500):
        got = drawn(name, [RGB], seed, **given)
        names = [n for n, w in ways.items() if (np.abs(got.astype(int) - w) > 1).mean() < 0.005]
        assert names, f"seed {seed}: no change gives this"
        seen.add(names[0])
    assert seen == set(ways)


def test_rand_augment_of_nothing():
    assert (drawn("RandAugment", [RGB], 0, num_ops=0) == RGB).all()


def test_subpolicies():
    policy = [
        [(vision.Invert(), 1.0), (vision.HorizontalFlip(), 1.0)],
        [(vision.Posterize(2), 1), (vision.Invert(), 0)],
    ]
    t = vision.RandomSelectSubpolicy(policy)
    want = {
        vision.HorizontalFlip()(vision.Invert()(RGB)).tobytes(),
        vision.Posterize(2)(RGB).tobytes(),
    }
    assert {t(RGB).tobytes() for _ in range(30)} == want
    with pytest.raises(ValueError, match="policy"):
        vision.RandomSelectSubpolicy([[(vision.Invert(), 2.0)]])


def test_uniform_augment():
    t = vision.UniformAugment([vision.Invert(), vision.Posterize(2)], 2)
    both = [vision.Posterize(2)(vision.Invert()(RGB)), vision.Invert()(vision.Posterize(2)(RGB))]
    want = {x.tobytes() for x in [RGB, vision.Invert()(RGB), vision.Posterize(2)(RGB), *both]}
    assert {t(RGB).tobytes() for _ in range(200)} == want
    with pytest.raises(ValueError, match="num_ops"):
        vision.UniformAugment([vision.Invert()], 2)


# --- rectangles overwritten


def test_cut_out():
    white = np.full((40, 50, 3), 255, np.uint8)
    for seed in range(30):
        got = drawn("CutOut", [white], seed, length=9, num_patches=1)
        hole = (got == 0).all(-1)
        assert (got[~hole] == 255).all()
        rows, columns = np.nonzero(hole.any(1))[0], np.nonzero(hole.any(0))[0]
        if len(rows):
            assert hole[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1].all()
            assert len(rows) <= 9 and len(columns) <= 9
            inside = 0 < rows[0] and rows[-1] < 39 and 0 < columns[0] and columns[-1] < 49
            assert not inside or (len(rows) == 9 and len(columns) == 9)
    first = white.transpose(2, 0, 1).copy()
    assert (
        drawn("CutOut", [first], 3, length=9, is_hwc=False).transpose(1, 2, 0)
        == drawn("CutOut", [white], 3, length=9)
    ).all()


def test_random_erasing():
    white, parts = np.ones((3, 60, 80), np.float32), []
    for seed in range(200):
        got = drawn("RandomErasing", [white], seed, prob=1.0, value=[2, 3, 4])
        hole = got[0] != 1
        rows, columns = np.nonzero(hole.any(1))[0], np.nonzero(hole.any(0))[0]
        assert hole[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1].all()
        assert [set(np.unique(got[k])) for k in range(3)] == [{1, 2}, {1, 3}, {1, 4}]
        parts.append(hole.mean())
    assert 0.015 < min(parts) < 0.06
    assert 0.25 < max(parts) < 0.35
    noise = drawn(
        "RandomErasing",
        [np.zeros((3, 99, 99), np.float32)],
        1,
        prob=1.0,
        scale=[0.3, 0.3],
        value="random",
    )
    inside = noise[noise != 0]
    assert abs(inside.mean()) < 0.1 and abs(inside.std() - 1) < 0.1


# --- batches


def batch():
    images = np.random.RandomState(0).randint(0, 256, (4, 8, 9, 3)).astype(np.uint8)
    return images, np.eye(4, dtype=np.int32)


def test_mix_up():
    images, labels = batch()
    made, mixed = drawn("MixUp", [images, labels], 7, batch_size=4, alpha=0.4)
    for i in range(4):
        part = mixed[i, i]
        assert np.isclose(mixed[i, (i + 1) % 4], 1 - part)
        want = part * images[i] + (1 - part) * images[(i + 1) % 4].astype(float)
        assert np.allclose(made[i], want, atol=1e-10)
    parts = np.array(
        [
            np.diag(drawn("MixUp", [images, labels], s, batch_size=4, alpha=0.4)[1])
            for s in range(400)
        ]
    )
    # The beta distribution (a, a) has the mean 1/2 and the variance 1 / (4 (2 a + 1)).
    assert abs(parts.mean() - 0.5) < 0.04
    assert abs(parts.var() - 1 / (4 * 1.8)) < 0.02
    with pytest.raises(NotImplementedError, match="is_single"):
        vision.MixUp(4, 0.4, is_single=False)
    with pytest.raises(ValueError, match="batch_size"):
        vision.MixUp(3, 0.4)(images, labels)


def test_mix_up_batch():
    images, labels = batch()
    for seed in range(10):
        made, mixed = drawn("MixUpBatch", [images, labels], seed, alpha=1.0)
        assert made.dtype == mixed.dtype == np.float32
        assert np.allclose(mixed.sum(1), 1)
        # Labels are unit vectors: their mixture is the recipe for the images.
        assert np.allclose(made, np.tensordot(mixed, images.astype(np.float32), 1), atol=1e-3)


@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
def test_cut_mix_batch(layout):
    images, labels = batch()
    given = images if layout == "NHWC" else images.transpose(0, 3, 1, 2).copy()
    for seed in range(20):
        made, mixed = drawn("CutMixBatch", [given, labels], seed, image_batch_format=layout)
        made = made if layout == "NHWC" else made.transpose(0, 2, 3, 1)
        assert np.allclose(mixed.sum(1), 1)
        for i in range(4):
            other = next((j for j in range(4) if j != i and mixed[i, j] > 0), i)
            taken = (made[i] != images[i]).any(-1)
            assert (made[i][taken] == images[other][taken]).all()
            assert np.isclose(1 - mixed[i, i], taken.mean(), atol=0.02)  # equal pixels are rare


# --- boxes


def boxed():
    """A coloured rectangle and its box, with a label behind."""
    image = np.zeros((40, 60, 3), np.uint8)
    image[10:22, 15:45] = 255
    return image, np.array([[15, 10, 30, 12, 7]], np.float32)


def box_of(image):
    bright = image[:, :, 0] > 127
    rows, columns = np.nonzero(bright.any(1))[0], np.nonzero(bright.any(0))[0]
    return np.array([columns[0], rows[0], columns[-1] + 1 - columns[0], rows[-1] + 1 - rows[0]])


@pytest.mark.parametrize(
    "name, arguments, slack",
    [
        ("RandomHorizontalFlipWithBBox", {"prob": 1}, 0),
        ("RandomVerticalFlipWithBBox", {"prob": 1}, 0),
        ("ResizeWithBBox", {"size": [80, 90]}, 1.01),
        ("ResizeWithBBox", {"size": 20}, 1.01),
        ("RandomResizeWithBBox", {"size": [80, 90]}, 1.01),
        ("RandomCropWithBBox", {"size": [30, 35], "padding": 5}, 0),
        ("RandomCropWithBBox", {"size": [70, 35], "pad_if_needed": True}, 0),
        ("RandomResizedCropWithBBox", {"size": [50, 60], "scale": [0.5, 1.0]}, 1.5),
    ],
)
def test_boxes_follow_the_image(name, arguments, slack):
    for seed in range(25):
        image, boxes = drawn(name, list(boxed()), seed, **arguments)
        if len(boxes) == 0 or min(boxes[0, 2:4]) < 2:  # nearly all was cut away
            continue
        assert boxes[0, 4] == 7
        assert np.abs(boxes[0, :4] - box_of(image)).max() <= slack


def test_boxes_outside_are_left_out():
    image = np.zeros((40, 60, 3), np.uint8)
    boxes = np.array([[0, 0, 2, 2], [20, 10, 20, 20]], np.float32)
    image, left = drawn("RandomCropWithBBox", [image, boxes], 1, size=[40, 60])
    assert len(left) == 2
    counts = {
        len(drawn("RandomCropWithBBox", [image, boxes], s, size=[25, 40])[1]) for s in range(40)
    }
    assert counts == {1, 2}


def test_bounding_box_augment():
    image, boxes = boxed()
    got, same = vision.BoundingBoxAugment(vision.Posterize(1), 1.0)(image, boxes)
    want = image.copy()
    want[10:22, 15:45] = 128
    assert (got == want).all() and (same == boxes).all()
    smaller, _ = vision.BoundingBoxAugment(vision.CenterCrop(4), 1.0)(image, boxes)
    assert smaller.shape == image.shape
    assert (vision.BoundingBoxAugment(vision.Invert(), 0.0)(image, boxes)[0] == image).all()


def test_bad_boxes():
    image, boxes = boxed()
    with pytest.raises(ValueError, match="leaves the image"):
        vision.ResizeWithBBox(20)(image, boxes + 40)
    with pytest.raises(ValueError, match="4 or more"):
        vision.ResizeWithBBox(20)(image, boxes[:, :3].copy())


# --- closed forms


def test_normalize_pad():
    got = vision.NormalizePad(MEAN, STD)(RGB)
    want = (RGB - np.array(MEAN)) / np.array(STD)
    assert got.dtype == np.float32 and got.shape == (37, 51, 4)
    assert np.allclose(got[:, :, :3], want, atol=1e-5) and (got[:, :, 3] == 0).all()
    first = vision.NormalizePad(MEAN, STD, "float16", False)(INPUTS["chw"])
    assert first.dtype == np.float16 and first.shape == (4, 12, 15) and (first[3] == 0).all()


def test_fill_has_the_order_of_the_channels():
    for t in (
        vision.Rotate(45, fill_value=(7, 50, 200)),
        vision.Affine(0, (0.9, 0.9), 1, 0, fill_value=(7, 50, 200)),
        vision.Pad(1, (7, 50, 200)),
    ):
        assert t(RGB)[0, 0].tolist() == [7, 50, 200]


def test_lanczos_keeps_even_colour_and_mean():
    even = np.full((30, 40, 3), 77, np.uint8)
    assert (vision.Resize((7, 55), vision.Inter.ANTIALIAS)(even) == 77).all()
    made = vision.Resize((12, 17), vision.Inter.ANTIALIAS)(RGB)
    assert abs(made.mean() - RGB.mean()) < 0.5
    floats = vision.Resize((12, 17), vision.Inter.ANTIALIAS)(RGB.astype(np.float32))
    assert (
        np.abs(np.clip(floats, 0, 255) - made).max() < 1.01
    )  # bytes are rounded between the passes


def test_crops_of_five_and_ten():
    five = vision.FiveCrop((10, 12))(RGB)
    corners = [RGB[:10, :12], RGB[:10, -12:], RGB[-10:, :12], RGB[-10:, -12:]]
    assert all((a == b).all() for a, b in zip(five, corners, strict=False))
    assert (five[4] == RGB[14:24, 20:32]).all()  # 13.5 and 19.5 are rounded to even numbers
    ten = vision.TenCrop((10, 12), True)(RGB)
    assert all(
        (a == b).all()
        for a, b in zip(ten, [*five, *vision.FiveCrop((10, 12))(RGB[::-1].copy())], strict=True)
    )
    across = vision.TenCrop(10)(RGB)
    assert (across[5] == RGB[:10, ::-1][:, :10]).all()


def test_linear_transformation():
    r = np.random.RandomState(0)
    matrix, mean, image = r.rand(12, 12), r.rand(12), r.rand(2, 2, 3)
    got = vision.LinearTransformation(matrix, mean)(image)
    assert np.allclose(got, ((image.reshape(1, 12) - mean) @ matrix).reshape(2, 2, 3))
    with pytest.raises(ValueError, match="square"):
        vision.LinearTransformation(matrix[:5].copy(), mean)


def test_grey_and_back():
    grey = vision.Grayscale()(RGB)
    assert np.abs(grey - RGB @ [0.299, 0.587, 0.114]).max() < 0.51
    assert (vision.Grayscale(3)(RGB) == grey[:, :, None]).all()
    there = vision.RgbToHsv(is_hwc=True)(INPUTS["unit"])
    assert np.allclose(vision.HsvToRgb(is_hwc=True)(there), INPUTS["unit"], atol=1e-12)
    first = INPUTS["unit"].transpose(2, 0, 1).copy()
    assert np.allclose(vision.RgbToHsv()(first), there.transpose(2, 0, 1))
    assert np.allclose(vision.RgbToHsv()(np.stack([first, first]))[1], there.transpose(2, 0, 1))


def test_types():
    assert vision.ToType(np.int32)(INPUTS["float"] * 9).dtype == np.int32
    assert (vision.ToNumpy()(RGB) == RGB).all()
    assert data.make_transform("vision.ToPIL", {})([INPUTS["one"]], 0, 0)[0].shape == (37, 51)
    with pytest.raises(ValueError, match="4 channels"):
        vision.ToPIL()(np.zeros((3, 3, 5), np.uint8))


# --- files


def call(name, *values, **arguments):
    made = data.make_transform("vision." + name, arguments)(values, 0, 0)
    return made[0] if len(made) == 1 else made


def test_files(tmp_path):
    png, jpeg = str(tmp_path / "a.png"), str(tmp_path / "a.jpg")
    call("write_png", png, RGB, compression_level=9)
    assert (call("read_image", png) == RGB).all()
    assert (call("read_image", png, mode="GRAYSCALE")[:, :, 0] == vision.Grayscale()(RGB)).all()
    call("write_jpeg", jpeg, RGB, quality=95)
    assert np.abs(call("read_image", jpeg).astype(int) - RGB).mean() < 9
    assert (call("encode_jpeg", RGB, quality=95) == call("read_file", jpeg)).all()
    assert (call("encode_png", INPUTS["grey"])[:4] == [0x89, 0x50, 0x4E, 0x47]).all()
    call("write_file", str(tmp_path / "b"), np.arange(9, dtype=np.uint8))
    assert call("read_file", str(tmp_path / "b")).tolist() == list(range(9))
    assert call("get_image_size", RGB).tolist() == [37, 51]
    assert call("get_image_size", call("read_file", jpeg)).tolist() == [37, 51]
    assert call("get_image_num_channels", GOLDEN["file_png_grey"]) == 1
    assert call("get_image_num_channels", RGB) == 3
    with pytest.raises(OSError, match="nowhere"):
        call("read_file", str(tmp_path / "nowhere"))
    with pytest.raises(ValueError, match="b: .*no image"):
        call("read_image", str(tmp_path / "b"))
    with pytest.raises(ValueError, match="quality"):
        call("encode_jpeg", RGB, quality=0)


@pytest.mark.parametrize("name", FILES)
def test_size_of_a_file_without_decoding(name):
    want = GOLDEN["pixels_" + name].shape[:2]
    assert tuple(call("get_image_size", GOLDEN["file_" + name])) == want


# --- errors


@pytest.mark.parametrize(
    "make, error, text",
    [
        (lambda: vision.Resize(0)(RGB), ValueError, "size"),
        (lambda: vision.Resize((1, 2, 3)), ValueError, "size"),
        (lambda: vision.Resize((40000, 4))(RGB[:3]), ValueError, "1000 times"),
        (lambda: vision.Resize(5)(RGB.astype(np.int32)), TypeError, "int32"),
        (lambda: vision.Resize(5)(np.zeros(9, np.uint8)), ValueError, "Decode"),
        (lambda: vision.Crop((30, 3), 20)(RGB), ValueError, "leaves the image"),
        (lambda: vision.RandomCrop(60)(RGB), ValueError, "60 x 60"),
        (lambda: vision.PadToSize(20)(RGB), ValueError, "smaller"),
        (lambda: vision.Normalize([1.0, 2.0], [1.0])(RGB), ValueError, "as many"),
        (lambda: vision.Normalize([1.0], [0.0]), ValueError, "std"),
        (lambda: vision.Normalize([1.0, 2.0], [1.0, 2.0])(RGB), ValueError, "3 channels"),
        (lambda: vision.AdjustHue(0.7), ValueError, "hue_factor"),
        (lambda: vision.AdjustHue(0.1)(INPUTS["float"]), TypeError, "uint8"),
        (lambda: vision.AdjustContrast(0.5)(INPUTS["grey"]), ValueError, "height, width, 3"),
        (lambda: vision.Posterize(9), ValueError, "bits"),
        (lambda: vision.Equalize()(INPUTS["float"]), TypeError, "uint8"),
        (lambda: vision.Erase(1, 1, 99, 2)(RGB), ValueError, "99"),
        (
            lambda: vision.Perspective(
                [[0, 0], [1, 1], [2, 2], [0, 5]], [[0, 0], [1, 1], [2, 3], [0, 5]]
            ),
            ValueError,
            "line",
        ),
        (lambda: vision.GaussianBlur(4), ValueError, "odd"),
        (lambda: vision.RandomRotation((3, 1)), ValueError, "degrees"),
        (lambda: vision.RandomHorizontalFlip(1.5), ValueError, "prob"),
        (lambda: vision.RandAugment(magnitude=31), ValueError, "magnitude"),
        (lambda: vision.FiveCrop(99)(RGB), ValueError, "99"),
        (lambda: vision.SlicePatches(99, 1)(RGB), ValueError, "99"),
        (lambda: vision.ConvertColor(vision.ConvertMode.COLOR_RGBA2RGB)(RGB), ValueError, "RGBA"),
        (lambda: transforms.Compose([]), ValueError, "empty"),
    ],
)
def test_errors(make, error, text):
    with pytest.raises(error, match=text):
        make()
