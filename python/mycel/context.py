"""Settings of the process: how calls run, on what, with how many threads.

Every accepted option does something here; options that belong to hardware or services this build
does not have are refused with a text, and listed in docs/coverage.md."""

import os

from mycel import _mycel
from mycel._mycel import entry
from mycel._parallel_context import (
    ParallelMode,
    get_auto_parallel_context,
    reset_auto_parallel_context,
    set_auto_parallel_context,
)
from mycel._where import missing

GRAPH_MODE = 0
PYNATIVE_MODE = 1


def _flag(name, value):
    if not isinstance(value, bool):
        raise TypeError(f"set_context: '{name}' must be True or False, got {type(value).__name__}")
    return value


def _set_mode(value):
    if isinstance(value, bool) or value not in (GRAPH_MODE, PYNATIVE_MODE):
        raise ValueError(
            f"set_context: 'mode' must be GRAPH_MODE (0) or PYNATIVE_MODE (1), got {value!r}"
        )
    _mycel.set_graph_mode(value == GRAPH_MODE)


def _set_device_target(value):
    if value != "CPU":
        raise ValueError(
            f"set_context: 'device_target' must be 'CPU', got {value!r}"
            "\n  This build runs on CPUs; leave device_target out, or set it to 'CPU'."
        )


def _set_device_id(value):
    if value != 0 or isinstance(value, bool):
        raise ValueError(
            f"set_context: 'device_id' must be 0: there is one CPU device, got {value!r}"
        )


def _set_deterministic(value):
    if value not in ("ON", "OFF"):
        raise ValueError(f"set_context: 'deterministic' must be 'ON' or 'OFF', got {value!r}")
    _mycel.set_deterministic(value == "ON")


def _set_threads(value):
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(
            f"set_context: 'runtime_num_threads' must be an int, got {type(value).__name__}"
        )
    _mycel.set_thread_count(value)


def _set_save_graphs(value):
    if value in (True, 1, 2, 3):
        _values["save_graphs"] = value
    elif value in (False, 0):
        _values["save_graphs"] = False
    else:
        raise ValueError(f"set_context: 'save_graphs' must be a bool or 0 to 3, got {value!r}")


def _set_save_graphs_path(value):
    if not isinstance(value, str):
        raise TypeError(
            f"set_context: 'save_graphs_path' must be a str, got {type(value).__name__}"
        )
    _values["save_graphs_path"] = os.path.abspath(value)


def _set_max_call_depth(value):
    if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
        raise ValueError(f"set_context: 'max_call_depth' must be an int above 0, got {value!r}")
    _values["max_call_depth"] = value


def _set_check_bprop(value):
    _values["check_bprop"] = _flag("check_bprop", value)


_values = {
    "save_graphs": False,
    "save_graphs_path": ".",
    "max_call_depth": 1000,
    "check_bprop": False,
}

_SETTERS = {
    "mode": _set_mode,
    "device_target": _set_device_target,
    "device_id": _set_device_id,
    "deterministic": _set_deterministic,
    "runtime_num_threads": _set_threads,
    "save_graphs": _set_save_graphs,
    "save_graphs_path": _set_save_graphs_path,
    "max_call_depth": _set_max_call_depth,
    "check_bprop": _set_check_bprop,
}

_GETTERS = {
    "mode": lambda: GRAPH_MODE if _mycel.graph_mode() else PYNATIVE_MODE,
    "device_target": lambda: "CPU",
    "device_id": lambda: 0,
    "deterministic": lambda: "ON" if _mycel.deterministic() else "OFF",
    "runtime_num_threads": _mycel.thread_count,
}

# Published options of hardware, services or implementations that this build has none of.
_REFUSED = {
    "max_device_memory": "memory limits of accelerators; MYCEL_MEMORY_LIMIT limits this process",
    "mempool_block_size": "memory pools of accelerators",
    "memory_optimize_level": "the memory plan is always made",
    "enable_compile_cache": "kernels are always cached on disk",
    "compile_cache_path": "set MYCEL_CACHE instead",
    "auto_tune_mode": "tuning of Ascend kernels",
    "enable_graph_kernel": "elementwise ops are always fused",
    "graph_kernel_flags": "elementwise ops are always fused",
    "enable_reduce_precision": "dtypes are never changed unasked",
    "enable_dump": "use mycel.train.callback to look at tensors",
    "save_dump_path": "use mycel.train.callback to look at tensors",
    "enable_profiling": "use mycel.Profiler",
    "profiling_options": "use mycel.Profiler, or MYCEL_PROFILER_OPTIONS",
    "print_file_path": "ops.Print writes to standard output",
    "variable_memory_max_size": "memory limits of accelerators",
    "reserve_class_name_in_scope": "layer paths always carry the attribute names",
    "pynative_synchronize": "calls always finish before they return",
    "env_config_path": "settings come from set_context and MYCEL_* variables",
    "ascend_config": "options of Ascend devices",
    "enable_auto_mixed_precision": "cast cells with Cell.to_float",
    "inter_op_parallel_num": "use runtime_num_threads",
    "grad_for_scalar": "numbers are differentiated when wrapped in a Tensor",
    "op_timeout": "options of Ascend devices",
    "disable_format_transform": "layouts are chosen by the layout pass",
    "support_binary": "source is never read from compiled files",
    "enable_sparse": "sparse gradients are always kept sparse where the op can",
}


@entry
def set_context(**kwargs):
    """Sets options by name; all are checked before the first is set.

    mode: GRAPH_MODE (0) or PYNATIVE_MODE (1). device_target: "CPU". device_id: 0.
    runtime_num_threads: threads of parallel kernels. deterministic: "ON" or "OFF".
    save_graphs, save_graphs_path: whether and where compiled functions write their graphs.
    max_call_depth: nesting of calls while a graph is compiled. check_bprop: compare custom
    gradients' dtypes and shapes with the inputs'.
    """
    for name in kwargs:
        if name in _REFUSED:
            raise NotImplementedError(
                f"set_context: '{name}' has no meaning here: {_REFUSED[name]}"
            )
        if name not in _SETTERS:
            import difflib

            near = difflib.get_close_matches(name, [*_SETTERS, *_REFUSED], 1)
            hint = f"Did you mean '{near[0]}'?" if near else f"Options: {', '.join(_SETTERS)}."
            raise ValueError(f"set_context: unknown option '{name}'\n  {hint}")
    for name, value in kwargs.items():
        _SETTERS[name](value)


@entry
def get_context(attr_key):
    """The value of an option of set_context."""
    if attr_key in _GETTERS:
        return _GETTERS[attr_key]()
    if attr_key in _values:
        return _values[attr_key]
    raise ValueError(f"get_context: unknown option '{attr_key}'\n  Options: {', '.join(_SETTERS)}.")


def __getattr__(name):
    return missing("mycel.context", name, lambda: __all__)


__all__ = [
    "GRAPH_MODE",
    "PYNATIVE_MODE",
    "ParallelMode",
    "get_auto_parallel_context",
    "get_context",
    "reset_auto_parallel_context",
    "set_auto_parallel_context",
    "set_context",
]
