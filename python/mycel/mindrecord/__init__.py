"""MindRecord: files of rows with an index, written, read by pages and converted from others. They
are those of the published framework, both ways. mycel.dataset.MindDataset reads them for training.
"""

from mycel.mindrecord.convert import (
    Cifar10ToMR,
    Cifar100ToMR,
    CsvToMR,
    ImageNetToMR,
    MnistToMR,
    TFRecordToMR,
)
from mycel.mindrecord.exceptions import *  # noqa: F403
from mycel.mindrecord.reader import FileReader, MindPage
from mycel.mindrecord.writer import FAILED, SUCCESS, FileWriter

__all__ = [
    "FAILED", "SUCCESS", "Cifar100ToMR", "Cifar10ToMR", "CsvToMR", "FileReader", "FileWriter",
    "ImageNetToMR", "MindPage", "MnistToMR", "TFRecordToMR",
]  # fmt: skip
