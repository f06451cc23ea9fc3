"""Window functions: tensors of M points, 1 in the middle; empty when M is not positive."""

from mycel._mycel import entry
from mycel.numpy._arrays import integer, op


def _window(name, record, what):
    def call(M):
        n = integer(M, name, "M")
        return op(record)(n if n > 0 else 0, periodic=False)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"{what} of M points, float32; empty when M is not positive."
    return entry(call)


bartlett = _window("bartlett", "bartlett_window", "The triangle")
blackman = _window("blackman", "blackman_window", "The Blackman window")
hamming = _window("hamming", "hamming_window", "The Hamming window")
hanning = _window("hanning", "hann_window", "The Hann window")

__all__ = ["bartlett", "blackman", "hamming", "hanning"]
