"""Optimizers, training steps, initializers and metrics in Python."""

import mycel as ms
import numpy as np
import pytest
from mycel import Parameter, Tensor, nn, ops
from mycel.common import initializer as init


def parameters():
    rng = np.random.default_rng(0)
    shapes = {"conv.weight": (3, 2), "bn.gamma": (3,), "bn.beta": (3,)}
    return [
        Parameter(Tensor(rng.normal(size=s).astype(np.float32)), name=n) for n, s in shapes.items()
    ]


def ones(params):
    return tuple(ops.ones_like(p) for p in params)


def test_states_are_named_parameters():
    optimizer = nn.Adam(parameters(), 0.01)
    names = {p.name for p in optimizer.get_parameters()}
    assert {"moment1.conv.weight", "moment2.bn.gamma", "beta1_power", "beta2_power", "global_step",
            "learning_rate"} <= names  # fmt: skip
    assert [p.name for p in optimizer.parameters] == ["conv.weight", "bn.gamma", "bn.beta"]


def test_weight_decay_leaves_norms_out():
    params = parameters()
    before = [p.asnumpy().copy() for p in params]
    nn.Momentum(params, 1.0, 0.0, weight_decay=0.5)(tuple(ops.zeros_like(p) for p in params))
    assert np.allclose(params[0].asnumpy(), 0.5 * before[0])
    assert np.allclose(params[1].asnumpy(), before[1])


def test_groups():
    a, b, c = parameters()
    groups = [
        {"params": [a], "lr": 0.5, "grad_centralization": True},
        {"params": [b, c], "weight_decay": 0.1},
        {"order_params": [c, b, a]},
    ]
    optimizer = nn.SGD(groups, learning_rate=1.0)
    assert [p.name for p in optimizer.parameters] == ["bn.beta", "bn.gamma", "conv.weight"]
    before = [p.asnumpy().copy() for p in (a, b, c)]
    grad = Tensor(np.arange(6, dtype=np.float32).reshape(3, 2))
    optimizer((ops.ones_like(c), ops.ones_like(b), grad))
    centred = grad.asnumpy() - grad.asnumpy().mean(1, keepdims=True)
    assert np.allclose(a.asnumpy(), before[0] - 0.5 * centred, atol=1e-6)
    assert np.allclose(b.asnumpy(), before[1] - (1 + 0.1 * before[1]), atol=1e-6)
    assert float(optimizer.get_lr_parameter(a).asnumpy()) == 0.5
    with pytest.raises(ValueError, match="more than one group"):
        nn.SGD([{"params": [a]}, {"params": [a]}], 0.1)
    with pytest.raises(KeyError, match="no key"):
        nn.SGD([{"params": [a], "rate": 1}], 0.1)


def test_learning_rates_that_change():
    p = Parameter(Tensor(np.zeros(1, np.float32)), name="p")
    optimizer = nn.SGD([p], nn.PolynomialDecayLR(1.0, 0.0, 2, 1.0))
    assert optimizer.dynamic_lr
    values = []
    for _ in range(3):
        optimizer(ones([p]))
        values.append(float(p.asnumpy()[0]))
    assert np.allclose(values, [-1, -1.5, -1.5])

    class Mine(nn.LearningRateSchedule):
        def construct(self, global_step):
            return global_step.astype(ms.float32) + 1

    p.set_data(Tensor(np.zeros(1, np.float32)))
    optimizer = nn.SGD([p], Mine())
    for _ in range(3):
        optimizer(ones([p]))
    assert float(p.asnumpy()[0]) == -6


def test_the_rate_can_be_set():
    p = Parameter(Tensor(np.zeros(1, np.float32)), name="p")
    optimizer = nn.Momentum([p], 0.1, 0.0)
    optimizer.learning_rate.set_data(Tensor(2.0, ms.float32))
    optimizer(ones([p]))
    assert float(p.asnumpy()[0]) == -2


def test_optimizer_that_a_user_writes():
    class SignDescent(nn.Optimizer):
        def __init__(self, params, lr):
            super().__init__(lr, params, weight_decay=0.5)

        def construct(self, gradients):
            lr = self.get_lr()
            for p, g in zip(self.parameters, self.decay_weight(gradients)):
                ops.assign(p, p - lr * ops.sign(g))
            return True

    params = parameters()
    before = [p.asnumpy().copy() for p in params]
    optimizer = SignDescent(params, [1.0, 0.1])
    optimizer(tuple(ops.zeros_like(p) for p in params))
    assert np.allclose(params[0].asnumpy(), before[0] - np.sign(before[0]))
    assert np.allclose(params[1].asnumpy(), before[1])
    assert float(optimizer.get_lr().asnumpy()) == pytest.approx(0.1)


