"""Distributions and bijectors against scipy.stats, numeric integrals and finite differences."""

import mycel as ms
import mycel.nn.probability.bijector as msb
import mycel.nn.probability.distribution as msd
import numpy as np
import pytest
from mycel import Tensor, nn, ops
from scipy import integrate, stats

LINE, POSITIVE, UNIT = [-2.5, -0.3, 0.4, 1.9, 3.0], [0.1, 0.7, 1.5, 4.0], [0.05, 0.3, 0.5, 0.9]
COUNTS = [0.0, 1.0, 2.0, 5.0]

# name: (parameters, scipy's distribution of them, points)
FAMILIES = {
    "Normal": ((0.4, 1.7), lambda m, s: stats.norm(m, s), LINE),
    "Cauchy": ((0.4, 1.7), lambda m, s: stats.cauchy(m, s), LINE),
    "Gumbel": ((0.4, 1.7), lambda m, s: stats.gumbel_r(m, s), LINE),
    "Laplace": ((0.4, 1.7), lambda m, s: stats.laplace(m, s), LINE),
    "Logistic": ((0.4, 1.7), lambda m, s: stats.logistic(m, s), LINE),
    "StudentT": ((3.5, 0.4, 1.7), lambda d, m, s: stats.t(d, m, s), LINE),
    "Exponential": ((1.7,), lambda r: stats.expon(scale=1 / r), [-1.0, *POSITIVE]),
    "Gamma": ((2.5, 1.7), lambda c, r: stats.gamma(c, scale=1 / r), POSITIVE),
    "HalfNormal": ((0.0, 1.7), lambda m, s: stats.halfnorm(m, s), [-1.0, *POSITIVE]),
    "LogNormal": ((0.4, 0.7), lambda m, s: stats.lognorm(s, scale=np.exp(m)), [-1.0, *POSITIVE]),
    "Uniform": ((-1.0, 2.5), lambda a, b: stats.uniform(a, b - a), LINE),
    "Beta": ((2.5, 1.7), lambda a, b: stats.beta(a, b), UNIT),
    "Bernoulli": ((0.3,), lambda p: stats.bernoulli(p), [0.0, 1.0]),
    "Geometric": ((0.3,), lambda p: stats.geom(p, loc=-1), COUNTS),
    "Poisson": ((2.5,), lambda r: stats.poisson(r), COUNTS),
}
DISCRETE = ("Bernoulli", "Geometric", "Poisson")
AT = {
    "prob": ("pdf", "pmf"),
    "log_prob": ("logpdf", "logpmf"),
    "cdf": ("cdf", "cdf"),
    "log_cdf": ("logcdf", "logcdf"),
    "survival_function": ("sf", "sf"),
    "log_survival": ("logsf", "logsf"),
}
DENSITY_ONLY = ("HalfNormal", "StudentT")
NO_MOMENTS = {"HalfNormal", "StudentT", "Cauchy"}
WITH_KL = [n for n in FAMILIES if n not in (*DENSITY_ONLY, "Laplace", "Logistic", "Poisson")]

families = pytest.mark.parametrize("name", FAMILIES)


def made(name, params=None):
    params = FAMILIES[name][0] if params is None else params
    return getattr(msd, name)(*params, dtype=ms.float64)


def double(values):
    return Tensor(np.array(values), ms.float64)


@families
@pytest.mark.parametrize("quantity", AT)
def test_values(name, quantity):
    if name in DENSITY_ONLY and "prob" not in quantity:
        with pytest.raises(NotImplementedError, match=f"there is no formula for {quantity}"):
            getattr(made(name), quantity)(double([1.0]))
        return
    params, peer, points = FAMILIES[name]
    got = getattr(made(name), quantity)(double(points))
    with np.errstate(divide="ignore"):
        want = getattr(peer(*params), AT[quantity][name in DISCRETE])(np.array(points))
    assert got.dtype == ms.float64
    np.testing.assert_allclose(got.asnumpy(), want, rtol=2e-6, atol=1e-12)


