"""Python functions of arrays as ops: compiled programs call them when they come by."""

from mycel import _mycel
from mycel._mycel import Tensor
from mycel.common import dtype as mstype
from mycel.ops._transforms import custom_gradient
from mycel.ops.primitive import Primitive


class PyFunc(Primitive):
    """fn of NumPy arrays (numbers where a shape is empty) as an op without a gradient, called with
    a tuple of tensors; gives a tuple.

    in_types, in_shapes, out_types, out_shapes: dtype and shape of each operand and result.
    stateful: kept for programs that say so; calls always run in the order of the program.
    """

    def __init__(self, fn, in_types, in_shapes, out_types, out_shapes, stateful=True):
        super().__init__()
        if not callable(fn):
            raise TypeError(f"PyFunc: 'fn' must be a function, got {type(fn).__name__}")
        if len(in_types) != len(in_shapes) or len(out_types) != len(out_shapes):
            raise ValueError("PyFunc: there must be a shape for each type")
        self.fn, self.stateful = fn, stateful
        self.operands = [(mstype.dtype(t), tuple(s)) for t, s in zip(in_types, in_shapes)]
        self.results = [(mstype.dtype(t), tuple(s)) for t, s in zip(out_types, out_shapes)]

    def _run(self, tensors):
        values = [t.asnumpy() if t.ndim else t.item() for t in tensors]
        found = self.fn(*values)
        found = found if isinstance(found, (tuple, list)) else (found,)
        if len(found) != len(self.results):
            raise TypeError(f"PyFunc: {len(self.results)} results expected, got {len(found)}")
        out = []
        for value, (dtype, shape) in zip(found, self.results):
            tensor = Tensor(value, dtype)
            if tuple(tensor.shape) != shape:
                raise TypeError(f"PyFunc: a result must be {dtype}{shape}, got {tensor.shape}")
            out.append(tensor)
        return out

    def _call(self, *tensors):
        if all(map(_mycel.known, tensors)):
            return tuple(self._run(tensors))
        # Results have the types of operands behind the function's own.
        likes = [_mycel.op("zeros")(shape, dtype) for dtype, shape in self.results]
        count = len(tensors)
        run = lambda given: self._run(given[:count])
        places = list(range(count, count + len(likes)))
        return tuple(_mycel.host_call(run, [*tensors, *likes], places))

    def _no_gradient(self, *_):
        raise RuntimeError(
            "PyFunc: a Python function has no gradient"
            "\n  Wrap its operands in stop_gradient, or write a Cell with a bprop."
        )

    def __call__(self, inputs):
        if len(inputs) != len(self.operands):
            raise ValueError(f"PyFunc: {len(self.operands)} operands expected, got {len(inputs)}")
        for x, (dtype, shape) in zip(inputs, self.operands):
            if x.dtype != dtype or tuple(x.shape) != shape:
                raise ValueError(
                    f"PyFunc: an operand must be {dtype}{shape}, got {x.dtype}{tuple(x.shape)}"
                )
        return custom_gradient(self._call, self._no_gradient, tuple(inputs))


__all__ = ["PyFunc"]