def test_nesterov_by_its_formula():
    """The peer's CPU kernel computes plain momentum here."""
    params = parameters()[:1]
    optimizer = nn.Momentum(params, 0.1, 0.9, use_nesterov=True)
    p, v = params[0].asnumpy().astype(np.float64), 0
    for t in range(3):
        g = np.cos(np.arange(6, dtype=np.float32) + t).reshape(3, 2)
        optimizer((Tensor(g),))
        v = 0.9 * v + g
        p = p - 0.1 * (g + 0.9 * v)
        assert np.allclose(params[0].asnumpy(), p, atol=1e-6)


def test_ftrl_by_its_formula():
    params = parameters()[:1]
    lr, l1, l2 = 0.1, 0.3, 0.1
    optimizer = nn.FTRL(params, learning_rate=lr, l1=l1, l2=l2)
    p = params[0].asnumpy().astype(np.float64)
    n, z = np.full(p.shape, 0.1), np.zeros(p.shape)
    for t in range(3):
        g = np.cos(np.arange(6, dtype=np.float32) + t).reshape(3, 2).astype(np.float64)
        optimizer((Tensor(g.astype(np.float32)),))
        grown = n + g * g
        z = z + g - (np.sqrt(grown) - np.sqrt(n)) / lr * p
        n = grown
        p = np.where(abs(z) > l1, (np.sign(z) * l1 - z) / (np.sqrt(n) / lr + 2 * l2), 0)
        # z loses two digits to cancellation in float32
        assert np.allclose(params[0].asnumpy(), p, rtol=1e-4, atol=1e-5)


def test_lars_by_its_formula():
    params = parameters()
    before = [p.asnumpy().astype(np.float64) for p in params]
    grads = [np.full(p.shape, 0.3, np.float32) for p in params]
    optimizer = nn.LARS(
        nn.Momentum(params, 0.1, 0.9, weight_decay=0.02), epsilon=1e-4, coefficient=0.01,
        lars_filter=lambda p: "bn" not in p.name,
    )  # fmt: skip
    optimizer(tuple(map(Tensor, grads)))
    p, g = before[0], grads[0]
    pn, gn = np.linalg.norm(p), np.linalg.norm(g)
    trust = 0.01 * pn / (gn + 0.02 * pn + 1e-4)
    assert np.allclose(params[0].asnumpy(), p - 0.1 * trust * (g + 0.02 * p), atol=1e-6)
    assert np.allclose(params[1].asnumpy(), before[1] - 0.1 * grads[1], atol=1e-6)


def test_lamb_by_its_formula():
    params = parameters()[:1]
    optimizer = nn.Lamb(params, 0.1, weight_decay=0.01)
    p = params[0].asnumpy().astype(np.float64)
    m = v = np.zeros_like(p)
    for t in range(1, 4):
        g = np.sin(np.arange(p.size, dtype=np.float32) + t).reshape(p.shape)
        optimizer((Tensor(g),))
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g.astype(np.float64)
        u = (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-6) + 0.01 * p
        p = p - 0.1 * np.linalg.norm(p) / np.linalg.norm(u) * u
        # float32 in m / (1 - beta^t): cancellation costs three digits in the first steps
        assert np.allclose(params[0].asnumpy(), p, rtol=1e-4)


class Problem:
    """Two classes that a line separates."""

    def __init__(self):
        rng = np.random.default_rng(0)
        x = rng.normal(size=(64, 4)).astype(np.float32)
        self.x = Tensor(x)
        self.y = Tensor((x[:, 0] + x[:, 1] > 0).astype(np.int32))
        ms.set_seed(1)
        self.net = nn.SequentialCell(nn.Dense(4, 16, activation="relu"), nn.Dense(16, 2))
        self.loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")


@pytest.mark.parametrize("name", ["SGD", "Momentum", "Adam", "RMSProp", "Lamb", "AdamWeightDecay"])
def test_train_one_step(name):
    problem = Problem()
    args = {"Momentum": (0.1, 0.9), "SGD": (1.0,), "RMSProp": (0.1,), "Lamb": (0.2,)}.get(
        name, (0.02,)
    )
    optimizer = getattr(nn, name)(problem.net.trainable_params(), *args)
    step = nn.TrainOneStepCell(nn.WithLossCell(problem.net, problem.loss), optimizer)
    step.set_train()
    losses = [float(step(problem.x, problem.y).asnumpy()) for _ in range(60)]
    assert losses[-1] < 0.5 * losses[0]
    assert int(optimizer.global_step.asnumpy()[0]) == 60


