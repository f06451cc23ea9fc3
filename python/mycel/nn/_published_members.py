"""Members of Cell that programs written for the published API ask for: marks of a cell that tools
read, and what belongs to several devices, which is refused by name."""

from mycel._mycel import entry
from mycel._refused import Refused

_SERVERS = "there are no parameter or federated servers here"
_ONE_DEVICE = "the network runs on one device"
_MEMORY = "each parameter keeps memory of its own"
_EXPORT = "use mycel.export to write the compiled network"

# name -> why calling it is refused
_REFUSED = {
    "auto_parallel_compile_and_run": _ONE_DEVICE,
    "exec_checkpoint_graph": "mycel.save_checkpoint writes parameters itself",
    "flatten_weights": _MEMORY,
    "get_func_graph_proto": _EXPORT,
    "infer_param_pipeline_stage": _ONE_DEVICE,
    "load_parameter_slice": _ONE_DEVICE,
    "place": "there are no parameter servers or schedulers to place it on",
    "remove_redundant_parameters": _ONE_DEVICE,
    "set_auto_parallel": _ONE_DEVICE,
    "set_boost": "only level O0 exists, which is what a cell without it computes",
    "set_data_parallel": _ONE_DEVICE,
    "set_jit_config": "it selects other back ends",
    "set_parallel_input_with_inputs": _ONE_DEVICE,
    "set_param_fl": _SERVERS,
    "set_param_ps": _SERVERS,
    "shard": _ONE_DEVICE,
}


class PublishedMembers:
    """The base of Cell that holds them."""

    @property
    def create_time(self):
        """When the cell was made, in nanoseconds since 1970."""
        return self.__dict__["_create_time"]

    @property
    def cell_init_args(self):
        """A text that tells with which arguments the cell was made."""
        made_with = f"{self.cls_name}[{self._auto_prefix}, {self._flags or None}]"
        return self.__dict__.get("_cell_init_args", made_with)

    @cell_init_args.setter
    def cell_init_args(self, value):
        self.__dict__["_cell_init_args"] = self._checked("cell_init_args", value, str)

    @property
    def phase(self):
        """ "train" or "predict", as set_train says, or what was assigned; "train" at first."""
        return self.__dict__.get("_phase", "train")

    @phase.setter
    def phase(self, value):
        self.__dict__["_phase"] = self._checked("phase", value, str)

    @property
    def bprop_debug(self):
        """Whether bprop stays Python code in graph mode: never."""
        return False

    @bprop_debug.setter
    def bprop_debug(self, value):
        if self._checked("bprop_debug", value, bool):
            raise NotImplementedError(
                f"{self.cls_name}: bprop_debug=True is not supported"
                "\n  bprop runs as Python code in PYNATIVE_MODE, where it can be stepped through."
            )

    @property
    def pipeline_stage(self):
        """The stage of a pipeline that the cell was given to; 0 at first."""
        return self.__dict__.get("_pipeline_stage", 0)

    @pipeline_stage.setter
    def pipeline_stage(self, value):
        if isinstance(value, bool):
            raise TypeError(f"{self.cls_name}: 'pipeline_stage' must be an int, got bool")
        if self._checked("pipeline_stage", value, int) < 0:
            raise ValueError(f"{self.cls_name}: 'pipeline_stage' must be at least 0, got {value}")
        for p in self.trainable_params():
            p.add_pipeline_stage(value)
        self.__dict__["_pipeline_stage"] = value

    @property
    def jit_config_dict(self):
        """What set_jit_config was given: nothing, as it is refused."""
        return {}

    @property
    def parallel_parameter_name_list(self):
        """Parameters that are spread over devices: none."""
        return []

    @property
    def parallel_parameter_merge_net_dict(self):
        """Networks that merge the slices of parameters: none."""
        return {}

    def _checked(self, name, value, kind):
        if not isinstance(value, kind):
            raise TypeError(
                f"{self.cls_name}: '{name}' must be of type {kind.__name__}, "
                f"got {type(value).__name__}"
            )
        return value

    def run_construct(self, cast_inputs, kwargs):
        """construct on a tuple of inputs and a dict of named ones, with hooks and casts around
        it."""
        return self._run(*cast_inputs, **kwargs)

    def generate_scope(self):
        """Gives each cell below its scope, "Default/name-Class/…"."""
        below = [("Default", self)]
        while below:
            prefix, parent = below.pop()
            for name, cell in parent.name_cells().items():
                scope = f"{prefix}/{name}-{cell.cls_name}"
                cell.__dict__["_scope"] = scope
                below.append((scope, cell))

    def get_scope(self):
        """The scope that generate_scope gave, or None."""
        return self.__dict__.get("_scope")

    def set_broadcast_flag(self, mode=True):
        """Marks the cell and those below as ones whose parameters are broadcast to new devices."""
        return self.add_flags_recursive(broadcast_flag=mode)

    @entry
    def set_comm_fusion(self, fusion_type, recurse=True):
        """Sets comm_fusion of the trainable parameters."""
        if isinstance(fusion_type, bool) or not isinstance(fusion_type, int):
            raise TypeError(
                f"set_comm_fusion: 'fusion_type' must be an int, got {type(fusion_type).__name__}"
            )
        if fusion_type < 0:
            raise ValueError(f"set_comm_fusion: 'fusion_type' must be >= 0, got {fusion_type}")
        for p in self.trainable_params(recurse):
            p.comm_fusion = fusion_type
        return self


for _name, _reason in _REFUSED.items():
    setattr(PublishedMembers, _name, Refused(f"Cell.{_name}", _reason))
