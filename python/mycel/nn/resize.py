"""Layers that resize feature maps."""

from mycel import ops
from mycel.nn.cell import Cell


class ResizeBilinear(Cell):
    """Planes [n, c, h, w] of another size, bilinear; the call names `size` (h, w), or
    `scale_factor`, a whole number that multiplies both."""

    def __init__(self, half_pixel_centers=False):
        super().__init__()
        if not isinstance(half_pixel_centers, bool):
            raise TypeError(
                "ResizeBilinear: 'half_pixel_centers' must be True or False, got "
                f"{half_pixel_centers!r}"
            )
        self.half_pixel_centers = half_pixel_centers

    def construct(self, x, size=None, scale_factor=None, align_corners=False):
        if (size is None) == (scale_factor is None):
            raise ValueError("ResizeBilinear: one of 'size' and 'scale_factor' must be given")
        if size is None:
            if isinstance(scale_factor, bool) or not isinstance(scale_factor, int):
                raise TypeError(
                    f"ResizeBilinear: 'scale_factor' must be an int, got {scale_factor!r}"
                )
            if scale_factor < 1:
                raise ValueError(
                    f"ResizeBilinear: 'scale_factor' must be positive, got {scale_factor}"
                )
            size = (x.shape[-2] * scale_factor, x.shape[-1] * scale_factor)
        return ops.resize_bilinear(x, size, align_corners, self.half_pixel_centers)


class Upsample(Cell):
    """Maps [n, c, ...] of another size: ops.interpolate with these settings."""

    def __init__(
        self,
        size=None,
        scale_factor=None,
        mode="nearest",
        align_corners=None,
        recompute_scale_factor=None,
    ):
        super().__init__()
        self.size, self.scale_factor, self.mode = size, scale_factor, mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def construct(self, x):
        return ops.interpolate(
            x,
            self.size,
            self.scale_factor,
            self.mode,
            self.align_corners,
            self.recompute_scale_factor,
        )


__all__ = ["ResizeBilinear", "Upsample"]
