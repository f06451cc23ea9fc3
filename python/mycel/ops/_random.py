"""Random numbers under their published names. Every call draws a fresh key from the process's
random state; `seed` is mixed into it, so that equal calls with different seeds differ."""

from mycel import _mycel
from mycel._mycel import Tensor, entry
from mycel.common import dtype as mstype
from mycel.ops.primitive import Primitive


def _key(op, *seeds):
    mixed = 0
    for seed in seeds:
        if seed is None:
            continue
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise ValueError(f"{op}: 'seed' must be an int of at least 0 or None, got {seed!r}")
        mixed = (mixed * 1000003 + seed) % 2**64
    return _mycel.next_key(mixed)


def _shape(op, shape):
    if isinstance(shape, int) and not isinstance(shape, bool):
        return (shape,)
    if isinstance(shape, Tensor):
        return tuple(shape.tolist())
    if not isinstance(shape, (tuple, list)):
        raise TypeError(
            f"{op}: 'shape' must be an int or a tuple of ints, got {type(shape).__name__}"
        )
    return tuple(shape)


def _draw(record, key, *args, **kwargs):
    return _mycel.op(record)(*args, key=key, **kwargs)


def _float(value):
    return value if isinstance(value, Tensor) else Tensor(value, mstype.float32)


def _broadcast(shape, *parameters):
    """The shape of draws of `shape` whose parameters are tensors: the parameters' dims come
    last."""
    from mycel.common.tensor import _broadcast as meet

    for p in parameters:
        shape = meet(shape, p.shape)
    return shape


@entry
def standard_normal(shape, seed=None):
    """Normal numbers of mean 0 and deviation 1, float32."""
    return _draw("keyed_normal", _key("standard_normal", seed), _shape("standard_normal", shape))


@entry
def normal(shape, mean, stddev, seed=None):
    """Normal numbers; mean and stddev may be tensors that broadcast with shape."""
    mean, stddev = _float(mean), _float(stddev)
    full = _broadcast(_shape("normal", shape), mean, stddev)
    return _draw("keyed_normal", _key("normal", seed), full) * stddev + mean


@entry
def uniform(shape, minval, maxval, seed=None, dtype=mstype.float32):
    """Uniform numbers in [minval, maxval); dtype int32 gives integers. The bounds may be
    tensors."""
    low, high = (v if isinstance(v, Tensor) else Tensor(v) for v in (minval, maxval))
    full = _broadcast(_shape("uniform", shape), low, high)
    key = _key("uniform", seed)
    if mstype.dtype(dtype) in (mstype.int32, mstype.int64):
        if low.size == high.size == 1:
            return _draw("keyed_randint", key, full, low.item(), high.item(), dtype=dtype)
        span = (high - low).astype(mstype.float64)
        drawn = _draw("keyed_uniform", key, full, dtype=mstype.float64) * span
        return (low.astype(mstype.float64) + drawn.floor()).astype(dtype)
    low, high = low.astype(dtype), high.astype(dtype)
    return _draw("keyed_uniform", key, full, dtype=dtype) * (high - low) + low


@entry
def gamma(shape, alpha, beta, seed=None):
    """Gamma variables of shape parameter alpha and rate beta, both tensors or numbers."""
    alpha, beta = _float(alpha), _float(beta)
    full = _shape("gamma", shape) + _broadcast((), alpha, beta)
    return _draw("keyed_gamma", _key("gamma", seed), alpha.broadcast_to(full)) / beta


@entry
def random_gamma(shape, alpha, seed=None):
    """Gamma variables of shape parameter alpha and rate 1; the dims of alpha come last."""
    alpha = _float(alpha)
    full = _shape("random_gamma", shape) + alpha.shape
    return _draw("keyed_gamma", _key("random_gamma", seed), alpha.broadcast_to(full))


@entry
def poisson(shape, mean, seed=None):
    """Poisson variables as int32; the dims of mean come last."""
    mean = _float(mean)
    full = _broadcast(_shape("poisson", shape), mean)
    return _draw("keyed_poisson", _key("poisson", seed), mean.broadcast_to(full)).astype(
        mstype.int32
    )


@entry
def random_poisson(shape, rate, seed=None, dtype=mstype.float32):
    """Poisson variables; the dims of rate come last."""
    rate = _float(rate)
    full = _shape("random_poisson", shape) + rate.shape
    return _draw("keyed_poisson", _key("random_poisson", seed), rate.broadcast_to(full)).astype(
        dtype
    )


@entry
def standard_laplace(shape, seed=None):
    """Laplace numbers of location 0 and scale 1, float32."""
    return _draw("keyed_laplace", _key("standard_laplace", seed), _shape("standard_laplace", shape))


