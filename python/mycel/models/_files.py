"""Folders with config.json and safetensors files, in one piece or in shards, in and out.

What an entry of a file is called follows from the cell's attributes: only the leaves of layers
have other names here (gamma, beta, embedding_table). A model says what else there is to know:
`_tied`, entries that are others under a second name; `_dropped`, entries of older files that
nothing reads.
"""

import json
import os
import re
import stat

from mycel._mycel import entry
from mycel.common import Parameter, Tensor, dtype
from mycel.common.tensor_file import load_tensors, save_tensors
from mycel.models import _registry

_WEIGHTS = "model.safetensors"
_INDEX = "model.safetensors.index.json"
_LEAVES = {"gamma": "weight", "beta": "bias", "embedding_table": "weight"}
_DTYPES = {"float32": dtype.float32, "float16": dtype.float16, "bfloat16": dtype.bfloat16}
_SIZE = {"float64": 8, "float32": 4, "float16": 2, "bfloat16": 2}


def _beneath(folder, name):
    """The path of a regular file that lies in the folder itself; refuses everything else."""
    if not isinstance(name, str) or not name or name != os.path.basename(name) or name == "..":
        raise ValueError(f"{folder}: '{name}' is no name of a file in the folder")
    path = os.path.join(folder, name)
    mode = os.lstat(path).st_mode
    if stat.S_ISLNK(mode):
        # Caches keep files as links into a folder beside; they stay beneath the same root.
        root = os.path.realpath(os.path.join(folder, "..", ".."))
        real = os.path.realpath(path)
        in_cache = os.path.basename(os.path.dirname(os.path.abspath(folder))) == "snapshots"
        if not in_cache or os.path.commonpath([root, real]) != root:
            raise ValueError(f"{path}: it is a link that leads out of the folder")
        mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode):
        raise ValueError(f"{path}: it is no regular file")
    return path


def _read_json(folder, name):
    path = _beneath(folder, name)
    with open(path, encoding="utf-8") as file:
        try:
            value = json.load(file)
        except ValueError as error:
            raise ValueError(f"{path}: it is no JSON: {error}") from None
    if not isinstance(value, dict):
        raise ValueError(f"{path}: an object is expected, got {type(value).__name__}")
    return value


def _read_entries(folder):
    """{name: Tensor} of all shards."""
    if os.path.lexists(os.path.join(folder, _WEIGHTS)):
        return load_tensors(_beneath(folder, _WEIGHTS))
    if not os.path.lexists(os.path.join(folder, _INDEX)):
        raise FileNotFoundError(f"{folder}: there is no {_WEIGHTS} and no {_INDEX}")
    index = _read_json(folder, _INDEX).get("weight_map")
    if not isinstance(index, dict):
        raise ValueError(f"{folder}/{_INDEX}: 'weight_map' is missing")
    entries = {}
    for shard in sorted(set(index.values())):
        for name, tensor in load_tensors(_beneath(folder, shard)).items():
            if index.get(name) != shard:
                raise ValueError(f"{folder}/{shard}: the index does not name its entry '{name}'")
            entries[name] = tensor
    for name, shard in index.items():
        if name not in entries:
            raise ValueError(
                f"{folder}/{shard}: the entry '{name}' that the index names is missing"
            )
    return entries


def file_names(net):
    """{name in files: Parameter}, tied ones once."""
    names = {}
    for path, p in net.parameters_and_names():
        head, _, leaf = path.rpartition(".")
        leaf = _LEAVES.get(leaf, leaf)
        names[f"{head}.{leaf}" if head else leaf] = p
    return names


def _listed(names):
    names = sorted(names)
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return ", ".join(names[:8]) + more


def _own_name(name, net):
    """The model's name of an entry: files of the bare model lack the prefix of a model with a head,
    and the other way round; older ones write gamma and beta."""
    if name.endswith(".LayerNorm.gamma"):
        name = name[: -len("gamma")] + "weight"
    elif name.endswith(".LayerNorm.beta"):
        name = name[: -len("beta")] + "bias"
    return name


