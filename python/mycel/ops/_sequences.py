"""Published forms of alignment losses and of recurrent primitives whose weights are operands."""

from mycel import _mycel
from mycel._mycel import Tensor, entry
from mycel.common import dtype as mstype
from mycel.ops._forms import _op, _primitive, _tensor
from mycel.ops._published import Assert
from mycel.ops._transforms import vjp

# -- connectionist temporal classification, transducers


def _lengths(value):
    return value if isinstance(value, Tensor) else Tensor(value, mstype.int32)


@entry
def ctc_loss(
    log_probs,
    targets,
    input_lengths,
    target_lengths,
    blank=0,
    reduction="mean",
    zero_infinity=False,
):
    """Minus the log probability of targets [n, s] under log_probs [t, n, c] (Graves et al. 2006),
    and the log probabilities [n, t, 2 s + 1] of beginnings of paths. Lengths are tensors or tuples.
    mean divides by the targets' lengths first; zero_infinity makes impossible targets 0."""
    return _op("ctc_loss")(
        log_probs, targets, _lengths(input_lengths), _lengths(target_lengths), blank, reduction,
        zero_infinity,
    )  # fmt: skip


CTCLossV2 = _primitive(
    "CTCLossV2",
    lambda *operands, **a: ctc_loss(*operands, **a),
    "Class form of ctc_loss.",
    blank=0,
    reduction="none",
    zero_infinity=False,
)


@entry
def ctc_greedy_decoder(inputs, sequence_length, merge_repeated=True):
    """The best path of inputs [t, n, c] as sparse labels: (indices, values, shape, minus the sum of
    the best scores); the last class is the blank."""
    return _op("ctc_greedy_decode")(inputs, sequence_length, merge_repeated)


def _rows(indices, values, batch):
    """Sparse labels as rows [n, k] and their lengths [n]."""
    most = values.shape[0]
    values = values.astype(mstype.int64)
    rows = _op("scatter_nd")(indices.astype(mstype.int64), values, (batch, most))
    ones = _op("ones_like")(values)
    return rows, _op("unsorted_segment_sum")(ones, indices.narrow(1, 0, 1).squeeze(1), batch)


def _merged(rows, lengths):
    """Rows without the repeats of the label before."""
    n, most = rows.shape
    place = _op("arange")(0, most, 1, mstype.int64)
    inside = place < lengths.reshape((n, 1))
    before = _op("pad")(rows.narrow(1, 0, most - 1), (1, 0), value=-1)
    fresh = (inside & (rows != before)).astype(mstype.int64)
    at = _op("cumsum")(fresh, 1) - 1
    # What is left out goes to a place behind all others.
    at = _op("select")(fresh == 1, at, _op("full_like")(at, most))
    out = _op("zeros")((n, most + 1), mstype.int64)
    out = _op("tensor_scatter_elements")(out, at, rows, 1)
    return out.narrow(1, 0, most), fresh.sum(1)


class _Fits(Assert):
    def _error(self, values):
        labels, frames = values
        return ValueError(
            f"CTCLoss: there are more labels ({labels}) than frames ({frames}) in a sequence"
            "\n  ignore_longer_outputs_than_inputs counts such sequences 0."
        )


def _ctc(x, labels_indices, labels_values, sequence_length, **a):
    x, batch, classes = _tensor(x), x.shape[1], x.shape[2]
    rows, lengths = _rows(labels_indices, labels_values, batch)
    if a["preprocess_collapse_repeated"] and rows.shape[1] > 0:
        rows, lengths = _merged(rows, lengths)
    longer = lengths > sequence_length
    skip = a["ignore_longer_outputs_than_inputs"]
    if not skip:
        _Fits()(~longer.any(), (lengths, sequence_length))

    def losses(v):
        wide = v.astype(mstype.float32) if v.dtype == mstype.float16 else v
        loss = _op("ctc_forward")(
            _op("log_softmax")(wide, -1), rows, sequence_length, lengths, classes - 1,
            a["ctc_merge_repeated"],
        )[0]  # fmt: skip
        # Labels whose repeats do not fit cannot be met: an infinite loss that pulls nowhere.
        possible = _op("select")(_op("isinf")(loss), _op("zeros_like")(loss), loss)
        return possible.astype(v.dtype), loss.astype(v.dtype)

    _, pull, (loss,) = vjp(losses, x, has_aux=True)
    if skip:
        loss = _op("select")(longer, _op("zeros_like")(loss), loss)
    return loss, pull(_op("ones_like")(loss))


