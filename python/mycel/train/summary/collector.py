"""SummaryCollector: the callback that records a run of Model without another line of code."""

import json
import os
import re
import time

from mycel._mycel import Tensor, entry
from mycel.common.parameter import Parameter
from mycel.nn.cell import Cell
from mycel.train.callback import Callback, _loss_of, _positive, _reached
from mycel.train.summary.record import SummaryRecord, check_options

_FLAGS = (
    "collect_metric",
    "collect_graph",
    "collect_train_lineage",
    "collect_eval_lineage",
    "collect_input_data",
    "collect_dataset_graph",
)
_DEFAULT = {**dict.fromkeys(_FLAGS, True), "histogram_regular": None, "collect_landscape": None}
_TENSOR_STEPS = 20  # at most, of TensorSummary, unless collect_tensor_freq says otherwise


class SummaryCollector(Callback):
    """Records a run of Model.train, fit or eval to summary_dir: every collect_freq steps (epochs in
    data sink mode) and at the first one the loss ("loss/auto"), the first column of the batch where
    it holds images, the distributions of parameters, and values of summary operators; every few
    seconds the pipeline of data, with its rates and its queue; once the graph, the machine, and
    what the run is made with; the results of evaluations ("eval/<metric>").

    collect_specified_data: a dict that switches parts on or off: collect_metric, collect_graph,
    collect_train_lineage, collect_eval_lineage, collect_input_data, collect_dataset_graph (bool),
    and histogram_regular, a regular expression of parameters' names (None: the first five).
    keep_default_action: whether parts that it does not name are recorded. custom_lineage_data:
    further facts, a dict from str to str, int or float. collect_tensor_freq: steps between records
    of TensorSummary (None: spread so that there are at most 20). max_file_size, export_options: as
    SummaryRecord's.
    """

    @entry
    def __init__(
        self,
        summary_dir,
        collect_freq=10,
        collect_specified_data=None,
        keep_default_action=True,
        custom_lineage_data=None,
        collect_tensor_freq=None,
        max_file_size=None,
        export_options=None,
    ):
        owner = "SummaryCollector"
        self._folder = os.fspath(summary_dir)
        self._freq = _positive(owner, "collect_freq", collect_freq)
        if not isinstance(keep_default_action, bool):
            kind = type(keep_default_action).__name__
            raise TypeError(f"{owner}: 'keep_default_action' must be a bool, got {kind}")
        self._parts = _parts(collect_specified_data, keep_default_action)
        self._custom = _custom(custom_lineage_data)
        self._tensor_freq = None
        if collect_tensor_freq is not None:
            self._tensor_freq = _positive(owner, "collect_tensor_freq", collect_tensor_freq)
        check_options(owner, max_file_size, export_options)
        self._options = {"max_file_size": max_file_size, "export_options": export_options}
        self._record, self._parameters, self._images = None, None, True
        self._tensor_every, self._collected, self._collected_at = 1, 0, 0
        self._began, self._owner_of_run = 0.0, False

    def __exit__(self, *error):
        self._close(success=False)

    # -- training ----------------------------------------

    def on_train_begin(self, run_context):
        """Opens the file; records what does not change."""
        p = run_context.original_args()
        if sum(isinstance(c, SummaryCollector) for c in p.list_callback) > 1:
            raise ValueError("SummaryCollector: a run has one; the list of callbacks has more")
        self._close(success=False)
        self._open()
        self._parameters, self._images = None, self._parts["collect_input_data"]
        self._collected, self._collected_at, self._began = 0, p.cur_step_num, time.time()
        self._tensor_every = self._spread(p)
        recorder = self._record._recorder
        if self._parts["collect_train_lineage"]:
            facts = _facts(p)
            recorder.hparams({**facts, **self._custom})
            recorder.record("lineage/train", json.dumps({**facts, "state": "running"}))
        if self._custom:
            recorder.record("lineage/custom", json.dumps(self._custom))
        if self._parts["collect_dataset_graph"] and p.get("train_dataset") is not None:
            recorder.watch_dataset("train", p.train_dataset._pipeline)

    def on_train_step_end(self, run_context):
        """Records the step when it is due."""
        p = run_context.original_args()
        if not self._due(p):
            return
        step, record = p["cur_step_num"], self._record
        loss = _loss_tensor(p) if self._parts["collect_metric"] else None
        if loss is not None:
            record._recorder.mean("loss/auto", loss, step)
        if self._images:
            self._record_images(p, step)
        for parameter in self._watched(p):
            record._recorder.histogram(f"{parameter.name}/auto", parameter.value(), step)
        if self._parts["collect_graph"]:
            record._record_graph(p["train_network"])
        if record._offered:
            keep = None if self._tensors_due(step) else lambda plugin: plugin != "tensor"
            record.record(step, None, keep)
        self._collected += 1

    def on_train_epoch_end(self, run_context):
        """Records the results of this epoch's evaluation."""
        p = run_context.original_args()
        results = p.get("eval_results")
        if results:
            self._record_metrics(results, p.cur_step_num)
            p_results = {k: v for k, v in results.items() if isinstance(v, (int, float))}
            if self._parts["collect_eval_lineage"]:
                facts = {"metrics": p_results, "step": p.cur_step_num}
                self._record._recorder.record("lineage/eval", json.dumps(facts), p.cur_step_num)

    def on_train_end(self, run_context):
        """Records how the run has ended; closes the file."""
        p = run_context.original_args()
        if self._parts["collect_train_lineage"]:
            facts = {**_facts(p), "state": "ended", "step": p.cur_step_num}
            facts["seconds"] = time.time() - self._began
            if _loss_tensor(p) is not None:
                facts["loss"] = _loss_of(p)
            self._record._recorder.record("lineage/train", json.dumps(facts), p.cur_step_num)
        self._close(success=True)

    # -- evaluation ----------------------------------------

    def on_eval_begin(self, run_context):
        """Values of summary operators are training's business."""
        if self._record is None:
            self._open()
            self._owner_of_run = True
        self._record.set_mode("eval")

    def on_eval_end(self, run_context):
        """Records metrics of an evaluation of its own; fit's are recorded with the epoch."""
        p = run_context.original_args()
        if self._owner_of_run:
            results = p.get("eval_results") or {}
            self._record_metrics(results, 0)
            if self._parts["collect_eval_lineage"]:
                numbers = {k: v for k, v in results.items() if isinstance(v, (int, float))}
                facts = {"metrics": numbers, **_dataset_facts("valid", p.get("valid_dataset"))}
                self._record._recorder.record("lineage/eval", json.dumps(facts))
            self._owner_of_run = False
            self._close(success=None)
        else:
            self._record.set_mode("train")

    # -- inside ----------------------------------------

    def _open(self):
        self._record = SummaryRecord(self._folder, **self._options)

    def _close(self, success):
        record, self._record = self._record, None
        if record is None:
            return
        if success is not None and self._parts["collect_train_lineage"]:
            record._recorder.ended(success)
        record.close()

    def _due(self, p):
        if self._collected == 0:
            return True
        if p.dataset_sink_mode:
            return p.cur_epoch_num % self._freq == 0
        return _reached(p, self._freq)

    def _spread(self, p):
        """Every how many records TensorSummary is among them."""
        if p.batch_num < 0:
            return 1
        steps = p.epoch_num if p.dataset_sink_mode else p.epoch_num * p.batch_num
        return -(-(steps // self._freq + 1) // _TENSOR_STEPS)

    def _tensors_due(self, step):
        if self._tensor_freq is None:
            return self._collected % self._tensor_every == 0
        return self._collected == 0 or step % self._tensor_freq == 0

    def _watched(self, p):
        if self._parameters is None:
            self._parameters = self._choose(p)
        return self._parameters

    def _choose(self, p):
        if "histogram_regular" not in self._parts:
            return []
        network = p.get("optimizer") or p.train_network
        found = list(getattr(network, "parameters", None) or network.trainable_params())
        pattern = self._parts["histogram_regular"]
        if pattern is None:
            return found[:5]
        return [f for f in found if re.match(pattern, f.name)]

    def _record_images(self, p, step):
        batch = p.get("train_dataset_element")
        first = batch[0] if isinstance(batch, (list, tuple)) and batch else None
        if not isinstance(first, Tensor):
            return  # data sinks show no batch
        if first.ndim != 4 or first.shape[1] not in (1, 3) or first.size == 0:
            self._images = False
            return
        self._record._recorder.image("input_data/auto", first, step)

    def _record_metrics(self, results, step):
        if not self._parts["collect_metric"]:
            return
        for name, value in results.items():
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                self._record._recorder.scalar(f"eval/{name}", float(value), step)


def _parts(specified, keep_default):
    owner = "SummaryCollector: 'collect_specified_data'"
    if specified is None:
        specified = {} if keep_default else dict(_DEFAULT)
    if not isinstance(specified, dict):
        raise TypeError(f"{owner} must be a dict or None, got {type(specified).__name__}")
    for key, value in specified.items():
        if key not in _DEFAULT:
            raise ValueError(f"{owner} has no part {key!r}; allowed: {', '.join(_DEFAULT)}")
        if key in _FLAGS and not isinstance(value, bool):
            raise TypeError(f"{owner}: {key} must be a bool, got {type(value).__name__}")
        if key == "histogram_regular" and value is not None:
            if not isinstance(value, str):
                raise TypeError(f"{owner}: {key} must be a str, got {type(value).__name__}")
            try:
                re.compile(value)
            except re.error as error:
                raise ValueError(f"{owner}: {key} {value!r} is no pattern: {error}") from None
        if key == "collect_landscape" and value:
            raise NotImplementedError(
                f"{owner}: {key}: landscapes of the loss are not computed; leave it out"
            )
    if keep_default:
        return {**_DEFAULT, **specified}
    return {**dict.fromkeys(_FLAGS, False), **specified}


def _custom(data):
    owner = "SummaryCollector: 'custom_lineage_data'"
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise TypeError(f"{owner} must be a dict or None, got {type(data).__name__}")
    for key, value in data.items():
        if not isinstance(key, str):
            raise TypeError(f"{owner}: keys must be str, got {type(key).__name__}")
        if not isinstance(value, (str, int, float)):
            kind = type(value).__name__
            raise TypeError(f"{owner}: {key!r} must be a str, int or float, got {kind}")
    return dict(data)


def _loss_tensor(p):
    """The first output of the step, where it can be a loss."""
    out = p.get("net_outputs")
    out = out[0] if isinstance(out, (tuple, list)) and out else out
    return out if isinstance(out, Tensor) and out.size else None


def _facts(p):
    """What a run is made with, flat."""
    facts = {
        "network": _name_of(p.network),
        "epoch": p.epoch_num,
        "batch_num": p.batch_num,
        "parallel_mode": p.parallel_mode,
        "device_num": p.device_number,
    }
    if p.get("loss_fn") is not None:
        facts["loss_function"] = _name_of(p.loss_fn)
    optimizer = p.get("optimizer")
    if optimizer is not None:
        facts["optimizer"] = _name_of(optimizer)
        rate = getattr(optimizer, "learning_rate", None)
        if isinstance(rate, Parameter) and rate.ndim == 0:
            facts["learning_rate"] = float(rate.asnumpy())
        elif rate is not None:
            facts["learning_rate"] = _name_of(rate)
    trainable = [q for q in p.network.trainable_params()]
    facts["parameters"] = sum(q.size for q in trainable)
    facts.update(_dataset_facts("train", p.get("train_dataset")))
    facts.update(_dataset_facts("valid", p.get("valid_dataset")))
    return facts


def _dataset_facts(name, dataset):
    if dataset is None:
        return {}
    return {
        f"{name}_batch_size": dataset.get_batch_size(),
        f"{name}_batches": dataset.get_dataset_size(),
    }


def _name_of(o):
    return o.cls_name if isinstance(o, Cell) else type(o).__name__


__all__ = ["SummaryCollector"]
