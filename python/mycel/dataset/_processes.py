"""Functions of users in processes of their own. Processes are spawned, never forked: threads of the
numeric libraries do not survive a fork."""

import os
import pickle
import re
import sys
import threading

from mycel import log
from mycel.dataset import config

_function = None  # of a worker process


def _begin(payload):
    global _function
    os.environ["MYCEL_NUM_THREADS"] = "1"
    _function = pickle.loads(payload)


def _call(args):
    return _function(*args)


def _main_can_be_imported():
    """Whether a new process may import the program: one without the guard would start over, and
    one that was typed in has no file."""
    path = getattr(sys.modules.get("__main__"), "__file__", None)
    if path is None:
        return False
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            return re.search(r"^if\s.*__name__", f.read(), re.MULTILINE) is not None
    except OSError:
        return False


class Pool:
    """A function called in one of several processes, which start with the first call. What it
    raises arrives here with the traceback of the process."""

    def __init__(self, function, payload, workers):
        self._payload, self._workers = payload, workers
        self._executor = None
        self._lock = threading.Lock()
        self.random = getattr(function, "random", False)

    def _started(self):
        # Imported with the first call: most programs need none of it.
        import concurrent.futures
        import multiprocessing

        with self._lock:
            if self._executor is None:
                self._executor = concurrent.futures.ProcessPoolExecutor(
                    self._workers,
                    mp_context=multiprocessing.get_context("spawn"),
                    initializer=_begin,
                    initargs=(self._payload,),
                )
            return self._executor

    def __call__(self, *args):
        import concurrent.futures
        from concurrent.futures.process import BrokenProcessPool

        try:
            made = self._started().submit(_call, args)
            seconds = 0
            while not concurrent.futures.wait([made], config.hang_seconds()).done:
                seconds += config.hang_seconds()
                log.warning(f"dataset: a worker process has given nothing for {seconds} seconds")
            return made.result()
        except BrokenProcessPool:
            raise RuntimeError(
                "dataset: a worker process died (killed, out of memory, or it could not import "
                "the program)"
            ) from None

    def close(self):
        with self._lock:
            if self._executor is not None:
                self._executor.shutdown(wait=False, cancel_futures=True)
                self._executor = None


def pooled(function, workers):
    """`function` in `workers` processes; the function itself, to run on threads, where that cannot
    be: it cannot be pickled, or the program has no `if __name__ == "__main__"` guard."""
    if workers <= 1:
        return function
    try:
        payload = pickle.dumps(function)
    except Exception as e:  # noqa: BLE001
        log.info(f"dataset: functions run on threads, they cannot be pickled for processes: {e}")
        return function
    if b"__main__" in payload and not _main_can_be_imported():
        log.info(
            'dataset: functions run on threads: the program has no `if __name__ == "__main__"` '
            "guard, so that processes cannot import it"
        )
        return function
    return Pool(function, payload, workers)
