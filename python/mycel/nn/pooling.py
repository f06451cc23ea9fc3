"""Layers of windows whose call has more than tensors, and patches as channels."""

from mycel import ops
from mycel.nn.cell import Cell


def _setting(layer, name, value, count):
    if isinstance(value, int) and not isinstance(value, bool):
        value = (value,) * count
    if not isinstance(value, (tuple, list)) or len(value) != count:
        raise ValueError(
            f"{layer.cls_name}: '{name}' must be an int or {count} of them, got {value!r}"
        )
    if not all(isinstance(n, int) and not isinstance(n, bool) for n in value):
        raise TypeError(f"{layer.cls_name}: '{name}' must hold ints, got {value!r}")
    return tuple(value)


def _unpool(count):
    op = getattr(ops, f"max_unpool{count}d")

    class MaxUnpool(Cell):
        __doc__ = (
            f"Zeros with the elements of x at their indices: undoes MaxPool{count}d. output_size, "
            "given with the call, decides between the sizes that pool to x."
        )

        def __init__(self, kernel_size, stride=None, padding=0):
            super().__init__()
            self.kernel_size = _setting(self, "kernel_size", kernel_size, count)
            self.stride = None if stride is None else _setting(self, "stride", stride, count)
            self.padding = _setting(self, "padding", padding, count)

        def construct(self, x, indices, output_size=None):
            return op(x, indices, self.kernel_size, self.stride, self.padding, output_size)

    MaxUnpool.__name__ = MaxUnpool.__qualname__ = f"MaxUnpool{count}d"
    MaxUnpool.__module__ = "mycel.nn"
    return MaxUnpool


MaxUnpool1d, MaxUnpool2d, MaxUnpool3d = _unpool(1), _unpool(2), _unpool(3)


def _fractional(count):
    op = getattr(ops, f"fractional_max_pool{count}d")

    class FractionalMaxPool(Cell):
        __doc__ = (
            f"Largest elements of windows of kernel_size at random distances along {count} dims "
            "(Graham 2014): output_size of them, or output_ratio of the size; with return_indices "
            "also their places in the plane."
        )

        def __init__(
            self,
            kernel_size,
            output_size=None,
            output_ratio=None,
            return_indices=False,
            _random_samples=None,
        ):
            super().__init__()
            if (output_size is None) == (output_ratio is None):
                raise ValueError(
                    f"{self.cls_name}: one of 'output_size' and 'output_ratio' must be given"
                )
            self.kernel_size = _setting(self, "kernel_size", kernel_size, count)
            self.output_size, self.output_ratio = output_size, output_ratio
            self.return_indices, self._random_samples = return_indices, _random_samples

        def construct(self, input):  # noqa: A002
            return op(
                input,
                self.kernel_size,
                self.output_size,
                self.output_ratio,
                self.return_indices,
                self._random_samples,
            )

    FractionalMaxPool.__name__ = FractionalMaxPool.__qualname__ = f"FractionalMaxPool{count}d"
    FractionalMaxPool.__module__ = "mycel.nn"
    return FractionalMaxPool


FractionalMaxPool2d, FractionalMaxPool3d = _fractional(2), _fractional(3)


class Unfold(Cell):
    """Sliding patches of images [n, c, h, w] as channels [n, rows * columns * c, oh, ow]; ksizes,
    strides and rates are (1, rows, columns, 1), padding is "same" or "valid"."""

    def __init__(self, ksizes, strides, rates, padding="valid"):
        super().__init__()
        self.extract_image_patches = ops.ExtractImagePatches(ksizes, strides, rates, padding)

    def construct(self, input_x):
        return self.extract_image_patches(input_x)


__all__ = [
    *("FractionalMaxPool2d", "FractionalMaxPool3d", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d"),
    "Unfold",
]
