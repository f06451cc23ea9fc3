"""Input pipelines: datasets from arrays and Python objects, and operators on rows."""

from mycel.dataset.datasets import (
    Dataset,
    GeneratorDataset,
    MappableDataset,
    NumpySlicesDataset,
    digits,
)

__all__ = ["Dataset", "GeneratorDataset", "MappableDataset", "NumpySlicesDataset", "digits"]
