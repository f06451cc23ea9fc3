"""Named tensors in one safetensors file, written atomically."""

import os

from mycel import _mycel
from mycel._mycel import entry

__all__ = ["load_tensors", "save_tensors"]


@entry
def load_tensors(path):
    """A dict from name to Tensor. OSError when the file cannot be read, ValueError naming file
    and entry when it is damaged."""
    return _mycel.load_tensors(os.fspath(path))


@entry
def save_tensors(path, tensors):
    """Writes a dict from name to Tensor or Parameter. OSError when it cannot; the old file
    stays then."""
    _mycel.save_tensors(os.fspath(path), dict(tensors))
