"""Transforms of sound. Arrays are float, channels x samples (or any dims before the samples)."""

from mycel.dataset import _records
from mycel.dataset.choices import ALL as _choices

_enums = {
    name: _choices[name]
    for name in (
        "BorderType", "DensityFunction", "FadeShape", "GainType", "Interpolation", "MelType",
        "Modulation", "NormMode", "NormType", "ResampleMethod", "ScaleType", "WindowType",
    )
}  # fmt: skip
_classes = _records.transforms("audio", __name__)
_functions = _records.functions("audio", __name__)
globals().update(_enums)
globals().update(_classes)
globals().update(_functions)

__all__ = sorted([*_classes, *_enums, *_functions])
