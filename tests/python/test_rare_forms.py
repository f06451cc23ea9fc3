"""Published forms that the peer cannot run on its CPU, that draw, or that change Parameters,
against formulas in NumPy."""

import mycel as ms
import numpy as np
import pytest
from mycel import Parameter, Tensor, nn, ops

RNG = np.random.default_rng(11)


def close(got, want, tol=1e-5):
    np.testing.assert_allclose(got.asnumpy(), want, tol, tol)


def numbers(*shape):
    return RNG.normal(size=shape).astype(np.float32)


# -- moving elements


def test_blocks_between_batch_and_space():
    x = np.arange(2 * 3 * 4 * 6, dtype=np.float32).reshape(2, 3, 4, 6)
    cut = x.reshape(2, 3, 2, 2, 3, 2).transpose(3, 5, 0, 1, 2, 4).reshape(8, 3, 2, 3)
    close(ops.SpaceToBatch(2, [[0, 0], [0, 0]])(Tensor(x)), cut)
    close(ops.BatchToSpace(2, [[0, 0], [0, 0]])(Tensor(cut)), x)
    close(ops.BatchToSpace(2, [[1, 0], [0, 2]])(Tensor(cut)), x[:, :, 1:, :-2])
    close(ops.BatchToSpaceNDV2()(Tensor(cut), (2, 2), ((0, 0), (0, 0))), x)


