"""Cell: the base class of networks, with parameters, child cells, hooks and custom gradients."""

import time

from mycel import _mycel
from mycel._mycel import Tensor, entry
from mycel._refused import Refused
from mycel.common import dtype as mstype
from mycel.common.parameter import Parameter, ParameterTuple
from mycel.front import construct_of
from mycel.nn import _compile, _hooks
from mycel.nn._published_members import PublishedMembers

_PLAIN = (bool, int, float, str, type(None))
_FLOATS = ("float16", "bfloat16", "float32", "float64")


class Cell(PublishedMembers):
    """A network or a part of one: subclass it, make children and parameters in `__init__`, compute
    in `construct`.

    auto_prefix: parameters of children are named by their path ("block.conv.weight").
    flags: a dict of values kept with the cell, see add_flags.
    """

    def __init__(self, auto_prefix=True, flags=None):
        fields = self.__dict__
        fields["_params"] = {}
        fields["_cells"] = {}
        fields["_auto_prefix"] = auto_prefix
        fields["_name_in_parent"] = None
        fields["_special"] = False  # hooks, casts, a custom gradient: calls take the long way
        fields["_float_type"] = None  # what it computes in, see to_float
        fields["_result_type"] = None  # what its floating-point results are cast to
        fields["_flags"] = {}
        fields["_version"] = 0  # counts changes of plain attributes
        fields["_forward_pre_hooks"] = {}
        fields["_forward_hooks"] = {}
        fields["_backward_hooks"] = {}
        fields["_recomputes"] = False
        fields["training"] = False
        fields["requires_grad"] = False
        fields["param_prefix"] = ""
        fields["cell_type"] = None
        fields["_create_time"] = time.time_ns()
        if hasattr(self, "bprop"):
            fields["_special"] = True
        if flags:
            self.add_flags(**flags)

    # -- attributes

    def __setattr__(self, name, value):
        fields = self.__dict__
        if isinstance(value, Parameter):
            _require_init(self, name)
            self.insert_param_to_cell(name, value)
        elif isinstance(value, Cell):
            _require_init(self, name)
            self._insert_child(name, value)
        elif "_params" in fields and name in fields["_params"]:
            self._set_parameter(name, value)
        elif "_cells" in fields and name in fields["_cells"]:
            if value is not None:
                raise TypeError(
                    f"{self.cls_name}: '{name}' is a child cell; a {type(value).__name__} cannot "
                    "take its place"
                )
            fields["_cells"][name] = None
            fields[name] = None
        else:
            if isinstance(value, ParameterTuple):
                self._note_tuple(value)
            # Numbers of other cells are watched when compiled code reads them.
            ours = type(self).__module__.startswith("mycel.") and isinstance(value, _PLAIN)
            if (
                ours
                and name in fields
                and (type(fields[name]), fields[name]) != (type(value), value)
            ):
                fields["_version"] += 1
                _compile.changed()
            object.__setattr__(self, name, value)

    def _set_parameter(self, name, value):
        """An assignment to an attribute that holds a parameter: None removes it, a tensor is its
        value."""
        if value is None:
            self._params[name] = None
            self.__dict__[name] = None
        elif isinstance(value, Tensor) and self._params[name] is not None:
            self._params[name].set_data(value)
        else:
            raise TypeError(
                f"{self.cls_name}: '{name}' is a Parameter; a {type(value).__name__} cannot take "
                "its place\n  Assign a Parameter, a Tensor of the same shape, or None."
            )

    def _note_tuple(self, parameters):
        for p in parameters:
            if p.name not in self._params:
                self._params[p.name] = p
                _compile.changed()

    def __delattr__(self, name):
        if name in self._params:
            del self._params[name]
        elif name in self._cells:
            del self._cells[name]
        _compile.changed()
        object.__delattr__(self, name)

    def _insert_child(self, name, child):
        fields = self.__dict__
        if name in fields["_params"]:
            del fields["_params"][name]
        if fields["_auto_prefix"]:
            child.update_parameters_name(name + ".")
        child.__dict__["_name_in_parent"] = name
        fields["_cells"][name] = child
        fields[name] = child
        _compile.changed()

    @classmethod
    def _has_member(cls, name):
        """Whether the class has a member of this name that works: refused ones are no obstacle."""
        return hasattr(cls, name) and not isinstance(getattr(cls, name), Refused)

    def insert_child_to_cell(self, child_name, child_cell):
        """Adds a child cell under a name that may be no identifier; its parameters keep their
        names."""
        if not isinstance(child_name, str) or not child_name or "." in child_name:
            raise KeyError(f"{type(self).__name__}: '{child_name}' cannot name a child cell")
        if child_name not in self._cells and (
            child_name in self.__dict__ or self._has_member(child_name)
        ):
            raise KeyError(f"{type(self).__name__}: the name '{child_name}' is taken")
        if not isinstance(child_cell, Cell) and child_cell is not None:
            raise TypeError(
                f"{type(self).__name__}: a child must be a Cell, got {type(child_cell).__name__}"
            )
        self._cells[child_name] = child_cell
        self.__dict__[child_name] = child_cell
        if child_cell is not None:
            child_cell.__dict__["_name_in_parent"] = child_name
        _compile.changed()

    def insert_param_to_cell(self, param_name, param, check_name_contain_dot=True):
        """Adds a parameter under a name; a parameter without a name of its own takes this one."""
        if not isinstance(param_name, str) or not param_name:
            raise KeyError(f"{type(self).__name__}: a parameter's name must be a str, not empty")
        if check_name_contain_dot and "." in param_name:
            raise KeyError(f"{type(self).__name__}: the name '{param_name}' must not contain a dot")
        if "_params" not in self.__dict__:
            _require_init(self, param_name)
        if hasattr(self, param_name) and param_name not in self._params:
            if param_name in self._cells or self._has_member(param_name):
                raise KeyError(f"{type(self).__name__}: the name '{param_name}' is taken")
        if not isinstance(param, Parameter) and param is not None:
            raise TypeError(
                f"{self.cls_name}: '{param_name}' must be a Parameter, got {type(param).__name__}"
            )
        if param is not None and param.name == "Parameter":
            param.name = param_name
        self._params[param_name] = param
        self.__dict__[param_name] = param
        _compile.changed()

    # -- parameters and children

    def parameters_and_names(self, name_prefix="", expand=True):
        """Pairs (path, parameter), each parameter once: own ones first, then the children's."""
        seen = set()
        cells = self.cells_and_names(name_prefix=name_prefix) if expand else [(name_prefix, self)]
        for path, cell in cells:
            for name, p in cell._params.items():
                if p is not None and id(p) not in seen:
                    seen.add(id(p))
                    yield (f"{path}.{name}" if path else name), p

    def get_parameters(self, expand=True):
        """The parameters, each once; with expand those of the children too."""
        for _, p in self.parameters_and_names(expand=expand):
            yield p

    def parameters_dict(self, recurse=True):
        """A dict from each parameter's name to it."""
        return {p.name: p for p in self.get_parameters(expand=recurse)}

    def parameters_broadcast_dict(self, recurse=True):
        """As parameters_dict, without those that each device keeps for itself; None when empty."""
        found = {p.name: p for p in self.get_parameters(recurse) if not p.layerwise_parallel}
        return found or None

    def trainable_params(self, recurse=True):
        """The parameters that require gradients, as a list."""
        return [p for p in self.get_parameters(expand=recurse) if p.requires_grad]

    def untrainable_params(self, recurse=True):
        """The parameters that require no gradients, as a list."""
        return [p for p in self.get_parameters(expand=recurse) if not p.requires_grad]

    def update_parameters_name(self, prefix="", recurse=True):
        """Names every parameter by its path with `prefix` in front."""
        if not isinstance(prefix, str):
            raise TypeError(f"update_parameters_name: 'prefix' must be a str, got {prefix!r}")
        for name, p in self.parameters_and_names(expand=recurse):
            p.name = prefix + name

    def check_names(self):
        """ValueError when two parameters have one name."""
        seen = set()
        for p in self.get_parameters():
            if p.name in seen:
                raise ValueError(
                    f"{type(self).__name__}: two parameters are named '{p.name}'"
                    "\n  Checkpoints need distinct names."
                )
            seen.add(p.name)

    def cells(self):
        """The child cells, each once."""
        return self.name_cells().values()

    def name_cells(self):
        """A dict from name to child cell, each child once."""
        seen, found = set(), {}
        for name, cell in self._cells.items():
            if cell is not None and id(cell) not in seen:
                seen.add(id(cell))
                found[name] = cell
        return found

    def cells_and_names(self, cells=None, name_prefix=""):
        """Pairs (path, cell) of this cell and all below, each once."""
        cells = cells if cells is not None else set()
        if id(self) in cells:
            return
        cells.add(id(self))
        yield name_prefix, self
        for name, cell in self._cells.items():
            if cell is not None:
                path = f"{name_prefix}.{name}" if name_prefix else name
                yield from cell.cells_and_names(cells, path)

    def update_cell_prefix(self):
        """Writes each cell's path into its param_prefix."""
        for path, cell in self.cells_and_names():
            cell.param_prefix = path

    def update_cell_type(self, cell_type):
        """Sets cell_type, a mark that tools read."""
        self.update_cell_prefix()
        self.cell_type = cell_type

    def apply(self, fn):
        """Calls fn on every cell below, then on this one; gives the cell back."""
        for cell in self.cells():
            cell.apply(fn)
        fn(self)
        return self

    @property
    def cls_name(self):
        """The name of the class."""
        return type(self).__name__

    @property
    def parameter_layout_dict(self):
        """How parameters are laid out over devices; empty until the parallel planner has run."""
        return self.__dict__.setdefault("_parameter_layout_dict", {})

    # -- modes

    @entry
    def set_train(self, mode=True):
        """Training behaviour (dropout, batch statistics) on or off, here and below."""
        if not isinstance(mode, (bool, int)):
            raise TypeError(f"set_train: 'mode' must be True or False, got {mode!r}")
        for _, cell in self.cells_and_names():
            cell.__dict__["training"] = bool(mode)
        self.__dict__["_phase"] = "train" if mode else "predict"
        _compile.changed()
        return self

    def set_grad(self, requires_grad=True):
        """Marks the network as differentiated, for code that asks; gradients need no mark here."""
        self.requires_grad = requires_grad
        return self

    @entry
    def to_float(self, dst_type):
        """Makes this cell and those below compute in float16, bfloat16 or float32: their
        floating-point inputs and Parameters are cast to it; the Parameters keep their dtype."""
        if (
            getattr(dst_type, "name", str(dst_type)) not in _FLOATS
            and str(dst_type).lower() not in _FLOATS
        ):
            raise ValueError(f"to_float: 'dst_type' must be a floating-point type, got {dst_type}")
        for _, cell in self.cells_and_names():
            cell.__dict__["_float_type"] = dst_type
            cell.__dict__["_special"] = True
            layer = cell.__dict__.get("_layer")
            if layer is not None:
                layer.to_float(dst_type)
        self.add_flags_recursive(fp16=dst_type is mstype.float16, fp32=dst_type is mstype.float32)
        _compile.changed()
        return self

    def cast_inputs(self, inputs, dst_type):
        """The inputs with floating-point tensors cast to dst_type."""
        return tuple(_hooks.cast_floats(x, dst_type) for x in inputs)

    def cast_param(self, param):
        """A parameter as construct sees it: cast when to_float asks for it."""
        kind = self._float_type
        return param if kind is None or param.dtype == kind else param.value().astype(kind)

    def auto_cast_inputs(self, inputs):
        """The inputs as construct sees them."""
        return inputs if self._float_type is None else self.cast_inputs(inputs, self._float_type)

    def add_flags(self, **flags):
        """Keeps values with the cell, as attributes too."""
        self._flags.update(flags)
        for name, value in flags.items():
            object.__setattr__(self, name, value)
        return self

    def add_flags_recursive(self, **flags):
        """add_flags here and below."""
        for _, cell in self.cells_and_names():
            cell.add_flags(**flags)
        return self

    def get_flags(self):
        """The values kept by add_flags."""
        return self._flags

    def set_inputs(self, *inputs):
        """Declares tensors without values that later inputs must match in dtype and rank. Dims may
        be unknown (None): one program then serves all their sizes."""
        self.__dict__["_declared_inputs"] = inputs
        self.__dict__["_special"] = True
        _compile.changed()

    def get_inputs(self):
        """What set_inputs declared, or None."""
        return self.__dict__.get("_declared_inputs")

    @entry
    def recompute(self, **kwargs):
        """Saves memory: results inside this cell are computed again for the backward pass.

        mp_comm_recompute, parallel_optimizer_comm_recompute: for communication; there is none here,
        so only their defaults are accepted.
        """
        for name, value in kwargs.items():
            if name not in ("mp_comm_recompute", "parallel_optimizer_comm_recompute"):
                raise TypeError(f"recompute: there is no option '{name}'")
            if value is not (name == "mp_comm_recompute"):
                raise NotImplementedError(
                    f"recompute: {name}={value} belongs to distributed networks"
                )
        self.__dict__["_recomputes"] = True
        self.__dict__["_special"] = True
        _compile.changed()

    # -- hooks

    @entry
    def register_forward_pre_hook(self, hook_fn):
        """hook_fn(cell_id, inputs) runs before construct; what it gives, unless None, replaces the
        inputs. The handle given has remove()."""
        return _hooks.register(self, "_forward_pre_hooks", hook_fn)

    @entry
    def register_forward_hook(self, hook_fn):
        """hook_fn(cell_id, inputs, output) runs after construct; what it gives, unless None,
        replaces the output. The handle given has remove()."""
        return _hooks.register(self, "_forward_hooks", hook_fn)

    @entry
    def register_backward_hook(self, hook_fn):
        """hook_fn(cell_id, grad_input, grad_output) runs in the backward pass with tuples of the
        gradients of the output (grad_input) and of the inputs (grad_output); what it gives, unless
        None, replaces the latter. The handle given has remove()."""
        return _hooks.register(self, "_backward_hooks", hook_fn)

    # -- calls

    def construct(self, *args, **kwargs):
        """What the cell computes; subclasses write it."""
        raise NotImplementedError(f"{type(self).__name__}: construct is not written")

    def _run(self, *args, **kwargs):
        try:
            if self._special:
                return _hooks.run(self, args, kwargs)
            return construct_of(self)(*args, **kwargs)
        except Exception as error:
            _hooks.note_path(error, self)
            raise

    @entry
    def __call__(self, *args, **kwargs):
        if _mycel.graph_mode():
            return _compile.call(self, args, kwargs)
        return self._run(*args, **kwargs)

    @entry
    def compile(self, *args, **kwargs):
        """Compiles the network for inputs of these types without running it."""
        _compile.prepare(self, args, kwargs)

    @entry
    def compile_and_run(self, *args, **kwargs):
        """Compiles the network if needed and runs it."""
        return _compile.call(self, args, kwargs)

    # -- text and copies

    @entry
    def summary(self, *inputs, **named):
        """Prints and gives a table of the layers: path, class, output shape, numbers of parameters,
        FLOPs, calls; totals and the memory of the parameters at the end.

        The network runs once on the inputs, eagerly in either mode; its parameters and the random
        state stay as they are. FLOPs are counted from the operations that ran: two for each
        product of a matrix product or convolution, one per element for elementwise operations,
        for elements that reductions read and for elements of pooling windows; none for casts, for
        what moves data, and for normalizations' and others' own kernels (`uncounted` of the
        result names them). A cell's FLOPs are those of all its calls, with the cells inside;
        inside jit functions a loop's body counts once.
        """
        from mycel.nn._summary import summarize

        table = summarize(self, inputs, named)
        print(table)
        return table

    def extend_repr(self):
        """What print(net) shows between the angle brackets, before the children."""
        return ""

    def __repr__(self):
        extra = self.extend_repr()
        if not any(c is not None for c in self._cells.values()):
            return f"{type(self).__name__}<{extra}>"
        lines = [extra] if extra else []
        lines += [f"({name}): {cell!r}" for name, cell in self._cells.items()]
        body = "\n".join(lines).replace("\n", "\n  ")
        return f"{type(self).__name__}<\n  {body}\n  >"

    def __getstate__(self):
        state = self.__dict__.copy()
        state.pop("_mycel_jit", None)
        state.pop("_compiled", None)
        return state

    def __setstate__(self, state):
        self.__dict__.update(state)

    def __dir__(self):
        return sorted({*super().__dir__(), *self._params, *self._cells})

    def init_parameters_data(self, auto_parallel_mode=False):
        """The parameters as a dict from each to itself: values are made when a parameter is
        created."""
        return {p: p for p in self.get_parameters()}


def _require_init(cell, name):
    if "_params" not in cell.__dict__:
        raise AttributeError(
            f"{type(cell).__name__}: cannot assign '{name}' before Cell.__init__ has run"
            "\n  Call super().__init__() first."
        )


class GraphCell(Cell):
    """A cell around a function on tensors, such as a loaded graph."""

    @entry
    def __init__(self, graph, params_init=None, obf_random_seed=None):
        super().__init__()
        if not callable(graph):
            raise TypeError(f"GraphCell: 'graph' must be callable, got {type(graph).__name__}")
        if obf_random_seed is not None:
            raise NotImplementedError("GraphCell: obfuscated graphs are not supported")
        self.graph = graph
        for name, value in (params_init or {}).items():
            p = value if isinstance(value, Parameter) else Parameter(value, name=name)
            self.insert_param_to_cell(name, p, check_name_contain_dot=False)

    def construct(self, *inputs):
        return self.graph(*inputs)
