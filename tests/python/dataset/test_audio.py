# ruff: noqa: E501
"""Transforms of sound against the published framework and torchaudio, whose results lie in
audio_golden.npz (tools/make_audio_golden.py); closed forms where there is chance in them."""

from pathlib import Path

import audio_cases
import mycel
import mycel.dataset as ds
import numpy as np
import pytest
from mycel.dataset import audio

GOLDEN = np.load(Path(__file__).parent / "audio_golden.npz")
CASES = [("mindspore", *c) for c in audio_cases.cases(audio)]
CASES += [("torchaudio", *c[:4]) for c in audio_cases.peer_cases(audio)]
# Of the largest number; both sides compute in float32 here and there, filters with poles near 1
# amplify that.
TOLERANCE = 1e-5


@pytest.mark.parametrize("name", sorted({c[2] for c in CASES}))
def test_as_published(name):
    for peer, key, _, arguments, given in (c for c in CASES if c[2] == name):
        made = getattr(audio, name)(**arguments)
        got = made if given is None else made(given)
        for i, g in enumerate(got if isinstance(got, tuple) else (got,)):
            e = GOLDEN[f"{peer}/{key}/{i}"]
            assert (g.dtype, g.shape) == (e.dtype, e.shape), (key, arguments)
            scale = max(1, np.abs(e).max())
            np.testing.assert_allclose(
                g, e, rtol=0, atol=TOLERANCE * scale, err_msg=f"{key} {arguments}"
            )


def tone(freq, rate=8000, n=800):
    return np.sin(2 * np.pi * freq * np.arange(n) / rate).astype(np.float32)


def test_spectrogram_is_the_transform_of_frames():
    x = np.random.RandomState(0).randn(100)
    made = audio.Spectrogram(20, hop_length=7, power=0.0, center=False)(x)
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(20) / 20)
    frames = np.stack([x[i : i + 20] * window for i in range(0, 81, 7)])
    expected = np.fft.rfft(frames).T
    np.testing.assert_allclose(made[..., 0] + 1j * made[..., 1], expected, atol=1e-10)
    back = audio.InverseSpectrogram(n_fft=20, hop_length=7, center=False)(made)
    np.testing.assert_allclose(back[1:], x[1 : back.size], atol=1e-10)


def test_filters_are_difference_equations():
    x = np.random.RandomState(0).randn(50)
    a, b = [1.5, 0.2, -0.3, 0.1], [0.3, -0.2, 0.5, 0.7]
    y = np.zeros(50)
    for i in range(50):
        y[i] = sum(b[k] * x[i - k] for k in range(4) if i >= k)
        y[i] = (y[i] - sum(a[k] * y[i - k] for k in range(1, 4) if i >= k)) / a[0]
    np.testing.assert_allclose(audio.LFilter(a, b, clamp=False)(x), y, atol=1e-12)
    both = audio.LFilter(a, b, clamp=False)(y[::-1].copy())[::-1]
    np.testing.assert_allclose(audio.Filtfilt(a, b, clamp=False)(x), both, atol=1e-12)


def test_dtypes():
    x = tone(440)[:100]
    for dtype, kept in (("float16", "float16"), ("float32", "float32"), ("float64", "float64")):
        assert audio.LowpassBiquad(8000, 900.0)(x.astype(dtype)).dtype == kept
    for dtype, made in (("int16", "float32"), ("float16", "float32"), ("float64", "float64")):
        assert audio.Gain(1.0)((100 * x).astype(dtype)).dtype == made
    for dtype in ("int16", "uint8", "int32"):
        with pytest.raises(TypeError, match=f"LowpassBiquad: expected floats, got {dtype}"):
            audio.LowpassBiquad(8000, 900.0)((100 * x).astype(dtype))


