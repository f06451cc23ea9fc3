"""Recorded runs from Python: plot() draws curves in a notebook."""

from mycel.insight.curves import Plot, plot

__all__ = ["Plot", "plot"]
