"""Cell.summary: its numbers against ones counted by hand."""

import mycel as ms
import numpy as np
import pytest
from mycel import Parameter, Tensor, nn, ops


def zeros(*shape):
    return Tensor(np.zeros(shape, np.float32))


class LeNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid")
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid", has_bias=True)
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(2, 2)
        self.head = nn.SequentialCell(nn.Flatten(), nn.Dense(400, 120), nn.Dense(120, 10))

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        return self.head(self.pool(self.relu(self.conv2(x))))


def test_lenet(capsys):
    net = LeNet()
    net.conv1.weight.requires_grad = False
    table = net.summary(zeros(2, 1, 32, 32))
    assert capsys.readouterr().out.strip() == str(table)
    flops = {
        "conv1": 2 * (2 * 6 * 28 * 28) * 25,
        "conv2": (2 * 16 * 10 * 10) * (2 * 6 * 25 + 1),
        "relu": 2 * 6 * 28 * 28 + 2 * 16 * 10 * 10,
        "pool": (2 * 6 * 14 * 14 + 2 * 16 * 5 * 5) * 4,
        "head.0": 0,
        "head.1": 2 * 120 * (2 * 400 + 1),
        "head.2": 2 * 10 * (2 * 120 + 1),
    }
    assert {path: table[path].flops for path in flops} == flops
    assert table.flops == sum(flops.values())
    assert table["head"].flops == flops["head.1"] + flops["head.2"]
    assert table["relu"].calls == table["pool"].calls == 2
    assert table["conv2"].output_shape == (2, 16, 10, 10)
    assert table["head.0"].output_shape == (2, 400)
    assert table["conv2"].parameters == 16 * 6 * 25 + 16
    assert (table.fixed, table.bytes) == (150, 4 * table.parameters)
    assert table.parameters == 150 + 16 * 151 + 120 * 401 + 10 * 121
    lines = str(table).splitlines()
    assert lines[0].split() == ["layer", "class", "output", "parameters", "FLOPs", "calls"]
    row = ["conv2", "Conv2d", "(2,", "16,", "10,", "10)", "2,416", "963,200", "1"]
    assert row in [line.split() for line in lines]
    assert "150 (150 fixed)" in next(line for line in lines if "conv1" in line)
    assert lines[-1] == f"FLOPs: {table.flops:,}"


