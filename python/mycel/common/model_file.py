"""Export of networks to one file that runs without the code that built them, and its loading."""

import os

from mycel._mycel import Tensor, entry, export_model, load_model

_OTHER_FORMATS = ("AIR",)
_SUFFIXES = {"MINDIR": ".mindir", "ONNX": ".onnx"}
_OPTIONS = ("quant_mode", "mean", "std_dev", "enc_key", "enc_mode", "dataset", "obf_config")


def _check_options(owner, options, known):
    for name in options:
        if name in known:
            raise NotImplementedError(f"{owner}: the option '{name}' is not supported")
        raise TypeError(f"{owner}: there is no option '{name}'")


def _check_format(file_format):
    if file_format in _OTHER_FORMATS:
        raise NotImplementedError(
            f"export: the format '{file_format}' is not supported; allowed: 'MINDIR', 'ONNX'"
        )
    if file_format not in _SUFFIXES:
        raise ValueError(f"export: 'file_format' must be 'MINDIR' or 'ONNX', got {file_format!r}")


def _check_declared(declared, inputs):
    """What set_inputs declared must fit the inputs that are given, if any are."""
    for i, want in enumerate(declared):
        if not isinstance(want, Tensor):
            raise TypeError(
                f"export: set_inputs declared {type(want).__name__} as input {i}; allowed: Tensor"
            )
    if inputs and len(inputs) != len(declared):
        raise ValueError(f"export: {len(inputs)} inputs given, set_inputs declared {len(declared)}")
    for i, (want, got) in enumerate(zip(declared, inputs)):
        fits = want.dtype == got.dtype and want.ndim == got.ndim
        if not fits or any(w not in (-1, g) for w, g in zip(want.shape, got.shape)):
            raise ValueError(
                f"export: input {i} is {got.dtype}{got.shape}, "
                f"set_inputs declared {want.dtype}{want.shape}"
            )


def _switches(net):
    return [(cell, cell.training) for _, cell in net.cells_and_names()]


@entry
def export(net, *inputs, file_name, file_format="MINDIR", **kwargs):
    """Writes the network, in evaluation mode, for inputs of these dtypes and shapes.

    Dims of Tensor(shape=[None, 3], dtype=...) that are None, here or in net.set_inputs, may have
    any extent when the loaded network is called.
    file_name: ".mindir" or ".onnx" is added where it is missing. file_format: "MINDIR", or "ONNX":
    a model of opset 20, which other frameworks run. Gives the path.
    NotImplementedError for other published formats and options, and for an op that ONNX has no
    words for; OSError when the file cannot be written.
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
    if not path.endswith(_SUFFIXES[file_format]):
        path += _SUFFIXES[file_format]
    declared = net.get_inputs()
    if declared is not None:
        _check_declared(declared, inputs)
        inputs = declared
    parameters = dict(net.parameters_and_names())
    before = _switches(net)
    net.set_train(False)
    try:
        names = [f"input{i}" for i in range(len(inputs))]
        export_model(_Forward(net), list(inputs), names, parameters, path, file_format)
    finally:
        for cell, training in before:
            cell.__dict__["training"] = training
    return path


class _Forward:
    """The network, compiled from its source, as a function from a list of tensors to a list of
    tensors."""

    def __init__(self, net):
        self.net = net

    def __call__(self, inputs):
        from mycel.front import compile_function
        from mycel.front.guards import Guards
        from mycel.nn import _compile
        from mycel.ops._transforms import flatten

        body = _compile._Body(self.net)
        program, out = compile_function(body, tuple(inputs), {}, inputs, Guards())
        result = program.value(out, inputs)
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
