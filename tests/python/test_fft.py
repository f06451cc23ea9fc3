"""Fourier transforms against NumPy; the short-time transform against its sum."""

import mycel as ms
import numpy as np
import pytest
from mycel import Tensor, ops

RNG = np.random.default_rng(3)
NORMS = [None, "backward", "ortho", "forward"]


def draw(*shape):
    return RNG.normal(size=shape) + 1j * RNG.normal(size=shape)


def close(got, want, tol=1e-10):
    got = got.asnumpy()
    assert got.shape == want.shape
    scale = max(1, np.abs(want).max())
    np.testing.assert_allclose(got / scale, want / scale, tol, tol)


# 5, 6, 12: small factors; 53, 2 * 61: chirps; 1, 2, 4: edges
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 8, 12, 49, 53, 64, 100, 122, 1009])
def test_lengths(n):
    z, x = draw(3, n), RNG.normal(size=(3, n))
    close(ops.fft(Tensor(z)), np.fft.fft(z))
    close(ops.ifft(Tensor(z)), np.fft.ifft(z))
    close(ops.fft(Tensor(x)), np.fft.fft(x))
    close(ops.rfft(Tensor(x)), np.fft.rfft(x))
    half = np.fft.rfft(x)
    close(ops.irfft(Tensor(half), n), x)
    rough = draw(*half.shape)  # not the spectrum of a real tensor
    close(ops.irfft(Tensor(rough), n), np.fft.irfft(rough, n))
    single = ops.fft(Tensor(z.astype(np.complex64)))
    assert single.dtype == ms.complex64
    close(single, np.fft.fft(z), 2e-6)
    close(ops.rfft(Tensor(x.astype(np.float32))), half, 2e-6)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("n", [None, 3, 9])
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_forms(norm, n, dim):
    z, x = draw(4, 6, 5), RNG.normal(size=(4, 6, 5))
    close(ops.fft(Tensor(z), n, dim, norm), np.fft.fft(z, n, dim, norm))
    close(ops.ifft(Tensor(z), n, dim, norm), np.fft.ifft(z, n, dim, norm))
    close(ops.rfft(Tensor(x), n, dim, norm), np.fft.rfft(x, n, dim, norm))
    close(ops.irfft(Tensor(z), n, dim, norm), np.fft.irfft(z, n, dim, norm))


@pytest.mark.parametrize("norm", NORMS)
def test_several_axes(norm):
    z = draw(4, 6, 5)
    for s, dim in [(None, None), ((3, 7), None), (None, (0, 2)), ((8, 2), (2, 0))]:
        axes = tuple(range(-len(s), 0)) if s and dim is None else dim
        close(ops.fftn(Tensor(z), s, dim, norm), np.fft.fftn(z, s, axes, norm))
        close(ops.ifftn(Tensor(z), s, dim, norm), np.fft.ifftn(z, s, axes, norm))
    close(ops.fft2(Tensor(z), (3, 7), norm=norm), np.fft.fft2(z, (3, 7), norm=norm))
    close(ops.ifft2(Tensor(z), dim=(1, 0), norm=norm), np.fft.ifft2(z, axes=(1, 0), norm=norm))


@pytest.mark.parametrize("norm", NORMS[1:])
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_with_size(dims, norm):
    axes = tuple(range(-dims, 0))
    z, x = draw(2, 4, 6, 5), RNG.normal(size=(2, 4, 6, 5))
    form = lambda inverse, real, **k: ops.FFTWithSize(dims, inverse, real, norm, **k)
    close(form(False, False)(Tensor(z)), np.fft.fftn(z, None, axes, norm))
    close(form(True, False)(Tensor(z)), np.fft.ifftn(z, None, axes, norm))
    half = np.fft.rfftn(x, None, axes, norm)
    close(form(False, True)(Tensor(x)), half)
    close(form(True, True, signal_sizes=x.shape[-dims:])(Tensor(half)), x)
    whole = np.fft.fftn(x, None, axes, norm)
    close(form(False, True, onesided=False)(Tensor(x)), whole)
    close(form(True, True, onesided=False)(Tensor(whole)), x)
    even = np.fft.irfftn(half, None, axes, norm)
    close(form(True, True)(Tensor(half)), even)


