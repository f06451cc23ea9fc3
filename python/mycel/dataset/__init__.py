"""Input pipelines: datasets from arrays and Python objects, and what can be done with their rows."""

from mycel.dataset.datasets import (
    Dataset,
    GeneratorDataset,
    MappableDataset,
    NumpySlicesDataset,
    digits,
)

__all__ = ["Dataset", "GeneratorDataset", "MappableDataset", "NumpySlicesDataset", "digits"]
