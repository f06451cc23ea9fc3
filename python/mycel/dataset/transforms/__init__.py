"""Transforms of any data: types, padding, masks, and combinations of transforms."""

from mycel.dataset import _records
from mycel.dataset.choices import ALL as _choices

Relational = _choices["Relational"]
_classes = _records.transforms("transforms", __name__)
globals().update(_classes)


def not_random(function):
    """Marks a function as one whose result depends on its arguments alone, so that it may stand
    under a cache."""
    function.random = False
    return function


__all__ = sorted([*_classes, "Relational", "not_random"])
