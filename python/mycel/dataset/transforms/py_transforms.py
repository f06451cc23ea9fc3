"""The transforms under the name they had before they were one set: those that run in Python."""

from mycel.dataset import transforms as _transforms


class OneHotOp(_transforms.OneHot):
    """Numbers of classes as rows with a one; with smoothing, the ones less smoothing_rate, which
    all classes share."""


class Compose:
    """Functions and transforms one after the other; what one gives the next one gets."""

    def __init__(self, transforms):
        if not isinstance(transforms, (list, tuple)) or not transforms:
            raise TypeError("Compose: 'transforms' must be a list of functions")
        for f in transforms:
            if not callable(f):
                raise TypeError(f"Compose: a transform must be callable, got {f!r}")
        self.transforms = list(transforms)

    def __call__(self, *values):
        for f in self.transforms:
            made = f(*values)
            values = made if isinstance(made, tuple) else (made,)
        return values[0] if len(values) == 1 else values

    @property
    def gives_pil(self):
        """Whether the result may be an image of Pillow."""
        pil = False
        for f in self.transforms:
            pil = (pil or getattr(f, "gives_pil", False)) and not getattr(f, "ends_pil", False)
        return pil


def __getattr__(name):
    return getattr(_transforms, name)


def __dir__():
    return dir(_transforms)
