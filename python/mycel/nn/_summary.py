"""Cell.summary: a table of layers with shapes, parameters and floating-point operations.

The network runs once, eagerly, on a tape: the operations that ran are counted from their records
(`src/ir/flops.h`), and each call of a cell counts those between its beginning and its end."""

import functools
import threading

from mycel import _mycel
from mycel.nn import _compile
from mycel.ops._transforms import flatten, unflatten


class Row:
    """One cell: path, class, output types of its first call, numbers of its parameters without the
    children's, FLOPs of all its calls with the children's, and how often it was called."""

    def __init__(self, path, cell, seen):
        self.path, self.cls_name = path, cell.cls_name
        self.depth = path.count(".") + 1 if path else 0
        self.outputs, self.flops, self.calls = (), 0, 0
        own = [p for p in cell._params.values() if p is not None and id(p) not in seen]
        seen.update(map(id, own))
        self.trainable = sum(p.size for p in own if p.requires_grad)
        self.fixed = sum(p.size for p in own if not p.requires_grad)
        self.bytes = sum(p.nbytes for p in own)

    @property
    def parameters(self):
        """Numbers in the cell's own parameters; those shared with a cell above count there."""
        return self.trainable + self.fixed

    @property
    def output_shape(self):
        """The output's shape; a tuple of shapes where there are several; None when not called."""
        shapes = tuple(shape for _, shape in self.outputs)
        return None if not self.calls else shapes[0] if len(shapes) == 1 else shapes


class Summary:
    """What Cell.summary gives: `rows`, totals, and the table as its text.

    uncounted: how often each op ran that moves data or whose record tells no number of operations.
    """

    def __init__(self, rows, uncounted):
        self.rows, self.uncounted = rows, uncounted
        self.flops = rows[0].flops
        self.trainable = sum(r.trainable for r in rows)
        self.fixed = sum(r.fixed for r in rows)
        self.bytes = sum(r.bytes for r in rows)

    @property
    def parameters(self):
        """Numbers in all parameters, each once."""
        return self.trainable + self.fixed

    def __getitem__(self, path):
        for row in self.rows:
            if row.path == path:
                return row
        raise KeyError(f"summary: there is no layer '{path}'")

    def __str__(self):
        cells = [("layer", "class", "output", "parameters", "FLOPs", "calls")]
        for r in self.rows:
            label = "  " * r.depth + (r.path.rpartition(".")[2] or r.cls_name)
            shapes = ", ".join(map(str, (shape for _, shape in r.outputs)))
            fixed = f" ({r.fixed:,} fixed)" if r.fixed else ""
            cells.append(
                (
                    label,
                    r.cls_name,
                    shapes if r.calls else "not called",
                    f"{r.parameters:,}{fixed}",
                    f"{r.flops:,}",
                    str(r.calls),
                )
            )
        widths = [max(map(len, column)) for column in zip(*cells)]
        lines = []
        for row in cells:
            left = [c.ljust(w) for c, w in zip(row[:3], widths)]
            right = [c.rjust(w) for c, w in zip(row[3:], widths[3:])]
            lines.append("  ".join(left + right).rstrip())
        lines.insert(1, "-" * max(map(len, lines)))
        lines += [
            lines[1],
            f"parameters: {self.parameters:,} ({self.trainable:,} trainable, "
            f"{self.fixed:,} fixed), {_size(self.bytes)}",
            f"FLOPs: {self.flops:,}",
        ]
        return "\n".join(lines)

    __repr__ = __str__


def _size(n):
    for unit in ("bytes", "KiB", "MiB"):
        if n < 1024:
            return f"{n:,} {unit}" if unit == "bytes" else f"{n:,.1f} {unit}"
        n /= 1024
    return f"{n:,.1f} GiB"


def summarize(net, args, kwargs):
    """The Summary of one call of the network; parameters and the random state stay as they are."""
    paths = list(net.cells_and_names())
    tensors = []
    key = flatten((args, kwargs), tensors)
    parameters = list(net.get_parameters())
    before = [p.value() for p in parameters]
    random = _mycel.random_state()
    tape = _mycel.Tape()
    try:
        watched = iter([tape.watch(t) for t in tensors])
        for p, value in zip(parameters, before):
            p._assign(tape.watch(value), False)
        given, named = unflatten(key, watched)
        with _Telling(tape), _compile.eagerly():
            net._run(*given, **named)
    finally:
        tape.close()
        for p, value in zip(parameters, before):
            p._assign(value, False)
        _mycel.set_random_state(*random)
    return _tabulate(paths, tape)


class _Telling:
    """While it lasts, cells that run on this thread tell the tape."""

    def __init__(self, tape):
        self._tape, self._thread = tape, threading.get_ident()

    def __enter__(self):
        from mycel.nn.cell import Cell

        plain, tape, thread = Cell._run, self._tape, self._thread
        self._plain = plain

        @functools.wraps(plain)
        def told(cell, *args, **kwargs):
            if threading.get_ident() != thread:
                return plain(cell, *args, **kwargs)
            tape.enter(id(cell))
            out = plain(cell, *args, **kwargs)
            results = []
            flatten(out, results)
            tape.leave(id(cell), results)
            return out

        Cell._run = told

    def __exit__(self, *_):
        from mycel.nn.cell import Cell

        Cell._run = self._plain


def _tabulate(paths, tape):
    seen, rows, known = set(), [], {}
    for path, cell in paths:
        row = Row(path, cell, seen)
        rows.append(row)
        known[id(cell)] = row
        layer = cell.__dict__.get("_layer")
        if layer is not None:
            known[layer.address] = row
    ops = tape.ops()
    total = [0]  # FLOPs of the ops before each place
    uncounted = {}
    for op in ops:
        count = 0 if op is None else op[1]
        if op is not None and not count:
            uncounted[op[0]] = uncounted.get(op[0], 0) + 1
        total.append(total[-1] + (count or 0))
    running = []
    for cell, entered, position, results in tape.events():
        row = known.get(cell)
        if entered:
            # A cell may be told twice: as Python's and as the C++ layer that it holds.
            running.append((row, position, any(r is row for r, _, _ in running)))
            continue
        row, begun, inside = running.pop()
        if row is None or inside:
            continue
        if not row.calls:
            row.outputs = tuple(results)
        row.calls += 1
        row.flops += total[position] - total[begun]
    return Summary(rows, uncounted)


__all__ = ["Row", "Summary"]
