"""ONNX models in and out.

`load` gives a network that runs, and trains, like any other; `prepare` a backend's handle that
compiles the model for the inputs that come.
"""

import os

from mycel._mycel import entry, load_onnx, onnx_ops, parse_onnx

__all__ = ["export", "load", "ops", "prepare"]


def _read(model, folder=""):
    """What the C++ side holds of a path, of bytes, or of a ModelProto of the package `onnx`."""
    if hasattr(model, "SerializeToString"):
        model = model.SerializeToString()
    if isinstance(model, (bytes, bytearray, memoryview)):
        return parse_onnx(bytes(model), os.fspath(folder))
    if isinstance(model, (str, os.PathLike)):
        return load_onnx(os.fspath(model))
    raise TypeError(
        f"onnx: the model must be a path, bytes or a ModelProto, got {type(model).__name__}"
    )


@entry
def load(model, folder=""):
    """A network from a path, from bytes or from a ModelProto.

    Its Parameters are the float initializers with at least one dim whose values decide no shape;
    statistics of batch normalization have requires_grad False. folder: where external data of a
    model given as bytes lies. ValueError naming node or offset when the model is damaged,
    NotImplementedError when it holds an op that is not supported.
    """
    from mycel.onnx._cell import OnnxCell

    return OnnxCell(_read(model, folder))


@entry
def prepare(model, device="CPU", folder=""):
    """A handle with run(inputs) -> list of arrays, for a path, bytes or a ModelProto."""
    from mycel.onnx.backend import Handle, check_device

    check_device(device)
    return Handle(_read(model, folder))


@entry
def export(net, *inputs, file):
    """Writes a network, in evaluation mode, as a model of opset 20; mycel.export with
    file_format="ONNX". Dims of Tensor(shape=[None, 3], dtype=...) that are None stay open. Gives
    the path."""
    from mycel.common.model_file import export

    return export(net, *inputs, file_name=file, file_format="ONNX")


def ops():
    """Names of the ONNX ops that can be read, "domain::Op" outside of the default domain."""
    return onnx_ops()


def __getattr__(name):
    if name == "backend":
        import importlib

        return importlib.import_module("mycel.onnx.backend")
    raise AttributeError(f"module 'mycel.onnx' has no attribute {name!r}")
