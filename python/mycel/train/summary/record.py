"""SummaryRecord: what a program says of its run, in an event file. A C++ thread writes it
(src/insight/recorder.h); what is here checks and converts."""

import json
import os
import time
import weakref

import numpy as np

from mycel import _mycel
from mycel._mycel import Tensor, entry
from mycel.common.api import CompiledFunction
from mycel.nn.cell import Cell
from mycel.ops import _summary

_TENSORS = ("scalar", "image", "tensor", "histogram")
_LINEAGE = ("train_lineage", "eval_lineage", "custom_lineage_data")
_PLUGINS = (*_TENSORS, *_LINEAGE, "dataset_graph", "graph")


def check_options(owner, max_file_size, export_options):
    """TypeError or ValueError for what both SummaryRecord and SummaryCollector refuse."""
    if max_file_size is not None:
        if isinstance(max_file_size, bool) or not isinstance(max_file_size, int):
            kind = type(max_file_size).__name__
            raise TypeError(f"{owner}: 'max_file_size' must be an int or None, got {kind}")
        if max_file_size < 1:
            raise ValueError(f"{owner}: 'max_file_size' must be positive, got {max_file_size}")
    if export_options is None:
        return
    if not isinstance(export_options, dict):
        kind = type(export_options).__name__
        raise TypeError(f"{owner}: 'export_options' must be a dict or None, got {kind}")
    for key, value in export_options.items():
        if key != "tensor_format":
            raise ValueError(f"{owner}: 'export_options' knows tensor_format, got {key!r}")
        if value not in ("npy", None):
            raise ValueError(f"{owner}: 'tensor_format' must be \"npy\" or None, got {value!r}")


def compiled_program(network):
    """What was compiled last for a cell or jit function, or None."""
    if isinstance(network, Cell):
        network = (network.__dict__.get("_compiled") or {}).get("now")
    return network.latest if isinstance(network, CompiledFunction) else None