@families
def test_moments(name):
    params, peer, _ = FAMILIES[name]
    d, p = made(name), peer(*params)
    if name == "Cauchy":
        for undefined in (d.mean, d.sd, d.var):
            with pytest.raises(ValueError, match="Cauchy: .* is undefined"):
                undefined()
    if name not in NO_MOMENTS:
        np.testing.assert_allclose(d.mean().asnumpy(), p.mean(), rtol=1e-6)
        np.testing.assert_allclose(d.sd().asnumpy(), p.std(), rtol=1e-6)
        np.testing.assert_allclose(d.var().asnumpy(), p.var(), rtol=1e-6)
    if name not in (*DENSITY_ONLY, "Poisson"):
        np.testing.assert_allclose(d.entropy().asnumpy(), p.entropy(), rtol=1e-6)


@pytest.mark.parametrize("name", [n for n in FAMILIES if n not in ("Uniform", "HalfNormal")])
def test_mode_is_the_largest_density(name):
    params, peer, _ = FAMILIES[name]
    grid = np.arange(30.0) if name in DISCRETE else np.linspace(-3, 5, 8001)
    density = getattr(peer(*params), AT["prob"][name in DISCRETE])(grid)
    assert abs(made(name).mode().item() - grid[np.nanargmax(density)]) < 2e-3


@pytest.mark.parametrize("name", WITH_KL)
def test_divergence(name):
    params, peer, _ = FAMILIES[name]
    other = (-1.5, 2.75) if name == "Uniform" else tuple(0.8 * p for p in params)
    p, q = peer(*params), peer(*other)
    if name in DISCRETE:
        k = np.arange(0, 2 if name == "Bernoulli" else 200)
        want = np.sum(p.pmf(k) * (p.logpmf(k) - q.logpmf(k)))
    else:
        edges = [p.support()[0], *p.ppf(np.linspace(0.001, 0.999, 20)), p.support()[1]]
        with np.errstate(all="ignore"):
            want = sum(
                integrate.quad(lambda x: p.pdf(x) * (p.logpdf(x) - q.logpdf(x)), a, b)[0]
                for a, b in zip(edges, edges[1:])
            )
    b = [double(v) for v in other]
    d = made(name)
    np.testing.assert_allclose(d.kl_loss(name, *b).asnumpy(), want, rtol=1e-4, atol=1e-7)
    names = [f"{n}_b" for n in d.parameter_names]
    by_name = d.kl_loss(name, **dict(zip(names, b)))
    np.testing.assert_allclose(by_name.asnumpy(), want, rtol=1e-4, atol=1e-7)
    crossed = d.cross_entropy(name, *b)
    np.testing.assert_allclose(crossed.asnumpy(), want + p.entropy(), rtol=1e-4, atol=1e-7)
    given = d if name == "Gumbel" else getattr(msd, name)(dtype=ms.float64)
    a = [double(v) for v in params]
    crossed = given.cross_entropy(name, *b, *a)
    np.testing.assert_allclose(crossed.asnumpy(), want + p.entropy(), rtol=1e-4, atol=1e-7)
    with pytest.raises(ValueError, match=f"'dist' must be '{name}', got 'Other'"):
        d.kl_loss("Other", *b)


@families
def test_samples(name):
    params, peer, _ = FAMILIES[name]
    ms.set_seed(7)
    drawn = made(name).sample((4000,))
    assert drawn.shape == (4000,)
    values = drawn.asnumpy()
    if name in DISCRETE:
        k = np.arange(12)
        count = np.array([(values == i).sum() for i in k])
        expected = 4000 * peer(*params).pmf(k)
        keep = expected > 5
        assert np.sum((count - expected)[keep] ** 2 / expected[keep]) < stats.chi2.ppf(
            0.9999, keep.sum()
        )
    else:
        assert stats.kstest(values, peer(*params).cdf).pvalue > 1e-4
    ms.set_seed(7)
    np.testing.assert_array_equal(made(name).sample((4000,)).asnumpy(), values)