def test_random_masks_follow_the_seed():
    x = np.ones((200, 8, 20), np.float32)
    mask = audio.TimeMasking(True, 6, mask_value=5.0)
    mycel.set_seed(3)
    made = mask(x)
    widths = (made[:, 0] == 5).sum(1)
    assert (made == made[:, :1]).all()  # whole columns
    assert widths.min() == 0 and widths.max() == 5 and 2.2 < widths.mean() < 2.8  # floor(6 u)
    assert (np.abs(np.diff((made[:, 0] == 5).astype(int), axis=1)).sum(1) <= 2).all()  # one run
    d = ds.NumpySlicesDataset({"x": x}, shuffle=False).map(audio.MaskAlongAxisIID(4, 0.0, 1), "x")

    def rows(workers):
        mycel.set_seed(7)
        e = ds.NumpySlicesDataset({"x": x}, shuffle=False)
        e = e.map(audio.MaskAlongAxisIID(4, 0.0, 1), "x", num_parallel_workers=workers)
        return np.stack([r[0] for r in e.create_tuple_iterator(output_numpy=True)])

    assert d.get_dataset_size() == 200
    first = rows(1)
    assert (first == rows(2)).all() and (first == 0).any()


def test_random_dither_rounds_to_16_bits():
    x = 0.5 * tone(440)
    for density in ("RPDF", "GPDF"):
        made = audio.Dither(density)(x)
        steps = made.astype(np.float64) * 32768
        np.testing.assert_allclose(steps, np.round(steps), atol=1e-6)
        assert np.abs(made - x).max() < 20 / 32768


def test_griffin_lim_finds_the_spectrum():
    x = tone(440) + 0.3 * tone(1200)
    power = audio.Spectrogram(128, hop_length=32)(x)
    mean = np.sqrt(power).mean()

    def error(steps):
        back = audio.GriffinLim(128, steps, hop_length=32, length=800)(power)
        again = audio.Spectrogram(128, hop_length=32)(back)
        return np.abs(np.sqrt(again) - np.sqrt(power)).mean() / mean

    assert error(60) < 0.2 and error(60) < 0.6 * error(1)


def test_inverse_mel_scale_fits():
    power = np.random.RandomState(0).rand(33, 6).astype(np.float32)
    mel = audio.MelScale(8, 8000, n_stft=33)(power)
    inverse = audio.InverseMelScale(
        33, 8, 8000, max_iter=3000, sgdargs={"sgd_lr": 0.05, "sgd_momentum": 0.9}
    )
    found = inverse(mel)
    assert found.shape == power.shape and found.min() >= 0
    np.testing.assert_allclose(audio.MelScale(8, 8000, n_stft=33)(found), mel, atol=0.05)


def test_pitch_shift_moves_a_tone():
    moved = audio.PitchShift(8000, 12)(tone(440, n=4000))
    assert moved.shape == (4000,)
    assert np.abs(np.fft.rfft(moved)).argmax() * 8000 / 4000 == pytest.approx(880, abs=8)


def test_vad_keeps_a_signal_without_voice():
    quiet = np.zeros(20000, np.float32)
    assert audio.Vad(8000)(quiet).shape == (20000,)


def test_in_a_pipeline():
    d = ds.NumpySlicesDataset({"x": np.stack([tone(440), tone(880)])}, shuffle=False)
    d = d.map([audio.Spectrogram(64), audio.AmplitudeToDB()], "x").batch(2)
    batch = next(d.create_tuple_iterator(output_numpy=True))[0]
    assert batch.shape == (2, 33, 26)
    pairs = ds.NumpySlicesDataset({"x": np.ones((2, 3, 2))}, shuffle=False)
    pairs = pairs.map(audio.Magphase(), ["x"], ["size", "angle"])
    assert next(pairs.create_dict_iterator(output_numpy=True))["angle"].shape == (3,)


