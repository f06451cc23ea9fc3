"""Methods of tensors that give one with other elements at some places, or that draw from one; they
are functions of ops with the tensor in front."""

from mycel._mycel import entry
from mycel._refused import Refused

METHODS = {}


def _ops():
    from mycel import ops

    return ops


def _method(fn):
    METHODS[fn.__name__] = entry(fn)
    return fn


@_method
def index_add(self, dim, index, source, *, alpha=1):
    """The tensor with alpha times the slices of source added at index along dim."""
    return _ops().index_add(self, index, source if alpha == 1 else source * alpha, dim)


@_method
def index_put(self, indices, values, accumulate=False):
    """The tensor with values at the places that the index vectors name, added with accumulate."""
    return _ops().IndexPut(int(accumulate))(self, values, indices)


@_method
def index_select(self, axis, index):
    """The slices along axis that index names."""
    return _ops().index_select(self, axis, index)


@_method
def scatter(self, axis, index, src):
    """The tensor with the elements of src at index along axis."""
    return _ops().scatter(self, axis, index, src)


@_method
def fill_diagonal(self, fill_value, wrap=False):
    """The tensor with a number on its main diagonal; wrap begins anew below the square part of a
    tall matrix."""
    return _ops().FillDiagonal(fill_value, wrap)(self)


@_method
def sum_to_size(self, *size):
    """The sum over the dims that broadcasting from size would add or repeat."""
    if len(size) == 1 and isinstance(size[0], (tuple, list)):
        size = tuple(size[0])
    lead = len(self.shape) - len(size)
    if lead < 0 or any(n not in (1, m) for n, m in zip(size, self.shape[lead:])):
        raise ValueError(f"sum_to_size: {size} does not broadcast to {self.shape}")
    axes = [d for d, n in enumerate(self.shape) if d < lead or (size[d - lead] == 1 and n != 1)]
    return self.sum(tuple(axes), keepdims=True).reshape(size) if axes else self


@_method
def col2im(self, output_size, kernel_size, dilation, padding_value, stride):
    """Columns [n, c, patch size, patches] added up at their places in images."""
    return _ops().col2im(self, output_size, kernel_size, dilation, padding_value, stride)


@_method
def bernoulli(self, p=0.5, seed=None):
    """Ones with probability p, else zeros, in this shape and dtype."""
    return _ops().bernoulli(self, p, seed)


@_method
def multinomial(self, num_samples, replacement=True, seed=None):
    """Indices drawn with probabilities proportional to the last dim."""
    return _ops().multinomial(self, num_samples, replacement, seed)


@_method
def random_categorical(self, num_sample, seed=0, dtype=None):
    """Indices drawn with probabilities softmax of the last dim; int64 unless a dtype is given."""
    from mycel.common import dtype as mstype

    return _ops().random_categorical(
        self, num_sample, seed, mstype.int64 if dtype is None else dtype
    )


for _name in (
    "asnumpy_of_slice_persistent_data",
    "slice_num_of_persistent_data",
    "slice_shape_of_persistent_data",
):
    METHODS[_name] = Refused(f"Tensor.{_name}", "there are no tables on disk behind tensors")
