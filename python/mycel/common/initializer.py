"""Initializers: how parameters get their first values. The classes come from the records of the C++
library; a program with one seed draws the same values in C++ and in Python."""

from mycel import _mycel
from mycel._mycel import Tensor, entry
from mycel.common import dtype as mstype

_nn = _mycel.nn


class Initializer:
    """Base of initializers that users write: `_initialize(self, arr)` fills a NumPy array."""

    def __init__(self, **kwargs):
        self._kwargs = kwargs

    @property
    def init_kwargs(self):
        """The arguments that the initializer was made with."""
        return self._kwargs

    def _initialize(self, *args):
        raise NotImplementedError(f"{type(self).__name__}: _initialize is not written")

    def _init(self):
        """What the C++ library takes."""

        def fill(shape, dtype):
            import numpy as np

            arr = np.zeros(shape, mstype.dtype_to_nptype(dtype))
            self._initialize(arr)
            return arr

        return _nn.init_from_function(fill)

    def __call__(self, arr):
        """Fills a NumPy array in place."""
        arr[...] = self._init().make(arr.shape, mstype.pytype_to_dtype(arr.dtype)).asnumpy()

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self._kwargs.items())})"


class _FromRecord(Initializer):
    def _init(self):
        return self._made


def _make_class(record):
    from mycel.common._records import signature_of

    name = record["name"]
    names = [arg[0] for arg in record["args"]]

    @entry
    def __init__(self, *args, **kwargs):
        self._made = _nn.make_init(name, args, kwargs)
        Initializer.__init__(self, **dict(zip(names, args)), **kwargs)

    def __reduce__(self):
        return _restore, (type(self), self._kwargs)

    members = {
        "__init__": __init__,
        "__reduce__": __reduce__,
        "__doc__": record["doc"],
        "__module__": __name__,
        "__signature__": signature_of(record["args"]),
    }
    return type(name, (_FromRecord,), members)


def _restore(cls, kwargs):
    return cls(**kwargs)


_classes = {record["name"]: _make_class(record) for record in _nn.initializer_records()}
globals().update(_classes)


def _as_init(init):
    if isinstance(init, str):
        return _nn.make_init_by_name(init)
    if isinstance(init, Initializer):
        return init._init()
    if isinstance(init, (int, float)) and not isinstance(init, bool):
        return _nn.init_from_number(init)
    if isinstance(init, type) and issubclass(init, Initializer):
        return init()._init()
    raise TypeError(
        "initializer: 'init' must be an initializer, its name, a number or a tensor, got "
        f"{type(init).__name__}"
    )


@entry
def initializer(init, shape=None, dtype=mstype.float32):
    """A tensor with first values.

    init: an initializer, its name ("normal", "xavier_uniform", …), a number, or a tensor that is
    given back when shape and dtype agree. shape: an int or a sequence of ints.
    """
    if isinstance(init, Tensor):
        wanted = (shape,) if isinstance(shape, int) else shape
        if wanted is not None and tuple(wanted) != tuple(init.shape):
            raise ValueError(f"initializer: the tensor has shape {init.shape}, 'shape' is {wanted}")
        return init
    if shape is None:
        raise ValueError("initializer: 'shape' is missing")
    return _as_init(init).make(shape, dtype)


__all__ = ["Initializer", "initializer", *sorted(_classes)]
