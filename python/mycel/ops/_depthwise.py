"""The older class of depthwise convolution, in terms of conv2d with a group per channel."""

from mycel import _mycel
from mycel.ops.primitive import Primitive


class DepthwiseConv2dNative(Primitive):
    """Each channel convolved with filters of its own: x [n, c, h, w] and weight
    [channel_multiplier, c, kh, kw] give [n, c channel_multiplier, h', w']."""

    def __init__(
        self,
        channel_multiplier,
        kernel_size,
        mode=3,
        pad_mode="valid",
        pad=0,
        stride=1,
        dilation=1,
        group=1,
    ):
        super().__init__()
        if mode != 3 or group != 1:
            raise ValueError(
                f"{self.name}: 'mode' must be 3 and 'group' 1, got {mode!r} and {group!r}"
            )
        if isinstance(channel_multiplier, bool) or not isinstance(channel_multiplier, int):
            raise TypeError(
                f"{self.name}: 'channel_multiplier' must be an int, got {channel_multiplier!r}"
            )
        if isinstance(kernel_size, int):
            kernel_size = (kernel_size, kernel_size)
        settings = {
            "channel_multiplier": channel_multiplier,
            "kernel_size": tuple(kernel_size),
            "pad_mode": pad_mode,
            "pad": pad,
            "stride": stride,
            "dilation": dilation,
        }
        for name, value in settings.items():
            self.add_prim_attr(name, value)

    def __call__(self, x, weight):
        channels = x.shape[1]
        want = (self.channel_multiplier, channels, *self.kernel_size)
        if tuple(weight.shape) != want:
            raise ValueError(f"{self.name}: weight must be {want}, got {tuple(weight.shape)}")
        own = weight.swapaxes(0, 1).reshape(channels * want[0], 1, *self.kernel_size)
        return _mycel.op("conv2d")(
            x,
            own,
            pad_mode=self.pad_mode,
            padding=self.pad,
            stride=self.stride,
            dilation=self.dilation,
            groups=channels,
        )


__all__ = ["DepthwiseConv2dNative"]