def test_patches_as_channels():
    x = numbers(2, 3, 4, 5)
    got = nn.Unfold([1, 2, 3, 1], [1, 1, 2, 1], [1, 1, 1, 1])(Tensor(x))
    want = np.stack(
        [x[:, :, i : i + 3, j : j + 3 : 2] for i in range(2) for j in range(3)], 1
    ).reshape(2, 18, 3, 2)
    close(got, want)
    same = nn.Unfold([1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "same")(Tensor(x))
    padded = np.pad(x, ((0, 0), (0, 0), (0, 1), (0, 1)))
    want = np.stack([padded[:, :, i : i + 4, j : j + 5] for i in range(2) for j in range(2)], 1)
    close(same, want.reshape(2, 12, 4, 5))


def test_permutations_and_tables():
    assert ops.InvertPermutation()((3, 0, 2, 1)) == (1, 3, 2, 0)
    with pytest.raises(ValueError, match="no permutation"):
        ops.InvertPermutation()((0, 0))
    table = ops.ConfusionMatrix(3)(Tensor([0, 1, 1, 2]), Tensor([0, 2, 2, 1]))
    np.testing.assert_array_equal(table.asnumpy(), [[1, 0, 0], [0, 0, 2], [0, 1, 0]])
    hits = ops.ComputeAccidentalHits(2)(Tensor([[1, 2], [0, 4], [3, 3]]), Tensor([0, 1, 2, 3, 9]))
    np.testing.assert_array_equal(hits[0].asnumpy(), [0, 0, 1, 2, 2])
    np.testing.assert_array_equal(hits[1].asnumpy(), [1, 2, 0, 3, 3])
    assert (hits[2].asnumpy() == np.finfo(np.float32).min).all()


def test_numbers_are_checked():
    x = Tensor([1.0, 2.0])
    close(ops.CheckNumerics()(x), [1, 2])
    with pytest.raises(ValueError, match="check_numerics: the tensor holds NaN at position 1"):
        ops.CheckNumerics()(Tensor([1.0, np.nan]))
    with pytest.raises(ValueError, match="segment ids must ascend"):
        ops.SegmentSum()(Tensor([[1.0], [2.0]]), Tensor([1, 0]))


def test_diagonal_layers():
    x = numbers(2, 3, 4)
    close(nn.MatrixDiagPart()(Tensor(x)), np.diagonal(x, 0, 1, 2))
    d = numbers(2, 3)
    want = x.copy()
    want[:, np.arange(3), np.arange(3)] = d
    close(nn.MatrixSetDiag()(Tensor(x), Tensor(d)), want)
    close(nn.MatrixDiag()(Tensor(d)), d[:, :, None] * np.eye(3))


def test_tensor_array():
    array = nn.TensorArray(ms.float32, (2,), dynamic_size=False, size=3)
    array.write(2, Tensor([1.0, 2.0]))
    close(array.stack(), [[0, 0], [0, 0], [1, 2]])
    assert int(array.size()) == 3
    with pytest.raises(IndexError, match="index 3 is outside"):
        array.write(3, Tensor([1.0, 2.0]))
    with pytest.raises(ValueError, match="the value must be"):
        array.write(0, Tensor([1.0]))
    array.close()
    with pytest.raises(RuntimeError, match="is closed"):
        array.read(0)


# -- losses and norms


def test_triplet_margin_primitive():
    a, p, n = numbers(4, 3), numbers(4, 3), numbers(4, 3)
    far = lambda x, y: np.linalg.norm(x - y + 1e-6, axis=1)
    want = np.maximum(0, far(a, p) - far(a, n) + 0.7)
    got = ops.TripletMarginLoss(reduction="none")(Tensor(a), Tensor(p), Tensor(n), Tensor(0.7))
    close(got, want)


def test_multilabel_margin():
    x = numbers(2, 4)
    target = np.array([[3, 0, -1, 1], [2, -1, 0, 1]])
    loss, is_target = ops.MultilabelMarginLoss("none")(Tensor(x), Tensor(target))
    want = []
    for row, labels in zip(x, ([3, 0], [2])):
        rest = [i for i in range(4) if i not in labels]
        want.append(sum(max(0, 1 - row[j] + row[i]) for j in labels for i in rest) / 4)
    close(loss, want)
    np.testing.assert_array_equal(is_target.asnumpy(), [[1, 0, 0, 1], [0, 0, 1, 0]])
    close(nn.MultilabelMarginLoss()(Tensor(x), Tensor(target)), np.mean(want))


def test_sampled_softmax_of_all_classes_is_softmax():
    # Drawn are exactly the other classes, and all counts are 1.
    w, b, x = numbers(4, 3), numbers(4), numbers(2, 3)
    one = Tensor(np.ones((2, 1), np.float32))
    values = (Tensor([0, 1, 3]), one, Tensor(np.ones(3, np.float32)))
    loss = nn.SampledSoftmaxLoss(3, 4, sampled_values=values)
    got = loss(Tensor(w), Tensor(b), Tensor(np.array([[2], [2]])), Tensor(x))
    scores = x @ w.T + b
    close(got, np.log(np.exp(scores).sum(1)) - scores[:, 2])
    with pytest.raises(ValueError, match="'num_sampled' must be in"):
        nn.SampledSoftmaxLoss(5, 4)


def test_sync_batch_norm_of_one_process():
    x = numbers(4, 2, 3, 3)
    layer = nn.SyncBatchNorm(2, process_groups=[[0]])
    layer.set_train()
    mean, var = x.mean((0, 2, 3), keepdims=True), x.var((0, 2, 3), keepdims=True)
    close(layer(Tensor(x)), (x - mean) / np.sqrt(var + 1e-5), 1e-4)
    with pytest.raises(NotImplementedError, match="no communication between processes"):
        nn.SyncBatchNorm(2, process_groups=[[0, 1]])


# -- updates


def parameters(*values):
    return [Parameter(Tensor(v), name=f"p{i}") for i, v in enumerate(values)]


@pytest.mark.parametrize("nesterov", [False, True])
def test_sgd(nesterov):
    w, acc, stat = numbers(3), numbers(3), np.array([1, 0, 0], np.float32)
    places = parameters(w, acc, stat)
    op = ops.SGD(0.1, 0.2, nesterov)
    for _ in range(2):
        g = numbers(3)
        got = op(places[0], Tensor(g), Tensor(0.1), places[1], Tensor(0.9), places[2])
        d = g + 0.2 * w
        acc = np.where(stat > 0, d, 0.9 * acc + 0.9 * d)
        stat = np.zeros(3)
        w = w - 0.1 * (d + 0.9 * acc if nesterov else acc)
    for p, want in zip((*places, got), (w, acc, stat, w)):
        close(p, want)


def test_momentum_with_a_scale_and_lars():
    w, acc, g = numbers(3), numbers(3), numbers(3)
    p, a = parameters(w, acc)
    ops.FusedWeightScaleApplyMomentum()(
        Tensor(0.1), Tensor(0.5), p, a, Tensor(0.01), Tensor(g), Tensor(0.9)
    )
    acc = 0.9 * acc + 0.5 * g + 0.1 * w
    close(a, acc)
    close(p, w - 0.01 * acc)
    squares = lambda v: Tensor(np.float32((v**2).sum()))
    run = lambda clip: ops.LARSUpdate(1e-5, 0.5, clip)(
        Tensor(w), Tensor(g), squares(w), squares(g), Tensor(0.1), Tensor(0.2)
    )
    norm_w, norm_g = np.linalg.norm(w), np.linalg.norm(g)
    rate = 0.5 * norm_w / (norm_g + 0.1 * norm_w + 1e-5)
    close(run(False), rate * (g + 0.1 * w))
    close(run(True), min(rate / 0.2, 1) * (g + 0.1 * w))


def test_adam_without_weights_and_with_cast():
    m, v, g = numbers(3), np.abs(numbers(3)), numbers(3)
    pm, pv = parameters(m, v)
    factors = [Tensor(f) for f in (0.9, 0.999, 0.01, 0.9, 0.999, 1e-8)]
    step = ops.AdamNoUpdateParam()(pm, pv, *factors, Tensor(g))
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
    close(pm, m)
    close(pv, v)
    close(step, -0.01 * np.sqrt(1 - 0.999) / (1 - 0.9) * m / (np.sqrt(v) + 1e-8), 1e-4)
    with pytest.raises(TypeError, match="'m' must be a Parameter"):
        ops.AdamNoUpdateParam()(Tensor(m), pv, *factors, Tensor(g))


# -- draws


def test_draws_follow_their_distributions():
    ms.set_seed(5)
    n = 20000
    x = ops.Cauchy([n], 1.5, 2.0)().asnumpy()
    np.testing.assert_allclose(np.quantile(x, [0.25, 0.5, 0.75]), [-0.5, 1.5, 3.5], atol=0.15)
    x = ops.LogNormalReverse(0.3, 0.5)(Tensor(np.zeros(n, np.float32))).asnumpy()
    np.testing.assert_allclose([np.log(x).mean(), np.log(x).std()], [0.3, 0.5], atol=0.02)
    x = ops.Bernoulli(seed=3)(Tensor(np.zeros(n, np.float32)), 0.3).asnumpy()
    assert set(np.unique(x)) == {0, 1} and abs(x.mean() - 0.3) < 0.02
    x = ops.ParameterizedTruncatedNormal()(
        (2, n), Tensor([0.0, 5.0]), Tensor([1.0, 2.0]), Tensor([-1.0, 4.0]), Tensor([1.0, 9.0])
    ).asnumpy()
    assert x[0].min() >= -1 and x[0].max() <= 1 and abs(x[0].mean()) < 0.02
    assert x[1].min() >= 4 and x[1].max() <= 9
    # Mean of N(5, 2) cut to [4, 9]: 5 + 2 (phi(-.5) - phi(2)) / (Phi(2) - Phi(-.5)).
    assert abs(x[1].mean() - (5 + 2 * (0.35207 - 0.05399) / (0.97725 - 0.30854))) < 0.05
    x = ops.NonDeterministicInts(ms.int32)((n,)).asnumpy().astype(np.float64)
    assert abs(x.mean()) < 3e7 and x.max() > 2.1e9 and x.min() < -2.1e9


def test_slopes_are_drawn():
    x = np.concatenate([np.full(5000, -2.0), np.arange(5)]).astype(np.float32)
    y = ops.rrelu(Tensor(x), 0.1, 0.3).asnumpy()
    np.testing.assert_array_equal(y[5000:], np.arange(5))
    slope = y[:5000] / -2
    assert slope.min() >= 0.1 and slope.max() <= 0.3 and abs(slope.mean() - 0.2) < 0.01


def test_permutation_with_padding():
    x = ops.Randperm(max_length=6, pad=-1)(Tensor([4])).asnumpy()
    assert sorted(x[:4]) == [0, 1, 2, 3] and list(x[4:]) == [-1, -1]
    assert sorted(ops.RandpermV2()(5, 1, 2).asnumpy()) == [0, 1, 2, 3, 4]


def test_classes_by_rank():
    ms.set_seed(2)
    true = Tensor(np.array([[0, 7]]))
    drawn, of_true, of_drawn = ops.log_uniform_candidate_sampler(true, 2, 5, True, 8)
    drawn = drawn.asnumpy()
    assert len(set(drawn)) == 5 and drawn.min() >= 0 and drawn.max() < 8
    every = ops.log_uniform_candidate_sampler(Tensor(np.arange(8)[None]), 8, 5, True, 8)[1]
    np.testing.assert_allclose(every.asnumpy().sum(), 5, 1e-3)
    share = np.log((np.arange(8) + 2) / (np.arange(8) + 1)) / np.log(9)
    drawn, of_true, _ = ops.LogUniformCandidateSampler(2, 5000, False, 8)(true)
    np.testing.assert_allclose(of_true.asnumpy()[0], 5000 * share[[0, 7]], 1e-5)
    got = np.bincount(drawn.asnumpy(), minlength=8) / 5000
    np.testing.assert_allclose(got, share, atol=0.03)


def test_masks_of_bits():
    x = np.ones((50, 40), np.float32)
    mask = ops.DropoutGenMask()((50, 40), Tensor(0.7))
    assert mask.shape == (256,) and mask.dtype == ms.uint8
    y = ops.DropoutDoMask()(Tensor(x), mask, Tensor(0.7)).asnumpy()
    assert set(np.unique(np.round(y * 0.7, 5))) == {0, 1}
    assert abs((y > 0).mean() - 0.7) < 0.05


def test_fractional_windows_cover_the_input():
    x = np.arange(81, dtype=np.float32).reshape(1, 1, 9, 9)
    y, places = ops.fractional_max_pool2d(Tensor(x), 3, output_ratio=0.5, return_indices=True)
    assert y.shape == (1, 1, 4, 4)
    np.testing.assert_array_equal(y.asnumpy(), places.asnumpy())  # element = its place
    assert y.asnumpy()[0, 0, -1, -1] == 80
    assert (
        nn.FractionalMaxPool3d(2, (2, 2, 2))(Tensor(numbers(1, 1, 4, 4, 4))).shape[2:] == (2,) * 3
    )


def test_boxes_cut_out():
    size = Tensor(np.array([40, 60, 3], np.int32))
    boxes = Tensor(np.array([[[0.2, 0.2, 0.6, 0.7]]], np.float32))
    op = ops.SampleDistortedBoundingBoxV2(3, 4, area_range=(0.1, 0.5))
    for _ in range(20):
        begin, extent, box = (v.asnumpy() for v in op(size, boxes, 0.3))
        (y, x, _), (h, w, depth) = begin, extent
        assert depth == -1 and 0 <= y and y + h <= 40 and 0 <= x and x + w <= 60
        assert 0.1 * 2400 <= h * w <= 0.5 * 2400 + 1
        np.testing.assert_allclose(box[0, 0], [y / 40, x / 60, (y + h) / 40, (x + w) / 60], 1e-6)
        tall = max(0, min(y + h, 24) - max(y, 8))
        wide = max(0, min(x + w, 42) - max(x, 12))
        assert tall * wide >= 0.3 * 16 * 30 - 1e-3
    # Nothing can cover all of the box with so little area.
    whole = ops.SampleDistortedBoundingBoxV2(area_range=(0.01, 0.02))(size, boxes, 1.0)
    np.testing.assert_array_equal(whole[1].asnumpy(), [40, 60, -1])


def test_glimpse_noise():
    x = Tensor(np.full((1, 4, 4, 1), 7, np.float32))
    out = ops.ExtractGlimpse()(x, (6, 6), Tensor([[0.0, 0.0]])).asnumpy()
    np.testing.assert_array_equal(out[0, 1:5, 1:5, 0], np.full((4, 4), 7))
    border = out[0, 0, :, 0]
    assert (0 <= border).all() and (border < 1).all() and len(np.unique(border)) > 1
    with pytest.raises(ValueError, match="'noise' must be"):
        ops.ExtractGlimpse(noise="salt")(x, (2, 2), Tensor([[0.0, 0.0]]))


# -- methods of tensors


def test_methods_that_change_places():
    x = numbers(4, 3)
    index = np.array([2, 0])
    source = numbers(2, 3)
    want = x.copy()
    want[index] += 2 * source
    close(Tensor(x).index_add(0, Tensor(index), Tensor(source), alpha=2), want)
    want = x.copy()
    want[[0, 3], [1, 2]] = [7, 8]
    at = (Tensor([0, 3]), Tensor([1, 2]))
    close(Tensor(x).index_put(at, Tensor([7.0, 8.0])), want)
    close(Tensor(x).index_select(0, Tensor(index)), x[index])
    places = np.array([[1], [0], [2], [1]])
    want = x.copy()
    np.put_along_axis(want, places, 5, 1)
    close(Tensor(x).scatter(1, Tensor(places), Tensor(np.full((4, 1), 5, np.float32))), want)
    want = x.copy()
    np.fill_diagonal(want, 9)
    close(Tensor(x).fill_diagonal(9.0), want)
    tall = numbers(9, 3)
    want = tall.copy()
    np.fill_diagonal(want, 9, wrap=True)
    close(Tensor(tall).fill_diagonal(9.0, True), want)
    close(Tensor(numbers(2, 4, 3) * 0 + x).sum_to_size(1, 3), 2 * x.sum(0, keepdims=True))
    with pytest.raises(ValueError, match=r"sum_to_size: \(2, 3\) does not broadcast"):
        Tensor(x).sum_to_size(2, 3)


def test_methods_that_draw():
    x = Tensor(np.array([0.0, 0.5, 0.5], np.float32))
    assert set(x.multinomial(50).asnumpy()) <= {1, 2}
    assert set(Tensor(np.zeros((2, 40), np.float32)).bernoulli(0.5).asnumpy().ravel()) <= {0, 1}
    drawn = Tensor(np.array([[-99.0, 0.0, -99.0]], np.float32)).random_categorical(8)
    assert drawn.shape == (1, 8) and (drawn.asnumpy() == 1).all()


@pytest.mark.parametrize("pseudo", [False, True])
@pytest.mark.parametrize("overlapping", [False, True])
def test_pools_of_random_windows(pseudo, overlapping):
    x = numbers(2, 9, 7, 3)
    settings = ((1.0, 1.4, 1.9, 1.0), pseudo, overlapping, True, 3, 5)
    largest, rows, columns = ops.FractionalMaxPool(*settings)(Tensor(x))
    mean, rows2, columns2 = ops.FractionalAvgPool(*settings)(Tensor(x))
    rows, columns = rows.asnumpy(), columns.asnumpy()
    np.testing.assert_array_equal(rows, rows2.asnumpy())
    np.testing.assert_array_equal(columns, columns2.asnumpy())
    assert rows[0] == columns[0] == 0 and rows[-1] == 9 and columns[-1] == 7
    assert len(rows) == 7 and len(columns) == 4
    assert set(np.diff(rows)) <= {1, 2} and set(np.diff(columns)) <= {2, 3}
    more = int(overlapping)
    for i in range(6):
        for j in range(3):
            window = x[:, rows[i] : rows[i + 1] + more, columns[j] : columns[j + 1] + more]
            np.testing.assert_allclose(largest.asnumpy()[:, i, j], window.max((1, 2)), 1e-6)
            np.testing.assert_allclose(mean.asnumpy()[:, i, j], window.mean((1, 2)), 1e-5, 1e-6)


# -- gradient primitives that the peer cannot run


def test_gradients_of_places_and_matrices():
    from mycel.ops.operations import _grad_ops as G

    a = np.array([[4.0, 1, 0], [1, 3, 0.5], [0, 0.5, 2]])
    lower = np.linalg.cholesky(a)
    dy = np.tril(RNG.normal(size=(3, 3)))
    got = G.CholeskyGrad()(Tensor(lower), Tensor(dy)).asnumpy()
    step = RNG.normal(size=(3, 3))
    step = step + step.T
    slope = (np.linalg.cholesky(a + 1e-6 * step) - np.linalg.cholesky(a - 1e-6 * step)) / 2e-6
    np.testing.assert_allclose((got * step).sum(), (slope * dy).sum(), 1e-6)

    x = numbers(1, 2, 5, 4)
    places = np.array([[[[0, 3], [9, 19]], [[1, 1], [7, 8]]]])
    back = numbers(1, 2, 2, 2)
    want = np.zeros((2, 20), np.float32)
    for plane in range(2):
        np.add.at(want[plane], places[0, plane].ravel(), back[0, plane].ravel())
    run = G.FractionalMaxPoolGradWithFixedKsize()
    close(run(Tensor(x), Tensor(back), Tensor(places)), want.reshape(1, 2, 5, 4))

    mask = Tensor(np.array([[1, 0], [0, 1]], np.uint8))
    close(G.ReluGradV2()(Tensor([[1.0, 2.0], [3.0, 4.0]]), mask), [[1, 0], [0, 4]])


def test_gradients_differentiate_again():
    from mycel.ops.operations import _grad_ops as G

    x, dy = Tensor(np.array([0.3, -0.7])), Tensor(np.array([1.0, 2.0]))
    # The gradient of asin is dy / sqrt(1 - x^2).
    again = ops.grad(lambda v: G.AsinGrad()(v, dy).sum())(x)
    v = x.asnumpy()
    close(again, dy.asnumpy() * v / (1 - v**2) ** 1.5)


# -- Python functions as ops


@pytest.mark.plain_calls("the program is compiled by hand")
def test_python_functions_in_programs():
    calls = []

    def both(x, k):
        calls.append(k)
        return x[::-1] * k, np.float32(x.sum())

    f32 = ms.float32
    op = ops.PyFunc(both, [f32, f32], [(3,), ()], [f32, f32], [(3,), ()])

    def program(x, k):
        y, total = op((x * 1, k + 1))
        return y + 1, total * 2

    run = ms.jit(program) if ms.get_context("mode") == ms.GRAPH_MODE else program
    for k in (1.0, 2.0):
        y, total = run(Tensor([1.0, 2.0, 3.0]), Tensor(k))
        close(y, np.array([3.0, 2, 1]) * (k + 1) + 1)
        close(total, 12)
    assert calls == [2, 3]
    with pytest.raises(RuntimeError, match="PyFunc: a Python function has no gradient"):
        ops.grad(lambda x: program(x, Tensor(1.0))[0].sum())(Tensor([1.0, 2.0, 3.0]))
    with pytest.raises(ValueError, match="an operand must be"):
        op((Tensor([1.0]), Tensor(1.0)))


def test_what_a_python_function_keeps_stays():
    """Its operands do not lie in memory that the program uses again."""
    kept = []

    def keep(x):
        kept.append(x)
        return x

    f32 = ms.float32
    op = ops.PyFunc(keep, [f32], [(64,)], [f32], [(64,)])

    def program(x):
        for k in range(4):
            x = op((ops.sqrt(x + k),))[0]
            x = ops.cumsum(x, 0)
        return x.sum()

    run = ms.jit(program) if ms.get_context("mode") == ms.GRAPH_MODE else program
    want, now = [], np.arange(64, dtype=np.float32)
    run(Tensor(now))
    for k in range(4):
        now = np.sqrt(now + np.float32(k))
        want.append(now)
        now = np.cumsum(now, dtype=np.float32)
    assert len(kept) == 4
    for got, w in zip(kept, want):
        np.testing.assert_allclose(np.asarray(got), w, rtol=1e-5)


# -- buffers of experience


def test_ring_buffer():
    shapes, types = [(2,), ()], [ms.float32, ms.int32]
    data = [
        Parameter(Tensor(np.zeros((4, 2), np.float32)), name="s"),
        Parameter(Tensor(np.zeros(4, np.int32)), name="a"),
    ]
    count, head = (Parameter(Tensor(0, ms.int32), name=n) for n in ("count", "head"))
    append = ops.BufferAppend(4, shapes, types)
    item = ops.BufferGetItem(4, shapes, types)
    kept = []

    def put(k):
        append(data, [Tensor(np.full(2, k, np.float32)), Tensor(np.int32(k))], count, head)
        kept.append(k)

    for k in range(6):
        put(k)
        del kept[:-4]
        got = [int(item(data, count, head, i)[1]) for i in range(len(kept))]
        assert got == kept
    rows = np.array([10, 11, 12], np.int32)
    several = np.repeat(rows[:, None], 2, 1).astype(np.float32)
    append(data, [Tensor(several), Tensor(rows)], count, head)
    got = [item(data, count, head, i)[0].asnumpy()[0] for i in (-1, 0, 3)]
    assert got == [12, 5, 12]
    drawn = ops.BufferSample(4, 4, shapes, types, unique=True)(data, count, head)[1].asnumpy()
    assert sorted(drawn) == [5, 10, 11, 12]
    drawn = ops.BufferSample(4, 3, shapes, types)(data, count, head)
    assert set(drawn[1].asnumpy()) <= {5, 10, 11, 12} and drawn[0].shape == (3, 2)
    with pytest.raises(ValueError, match="an item must be"):
        append(data, [Tensor([1.0]), Tensor(np.int32(1))], count, head)
    with pytest.raises(ValueError, match="'batch_size' must be in"):
        ops.BufferSample(4, 5, shapes, types)


def test_structures_and_groups():
    a, b = ops.hyper_add((Tensor([1.0]), [Tensor([2.0])]), (Tensor([3.0]), [Tensor([5.0])]))
    close(a, [4])
    close(b[0], [7])
    assert ops.reduced_shape((2, 3, 4), (-1, 0)) == (1, 3, 1)
    assert ops.reduced_shape((2, 3, 4), ()) == (1, 1, 1)
    got = ops.MapUniform()(Tensor([0, 1, 2, 7, 13]), 5, 3).asnumpy()
    np.testing.assert_array_equal(got, [0, 5, 10, 7, 9])


@pytest.mark.parametrize("pairs", [((1, 0), (2, 1)), [[1, 0], [2, 1]], (1, 0, 2, 1)])
def test_paddings_in_pairs(pairs, mode):
    """Paddings as rows of two, as published, or flat."""
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    want = np.pad(x, ((1, 0), (2, 1)))
    call = ops.Pad(pairs)
    assert np.array_equal((ms.jit(call) if mode == "graph" else call)(Tensor(x)).asnumpy(), want)
    images = Tensor(np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4))
    blocks = ops.SpaceToBatchND([2, 2], ((0, 0), (0, 0)))(images)
    assert np.array_equal(
        ops.BatchToSpaceND([2, 2], [[0, 0], [0, 0]])(blocks).asnumpy(), images.asnumpy()
    )
    assert blocks.asnumpy()[3].tolist() == [[[5, 7], [13, 15]]]


def test_paddings_that_are_no_pairs():
    with pytest.raises(
        ValueError, match=r"Pad: 'paddings' must hold pairs of ints, got \(1, 2, 3\)"
    ):
        ops.Pad(((1, 2, 3), (0, 1)))
