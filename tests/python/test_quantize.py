"""Records of quantization against NumPy, whole numbers of Python and closed forms."""

import mycel as ms
import numpy as np
import pytest
from mycel import Tensor, ops

rng = np.random.default_rng(0)


def test_quantize_saturates_and_rounds_to_even():
    x = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 300, -300, 126.6], np.float32)
    for dtype, low, high in [(ms.int8, -128, 127), (ms.uint8, 0, 255), (ms.int16, -32768, 32767)]:
        got = ops.quantize(Tensor(x), Tensor(1.0), Tensor(3, ms.int32), axis=0, dtype=dtype)
        assert got.asnumpy().tolist() == np.clip(np.rint(x) + 3, low, high).tolist()


def test_per_channel_round_trip_is_within_half_a_step():
    x = rng.normal(size=(5, 4, 7)).astype(np.float32)
    scale = (np.abs(x).max((0, 2)) / 127).astype(np.float32)
    back = ops.dequantize(ops.quantize(Tensor(x), Tensor(scale)), Tensor(scale)).asnumpy()
    assert np.all(np.abs(back - x) <= scale[None, :, None] * 0.5001)


def reference_fixed_multiply(x, multiplier, shift):
    """With Python's whole numbers, which have no width."""
    x = x << max(shift, 0)
    product = x * multiplier
    nudge = (1 << 30) if product >= 0 else 1 - (1 << 30)
    high = abs(product + nudge) >> 31
    high = min(high if product + nudge >= 0 else -high, (1 << 31) - 1)
    right = max(-shift, 0)
    rest = high & ((1 << right) - 1)
    return (high >> right) + (rest > (((1 << right) - 1) >> 1) + (high < 0))


def test_fixed_multiply_bit_for_bit():
    x = rng.integers(-(2**24), 2**24, 400)
    x[:4] = [0, 1, -1, 2**24]
    multiplier = rng.integers(2**30, 2**31, 400)
    shift = rng.integers(-14, 5, 400)
    want = [reference_fixed_multiply(*map(int, v)) for v in zip(x, multiplier, shift)]
    args = [Tensor(v.astype(np.int32)) for v in (x, multiplier, shift)]
    assert ops.fixed_multiply(*args).asnumpy().tolist() == want
    extreme = Tensor(-(2**31), ms.int32)
    assert int(ops.fixed_multiply(extreme, extreme, Tensor(0, ms.int32)).asnumpy()) == 2**31 - 1


def test_requantize_fixed_adds_zero_point_then_clamps():
    x = rng.integers(-30000, 30000, (2, 3, 5)).astype(np.int32)
    multiplier = rng.integers(2**30, 2**31, 3).astype(np.int32)
    shift = np.array([-8, -7, -9], np.int32)
    got = ops.requantize_fixed(
        Tensor(x), Tensor(multiplier), Tensor(shift), Tensor(-5, ms.int32), low=-100, high=90
    )
    want = [
        min(max(reference_fixed_multiply(int(v), int(multiplier[c]), int(shift[c])) - 5, -100), 90)
        for (_, c, _), v in np.ndenumerate(x)
    ]
    assert got.asnumpy().ravel().tolist() == want


def test_requantize_is_one_float_product():
    x = rng.integers(-90000, 90000, (2, 3, 5)).astype(np.int32)
    m = rng.uniform(1e-3, 2e-3, 3).astype(np.float32)
    got = ops.requantize(Tensor(x), Tensor(m), Tensor(7, ms.uint8), dtype=ms.uint8, high=200)
    want = np.clip(np.rint(x.astype(np.float32) * m[None, :, None]) + 7, 0, 200)
    assert got.dtype == ms.uint8
    assert np.array_equal(got.asnumpy(), want)


