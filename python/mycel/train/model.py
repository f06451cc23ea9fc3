"""Model: trains, evaluates and runs a network. The loop over epochs and steps is the C++ one; what
stands here gives it steps, metrics and callbacks."""

import os
import signal
import threading

from mycel import _mycel
from mycel._mycel import Tensor, entry
from mycel._refused import Refused
from mycel.dataset.datasets import Dataset
from mycel.nn.cell import Cell
from mycel.nn.metrics import Loss, get_metrics
from mycel.nn.wrap import WithEvalCell, WithLossCell
from mycel.train import amp, serialization
from mycel.train.callback import Callback, RunContext, _InternalCallbackParam, restore_run
from mycel.train.sinks import Steps, check_size

_train = _mycel.train


def _callbacks(callbacks):
    found = (
        []
        if callbacks is None
        else [callbacks]
        if isinstance(callbacks, Callback)
        else list(callbacks)
    )
    for c in found:
        if not isinstance(c, Callback):
            raise TypeError(f"Model: a callback must be a Callback, got {type(c).__name__}")
    return found


def _from_environment():
    """A debugger or dump that the environment asks for."""
    if not (os.environ.get("MYCEL_DEBUGGER") or os.environ.get("MYCEL_DUMP_CONFIG")):
        return []
    from mycel.insight.session import from_environment

    return from_environment()


def _nothing():
    pass


class _PipelineCallbacks(Callback):
    """Callbacks of the pipeline, called as its rows reach the training."""

    def __init__(self, callbacks):
        self._callbacks = callbacks

    def on_train_epoch_begin(self, run_context):
        for c in self._callbacks:
            c._begin(run_context.original_args().cur_epoch_num - 1)

    def on_train_step_begin(self, run_context):
        if not run_context.original_args().dataset_sink_mode:
            self._steps(1)

    def on_train_step_end(self, run_context):
        args = run_context.original_args()
        if args.dataset_sink_mode:  # many steps in one call
            self._steps(args.steps_in_call)

    def on_train_epoch_end(self, run_context):
        for c in self._callbacks:
            c._end()

    def _steps(self, count):
        for _ in range(count):
            for c in self._callbacks:
                c._step()


class _Program:
    """What the C++ loop calls: one run of a model."""

    def __init__(self, model, callbacks, sink=False, state=(), **params):
        self.model, self.callbacks, self._state = model, callbacks, state
        self._steps = Steps(model._train_network)
        self.params = _InternalCallbackParam(
            network=model._network,
            train_network=model._train_network,
            loss_fn=model._loss_fn,
            optimizer=model._optimizer,
            eval_network=model._eval_network,
            list_callback=callbacks,
            parallel_mode="stand_alone",
            device_number=1,
            dataset_sink_mode=sink,
            net_outputs=None,
            cur_epoch_num=0,
            cur_step_num=0,
            cur_step_in_epoch=0,
            steps_in_call=1,
            batch_num=-1,
            metrics=None,
            eval_results=None,
            **params,
        )
        self.context, self._before = RunContext(self.params), None

    def set_train(self, training):
        cells = (
            self.model._network,
            self.model._train_network if training else self.model._eval_network,
        )
        for cell in cells:
            if cell is not None and cell.training != training:
                cell.set_train(training)

    def train_step(self, batch):
        self.params["train_dataset_element"] = batch
        self.params["net_outputs"] = self.model._train_network(*batch)

    def first(self, batch):
        self.params["train_dataset_element"] = batch
        compiled = self._steps.first(batch)
        self.params["net_outputs"] = self._steps.outputs
        return compiled

    def last(self, tensors):
        self._steps.last(tensors)
        self.params["net_outputs"] = self._steps.outputs

    def eval_step(self, batch):
        self.params["net_outputs"] = self.model._eval_network(*batch)

    def clear_metrics(self):
        for metric in self.model._metrics.values():
            metric.clear()

    def add_to_metrics(self):
        self.model._update_metrics(self.params["net_outputs"])

    def finish_metrics(self):
        values = {name: metric.eval() for name, metric in self.model._metrics.items()}
        self.params["metrics"] = self.params["eval_results"] = values

    def moment(self, name, numbers):
        p = self.params
        if name == "on_eval_begin":
            self._before = p.get("mode"), p["net_outputs"]
            p["mode"] = "eval"
        p.update(
            cur_epoch_num=numbers["epoch"],
            cur_step_num=numbers["step"],
            batch_num=numbers["batches"],
            cur_step_in_epoch=numbers["position"],
            steps_in_call=numbers["steps"],
        )
        for c in self.callbacks:
            getattr(c, name)(self.context)
        if name == "on_train_begin" and self._state:
            restore_run(p, self._state)
        if name == "on_eval_end":
            p["mode"], p["net_outputs"] = self._before
        return self.context.get_stop_requested()