@entry
def laplace(shape, mean, lambda_param, seed=None):
    """Laplace numbers of location mean and scale lambda_param."""
    mean, scale = _float(mean), _float(lambda_param)
    full = _broadcast(_shape("laplace", shape), mean, scale)
    return _draw("keyed_laplace", _key("laplace", seed), full) * scale + mean


@entry
def bernoulli(input, p=0.5, seed=None):  # noqa: A002
    """Ones with probability p, else zeros, in the shape and dtype of input."""
    drawn = _draw("keyed_bernoulli", _key("bernoulli", seed), _float(p), input.shape)
    return drawn.astype(input.dtype)


@entry
def multinomial(input, num_samples, replacement=True, seed=None):  # noqa: A002
    """Indices drawn with probabilities proportional to the last dim of input, int32."""
    key = _key("multinomial", seed)
    return _draw("keyed_multinomial", key, _float(input), num_samples, replacement)


@entry
def multinomial_with_replacement(x, seed, offset, numsamples, replacement=False):
    """Indices drawn with probabilities proportional to the last dim of x, int64; a function of
    seed and offset."""
    key = _mycel.derive_key(int(seed), int(offset))
    return _draw("keyed_multinomial", key, _float(x), numsamples, replacement, dtype=mstype.int64)


@entry
def random_categorical(logits, num_sample, seed=0, dtype=mstype.int64):
    """Indices drawn with probabilities softmax(logits) along the last dim."""
    return _draw(
        "keyed_categorical", _key("random_categorical", seed), _float(logits), num_sample, dtype
    )


@entry
def choice_with_mask(input_x, count=256, seed=None):
    """Indices of `count` random elements that are True, one row each, and True; when there are
    fewer, rows of zeros and False follow."""
    return _draw("keyed_choice", _key("choice_with_mask", seed), input_x, count)


@entry
def uniform_candidate_sampler(
    true_classes, num_true, num_sampled, unique, range_max, seed=0, remove_accidental_hits=False
):
    """num_sampled random classes of [0, range_max), and how often each true class and each drawn
    one is expected."""
    name = "uniform_candidate_sampler"
    if true_classes.ndim != 2 or true_classes.shape[1] != num_true:
        raise ValueError(
            f"{name}: true_classes must be [batch, {num_true}], got {true_classes.shape}"
        )
    key = _key(name, seed)
    settings = (num_sampled, unique, range_max, remove_accidental_hits)
    return _draw("keyed_candidates", key, true_classes, *settings)


@entry
def randperm(n, seed=0, offset=0, dtype=mstype.int64):
    """The numbers 0 to n - 1 in random order; with a seed or offset, a function of them."""
    n = int(n)
    key = _mycel.derive_key(int(seed), int(offset)) if seed or offset else _key("randperm")
    return _draw("keyed_permutation", key, n, dtype=dtype)


@entry
def shuffle(x, seed=None):
    """The rows of x in random order."""
    return _draw("keyed_shuffle", _key("shuffle", seed), x)


@entry
def dropout(input, p=0.5, training=True, seed=None):  # noqa: A002
    """Each element is 0 with probability p, else divided by 1 - p; input itself when not
    training."""
    _probability("dropout", p)
    if not training or p == 0:
        return input
    return _draw("keyed_dropout", _key("dropout", seed), input, p=p)


def _probability(op, p):
    if isinstance(p, bool) or not isinstance(p, (int, float)):
        raise TypeError(f"{op}: 'p' must be a number, got {type(p).__name__}")
    if not 0 <= p <= 1:
        raise ValueError(f"{op}: 'p' must be in [0, 1], got {p}")


def _like(dtype):
    return mstype.float32 if dtype is None else mstype.dtype(dtype)


def _sizes(op, size):
    return _shape(op, size[0]) if len(size) == 1 else _shape(op, size)


@entry
def rand(*size, dtype=None, seed=None):
    """Uniform numbers in [0, 1) of the given sizes; float32 unless a dtype is given."""
    return _draw("keyed_uniform", _key("rand", seed), _sizes("rand", size), _like(dtype))


@entry
def rand_like(input, seed=None, *, dtype=None):  # noqa: A002
    """Uniform numbers in [0, 1) in the shape of input, and its dtype unless another is given."""
    return rand(*input.shape, dtype=input.dtype if dtype is None else dtype, seed=seed)


@entry
def randn(*size, dtype=None, seed=None):
    """Normal numbers of mean 0 and deviation 1; float32 unless a dtype is given."""
    return _draw("keyed_normal", _key("randn", seed), _sizes("randn", size), _like(dtype))


@entry
def randn_like(input, seed=None, *, dtype=None):  # noqa: A002
    """Normal numbers in the shape of input, and its dtype unless another is given."""
    return randn(*input.shape, dtype=input.dtype if dtype is None else dtype, seed=seed)


