"""vmap: a function of one example as a function of a batch. The function is read as graph mode
reads it, once for one example, and the graph is batched op by op; `if`, `while` and `for` on
tensors may go another way for every example."""

from mycel import _mycel
from mycel._mycel import Tensor, entry
from mycel.ops._transforms import _name_of, flatten, interpreted, unflatten


def _refuse(text, hint=""):
    return RuntimeError(f"vmap: {text}" + (f"\n  {hint}" if hint else ""))


def _check_axes(axes, what):
    if isinstance(axes, (tuple, list)):
        for a in axes:
            _check_axes(a, what)
    elif axes is not None and (isinstance(axes, bool) or not isinstance(axes, int)):
        raise _refuse(f"'{what}' must hold ints and None, got {axes!r}")


def _is_none(axes):
    return all(map(_is_none, axes)) if isinstance(axes, (tuple, list)) else axes is None


def _leaf_axes(key, axes, where, out):
    """The axis of every tensor that `flatten` found behind `key`, appended to `out`."""
    if key is Tensor:
        if isinstance(axes, (tuple, list)):
            raise _refuse(f"{where} is a tensor, but {axes!r} is given for its axis")
        out.append(axes)
        return
    kind, content = key
    if kind is None:
        if content is not None and not _is_none(axes):
            raise _refuse(
                f"{where} is {type(content).__name__}; only tensors have an axis to map",
                "Give None as its axis.",
            )
        return
    items = [item for _, item in content] if kind is dict else content
    if isinstance(axes, (tuple, list)):
        if len(axes) != len(items):
            raise _refuse(f"{where} has {len(items)} items, but {len(axes)} axes are given: {axes}")
    else:
        axes = [axes] * len(items)
    for i, (item, axis) in enumerate(zip(items, axes)):
        _leaf_axes(item, axis, f"item {i} of {where}", out)