class Model:
    """A network with what trains and measures it.

    loss_fn(outputs, label): without one the network gives the loss. metrics: a dict from name
    to Metric, or a set or list of short names. eval_network: a cell that gives (loss, outputs,
    label) in evaluation, or what eval_indexes, three places [loss, outputs, label] (-1: none),
    finds in its results. amp_level: "O0" to "O3" as in mycel.amp, whose build_train_network takes
    further options. boost_level: only "O0".
    """

    @entry
    def __init__(
        self,
        network,
        loss_fn=None,
        optimizer=None,
        metrics=None,
        eval_network=None,
        eval_indexes=None,
        amp_level="O0",
        boost_level="O0",
        **kwargs,
    ):
        amp.check_level("Model", amp_level, boost_level, kwargs)
        for name, cell in (("network", network), ("eval_network", eval_network)):
            if not isinstance(cell, Cell) and not (cell is None and name == "eval_network"):
                raise TypeError(f"Model: '{name}' must be a Cell, got {type(cell).__name__}")
        if eval_indexes is not None and (len(eval_indexes) != 3 or eval_network is None):
            raise ValueError("Model: 'eval_indexes' needs three places and an eval_network")
        if kwargs.get("loss_scale_manager") is not None and optimizer is None:
            raise ValueError("Model: 'loss_scale_manager' needs an optimizer")
        self._network, self._loss_fn, self._optimizer = network, loss_fn, optimizer
        self._metrics = get_metrics(metrics) or {}
        self._eval_indexes, self._eval_network = eval_indexes, eval_network
        if eval_network is None and loss_fn is not None:
            self._eval_network = WithEvalCell(network, loss_fn, amp_level in ("O2", "O3"))
        self._train_network = None
        if optimizer is not None:
            self._train_network = amp.build_train_network(
                network, optimizer, loss_fn, amp_level, boost_level, **kwargs
            )
        elif loss_fn is not None:
            self._train_network = WithLossCell(network, loss_fn)
        else:
            self._train_network = network
        self._start = None

    # -- published calls ----------------------------------------

    @entry
    def train(
        self,
        epoch,
        train_dataset,
        callbacks=None,
        dataset_sink_mode=False,
        sink_size=-1,
        initial_epoch=0,
    ):
        """Trains until `epoch` epochs are complete, from initial_epoch. Ctrl-C ends it after the
        current step with a KeyboardInterrupt.

        dataset_sink_mode: batches are read on another thread while steps run, and callbacks run
        once a call of sink_size steps (-1: an epoch of the dataset); with a sink_size that many
        steps are called an epoch. In graph mode no Python runs between the steps of a call."""
        sink = _sink("train", dataset_sink_mode, sink_size)
        self._run("train", epoch, train_dataset, callbacks, initial_epoch, None, 1, sink)

    @entry
    def fit(
        self,
        epoch,
        train_dataset,
        valid_dataset=None,
        valid_frequency=1,
        callbacks=None,
        dataset_sink_mode=False,
        valid_dataset_sink_mode=False,
        sink_size=-1,
        initial_epoch=0,
    ):
        """Trains, and evaluates valid_dataset every valid_frequency epochs, or after those of a
        list. dataset_sink_mode, sink_size: as train's. valid_dataset_sink_mode: as eval's."""
        sink = _sink("fit", dataset_sink_mode, sink_size)
        if valid_dataset is not None:
            self._check_eval("fit", valid_dataset)
        self._run(
            "fit",
            epoch,
            train_dataset,
            callbacks,
            initial_epoch,
            valid_dataset,
            valid_frequency,
            sink,
            valid_dataset_sink_mode,
        )

    @entry
    def eval(self, valid_dataset, callbacks=None, dataset_sink_mode=False):
        """A dict from each metric's name to its value. dataset_sink_mode: batches are read on
        another thread while steps run."""
        self._check_eval("eval", valid_dataset)
        program = _Program(
            self, _callbacks(callbacks), mode="eval", epoch_num=1, valid_dataset=valid_dataset
        )
        try:
            _train.run_eval(program, valid_dataset._pipeline, bool(dataset_sink_mode))
        finally:
            self._train_network.set_train()
        return program.params["eval_results"]

    @entry
    def predict(self, *predict_data):
        """The network's result, without training behaviour."""
        if not predict_data:
            raise ValueError("Model.predict: there is no input")
        was = self._network.training
        self._network.set_train(False)
        try:
            return self._network(
                *(d if isinstance(d, (Tensor, tuple, list)) else Tensor(d) for d in predict_data)
            )
        finally:
            self._network.set_train(was)

    @entry
    def build(self, train_dataset=None, valid_dataset=None, sink_size=-1, epoch=1):
        """Compiles the networks for the first batch of each dataset, in graph mode."""
        check_size("Model.build", sink_size)
        for dataset, cell in (
            (train_dataset, self._train_network),
            (valid_dataset, self._eval_network),
        ):
            if dataset is None:
                continue
            _check_dataset("build", dataset)
            if _mycel.graph_mode() and cell is not None:
                cell.compile(*dataset._first())

    @entry
    def resume(self, ckpt_file_name):
        """Loads a file of ModelCheckpoint: the next train or fit on the same dataset goes on where
        it was saved, and computes the same bits as a run that was not interrupted."""
        path = os.fspath(ckpt_file_name)
        if self._optimizer is None:
            raise RuntimeError("Model.resume: there is no optimizer")
        loaded = serialization.load_checkpoint(path)
        if loaded.progress is None:
            raise ValueError(f"{path}: holds no training run to resume, only parameters")
        serialization.load_param_into_net(self._train_network, loaded, strict_load=True)
        _mycel.set_random_state(*loaded.progress[3:5])
        self._start = loaded.progress

    @property
    def train_network(self):
        """The cell that makes one training step."""
        return self._train_network

    @property
    def eval_network(self):
        """The cell that evaluation runs."""
        return self._eval_network

    @property
    def predict_network(self):
        """The network."""
        return self._network

    # -- inside ----------------------------------------

    def _run(
        self,
        mode,
        epochs,
        dataset,
        callbacks,
        initial_epoch,
        valid_dataset,
        frequency,
        sink,
        valid_sink=False,
    ):
        for name, value, least in (("epoch", epochs, 1), ("initial_epoch", initial_epoch, 0)):
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(
                    f"Model.{mode}: '{name}' must be an int, got {type(value).__name__}"
                )
            if value < least:
                raise ValueError(f"Model.{mode}: '{name}' must be at least {least}, got {value}")
        if initial_epoch >= epochs:
            raise ValueError(
                f"Model.{mode}: 'initial_epoch' must be below epoch={epochs}, got {initial_epoch}"
            )
        if self._optimizer is None:
            raise RuntimeError(f"Model.{mode}: there is no optimizer")
        _check_dataset(mode, dataset)
        _check_gates(mode, dataset, sink)
        start = self._start or (
            initial_epoch,
            0,
            max(0, initial_epoch * (sink if sink > 0 else dataset._pipeline.size())),
            0,
            0,
            [],
        )
        if self._start is not None and initial_epoch:
            raise ValueError(
                f"Model.{mode}: resume has set where to start; leave 'initial_epoch' out"
            )
        at = list(frequency) if isinstance(frequency, (list, tuple, set)) else []
        every = 1 if at else frequency
        if isinstance(every, bool) or not isinstance(every, int) or every < 1:
            raise ValueError(
                f"Model.{mode}: 'valid_frequency' must be an int of at least 1 or a list"
            )
        ours = [_PipelineCallbacks(dataset._callbacks)] if dataset._callbacks else []
        program = _Program(
            self,
            ours + _callbacks(callbacks) + _from_environment(),
            sink=sink != 0,
            state=start[5],
            mode="train",
            epoch_num=epochs,
            train_dataset=dataset,
            valid_dataset=valid_dataset,
        )
        valid = None if valid_dataset is None else valid_dataset._pipeline
        # Another handler than Python's own stays in charge.
        ours = threading.current_thread() is threading.main_thread() and (
            signal.getsignal(signal.SIGINT) is signal.default_int_handler
        )
        self._start = None
        try:
            _train.run_train(
                program, epochs, dataset._pipeline, start, valid, every, at, valid_sink, ours, sink
            )
        finally:
            for c in program.callbacks:
                getattr(c, "_run_is_over", _nothing)()

    def _check_eval(self, owner, dataset):
        _check_dataset(owner, dataset)
        if not self._metrics:
            raise ValueError(f"Model.{owner}: there are no metrics; give them to Model")
        if self._eval_network is None:
            raise ValueError(f"Model.{owner}: an evaluation needs a loss_fn or an eval_network")

    def _update_metrics(self, outputs):
        outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
        loss_at, rest = 0, list(outputs[1:]) if self._loss_fn is not None else list(outputs)
        if self._eval_indexes is not None:
            loss_at, *places = self._eval_indexes
            rest = [outputs[i] for i in places if i != -1]
        for name, metric in self._metrics.items():
            if metric.indexes:
                metric.update(*outputs)
            elif isinstance(metric, Loss):
                if loss_at == -1:
                    raise ValueError(
                        f"Model: metric '{name}' needs a loss; eval_indexes names none"
                    )
                metric.update(outputs[loss_at])
            else:
                metric.update(*rest)


