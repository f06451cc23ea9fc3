"""The transforms under the name they had before they were one set: those on images of Pillow."""

from mycel.dataset import vision as _vision
from mycel.dataset.choices import ALL as _choices
from mycel.dataset.transforms.py_transforms import Compose as Compose  # found here by programs

Border, Inter = _choices["Border"], _choices["Inter"]


class Decode(_vision.Decode):
    """An encoded image as an image of Pillow."""

    def __init__(self):
        super().__init__(to_pil=True)


class Cutout(_vision.CutOut):
    """Squares of `length` pixels set to 0, in an image [channels, h, w]."""

    def __init__(self, length, num_patches=1):
        super().__init__(length, num_patches, is_hwc=False)


class Normalize(_vision.Normalize):
    """Channels less `mean`, divided by `std`: an image [channels, h, w] of values from 0 to 1."""

    def __init__(self, mean, std):
        super().__init__(mean, std, is_hwc=False)


class NormalizePad(_vision.NormalizePad):
    """As Normalize, with a channel of zeros behind the others."""

    def __init__(self, mean, std, dtype="float32"):
        super().__init__(mean, std, dtype, is_hwc=False)


def __getattr__(name):
    return getattr(_vision, name)


def __dir__():
    return dir(_vision)