@families
def test_parameters_of_the_call(name):
    params, peer, points = FAMILIES[name]
    rows = [np.array([p * 0.7, p * 1.1]) if p else np.zeros(2) for p in params]
    none = (None,) * len(params)
    d = made(name, none) if name != "Gumbel" else made(name)
    got = d.log_prob(double(points).expand_dims(1), *map(double, rows)).asnumpy()
    with np.errstate(divide="ignore"):
        want = getattr(peer(*rows), AT["log_prob"][name in DISCRETE])(np.array(points)[:, None])
    np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-12)
    assert d.sample((3,), *map(double, rows)).shape == (3, 2)
    assert [a.shape for a in d.get_dist_args(*map(double, rows))] == [(2,)] * len(params)
    assert d.get_dist_type() == name
    if name != "Gumbel":
        assert d.batch_shape is None
        with pytest.raises(TypeError, match="is needed"):
            d.log_prob(double(points))


@families
def test_gradients(name):
    params, peer, points = FAMILIES[name]
    points = [p for p in points if p > 0] if name in ("Exponential", "HalfNormal", "LogNormal") \
        else points  # fmt: skip
    points = [p for p in points if -1 < p < 2.5] if name == "Uniform" else points
    d = made(name)

    def total(x, *p):
        return d.log_prob(x, *p).sum()

    args = [double(points), *map(double, params)]
    got = ops.grad(total, tuple(range(len(args))))(*args)
    for i, g in enumerate(got):
        if i == 0 and name in DISCRETE:
            continue
        values = [a.asnumpy() for a in args]

        def at(step, i=i, values=values):
            moved = [v + step if j == i else v for j, v in enumerate(values)]
            kind = AT["log_prob"][name in DISCRETE]
            return getattr(peer(*moved[1:]), kind)(moved[0])

        slope = (at(1e-6) - at(-1e-6)) / 2e-6
        want = slope if i == 0 else slope.sum()
        np.testing.assert_allclose(g.asnumpy(), want, rtol=1e-5, atol=1e-6)


def test_samples_are_differentiable():
    d = msd.Normal()

    def spread(mean, sd):
        ms.set_seed(3)
        return d.sample((5,), mean, sd).sum()

    slope = ops.grad(spread, (0, 1))(Tensor(0.5), Tensor(2.0))
    ms.set_seed(3)
    noise = msd.Normal(0.0, 1.0).sample((5,)).asnumpy()
    np.testing.assert_allclose([s.asnumpy() for s in slope], [5, noise.sum()], rtol=1e-5)


def test_categorical():
    probs = np.array([[0.2, 0.3, 0.5], [0.6, 0.1, 0.3]])
    d = msd.Categorical(probs.tolist(), dtype=ms.int32)
    k = np.arange(3)
    mean = probs @ k
    np.testing.assert_allclose(d.mean().asnumpy(), mean, rtol=1e-6)
    np.testing.assert_allclose(d.var().asnumpy(), probs @ k**2 - mean**2, rtol=1e-5)
    np.testing.assert_array_equal(d.mode().asnumpy(), [2, 0])
    np.testing.assert_allclose(d.entropy().asnumpy(), stats.entropy(probs, axis=1), rtol=1e-6)
    np.testing.assert_allclose(d.prob(Tensor([1.0, 2.0])).asnumpy(), [0.3, 0.3], rtol=1e-6)
    np.testing.assert_allclose(d.prob(Tensor([2])).asnumpy(), [0.5, 0.3], rtol=1e-6)
    np.testing.assert_allclose(d.cdf(Tensor([-1.0, 1.5])).asnumpy(), [0, 0.7], atol=1e-6)
    assert np.isnan(d.log_prob(Tensor([3.0])).asnumpy()).all()
    other = np.array([0.5, 0.25, 0.25])
    want = (probs * np.log(probs / other)).sum(1)
    got = d.kl_loss("Categorical", Tensor(other, ms.float32))
    np.testing.assert_allclose(got.asnumpy(), want, rtol=1e-5)
    ms.set_seed(1)
    drawn = d.sample((6000,))
    assert drawn.shape == (6000, 2) and drawn.dtype == ms.int32
    count = [(drawn.asnumpy()[:, 0] == i).mean() for i in k]
    np.testing.assert_allclose(count, probs[0], atol=0.03)
    assert d.broadcast_shape == (2,) and d.batch_shape == (2, 3)


