"""Profiler: what the time and the memory of a program go to."""

import atexit
import json
import os

from mycel import _mycel
from mycel._mycel import entry

_insight = _mycel.insight
# Published options that mean nothing here, with the values that ask for nothing.
_WITHOUT_EFFECT = {
    "profile_communication": (False, "there is one process, which sends no messages"),
    "aicore_metrics": (0, "there are no AI cores"),
    "l2_cache": (False, "counters of caches are not read"),
    "parallel_strategy": (True, "strategies are not recorded"),
    "sync_enable": (True, "ops of a CPU have ended when they return"),
    "ascend_job_id": ("", "there are no jobs of Ascend"),
}


class Profiler:
    """Records what a program does, from now or start() to stop() or analyse().

    output_path: the folder of the profile, "./data" by default; that of a SummaryCollector puts it
    beside the rest of the run. start_profile: whether it starts at once. profile_memory: also which
    ops hold the memory. data_process: also the pipeline of data. timeline_limit: megabytes that the
    timeline may take, 500 by default; what does not fit is counted. start_step, stop_step: records
    these training steps of Model.train alone, counted from 1, both included. op_time: only True.

        profiler = Profiler(output_path="runs/first")
        model.train(1, dataset)
        profiler.analyse()

    analyse() prints a summary; `mycel insight runs` shows the rest.
    """

    @entry
    def __init__(self, **kwargs):
        path = kwargs.pop("output_path", "./data")
        if not isinstance(path, (str, os.PathLike)):
            raise TypeError(f"Profiler: 'output_path' must be a str, got {type(path).__name__}")
        flags = {"start_profile": True, "profile_memory": False, "data_process": True}
        flags["op_time"] = True
        for name, default in flags.items():
            value = flags[name] = kwargs.pop(name, default)
            if not isinstance(value, bool):
                kind = type(value).__name__
                raise TypeError(f"Profiler: {name!r} must be a bool, got {kind}")
        if not flags["op_time"]:
            raise NotImplementedError(
                "Profiler: op_time=False: times of ops are what it records; leave it out"
            )
        limit = kwargs.pop("timeline_limit", 500)
        if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
            raise ValueError(f"Profiler: 'timeline_limit' must be a positive int, got {limit!r}")
        first, last = _steps(kwargs.pop("start_step", None), kwargs.pop("stop_step", None))
        for name, value in kwargs.items():
            if name not in _WITHOUT_EFFECT:
                known = ("output_path", *flags, "timeline_limit", "start_step", "stop_step")
                raise TypeError(f"Profiler: there is no option {name!r}; options: {known}")
            nothing, why = _WITHOUT_EFFECT[name]
            if value != nothing:
                raise NotImplementedError(f"Profiler: {name}={value!r}: {why}; leave it out")
        self._profiler = _insight.Profiler(
            os.fspath(path), flags["profile_memory"], flags["data_process"], limit, first, last
        )
        self._ended, self._summary = False, ""
        if flags["start_profile"]:
            self._profiler.start()

    @entry
    def start(self):
        """Starts to record, where start_profile=False. Once."""
        if self._ended:
            raise RuntimeError("Profiler: it has ended; make another one")
        self._profiler.start()

    @entry
    def stop(self):
        """Stops to record."""
        self._profiler.stop()
        self._ended = True

    @entry
    def analyse(self):
        """Stops, writes the profile, and prints what it says."""
        self._summary = self._profiler.analyse()
        self._ended = True
        print(self._summary, end="")

    @entry
    def op_analyse(self, op_name, device_id=None):
        """Times of one op or a list of ops as JSON: {op: [{"runs", "total_us", "mean_us"}]}."""
        if isinstance(device_id, bool) or not (device_id is None or device_id == 0):
            raise ValueError(f"Profiler.op_analyse: there is device 0 alone, got {device_id!r}")
        names = [op_name] if isinstance(op_name, str) else op_name
        if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
            raise TypeError("Profiler.op_analyse: 'op_name' must be a str or a list of str")
        out = {}
        for name in names:
            if not name:
                raise TypeError("Profiler.op_analyse: 'op_name' must not be empty")
            rows = [o for o in self._profiler.ops() if _plain(o[0]) == _plain(name)]
            out[name] = [
                {"kind": k, "runs": runs, "total_us": 1e6 * s, "mean_us": 1e6 * s / runs}
                for _, k, runs, s in rows
            ]
        return json.dumps(out)

    @property
    def summary(self):
        """The text that analyse() has printed."""
        return self._summary

    @property
    def path(self):
        """The file of the profile; "" before analyse()."""
        return self._profiler.path


def _steps(first, last):
    for name, value in (("start_step", first), ("stop_step", last)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise TypeError(f"Profiler: {name!r} must be an int, got {type(value).__name__}")
        if value is not None and value < 1:
            raise ValueError(f"Profiler: {name!r} must be at least 1, got {value}")
    if first is None and last is None:
        return -1, -1
    first = 1 if first is None else first
    if last is not None and last < first:
        raise ValueError(f"Profiler: 'stop_step' {last} is before 'start_step' {first}")
    return first, -1 if last is None else last


def _plain(name):
    return name.replace("_", "").lower()


class EnvProfiler:
    """The profiler that the environment asks for: MYCEL_PROFILER_OPTIONS holds JSON with "start":
    true and options of Profiler. It starts with the import of mycel and is analysed at the end of
    the program, or by analyse() earlier."""

    _current = None

    def need_analyse(self):
        """Whether one runs."""
        return EnvProfiler._current is not None

    def analyse(self):
        """Ends it and prints its summary."""
        profiler, EnvProfiler._current = EnvProfiler._current, None
        if profiler is not None:
            profiler.analyse()


def _start_from_environment():
    try:
        options = json.loads(os.environ["MYCEL_PROFILER_OPTIONS"])
    except ValueError as error:
        raise ValueError(f"MYCEL_PROFILER_OPTIONS is no JSON: {error}") from None
    if not isinstance(options, dict) or not isinstance(options.get("start", False), bool):
        raise ValueError('MYCEL_PROFILER_OPTIONS must be {"start": true, "output_path": …}')
    if options.pop("start", False):
        EnvProfiler._current = Profiler(**options)
        atexit.register(EnvProfiler().analyse)


__all__ = ["EnvProfiler", "Profiler"]