@pytest.mark.parametrize("groups", [1, 2, 4])
@pytest.mark.parametrize("signed", [False, True])
def test_conv2d_integer_sums_exactly(groups, signed):
    dtype, low = (np.int8, -128) if signed else (np.uint8, 0)
    x = rng.integers(low, low + 256, (2, 4, 6, 5)).astype(dtype)
    w = rng.integers(-128, 128, (8, 4 // groups, 3, 3)).astype(np.int8)
    bias = rng.integers(-9999, 9999, 8).astype(np.int32)
    zero = low + 100
    got = ops.conv2d_integer(
        Tensor(x),
        Tensor(w),
        Tensor(bias),
        Tensor(np.array(zero, dtype)),
        pad_mode="pad",
        padding=1,
        groups=groups,
    ).asnumpy()
    padded = np.zeros((2, 4, 8, 7), np.int64)
    padded[:, :, 1:7, 1:6] = x.astype(np.int64) - zero
    per_in, per_out = 4 // groups, 8 // groups
    want = np.zeros((2, 8, 6, 5), np.int64) + bias[None, :, None, None]
    for o in range(8):
        g = o // per_out
        for i in range(3):
            for j in range(3):
                part = padded[:, g * per_in : (g + 1) * per_in, i : i + 6, j : j + 5]
                want[:, o] += (part * w[o, :, i, j].astype(np.int64)[None, :, None, None]).sum(1)
    assert got.dtype == np.int32 and np.array_equal(got, want)


@pytest.mark.parametrize("transpose", [False, True])
def test_matmul_integer_sums_exactly(transpose):
    a = rng.integers(0, 256, (3, 5, 33)).astype(np.uint8)
    b = rng.integers(-128, 128, (33, 7)).astype(np.int8)
    rows, columns = np.arange(5, dtype=np.uint8) + 120, np.arange(7, dtype=np.int8) - 3
    got = ops.matmul_integer(
        Tensor(a),
        Tensor(np.ascontiguousarray(b.T) if transpose else b),
        Tensor(rows),
        Tensor(columns),
        transpose_b=transpose,
    )
    want = (a.astype(np.int64) - rows[:, None]) @ (b.astype(np.int64) - columns)
    assert np.array_equal(got.asnumpy(), want)


def test_fake_quantize_gradients_pass_straight_through():
    x = np.array([-3.0, -0.6, 0.1, 0.3, 0.74, 5.0], np.float32)
    s, z, low, high = np.float32(0.25), np.float32(1), -4, 3

    def f(x, s, z):
        return ops.fake_quantize(x, s, z, low, high, 0)

    y, pull = ms.vjp(f, Tensor(x), Tensor(s), Tensor(z))
    at = np.rint(x / s) + z
    held = np.clip(at, low, high)
    assert np.array_equal(y.asnumpy(), (held - z) * s)
    g = np.arange(1, 7, dtype=np.float32)
    dx, ds, dz = pull(Tensor(g))
    inside = at == held
    assert np.array_equal(dx.asnumpy(), g * inside)
    np.testing.assert_allclose(ds.asnumpy(), (g * (held - z - x / s * inside)).sum(), rtol=1e-6)
    np.testing.assert_allclose(dz.asnumpy(), -(g * s * ~inside).sum(), rtol=1e-6)


def test_what_cannot_be_quantized_is_refused():
    x = Tensor(np.zeros((2, 3), np.float32))
    with pytest.raises(ValueError, match="quantize: the scale has shape"):
        ops.quantize(x, Tensor(np.ones((2, 2, 2), np.float32)))
    with pytest.raises(TypeError, match="cannot be int64"):
        ops.quantize(x, Tensor(1.0), dtype=ms.int64)
    with pytest.raises(TypeError, match="allowed are int8 and uint8"):
        ops.matmul_integer(Tensor(np.zeros((2, 2), np.int32)), Tensor(np.zeros((2, 2), np.int8)))


def exact_conv(x, zero, w, pad):
    padded = np.pad(x.astype(np.int64) - zero, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    out = x.shape[2] + 2 * pad - w.shape[2] + 1
    sums = np.zeros((x.shape[0], w.shape[0], out, out), np.int64)
    for i in range(w.shape[2]):
        for j in range(w.shape[3]):
            part = padded[:, :, i : i + out, j : j + out]
            sums += np.einsum("nchw,oc->nohw", part, w[:, :, i, j].astype(np.int64))
    return sums


@pytest.mark.parametrize("channels", [(3, 8), (16, 32), (64, 64)])
@pytest.mark.parametrize("zeros", [(0, 0), (9, 5)])
@pytest.mark.parametrize("dtype", [ms.uint8, ms.int8])
def test_sums_are_requantized_where_they_are_made(channels, zeros, dtype):
    """Compiled, the convolution stores bytes: the bits are those of NumPy's float32."""
    c, o = channels
    x = rng.integers(0, 256, (2, c, 9, 9)).astype(np.uint8)
    w = rng.integers(-127, 128, (o, c, 3, 3)).astype(np.int8)
    m = rng.uniform(0.5, 2, o).astype(np.float32) / np.float32(1000 * np.sqrt(c))
    zero = Tensor(zeros[0], ms.int32) if zeros[0] else None

    @ms.jit
    def net(x, w, m):
        sums = ops.conv2d_integer(x, w, None, zero, pad_mode="pad", padding=1)
        return ops.requantize(sums, m, None, 1, dtype, None, None, zeros[1])

    got = net(Tensor(x), Tensor(w), Tensor(m)).asnumpy()
    sums = exact_conv(x, zeros[0], w, 1).astype(np.float32)
    low, high = (0, 255) if dtype == ms.uint8 else (-128, 127)
    want = np.clip(np.rint(sums * m[None, :, None, None]) + zeros[1], low, high)
    assert np.array_equal(got, want)


def test_what_is_written_on_dequantized_tensors_is_computed_on_integers():
    x = rng.integers(0, 256, (2, 32, 7, 7)).astype(np.uint8)
    w = rng.integers(-127, 128, (32, 32, 3, 3)).astype(np.int8)
    scale = rng.uniform(1e-3, 2e-3, 32).astype(np.float32)
    bias = rng.normal(size=32).astype(np.float32)

    @ms.jit
    def net(x, w, scale, bias, unit, to):
        a = ops.dequantize(x, unit)
        y = ops.conv2d(a, ops.dequantize(w, scale, axis=0), bias, 1, "pad", 1)
        return ops.quantize(ops.relu(y + a), to, dtype=ms.uint8, zero=3)

    unit, to = np.float32(0.02), np.float32(0.05)
    got = net(*map(Tensor, (x, w, scale, bias)), Tensor(unit), Tensor(to)).asnumpy().astype(int)
    sums = exact_conv(x, 0, w, 1) * (unit.astype(np.float64) * scale[None, :, None, None])
    y = np.maximum(sums + bias[None, :, None, None] + x * np.float64(unit), 0)
    want = np.clip(np.rint(y / to) + 3, 0, 255)
    assert np.abs(got - want).max() <= 1 and (got != want).mean() < 1e-3
    assert 0.2 < (got > 3).mean() and (got == 255).mean() < 0.5
