"""Networks for devices: the converter and the Lite runtime.

`Converter` writes .lite files from what mycel.export wrote or from ONNX; `Model` runs them, with
the names of the published MindSpore Lite where they fit. On a device the same files run through
mycel/lite.h, without Python.
"""

import os

import numpy as np

from mycel._mycel import Tensor as _Tensor
from mycel._mycel import entry, lite_convert, open_lite

__all__ = ["Context", "Converter", "Model", "ModelType", "Tensor", "export_training"]


class ModelType:
    """Kinds of files that Model.build_from_file takes."""

    MINDIR = "mindir"
    MINDIR_LITE = "lite"


class Context:
    """How a model runs: threads."""

    def __init__(self, thread_num=2):
        if not isinstance(thread_num, int) or thread_num < 1:
            raise ValueError(f"Context: thread_num must be an int of at least 1, got {thread_num}")
        self.thread_num = thread_num


class Tensor:
    """An input or result: name, dtype, shape and data as a NumPy array."""

    def __init__(self, array=None, name="", dtype=None, shape=None):
        self.name = name
        self._data = None if array is None else np.asarray(array, order="C")
        self.dtype = str(self._data.dtype) if self._data is not None else dtype
        self.shape = list(self._data.shape) if self._data is not None else list(shape or [])

    def set_data_from_numpy(self, array):
        array = np.asarray(array, order="C")
        if str(array.dtype) != self.dtype:
            raise TypeError(f"Tensor '{self.name}' holds {self.dtype}, got {array.dtype}")
        self._data, self.shape = array, list(array.shape)

    def get_data_to_numpy(self):
        if self._data is None:
            raise ValueError(f"Tensor '{self.name}' has no data yet")
        return self._data

    def __repr__(self):
        return f"Tensor('{self.name}', {self.dtype}{self.shape})"


class Model:
    """A .lite file in the Lite runtime."""

    def __init__(self):
        self._network = None

    @entry
    def build_from_file(self, model_path, model_type=ModelType.MINDIR_LITE, context=None):
        """Opens a .lite file; ValueError naming it and what is wrong with it."""
        if model_type != ModelType.MINDIR_LITE:
            raise ValueError("Model: convert the file to .lite first: mycel convert FILE --to lite")
        context = Context() if context is None else context
        self._network = open_lite(os.fspath(model_path), context.thread_num)
        return self

    def _opened(self):
        if self._network is None:
            raise RuntimeError("Model: call build_from_file first")
        return self._network

    def get_inputs(self):
        """Tensors without data; dims of -1 are open."""
        return [Tensor(None, n, d, s) for n, d, s in self._opened().inputs]

    @entry
    def predict(self, inputs):
        """Runs the network on Tensors or arrays; gives Tensors. Inputs of other shapes are planned
        for at their first use, where the file's dims are open."""
        if isinstance(inputs, dict):
            inputs = [inputs[name] for name, _, _ in self._opened().inputs]
        arrays = [i.get_data_to_numpy() if isinstance(i, Tensor) else np.asarray(i) for i in inputs]
        results = self._opened().run([_Tensor(a) for a in arrays])
        names = [n for n, _, _ in self._opened().outputs]
        return [Tensor(r.asnumpy(), n) for r, n in zip(results, names, strict=True)]

    @property
    def state(self):
        """Weights that running a training graph has changed, by name."""
        return {name: t.asnumpy() for name, t in self._opened().state.items()}


class Converter:
    """Writes networks in other formats; what `mycel convert` does.

    quantize "int8" computes convolutions and products on 8-bit integers. `calibrate` is then a
    safetensors file with samples of the inputs; `observer` (minmax, moving_average, percentile,
    entropy) chooses the ranges from them; layers whose names begin with one of `skip` stay floats.
    """

    def __init__(self):
        self.input_shape = {}
        self.quantize = ""
        self.calibrate = ""
        self.observer = "minmax"
        self.percentile = 99.99
        self.per_channel = True
        self.symmetric = True
        self.bias_correction = True
        self.skip = []
        self.keep_graph = True
        self.notes = {}

    @entry
    def convert(self, model_file, output_file, to="lite", from_format=""):
        """Gives the report's lines."""
        return self._write(model_file, output_file, to, from_format, [])

    def _write(self, model_file, output_file, to, from_format, states):
        shapes = {name: list(dims) for name, dims in self.input_shape.items()}
        return lite_convert(
            os.fspath(model_file), os.fspath(output_file), to, from_format, shapes,
            self.quantize, self.keep_graph, states, list(self.notes.items()),
            os.fspath(self.calibrate), self.observer, self.percentile, self.per_channel,
            self.symmetric, self.bias_correction, list(self.skip),
        )  # fmt: skip


@entry
def export_training(step, inputs, state, file):
    """Writes a training step that a device runs: `step(*inputs, *weights)` gives its results and
    then the new weights, one for each of `state`, a dict from name to first value. The runtime
    keeps the weights: each run begins with those that the last one gave.

    step is a pure function of Tensors, such as a loss with its gradients and an optimizer's update.
    """
    import tempfile

    from mycel._mycel import export_model

    names = [f"input{i}" for i in range(len(inputs))] + list(state)
    count = {}

    def run(args):
        results = step(*args)
        results = list(results) if isinstance(results, (tuple, list)) else [results]
        count["results"] = len(results)
        return results

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "step.mindir")
        export_model(run, [*inputs, *state.values()], names, {}, path, "MINDIR")
        first = count["results"] - len(state)
        states = [(name, first + i, value) for i, (name, value) in enumerate(state.items())]
        return Converter()._write(path, file, "lite", "", states)
