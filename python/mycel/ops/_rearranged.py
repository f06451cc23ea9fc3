"""Published forms that move elements about: blocks between batch and space, paddings given by
tensors, permutations, writes at places."""

from mycel import _mycel
from mycel._mycel import Tensor, entry
from mycel.common import dtype as mstype
from mycel.common.parameter import Parameter
from mycel.ops._forms import _ints, _op, _primitive, _tensor
from mycel.ops._published import _place
from mycel.ops.primitive import Primitive

# -- blocks and paddings


def _two(op, size, x):
    if isinstance(size, bool) or not isinstance(size, int) or size < 2:
        raise ValueError(f"{op}: 'block_size' must be an int of 2 or more, got {size!r}")
    if _tensor(x).ndim != 4:
        raise ValueError(f"{op}: the operand must have 4 dims, got {_tensor(x).shape}")
    return (size, size)


BatchToSpace = _primitive(
    "BatchToSpace",
    lambda x, block_size, crops: _op("batch_to_space_nd")(
        x, _two("BatchToSpace", block_size, x), crops
    ),
    "The batch of [n b b, c, h, w] dealt out over blocks of b by b pixels, then cropped.",
    block_size=...,
    crops=...,
)
SpaceToBatch = _primitive(
    "SpaceToBatch",
    lambda x, block_size, paddings: _op("space_to_batch_nd")(
        x, _two("SpaceToBatch", block_size, x), paddings
    ),
    "Blocks of b by b pixels of padded [n, c, h, w] as b b batches: undoes BatchToSpace.",
    block_size=...,
    paddings=...,
)
BatchToSpaceNDV2 = _primitive(
    "BatchToSpaceNDV2",
    lambda x, block_shape, crops: _op("batch_to_space_nd")(x, _ints(block_shape), crops),
    "batch_to_space_nd called with (x, block_shape, crops).",
)
MirrorPad = _primitive(
    "MirrorPad",
    lambda x, paddings, mode: _op("mirror_pad")(x, paddings, mode),
    "mirror_pad called with (x, paddings), a pair for each dim.",
    mode="REFLECT",
)


def _pad_v3(x, paddings, constant_value=None, *, mode, paddings_contiguous):
    """Pairs for the last dims, from the last backwards; not contiguous: all befores, then all
    afters."""
    sides = _ints(paddings)
    if len(sides) % 2:
        raise ValueError(f"PadV3: 'paddings' must hold pairs, got {len(sides)} numbers")
    if not paddings_contiguous:
        half = len(sides) // 2
        sides = tuple(n for pair in zip(sides[:half], sides[half:]) for n in pair)
    if mode != "constant" or constant_value is None:
        return _op("pad")(x, sides, mode)
    value = constant_value.item() if isinstance(constant_value, Tensor) else constant_value
    return _op("pad")(x, sides, mode, value)


PadV3 = _primitive(
    "PadV3",
    _pad_v3,
    "Called with (x, paddings, constant_value): pads the last dims; mode constant, reflect, edge "
    "or circular.",
    mode="constant",
    paddings_contiguous=True,
)


@entry
def col2im(input_x, output_size, kernel_size, dilation, padding_value, stride):
    """Columns [n, c, patch size, patches] added up at their places in images [n, c,
    output_size]."""
    from mycel.ops import Col2Im

    return Col2Im(kernel_size, dilation, padding_value, stride)(input_x, output_size)


# -- order of elements and operands


@entry
def _inverted(input_x):
    order = _ints(input_x)
    if sorted(order) != list(range(len(order))):
        raise ValueError(f"InvertPermutation: {order} is no permutation of 0 to {len(order) - 1}")
    out = [0] * len(order)
    for place, value in enumerate(order):
        out[value] = place
    if isinstance(input_x, Tensor):
        return Tensor(out, input_x.dtype)
    return tuple(out)


InvertPermutation = _primitive(
    "InvertPermutation",
    lambda x: _inverted(x),
    "The permutation that undoes one given by a tuple, list or tensor known while compiling.",
)
ParallelConcat = _primitive(
    "ParallelConcat",
    lambda values: _op("concat")(values, 0),
    "Tensors of first dim 1 joined along it.",
)


class IdentityN(Primitive):
    """The tensors of a tuple as they are."""

    def __call__(self, x):
        return tuple(_op("identity")(v) for v in x)


Expand = _primitive(
    "Expand",
    lambda x, shape: _op("broadcast_to")(x, _ints(shape)),
    "x broadcast to a shape; -1 keeps a size.",
)


@entry
def shape_(x):
    """The sizes of the dims, a tuple."""
    return _tensor(x).shape


@entry
def reshape_(x, shape):
    """x with its elements, in order, under another shape."""
    return _op("reshape")(x, _ints(shape))


