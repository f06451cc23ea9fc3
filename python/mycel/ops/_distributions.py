"""Random numbers and choices in further published forms: bounds given by tensors, classes drawn by
their rank, masks of bits, boxes cut out of images."""

import math

from mycel import _mycel
from mycel._mycel import Tensor, entry
from mycel.common import dtype as mstype
from mycel.ops._forms import _op, _primitive, _tensor
from mycel.ops._random import _draw, _float, _key, _shape, multinomial_with_replacement, randperm


def _seed(seed, seed2=0):
    return (seed * 1000003 + seed2) % 2**63


@entry
def rrelu(input, lower=1 / 8, upper=1 / 3):  # noqa: A002
    """x where it is not negative, else x times a number drawn for it from [lower, upper) (Xu et al.
    2015)."""
    x = _tensor(input)
    if not lower <= upper:
        raise ValueError(f"rrelu: 'lower' must not be above 'upper', got {lower} and {upper}")
    slope = _draw("keyed_uniform", _key("rrelu"), x.shape, x.dtype, low=lower, high=upper)
    return _op("select")(x >= 0, x, x * slope)


def _bernoulli(x, p, seed, offset):
    key = _key("Bernoulli") if seed < 0 else _mycel.derive_key(int(seed), int(offset))
    return _draw("keyed_bernoulli", key, _float(p), x.shape).astype(x.dtype)


Bernoulli = _primitive(
    "Bernoulli",
    _bernoulli,
    "Called with (x, p): ones with probability p, else zeros, in the shape and dtype of x; a seed "
    "of 0 or more decides what is drawn.",
    seed=-1,
    offset=0,
)


def _cauchy(size, median, sigma):
    u = _draw("keyed_uniform", _key("Cauchy"), _shape("Cauchy", size))
    return _op("tan")((u - 0.5) * math.pi) * sigma + median


Cauchy = _primitive(
    "Cauchy",
    _cauchy,
    "Called without operands: Cauchy numbers around a median, float32.",
    size=...,
    median=0.0,
    sigma=1.0,
)


def _log_normal(x, mean, std):
    z = _draw("keyed_normal", _key("LogNormalReverse"), x.shape, x.dtype)
    return _op("exp")(z * std + mean)


LogNormalReverse = _primitive(
    "LogNormalReverse",
    _log_normal,
    "Called with x: exp of normal numbers in the shape and dtype of x.",
    mean=1.0,
    std=2.0,
)
MultinomialWithReplacement = _primitive(
    "MultinomialWithReplacement",
    lambda x, seed, offset, numsamples, replacement: multinomial_with_replacement(
        x, seed, offset, numsamples, replacement
    ),
    "Called with (x, seed, offset): multinomial_with_replacement.",
    numsamples=...,
    replacement=False,
)


def _truncated(shape, mean, stdevs, low, high, seed, seed2):
    name = "ParameterizedTruncatedNormal"
    full = _shape(name, shape)
    mean = _float(mean)
    kind = mean.dtype
    wide = mstype.float64 if kind == mstype.float64 else mstype.float32

    def spread(v):
        v = _float(v).astype(wide)
        if v.ndim > 1 or (v.ndim == 1 and v.shape[0] not in (1, full[0])):
            raise ValueError(
                f"{name}: parameters must be numbers or one for each of {full[0]} rows, got "
                f"{v.shape}"
            )
        return v.reshape((-1,) + (1,) * (len(full) - 1))

    mean, deviation = spread(mean), spread(stdevs)
    low, high = (spread(low) - mean) / deviation, (spread(high) - mean) / deviation
    root = math.sqrt(2)
    below, above = (_op("erf")(v / root) for v in (low, high))
    u = _draw("keyed_uniform", _key(name, _seed(seed, seed2)), full, wide)
    z = _op("erfinv")(below + u * (above - below)) * root
    z = _op("maximum")(_op("minimum")(z, high), low)
    return (z * deviation + mean).astype(kind)


ParameterizedTruncatedNormal = _primitive(
    "ParameterizedTruncatedNormal",
    _truncated,
    "Called with (shape, mean, stdevs, min, max): normal numbers between min and max; parameters "
    "are numbers or have one for each row.",
    seed=0,
    seed2=0,
)


