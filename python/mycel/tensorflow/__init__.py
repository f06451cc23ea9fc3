"""Frozen TensorFlow graphs (GraphDef, "PB") in: `load` gives a network that runs, and trains, like
any other."""

import os

from mycel._mycel import entry, load_tensorflow, parse_tensorflow, tensorflow_ops

__all__ = ["load", "ops"]


def _names(names):
    if names is None:
        return []
    return [names] if isinstance(names, str) else list(names)


def _read(model, inputs, outputs):
    names = _names(inputs), _names(outputs)
    if hasattr(model, "SerializeToString"):
        model = model.SerializeToString()
    if isinstance(model, (bytes, bytearray, memoryview)):
        return parse_tensorflow(bytes(model), *names)
    if isinstance(model, (str, os.PathLike)):
        return load_tensorflow(os.fspath(model), *names)
    raise TypeError(
        f"tensorflow: the model must be a path, bytes or a GraphDef, got {type(model).__name__}"
    )


@entry
def load(model, inputs=None, outputs=None):
    """A network from a path, from bytes or from a GraphDef.

    inputs, outputs: names of nodes; by default the placeholders, and the nodes whose results
    nothing reads. Parameters are the float constants with at least one dim whose values decide no
    shape. ValueError naming node or byte when the graph is damaged, NotImplementedError when it
    holds an op that is not supported.
    """
    from mycel.onnx._cell import OnnxCell

    return OnnxCell(_read(model, inputs, outputs))


def ops():
    """Names of the ops that can be read."""
    return sorted(graph for _, graph, _ in tensorflow_ops() if graph)