def _assign(net, entries, folder, cast):
    wanted = file_names(net)
    prefix = net._prefix
    bare = not any(n.startswith(prefix + ".") for n in wanted)
    given = {}
    for name, tensor in entries.items():
        name = _own_name(name, net)
        if prefix and bare and name.startswith(prefix + "."):
            name = name[len(prefix) + 1 :]
        elif prefix and not bare and name not in wanted and f"{prefix}.{name}" in wanted:
            name = f"{prefix}.{name}"
        if any(re.fullmatch(pattern, name) for pattern in net._dropped):
            continue
        source = net._tied.get(name)
        if source is not None and (name in net._same or net._ties()):
            # It is the other under a second name: read when the file holds it alone.
            if source not in entries and source not in given:
                given.setdefault(source, tensor)
            continue
        given[name] = tensor
    missing, unexpected = set(wanted) - set(given), set(given) - set(wanted)
    if missing:
        raise ValueError(f"{folder}: entries are missing: {_listed(missing)}")
    heads = {n for n in unexpected if bare and prefix}
    if unexpected - heads:
        raise ValueError(f"{folder}: unexpected entries: {_listed(unexpected)}")
    for name, p in wanted.items():
        if tuple(given[name].shape) != tuple(p.shape):
            raise ValueError(
                f"{folder}: '{name}' has the shape {tuple(given[name].shape)}; the config "
                f"says {tuple(p.shape)}"
            )
    paths = {id(p): path for path, p in net.parameters_and_names()}
    for name, p in wanted.items():
        value = given[name]
        if cast is not None and value.dtype != cast:
            value = value.astype(cast)
        if value.dtype == p.dtype:
            p.set_data(value)
        else:
            _replace(net, paths[id(p)], value, p.requires_grad)


def _replace(net, path, value, requires_grad):
    """Another Parameter in the place of one: a Parameter keeps its dtype."""
    *cells, leaf = path.split(".")
    for name in cells:
        net = net._cells[name]
    made = Parameter(value, name=path, requires_grad=requires_grad)
    net.insert_param_to_cell(leaf, made, check_name_contain_dot=False)


def _cast(what):
    if what is None or what == "auto":
        return None
    for name, value in _DTYPES.items():
        if what in (name, value):
            return value
    raise ValueError(f"models: dtype must be 'auto' or one of {', '.join(_DTYPES)}, got {what!r}")


@entry
def from_config(config, architecture=None):
    """A network with first values, for a dict as config.json holds it."""
    return _registry.find(config, architecture)(dict(config))


@entry
def load(folder, architecture=None, dtype="float32"):
    """The network of a folder: config.json says which, unless `architecture` names a class.

    dtype: what parameters become; "auto" keeps what the file has. ValueError naming entries that
    are missing, unexpected or of another shape; files are read beneath the folder alone.
    """
    folder = os.fspath(folder)
    config = _read_json(folder, "config.json")
    cast = _cast(dtype)
    net = _registry.find(config, architecture)(config)
    _assign(net, _read_entries(folder), folder, cast)
    net.set_train(False)
    return net


@entry
def save(net, folder, max_shard_size=5_000_000_000):
    """Writes config.json and the weights, in shards of at most max_shard_size bytes each."""
    folder = os.fspath(folder)
    if not isinstance(net, _registry.PretrainedCell):
        raise TypeError(
            f"models.save: a network of mycel.models is needed, got {type(net).__name__}"
        )
    os.makedirs(folder, exist_ok=True)
    entries = {name: _plain(p) for name, p in file_names(net).items()}
    shards, size = [{}], 0
    for name, tensor in entries.items():
        bytes_ = tensor.size * _size_of(tensor)
        if shards[-1] and size + bytes_ > max_shard_size:
            shards.append({})
            size = 0
        shards[-1][name] = tensor
        size += bytes_
    for stale in (_WEIGHTS, _INDEX):
        if os.path.lexists(os.path.join(folder, stale)):
            os.unlink(os.path.join(folder, stale))
    if len(shards) == 1:
        save_tensors(os.path.join(folder, _WEIGHTS), shards[0])
    else:
        index = {}
        for i, shard in enumerate(shards):
            file = f"model-{i + 1:05d}-of-{len(shards):05d}.safetensors"
            save_tensors(os.path.join(folder, file), shard)
            index.update(dict.fromkeys(shard, file))
        total = sum(t.size * _size_of(t) for t in entries.values())
        _write_json(
            os.path.join(folder, _INDEX), {"metadata": {"total_size": total}, "weight_map": index}
        )
    config = dict(net.config)
    config["architectures"] = [type(net).__name__]
    kinds = {str(p.dtype).lower().replace("mycel.", "") for p in entries.values()}
    if len(kinds) == 1:
        config["dtype"] = kinds.pop()
    _write_json(os.path.join(folder, "config.json"), config)


def _size_of(tensor):
    return tensor.itemsize


def _plain(p):
    return p.value() if isinstance(p, Parameter) else Tensor(p)


def _write_json(path, value):
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(value, file, indent=2, sort_keys=True)
        file.write("\n")
    os.replace(path + ".new", path)