@entry
def fill_(dtype, dims, x):
    """A tensor of the given dtype and shape whose elements are x."""
    from mycel.ops import fill

    return fill(dtype, dims, x)


@entry
def deepcopy(input_x):
    """A tensor with the elements of another: values never change under their holders."""
    return _op("identity")(input_x)


@entry
def mixed_precision_cast(dst_dtype, x):
    """Floats in x, a tensor or nested tuples, lists and dicts of them, cast to a dtype."""
    if isinstance(x, Tensor):
        return x.astype(dst_dtype) if x.dtype in mstype.float_type else x
    if isinstance(x, (tuple, list)):
        return type(x)(mixed_precision_cast(dst_dtype, v) for v in x)
    if isinstance(x, dict):
        return {key: mixed_precision_cast(dst_dtype, v) for key, v in x.items()}
    return x


# -- elements at places


@entry
def inplace_index_add(var, indices, updates, axis):
    """Adds the slices of updates to those of the Parameter var that indices name along axis; gives
    the Parameter."""
    place = _place(var, "inplace_index_add", "'var'")
    place._assign(_op("index_add")(place._plain(), indices, updates, axis))
    return place


InplaceIndexAdd = _primitive(
    "InplaceIndexAdd",
    lambda var, indices, updates, axis: inplace_index_add(var, indices, updates, axis),
    "Primitive form of inplace_index_add.",
    axis=...,
)


def _index_put(x1, x2, indices, accumulate):
    if accumulate not in (0, 1):
        raise ValueError(f"IndexPut: 'accumulate' must be 0 or 1, got {accumulate!r}")
    return _op("index_put")(x1, x2, tuple(indices), accumulate=bool(accumulate))


IndexPut = _primitive(
    "IndexPut",
    _index_put,
    "Called with (x1, x2, indices): x1 with x2 written at the places that the index vectors name, "
    "with accumulate=1 added.",
    accumulate=0,
)
ScatterAddWithAxis = _primitive(
    "ScatterAddWithAxis",
    lambda x, indices, updates, axis: _op("tensor_scatter_elements")(
        x, indices, updates, axis, "add"
    ),
    "Called with (x, indices, updates): updates added at indices along axis.",
    axis=0,
)


def _add_to(input_x, indices, updates):
    if not isinstance(input_x, Parameter):
        return _op("tensor_scatter_add")(input_x, indices, updates)
    input_x._assign(_op("tensor_scatter_add")(input_x._plain(), indices, updates))
    return input_x


ScatterNonAliasingAdd = _primitive(
    "ScatterNonAliasingAdd",
    _add_to,
    "Called with (x, indices, updates): updates added at index tuples; a Parameter is changed.",
)


@entry
def scatter(input, axis, index, src):  # noqa: A002
    """input with the elements of src at `index` along axis."""
    return _op("tensor_scatter_elements")(input, index, src, axis)


def _sub_and_filter(input_x, max_num, offset):
    moved = input_x - offset
    inside = (moved >= 0) & (moved < max_num)
    places = _op("arange")(0, input_x.size, 1, mstype.int64).astype(input_x.dtype)
    return _op("masked_select")(moved, inside), _op("masked_select")(places, inside)


SubAndFilter = _primitive(
    "SubAndFilter",
    _sub_and_filter,
    "Called with (x, max_num, offset): the elements of x - offset in [0, max_num), and their "
    "places.",
)


def _dealt(x, per_group_size, group_num):
    if per_group_size < 1 or group_num < 1:
        raise ValueError(
            f"MapUniform: sizes must be positive, got {per_group_size} and {group_num}"
        )
    return x % group_num * per_group_size + x // group_num


MapUniform = _primitive(
    "MapUniform",
    _dealt,
    "Called with (x, per_group_size, group_num): ids dealt out over groups, id i to place i // "
    "group_num of group i % group_num.",
)

# -- counts and checks


def _confusion(labels, predictions, weights=None, *, num_classes, dtype):
    labels, predictions = _tensor(labels), _tensor(predictions)
    if labels.ndim != 1 or predictions.shape != labels.shape:
        raise ValueError(
            "ConfusionMatrix: labels and predictions must be vectors of one length, got "
            f"{labels.shape} and {predictions.shape}"
        )
    if isinstance(num_classes, bool) or not isinstance(num_classes, int) or num_classes < 1:
        raise ValueError(
            f"ConfusionMatrix: 'num_classes' must be a positive int, got {num_classes!r}"
        )
    dtype = getattr(mstype, dtype) if isinstance(dtype, str) else dtype
    ones = _op("ones")(labels.shape, dtype) if weights is None else _tensor(weights).astype(dtype)
    places = _op("stack")([labels.astype(mstype.int64), predictions.astype(mstype.int64)], 1)
    return _op("scatter_nd")(places, ones, (num_classes, num_classes))


