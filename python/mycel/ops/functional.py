"""The function forms of ops, under their published module name."""

from mycel import ops as _ops


def __getattr__(name):
    return getattr(_ops, name)


def __dir__():
    return dir(_ops)
