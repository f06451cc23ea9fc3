"""SentencePiece models, trained or saved."""

import os

from mycel._mycel import entry
from mycel._mycel.data import make_transform
from mycel.dataset.text.vocab import words_of


def _trained(vocab_size, character_coverage, model_type, params, **sentences):
    flat = [str(x) for item in (params or {}).items() for x in item]
    made = SentencePieceVocab()
    made._transform = make_transform(
        "text.sentencepiece_train",
        {
            "vocab_size": vocab_size,
            "character_coverage": character_coverage,
            "model_type": model_type,
            "params": flat,
            **sentences,
        },
    )
    return made


class SentencePieceVocab:
    """A SentencePiece model, made by from_dataset or from_file."""

    def __init__(self):
        self._transform = None

    @classmethod
    @entry
    def from_dataset(cls, dataset, col_names, vocab_size, character_coverage, model_type, params):
        """A model trained on the strings of columns of a dataset; params: further arguments of
        the trainer by name. ValueError: what the trainer refuses."""
        arrays = words_of(dataset, col_names, "SentencePieceVocab.from_dataset")
        sentences = [str(s) for array in arrays for s in array.ravel().tolist()]
        return _trained(vocab_size, character_coverage, model_type, params, sentences=sentences)

    @classmethod
    @entry
    def from_file(cls, file_path, vocab_size, character_coverage, model_type, params):
        """A model trained on the lines of files."""
        files = [file_path] if isinstance(file_path, str | os.PathLike) else file_path
        return _trained(
            vocab_size, character_coverage, model_type, params, files=[str(f) for f in files]
        )

    @classmethod
    @entry
    def save_model(cls, vocab, path, filename):
        """Writes the model to path/filename. OSError: that cannot be written."""
        if vocab._transform is None:
            raise RuntimeError("SentencePieceVocab: there is no model: use from_file")
        given = {"vocab": vocab, "file_path": os.path.join(path, filename)}
        make_transform("text.sentencepiece_save", given)((), 0, 0)
