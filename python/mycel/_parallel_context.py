"""Settings of how a network is spread over devices. There is one device: each setting here is one
that leaves nothing to spread, whatever its value."""

from mycel._mycel import entry


class ParallelMode:
    """Names of the ways to spread one network over devices."""

    STAND_ALONE = "stand_alone"
    DATA_PARALLEL = "data_parallel"
    HYBRID_PARALLEL = "hybrid_parallel"
    SEMI_AUTO_PARALLEL = "semi_auto_parallel"
    AUTO_PARALLEL = "auto_parallel"
    MODE_LIST = [STAND_ALONE, DATA_PARALLEL, HYBRID_PARALLEL, SEMI_AUTO_PARALLEL, AUTO_PARALLEL]


_SEARCHES = ("dynamic_programming", "recursive_programming", "sharding_propagation")
_FLAGS = (True, False)
# name: (default, allowed values)
_OPTIONS = {
    "device_num": (1, (1,)),
    "global_rank": (0, (0,)),
    "gradients_mean": (False, _FLAGS),
    "gradient_fp32_sync": (True, _FLAGS),
    "loss_repeated_mean": (True, _FLAGS),
    "parallel_mode": (ParallelMode.STAND_ALONE, tuple(ParallelMode.MODE_LIST)),
    "auto_parallel_search_mode": ("dynamic_programming", _SEARCHES),
    "search_mode": ("dynamic_programming", _SEARCHES),
    "parameter_broadcast": (False, _FLAGS),
    "full_batch": (False, _FLAGS),
    "dataset_strategy": ("data_parallel", ("data_parallel", "full_batch")),
    "enable_parallel_optimizer": (False, _FLAGS),
    "enable_alltoall": (False, _FLAGS),
    "pipeline_stages": (1, (1,)),
    "grad_accumulation_step": (1, (1,)),
}
_REFUSED = (
    "all_reduce_fusion_config", "comm_fusion", "communi_parallel_mode",
    "optimizer_weight_shard_size", "parallel_optimizer_config", "parallel_optimizer_threshold",
    "strategy_ckpt_config", "strategy_ckpt_load_file", "strategy_ckpt_save_file",
    "group_ckpt_save_file",
)  # fmt: skip
_values = {}


def _known(owner, name):
    if name in _REFUSED:
        raise NotImplementedError(f"{owner}: '{name}' plans messages between devices: there is one")
    if name not in _OPTIONS:
        raise ValueError(f"{owner}: unknown option '{name}'\n  Options: {', '.join(_OPTIONS)}.")


@entry
def set_auto_parallel_context(**kwargs):
    """Sets options by name; all are checked before the first is set.

    device_num: 1. global_rank: 0. parallel_mode: one of ParallelMode. gradients_mean: gradients
    are averaged over devices, not summed. pipeline_stages, grad_accumulation_step: 1."""
    for name, value in kwargs.items():
        _known("set_auto_parallel_context", name)
        allowed = _OPTIONS[name][1]
        if not any(type(a) is type(value) and a == value for a in allowed):
            raise ValueError(
                f"set_auto_parallel_context: '{name}' must be "
                f"{'' if len(allowed) == 1 else 'one of '}{', '.join(map(repr, allowed))}"
                f", got {value!r}" + ("\n  There is one device." if len(allowed) == 1 else "")
            )
    _values.update(kwargs)


@entry
def get_auto_parallel_context(attr_key):
    """The value of an option of set_auto_parallel_context."""
    _known("get_auto_parallel_context", attr_key)
    return _values.get(attr_key, _OPTIONS[attr_key][0])


@entry
def reset_auto_parallel_context():
    """All options as at the start."""
    _values.clear()


__all__ = [
    "ParallelMode",
    "get_auto_parallel_context",
    "reset_auto_parallel_context",
    "set_auto_parallel_context",
]
