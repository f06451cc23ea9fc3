"""The operations of map: runs of C++ transforms, and runs of Python functions between them."""

from mycel.dataset._processes import pooled


def _in_python(operation):
    """Whether an operation must be called from Python."""
    return not hasattr(operation, "_transform") or operation._transform is None


class Chain:
    """Python functions one after the other, on the values of a row."""

    def __init__(self, functions):
        self.functions = functions

    @property
    def random(self):
        return any(getattr(f, "random", False) is True for f in self.functions)

    def __call__(self, *values):
        for f in self.functions:
            made = f(*values)
            values = made if isinstance(made, tuple) else (made,)
        return values


def as_steps(operations, python_multiprocessing=False, workers=0):
    """Operations as the C++ map takes them. Behind one that gives an image of PIL, all run in
    Python until one gives an array again."""
    listed = list(operations) if isinstance(operations, (list, tuple)) else [operations]
    if not listed or not all(callable(f) for f in listed):
        raise TypeError("map: 'operations' must be a function or a list of functions")
    steps, run, pil = [], [], False

    def close():
        if run:
            chain = Chain(list(run))
            steps.append(pooled(chain, workers) if python_multiprocessing else chain)
            run.clear()

    for f in listed:
        pil = (pil or getattr(f, "gives_pil", False)) and not getattr(f, "ends_pil", False)
        if pil or _in_python(f):
            run.append(f)
            continue
        close()
        steps.append(f)
    close()
    return steps
