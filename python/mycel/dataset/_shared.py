"""Messages between two processes: small things go through a pipe, arrays through shared memory.

Each side writes into blocks of its own, which the other maps. The first byte of a block says that
it is in use: the writer sets it, the reader clears it when the arrays that lie there are gone, so
that nobody copies them on the way. Blocks have no names, so that nothing is left of a process that
was killed.
"""

import itertools
import mmap
import os
import pickle
import weakref

import numpy as np

LEAST = 1 << 16  # bytes of arrays from which on a block is worth its while
_ALIGNED = 64


class _Block:
    _ids = itertools.count()

    def __init__(self, size):
        self.id = next(self._ids)
        self.file = os.memfd_create("mycel-rows")
        os.ftruncate(self.file, size)
        self.memory = mmap.mmap(self.file, size)

    def __del__(self):  # the memory goes with the last array in it
        os.close(self.file)


def _cleared(memory):
    memory[0] = 0


class Channel:
    """One end of a pipe; `pid`: the process at the other."""

    def __init__(self, connection, pid):
        self._connection, self._pid = connection, pid
        self._blocks = []  # to write into
        self._mapped = {}  # of the other side, by id
        self._shares = hasattr(os, "memfd_create") and os.path.isdir("/proc/self/fd")

    def _block(self, size):
        """A free block of that size at least; free ones that are too small make room for it."""
        for block in self._blocks:
            if not block.memory[0] and len(block.memory) >= size:
                return block
        for block in [b for b in self._blocks if not b.memory[0]]:
            self._blocks.remove(block)
        self._blocks.append(_Block(-(-size // mmap.PAGESIZE) * mmap.PAGESIZE))
        return self._blocks[-1]

    def send(self, message):
        buffers = []
        body = pickle.dumps(message, 5, buffer_callback=buffers.append)
        parts = [b.raw() for b in buffers]
        if not self._shares or sum(len(p) for p in parts) < LEAST:
            self._connection.send_bytes(pickle.dumps((body, None, [bytes(p) for p in parts])))
            return
        places, end = [], _ALIGNED
        for p in parts:
            places.append((end, end + len(p)))
            end += -(-len(p) // _ALIGNED) * _ALIGNED
        block = self._block(end)
        for (start, stop), p in zip(places, parts):
            block.memory[start:stop] = p
        block.memory[0] = 1
        here = (block.id, block.file, [b.id for b in self._blocks])
        self._connection.send_bytes(pickle.dumps((body, here, places)))

    def wait(self, seconds):
        """Whether something arrives, or the other process goes, in that time."""
        return self._connection.poll(seconds)

    def receive(self):
        """EOFError or OSError when the other process is gone."""
        body, there, places = pickle.loads(self._connection.recv_bytes())
        if there is None:
            return pickle.loads(body, buffers=places)
        block, file, living = there
        for i in [i for i in self._mapped if i not in living]:
            del self._mapped[i]
        if block not in self._mapped:
            with open(f"/proc/{self._pid}/fd/{file}", "r+b") as f:
                self._mapped[block] = mmap.mmap(f.fileno(), 0)
        memory = self._mapped[block]
        whole = np.frombuffer(memory, np.uint8)  # lives as long as an array in it
        weakref.finalize(whole, _cleared, memory).atexit = False
        view = memoryview(whole)
        return pickle.loads(body, buffers=[view[start:stop] for start, stop in places])
