"""Settings that pipelines made afterwards follow: seed, threads, rows made ahead."""

import json
import os

import numpy as np

from mycel import _mycel
from mycel.dataset import _arguments as arguments

__all__ = [
    "get_auto_num_workers", "get_autotune_interval", "get_callback_timeout",
    "get_enable_autotune", "get_enable_shared_mem", "get_enable_watchdog",
    "get_monitor_sampling_interval", "get_multiprocessing_timeout_interval",
    "get_num_parallel_workers", "get_numa_enable", "get_prefetch_memory", "get_prefetch_size",
    "get_seed", "load", "set_auto_num_workers", "set_autotune_interval", "set_callback_timeout",
    "set_enable_autotune", "set_enable_shared_mem", "set_enable_watchdog",
    "set_monitor_sampling_interval", "set_multiprocessing_timeout_interval",
    "set_num_parallel_workers", "set_numa_enable", "set_prefetch_memory", "set_prefetch_size",
    "set_seed",
]  # fmt: skip

_INT32_MAX = 2**31 - 1
_settings = {
    "seed": None,
    "num_parallel_workers": None,
    "prefetch_size": None,
    "prefetch_memory": 1024,
    "auto_num_workers": False,
    "autotune": False,
    "autotune_interval": 0,
    "autotune_prefix": "",
    "callback_timeout": 60,
    "monitor_sampling_interval": 1000,
    "multiprocessing_timeout_interval": 300,
    "enable_shared_mem": True,
    "enable_watchdog": True,
    "numa_enable": False,
}


def set_seed(seed):
    """The seed of shuffles, samplers and random transforms that are made afterwards; also seeds
    Python's and NumPy's generators, which functions of users draw from."""
    import random

    value = arguments.count(seed, "config.set_seed: 'seed'", 0)
    if value > 2**32 - 1:
        raise ValueError(f"config.set_seed: 'seed' must be below 2**32, got {value}")
    _settings["seed"] = value
    random.seed(value)
    np.random.seed(value)


def get_seed():
    """The seed set here; else that of mycel.set_seed, else 5489, the published default."""
    from mycel import get_seed as seed_of_all

    if _settings["seed"] is not None:
        return _settings["seed"]
    seed = seed_of_all()
    return 5489 if seed is None else seed


def current_seed():
    """As get_seed, but 0 when none was set."""
    from mycel import get_seed as seed_of_all

    return _settings["seed"] if _settings["seed"] is not None else seed_of_all() or 0


def set_num_parallel_workers(num):
    """Threads that make rows where an operator names none."""
    _settings["num_parallel_workers"] = arguments.count(
        num, "config.set_num_parallel_workers: 'num'"
    )


def get_num_parallel_workers():
    """Threads that make rows where an operator names none; without a setting as many as the
    machine has cores, started when they are worth it."""
    return _settings["num_parallel_workers"] or os.cpu_count()


def asked_workers():
    """What set_num_parallel_workers was given; 0: the reader decides while it runs."""
    return 0 if _settings["auto_num_workers"] else _settings["num_parallel_workers"] or 0


def _to_readers():
    """What iterators and Model.train follow from now on."""
    _mycel.data.set_reader_settings(
        _settings["prefetch_size"] or 0,
        _settings["prefetch_memory"] << 20,
        _settings["autotune"],
        _settings["autotune_interval"],
        _settings["autotune_prefix"],
    )


def set_prefetch_size(size):
    """How many rows (batches) are made ahead at most; with set_enable_autotune at first."""
    _settings["prefetch_size"] = arguments.count(size, "config.set_prefetch_size: 'size'")
    _to_readers()


def set_prefetch_memory(megabytes):
    """Memory in MB for rows that are made ahead of each iterator or training, 1024 by default:
    fewer of them are made where they are large, though one always may be."""
    what = "config.set_prefetch_memory: 'megabytes'"
    _settings["prefetch_memory"] = arguments.count(megabytes, what)
    _to_readers()


def get_prefetch_memory():
    """MB for rows that are made ahead."""
    return _settings["prefetch_memory"]


def get_prefetch_size():
    """How many rows are made ahead at most; 16 without a setting, the published default (the
    reader then keeps twice the workers and two)."""
    return _settings["prefetch_size"] or 16


def _functions(name, set_it, doc):
    """set_<name> with a docstring, and get_<name>."""

    def get_it():
        return _settings[name]

    set_it.__name__, get_it.__name__ = f"set_{name}", f"get_{name}"
    set_it.__doc__, get_it.__doc__ = doc, f"What set_{name} was given, or the published default."
    return set_it, get_it


def _switch(name, doc):
    def set_it(enable):
        _settings[name] = arguments.flag(enable, f"config.set_{name}: 'enable'")

    return _functions(name, set_it, doc)


