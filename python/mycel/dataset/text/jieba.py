"""Chinese words by the method of jieba."""

import re
from pathlib import Path

from mycel._mycel import entry
from mycel._mycel.data import make_transform
from mycel.dataset import _records
from mycel.dataset.choices import ALL as _choices

_LINE = re.compile(r"\s*([^\s*]+?)\s*([0-9]+)?\s*")


class JiebaTokenizer(_records.Transform):
    """Cuts Chinese text into words. mp_path: a dictionary of lines 'word count tag'; hmm_path: a
    hidden Markov model; both in the format of jieba. Mode MP: the most probable words of the
    dictionary; HMM: those of the model; MIX: those of the dictionary, and of the model where these
    are single characters. Result: strings (n); with_offsets adds the first byte and the byte
    behind each, uint32 (n)."""

    _record = "text.jieba"

    @entry
    def __init__(self, hmm_path, mp_path, mode=_choices["JiebaMode"].MIX, with_offsets=False):
        self._arguments = {
            "hmm_path": str(hmm_path),
            "mp_path": str(mp_path),
            "mode": mode,
            "with_offsets": with_offsets,
        }
        self._words = {}
        self._made = make_transform(self._record, self._arguments)

    @property
    def _transform(self):
        if self._made is None:
            more = {"words": list(self._words), "counts": list(self._words.values())}
            self._made = make_transform(self._record, {**self._arguments, **more})
        return self._made

    @entry
    def add_word(self, word, freq=None):
        """One word more, with a count; None: the usual one."""
        if not isinstance(word, str) or not word:
            raise ValueError(f"add_word: 'word' must be a str that is not empty, got {word!r}")
        if freq is not None and (not isinstance(freq, int) or freq < 0):
            raise ValueError(f"add_word: 'freq' must be an int of 0 or more, got {freq!r}")
        self._words[word] = freq or 0
        self._made = None

    @entry
    def add_dict(self, user_dict):
        """More words: {word: count}, or the path of a file of lines 'word count'; other lines
        are passed over."""
        if isinstance(user_dict, dict):
            words = user_dict
        else:
            lines = Path(user_dict).read_text(encoding="utf-8-sig").splitlines()
            found = [m for m in map(_LINE.fullmatch, lines) if m]
            words = {m[1]: int(m[2]) if m[2] else None for m in found}
        for word, freq in words.items():
            self.add_word(word, freq)

    def __reduce__(self):
        return _again, (self._arguments, self._words)


def _again(arguments, words):
    made = JiebaTokenizer(**arguments)
    made.add_dict(words)
    return made