def test_in_a_network():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.normal = msd.Normal(0.5, 2.0)

        def construct(self, x, sd):
            drawn = self.normal("sample", (2, 3))
            return self.normal("log_prob", x, sd=sd), self.normal.entropy(), drawn

    x = np.array([1.0, 2.0], np.float32)
    log_prob, entropy, drawn = Net()(Tensor(x), Tensor([1.0, 3.0]))
    want = stats.norm(0.5, [1, 3]).logpdf(x)
    np.testing.assert_allclose(log_prob.asnumpy(), want, rtol=1e-6)
    np.testing.assert_allclose(entropy.asnumpy(), stats.norm(0.5, 2).entropy(), rtol=1e-6)
    assert drawn.shape == (2, 3)


def test_a_subclass_defines_what_it_has():
    class Triangle(msd.Distribution):
        """Density 2 x on [0, 1]."""

        def __init__(self):
            super().__init__(None, ms.float32, "Triangle", {"param_dict": {}})

        def _prob(self, value):
            return 2 * value

        def _log_survival(self, value):
            return ops.log(1 - value * value)

        def _var(self):
            return Tensor(1 / 18)

    d, x = Triangle(), Tensor([0.25, 0.5])
    np.testing.assert_allclose(d.log_prob(x).asnumpy(), np.log([0.5, 1]), atol=1e-6)
    np.testing.assert_allclose(d("cdf", x).asnumpy(), [0.0625, 0.25], rtol=1e-6)
    np.testing.assert_allclose(d.log_cdf(x).asnumpy(), np.log([0.0625, 0.25]), rtol=1e-6)
    np.testing.assert_allclose(d.sd().asnumpy(), 18**-0.5, rtol=1e-6)
    for missing in (d.mean, d.entropy, d.sample, d.get_dist_type):
        with pytest.raises(NotImplementedError, match="Triangle: there is no formula for"):
            missing()


def test_trainable_parameters():
    class Fit(nn.Cell):
        def __init__(self):
            super().__init__()
            self.d = msd.Normal(ms.Parameter(Tensor([0.0]), name="mean"), 1.0)

        def construct(self, x):
            return -self.d.log_prob(x).mean()

    net = Fit()
    x = Tensor([1.0, 2.0, 6.0])
    (slope,) = ops.value_and_grad(net, None, net.trainable_params())(x)[1]
    np.testing.assert_allclose(slope.asnumpy(), [-3.0], rtol=1e-6)


BIJECTORS = {
    "Exp": ((), np.exp, LINE),
    "PowerTransform": ((0.5,), lambda x: (1 + 0.5 * x) ** 2, [-1.5, 0.3, 2.0]),
    "ScalarAffine": ((-2.0, 0.5), lambda x: -2 * x + 0.5, LINE),
    "Softplus": ((1.5,), lambda x: np.log1p(np.exp(1.5 * x)) / 1.5, LINE),
    "GumbelCDF": ((0.3, 1.5), lambda x: stats.gumbel_r(0.3, 1.5).cdf(x), LINE),
}


@pytest.mark.parametrize("name", BIJECTORS)
def test_bijectors(name):
    args, peer, points = BIJECTORS[name]
    b, x = getattr(msb, name)(*args), np.array(points)
    y = peer(x)
    slope = np.log(np.abs(peer(x + 1e-6) - peer(x - 1e-6)) / 2e-6)
    np.testing.assert_allclose(b.forward(double(x)).asnumpy(), y, rtol=1e-6)
    np.testing.assert_allclose(b("inverse", double(y)).asnumpy(), x, rtol=1e-6, atol=1e-9)
    jacobian = b.forward_log_jacobian(double(x)).asnumpy()
    np.testing.assert_allclose(np.broadcast_to(jacobian, x.shape), slope, rtol=1e-5, atol=1e-8)
    jacobian = b.inverse_log_jacobian(double(y)).asnumpy()
    np.testing.assert_allclose(np.broadcast_to(jacobian, x.shape), -slope, rtol=1e-5, atol=1e-8)
    turned = msb.Invert(b)
    np.testing.assert_allclose(turned.forward(double(y)).asnumpy(), x, rtol=1e-6, atol=1e-9)
    assert turned.name == "Invert" + name and turned.bijector is b