def _tensors_of(value):
    """Numbers as tensors, so that results of all kinds have a place for the examples."""
    if isinstance(value, (bool, int, float, complex)):
        return Tensor(value)
    if isinstance(value, (tuple, list)):
        items = [_tensors_of(v) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        return {k: _tensors_of(v) for k, v in value.items()}
    return value


class _Mapping:
    """One call of a mapped function, inside of a function that is being compiled."""

    def __init__(self, fn, in_axes, out_axes, args):
        from mycel import front

        self.fn, self.out_axes = fn, out_axes
        self.compiling = front.here()
        self.tensors, self.axes = [], []
        self.key = flatten(args, self.tensors)
        if isinstance(in_axes, (tuple, list)) and len(in_axes) != len(args):
            raise _refuse(
                f"in_axes has {len(in_axes)} entries, {_name_of(fn)} is given {len(args)} arguments"
            )
        for i, key in enumerate(self.key[1]):
            axis = in_axes[i] if isinstance(in_axes, (tuple, list)) else in_axes
            _leaf_axes(key, axis, f"argument {i}", self.axes)
        self.count = len(self.tensors)

    def run(self):
        mapped = _mycel.map_examples(self._example, self.tensors, self.axes)
        self._apply_changes(mapped)
        axes = []
        self._result_axes(axes)
        placed = [mapped.placed(i, axis) for i, axis in enumerate(axes)]
        return unflatten(self.result, iter(placed))

    def _result_axes(self, out):
        axes = self.out_axes
        if isinstance(axes, (tuple, list)) and self.result is Tensor and len(axes) == 1:
            axes = axes[0]
        _leaf_axes(self.result, axes, "the result", out)

    def _example(self, tensors):
        """The function on one example: its results, then the tensors that it changed."""
        from mycel.front.program import _adopt

        compiling = self.compiling
        journal = compiling.enter()
        before = _mycel.ParameterValues()
        try:
            args = unflatten(self.key, iter(tensors[: self.count]))
            _adopt(compiling, args)
            fn, since = self._prepare(tensors[self.count :])
            result = _tensors_of(interpreted(fn)(*args))
            out = []
            self.result = flatten(result, out)
            self.results = len(out)
            if not out:
                raise TypeError(
                    f"vmap: {_name_of(fn)} must return a tensor, got {type(result).__name__}"
                )
            out = [_mycel.raw(t) for t in out]
            self._note_changes(journal, since or before, out)
        finally:
            before.take_back()
            journal.roll_back()
            compiling.leave()
        return out

    def _prepare(self, _):
        """The function to call, and the state of parameters before it."""
        return self.fn, None

    def _note_changes(self, journal, before, out):
        from mycel.front.places import ParameterValue, Variable
        from mycel.front.values import contains_symbolic

        self.changes = []  # (location, key of its new value)
        finals = [
            (location, value)
            for location, value in journal.finals().values()
            if not self._is_of_a_loop(location)
        ]
        finals += [(ParameterValue(p), value) for p, value in before.take_back()]
        for location, value in finals:
            token = isinstance(location, Variable) and location.scope is self.compiling.effects
            kept = token or isinstance(location, ParameterValue)
            if not kept and contains_symbolic(value):
                raise TypeError(
                    f"vmap: {_name_of(self.fn)} assigns a tensor of one example to "
                    f"{location.text()}\n  Return the tensor."
                )
            flat = []
            key = flatten(value, flat)
            out.extend(map(_mycel.raw, flat))
            self.changes.append((location, key, len(flat)))

    def _is_of_a_loop(self, location):
        """Whether a location is what a loop inside of the function keeps for itself."""
        from mycel.front.places import Variable

        if not isinstance(location, Variable) or location.scope is self.compiling.effects:
            return False
        return location.scope.parent is None and not location.scope.globals

    def _apply_changes(self, mapped):
        at = self.results
        for location, key, count in self.changes:
            self._apply(location, key, mapped, range(at, at + count))
            at += count

    def _apply(self, location, key, mapped, places):
        if any(map(mapped.batched, places)):
            raise _refuse(
                f"{_name_of(self.fn)} assigns {location.text()} a value that differs between "
                "examples",
                "Return the values, and assign what follows from all of them.",
            )
        values = iter([mapped.placed(i, None) for i in places])
        self.compiling.set(location, unflatten(key, values))


class _Ensemble(_Mapping):
    """A list of cells of one structure: example i goes through cell i, with its parameters."""

    def __init__(self, cells, in_axes, out_axes, args):
        super().__init__(cells[0], in_axes, out_axes, args)
        self.parameters = [list(cell.get_parameters()) for cell in cells]
        first = self.parameters[0]
        for k, own in enumerate(self.parameters):
            if [(p.dtype, p.shape) for p in own] != [(p.dtype, p.shape) for p in first]:
                raise _refuse(
                    f"cell {k} of the CellList has other parameters than cell 0; all must have "
                    "one structure"
                )
        stack = _mycel.op("stack")
        for same in zip(*self.parameters):
            self.tensors.append(stack(*[_mycel.raw(p) for p in same], axis=0))
            self.axes.append(0)
        if not first and all(axis is None for axis in self.axes):
            raise _refuse("no argument is mapped, and the cells of the CellList have no parameters")

    def _prepare(self, values):
        for parameter, value in zip(self.parameters[0], values):
            _mycel.raw(parameter)  # the compiler knows its value before this
            _mycel.set_raw(parameter, value)
        return self.fn, _mycel.ParameterValues()

    def _apply(self, location, key, mapped, places):
        from mycel.front.places import ParameterValue

        own = [i for i, p in enumerate(self.parameters[0]) if p is getattr(location, "object", 0)]
        if not own or not isinstance(location, ParameterValue):
            return super()._apply(location, key, mapped, places)
        values = _mycel.op("unstack")(mapped.placed(places[0], 0), 0)
        for parameters, value in zip(self.parameters, values):
            self.compiling.set(ParameterValue(parameters[own[0]]), value)


@entry
def vmap(fn, in_axes=0, out_axes=0):
    """A function that maps `fn` over examples: vmap(fn)(x)[i] is fn(x[i]), computed for all i at
    once.

    in_axes: the axis that numbers the examples, of all arguments or, as a tuple, of each; None for
    an argument that all examples share; tuples may nest as the arguments do. out_axes: where the
    examples go in the results, likewise; None for a result that is the same for all examples.
    fn may be a CellList: example i then goes through cell i.

    Ops without a rule for batches run once per example in a compiled loop. Random ops draw the same
    numbers for all examples. RuntimeError when axes do not fit.
    """
    from mycel.nn.container import CellList

    if not callable(fn) and not isinstance(fn, CellList):
        raise _refuse(f"'fn' must be a function or Cell, got {type(fn).__name__}")
    _check_axes(in_axes, "in_axes")
    _check_axes(out_axes, "out_axes")
    ensemble = isinstance(fn, CellList)
    if ensemble and not len(fn):
        raise _refuse("'fn' is a CellList without cells")
    if not ensemble and _is_none(in_axes):
        raise _refuse("in_axes is None throughout: no argument is mapped")
    if not ensemble and out_axes is None:
        raise _refuse("out_axes is None: the examples need a place in the result")

    compiled = []

    @entry
    def mapped(*args, **kwargs):
        from mycel import front
        from mycel.common.api import CompiledFunction

        if kwargs:
            raise _refuse(
                f"keyword argument '{next(iter(kwargs))}' has no axis", "Pass it by position."
            )
        if not args and not ensemble:
            raise _refuse("the mapped function is called without arguments")
        if front.here() is None:
            if not compiled:
                compiled.append(CompiledFunction(mapped))
            return compiled[0](*args)
        return (_Ensemble if ensemble else _Mapping)(fn, in_axes, out_axes, args).run()

    return mapped


__all__ = ["vmap"]