ANY = [
    audio.LowpassBiquad(8000, 900.0), audio.Gain(), audio.Vol(1.0), audio.MuLawEncoding(), audio.MuLawDecoding(),
    audio.Overdrive(), audio.Contrast(), audio.DCShift(0.1), audio.Fade(), audio.Dither(), audio.Resample(2, 1),
    audio.Filtfilt([1.0], [1.0]), audio.Flanger(8000), audio.Phaser(8000), audio.Spectrogram(16), audio.MelScale(),
    audio.ComputeDeltas(), audio.AmplitudeToDB(), audio.DBToAmplitude(1.0, 1.0), audio.Angle(), audio.ComplexNorm(),
    audio.Magphase(), audio.SlidingWindowCmn(), audio.DetectPitchFrequency(8000), audio.MaskAlongAxis(0, 1, 0.0, 1),
    audio.TimeMasking(), audio.SpectralCentroid(8000), audio.Vad(8000), audio.GriffinLim(), audio.TimeStretch(),
    audio.InverseSpectrogram(), audio.PitchShift(8000, 1), audio.InverseMelScale(9), audio.MFCC(), audio.LFCC(),
    audio.MelSpectrogram(), audio.PhaseVocoder(1.0, np.zeros((9, 1))),
]  # fmt: skip


@pytest.mark.parametrize("transform", ANY, ids=lambda t: type(t).__name__)
def test_bad_inputs(transform):
    name = type(transform).__name__
    with pytest.raises(ValueError, match=name):
        transform(np.zeros((2, 3, 4, 0), np.float32))
    with pytest.raises(ValueError, match=f"{name}: expected . dims or more"):
        transform(np.float32(1))
    with pytest.raises(TypeError, match=f"{name}: expected a tensor, got strings"):
        transform(np.array(["a"]))
    with pytest.raises(TypeError, match=f"{name}: expected real numbers"):
        transform(np.ones((2, 3, 4), np.complex64))


