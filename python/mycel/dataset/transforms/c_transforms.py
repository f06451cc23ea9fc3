"""The transforms under the name they had before they were one set: those that run in C++."""

from mycel.dataset import transforms as _transforms


def __getattr__(name):
    return getattr(_transforms, name)


def __dir__():
    return dir(_transforms)