def _randperm(n, max_length, pad, dtype):
    n = _tensor(n).reshape(())
    if _mycel.known(n) and not 0 <= int(n) <= max_length:
        raise ValueError(f"Randperm: n must be in [0, max_length = {max_length}], got {int(n)}")
    place = _op("arange")(0, max_length, 1, mstype.int64)
    u = _draw("keyed_uniform", _key("Randperm"), (max_length,), mstype.float64)
    # Places from n on sort behind all others.
    order = _op("sort")(_op("select")(place < n, u, _op("full_like")(u, 2.0)))[1]
    return _op("select")(place < n, order, _op("full_like")(order, pad)).astype(dtype)


Randperm = _primitive(
    "Randperm",
    _randperm,
    "Called with n: the numbers 0 to n - 1 in random order, filled up with pad to max_length.",
    max_length=1,
    pad=-1,
    dtype=mstype.int32,
)
RandpermV2 = _primitive(
    "RandpermV2",
    lambda n, seed, offset, dtype: randperm(
        n.item() if isinstance(n, Tensor) else n, seed, offset, dtype
    ),
    "Called with (n, seed, offset): randperm.",
    dtype=mstype.int64,
)


def _any_ints(shape, dtype):
    dtype = mstype.dtype(dtype)
    if dtype not in (mstype.int32, mstype.int64):
        raise TypeError(f"NonDeterministicInts: 'dtype' must be int32 or int64, got {dtype}")
    shape = _shape("NonDeterministicInts", shape)
    draw = lambda: _draw(
        "keyed_randint", _key("NonDeterministicInts"), shape, -(2**31), 2**31, mstype.int64
    )
    if dtype == mstype.int32:
        return draw().astype(mstype.int32)
    return draw() * 2**32 + (draw() + 2**31)


NonDeterministicInts = _primitive(
    "NonDeterministicInts",
    _any_ints,
    "Called with a shape: whole numbers of the dtype, each as likely as any other.",
    dtype=mstype.int64,
)

# -- classes drawn by rank


def _tries(shares, count):
    """How many draws with replacement give `count` different classes on average."""
    expected = lambda t: sum(-math.expm1(t * math.log1p(-p)) for p in shares)
    low, high = 0.0, float(count)
    while expected(high) < count - 1e-9 and high < 1e12:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if expected(middle) < count else (low, middle)
    return high


@entry
def log_uniform_candidate_sampler(
    true_classes, num_true=1, num_sampled=5, unique=True, range_max=5, seed=0
):
    """num_sampled classes of [0, range_max), class c with probability log((c + 2) / (c + 1)) /
    log(range_max + 1), and how often each true class and each drawn one is expected."""
    name = "log_uniform_candidate_sampler"
    true_classes = _tensor(true_classes)
    if true_classes.ndim != 2 or true_classes.shape[1] != num_true:
        raise ValueError(
            f"{name}: true_classes must be [batch, {num_true}], got {true_classes.shape}"
        )
    if num_sampled < 1 or range_max < 1 or (unique and num_sampled > range_max):
        raise ValueError(
            f"{name}: {num_sampled} {'different ' if unique else ''}classes cannot be drawn from "
            f"{range_max}"
        )
    scale = math.log(range_max + 1)
    shares = [math.log1p(1 / (c + 1)) / scale for c in range(range_max)]
    log_shares = Tensor([math.log(p) for p in shares], mstype.float32)
    key = _key(name, seed)
    if unique:
        # The largest of log p + Gumbel noise are draws without replacement.
        noisy = log_shares + _draw("keyed_gumbel", key, (range_max,), mstype.float32)
        drawn = _op("top_k")(noisy, num_sampled)[1]
        tries = _tries(shares, num_sampled) if num_sampled < range_max else math.inf
        often = [1.0 if tries == math.inf else -math.expm1(tries * math.log1p(-p)) for p in shares]
    else:
        drawn = _draw("keyed_categorical", key, log_shares, num_sampled, mstype.int64)
        often = [num_sampled * p for p in shares]
    drawn = drawn.astype(true_classes.dtype)
    often = Tensor(often, mstype.float32)
    expected = lambda c: _op("gather")(often, c, 0)
    return drawn, expected(true_classes), expected(drawn)


LogUniformCandidateSampler = _primitive(
    "LogUniformCandidateSampler",
    lambda true_classes, **a: log_uniform_candidate_sampler(true_classes, **a),
    "Class form of log_uniform_candidate_sampler.",
    num_true=1,
    num_sampled=5,
    unique=True,
    range_max=5,
    seed=0,
)