X = np.ones((2, 4, 5), np.float32)


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: audio.LowpassBiquad(0, 900.0), "'sample_rate' must not be 0"),
        (lambda: audio.LowpassBiquad(8000, 900.0, 2.0), r"'Q' must be in \(0, 1\]"),
        (lambda: audio.DeemphBiquad(8000), "44100 or 48000"),
        (lambda: audio.RiaaBiquad(8000), "44100, 48000, 88200 or 96000"),
        (lambda: audio.Biquad(1, 1, 1, 0, 1, 1), "'a0' must not be 0"),
        (lambda: audio.LFilter([1.0], [1.0, 2.0]), "as many as a_coeffs"),
        (lambda: audio.Filtfilt([0.0], [1.0]), "must not begin with 0"),
        (lambda: audio.Contrast(101.0), r"must be in \[0, 100\]"),
        (lambda: audio.DCShift(3.0), r"must be in \[-2, 2\]"),
        (lambda: audio.Vol(-1.0), "must not be negative"),
        (lambda: audio.Vol(0.0, audio.GainType.POWER), "must be positive"),
        (lambda: audio.Fade(6)(X), "longer than the signal of 5"),
        (lambda: audio.MuLawEncoding(0), "must be positive"),
        (lambda: audio.Flanger(8000, delay=31.0), r"'delay' must be in \[0, 30\]"),
        (lambda: audio.Flanger(8000)(np.ones((5, 10), np.float32)), "4 channels at most, got 5"),
        (lambda: audio.Flanger(8000)(np.ones(10, np.float32)), "expected 2 dims or more"),
        (lambda: audio.Phaser(100, delay_ms=0.0), "less than a sample"),
        (lambda: audio.MaskAlongAxis(3, 9, 0.0, 2)(X), "a mask of 9 from 3 is beyond the 5"),
        (lambda: audio.MaskAlongAxis(3, 1, 0.0, 3), "'axis' must be 1"),
        (lambda: audio.MaskAlongAxisIID(9, 0.0, 1)(X), "longer than the 4"),
        (lambda: audio.TimeMasking(False, 9)(X), "beyond the 5"),
        (lambda: audio.AmplitudeToDB(top_db=-3.0), "'top_db' must be positive"),
        (lambda: audio.Angle()(X), "a last dim of 2"),
        (lambda: audio.ComplexNorm(-1.0), "must not be negative"),
        (lambda: audio.ComputeDeltas(2), "must be 3 or more"),
        (lambda: audio.Spectrogram(16, 20), "must not be above n_fft, got 20 and 16"),
        (lambda: audio.Spectrogram(16, power=-1.0), "'power' must not be negative"),
        (lambda: audio.Spectrogram(16, center=False)(X), "5 samples are fewer than the 16"),
        (lambda: audio.MelScale(4)(X), "expected 201 frequencies"),
        (lambda: audio.MelScale(4, 8000, 5000.0), "must be below f_max, got 5000"),
        (lambda: audio.InverseSpectrogram(n_fft=16)(np.ones((5, 4, 2))), "9 frequencies of n_fft 16, got 5"),
        (lambda: audio.InverseSpectrogram(n_fft=16)(np.ones((9, 4, 3))), r"\(..., freq, time, 2\)"),
        (lambda: audio.GriffinLim(16)(X), "expected 9 frequencies"),
        (lambda: audio.InverseMelScale(9, 6)(X), "expected 6 mels, got 4"),
        (lambda: audio.InverseMelScale(9, sgdargs={"lr": 1.0}), "'sgd_lr' and 'sgd_momentum'"),
        (lambda: audio.PhaseVocoder(0.0, np.zeros((9, 1))), "must be positive"),
        (lambda: audio.PhaseVocoder(1.0, np.zeros(9)), r"must be of shape \(freq, 1\)"),
        (lambda: audio.TimeStretch(n_freq=7)(np.ones((9, 4, 2))), "expected 7 frequencies, got 9"),
        (lambda: audio.Resample(0, 5), "'orig_freq' must be 1 or more"),
        (lambda: audio.Resample(2, 1, rolloff=1.5), r"must be in \(0, 1\]"),
        (lambda: audio.PitchShift(8000, 1, 0), "must not be 0"),
        (lambda: audio.MFCC(8000, 400), "must not be above n_mels, got 400 and 128"),
        (lambda: audio.MFCC(8000, 4, 3), "'dct_type' must be 2"),
        (lambda: audio.MFCC(8000, 4, melkwargs=[3]), "must be a dict of arguments"),
        (lambda: audio.DetectPitchFrequency(8000)(X), "too few for a median over 30"),
        (lambda: audio.DetectPitchFrequency(8000, freq_low=100, freq_high=100), "above freq_low"),
        (lambda: audio.Vad(8000, noise_up_time=0.01), "above noise_down_time"),
        (lambda: audio.Vad(8000, lp_lifter_freq=100.0), "below lp_lifter_freq"),
        (lambda: audio.melscale_fbanks(5, 10.0, 5.0, 3, 8000), "must not be above f_max"),
        (lambda: audio.linear_fbanks(5, -1.0, 5.0, 3, 8000), "must not be negative"),
        (lambda: audio.create_dct(0, 4), "must be positive"),
    ],
)  # fmt: skip
def test_refusals(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_arguments_of_inner_transforms_are_checked():
    with pytest.raises(TypeError, match="MelSpectrogram: there is no argument 'n_ffts'"):
        audio.MFCC(melkwargs={"n_ffts": 3})
    assert mycel.dataset.audio.MFCC(8000, 4, melkwargs={"n_fft": 64})(tone(440)).shape == (4, 26)


@pytest.mark.parametrize("n_fft", [2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 25, 30, 49, 97, 210, 400, 512])
@pytest.mark.parametrize("onesided", [True, False])
def test_transform_of_any_length(n_fft, onesided):
    """Frames of every kind of length against NumPy, as many as leave a block half empty."""
    signal = np.random.RandomState(n_fft).standard_normal((2, n_fft + 3 * 20))
    change = audio.Spectrogram(
        n_fft, hop_length=3, power=0, center=False, onesided=onesided,
        window=audio.WindowType.HAMMING,
    )  # fmt: skip
    window = 0.54 - 0.46 * np.cos(2 * np.pi * np.arange(n_fft) / n_fft)
    frames = np.stack([signal[:, t : t + n_fft] for t in range(0, 61, 3)], 1) * window
    want = np.swapaxes((np.fft.rfft if onesided else np.fft.fft)(frames), 1, 2)
    got = change(signal)
    assert np.abs(got[..., 0] + 1j * got[..., 1] - want).max() < 1e-11
