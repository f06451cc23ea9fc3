"""The extension of Fourier transforms."""

import builtins

from mycel.array_api import _checks as c
from mycel.array_api import _dtypes as d
from mycel.array_api._manipulation import roll

_COMPLEX_OF = {d.float32: d.complex64, d.float64: d.complex128}
_OTHER = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


def _norm(fn, norm):
    if norm not in _OTHER:
        raise ValueError(f"{fn}: 'norm' must be one of {', '.join(_OTHER)}, got {norm!r}")
    return norm


def _complex(fn, x):
    c.array(fn, x, c.FLOATING)
    return c.cast(x, _COMPLEX_OF.get(x.dtype, x.dtype))


def _size(fn, n):
    if n is not None and (isinstance(n, builtins.bool) or not isinstance(n, int) or n < 1):
        raise ValueError(f"{fn}: 'n' must be an int of at least 1 or None, got {n!r}")
    return n


def _line(name, record, prepare, text):
    def transform(x, /, *, n=None, axis=-1, norm="backward"):
        x = prepare(name, x)
        axis = c.axis_of(name, axis, x.ndim)
        return c.op(record)(x, _size(name, n), axis, _norm(name, norm))

    transform.__name__ = transform.__qualname__ = name
    transform.__doc__ = text + " n: cut or filled up with zeros to this size first."
    return transform


def _real(fn, x):
    return c.array(fn, x, c.REAL_FLOATING)


fft = _line("fft", "fft", _complex, "The discrete Fourier transform along an axis.")
ifft = _line("ifft", "ifft", _complex, "The inverse of fft.")
rfft = _line("rfft", "rfft", _real, "The first half of fft of real numbers; the other mirrors it.")
irfft = _line("irfft", "irfft", _complex, "The inverse of rfft, with n (2 (m - 1)) results.")


def _sizes_and_axes(fn, x, s, axes):
    if axes is None:
        count = x.ndim if s is None else len(s)
        axes = tuple(range(x.ndim - count, x.ndim))
    axes = c.axes_of(fn, tuple(axes), x.ndim, "axes")
    sizes = (None,) * len(axes) if s is None else tuple(s)
    if len(sizes) != len(axes):
        raise ValueError(f"{fn}: {len(sizes)} sizes given for {len(axes)} axes")
    return [_size(fn, n) for n in sizes], axes


def _several(name, line, prepare, text, last=None, first=False):
    """A transform over axes: `line` along each, `last` along the last one, at first or at last."""

    def transform(x, /, *, s=None, axes=None, norm="backward"):
        x = prepare(name, x)
        sizes, places = _sizes_and_axes(name, x, s, axes)
        pairs = [(line, n, a) for n, a in zip(sizes, places)]
        if last is not None and pairs:
            end = (last, *pairs.pop()[1:])
            pairs = [end, *pairs] if first else [*pairs, end]
        for apply, n, axis in pairs:
            x = apply(x, n=n, axis=axis, norm=norm)
        return x

    transform.__name__ = transform.__qualname__ = name
    transform.__doc__ = text + " s: sizes to cut or fill up to first."
    return transform


fftn = _several("fftn", fft, _complex, "The Fourier transform over axes, all by default.")
ifftn = _several("ifftn", ifft, _complex, "The inverse of fftn.")
rfftn = _several(
    "rfftn", fft, _real, "fftn of real numbers, half of it along the last axis.", rfft, True
)
irfftn = _several("irfftn", ifft, _complex, "The inverse of rfftn.", irfft)


def hfft(x, /, *, n=None, axis=-1, norm="backward"):
    """The transform, real, of numbers of which the other half is the conjugate mirror."""
    x = _complex("hfft", x)
    return irfft(c.op("conj")(x), n=n, axis=axis, norm=_OTHER[_norm("hfft", norm)])


def ihfft(x, /, *, n=None, axis=-1, norm="backward"):
    """The inverse of hfft."""
    x = _real("ihfft", x)
    return c.op("conj")(rfft(x, n=n, axis=axis, norm=_OTHER[_norm("ihfft", norm)]))


def _frequencies(fn, first, count, n, spacing, dtype, device):
    c.need_device(fn, device)
    dtype = d.DEFAULT_FLOAT if dtype is None else c.need_dtype(fn, dtype, c.REAL_FLOATING)
    places = c.cast(c.op("arange")(0, count, 1, d.int64) + first, d.float64)
    return places, 1.0 / (n * spacing), dtype


def fftfreq(n, /, *, d=1.0, dtype=None, device=None):
    """The frequencies of fft's results: 0, 1, …, then the negative ones, over n d."""
    size = _size("fftfreq", n)
    places, step, dtype = _frequencies("fftfreq", -(size // 2), size, n, d, dtype, device)
    return c.cast(ifftshift(places) * step, dtype)


def rfftfreq(n, /, *, d=1.0, dtype=None, device=None):
    """The frequencies of rfft's results: 0, 1, …, n // 2, over n d."""
    size = _size("rfftfreq", n)
    places, step, dtype = _frequencies("rfftfreq", 0, size // 2 + 1, n, d, dtype, device)
    return c.cast(places * step, dtype)


def _shifted(fn, x, axes, half):
    c.array(fn, x)
    axes = c.axes_of(fn, axes, x.ndim, "axes")
    return roll(x, tuple(half(x.shape[a]) for a in axes), axis=axes) if axes else x


def fftshift(x, /, *, axes=None):
    """Frequency 0 in the middle."""
    return _shifted("fftshift", x, axes, lambda n: n // 2)


def ifftshift(x, /, *, axes=None):
    """The inverse of fftshift."""
    return _shifted("ifftshift", x, axes, lambda n: -(n // 2))


__all__ = [
    "fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft", "irfft",
    "irfftn", "rfft", "rfftfreq", "rfftn",
]  # fmt: skip
