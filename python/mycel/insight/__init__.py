"""Recorded runs from Python: plot() draws curves in a notebook; Debugger stops a run at watchpoints
and shows its tensors on the page of `mycel insight`; mycel.insight.debugger looks at dumps
afterwards; ClusterRecord and ExplainRecord write what the pages Cluster and Explain show."""

from mycel.insight import debugger
from mycel.insight.curves import Plot, plot
from mycel.insight.records import ClusterRecord, ExplainRecord
from mycel.insight.session import Debugger, dump_plan, set_dump

__all__ = [
    "ClusterRecord",
    "Debugger",
    "ExplainRecord",
    "Plot",
    "debugger",
    "dump_plan",
    "plot",
    "set_dump",
]
