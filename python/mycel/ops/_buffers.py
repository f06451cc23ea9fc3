"""Ring buffers of experience in Parameters, as reinforcement learning keeps them: row (head + i) %
capacity holds the i-th of `count` items, the oldest first."""

from mycel import _mycel
from mycel._mycel import Tensor
from mycel.common import dtype as mstype
from mycel.common.parameter import Parameter
from mycel.ops._forms import _op
from mycel.ops._random import _draw, _key
from mycel.ops.primitive import Primitive


class _Buffer(Primitive):
    def __init__(self, capacity, buffer_shape, buffer_dtype, **further):
        super().__init__()
        if isinstance(capacity, bool) or not isinstance(capacity, int) or capacity < 1:
            raise ValueError(f"{self.name}: 'capacity' must be a positive int, got {capacity!r}")
        if len(buffer_shape) != len(buffer_dtype):
            raise ValueError(f"{self.name}: there must be a dtype for each shape")
        self.capacity = capacity
        self.fields = [(tuple(s), mstype.dtype(t)) for s, t in zip(buffer_shape, buffer_dtype)]
        for name, value in further.items():
            self.add_prim_attr(name, value)

    def _check(self, data):
        if len(data) != len(self.fields):
            raise ValueError(f"{self.name}: {len(self.fields)} tensors expected, got {len(data)}")
        for x, (shape, dtype) in zip(data, self.fields):
            if tuple(x.shape) != (self.capacity, *shape) or x.dtype != dtype:
                raise ValueError(
                    f"{self.name}: a buffer must be {dtype}{(self.capacity, *shape)}, got "
                    f"{x.dtype}{tuple(x.shape)}"
                )

    def _rows(self, data, places):
        return tuple(_op("gather")(_plain(x), places, 0) for x in data)


def _plain(x):
    return x._plain() if isinstance(x, Parameter) else x


def _number(x):
    """A count or head, of shape () or (1,), as an int64 number."""
    return _plain(x).reshape(()).astype(mstype.int64)


def _store(place, value):
    place._assign(value.astype(place.dtype).reshape(place.shape))


class BufferAppend(_Buffer):
    """Called with (data, exp, count, head): puts an item, or several as rows, behind the others,
    over the oldest when the buffer is full; data, count and head change."""

    def __call__(self, data, exp, count, head):
        self._check(data)
        if len(exp) != len(data):
            raise ValueError(f"{self.name}: {len(data)} tensors expected in exp, got {len(exp)}")
        several = exp[0].ndim == data[0].ndim
        rows = exp[0].shape[0] if several else 1
        if rows > self.capacity:
            raise ValueError(f"{self.name}: {rows} items do not fit into {self.capacity}")
        for x, (shape, dtype) in zip(exp, self.fields):
            want = (rows, *shape) if several else shape
            if tuple(x.shape) != want or x.dtype != dtype:
                raise ValueError(
                    f"{self.name}: an item must be {dtype}{want}, got {x.dtype}{tuple(x.shape)}"
                )
        filled, first = _number(count), _number(head)
        places = (first + filled + _op("arange")(0, rows, 1, mstype.int64)) % self.capacity
        for place, x, (shape, _) in zip(data, exp, self.fields):
            x = x.reshape((rows, *shape))
            fresh = _op("tensor_scatter_update")(_plain(place), places.reshape((rows, 1)), x)
            place._assign(fresh)
        over = filled + rows - self.capacity
        none = _op("zeros_like")(over)
        _store(head, (first + _op("maximum")(over, none)) % self.capacity)
        _store(count, filled + rows - _op("maximum")(over, none))


class BufferGetItem(_Buffer):
    """Called with (data, count, head, index): the item at an index, 0 being the oldest; negative
    ones count from the newest."""

    def __call__(self, data, count, head, index):
        self._check(data)
        filled = _number(count)
        index = index if isinstance(index, Tensor) else Tensor(index, mstype.int64)
        index = index.reshape(()).astype(mstype.int64)
        if _mycel.known(index) and _mycel.known(filled):
            if not -int(filled) <= int(index) < int(filled):
                raise IndexError(
                    f"{self.name}: index {int(index)} is outside of {int(filled)} items"
                )
        index = _op("select")(index < 0, index + filled, index)
        return self._rows(data, (_number(head) + index) % self.capacity)


class BufferSample(_Buffer):
    """Called with (data, count, head): batch_size items drawn from the buffer, with unique all
    different."""

    def __init__(self, capacity, batch_size, buffer_shape, buffer_dtype, seed=0, unique=False):
        super().__init__(capacity, buffer_shape, buffer_dtype, seed=seed, unique=unique)
        if not 1 <= batch_size <= capacity:
            raise ValueError(
                f"{self.name}: 'batch_size' must be in [1, {capacity}], got {batch_size}"
            )
        self.batch_size = batch_size

    def __call__(self, data, count, head):
        self._check(data)
        filled, size = _number(count), self.capacity if self.unique else self.batch_size
        if _mycel.known(filled) and int(filled) < (self.batch_size if self.unique else 1):
            raise ValueError(
                f"{self.name}: {self.batch_size} items cannot be drawn from {int(filled)}"
            )
        u = _draw("keyed_uniform", _key(self.name, self.seed), (size,), mstype.float64)
        if self.unique:
            # Places without an item sort behind all others.
            held = _op("arange")(0, size, 1, mstype.int64) < filled
            u = _op("select")(held, u, _op("full_like")(u, 2.0))
            items = _op("sort")(u)[1].narrow(0, 0, self.batch_size).astype(mstype.int64)
        else:
            items = _op("floor")(u * filled.astype(mstype.float64)).astype(mstype.int64)
        return self._rows(data, (_number(head) + items) % self.capacity)


__all__ = ["BufferAppend", "BufferGetItem", "BufferSample"]