def _hits(true_classes, sampled_candidates, num_true):
    true_classes = _tensor(true_classes)
    if true_classes.ndim != 2 or true_classes.shape[1] != num_true:
        raise ValueError(
            f"ComputeAccidentalHits: true_classes must be [batch, {num_true}], got "
            f"{true_classes.shape}"
        )
    equal = true_classes.expand_dims(-1) == sampled_candidates
    places = _op("nonzero")(equal)
    kind = true_classes.dtype
    row, candidate = (places.narrow(1, i, 1).squeeze(1) for i in (0, 2))
    lowest = -3.4028234663852886e38
    weights = _op("full_like")(row.astype(mstype.float32), lowest)
    return row.astype(mstype.int32), candidate.astype(kind), weights


ComputeAccidentalHits = _primitive(
    "ComputeAccidentalHits",
    _hits,
    "Called with (true_classes, sampled_candidates): the sample and the place of each drawn class "
    "that is a true one of that sample, and the lowest float32 for each; how many is known when it "
    "has run.",
    num_true=1,
)

# -- masks of bits


def _bits(shape, keep_prob):
    count = 1
    for n in _shape("DropoutGenMask", shape):
        count *= n
    keep = _float(keep_prob).reshape(())
    u = _draw("keyed_uniform", _key("DropoutGenMask"), (-(-count // 128) * 128,))
    return _op("compare_and_bitpack")(-u, -keep)


def _gen_mask(shape, keep_prob, Seed0, Seed1):  # noqa: N803
    if Seed0 < 0 or Seed1 < 0:
        raise ValueError(f"DropoutGenMask: seeds must not be negative, got {Seed0} and {Seed1}")
    return _bits(shape, keep_prob)


DropoutGenMask = _primitive(
    "DropoutGenMask",
    _gen_mask,
    "Called with (shape, keep_prob): a bit for each element, 1 with probability keep_prob, eight "
    "in a uint8, filled up to 128.",
    Seed0=0,
    Seed1=0,
)


def _do_mask(x, mask, keep_prob):
    x = _tensor(x)
    if mask.ndim != 1 or mask.shape[0] * 8 < x.size:
        raise ValueError(
            f"DropoutDoMask: the mask must hold a bit for each of {x.size} elements, got "
            f"{mask.dtype}{mask.shape}"
        )
    weights = Tensor([128, 64, 32, 16, 8, 4, 2, 1], mstype.int32)
    bits = (mask.astype(mstype.int32).reshape((-1, 1)) // weights) % 2
    kept = bits.reshape(-1).narrow(0, 0, x.size).reshape(x.shape).astype(x.dtype)
    return x * kept / _float(keep_prob).astype(x.dtype)


DropoutDoMask = _primitive(
    "DropoutDoMask",
    _do_mask,
    "Called with (x, mask, keep_prob): elements whose bit of DropoutGenMask is 1 over keep_prob, "
    "else 0.",
)

# -- boxes cut out of images


def _candidates(height, width, ratios, areas, count, key):
    """Random boxes (top, left, bottom, right) of whole pixels, float32 [count] each, and whether
    they fit."""
    draw = lambda low, high, i: (
        _op("keyed_uniform")((4, count), key=key).narrow(0, i, 1).squeeze(0) * (high - low) + low
    )
    ratio = draw(ratios[0], ratios[1], 0)
    total = height * width
    lowest = _op("sqrt")(total * areas[0] / ratio)
    highest = _op("minimum")(_op("sqrt")(total * areas[1] / ratio), height)
    highest = _op("minimum")(highest, (width + 0.4999) / ratio)
    fits = lowest <= highest
    tall = _op("round")(draw(_op("minimum")(lowest, highest), highest, 1))
    wide = _op("minimum")(_op("round")(tall * ratio), width)
    area = tall * wide
    fits = fits & (tall >= 1) & (wide >= 1) & (area >= total * areas[0])
    fits = fits & (area <= total * areas[1] + 1)
    top = _op("floor")(draw(0.0, 1.0, 2) * (height - tall + 1))
    left = _op("floor")(draw(0.0, 1.0, 3) * (width - wide + 1))
    return top, left, top + tall, left + wide, fits


def _distorted(
    image_size, bounding_boxes, min_object_covered, seed, seed2, aspect_ratio_range, area_range,
    max_attempts, use_image_if_no_bounding_boxes,
):  # fmt: skip
    name = "SampleDistortedBoundingBoxV2"
    if tuple(image_size.shape) != (3,) or bounding_boxes.ndim != 3 or bounding_boxes.shape[2] != 4:
        raise ValueError(
            f"{name}: image_size must be [3] and bounding_boxes [b, n, 4], got {image_size.shape} "
            f"and {bounding_boxes.shape}"
        )
    if max_attempts < 1:
        raise ValueError(f"{name}: 'max_attempts' must be 1 or more, got {max_attempts}")
    boxes = bounding_boxes.reshape((-1, 4)).astype(mstype.float32)
    if boxes.shape[0] == 0:
        if not use_image_if_no_bounding_boxes:
            raise ValueError(
                f"{name}: there are no bounding boxes; use_image_if_no_bounding_boxes takes the "
                "whole image"
            )
        boxes = Tensor([[0, 0, 1, 1]], mstype.float32)
    size = image_size.astype(mstype.float32)
    height, width = (size.narrow(0, i, 1).reshape(()) for i in (0, 1))
    top, left, bottom, right, fits = _candidates(
        height, width, aspect_ratio_range, area_range, max_attempts, _key(name, _seed(seed, seed2))
    )
    edge = lambda i, n: boxes.narrow(1, i, 1).squeeze(1) * n
    y1, x1, y2, x2 = edge(0, height), edge(1, width), edge(2, height), edge(3, width)
    column = lambda v: v.reshape((-1, 1))
    tall = _op("minimum")(column(bottom), y2) - _op("maximum")(column(top), y1)
    wide = _op("minimum")(column(right), x2) - _op("maximum")(column(left), x1)
    both = _op("maximum")(tall, 0 * tall) * _op("maximum")(wide, 0 * wide)
    covered = _op("div_no_nan")(both, (y2 - y1) * (x2 - x1) + 0 * both)
    fits = fits & (covered >= _float(min_object_covered).reshape(())).any(1)
    # The first candidate that fits, else the whole image.
    first = fits.astype(mstype.int32).argmax(0)
    found = fits.any()
    pick = lambda v, other: _op("select")(found, _op("gather")(v, first, 0), other)
    nothing = 0 * height
    top, left = pick(top, nothing), pick(left, nothing)
    bottom, right = pick(bottom, height), pick(right, width)
    depth = size.narrow(0, 2, 1).reshape(()) * 0
    begin = _op("stack")([top, left, depth])
    extent = _op("stack")([bottom - top, right - left, depth - 1])
    relative = _op("stack")([top / height, left / width, bottom / height, right / width])
    kind = image_size.dtype
    return begin.astype(kind), extent.astype(kind), relative.reshape((1, 1, 4))


SampleDistortedBoundingBoxV2 = _primitive(
    "SampleDistortedBoundingBoxV2",
    _distorted,
    "Called with (image_size, bounding_boxes, min_object_covered): where a random part of an image "
    "begins, its size, and its box in parts of the image. The part has an aspect ratio and area in "
    "the ranges and covers that share of a bounding box; after max_attempts it is the whole image.",
    seed=0,
    seed2=0,
    aspect_ratio_range=(0.75, 1.33),
    area_range=(0.05, 1.0),
    max_attempts=100,
    use_image_if_no_bounding_boxes=False,
)

# -- choices among boxes


def _combined(
    boxes, scores, max_output_size_per_class, max_total_size, iou_threshold, score_threshold,
    pad_per_class, clip_boxes,
):  # fmt: skip
    count = lambda v: int(v.item() if isinstance(v, Tensor) else v)
    return _op("combined_non_max_suppression")(
        boxes, scores, _float(iou_threshold), _float(score_threshold),
        count(max_output_size_per_class), count(max_total_size), pad_per_class, clip_boxes,
    )  # fmt: skip


CombinedNonMaxSuppression = _primitive(
    "CombinedNonMaxSuppression",
    _combined,
    "Called with (boxes, scores, max_output_size_per_class, max_total_size, iou_threshold, "
    "score_threshold): combined_non_max_suppression.",
    pad_per_class=False,
    clip_boxes=True,
)

_IMPORTED = (*("Tensor", "entry", "math", "mstype", "multinomial_with_replacement", "randperm"),)
__all__ = [name for name in globals() if not name.startswith("_") and name not in _IMPORTED]
