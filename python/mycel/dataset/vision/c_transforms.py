"""The transforms under the name they had before they were one set: those that run in C++."""

from mycel.dataset import vision as _vision
from mycel.dataset.choices import ALL as _choices


class Decode(_vision.Decode):
    """The pixels of an encoded image. rgb: False is refused, pixels are in RGB order."""

    def __init__(self, rgb=True):
        if rgb is not True:
            raise ValueError("Decode: 'rgb' must be True: pixels are in RGB order")
        super().__init__()


Border, ConvertMode, ImageBatchFormat, Inter, SliceMode = (
    _choices[n] for n in ("Border", "ConvertMode", "ImageBatchFormat", "Inter", "SliceMode")
)


def __getattr__(name):
    return getattr(_vision, name)


def __dir__():
    return dir(_vision)
