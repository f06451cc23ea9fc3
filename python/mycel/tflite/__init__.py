"""TFLite files in.

`load` gives a network that runs like any other; quantized operators compute what the published
reference kernels compute, bit for bit.
"""

import os

from mycel._mycel import entry, load_tflite, parse_tflite, tensorflow_ops

__all__ = ["load", "ops"]


def _read(model):
    if isinstance(model, (bytes, bytearray, memoryview)):
        return parse_tflite(bytes(model))
    if isinstance(model, (str, os.PathLike)):
        return load_tflite(os.fspath(model))
    raise TypeError(f"tflite: the model must be a path or bytes, got {type(model).__name__}")


@entry
def load(model):
    """A network from a path or from bytes.

    Its Parameters are the float constants with at least one dim whose values decide no shape.
    `quantization` of the network: scale and zero point of its quantized inputs and outputs.
    ValueError naming byte, tensor or operator when the file is damaged, NotImplementedError when it
    holds an operator that is not supported.
    """
    from mycel.onnx._cell import TfliteCell

    return TfliteCell(_read(model))


def ops():
    """Names of the operators that can be read, each with whether its quantized form can be."""
    return {lite: quantized for lite, _, quantized in tensorflow_ops() if lite}
