"""The cell around a model that was read."""

from mycel.common import Parameter
from mycel.nn.cell import Cell


def _valid(name, taken):
    """`name` as an attribute of a cell, different from those that are taken."""
    base = "".join(c if c.isalnum() or c == "_" else "_" for c in name) or "weight"
    if base[0].isdigit():
        base = "_" + base
    name, count = base, 1
    while name in taken:
        name, count = f"{base}_{count}", count + 1
    return name


class OnnxCell(Cell):
    """An ONNX model as a network: call it on its inputs, in order.

    inputs, outputs: pairs (name, type). Parameters carry the names of the initializers.
    """

    def __init__(self, network):
        super().__init__()
        self._network = network
        self.inputs = list(network.inputs)
        self.outputs = list(network.outputs)
        self._order = []
        for name, value, statistic in network.weights:
            attribute = _valid(name, set(dir(self)))
            parameter = Parameter(value, name=name, requires_grad=not statistic)
            self.insert_param_to_cell(attribute, parameter, check_name_contain_dot=False)
            self._order.append(attribute)

    def construct(self, *inputs):
        weights = [getattr(self, name) for name in self._order]
        results = self._network.evaluate(list(inputs), weights)
        return results[0] if len(results) == 1 else tuple(results)


class TfliteCell(OnnxCell):
    """A TFLite file as a network.

    quantization: (inputs, outputs), each a dict name -> (scale, zero point); a real value is
    scale * (stored - zero point).
    """

    def __init__(self, network):
        super().__init__(network)
        self.quantization = tuple(
            {name: (scale, zero) for name, scale, zero in side} for side in network.scales
        )
