"""The published place of names that graphs use."""

from mycel.dataset.graph import OutputFormat, SamplingStrategy

__all__ = ["OutputFormat", "SamplingStrategy"]
