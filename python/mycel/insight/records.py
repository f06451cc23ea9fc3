"""ClusterRecord and ExplainRecord: what the pages Cluster and Explain show, written by the C++
recorder. docs/insight.md has the fields."""

from mycel import _mycel
from mycel._mycel import Tensor, entry

_insight = _mycel.insight


class _Record:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def close(self):
        """Ends the file."""
        self._recorder.close()


class ClusterRecord(_Record):
    """Times, traffic and memory of one rank of many: one record a step, in a file of its own.

    rank: this process's number of `ranks`; host: the machine's name (this one's by default).
    """

    @entry
    def __init__(self, summary_dir, rank, ranks, host=""):
        self._recorder = _insight.ClusterRecorder(str(summary_dir), rank, ranks, host)

    @entry
    def step(self, step, seconds, compute, communication=(), memory=0, peak_memory=0, wait=0.0):
        """Records a step: seconds in all, of computing, and waiting for data; communication: dicts
        or tuples (collective, peer, seconds, bytes), peer -1 where all take part; bytes of memory
        in use and at the peak."""
        links = []
        for c in communication:
            if isinstance(c, dict):
                c = (c["collective"], c.get("peer", -1), c["seconds"], c.get("bytes", 0))
            links.append((str(c[0]), int(c[1]), float(c[2]), int(c[3])))
        self._recorder.step(step, seconds, compute, wait, links, memory, peak_memory)


class ExplainRecord(_Record):
    """Explanations of a classifier's decisions: samples with saliency maps by method and class,
    scores of methods by metric, and counterfactuals.

    labels: the names of the classes.
    """

    @entry
    def __init__(self, summary_dir, labels):
        self._recorder = _insight.ExplainRecorder(str(summary_dir), [str(x) for x in labels])

    @entry
    def sample(self, image, label=None, probabilities=(), saliency=None):
        """Records one image [c, h, w] with its true class, the probability of each class, and
        saliency: a dict from method to a dict from class to a map [h, w]. Gives its number."""
        maps = [
            (str(method), int(cls), _tensor(values))
            for method, by_class in (saliency or {}).items()
            for cls, values in by_class.items()
        ]
        probabilities = [float(p) for p in _list(probabilities)]
        return self._recorder.sample(
            _tensor(image), -1 if label is None else int(label), probabilities, maps
        )

    @entry
    def counterfactual(self, sample, cls, steps, method="mask"):
        """Records how the probability of a class falls as parts of an image are masked: steps is a
        list of (image [c, h, w], probability), the first one the image as it is."""
        plain = [(_tensor(image), float(p)) for image, p in steps]
        self._recorder.counterfactual(int(sample), int(cls), str(method), plain)

    @entry
    def score(self, method, metric, value, cls=None):
        """Records the score of a method by a metric, over all classes or for one."""
        self._recorder.score(
            str(method), str(metric), -1 if cls is None else int(cls), float(value)
        )


def _list(values):
    return values.asnumpy().ravel().tolist() if isinstance(values, Tensor) else list(values)


def _tensor(value):
    return value if isinstance(value, Tensor) else Tensor(value)


__all__ = ["ClusterRecord", "ExplainRecord"]
