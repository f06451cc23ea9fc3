"""Transforms of images. Arrays are uint8 or float, rows x columns x channels (HWC) unless a
transform says otherwise."""

from mycel.dataset import _records
from mycel.dataset.choices import ALL as _choices
from mycel.dataset.transforms import not_random
from mycel.dataset.vision.files import (
    encode_jpeg,
    encode_png,
    get_image_num_channels,
    get_image_size,
    read_file,
    read_image,
    write_file,
    write_jpeg,
    write_png,
)
from mycel.dataset.vision.pil import with_pil

_enums = {
    name: _choices[name]
    for name in (
        "AutoAugmentPolicy", "Border", "ConvertMode", "ImageBatchFormat", "ImageReadMode", "Inter",
        "SliceMode",
    )
}  # fmt: skip
_classes = with_pil(_records.transforms("vision", __name__))
globals().update(_enums)
globals().update(_classes)

__all__ = sorted(
    [
        *_classes, *_enums, "not_random", "encode_jpeg", "encode_png", "get_image_num_channels",
        "get_image_size", "read_file", "read_image", "write_file", "write_jpeg", "write_png",
    ]
)  # fmt: skip