CTCLoss = _primitive(
    "CTCLoss",
    _ctc,
    "Called with (x, labels_indices, labels_values, sequence_length): the loss [n] of scores x [t, "
    "n, c], which are normalised here, the last class being the blank, and its gradient. Labels "
    "are sparse. More labels than frames are an error, or, with "
    "ignore_longer_outputs_than_inputs, count 0.",
    preprocess_collapse_repeated=False,
    ctc_merge_repeated=True,
    ignore_longer_outputs_than_inputs=False,
)


def _rnnt(acts, labels, input_length, label_length, blank_label):
    call = lambda v: _op("rnnt_loss")(v, labels, input_length, label_length, blank_label)
    costs, pull = vjp(call, acts)
    return costs, pull(_op("ones_like")(costs))


RNNTLoss = _primitive(
    "RNNTLoss",
    _rnnt,
    "Called with (acts, labels, input_length, label_length): the transducer loss [n] of log "
    "probabilities acts [n, frames, labels + 1, classes] and its gradient (Graves 2012).",
    blank_label=0,
)

# -- recurrent primitives


def _only(name, settings, **allowed):
    for key, value in allowed.items():
        if settings[key] != value:
            raise ValueError(f"{name}: '{key}' must be {value!r}, got {settings[key]!r}")


def _parts(x, count):
    return _op("split_equal")(x, -1, count)


def _cut(x, bound):
    return _op("clip_by_value")(x, -bound, bound) if bound > 0 else x


def _lstm_gates(gates, c, forget_bias, clip):
    """One step from gates in the order input, cell, forget, output: (h, c, i, j, f, o, tanh c)."""
    i, j, f, o = _parts(gates, 4)
    i, o = _op("sigmoid")(i), _op("sigmoid")(o)
    j, f = _op("tanh")(j), _op("sigmoid")(f + forget_bias)
    c = _cut(f * c + i * j, clip)
    tanh_c = _op("tanh")(c)
    return o * tanh_c, c, i, j, f, o, tanh_c


def _state(x, name, op):
    """An initial state [1, n, h] or [n, h] as [n, h]."""
    if x.ndim == 3 and x.shape[0] == 1:
        return x.squeeze(0)
    if x.ndim != 2:
        raise ValueError(f"{op}: '{name}' must be [1, n, hidden] or [n, hidden], got {x.shape}")
    return x


def _dynamic_rnn(x, w, b, seq_length=None, init_h=None, init_c=None, **a):
    name = "DynamicRNN"
    _only(name, a, cell_type="LSTM", direction="UNIDIRECTIONAL", cell_depth=1, use_peephole=False)
    _only(name, a, keep_prob=1.0, num_proj=0, time_major=True, activation="tanh")
    if seq_length is not None:
        raise ValueError(f"{name}: 'seq_length' must be None, got {seq_length}")
    x, size = _tensor(x), b.shape[0] // 4
    if x.ndim != 3 or tuple(w.shape) != (x.shape[2] + size, 4 * size):
        raise ValueError(
            f"{name}: x must be [t, n, in], w [in + hidden, 4 hidden] and b [4 hidden], got "
            f"{x.shape}, {w.shape} and {b.shape}"
        )
    zeros = _op("zeros")((x.shape[1], size), x.dtype)
    h = zeros if init_h is None else _state(init_h, "init_h", name)
    c = zeros if init_c is None else _state(init_c, "init_c", name)
    of_input = _op("unstack")(_op("matmul")(x, w.narrow(0, 0, x.shape[2])) + b)
    of_state = w.narrow(0, x.shape[2], size)
    steps = []
    for row in of_input:
        gates = row + _op("matmul")(h, of_state)
        step = _lstm_gates(gates, c, a["forget_bias"], a["cell_clip"])
        h, c = step[0], step[1]
        steps.append((h, *step))
    return tuple(_op("stack")(list(v)) for v in zip(*steps))