def _check_dataset(owner, dataset):
    if not isinstance(dataset, Dataset):
        raise TypeError(f"Model.{owner}: a dataset was expected, got {type(dataset).__name__}")
    if dataset._pipeline.size() == 0:
        raise ValueError(f"Model.{owner}: the dataset has no rows")


def _check_gates(owner, dataset, sink):
    """ValueError where callbacks come too late to release the rows of a call."""
    for gate in dataset._gates if sink else ():
        if sink < 0 or sink > gate.rows:
            raise ValueError(
                f"Model.{owner}: with dataset_sink_mode callbacks run once a call of sink_size "
                f"steps, and sync_wait({gate.name!r}) lets {gate.rows} pass; got sink_size={sink}"
            )


def _sink(owner, wanted, size):
    """Steps of a call into C++: 0 without a data sink, -1 for an epoch."""
    check_size(f"Model.{owner}", size)
    if size != -1 and not wanted:
        raise ValueError(f"Model.{owner}: 'sink_size' needs dataset_sink_mode=True")
    return size if wanted else 0


for _name in ("infer_predict_layout", "infer_train_layout"):
    _reason = "layouts over devices are made by the parallel planner; there is one device"
    setattr(Model, _name, Refused(f"Model.{_name}", _reason))


__all__ = ["Model"]