class SummaryRecord:
    """Records values to an event file in log_dir: those of add_value and of summary operators
    (ops.ScalarSummary and its like) go to the file with record(step). `mycel insight` and
    TensorBoard show it.

    network: its graph is recorded once it has been compiled. max_file_size: bytes at which
    recording ends. raise_exception: errors of writing are raised; otherwise logged.
    export_options: {"tensor_format": "npy"} also writes recorded tensors as .npy files.
    """

    @entry
    def __init__(
        self,
        log_dir,
        file_prefix="events",
        file_suffix="_MS",
        network=None,
        max_file_size=None,
        raise_exception=False,
        export_options=None,
    ):
        owner = "SummaryRecord"
        check_options(owner, max_file_size, export_options)
        for name, value in (("file_prefix", file_prefix), ("file_suffix", file_suffix)):
            if not isinstance(value, str):
                raise TypeError(f"{owner}: '{name}' must be a str, got {type(value).__name__}")
        if network is not None and not isinstance(network, Cell):
            kind = type(network).__name__
            raise TypeError(f"{owner}: 'network' must be a Cell or None, got {kind}")
        if not isinstance(raise_exception, bool):
            kind = type(raise_exception).__name__
            raise TypeError(f"{owner}: 'raise_exception' must be a bool, got {kind}")
        self._recorder = _mycel.insight.Recorder(
            os.fspath(log_dir), file_prefix, file_suffix, max_file_size or 0
        )
        self._network, self._raise = network, raise_exception
        self._folder, self._closed, self._training, self._has_graph = log_dir, False, True, False
        self._values = {}  # (plugin, name): value, until record
        self._offered = {}  # the same from summary operators
        export = (export_options or {}).get("tensor_format")
        self._export = (
            os.path.join(log_dir, f"export_{time.strftime('%Y%m%d%H%M%S')}", "tensor")
            if export
            else None
        )
        self._recorder.record("environment", _mycel.insight.environment())
        self._finish = weakref.finalize(self, _close_quietly, self._recorder)
        _summary.listeners.add(self)

    def __enter__(self):
        if self._closed:
            raise ValueError("SummaryRecord: it is closed")
        return self

    def __exit__(self, *error):
        self.close()

    @property
    def log_dir(self):
        """The path of the event file."""
        return self._recorder.path

    @entry
    def set_mode(self, mode):
        """ "train", or "eval": values of summary operators are not recorded."""
        if mode not in ("train", "eval"):
            raise ValueError(f'SummaryRecord: \'mode\' must be "train" or "eval", got {mode!r}')
        self._training = mode == "train"
        if not self._training:
            self._offered.clear()

    def offer(self, plugin, name, value):
        """Takes a value of a summary operator, to go to the file with record."""
        if self._training:
            self._offered[plugin, name] = value

    @entry
    def add_value(self, plugin, name, value):
        """Gives a value for the next record: plugin "scalar", "image" ([n, c, h, w]), "tensor" or
        "histogram" with a Tensor; "train_lineage", "eval_lineage" or "custom_lineage_data" with a
        dict; "dataset_graph" with a dataset; "graph" with a compiled Cell or function."""
        owner = "SummaryRecord.add_value"
        if plugin not in _PLUGINS:
            allowed = ", ".join(_PLUGINS)
            raise ValueError(f"{owner}: there is no plugin {plugin!r}; allowed: {allowed}")
        if not isinstance(name, str):
            raise TypeError(f"{owner}: 'name' must be a str, got {type(name).__name__}")
        if not name:
            raise ValueError(f"{owner}: 'name' must not be empty")
        if plugin in _TENSORS:
            if not isinstance(value, Tensor):
                raise TypeError(f"{owner}: 'value' must be a Tensor, got {type(value).__name__}")
            value = _mycel.insight.plain(value)
            _check_tensor(owner, plugin, value)
        elif plugin in _LINEAGE:
            if not isinstance(value, dict):
                raise TypeError(f"{owner}: 'value' must be a dict, got {type(value).__name__}")
            value = json.dumps(value, default=str)
        elif plugin == "dataset_graph":
            pipeline = getattr(value, "_pipeline", None)
            if pipeline is None:
                raise TypeError(f"{owner}: 'value' must be a dataset, got {type(value).__name__}")
            value = pipeline
        else:
            value = compiled_program(value)
            if value is None:
                raise TypeError(f"{owner}: 'value' must be a Cell or function that was compiled")
        self._values[plugin, name] = value

    @entry
    def record(self, step, train_network=None, plugin_filter=None):
        """Writes what was added or offered since the last time, as of `step`. plugin_filter: a
        function of a plug-in's name that says whether its values are written. Gives whether it
        could be done."""
        if isinstance(step, bool) or not isinstance(step, int):
            raise TypeError(
                f"SummaryRecord.record: 'step' must be an int, got {type(step).__name__}"
            )
        if train_network is not None and not isinstance(train_network, Cell):
            kind = type(train_network).__name__
            raise TypeError(f"SummaryRecord.record: 'train_network' must be a Cell, got {kind}")
        if self._closed:
            _mycel.log(3, "user", "SummaryRecord.record: it is closed, nothing is recorded")
            return False
        values = {**self._offered, **self._values}
        self._offered.clear()
        self._values.clear()
        try:
            self._record_graph(train_network)
            for (plugin, name), value in values.items():
                if plugin_filter is None or plugin_filter(plugin):
                    self._put(plugin, name, value, step)
        except (RuntimeError, OSError) as error:
            if self._raise:
                raise
            _mycel.log(3, "user", f"SummaryRecord.record: {error}")
            return False
        return True

    @entry
    def flush(self):
        """Waits until everything has been given to the system."""
        if not self._closed:
            self._guarded(self._recorder.flush)

    @entry
    def close(self):
        """Writes what there is and closes the file."""
        if self._closed:
            return
        self._closed = True
        _summary.listeners.discard(self)
        self._finish.detach()
        self._guarded(self._recorder.close)

    # -- inside ----------------------------------------

    def _guarded(self, call):
        try:
            call()
        except OSError as error:
            if self._raise:
                raise
            _mycel.log(3, "user", f"SummaryRecord: {error}")

    def _record_graph(self, train_network):
        if self._has_graph:
            return
        network = self._network if train_network is None else train_network
        program = None if network is None else compiled_program(network)
        if program is not None:
            self._recorder.graph("train_network", program)
            self._has_graph = True

    def _put(self, plugin, name, value, step):
        r = self._recorder
        if plugin == "scalar":
            r.scalar(name, float(value.asnumpy().reshape(-1)[0]), step)
        elif plugin in _TENSORS:
            getattr(r, plugin)(name, value, step)
            if plugin == "tensor" and self._export:
                os.makedirs(self._export, exist_ok=True)
                file = f"{name.replace('/', '_')}_{step}.npy"
                np.save(os.path.join(self._export, file), value.asnumpy())
        elif plugin in _LINEAGE:
            r.record(
                f"lineage/{plugin.removesuffix('_lineage').removesuffix('_lineage_data')}",
                value,
                step,
            )
        elif plugin == "dataset_graph":
            r.dataset(name, value)
        else:
            r.graph(name, value)


def _check_tensor(owner, plugin, value):
    shape = tuple(value.shape)
    if plugin == "scalar" and value.size != 1:
        raise ValueError(f"{owner}: a scalar has one element, got {value.dtype}{shape}")
    if plugin == "image" and (len(shape) != 4 or shape[1] not in (1, 3) or value.size == 0):
        raise ValueError(
            f"{owner}: an image has the shape [n, c, h, w] with c = 1 or 3, got {shape}"
        )


def _close_quietly(recorder):
    """At exit, where nobody is left to hear of an error but the log."""
    try:
        recorder.close()
    except OSError:
        pass


__all__ = ["SummaryRecord"]
