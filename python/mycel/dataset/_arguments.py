"""Checks of arguments that several datasets and operators share."""

import numpy as np


def refuse(owner, **options):
    """NotImplementedError for options that have another value than the one that changes nothing."""
    for name, (value, allowed) in options.items():
        if not any(value is a or (type(value) is type(a) and value == a) for a in allowed):
            raise NotImplementedError(
                f"{owner}: {name}={value!r} is not supported; leave it out, or {allowed[0]!r}"
            )


def names(value, what):
    """One name or several as a list."""
    if value is None:
        return []
    listed = [value] if isinstance(value, str) else list(value)
    if not all(isinstance(n, str) for n in listed):
        raise TypeError(f"{what} must be a str or a list of them, got {value!r}")
    return listed


def count(value, what, least=1):
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{what} must be an int, got {type(value).__name__}")
    if value < least:
        raise ValueError(f"{what} must be at least {least}, got {value}")
    return int(value)


def flag(value, what):
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{what} must be True or False, got {value!r}")
    return bool(value)


def workers(value, what="'num_parallel_workers'"):
    """Threads asked for; 0 without a wish."""
    from mycel.dataset import config

    if value is None:
        return config.asked_workers()
    return count(value, what)


def function(value, what):
    if not callable(value):
        raise TypeError(f"{what} must be callable, got {type(value).__name__}")
    return value
