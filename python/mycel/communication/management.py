"""Which processes there are, and which of them form groups."""

import os

from mycel import _mycel
from mycel._mycel import entry

HCCL_WORLD_COMM_GROUP = "hccl_world_group"
NCCL_WORLD_COMM_GROUP = "nccl_world_group"
MCCL_WORLD_COMM_GROUP = "mccl_world_group"
_WORLDS = {
    "hccl": HCCL_WORLD_COMM_GROUP,
    "nccl": NCCL_WORLD_COMM_GROUP,
    "mccl": MCCL_WORLD_COMM_GROUP,
}
# How launchers tell a process how many there are.
_SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "RANK_SIZE", "MS_WORKER_NUM")


class GlobalComm:
    """What init chose: the group of all processes, and whether there is one yet."""

    BACKEND = "mccl"
    WORLD_COMM_GROUP = MCCL_WORLD_COMM_GROUP
    INITED = False


def _is_initialized():
    return GlobalComm.INITED


@entry
def init(backend_name=None):
    """Joins this process to the others that were started with it. It must have been started alone:
    groups of several processes are refused. backend_name: "mccl" (the default), "nccl" or "hccl",
    which differ in the name of the world group only."""
    backend = "mccl" if backend_name is None else backend_name
    if not isinstance(backend, str):
        raise TypeError(f"init: 'backend_name' must be a str, got {type(backend).__name__}")
    if backend not in _WORLDS:
        raise ValueError(
            f"init: 'backend_name' must be one of {', '.join(_WORLDS)}, got '{backend}'"
        )
    for name in _SIZES:
        if os.environ.get(name, "1") not in ("", "1"):
            raise NotImplementedError(
                f"init: this process was started with others ({name}={os.environ[name]}); only "
                "processes started alone are supported"
            )
    GlobalComm.BACKEND, GlobalComm.WORLD_COMM_GROUP = backend, _WORLDS[backend]
    GlobalComm.INITED = True


@entry
def release():
    """Leaves the other processes; init may be called again."""
    GlobalComm.INITED = False


def _group(owner, name):
    """(ranks in the world, this process's place) of a group."""
    if not GlobalComm.INITED:
        raise RuntimeError(f"{owner}: call init() first")
    if not isinstance(name, str):
        raise TypeError(f"{owner}: 'group' must be a str, got {type(name).__name__}")
    return _mycel.group(name)


def _index(owner, what, value, size):
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{owner}: '{what}' must be an int, got {type(value).__name__}")
    if not 0 <= value < size:
        raise ValueError(f"{owner}: '{what}' must be in [0, {size}), got {value}")
    return value


@entry
def get_rank(group=HCCL_WORLD_COMM_GROUP):
    """This process's place in the group."""
    return _group("get_rank", group)[1]


@entry
def get_group_size(group=HCCL_WORLD_COMM_GROUP):
    """Number of processes in the group."""
    return len(_group("get_group_size", group)[0])


@entry
def get_local_rank(group=HCCL_WORLD_COMM_GROUP):
    """This process's place among those of the group on this machine."""
    return _group("get_local_rank", group)[1]


@entry
def get_local_rank_size(group=HCCL_WORLD_COMM_GROUP):
    """Number of processes of the group on this machine."""
    return len(_group("get_local_rank_size", group)[0])


@entry
def get_world_rank_from_group_rank(group, group_rank_id):
    """The place in the world of the process with a place in the group."""
    ranks, _ = _group("get_world_rank_from_group_rank", group)
    return ranks[
        _index("get_world_rank_from_group_rank", "group_rank_id", group_rank_id, len(ranks))
    ]


@entry
def get_group_rank_from_world_rank(world_rank_id, group):
    """The place in the group of the process with a place in the world."""
    ranks, _ = _group("get_group_rank_from_world_rank", group)
    world, _ = _mycel.group(GlobalComm.WORLD_COMM_GROUP)
    _index("get_group_rank_from_world_rank", "world_rank_id", world_rank_id, len(world))
    if world_rank_id not in ranks:
        raise ValueError(
            f"get_group_rank_from_world_rank: process {world_rank_id} is not in group '{group}'"
        )
    return ranks.index(world_rank_id)


@entry
def create_group(group, rank_ids):
    """Makes a group of the processes with these places in the world."""
    if not GlobalComm.INITED:
        raise RuntimeError("create_group: call init() first")
    if not isinstance(rank_ids, list) or not rank_ids:
        raise TypeError(f"create_group: 'rank_ids' must be a list of ints, got {rank_ids!r}")
    _mycel.create_group(group, rank_ids)


@entry
def destroy_group(group):
    """Drops a group made by create_group."""
    _group("destroy_group", group)
    _mycel.destroy_group(group)


__all__ = [
    "HCCL_WORLD_COMM_GROUP",
    "MCCL_WORLD_COMM_GROUP",
    "NCCL_WORLD_COMM_GROUP",
    "GlobalComm",
    "create_group",
    "destroy_group",
    "get_group_rank_from_world_rank",
    "get_group_size",
    "get_local_rank",
    "get_local_rank_size",
    "get_rank",
    "get_world_rank_from_group_rank",
    "init",
    "release",
]
