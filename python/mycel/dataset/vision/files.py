"""Images in files and in memory: reading, writing, encoding, sizes."""

import os

from mycel import _mycel
from mycel._mycel import entry
from mycel.dataset.choices import ALL as _choices

_ImageReadMode = _choices["ImageReadMode"]


def _run(name, *values, **options):
    made = _mycel.data.make_transform(f"vision.{name}", options)(values, 0, 0)
    return made[0] if made else None


@entry
def encode_jpeg(image, quality=75):
    """An image, uint8 [h, w], [h, w, 1] or [h, w, 3], as the bytes of a JPEG file (uint8 [n]).
    quality: 1 to 100."""
    return _run("encode_jpeg", image, quality=quality)


@entry
def encode_png(image, compression_level=6):
    """An image, uint8 [h, w], [h, w, 1] or [h, w, 3], as the bytes of a PNG file (uint8 [n]).
    compression_level: 0 (none) to 9."""
    return _run("encode_png", image, compression_level=compression_level)


@entry
def read_file(filename):
    """The bytes of a file, uint8 [n]. OSError when it cannot be read."""
    return _run("read_file", os.fspath(filename))


@entry
def read_image(filename, mode=_ImageReadMode.UNCHANGED):
    """The image in a file (JPEG, PNG, WebP, TIFF, BMP), [h, w, c]: c as in the file without alpha
    (UNCHANGED), 1 (GRAYSCALE) or 3 (COLOR)."""
    return _run("read_image", os.fspath(filename), mode=mode)


@entry
def write_file(filename, data):
    """Writes bytes (uint8 [n]) to a file: the whole file or nothing."""
    _run("write_file", os.fspath(filename), data)


@entry
def write_jpeg(filename, image, quality=75):
    """encode_jpeg into a file."""
    _run("write_jpeg", os.fspath(filename), image, quality=quality)


@entry
def write_png(filename, image, compression_level=6):
    """encode_png into a file."""
    _run("write_png", os.fspath(filename), image, compression_level=compression_level)


@entry
def get_image_size(image):
    """[height, width] of an image, [..., h, w, c] or [h, w], or of the bytes of an image file, of
    which only the header is read."""
    if hasattr(image, "getbands"):
        return [image.height, image.width]
    return _run("get_image_size", image).tolist()


@entry
def get_image_num_channels(image):
    """How many channels an image, or the bytes of an image file, have."""
    if hasattr(image, "getbands"):
        return len(image.getbands())
    return int(_run("get_image_num_channels", image))