@pytest.mark.one_mode("compares the two modes")
def test_both_modes_agree():
    values = []
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        try:
            problem = Problem()
            net = nn.SequentialCell(nn.BatchNorm1d(4), problem.net, nn.Dropout(0.8))
            optimizer = nn.Adam(net.trainable_params(), 0.01)
            step = nn.TrainOneStepCell(nn.WithLossCell(net, problem.loss), optimizer)
            step.set_train()
            losses = [float(step(problem.x, problem.y).asnumpy()) for _ in range(5)]
            values.append((losses, net[0].moving_mean.asnumpy(), problem.net[0].weight.asnumpy()))
        finally:
            ms.set_context(mode=ms.PYNATIVE_MODE)
    for eager, graph in zip(*values):
        assert np.allclose(eager, graph, rtol=1e-4, atol=1e-6)


def test_subclass_of_train_one_step():
    class Mine(nn.TrainOneStepCell):
        def construct(self, *inputs):
            loss = self.network(*inputs)
            sens = ops.fill(loss.dtype, loss.shape, self.sens)
            grads = self.grad_reducer(self.grad(self.network, self.weights)(*inputs, sens))
            return ops.depend(loss, self.optimizer(grads))

    problem = Problem()
    step = Mine(
        nn.WithLossCell(problem.net, problem.loss), nn.Adam(problem.net.trainable_params(), 0.05)
    )
    losses = [float(step(problem.x, problem.y).asnumpy()) for _ in range(30)]
    assert losses[-1] < 0.5 * losses[0]


def test_loss_scale_skips_overflow():
    p = Parameter(Tensor(np.ones(2, np.float32)), name="p")

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.p = p

        def construct(self, x):
            return (self.p * x).sum()

    scale = nn.DynamicLossScaleUpdateCell(1024.0, 2, 2)
    step = nn.TrainOneStepWithLossScaleCell(Net(), nn.Momentum([p], 0.1, 0.9), scale)
    loss, overflow, used = step(Tensor(np.array([1, 2], np.float32)))
    assert not bool(overflow) and float(used.asnumpy()) == 1024
    assert np.allclose(p.asnumpy(), [0.9, 0.8])
    _, overflow, _ = step(Tensor(np.array([np.inf, 2], np.float32)))
    assert bool(overflow)
    assert np.allclose(p.asnumpy(), [0.9, 0.8])
    assert int(step.optimizer.global_step.asnumpy()[0]) == 1
    assert float(step.scale_sense.asnumpy()) == 512
    for _ in range(2):
        step(Tensor(np.array([1, 2], np.float32)))
    assert float(step.scale_sense.asnumpy()) == 1024


def test_forward_value_and_grad():
    problem = Problem()
    whole = nn.WithLossCell(problem.net, problem.loss)
    weights = problem.net.trainable_params()
    value, grads = nn.ForwardValueAndGrad(whole, weights=weights, get_by_list=True)(
        problem.x, problem.y
    )
    want = nn.WithGradCell(problem.net, problem.loss)(problem.x, problem.y)
    assert np.allclose(value.asnumpy(), whole(problem.x, problem.y).asnumpy())
    for a, b in zip(grads, want):
        assert np.allclose(a.asnumpy(), b.asnumpy(), atol=1e-6)


def test_eval_cell():
    problem = Problem()
    loss, out, label = nn.WithEvalCell(problem.net, problem.loss)(problem.x, problem.y)
    assert loss.shape == () and out.shape == (64, 2) and label is problem.y


