"""Metrics: classes for the metric records of the C++ library, and the base class for metrics that
users write."""

import functools

from mycel import _mycel, _published_modules
from mycel._mycel import Tensor, entry
from mycel.common._records import documentation, signature_of

_nn = _mycel.nn


class Metric:
    """Base of metrics: clear() forgets, update(*batch) adds a batch, eval() gives the value."""

    def __init__(self):
        self._indexes = None

    def _convert_data(self, data):
        """A tensor, list or array as a NumPy array."""
        import numpy as np

        if isinstance(data, Tensor):
            return data.asnumpy()
        if isinstance(data, (list, tuple, np.ndarray, int, float)):
            return np.array(data)
        raise TypeError(
            f"{type(self).__name__}: update takes tensors, lists or arrays, "
            f"got {type(data).__name__}"
        )

    def _check_onehot_data(self, data):
        """Whether rows hold one 1 and zeros."""
        import numpy as np

        one_hot = data.ndim > 1 and np.equal(data**2, data).all()
        return bool(one_hot and (data.sum(axis=-1) == 1).all())

    @property
    def indexes(self):
        """Which of the network's outputs update takes; set by set_indexes."""
        return self._indexes

    @entry
    def set_indexes(self, indexes):
        """Chooses the outputs of the evaluation network that update takes, by their places."""
        if not isinstance(indexes, list) or not all(type(i) is int for i in indexes):
            raise ValueError(
                f"{type(self).__name__}: 'indexes' must be a list of ints, got {indexes!r}"
            )
        self._indexes = indexes
        return self

    def __call__(self, *inputs):
        """The value of one batch alone."""
        self.clear()
        self.update(*inputs)
        return self.eval()

    def clear(self):
        """Forgets all batches; subclasses write it."""
        raise NotImplementedError(f"{type(self).__name__}: clear is not written")

    def eval(self):
        """The value so far; subclasses write it."""
        raise NotImplementedError(f"{type(self).__name__}: eval is not written")

    def update(self, *inputs):
        """Adds a batch; subclasses write it."""
        raise NotImplementedError(f"{type(self).__name__}: update is not written")


def rearrange_inputs(func):
    """Decorates update(self, *inputs): it gets the inputs that set_indexes has chosen."""

    @functools.wraps(func)
    def wrapper(self, *inputs):
        indexes = self.indexes
        return func(self, *(inputs if not indexes else [inputs[i] for i in indexes]))

    return wrapper


def _plain(value):
    """A tensor of one number as a float, others as NumPy arrays."""
    return float(value.asnumpy()) if value.ndim == 0 else value.asnumpy()


class _RecordMetric(Metric):
    _record = None

    def clear(self):
        """Forgets all batches."""
        self._metric.clear()

    def eval(self):
        """The value so far."""
        out = self._metric.eval(False)
        return tuple(_plain(t) for t in out) if isinstance(out, tuple) else _plain(out)

    @rearrange_inputs
    @entry
    def update(self, *inputs):
        """Adds a batch of tensors, arrays or lists."""
        self._metric.update(*inputs)


class _PerClass(_RecordMetric):
    @entry
    def eval(self, average=False):
        """The value of each class as an array; their mean with average."""
        return _plain(self._metric.eval(bool(average)))


class _Curve(_RecordMetric):
    def eval(self):
        """(false positive rates, true positive rates, thresholds); with classes, lists of them."""
        parts = [_plain(t) for t in self._metric.eval(False)]
        columns = [parts[i::3] for i in range(3)]
        return tuple(c[0] for c in columns) if len(parts) == 3 else tuple(columns)


_BASES = {
    "Precision": _PerClass,
    "Recall": _PerClass,
    "Fbeta": _PerClass,
    "F1": _PerClass,
    "ROC": _Curve,
}


def _make_class(record):
    name = record["name"]

    @entry
    def __init__(self, *args, **kwargs):
        Metric.__init__(self)
        self._metric = _nn.make_metric(name, args, kwargs)
        self.clear()

    members = {
        "__init__": __init__,
        "__doc__": documentation(record),
        "__module__": "mycel.nn",
        "__signature__": signature_of(record["args"]),
        "_record": record,
    }
    return type(name, (_BASES.get(name, _RecordMetric),), members)


classes = {r["name"]: _make_class(r) for r in _nn.metric_records()}
globals().update(classes)


