"""Time of one eager 4x4 addition from Python, with the ratio to every other library that can be
imported.

Usage: python bench/eager_add.py [repeats]
All libraries run alternately in one process; the figure is the fastest of the repeats.
"""

import importlib
import sys
import timeit

LOOPS = 20000


def candidates():
    """Name and a function of no arguments that adds, for each library at hand."""
    import numpy as np

    a = np.ones((4, 4), np.float32)
    b = np.full((4, 4), 2, np.float32)
    makers = {
        "mycel": lambda m: (m.Tensor(a), m.Tensor(b)),
        "numpy": lambda m: (a, b),
        "torch": lambda m: (m.from_numpy(a), m.from_numpy(b)),
    }
    for name, make in makers.items():
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        yield name, make(module)


def main() -> None:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    timers = {
        name: timeit.Timer("x + y", globals={"x": x, "y": y}) for name, (x, y) in candidates()
    }
    best = dict.fromkeys(timers, float("inf"))
    for timer in timers.values():
        timer.timeit(LOOPS)
    for _ in range(repeats):
        for name, timer in timers.items():
            best[name] = min(best[name], timer.timeit(LOOPS) / LOOPS * 1e9)
    for name, ns in best.items():
        print(f"{name:8s} {ns:8.1f} ns   {ns / best['mycel']:.2f} x mycel")


if __name__ == "__main__":
    main()