def test_transformer_layer():
    n, t, d, f, heads = 3, 5, 8, 16, 2
    layer = nn.TransformerEncoderLayer(d_model=d, nhead=heads, dim_feedforward=f)
    table = layer.summary(zeros(t, n, d))
    tokens = t * n
    projections = tokens * 3 * d * (2 * d + 1)
    scaled = tokens * d
    products = 2 * (n * heads * t * t * (d // heads) * 2)
    out = tokens * d * (2 * d + 1)
    assert table["self_attn.out_proj"].flops == out
    assert table["self_attn"].flops == projections + scaled + products + out
    assert table["linear1"].flops == tokens * f * (2 * d + 1)
    assert table["linear2"].flops == tokens * d * (2 * f + 1)
    inside = ("self_attn", "linear1", "linear2", "activation")
    assert table.flops == sum(table[p].flops for p in inside) + 2 * tokens * d
    assert {"softmax", "layer_norm"} <= set(table.uncounted)
    attention = 4 * d * d + 4 * d
    assert table.parameters == attention + 2 * d * f + f + d + 4 * d


def test_transposed_grouped_and_batched_products():
    x = zeros(2, 4, 8, 8)
    grouped = nn.Conv2d(4, 6, 3, group=2, pad_mode="valid")
    assert grouped.summary(x).flops == 2 * (2 * 6 * 6 * 6) * (2 * 9)
    transposed = nn.Conv2dTranspose(4, 3, 3, stride=2, pad_mode="valid")
    assert transposed.summary(x).flops == 2 * (2 * 4 * 8 * 8) * (3 * 9)

    class Products(nn.Cell):
        def construct(self, pair):
            a, b = pair
            return ops.BatchMatMul(transpose_b=True)(a, b), ops.BatchMatMul(True)(a, a)

    table = Products().summary((zeros(7, 2, 3), zeros(7, 5, 3)))
    assert table.flops == 2 * 7 * 2 * 5 * 3 + 2 * 7 * 3 * 3 * 2
    assert table[""].output_shape == ((7, 2, 5), (7, 3, 3))


def test_lstm_counts_every_step():
    steps, n, i, h = 3, 2, 4, 5
    table = nn.LSTM(i, h).summary(zeros(steps, n, i))
    gates = 4 * h
    from_input = steps * n * gates * (2 * i + 1)
    from_state = steps * n * gates * (2 * h + 1)
    # Their sum, five activations, three products and a sum of states in each step.
    elementwise = steps * n * (gates + 5 * h + 3 * h + h)
    assert table.flops == from_input + from_state + elementwise


class Repeated(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(4, 4)
        self.norm = nn.BatchNorm1d(4)
        self.unused = nn.Dense(2, 2)
        self.twin = nn.Dense(4, 4)
        self.twin.weight = self.fc.weight
        self.drop = nn.Dropout(0.5)

    def construct(self, x):
        i = Tensor(0)
        while i < 3:
            x = self.fc(x)
            i = i + 1
        return self.drop(self.norm(self.twin(x)))


def test_loops_shared_and_unused_parts_leave_the_network_as_it_was():
    net = Repeated().set_train()
    x = Tensor(np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32))
    before = {p.name: p.asnumpy().copy() for p in net.get_parameters()}
    ms.set_seed(3)
    expected = net(x).asnumpy()
    for p in net.get_parameters():
        p.set_data(Tensor(before[p.name]))
    ms.set_seed(3)
    table = net.summary(x)
    assert table["fc"].calls == 3
    assert table["fc"].flops == 3 * 6 * 4 * (2 * 4 + 1)
    assert (table["unused"].calls, table["unused"].output_shape) == (0, None)
    assert "not called" in str(table)
    assert (table["fc"].parameters, table["twin"].parameters) == (20, 4)
    assert all(np.array_equal(p.asnumpy(), before[p.name]) for p in net.get_parameters())
    assert np.array_equal(net(x).asnumpy(), expected)
    with pytest.raises(KeyError, match="there is no layer 'x'"):
        table["x"]


def test_an_error_leaves_the_network_as_it_was():
    net = LeNet()
    with pytest.raises(ValueError, match="conv2d"):
        net.summary(zeros(2, 3, 32, 32))
    assert net(zeros(2, 1, 32, 32)).shape == (2, 10)
    assert net.conv1.weight.asnumpy().shape == (6, 1, 5, 5)


def test_marks_that_tools_read():
    a, b = nn.Dense(2, 2), nn.Dense(2, 2)
    assert 0 < a.create_time <= b.create_time
    assert a.cell_init_args == "Dense[True, None]"
    assert (a.phase, a.set_train(False).phase, a.set_train().phase) == ("train", "predict", "train")
    net = nn.SequentialCell(nn.Dense(3, 4), nn.SequentialCell(nn.ReLU()))
    assert net[0].get_scope() is None
    net.generate_scope()
    scopes = [c.get_scope() for _, c in net.cells_and_names()]
    assert scopes == [None, "Default/0-Dense", "Default/1-SequentialCell",
                      "Default/1-SequentialCell/0-ReLU"]  # fmt: skip
    net.set_comm_fusion(2)
    assert [p.comm_fusion for p in net.trainable_params()] == [2, 2]
    net.pipeline_stage = 1
    assert net.pipeline_stage == 1 and net[0].weight.pipeline_stages[-1] == 1
    assert net.set_broadcast_flag().get_flags() == {"broadcast_flag": True}
    x = Tensor(np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32))
    net.register_forward_hook(lambda cell, inputs, out: out * 2)
    plain = np.maximum(x.asnumpy() @ net[0].weight.asnumpy().T + net[0].bias.asnumpy(), 0)
    assert np.allclose(net.run_construct((x,), {}).asnumpy(), 2 * plain, atol=1e-6)
    for name, value in [("phase", 1), ("cell_init_args", None), ("pipeline_stage", True)]:
        with pytest.raises(TypeError, match=name):
            setattr(net, name, value)
    with pytest.raises(TypeError, match="bprop_debug"):
        net.bprop_debug = 1
    with pytest.raises(ValueError, match="pipeline_stage"):
        net.pipeline_stage = -1
    with pytest.raises(ValueError, match="fusion_type"):
        net.set_comm_fusion(-1)


REFUSED = {
    nn.Cell: "auto_parallel_compile_and_run exec_checkpoint_graph flatten_weights place set_boost "
    "get_func_graph_proto infer_param_pipeline_stage load_parameter_slice set_auto_parallel shard "
    "remove_redundant_parameters set_data_parallel set_jit_config set_parallel_input_with_inputs "
    "set_param_fl set_param_ps",
    Tensor: "asnumpy_of_slice_persistent_data slice_num_of_persistent_data "
    "slice_shape_of_persistent_data",
    ms.Model: "infer_predict_layout infer_train_layout",
}


@pytest.mark.parametrize("owner, name", [(o, n) for o in REFUSED for n in REFUSED[o].split()])
def test_refused_members_say_why(owner, name):
    with pytest.raises(NotImplementedError, match=rf"{owner.__name__}\.{name}: \w+"):
        getattr(owner, name)(None)


def test_refused_values_of_properties_say_why():
    with pytest.raises(NotImplementedError, match="PYNATIVE_MODE"):
        nn.Dense(2, 2).bprop_debug = True
    p = Parameter(Tensor([1.0]), name="p")
    assert (p.unique, p.cache_enable, tuple(p.cache_shape), p.key) == (False, False, (), -1)
    p.key, p.cache_shape = -1, []
    for name, value in [("unique", True), ("cache_enable", True), ("key", 3), ("cache_shape", [2])]:
        with pytest.raises(NotImplementedError, match=f"Parameter.{name}: .*parameter servers"):
            setattr(p, name, value)