DynamicRNN = _primitive(
    "DynamicRNN",
    _dynamic_rnn,
    "Long short-term memory called with (x [t, n, in], w [in + hidden, 4 hidden], b, None, init_h, "
    "init_c), gates in the order input, cell, forget, output: (y, h, c, i, j, f, o, tanh c) of "
    "every step, each [t, n, hidden].",
    cell_type="LSTM",
    direction="UNIDIRECTIONAL",
    cell_depth=1,
    use_peephole=False,
    keep_prob=1.0,
    cell_clip=-1.0,
    num_proj=0,
    time_major=True,
    activation="tanh",
    forget_bias=0.0,
    is_training=True,
)


def _gru_step(of_input, h, w, b, a):
    """(h', update, reset, new, product of the new gate with the state)."""
    size = h.shape[-1]
    order = (1, 0) if a["gate_order"] == "zrh" else (0, 1)
    x = _parts(of_input, 3)
    after = a["reset_after"]
    width = 3 * size if after else 2 * size
    s = _op("matmul")(h, w.narrow(1, 0, width))
    s = _parts(s if b is None else s + b.narrow(0, 0, width), 3 if after else 2)
    reset = _op("sigmoid")(x[order[0]] + s[order[0]])
    update = _op("sigmoid")(x[order[1]] + s[order[1]])
    if after:
        hidden = s[2]
        fresh = _op("tanh")(x[2] + reset * hidden)
    else:
        hidden = _op("matmul")(reset * h, w.narrow(1, 2 * size, size))
        hidden = hidden if b is None else hidden + b.narrow(0, 2 * size, size)
        fresh = _op("tanh")(x[2] + hidden)
    return fresh + update * (h - fresh), update, reset, fresh, hidden


def _dynamic_gru(
    x, weight_input, weight_hidden, bias_input=None, bias_hidden=None, seq_length=None,
    init_h=None, **a,
):  # fmt: skip
    name = "DynamicGRUV2"
    _only(name, a, direction="UNIDIRECTIONAL", cell_depth=1, keep_prob=1.0, num_proj=0)
    _only(name, a, time_major=True, activation="tanh")
    if a["gate_order"] not in ("rzh", "zrh"):
        raise ValueError(f"{name}: 'gate_order' must be 'rzh' or 'zrh', got {a['gate_order']!r}")
    if seq_length is not None:
        raise ValueError(f"{name}: 'seq_length' must be None, got {seq_length}")
    x, size = _tensor(x), weight_hidden.shape[0]
    if x.ndim != 3 or tuple(weight_input.shape) != (x.shape[2], 3 * size):
        raise ValueError(
            f"{name}: x must be [t, n, in], weight_input [in, 3 hidden] and weight_hidden [hidden, "
            f"3 hidden], got {x.shape}, {weight_input.shape} and {weight_hidden.shape}"
        )
    h = _op("zeros")((x.shape[1], size), x.dtype) if init_h is None else init_h
    h = _state(h, "init_h", name)
    of_input = _op("matmul")(x, weight_input)
    if bias_input is not None:
        of_input = of_input + bias_input
    steps = []
    for row in _op("unstack")(of_input):
        step = _gru_step(row, h, weight_hidden, bias_hidden, a)
        h = _cut(step[0], a["cell_clip"])
        steps.append((h, h, *step[1:]))
    return tuple(_op("stack")(list(v)) for v in zip(*steps))


DynamicGRUV2 = _primitive(
    "DynamicGRUV2",
    _dynamic_gru,
    "A gated recurrent unit called with (x [t, n, in], weight_input [in, 3 hidden], weight_hidden "
    "[hidden, 3 hidden], bias_input, bias_hidden, None, init_h): (y, h, update, reset, new, hidden "
    "new) of every step, each [t, n, hidden].",
    direction="UNIDIRECTIONAL",
    cell_depth=1,
    keep_prob=1.0,
    cell_clip=-1.0,
    num_proj=0,
    time_major=True,
    activation="tanh",
    gate_order="rzh",
    reset_after=True,
    is_training=True,
)


