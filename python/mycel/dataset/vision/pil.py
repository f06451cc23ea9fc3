"""Transforms that give images of Pillow. What follows them in a map runs in Python, on such images,
until ToTensor or ToNumpy."""

import inspect


def image_of(array):
    """An image of Pillow from a uint8 or bool array [h, w], [h, w, 1 to 4], or one of numbers
    [h, w]. RuntimeError without the package pillow."""
    try:
        from PIL import Image
    except ImportError:
        raise RuntimeError(
            "images of Pillow need the package pillow\n  pip install pillow, or leave ToPIL out: "
            "transforms take arrays"
        ) from None
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[:, :, 0]
    return Image.fromarray(array)


def with_pil(classes):
    """The classes of records with ToPIL and Decode giving images of Pillow."""
    base_pil, base_decode = classes["ToPIL"], classes["Decode"]

    class ToPIL(base_pil):
        gives_pil = True

        def __call__(self, *values):
            """The array as an image of Pillow; an image stays."""
            if hasattr(values[0], "getbands"):
                return values[0]
            return image_of(super().__call__(*values))

    class Decode(base_decode):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            bound = inspect.signature(base_decode).bind(*args, **kwargs)
            self.gives_pil = bound.arguments.get("to_pil", False)

        def __call__(self, *values):
            """The pixels of an encoded image."""
            array = super().__call__(*values)
            return image_of(array) if self.gives_pil else array

    for made, base in ((ToPIL, base_pil), (Decode, base_decode)):
        made.__doc__, made.__module__ = base.__doc__, base.__module__
        made.__qualname__, made.__signature__ = base.__name__, base.__signature__
    classes["ToTensor"].ends_pil = classes["ToNumpy"].ends_pil = True
    return {**classes, "ToPIL": ToPIL, "Decode": Decode}
