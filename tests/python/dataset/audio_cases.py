# ruff: noqa: E501
"""Cases of the transforms of sound, for the tests and for tools/make_audio_golden.py: (key, name,
arguments, input); functions have no input."""

import numpy as np


def sounds():
    rng = np.random.RandomState(5)
    t = np.arange(600) / 8000
    tone = 0.6 * np.sin(2 * np.pi * 440 * t) + 0.2 * np.sin(2 * np.pi * 1210 * t + 1)
    x = np.stack([tone, 0.5 * tone[::-1]]) + 0.05 * rng.randn(2, 600)
    return rng, np.clip(x, -1, 1)


def members(choice, names):
    return [choice[name] for name in names.split()]


def cases(audio):
    rng, x = sounds()
    f32, f64 = x.astype(np.float32), x[:, :200]
    number = iter(range(1000))

    def case(name, given, **arguments):
        return f"{name}.{next(number)}", name, arguments, given

    for sound in (f32[:, :200], f64):
        yield case("AllpassBiquad", sound, sample_rate=8000, central_freq=900.0)
        yield case("BandBiquad", sound, sample_rate=8000, central_freq=900.0)
        yield case("BandBiquad", sound, sample_rate=8000, central_freq=900.0, noise=True)
        yield case("BandpassBiquad", sound, sample_rate=8000, central_freq=900.0, Q=0.4)
        yield case(
            "BandpassBiquad", sound, sample_rate=8000, central_freq=900.0, const_skirt_gain=True
        )
        yield case("BandrejectBiquad", sound, sample_rate=8000, central_freq=900.0)
        yield case("BassBiquad", sound, sample_rate=8000, gain=6.0)
        yield case("TrebleBiquad", sound, sample_rate=8000, gain=-6.0)
        yield case("EqualizerBiquad", sound, sample_rate=8000, center_freq=900.0, gain=4.0)
        yield case("HighpassBiquad", sound, sample_rate=8000, cutoff_freq=900.0)
        yield case("LowpassBiquad", sound, sample_rate=8000, cutoff_freq=900.0)
        for rate in (44100, 48000):
            yield case("DeemphBiquad", sound, sample_rate=rate)
        for rate in (44100, 48000, 88200, 96000):
            yield case("RiaaBiquad", sound, sample_rate=rate)
        yield case("Biquad", sound, b0=0.2, b1=0.3, b2=-0.1, a0=1.1, a1=0.2, a2=0.1)
        for clamp in (True, False):
            yield case(
                "LFilter", sound, a_coeffs=[1.2, 0.1, 0.3], b_coeffs=[1.4, -0.2, 0.9], clamp=clamp
            )
            yield case(
                "Filtfilt", sound, a_coeffs=[1.2, 0.1, 0.3], b_coeffs=[1.4, -0.2, 0.9], clamp=clamp
            )
        yield case("Contrast", sound)
        yield case("DCShift", sound, shift=0.4)
        yield case("DCShift", sound, shift=0.4, limiter_gain=0.05)
        yield case("Gain", sound, gain_db=3.0)
        for kind in members(audio.GainType, "AMPLITUDE POWER DB"):
            yield case("Vol", sound, gain=1.5, gain_type=kind)
        yield case("Overdrive", sound, gain=12.0, color=30.0)
        for shape in members(audio.FadeShape, "LINEAR EXPONENTIAL QUARTER_SINE HALF_SINE"):
            yield case("Fade", sound, fade_in_len=30, fade_out_len=50, fade_shape=shape)
        yield case("MuLawEncoding", sound)
        yield case("MuLawEncoding", sound, quantization_channels=64)
        for shaped in (False, True):
            yield case("Dither", sound, noise_shaping=shaped)
    yield case("MuLawDecoding", np.arange(256, dtype=np.int32).reshape(4, 64))
    yield case("Gain", (f32[:, :50] * 1000).astype(np.int16), gain_db=3.0)
    for modulation in members(audio.Modulation, "SINUSOIDAL TRIANGULAR"):
        for interpolation in members(audio.Interpolation, "LINEAR QUADRATIC"):
            yield case(
                "Flanger",
                f64,
                sample_rate=8000,
                delay=1.0,
                depth=3.0,
                regen=20.0,
                width=60.0,
                speed=5.0,
                modulation=modulation,
                interpolation=interpolation,
            )
    for sine in (True, False):
        yield case("Phaser", f64, sample_rate=8000, mod_speed=2.0, sinusoidal=sine)

    wide = rng.rand(2, 3, 9, 7).astype(np.float32)
    yield case("MaskAlongAxis", wide, mask_start=2, mask_width=3, mask_value=0.5, axis=1)
    yield case("MaskAlongAxis", wide, mask_start=2, mask_width=3, mask_value=0.5, axis=2)
    yield case("TimeMasking", wide, iid_masks=False, time_mask_param=3, mask_start=1)
    yield case(
        "FrequencyMasking", wide, iid_masks=False, freq_mask_param=3, mask_start=1, mask_value=2.0
    )
    yield case("AmplitudeToDB", wide)
    yield case("AmplitudeToDB", wide[0], stype=audio.ScaleType.MAGNITUDE, ref_value=0.3, top_db=6.0)
    yield case("AmplitudeToDB", wide, top_db=3.0)
    yield case("DBToAmplitude", 10 * wide, ref=0.5, power=0.5)
    pairs = rng.randn(3, 4, 2)
    yield case("Angle", pairs)
    yield case("ComplexNorm", pairs, power=2.0)
    yield case("Magphase", pairs, power=1.5)
    for border in members(audio.BorderType, "CONSTANT EDGE REFLECT SYMMETRIC"):
        yield case("ComputeDeltas", wide, win_length=5, pad_mode=border)
    yield case("ComputeDeltas", wide, win_length=4)
    for center in (False, True):
        for variances in (False, True):
            yield case(
                "SlidingWindowCmn",
                wide[0].astype(np.float64),
                cmn_window=4,
                min_cmn_window=2,
                center=center,
                norm_vars=variances,
            )
    yield case("SlidingWindowCmn", wide[0])

    for norm in members(audio.NormType, "NONE SLANEY"):
        for kind in members(audio.MelType, "HTK SLANEY"):
            yield case(
                "melscale_fbanks",
                None,
                n_freqs=33,
                f_min=20.0,
                f_max=3900.0,
                n_mels=10,
                sample_rate=8000,
                norm=norm,
                mel_type=kind,
            )
            yield case(
                "MelScale",
                rng.rand(2, 33, 5).astype(np.float32),
                n_mels=10,
                sample_rate=8000,
                n_stft=33,
                norm=norm,
                mel_type=kind,
            )
    yield case(
        "linear_fbanks", None, n_freqs=33, f_min=20.0, f_max=3900.0, n_filter=10, sample_rate=8000
    )
    for norm in members(audio.NormMode, "NONE ORTHO"):
        yield case("create_dct", None, n_mfcc=5, n_mels=12, norm=norm)

    for window in members(audio.WindowType, "BARTLETT BLACKMAN HAMMING HANN KAISER"):
        yield case("Spectrogram", f64, n_fft=32, window=window)
    for border in members(audio.BorderType, "CONSTANT EDGE REFLECT SYMMETRIC"):
        yield case("Spectrogram", f64, n_fft=32, hop_length=20, pad=3, pad_mode=border)
    for power in (0.0, 1.0, 3.0):
        yield case(
            "Spectrogram", f64, n_fft=32, win_length=20, hop_length=9, power=power, normalized=True
        )
    yield case("Spectrogram", f32[:, :200], n_fft=32)
    yield case("Spectrogram", f64, n_fft=30, center=False)
    yield case("Spectrogram", f64, n_fft=31, onesided=False)
    yield case("SpectralCentroid", f64, sample_rate=8000, n_fft=32)
    yield case("MelSpectrogram", f32, sample_rate=8000, n_fft=64, n_mels=10)
    spectra = rng.randn(2, 17, 9, 2)
    yield case("InverseSpectrogram", spectra, n_fft=32)
    yield case(
        "InverseSpectrogram",
        spectra,
        n_fft=32,
        length=100,
        win_length=24,
        hop_length=6,
        normalized=True,
    )
    melkwargs = dict(
        n_fft=64,
        win_length=64,
        hop_length=32,
        f_min=0.0,
        f_max=4000.0,
        pad=0,
        n_mels=20,
        window=audio.WindowType.HANN,
        power=2.0,
        normalized=False,
        center=True,
        pad_mode=audio.BorderType.REFLECT,
        onesided=True,
        norm=audio.NormType.NONE,
        mel_scale=audio.MelType.HTK,
    )
    speckwargs = dict(
        n_fft=64,
        win_length=64,
        hop_length=32,
        pad=0,
        window=audio.WindowType.HANN,
        power=2.0,
        normalized=False,
        center=True,
        pad_mode=audio.BorderType.REFLECT,
        onesided=True,
    )
    for log in (False, True):
        yield case("MFCC", f32, sample_rate=8000, n_mfcc=8, log_mels=log, melkwargs=melkwargs)
        yield case(
            "LFCC", f32, sample_rate=8000, n_filter=20, n_lfcc=8, log_lf=log, speckwargs=speckwargs
        )
    yield case(
        "GriffinLim", rng.rand(17, 9), n_fft=32, n_iter=3, power=1.0, momentum=0.0, rand_init=False
    )
    advance = np.linspace(0, 3.14 * 8, 17).reshape(17, 1)
    for rate in (0.7, 1.3):
        yield case("PhaseVocoder", spectra, rate=rate, phase_advance=advance)
        yield case("TimeStretch", spectra, hop_length=16, n_freq=17, fixed_rate=rate)
    for old, new in ((3, 2), (2, 3), (16, 8), (441, 480), (5, 5)):
        yield case("Resample", f64, orig_freq=old, new_freq=new)
    yield case(
        "Resample", f64, orig_freq=3, new_freq=2, resample_method=audio.ResampleMethod.KAISER_WINDOW
    )
    yield case("Resample", f64, orig_freq=3, new_freq=2, lowpass_filter_width=12, rolloff=0.8)
    for steps in (4, -3):
        yield case("PitchShift", f64, sample_rate=8000, n_steps=steps, n_fft=64)
    low = np.sin(2 * np.pi * 150 * np.arange(4000) / 4000 + 0.3) + 0.1 * rng.randn(4000)
    yield case("DetectPitchFrequency", low.astype(np.float32), sample_rate=4000, freq_high=1000)
    yield case(
        "DetectPitchFrequency",
        low.reshape(2, 2000).astype(np.float32),
        sample_rate=4000,
        freq_low=100,
        freq_high=900,
        win_length=5,
    )


