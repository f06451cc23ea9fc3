"""Functions of users in processes of their own. Processes are spawned, never forked: threads of the
numeric libraries do not survive a fork."""

import os
import pickle
import re
import sys
import threading
import traceback
import weakref

from mycel import log
from mycel.dataset import config
from mycel.dataset._shared import Channel

_pools = weakref.WeakSet()
_ending = False  # Python is: threads that still make rows must start no processes


class _Elsewhere(Exception):
    """The traceback in a worker process, as the cause of what arrives here."""

    def __str__(self):
        return "in a worker process:\n" + self.args[0]


def _end_with(process):
    from multiprocessing.connection import wait

    wait([process.sentinel])
    os._exit(0)


def _serve(connection, parent, payload):
    """The life of a worker process: it ends with the process that started it, also in a call."""
    import multiprocessing

    owner = multiprocessing.parent_process()
    threading.Thread(target=_end_with, args=(owner,), daemon=True).start()
    os.environ["MYCEL_NUM_THREADS"] = "1"
    channel = Channel(connection, parent)
    try:
        function = pickle.loads(payload)
        while True:
            args = channel.receive()
            try:
                answer = (True, function(*args))
            except KeyboardInterrupt:
                raise
            except BaseException as e:  # noqa: BLE001
                answer = (False, _sendable(e), traceback.format_exc())
            args = None  # the block that they lie in is free
            channel.send(answer)
            answer = None
    except (EOFError, OSError, KeyboardInterrupt):
        os._exit(0)  # nobody is there to hear of it


def _sendable(e):
    try:
        pickle.loads(pickle.dumps(e))
    except Exception:  # noqa: BLE001
        return RuntimeError(f"{type(e).__name__}: {e}")
    return e


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


class _Worker:
    def __init__(self, context, payload):
        ours, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, os.getpid(), payload))
        self._process.start()
        theirs.close()
        self._channel = Channel(ours, self._process.pid)

    def call(self, args):
        self._channel.send(args)
        seconds, every = 0, config.hang_seconds()
        while not self._channel.wait(every):
            seconds += every
            log.warning(f"dataset: a worker process has given nothing for {seconds} seconds")
        return self._channel.receive()

    def end(self):
        self._process.terminate()


class Pool:
    """A function called in one of several processes, which start with the first call. What it
    raises arrives here with the traceback of the process. From many threads at once."""

    def __init__(self, function, payload, workers):
        self._payload, self._count = payload, workers
        self._workers, self._free = [], None
        self._owner = os.getpid()
        self._lock = threading.Lock()
        self.random = getattr(function, "random", False)
        _pools.add(self)

    def _started(self):
        """The queue of workers that have nothing to do."""
        # Imported with the first call: most programs need none of it.
        import atexit
        import multiprocessing
        import queue

        if os.getpid() != self._owner:
            raise RuntimeError(
                "dataset: this process was forked; the worker processes belong to its parent"
                "\n  Make the dataset in the process that reads it."
            )
        with self._lock:
            if _ending:
                raise RuntimeError("dataset: the program is ending")
            if not self._workers:
                context = multiprocessing.get_context("spawn")
                self._free = queue.SimpleQueue()
                self._workers = [_Worker(context, self._payload) for _ in range(self._count)]
                for worker in self._workers:
                    self._free.put(worker)
                # After the import of multiprocessing, whose own hook waits for processes.
                atexit.unregister(_end)
                atexit.register(_end)
            return self._free

    def __call__(self, *args):
        free = self._started()
        worker = free.get()
        try:
            answer = worker.call(args)
        except (EOFError, OSError):
            raise RuntimeError(
                "dataset: a worker process died (killed, out of memory, or it could not import "
                "the program)"
            ) from None
        except BaseException:  # interrupted: an answer may come that nobody waits for
            self.close()
            raise
        finally:
            free.put(worker)
        if answer[0]:
            return answer[1]
        _, error, text = answer
        raise error from _Elsewhere(text)

    def close(self):
        """Ends the processes, whatever they do; calls that wait for them raise. The next call
        starts new ones."""
        with self._lock:
            workers, self._workers = self._workers, []
        if os.getpid() == self._owner:
            for worker in workers:
                worker.end()

    def __del__(self):
        self.close()


def close_all():
    """Ends all worker processes: before Python goes, and when it is interrupted while it waits for
    rows."""
    for pool in list(_pools):
        pool.close()


def _end():
    global _ending
    _ending = True
    close_all()


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
