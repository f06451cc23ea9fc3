"""Transforms of text: words, numbers of words, normal forms."""

from mycel.dataset import _records
from mycel.dataset.choices import ALL as _choices

_enums = {
    name: _choices[name]
    for name in (
        "JiebaMode", "NormalizeForm", "SentencePieceModel", "SPieceTokenizerLoadType",
        "SPieceTokenizerOutType",
    )
}  # fmt: skip
_classes = _records.transforms("text", __name__)
globals().update(_enums)
globals().update(_classes)

__all__ = sorted([*_classes, *_enums])