def test_softplus_of_large_values():
    x = np.array([-80.0, 80.0], np.float32)
    b = msb.Softplus()
    np.testing.assert_allclose(b.forward(Tensor(x)).asnumpy(), [np.exp(-80.0), 80], rtol=1e-5)
    np.testing.assert_allclose(b.inverse(Tensor([80.0])).asnumpy(), [80], rtol=1e-6)


def test_transformed():
    d = msb.ScalarAffine(2.0, 1.0)(msd.Normal(0.5, 1.5))
    peer, x = stats.norm(2.0, 3.0), np.array([-1.0, 2.5], np.float32)
    for quantity, theirs in AT.items():
        got = d(quantity, Tensor(x)).asnumpy()
        np.testing.assert_allclose(got, getattr(peer, theirs[0])(x), rtol=1e-5)
    np.testing.assert_allclose(d.mean().asnumpy(), 2.0)
    ms.set_seed(2)
    assert stats.kstest(d.sample((2000,)).asnumpy(), peer.cdf).pvalue > 1e-4
    with pytest.raises(NotImplementedError, match="linear maps"):
        msd.TransformedDistribution(msb.Exp(), msd.Normal(0.0, 1.0)).mean()
    assert isinstance(msd.LogNormal(0.0, 1.0), msd.TransformedDistribution)
    assert isinstance(msd.Gumbel(0.0, 1.0).bijector, msb.Invert)


def test_what_is_refused():
    for make, text in (
        (lambda: msd.Normal(0.0, -1.0), "Normal: 'sd' must be above 0, got -1"),
        (lambda: msd.Bernoulli(1.0), "Bernoulli: 'probs' must be between 0 and 1, got 1"),
        (lambda: msd.Categorical([0.5, 0.6]), "must sum to 1 along the last dim"),
        (lambda: msd.Uniform(2.0, 1.0), "Uniform: 'low' must be below 'high', got 2 and 1"),
        (lambda: msd.Normal([0.0, 1.0], [1.0, 1.0, 1.0]), "broadcast"),
        (lambda: msd.Normal(0.0, 1.0, seed=-1), "'seed' must not be negative"),
        (lambda: msb.PowerTransform(-1.0), "PowerTransform: 'power' must be 0 or above"),
        (lambda: msb.Exp()("sideways", Tensor([1.0])), "there is no map 'sideways'"),
    ):
        with pytest.raises(ValueError, match=text):
            make()
    for make, text in (
        (lambda: msd.Normal(0.0, 1.0, dtype=ms.int32), "Normal: 'dtype' must be one of the float"),
        (lambda: msd.Normal("a", 1.0), "Normal: 'mean' must be a number, list, array or Tensor"),
        (lambda: msd.Normal(0.0, 1.0).prob(1.0), "'value' must be a Tensor, got float"),
        (lambda: msd.Normal(0.0, 1.0).prob(Tensor([1.0]), width=Tensor(1.0)), "no parameter"),
        (lambda: msb.ScalarAffine(1, 0.0), "'scale' must have a float dtype"),
        (lambda: msb.Exp().forward(Tensor([1])), "'value' must have a float dtype"),
        (lambda: msb.Invert(3), "'bijector' must be a Bijector"),
    ):
        with pytest.raises(TypeError, match=text):
            make()
    with pytest.raises(NotImplementedError, match="there is no function 'median'"):
        msd.Normal(0.0, 1.0)("median")
