"""Cells that hold cells: one after the other, or as a list."""

from collections import OrderedDict

from mycel._mycel import Tensor, entry
from mycel.nn import _compile
from mycel.nn.cell import Cell


class _Sequence(Cell):
    """Children by number: what SequentialCell and CellList share."""

    def _children(self):
        return list(self._cells.values())

    def _place(self, index):
        if isinstance(index, Tensor) and index.ndim == 0 and not index.is_floating_point():
            index = int(index)  # compiled code chooses by one, too
        if isinstance(index, bool) or not isinstance(index, int):
            raise TypeError(f"{self.cls_name}: an index must be an int or a slice, got {index!r}")
        if not -len(self) <= index < len(self):
            raise IndexError(
                f"{self.cls_name}: index {index} is out of range, there are {len(self)} cells"
            )
        return index % len(self)

    def _check(self, cell):
        if not isinstance(cell, Cell):
            raise TypeError(f"{self.cls_name}: a Cell was expected, got {type(cell).__name__}")

    def _renumber(self, cells):
        """Makes `cells` the children, named by their places."""
        for name in list(self._cells):
            self.__dict__.pop(name, None)
        self._cells.clear()
        for i, cell in enumerate(cells):
            self._insert_child(str(i), cell)
        _compile.changed()

    def __len__(self):
        return len(self._cells)

    def __iter__(self):
        return iter(self._children())

    def __bool__(self):
        return len(self._cells) != 0

    @entry
    def __setitem__(self, index, cell):
        self._check(cell)
        self._insert_child(list(self._cells)[self._place(index)], cell)

    @entry
    def __delitem__(self, index):
        cells = self._children()
        if isinstance(index, slice):
            del cells[index]
        else:
            del cells[self._place(index)]
        self._renumber(cells)

    def set_grad(self, requires_grad=True):
        self.requires_grad = requires_grad
        for cell in self._cells.values():
            cell.set_grad(requires_grad)
        return self


class SequentialCell(_Sequence):
    """Cells one after the other, each given the result of the one before.

    args: cells, or one list of cells, or one OrderedDict from name to cell.
    """

    @entry
    def __init__(self, *args):
        super().__init__()
        if len(args) == 1 and isinstance(args[0], (list, tuple)):
            args = args[0]
        if len(args) == 1 and isinstance(args[0], (OrderedDict, dict)):
            for name, cell in args[0].items():
                self._check(cell)
                self._insert_child(name, cell)
            return
        for i, cell in enumerate(args):
            self._check(cell)
            self._insert_child(str(i), cell)

    @entry
    def __getitem__(self, index):
        if isinstance(index, slice):
            part = type(self).__new__(type(self))
            SequentialCell.__init__(part)
            part.__dict__["_auto_prefix"] = False  # the cells keep their names in this network
            for name, cell in list(self._cells.items())[index]:
                part._cells[name] = part.__dict__[name] = cell
            return part
        return self._children()[self._place(index)]

    @entry
    def append(self, cell):
        """Adds a cell at the end."""
        self._check(cell)
        self._insert_child(str(len(self)), cell)
        return self

    @entry
    def extend(self, cells):
        """Adds cells at the end."""
        for cell in cells:
            self.append(cell)
        return self

    @entry
    def insert(self, index, cell):
        """Adds a cell before the place `index`."""
        self._check(cell)
        cells = self._children()
        cells.insert(index, cell)
        self._renumber(cells)
        return self

    def construct(self, input_data):
        for cell in self._cells.values():
            input_data = cell(input_data)
        return input_data


class CellList(_Sequence):
    """A list of cells that a network calls as it likes.

    args: cells, or one list of cells. auto_prefix (keyword): parameters are named by their place.
    """

    @entry
    def __init__(self, *args, **kwargs):
        auto_prefix = kwargs.pop("auto_prefix", True)
        if kwargs:
            raise TypeError(f"CellList: there is no argument '{next(iter(kwargs))}'")
        super().__init__(auto_prefix)
        if len(args) == 1 and isinstance(args[0], (list, tuple, CellList)):
            args = args[0]
        self.extend(args)

    @entry
    def __getitem__(self, index):
        if isinstance(index, slice):
            part = type(self).__new__(type(self))
            CellList.__init__(part, auto_prefix=False)
            part.extend(self._children()[index])
            return part
        return self._children()[self._place(index)]

    @entry
    def append(self, cell):
        """Adds a cell at the end."""
        self._check(cell)
        self._insert_child(str(len(self)), cell)
        return self

    @entry
    def extend(self, cells):
        """Adds cells at the end."""
        if not hasattr(cells, "__iter__"):
            raise TypeError(f"CellList: a list of cells was expected, got {type(cells).__name__}")
        for cell in cells:
            self.append(cell)
        return self

    @entry
    def insert(self, index, cell):
        """Adds a cell before the place `index`."""
        self._check(cell)
        cells = self._children()
        cells.insert(index, cell)
        self._renumber(cells)

    def construct(self, *inputs):
        raise NotImplementedError("CellList: a list of cells cannot be called; call its elements")