@entry
def randint(low, high, size, seed=None, *, dtype=None):
    """Uniform integers in [low, high); int64 unless a dtype is given."""
    kind = mstype.int64 if dtype is None else dtype
    return _draw("keyed_randint", _key("randint", seed), _shape("randint", size), low, high, kind)


@entry
def randint_like(input, low, high, seed=None, *, dtype=None):  # noqa: A002
    """Uniform integers in [low, high) in the shape of input, of its dtype or another one given."""
    return randint(low, high, input.shape, seed, dtype=input.dtype if dtype is None else dtype)


@entry
def gumbel_softmax(logits, tau=1.0, hard=False, dim=-1):
    """Differentiable samples of a categorical distribution: softmax((logits + Gumbel noise) / tau).
    With hard, one-hot results whose gradient is that of the soft ones."""
    from mycel import ops

    if tau <= 0:
        raise ValueError(f"gumbel_softmax: 'tau' must be positive, got {tau}")
    noise = _draw("keyed_gumbel", _key("gumbel_softmax"), logits.shape, logits.dtype)
    soft = ops.softmax((logits + noise) / tau, dim)
    if not hard:
        return soft
    best = ops.one_hot(
        soft.argmax(dim), logits.shape[dim], Tensor(1, logits.dtype), Tensor(0, logits.dtype), dim
    )
    return best + soft - ops.stop_gradient(soft)


def _channel_dropout(name, ranks):
    def drop(input, p=0.5, training=True):  # noqa: A002
        _probability(name, p)
        if input.ndim not in ranks:
            raise ValueError(
                f"{name}: input must have {' or '.join(map(str, ranks))} dims, got {input.ndim}"
            )
        if not training or p == 0:
            return input
        batched = input if input.ndim == ranks[-1] else input.expand_dims(0)
        out = _draw("keyed_dropout_channels", _key(name), batched, p=p, dims=2)
        return out if batched is input else out.squeeze(0)

    drop.__name__ = drop.__qualname__ = name
    drop.__doc__ = "Whole channels are 0 with probability p, the others divided by 1 - p."
    return entry(drop)


dropout1d = _channel_dropout("dropout1d", (2, 3))
dropout2d = _channel_dropout("dropout2d", (3, 4))
dropout3d = _channel_dropout("dropout3d", (4, 5))


def _seeded(name, fn, doc, count):
    """A published class whose constructor takes seed and seed2 and whose call takes `count`
    arguments."""

    class Seeded(Primitive):
        __doc__ = doc

        def __init__(self, seed=0, seed2=0):
            super().__init__()
            _key(name, seed, seed2)
            self.add_prim_attr("seed", seed)
            self.add_prim_attr("seed2", seed2)

        def __call__(self, *args):
            if len(args) != count:
                raise TypeError(f"{name}: {count} arguments expected, got {len(args)}")
            mixed = (self.seed * 1000003 + self.seed2) % 2**63
            return fn(*args, seed=mixed)

    Seeded.__name__ = Seeded.__qualname__ = name
    Seeded.__module__ = "mycel.ops"
    return Seeded


def _uniform_int(shape, minval, maxval, seed):
    return uniform(shape, minval, maxval, seed, mstype.int32)


def _uniform_real(shape, seed):
    return _draw("keyed_uniform", _key("UniformReal", seed), _shape("UniformReal", shape))


StandardNormal = _seeded("StandardNormal", standard_normal, standard_normal.__doc__, 1)
StandardLaplace = _seeded("StandardLaplace", standard_laplace, standard_laplace.__doc__, 1)
Gamma = _seeded("Gamma", gamma, gamma.__doc__, 3)
Poisson = _seeded("Poisson", poisson, poisson.__doc__, 2)
UniformInt = _seeded("UniformInt", _uniform_int, "Uniform int32 in [minval, maxval).", 3)
UniformReal = _seeded("UniformReal", _uniform_real, "Uniform float32 in [0, 1).", 1)


RandomGamma = _seeded("RandomGamma", random_gamma, random_gamma.__doc__, 2)
RandomShuffle = _seeded("RandomShuffle", shuffle, shuffle.__doc__, 1)


class RandomChoiceWithMask(Primitive):
    """Class form of choice_with_mask."""

    def __init__(self, count=256, seed=0, seed2=0):
        super().__init__()
        _key("RandomChoiceWithMask", seed, seed2)
        for name, value in (("count", count), ("seed", seed), ("seed2", seed2)):
            self.add_prim_attr(name, value)

    def __call__(self, input_x):
        mixed = (self.seed * 1000003 + self.seed2) % 2**63
        return choice_with_mask(input_x, self.count, mixed)