def windows_of(x, window, n_fft, hop, mode):
    low = (n_fft - len(window)) // 2
    whole = np.zeros(n_fft)
    whole[low : low + len(window)] = window
    if mode:
        x = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(n_fft // 2,) * 2], mode=mode)
    count = 1 + (x.shape[-1] - n_fft) // hop
    frames = [np.fft.fft(x[..., t * hop : t * hop + n_fft] * whole) for t in range(count)]
    return np.stack(frames, -1)


@pytest.mark.parametrize("mode", ["reflect", "constant", "symmetric", None])
@pytest.mark.parametrize("n_fft, hop, win", [(16, 4, 16), (16, 5, 9), (15, 3, 8)])
def test_stft(n_fft, hop, win, mode):
    x, w = RNG.normal(size=(2, 50)), np.hanning(win + 2)[1:-1]
    want = windows_of(x, w, n_fft, hop, mode)
    keys = dict(center=mode is not None, pad_mode=(mode or "reflect").upper())
    run = lambda **k: ops.stft(Tensor(x), n_fft, hop, win, Tensor(w), **keys, **k)
    close(run(onesided=False, return_complex=True), want)
    half = want[:, : n_fft // 2 + 1]
    close(run(return_complex=True), half)
    close(run(normalized=True), np.stack([half.real, half.imag], -1) / np.sqrt(n_fft))
    one = ops.stft(Tensor(x[0]), n_fft, hop, win, Tensor(w), **keys, return_complex=True)
    close(one, half[0])
    if mode is None:
        form = ops.STFT(n_fft, hop, win, False, True, True)
        close(form(Tensor(x), Tensor(w)), half)


def test_stft_defaults():
    x = RNG.normal(size=40)
    want = windows_of(x, np.ones(16), 16, 4, "reflect")[:9]
    close(ops.stft(Tensor(x), 16), np.stack([want.real, want.imag], -1))
    z = draw(40)
    close(ops.stft(Tensor(z), 16), windows_of(z, np.ones(16), 16, 4, "reflect"))


def test_gradient_of_energy():
    """Parseval: sum |fft(x)|^2 = n sum |x|^2, so its gradient is 2 n x."""
    z = draw(12)
    energy = lambda v: ops.reduce_sum(ops.abs(ops.fft(v)) ** 2)
    close(ops.grad(energy)(Tensor(z)), 24 * z)
    x = RNG.normal(size=12)
    loss = lambda v: ops.reduce_sum(ops.abs(ops.irfft(ops.rfft(v) * 2.0)) ** 2)
    close(ops.grad(loss)(Tensor(x)), 8 * x)


def test_refusals():
    z = Tensor(draw(3, 4))
    with pytest.raises(ValueError, match="fft: 'n' must be at least 1, got 0"):
        ops.fft(z, 0)
    with pytest.raises(ValueError, match="fft2: 's' of 1 lengths for 2 dims"):
        ops.fft2(z, (3,))
    with pytest.raises(TypeError, match="rfft"):
        ops.rfft(z)
    with pytest.raises(TypeError, match="takes a real operand"):
        ops.FFTWithSize(1, False, True)(z)
    with pytest.raises(ValueError, match="do not belong to"):
        ops.FFTWithSize(1, True, True, signal_sizes=(9,))(z)
    with pytest.raises(ValueError, match="'win_length' must lie in"):
        ops.stft(Tensor(np.ones(40)), 16, win_length=17)
    with pytest.raises(ValueError, match="4 samples are fewer than n_fft 16"):
        ops.stft(Tensor(np.ones(4)), 16, center=False)
    with pytest.raises(ValueError, match="onesided is for real"):
        ops.stft(z, 2, onesided=True)
