"""Cells in graph mode: the outermost cell that is called becomes one compiled function per
signature, also per state of the switches inside it (training, frozen parameters, hooks)."""

import threading

from mycel.front import here

_local = threading.local()
_epoch = 0  # counts changes of any cell, so that an unchanged network is recognised without a walk


def changed():
    """Notes that some cell has changed: its compiled forms are looked up anew."""
    global _epoch
    _epoch += 1


def epoch():
    """A number that changes whenever a cell changes."""
    return _epoch


def inside():
    """Whether a cell is being compiled on this thread: cells inside it run as they are."""
    return getattr(_local, "depth", 0) > 0


class _Inside:
    def __enter__(self):
        _local.depth = getattr(_local, "depth", 0) + 1

    def __exit__(self, *_):
        _local.depth -= 1


def eagerly():
    """A block in which this thread's cells run as they are, whatever the mode."""
    return _Inside()


def state_of(cell):
    """What beside arguments decides how the network computes; hooks are told by their numbers."""
    return tuple(
        (
            id(c),
            c.training,
            c._float_type,
            c._result_type,
            c._version,
            id(c.__dict__.get("_declared_inputs")),
            c.__dict__.get("_scope"),
            (*c._forward_pre_hooks, *c._forward_hooks, *c._backward_hooks),
            tuple((id(p), p.requires_grad) for p in c._params.values() if p is not None),
        )
        for _, c in cell.cells_and_names()
    )


def compiled_form(cell):
    """The CompiledFunction for the cell's present state."""
    from mycel.common.api import jit

    fields = cell.__dict__
    known = fields.get("_compiled")
    if known is None:
        known = fields["_compiled"] = {"epoch": -1, "forms": {}, "now": None}
    if known["epoch"] != _epoch:
        state = state_of(cell)
        if state not in known["forms"]:
            form = known["forms"][state] = jit(_Body(cell), cell.get_inputs())
            form.programs = known.setdefault("programs", form.programs)  # one log for all states
        known["now"] = known["forms"][state]
        known["epoch"] = _epoch
    return known["now"]


class _Body:
    """The function that is compiled: the cell's own call; cells inside it run as they are."""

    def __init__(self, cell):
        self.cell = cell
        self.__name__ = self.__qualname__ = cell.cls_name
        self.declares = (cell.cls_name, "set_inputs")

    def get_parameters(self):
        return self.cell.get_parameters()

    def __call__(self, *args, **kwargs):
        with _Inside():
            return self.cell._run(*args, **kwargs)


def call(cell, args, kwargs):
    """The cell's result through its compiled form."""
    if inside() or here() is not None:
        return cell._run(*args, **kwargs)
    return compiled_form(cell)(*args, **kwargs)


def prepare(cell, args, kwargs):
    """Compiles without running."""
    compiled_form(cell).graph(*args, **kwargs)
