"""The process's random seed."""

from mycel import _mycel
from mycel._mycel import entry

_seed = None


@entry
def set_seed(seed):
    """Starts the random stream over from `seed`, an int of at least 0. NumPy's own generator is
    left alone."""
    global _seed
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise TypeError(f"set_seed: 'seed' must be an int, got {type(seed).__name__}")
    if seed < 0 or seed >= 2**64:
        raise ValueError(f"set_seed: 'seed' must be in [0, 2**64), got {seed}")
    _mycel.set_seed(seed)
    _seed = seed


def get_seed():
    """The seed last set, or None."""
    return _seed


__all__ = ["set_seed", "get_seed"]
