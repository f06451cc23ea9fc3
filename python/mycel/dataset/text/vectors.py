"""Word vectors from files; text.ToVectors looks them up."""

from mycel._mycel import entry
from mycel._mycel.data import make_transform


class Vectors:
    """Vectors of tokens, from a text file of lines 'token x1 x2 …'."""

    _record = "text.vectors"

    def __init__(self):
        self._transform = None

    @classmethod
    @entry
    def from_file(cls, file_path, max_vectors=None):
        """The first max_vectors of a file; None or 0: all. ValueError: a line that is no vector
        or of another length. OSError: the file cannot be read."""
        given = {"file_path": str(file_path), "max_vectors": max_vectors}
        made = cls()
        made._given = (file_path, max_vectors)
        made._transform = make_transform(cls._record, given)
        return made

    def __reduce__(self):
        return type(self).from_file, self._given


class GloVe(Vectors):
    """Vectors of GloVe; the file is named glove.6B.*.txt."""

    _record = "text.glove"


class FastText(Vectors):
    """Vectors of fastText; the name of the file ends in .vec."""

    _record = "text.fast_text"


class CharNGram(Vectors):
    """Vectors of character n-grams: a token has the mean of those of its 2-, 3- and 4-grams."""

    _record = "text.char_n_gram"