ConfusionMatrix = _primitive(
    "ConfusionMatrix",
    _confusion,
    "Called with (labels, predictions, weights): how often, or with what weight, label i was taken "
    "for j.",
    num_classes=...,
    dtype="int32",
)
EqualCount = _primitive(
    "EqualCount",
    lambda x, y: _op("reduce_sum")((x == y).astype(x.dtype)).reshape(1),
    "How many elements of two tensors are equal: [1].",
)


def _smallest_step(x):
    x = _tensor(x)
    steps = {mstype.float16: 2**-10, mstype.float32: 2**-16, mstype.float64: 2**-52}
    if x.dtype not in steps:
        raise TypeError(f"Eps: the operand must be float16, float32 or float64, got {x.dtype}")
    return _op("full_like")(x, steps[x.dtype])


Eps = _primitive(
    "Eps", _smallest_step, "The published precision of the operand's dtype, in its shape."
)


def _relu_v2(x):
    x = _tensor(x)
    if x.ndim != 4:
        raise ValueError(f"ReLUV2: the operand must have 4 dims, got {x.shape}")
    return _op("relu")(x), (x > 0).astype(mstype.uint8)


ReLUV2 = _primitive(
    "ReLUV2", _relu_v2, "max(x, 0) of [n, c, h, w], and where x is positive as uint8 0 or 1."
)


@entry
def batch_dot(x1, x2, axes=None):
    """Products summed over an axis of each operand, sample by sample: axes is (a1, a2), one number
    for both, or None for the last of x1 and the last but one (of a matrix the last) of x2."""
    x1, x2 = _tensor(x1), _tensor(x2)
    if x1.ndim < 2 or x2.ndim < 2 or x1.shape[0] != x2.shape[0]:
        raise ValueError(
            f"batch_dot: operands must have a common batch and 2 dims or more, got {x1.shape} and "
            f"{x2.shape}"
        )
    if axes is None:
        axes = (x1.ndim - 1, x2.ndim - 1 if x2.ndim == 2 else x2.ndim - 2)
    elif isinstance(axes, int):
        axes = (axes, axes)
    a, b = (n + x.ndim if n < 0 else n for n, x in zip(axes, (x1, x2)))
    if not 0 < a < x1.ndim or not 0 < b < x2.ndim or x1.shape[a] != x2.shape[b]:
        raise ValueError(f"batch_dot: axes {axes} of {x1.shape} and {x2.shape} do not fit")
    left = _op("moveaxis")(x1, a, x1.ndim - 1)
    right = _op("moveaxis")(x2, b, 1)
    n, k = left.shape[0], left.shape[-1]
    product = _op("matmul")(left.reshape((n, -1, k)), right.reshape((n, k, -1)))
    shape = (n, *left.shape[1:-1], *right.shape[2:])
    return product.reshape(shape if len(shape) > 1 else (n, 1))


def _nll(x, target, weight, reduction):
    loss = _op("nll_loss")(x, target, weight, reduction=reduction)
    return loss, _op("reduce_sum")(_op("gather")(weight, target, 0))


NLLLoss = _primitive(
    "NLLLoss",
    _nll,
    "Called with (logits, labels, weight): nll_loss and the sum of the weights of the labels.",
    reduction="mean",
)


def _triplet(x, positive, negative, margin, p, swap, eps, reduction):
    if isinstance(margin, Tensor) and not _mycel.known(margin):
        # The distances without a margin; its value comes later.
        far = lambda a, b: _op("reduce_sum")(_op("abs")(a - b + eps) ** p, -1) ** (1 / p)
        away = far(x, negative)
        away = _op("minimum")(away, far(positive, negative)) if swap else away
        loss = _op("relu")(far(x, positive) - away + margin)
        return loss if reduction == "none" else _op(f"reduce_{reduction}")(loss)
    margin = margin.item() if isinstance(margin, Tensor) else margin
    return _op("triplet_margin_loss")(x, positive, negative, margin, p, eps, swap, reduction)


TripletMarginLoss = _primitive(
    "TripletMarginLoss",
    _triplet,
    "Called with (x, positive, negative, margin): triplet_margin_loss.",
    p=2,
    swap=False,
    eps=1e-6,
    reduction="mean",
)


@entry
def add_flags(fn=None, **flags):
    """Decorates a function or a cell's class with flags of its compilation, which are kept on
    it."""

    def decorate(f):
        f._func_graph_flags = {**getattr(f, "_func_graph_flags", {}), **flags}
        return f

    return decorate if fn is None else decorate(fn)


_IMPORTED = ("Parameter", "Primitive", "Tensor", "entry", "mstype")
__all__ = [name for name in globals() if not name.startswith("_") and name not in _IMPORTED]
