"""Checkpoints: parameters of networks in safetensors files that are replaced atomically."""

import os

from mycel import _mycel, _published_modules
from mycel._mycel import Tensor, entry
from mycel.common.parameter import Parameter
from mycel.nn.cell import Cell

_train = _mycel.train


class _ParameterDict(dict):
    """Parameters by name, and what else a checkpoint file says."""

    file, extra, metadata, progress = "the parameters given", (), {}, None


def _refuse_encryption(owner, key):
    if key is not None:
        raise NotImplementedError(f"{owner}: encrypted checkpoints are not supported")


def _with_suffix(name):
    name = os.fspath(name)
    return name if name.endswith(".ckpt") else name + ".ckpt"


def _entries(save_obj):
    """[(name, tensor)] of a cell, a dict or a list of {"name", "data"}."""
    if isinstance(save_obj, Cell):
        return [(p.name, p.value()) for p in save_obj.get_parameters()]
    if isinstance(save_obj, dict):
        save_obj = [{"name": n, "data": d} for n, d in save_obj.items()]
    if not isinstance(save_obj, (list, tuple)):
        raise TypeError(
            "save_checkpoint: 'save_obj' must be a Cell, a dict or a list of {'name', 'data'}, got "
            f"{type(save_obj).__name__}"
        )
    out = []
    for item in save_obj:
        if not isinstance(item, dict) or set(item) != {"name", "data"}:
            raise ValueError(
                f"save_checkpoint: an entry needs exactly 'name' and 'data', got {item!r}"
            )
        data = item["data"]
        if isinstance(data, Parameter):
            data = data.value()
        out.append((item["name"], data if isinstance(data, Tensor) else Tensor(data)))
    return out


def _appended(append_dict, owner):
    out = []
    for name, value in (append_dict or {}).items():
        if isinstance(value, Parameter):
            value = value.value()
        if not isinstance(value, (bool, int, float, Tensor)):
            raise TypeError(
                f"{owner}: '{name}' must be a number or Tensor, got {type(value).__name__}"
            )
        out.append((name, value if isinstance(value, Tensor) else Tensor(value)))
    return out


@entry
def save_checkpoint(
    save_obj,
    ckpt_file_name,
    integrated_save=True,
    async_save=False,
    append_dict=None,
    enc_key=None,
    enc_mode="AES-GCM",
):
    """Writes parameters to a file; a file of this name is replaced only when the new one is
    complete.

    save_obj: a Cell, a dict from name to tensor, or a list of {"name": str, "data": tensor}.
    ckpt_file_name: gets ".ckpt" behind it when it does not end so. integrated_save: joins
    slices of several devices; there is one. append_dict: numbers that are kept too. async_save
    and encryption are refused.
    """
    if not isinstance(integrated_save, bool):
        raise TypeError("save_checkpoint: 'integrated_save' must be True or False")
    if async_save is not False:
        raise NotImplementedError("save_checkpoint: async_save is not supported")
    _refuse_encryption("save_checkpoint", enc_key)
    extra = _appended(append_dict, "save_checkpoint: 'append_dict'")
    entries = _entries(save_obj) + extra
    _train.save(_with_suffix(ckpt_file_name), entries, [n for n, _ in extra], None, {})


def _prefixes(value, what):
    if value is None:
        return None
    value = [value] if isinstance(value, str) else list(value)
    if not value or not all(isinstance(v, str) for v in value):
        raise ValueError(
            f"load_checkpoint: '{what}' must be a str or a list of them, got {value!r}"
        )
    return tuple(value)


@entry
def load_checkpoint(
    ckpt_file_name,
    net=None,
    strict_load=False,
    filter_prefix=None,
    dec_key=None,
    dec_mode="AES-GCM",
    specify_prefix=None,
    choice_func=None,
):
    """A dict from name to Parameter, read from a file. ValueError naming file and entry when it is
    damaged.

    net: a Cell to load into, as load_param_into_net does. filter_prefix: entries whose names
    begin so are left out; specify_prefix: only those that begin so are read; choice_func(name):
    whether to read one.
    """
    _refuse_encryption("load_checkpoint", dec_key)
    path = os.fspath(ckpt_file_name)
    without, only = (
        _prefixes(filter_prefix, "filter_prefix"),
        _prefixes(specify_prefix, "specify_prefix"),
    )
    file = _train.load(path)
    out = _ParameterDict()
    out.file, out.extra = path, tuple(file["extra"])
    out.metadata, out.progress = file["metadata"], file["progress"]
    for name, tensor in file["tensors"]:
        if without and name.startswith(without):
            continue
        if only and not name.startswith(only):
            continue
        if choice_func is not None and not choice_func(name):
            continue
        out[name] = Parameter(tensor, name=name)
    if not out:
        raise ValueError(f"{path}: no entry is left to load")
    if net is not None:
        load_param_into_net(net, out, strict_load, partial=bool(without or only or choice_func))
    return out


@entry
def load_param_into_net(net, parameter_dict, strict_load=False, *, partial=False):
    """Sets the parameters of a Cell from a dict from name to Parameter; gives the names of those
    that got no value. ValueError naming entry and shapes; nothing is changed then.

    strict_load: names and types must be the same; otherwise types of a kind are converted, and
    entries may have one common prefix in front of the parameters' names. partial: allows
    parameters without an entry and entries without a parameter, which are errors otherwise.
    State of optimizers and appended numbers in a checkpoint need no parameter.
    """
    if not isinstance(net, Cell):
        raise TypeError(f"load_param_into_net: 'net' must be a Cell, got {type(net).__name__}")
    if not isinstance(parameter_dict, dict):
        raise TypeError(
            "load_param_into_net: 'parameter_dict' must be a dict, "
            f"got {type(parameter_dict).__name__}"
        )
    for name, p in parameter_dict.items():
        if not isinstance(p, Tensor):
            raise TypeError(
                f"load_param_into_net: '{name}' must be a Parameter, got {type(p).__name__}"
            )
    known = parameter_dict if isinstance(parameter_dict, _ParameterDict) else _ParameterDict
    entries = list(parameter_dict.items())
    parameters = list(net.get_parameters())
    extra = list(known.extra)
    return _train.load_parameters(
        parameters, known.file, entries, extra, bool(strict_load), bool(partial)
    )


__getattr__ = _published_modules.names_of("train")
__all__ = ["load_checkpoint", "load_param_into_net", "save_checkpoint"]
