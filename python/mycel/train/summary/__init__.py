"""Records of runs: event files that `mycel insight` and TensorBoard show."""

from mycel.train.summary.collector import SummaryCollector
from mycel.train.summary.record import SummaryRecord

__all__ = ["SummaryCollector", "SummaryRecord"]
