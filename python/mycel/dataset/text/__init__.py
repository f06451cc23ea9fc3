"""Transforms of text: words, numbers of words, normal forms."""

from mycel.dataset import _records
from mycel.dataset.choices import ALL as _choices
from mycel.dataset.text.jieba import JiebaTokenizer
from mycel.dataset.text.sentencepiece import SentencePieceVocab
from mycel.dataset.text.strings import PythonTokenizer, to_bytes, to_str
from mycel.dataset.text.vectors import CharNGram, FastText, GloVe, Vectors
from mycel.dataset.text.vocab import Vocab

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

__all__ = sorted(
    [
        *_classes, *_enums, "CharNGram", "FastText", "GloVe", "JiebaTokenizer", "PythonTokenizer",
        "SentencePieceVocab", "Vectors", "Vocab", "to_bytes", "to_str",
    ]
)  # fmt: skip
