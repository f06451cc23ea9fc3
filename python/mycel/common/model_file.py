"""Export of networks to one file that runs without the code that built them, and its loading."""

import os

from mycel._mycel import Tensor, entry, export_model, load_model

_OTHER_FORMATS = ("AIR", "ONNX")
_OPTIONS = ("quant_mode", "mean", "std_dev", "enc_key", "enc_mode", "dataset", "obf_config")


def _check_options(owner, options, known):
    for name in options:
        if name in known:
            raise NotImplementedError(f"{owner}: the option '{name}' is not supported")
        raise TypeError(f"{owner}: there is no option '{name}'")


def _check_format(file_format):
    if file_format in _OTHER_FORMATS:
        raise NotImplementedError(
            f"export: the format '{file_format}' is not supported; allowed: 'MINDIR'"
        )
    if file_format != "MINDIR":
        raise ValueError(f"export: 'file_format' must be 'MINDIR', got {file_format!r}")


def _switches(net):
    return [(cell, cell.training) for _, cell in net.cells_and_names()]


@entry
def export(net, *inputs, file_name, file_format="MINDIR", **kwargs):
    """Writes the network, in evaluation mode, for inputs of these dtypes and shapes.

    file_name: ".mindir" is added where it is missing. file_format: "MINDIR" alone. Gives the path.
    NotImplementedError for other published formats and options; OSError when the file
    cannot be written.
    """
    from mycel.nn.cell import Cell

    if not isinstance(net, Cell):
        raise TypeError(f"export: 'net' must be a Cell, got {type(net).__name__}")
    _check_format(file_format)
    _check_options("export", kwargs, _OPTIONS)
    for position, x in enumerate(inputs):
        if not isinstance(x, Tensor):
            raise TypeError(f"export: input {position} must be a Tensor, got {type(x).__name__}")
    path = os.fspath(file_name)
    if not path.endswith(".mindir"):
        path += ".mindir"
    parameters = dict(net.parameters_and_names())
    before = _switches(net)
    net.set_train(False)
    try:
        names = [f"input{i}" for i in range(len(inputs))]
        export_model(_Forward(net), list(inputs), names, parameters, path)
    finally:
        for cell, training in before:
            cell.__dict__["training"] = training
    return path


class _Forward:
    """The network as a function from a list of tensors to a list of tensors."""

    def __init__(self, net):
        self.net = net

    def __call__(self, inputs):
        from mycel.nn import _compile
        from mycel.ops._transforms import flatten

        with _compile._Inside():
            result = self.net._run(*inputs)
        tensors = []
        flatten(result, tensors)
        if not tensors:
            raise TypeError(f"export: the network must give a tensor, got {type(result).__name__}")
        return tensors


@entry
def load(file_name, **kwargs):
    """Reads what export wrote: a function on tensors, for nn.GraphCell or to be called itself."""
    _check_options("load", kwargs, ("dec_key", "dec_mode", "obf_func"))
    return load_model(os.fspath(file_name))