def peer_cases(audio):
    """Those that torchaudio gives, with its function and arguments."""
    rng, x = sounds()
    voice = np.concatenate(
        [np.zeros(8000), 0.5 * np.sin(2 * np.pi * 440 * np.arange(8000) / 8000), np.zeros(2000)]
    )
    voice = (voice + 1e-3 * rng.randn(18000)).astype(np.float32)
    both = np.stack([voice, 0.1 * voice])
    yield "Vad.a", "Vad", dict(sample_rate=8000), voice, ("functional.vad", dict(sample_rate=8000))
    options = dict(sample_rate=8000, pre_trigger_time=0.1, search_time=0.5)
    yield "Vad.b", "Vad", options, both, ("functional.vad", options)
    low = np.sin(2 * np.pi * 150 * np.arange(4000) / 4000 + 0.3) + 0.1 * rng.randn(4000)
    low = low.astype(np.float32)
    for key, options in (("a", {}), ("b", dict(win_length=5, freq_high=900))):
        options = dict(sample_rate=4000, **options)
        yield (
            "Pitch." + key,
            "DetectPitchFrequency",
            options,
            low,
            ("functional.detect_pitch_frequency", options),
        )
    options = dict(shift=-0.4, limiter_gain=0.05)
    yield "DCShift.a", "DCShift", options, x, ("functional.dcshift", options)
    options = dict(fade_in_len=30, fade_out_len=50)
    peer = ("transforms.Fade", dict(fade_shape="logarithmic", **options))
    yield "Fade.a", "Fade", dict(fade_shape="LOGARITHMIC", **options), x, peer
    power = rng.rand(2, 17, 9)
    for key, momentum in (("a", 0.99), ("b", 0.5)):
        options = dict(n_fft=32, n_iter=4, momentum=momentum)
        peer = ("transforms.GriffinLim", dict(rand_init=False, **options))
        yield "GriffinLim." + key, "GriffinLim", dict(rand_init=False, **options), power, peer
    for mode in (False, True):
        options = dict(cmn_window=4, min_cmn_window=2, center=mode, norm_vars=False)
        yield (
            f"Cmn.{mode}",
            "SlidingWindowCmn",
            options,
            power,
            ("functional.sliding_window_cmn", options),
        )
    yield (
        "Resample.a",
        "Resample",
        dict(orig_freq=441, new_freq=320),
        x,
        ("functional.resample", dict(orig_freq=441, new_freq=320)),
    )
    yield (
        "PitchShift.a",
        "PitchShift",
        dict(sample_rate=8000, n_steps=3),
        x,
        ("functional.pitch_shift", dict(sample_rate=8000, n_steps=3)),
    )
    mel = dict(sample_rate=8000, n_fft=64, n_mels=12)
    yield "Mel.a", "MelSpectrogram", mel, x, ("transforms.MelSpectrogram", mel)
    spec = dict(n_fft=48, win_length=40, hop_length=11, pad=2)
    yield (
        "Spectrogram.a",
        "Spectrogram",
        dict(power=1.0, **spec),
        x,
        ("transforms.Spectrogram", dict(power=1.0, **spec)),
    )
    yield (
        "Flanger.a",
        "Flanger",
        dict(sample_rate=8000, speed=3.0),
        x,
        ("functional.flanger", dict(sample_rate=8000, speed=3.0)),
    )
    yield (
        "Phaser.a",
        "Phaser",
        dict(sample_rate=8000),
        x,
        ("functional.phaser", dict(sample_rate=8000)),
    )
    yield (
        "Bass.a",
        "BassBiquad",
        dict(sample_rate=8000, gain=5.0),
        x,
        ("functional.bass_biquad", dict(sample_rate=8000, gain=5.0)),
    )
