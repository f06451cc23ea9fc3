"""Settings that pipelines made afterwards follow: seed, threads, rows made ahead."""

import json
import os

import numpy as np

from mycel.dataset import _arguments as arguments

__all__ = [
    "get_auto_num_workers", "get_autotune_interval", "get_callback_timeout", "get_enable_autotune",
    "get_enable_shared_mem", "get_enable_watchdog", "get_monitor_sampling_interval",
    "get_multiprocessing_timeout_interval", "get_num_parallel_workers", "get_numa_enable",
    "get_prefetch_size", "get_seed", "load", "set_auto_num_workers", "set_autotune_interval",
    "set_callback_timeout", "set_enable_autotune", "set_enable_shared_mem", "set_enable_watchdog",
    "set_monitor_sampling_interval", "set_multiprocessing_timeout_interval",
    "set_num_parallel_workers", "set_numa_enable", "set_prefetch_size", "set_seed",
]  # fmt: skip

_INT32_MAX = 2**31 - 1
_settings = {
    "seed": None,
    "num_parallel_workers": None,
    "prefetch_size": None,
    "auto_num_workers": False,
    "autotune": False,
    "autotune_interval": 0,
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


def set_prefetch_size(size):
    """How many rows (batches) are made ahead at most."""
    _settings["prefetch_size"] = arguments.count(size, "config.set_prefetch_size: 'size'")


def get_prefetch_size():
    """How many rows are made ahead at most; 16 without a setting, the published default (the
    reader then keeps twice the workers and two)."""
    return _settings["prefetch_size"] or 16


def rows_ahead():
    return _settings["prefetch_size"] or 0


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
set_autotune_interval, get_autotune_interval = _number(
    "autotune_interval",
    "Without effect: the reader decides about a thread whenever it has to wait for a row.",
    0,
)


def hang_seconds():
    return _settings["multiprocessing_timeout_interval"]


def set_enable_autotune(enable, filepath_prefix=None):
    """True: the reader chooses threads while it runs, as set_auto_num_workers. filepath_prefix
    (a file of settings that were found) is not supported: there is nothing to save."""
    if filepath_prefix is not None:
        raise NotImplementedError(
            "config.set_enable_autotune: filepath_prefix is not supported: settings are found "
            "while reading, there is nothing to save"
        )
    _settings["autotune"] = arguments.flag(enable, "config.set_enable_autotune: 'enable'")
    _settings["auto_num_workers"] = _settings["autotune"]


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
