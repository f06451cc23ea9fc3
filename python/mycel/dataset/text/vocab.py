"""Vocabularies: tokens and their ids."""

import collections
import operator

import numpy as np

from mycel._mycel import entry
from mycel._mycel.data import make_transform


def _run(transform, *values):
    out = transform(values, 0, 0)
    return out[0] if len(out) == 1 else out


def words_of(dataset, columns, owner):
    """Arrays of strings in the columns of a dataset (None: all), row by row."""
    if isinstance(columns, str):
        columns = [columns]
    if columns:
        dataset = dataset.project(list(columns))
    for row in dataset.create_tuple_iterator(num_epochs=1, output_numpy=True):
        for value in row:
            array = np.asarray(value)
            if array.dtype.kind not in "US":
                raise TypeError(f"{owner}: expected columns of strings, got {array.dtype}")
            yield array


def _frequencies(freq_range):
    low, high = (None, None) if freq_range is None else freq_range
    low, high = 0 if low is None else low, float("inf") if high is None else high
    if not 0 <= low <= high:
        raise ValueError(
            f"Vocab.from_dataset: 'freq_range' must be (low, high) with 0 <= low <= high, "
            f"got {freq_range}"
        )
    return low, high


class Vocab:
    """Tokens and their ids. Made by from_list, from_dict, from_file or from_dataset; transforms
    that take it share one table."""

    def __init__(self):
        self._transform = None

    @classmethod
    def _of(cls, record, arguments):
        made = cls()
        made._transform = make_transform(record, arguments)
        return made

    @classmethod
    @entry
    def from_list(cls, word_list, special_tokens=None, special_first=True):
        """Words numbered from 0, with the special tokens in front or behind. ValueError: a word
        that is there twice."""
        given = {"words": list(word_list), "special_first": special_first}
        if special_tokens is not None:
            given["special_tokens"] = list(special_tokens)
        return cls._of("text.vocabulary", given)

    @classmethod
    @entry
    def from_dict(cls, word_dict):
        """Words with the ids of a dict. ValueError: a negative id."""
        if not isinstance(word_dict, dict):
            raise TypeError(f"Vocab.from_dict: expected a dict, got {type(word_dict).__name__}")
        ids = [operator.index(i) for i in word_dict.values()]
        return cls._of("text.vocabulary", {"words": list(word_dict), "ids": ids})

    @classmethod
    @entry
    def from_file(
        cls, file_path, delimiter="", vocab_size=None, special_tokens=None, special_first=True
    ):
        """The lines of a file, each up to the delimiter, vocab_size of them at most. OSError: the
        file cannot be read. ValueError: a word that is there twice."""
        given = {"file_path": str(file_path), "delimiter": delimiter, "vocab_size": vocab_size,
                 "special_first": special_first}  # fmt: skip
        if special_tokens is not None:
            given["special_tokens"] = list(special_tokens)
        return cls._of("text.vocabulary_file", given)

    @classmethod
    @entry
    def from_dataset(
        cls, dataset, columns=None, freq_range=None, top_k=None, special_tokens=None,
        special_first=True,
    ):  # fmt: skip
        """The words in columns of a dataset (None: all), the most frequent first, those of one
        frequency in alphabetical order. freq_range: (low, high) how often a word is there; top_k:
        how many words at most. ValueError: a special token that is among the words."""
        low, high = _frequencies(freq_range)
        if top_k is not None and top_k < 1:
            raise ValueError(f"Vocab.from_dataset: 'top_k' must be positive, got {top_k}")
        counts = collections.Counter()
        for array in words_of(dataset, columns, "Vocab.from_dataset"):
            counts.update(array.ravel().tolist())
        taken = special_tokens and next((s for s in special_tokens if s in counts), None)
        if taken:
            raise ValueError(f"Vocab.from_dataset: the special token {taken!r} is among the words")
        words = [w for w, n in counts.items() if low <= n <= high]
        words.sort(key=lambda w: (-counts[w], w.encode("utf-8", "surrogateescape")))
        return cls.from_list(words[:top_k], special_tokens, special_first)

    def _check(self):
        if self._transform is None:
            raise RuntimeError(
                "Vocab: there are no words: use from_list, from_dict, from_file or from_dataset"
            )

    @entry
    def vocab(self):
        """{token: id}."""
        self._check()
        transform = make_transform("text.vocabulary_words", {"vocab": self})
        words, ids = transform((), 0, 0)
        return dict(zip(words.tolist(), ids.tolist(), strict=True))

    @entry
    def tokens_to_ids(self, tokens):
        """The id of a token, or the ids of several; -1 for unknown ones."""
        self._check()
        if not isinstance(tokens, str | list | np.ndarray):
            raise TypeError(
                f"tokens_to_ids: expected a str, a list or an array, got {type(tokens).__name__}"
            )
        one = isinstance(tokens, str)
        array = np.asarray(tokens, dtype=str if not len(tokens) else None)
        if array.dtype.kind not in "US":
            raise TypeError(f"tokens_to_ids: expected strings, got {array.dtype}")
        ids = _run(self._transform, array).tolist()
        return ids[0] if isinstance(ids, list) and len(ids) == 1 and one else ids

    @entry
    def ids_to_tokens(self, ids):
        """The token of an id, or the tokens of several; '' for unknown ones. ValueError: a
        negative id."""
        self._check()
        array = np.asarray(ids, dtype=np.int64 if np.size(ids) == 0 else None)
        if array.dtype.kind not in "iu":
            raise TypeError(f"ids_to_tokens: expected an int or a list of ints, got {ids!r}")
        if array.size and array.min() < 0:
            raise ValueError(f"ids_to_tokens: an id must not be negative, got {array.min()}")
        transform = make_transform("text.vocabulary_tokens", {"vocab": self})
        return _run(transform, array).tolist()

    def __reduce__(self):
        return (Vocab,) if self._transform is None else (Vocab.from_dict, (self.vocab(),))