def _basic_lstm(x, h, c, w, b, **a):
    _only("BasicLSTMCell", a, keep_prob=1.0, state_is_tuple=True, activation="tanh")
    gates = _op("matmul")(_op("concat")([x, h], 1), w.reshape((w.shape[0], -1))) + b.reshape(-1)
    h, c, *rest = _lstm_gates(gates, c, a["forget_bias"], -1.0)
    return (c, h, *rest)


BasicLSTMCell = _primitive(
    "BasicLSTMCell",
    _basic_lstm,
    "One step of long short-term memory called with (x [n, in], h, c, w [in + hidden, 4 hidden], "
    "b), gates in the order input, cell, forget, output: (c, h, i, j, f, o, tanh c).",
    keep_prob=1.0,
    forget_bias=1.0,
    state_is_tuple=True,
    activation="tanh",
)


def _cut_weights(w, a):
    """Per layer and direction (w_ih, w_hh, bias or None) of a flat vector: all input weights of
    the layers and directions, then all state weights, then all biases."""
    hidden, both = a["hidden_size"], 2 if a["bidirectional"] else 1
    cells = [
        hidden * both if layer else a["input_size"]
        for layer in range(a["num_layers"])
        for _ in range(both)
    ]
    total = sum(4 * hidden * (n + hidden + (1 if a["has_bias"] else 0)) for n in cells)
    flat = w.reshape(-1)
    if flat.shape[0] != total:
        raise ValueError(f"LSTM: 'w' must hold {total} weights, got {flat.shape[0]}")
    place = 0

    def take(*shape):
        nonlocal place
        size = 1
        for n in shape:
            size *= n
        place += size
        return flat.narrow(0, place - size, size).reshape(shape)

    ih = [take(4 * hidden, n) for n in cells]
    hh = [take(4 * hidden, hidden) for _ in cells]
    bias = [take(4 * hidden) if a["has_bias"] else None for _ in cells]
    return list(zip(ih, hh, bias))


def _lstm(x, h, c, w, **a):
    x, both = _tensor(x), 2 if a["bidirectional"] else 1
    if x.ndim != 3 or x.shape[2] != a["input_size"]:
        raise ValueError(f"LSTM: the operand must be [t, n, {a['input_size']}], got {x.shape}")
    if not 0 <= a["dropout"] <= 1:
        raise ValueError(f"LSTM: 'dropout' must be in [0, 1], got {a['dropout']}")
    if a["dropout"] > 0:
        raise NotImplementedError(
            "LSTM: 'dropout' must be 0.0: the primitive does not know whether it trains; use "
            "nn.LSTM"
        )
    cells = _cut_weights(w, a)
    last_h, last_c = [], []
    for layer in range(a["num_layers"]):
        outputs = []
        for direction in range(both):
            at = layer * both + direction
            w_ih, w_hh, bias = cells[at]
            state = [v.narrow(0, at, 1).squeeze(0) for v in (h, c)]
            products = _op("unstack")(_op("dense")(x, w_ih, bias))
            steps = [None] * x.shape[0]
            for t in reversed(range(x.shape[0])) if direction else range(x.shape[0]):
                state = _op("lstm_step")(products[t], _op("dense")(state[0], w_hh), state[1])
                steps[t] = state[0]
            outputs.append(_op("stack")(steps))
            last_h.append(state[0])
            last_c.append(state[1])
        x = outputs[0] if both == 1 else _op("concat")(outputs, -1)
    rest = _op("zeros")((1, 1), x.dtype)
    return x, _op("stack")(last_h), _op("stack")(last_c), rest, rest


LSTM = _primitive(
    "LSTM",
    _lstm,
    "Long short-term memory called with (x [t, n, in], h, c, w), gates in the order input, forget, "
    "cell, output; w holds the input weights of all layers and directions, their state weights, "
    "their biases. (y, h, c, and two placeholders of what other back ends reserve.)",
    input_size=...,
    hidden_size=...,
    num_layers=...,
    has_bias=...,
    bidirectional=...,
    dropout=...,
)

_IMPORTED = ("Assert", "Tensor", "entry", "mstype", "vjp")
__all__ = [name for name in globals() if not name.startswith("_") and name not in _IMPORTED]
del _mycel
