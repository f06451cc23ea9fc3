"""Arrays of str and bytes, and tokenizers in Python."""

import numpy as np


def _array(array, kinds, what):
    if not isinstance(array, np.ndarray):
        raise TypeError(f"{what}: expected a NumPy array, got {type(array).__name__}")
    if array.dtype.kind not in kinds:
        raise TypeError(f"{what}: got an array of {array.dtype}")
    return array


def to_bytes(array, encoding="utf8"):
    """The strings of an array as bytes."""
    return np.char.encode(_array(array, "U", "to_bytes"), encoding)


def to_str(array, encoding="utf8"):
    """The bytes of an array as strings."""
    return np.char.decode(_array(array, "S", "to_str"), encoding)


class PythonTokenizer:
    """A function from a str to a list of str, for arrays of strings. Of an array, all lists must
    have one length."""

    random = False

    def __init__(self, tokenizer):
        if not callable(tokenizer):
            raise TypeError(
                f"PythonTokenizer: 'tokenizer' must be a function, got {type(tokenizer).__name__}"
            )
        self._tokenizer = tokenizer

    def __call__(self, in_array):
        array = _array(in_array, "US", "PythonTokenizer")
        if array.dtype.kind == "S":
            array = to_str(array)
        if array.ndim == 0:
            return np.array(self._tokenizer(array.item()), dtype="U")
        lists = [self._tokenizer(text) for text in array.ravel().tolist()]
        lengths = sorted({len(tokens) for tokens in lists})
        if len(lengths) > 1:
            raise ValueError(f"PythonTokenizer: the strings have {lengths} tokens, not one number")
        return np.array(lists, dtype="U").reshape(*array.shape, *lengths)