def test_initializers():
    ms.set_seed(5)
    a = init.initializer(init.Normal(0.1, 1.0), (100, 50), ms.float32).asnumpy()
    ms.set_seed(5)
    assert np.array_equal(a, init.initializer(init.Normal(0.1, 1.0), [100, 50]).asnumpy())
    assert abs(a.mean() - 1) < 0.01 and abs(a.std() - 0.1) < 0.005
    assert np.array_equal(init.initializer("zeros", 3).asnumpy(), np.zeros(3))
    assert np.array_equal(init.initializer(0.5, (2,)).asnumpy(), [0.5, 0.5])
    assert np.array_equal(init.initializer(init.Identity(), (2, 3)).asnumpy(), np.eye(2, 3))
    q = init.initializer(init.Orthogonal(2.0), (3, 7)).asnumpy()
    assert np.allclose(q @ q.T, 4 * np.eye(3), atol=1e-5)
    sparse = init.initializer(init.Sparse(0.3), (10, 4)).asnumpy()
    assert ((sparse == 0).sum(0) == 3).all()
    dirac = init.initializer(init.Dirac(), (2, 2, 3)).asnumpy()
    assert dirac[0, 0, 1] == 1 and dirac.sum() == 2
    with pytest.raises(ValueError, match="Did you mean"):
        init.initializer("he_unifrom", (2, 2))

    class Ramp(init.Initializer):
        def _initialize(self, arr):
            arr[:] = np.arange(arr.size).reshape(arr.shape)

    layer = nn.Dense(2, 3, weight_init=Ramp())
    assert np.array_equal(layer.weight.asnumpy(), np.arange(6).reshape(3, 2))


def test_metrics_of_classes():
    scores = np.array([[0.2, 0.5], [0.3, 0.1], [0.9, 0.6]], np.float32)
    labels = np.array([1, 0, 1], np.int32)
    x, y = Tensor(scores), Tensor(labels)
    assert nn.Accuracy()(x, y) == pytest.approx(2 / 3)
    assert np.allclose(nn.Precision()(x, y), [0.5, 1])
    recall = nn.Recall()
    recall.update(x, y)
    assert np.allclose(recall.eval(), [1, 0.5]) and recall.eval(True) == pytest.approx(0.75)
    assert np.allclose(nn.F1()(x, y), [2 / 3, 2 / 3])
    assert np.allclose(nn.Fbeta(2.0)(x, y), [5 * 0.5 / (4 * 0.5 + 1), 5 * 0.5 / (4 + 0.5)])
    assert nn.Top1CategoricalAccuracy()(x, y) == pytest.approx(2 / 3)
    assert nn.TopKCategoricalAccuracy(2)(x, y) == 1
    assert np.array_equal(nn.ConfusionMatrix(2)(x, y), [[1, 0], [1, 1]])
    multi = nn.Accuracy("multilabel")
    assert multi(np.array([[0, 1], [1, 1]]), np.array([[0, 1], [0, 1]])) == 0.5
    with pytest.raises(RuntimeError, match="no batch"):
        nn.Accuracy().eval()


def test_metrics_of_numbers():
    x, y = (
        Tensor(np.array([0.1, 0.2, 0.6], np.float32)),
        Tensor(np.array([0.1, 0.25, 0.7], np.float32)),
    )
    assert nn.MAE()(x, y) == pytest.approx(0.15 / 3, abs=1e-6)
    assert nn.MSE()(x, y) == pytest.approx(0.0125 / 3, abs=1e-6)
    assert nn.Loss()(Tensor(0.5)) == 0.5
    p = np.array([[0.2, 0.5], [0.3, 0.1], [0.9, 0.6]], np.float32)
    assert nn.Perplexity()(p, np.array([1, 0, 1])) == pytest.approx(2.2314432, rel=1e-6)
    fpr, tpr, thresholds = nn.ROC(pos_label=1)(np.array([3, 1, 4, 2.0]), np.array([0, 1, 0, 1]))
    assert np.allclose(fpr, [0, 0.5, 1, 1, 1]) and np.allclose(tpr, [0, 0, 0, 0.5, 1])
    assert nn.auc([0, 0.5, 1], [0, 1, 1]) == pytest.approx(0.75)
    bleu = nn.BleuScore()
    candidate = [["i", "have", "a", "pen", "on", "my", "desk"]]
    reference = [
        [
            ["i", "have", "a", "pen", "in", "my", "desk"],
            ["there", "is", "a", "pen", "on", "the", "desk"],
        ]
    ]
    assert bleu(candidate, reference) == pytest.approx(0.5946035575013605)


def test_metric_that_a_user_writes():
    class Worst(nn.Metric):
        def __init__(self):
            super().__init__()
            self.clear()

        def clear(self):
            self._value = 0

        @nn.rearrange_inputs
        def update(self, *inputs):
            self._value = max(self._value, self._convert_data(inputs[0]).max())

        def eval(self):
            return self._value

    metric = Worst().set_indexes([1])
    metric.update(Tensor([5.0]), Tensor([3.0]))
    assert metric.eval() == 3
    assert set(nn.get_metrics({"acc", "loss"})) == {"acc", "loss"}