def _number(name, doc, least=1):
    def set_it(value):
        value = arguments.count(value, f"config.set_{name}: the value", least)
        if value > _INT32_MAX:
            raise ValueError(f"config.set_{name}: the value must be below 2**31, got {value}")
        _settings[name] = value

    return _functions(name, set_it, doc)


set_auto_num_workers, get_auto_num_workers = _switch(
    "auto_num_workers",
    "True: the reader chooses the number of threads while it runs, whatever "
    "set_num_parallel_workers says.",
)
set_multiprocessing_timeout_interval, get_multiprocessing_timeout_interval = _number(
    "multiprocessing_timeout_interval",
    "Seconds after which a worker process that gives nothing is named in a warning, each time they "
    "have passed.",
)
set_callback_timeout, get_callback_timeout = _number(
    "callback_timeout",
    "Seconds that a row of sync_wait waits for sync_update on another thread. A WaitedDSCallback "
    "waits for nothing: its hooks run on the thread that trains.",
)

# Settings of published programs that change nothing here; each says why.
set_enable_shared_mem, get_enable_shared_mem = _switch(
    "enable_shared_mem",
    "Without effect: arrays travel between processes through pipes, and most functions run on "
    "threads, which share memory.",
)
set_enable_watchdog, get_enable_watchdog = _switch(
    "enable_watchdog",
    "Without effect: a worker process that died is always an error at its row; for one that hangs "
    "see set_multiprocessing_timeout_interval.",
)
set_monitor_sampling_interval, get_monitor_sampling_interval = _number(
    "monitor_sampling_interval",
    "Without effect: describe() and stats() count rows and times as they come.",
)


def hang_seconds():
    return _settings["multiprocessing_timeout_interval"]


def set_enable_autotune(enable, filepath_prefix=None):
    """True: iterators and trainings find their settings while they read: threads, up to the number
    of cores (as set_auto_num_workers), and rows made ahead, beginning with set_prefetch_size and
    within set_prefetch_memory: more where rows are waited for although threads had stood still,
    fewer where they lie unused. All operators of a pipeline share these threads, so that each gets
    what its share of the work is. filepath_prefix: what was found is written to
    <filepath_prefix>_<n>.json when the n-th of them ends, for config.load."""
    _settings["autotune"] = arguments.flag(enable, "config.set_enable_autotune: 'enable'")
    if filepath_prefix is not None and (
        not isinstance(filepath_prefix, str) or not filepath_prefix or filepath_prefix[-1] == "/"
    ):
        raise TypeError(
            "config.set_enable_autotune: 'filepath_prefix' must be the begin of a file's path, got "
            f"{filepath_prefix!r}"
        )
    folder = os.path.dirname(filepath_prefix or "") or "."
    if not os.access(folder, os.W_OK):
        raise ValueError(f"config.set_enable_autotune: nothing can be written into '{folder}'")
    _settings["autotune_prefix"] = filepath_prefix if enable and filepath_prefix else ""
    _settings["auto_num_workers"] = _settings["autotune"]
    _to_readers()


def set_autotune_interval(interval):
    """Rows (batches) between two decisions of set_enable_autotune; 0: 32."""
    value = arguments.count(interval, "config.set_autotune_interval: the value", 0)
    if value > _INT32_MAX:
        raise ValueError(
            f"config.set_autotune_interval: the value must be below 2**31, got {value}"
        )
    _settings["autotune_interval"] = value
    _to_readers()


def get_autotune_interval():
    """What set_autotune_interval was given, or the published default."""
    return _settings["autotune_interval"]


def get_enable_autotune():
    """Whether set_enable_autotune switched tuning on."""
    return _settings["autotune"]


def set_numa_enable(numa_enable):
    """True is refused: threads are not bound to memory nodes."""
    if arguments.flag(numa_enable, "config.set_numa_enable: 'numa_enable'"):
        raise NotImplementedError(
            "config.set_numa_enable: binding to memory nodes is not supported"
        )


def get_numa_enable():
    """Always False."""
    return False


def load(file):
    """Settings from a JSON file, as {"seed": 7, "numParallelWorkers": 4, …} in the published
    spelling."""
    setters = {
        "seed": set_seed,
        "numParallelWorkers": set_num_parallel_workers,
        "prefetchSize": set_prefetch_size,
        "monitorSamplingInterval": set_monitor_sampling_interval,
        "callbackTimeout": set_callback_timeout,
    }
    try:
        with open(file, encoding="utf-8") as f:
            values = json.load(f)
    except (OSError, ValueError) as e:
        raise RuntimeError(f"config.load: {file} cannot be read as JSON: {e}") from None
    for name, value in values.items():
        if name in setters:
            setters[name](value)
