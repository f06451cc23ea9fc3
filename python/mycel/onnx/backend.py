"""The interface of onnx.backend.base for Mycel: prepare, run_model, run_node, supports_device.

The package `onnx` is needed for run_node alone; Backend and BackendRep are its classes where it is
installed.
"""

import numpy as np

from mycel.common import Tensor, dtype

try:
    from onnx.backend.base import Backend as _Backend
    from onnx.backend.base import BackendRep as _BackendRep
except ImportError:
    _Backend = _BackendRep = object

_DEVICES = ("CPU",)


def supports_device(device):
    return device.split(":")[0] in _DEVICES


def check_device(device):
    if not supports_device(device):
        raise ValueError(f"onnx: device {device!r} is not there; allowed: {', '.join(_DEVICES)}")


def _to_mycel(value):
    if isinstance(value, (list, tuple)):
        return [_to_mycel(v) for v in value]
    if value is None or isinstance(value, Tensor):
        return value
    if hasattr(value, "SerializeToString"):  # a TensorProto, as some published cases have
        import onnx

        value = onnx.numpy_helper.to_array(value)
    array = np.asarray(value)
    if array.dtype.name == "bfloat16":
        return Tensor(array.astype(np.float32)).astype(dtype.bfloat16)
    return array


def _to_numpy(value):
    """An array; bfloat16 as ml_dtypes has it, where that package is installed, else float32."""
    if isinstance(value, list):
        return [_to_numpy(v) for v in value]
    if value is None:
        return None
    array = value.asnumpy()
    if value.dtype == dtype.bfloat16:
        try:
            import ml_dtypes
        except ImportError:
            return array
        return array.astype(ml_dtypes.bfloat16)
    return array


class Handle(_BackendRep):
    """A prepared model. inputs, outputs: pairs (name, type)."""

    def __init__(self, network):
        self._network = network
        self.inputs = list(network.inputs)
        self.outputs = list(network.outputs)

    def run(self, inputs, **kwargs):
        """Results, in order, as arrays; a sequence is a list, an empty optional None.

        inputs: a list in the order of the model, a dict by name, or one array.
        """
        if kwargs:
            raise TypeError(f"onnx: run has no option {next(iter(kwargs))!r}")
        if isinstance(inputs, dict):
            names = [name for name, _ in self.inputs]
            unknown = set(inputs) - set(names)
            if unknown:
                raise ValueError(f"onnx: the model has no input {sorted(unknown)[0]!r}")
            inputs = [inputs.get(name) for name in names]
        elif not isinstance(inputs, (list, tuple)):
            inputs = [inputs]
        return [_to_numpy(v) for v in self._network.run([_to_mycel(v) for v in inputs])]

    @property
    def how(self):
        """How the last call ran: compiled, compiled for the values of some inputs, node by node."""
        return self._network.how


class MycelBackend(_Backend):
    @classmethod
    def is_compatible(cls, model, device="CPU", **kwargs):
        from mycel.onnx import _read

        try:
            _read(model)
        except (ValueError, NotImplementedError):
            return False
        return supports_device(device)

    @classmethod
    def prepare(cls, model, device="CPU", **kwargs):
        from mycel.onnx import prepare

        return prepare(model, device, **kwargs)

    @classmethod
    def run_model(cls, model, inputs, device="CPU", **kwargs):
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(cls, node, inputs, device="CPU", outputs_info=None, **kwargs):
        """One NodeProto on arrays, as a model around it."""
        import onnx

        if outputs_info is not None or set(kwargs) - {"opset_version"}:
            raise NotImplementedError("onnx: run_node takes a node, inputs and opset_version")
        arrays = [np.asarray(x) for x in inputs]
        types = [onnx.helper.np_dtype_to_tensor_dtype(a.dtype) for a in arrays]
        names = [name for name in node.input if name]
        graph = onnx.helper.make_graph(
            [node],
            "node",
            [
                onnx.helper.make_tensor_value_info(n, t, a.shape)
                for n, t, a in zip(names, types, arrays, strict=True)
            ],
            [onnx.helper.make_empty_tensor_value_info(n) for n in node.output if n],
        )
        version = kwargs.get("opset_version", onnx.defs.onnx_opset_version())
        opset = onnx.helper.make_opsetid(node.domain, version)
        return cls.run_model(onnx.helper.make_model(graph, opset_imports=[opset]), arrays, device)

    @classmethod
    def supports_device(cls, device):
        return supports_device(device)


is_compatible = MycelBackend.is_compatible
prepare = MycelBackend.prepare
run_model = MycelBackend.run_model
run_node = MycelBackend.run_node