class UniformCandidateSampler(Primitive):
    """Class form of uniform_candidate_sampler."""

    def __init__(
        self, num_true, num_sampled, unique, range_max, seed=0, remove_accidental_hits=False
    ):
        super().__init__()
        self.settings = (num_true, num_sampled, unique, range_max, seed, remove_accidental_hits)

    def __call__(self, true_classes):
        return uniform_candidate_sampler(true_classes, *self.settings)


class TruncatedNormal(Primitive):
    """Normal numbers of mean 0 and deviation 1 within two deviations of the mean."""

    def __init__(self, dtype=mstype.float32, seed=0, seed2=0):
        super().__init__()
        self.dtype, self.seed = mstype.dtype(dtype), (seed * 1000003 + seed2) % 2**63

    def __call__(self, shape):
        key = _key("TruncatedNormal", self.seed)
        return _draw("keyed_truncated_normal", key, _shape("TruncatedNormal", shape), self.dtype)


class RandomPoisson(Primitive):
    """Poisson variables; the dims of rate come last."""

    def __init__(self, seed=0, seed2=0, dtype=mstype.int64):
        super().__init__()
        self.dtype, self.seed = mstype.dtype(dtype), (seed * 1000003 + seed2) % 2**63

    def __call__(self, shape, rate):
        return random_poisson(shape, rate, self.seed, self.dtype)


class Multinomial(Primitive):
    """Indices drawn with probabilities proportional to the last dim of x, with replacement."""

    def __init__(self, seed=0, seed2=0, dtype=mstype.int32):
        super().__init__()
        self.seed = (seed * 1000003 + seed2) % 2**63
        self.dtype = mstype.dtype(dtype)

    def __call__(self, x, num_samples):
        return multinomial(x, num_samples, True, self.seed).astype(self.dtype)


class RandomCategorical(Primitive):
    """Indices drawn with probabilities softmax(logits)."""

    def __init__(self, dtype=mstype.int64):
        super().__init__()
        self.dtype = mstype.dtype(dtype)

    def __call__(self, logits, num_sample, seed=0):
        return random_categorical(logits, num_sample, seed, self.dtype)


class Dropout(Primitive):
    """(x with elements dropped, mask of those kept). keep_prob: the probability to keep an
    element."""

    def __init__(self, keep_prob=0.5, Seed0=0, Seed1=0):  # noqa: N803
        super().__init__()
        if not 0 < keep_prob <= 1:
            raise ValueError(f"Dropout: 'keep_prob' must be in (0, 1], got {keep_prob}")
        self.keep_prob, self.seed = keep_prob, (Seed0 * 1000003 + Seed1) % 2**63

    def __call__(self, x):
        from mycel import ops

        key = _key("Dropout", self.seed)
        ones = ops.ones_like(x)
        mask = (
            ones if self.keep_prob == 1 else _draw("keyed_dropout", key, ones, p=1 - self.keep_prob)
        )
        return x * mask, (mask != 0).astype(x.dtype)


class _ChannelDropout(Primitive):
    def __init__(self, keep_prob=0.5):
        super().__init__()
        if not 0 < keep_prob <= 1:
            raise ValueError(f"{self.name}: 'keep_prob' must be in (0, 1], got {keep_prob}")
        self.keep_prob = keep_prob

    def __call__(self, x):
        from mycel import ops

        ones = ops.ones_like(x)
        key = _key(self.name)
        p = 1 - self.keep_prob
        mask = ones if p == 0 else _draw("keyed_dropout_channels", key, ones, p=p, dims=2)
        return x * mask, mask != 0


class Dropout2D(_ChannelDropout):
    """(x with whole channels of [n, c, h, w] dropped, mask of the elements kept)."""


class Dropout3D(_ChannelDropout):
    """(x with whole channels of [n, c, d, h, w] dropped, mask of the elements kept)."""


__all__ = [
    "Dropout", "Dropout2D", "Dropout3D", "Gamma", "Multinomial", "Poisson", "RandomCategorical",
    "RandomGamma", "RandomPoisson", "RandomShuffle", "StandardLaplace", "StandardNormal",
    "TruncatedNormal", "UniformInt", "UniformReal", "bernoulli", "dropout", "dropout1d",
    "choice_with_mask", "uniform_candidate_sampler", "RandomChoiceWithMask",
    "UniformCandidateSampler", "dropout2d",
    "dropout3d", "gamma", "gumbel_softmax", "laplace", "multinomial",
    "multinomial_with_replacement", "normal", "poisson", "rand", "rand_like", "randint",
    "randint_like", "randn", "randn_like", "random_categorical", "random_gamma",
    "random_poisson", "randperm", "shuffle", "standard_laplace", "standard_normal", "uniform",
]  # fmt: skip