class BleuScore(Metric):
    """BLEU of translations: the geometric mean of the precisions of 1- to n_gram-grams times exp(1
    - reference / candidate length) for short candidates; smooth adds 1 to the counts of longer
    grams. Source: Papineni et al., ACL 2002; Lin and Och, ACL 2004.

    update(candidates, references): a list of token lists, and for each a list of reference token
    lists.
    """

    @entry
    def __init__(self, n_gram=4, smooth=False):
        super().__init__()
        if isinstance(n_gram, bool) or not isinstance(n_gram, int) or not 1 <= n_gram <= 4:
            raise ValueError(f"BleuScore: 'n_gram' must be an int from 1 to 4, got {n_gram!r}")
        if not isinstance(smooth, bool):
            raise TypeError(f"BleuScore: 'smooth' must be True or False, got {smooth!r}")
        self.n_gram, self.smooth = n_gram, smooth
        self.clear()

    def clear(self):
        self._hits, self._all = [0] * self.n_gram, [0] * self.n_gram
        self._candidate = self._reference = 0

    @staticmethod
    def _grams(tokens, n):
        from collections import Counter

        return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))

    @rearrange_inputs
    @entry
    def update(self, *inputs):
        if len(inputs) != 2 or len(inputs[0]) != len(inputs[1]):
            raise ValueError("BleuScore: update takes candidates and as many lists of references")
        for candidate, references in zip(*inputs):
            self._candidate += len(candidate)
            lengths = [len(r) for r in references]
            self._reference += min(lengths, key=lambda n: (abs(n - len(candidate)), n))
            for n in range(1, self.n_gram + 1):
                allowed = self._grams([], n)
                for r in references:
                    allowed |= self._grams(r, n)
                counts = self._grams(candidate, n)
                self._hits[n - 1] += sum((counts & allowed).values())
                self._all[n - 1] += sum(counts.values())

    def eval(self):
        import math

        if self._candidate == 0:
            raise RuntimeError("BleuScore: no batch has been added: there is no value")
        if min(self._hits) == 0 and not self.smooth:
            return 0.0
        logs = []
        for n, (hits, total) in enumerate(zip(self._hits, self._all)):
            extra = 1 if self.smooth and n > 0 else 0
            if hits + extra == 0:
                return 0.0
            logs.append(math.log((hits + extra) / (total + extra)))
        short = self._candidate <= self._reference
        penalty = math.exp(1 - self._reference / self._candidate) if short else 1.0
        return penalty * math.exp(sum(logs) / self.n_gram)


@entry
def auc(x, y, reorder=False):
    """Area under the curve through the points (x, y) by trapezoids. reorder sorts the points by x
    first."""
    import numpy as np

    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if x.ndim != 1 or x.shape != y.shape or x.size < 2:
        raise ValueError(
            f"auc: x and y must be 1-d with at least 2 points each, got {x.shape} and {y.shape}"
        )
    if reorder:
        order = np.lexsort((y, x))
        x, y = x[order], y[order]
    steps = np.diff(x)
    if (steps < 0).any() and (steps > 0).any():
        raise ValueError("auc: x must rise or fall throughout\n  reorder=True sorts the points.")
    area = float(np.sum(steps * (y[1:] + y[:-1]) / 2))
    return -area if (steps < 0).any() else area


_FACTORY = {
    short: classes[r["name"]] for r in _nn.metric_records() for short in r["short_names"].split()
}
_FACTORY["bleu_score"] = BleuScore


def names():
    """The short names of all metrics."""
    return list(_FACTORY)


@entry
def get_metric_fn(name, *args, **kwargs):
    """A metric by its short name ("acc", "loss", …)."""
    if name not in _FACTORY:
        raise KeyError(f"get_metric_fn: there is no metric '{name}': {', '.join(_FACTORY)}")
    return _FACTORY[name](*args, **kwargs)


@entry
def get_metrics(metrics):
    """A dict from name to Metric. metrics: None, such a dict, or a set or list of short names."""
    if metrics is None:
        return metrics
    if isinstance(metrics, dict):
        for name, metric in metrics.items():
            if not isinstance(name, str) or not isinstance(metric, Metric):
                raise TypeError(
                    f"get_metrics: '{name}' must be a str and its value a Metric, got {metric!r}"
                )
        return metrics
    if isinstance(metrics, (set, list, tuple)):
        return {name: get_metric_fn(name) for name in metrics}
    raise TypeError(
        f"get_metrics: None, a dict, a set or a list was expected, got {type(metrics).__name__}"
    )


__getattr__ = _published_modules.names_of("nn")
__all__ = [
    "BleuScore",
    "Metric",
    "auc",
    "get_metric_fn",
    "get_metrics",
    "names",
    "rearrange_inputs",
    *sorted(classes),
]
