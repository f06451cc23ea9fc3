"""Callbacks: code that runs between the steps of Model.train, fit and eval."""

import math
import time

import numpy as np

from mycel import _mycel, _published_modules
from mycel._mycel import Tensor, entry
from mycel.common.parameter import Parameter


class _InternalCallbackParam(dict):
    """What callbacks see of a run: a dict whose entries are attributes too."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the run has no '{name}'; it has {', '.join(self)}") from None

    def __setattr__(self, name, value):
        self[name] = value


class RunContext:
    """A run as callbacks see it: original_args() and request_stop()."""

    def __init__(self, original_args):
        if not isinstance(original_args, dict):
            raise TypeError(f"RunContext: a dict was expected, got {type(original_args).__name__}")
        self._original_args = original_args
        self._stop_requested = False

    def original_args(self):
        """cur_epoch_num, cur_step_num, batch_num, net_outputs, network, optimizer, …"""
        return self._original_args

    def request_stop(self):
        """Ends the run after this step."""
        self._stop_requested = True

    def get_stop_requested(self):
        """Whether some callback asked to stop."""
        return self._stop_requested


class Callback:
    """Base of callbacks. Write the on_train_ and on_eval_ methods, or the short ones (begin,
    epoch_begin, step_begin, step_end, epoch_end, end), which run in training and evaluation
    alike."""

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    def begin(self, run_context):
        """Before the first epoch."""

    def epoch_begin(self, run_context):
        """Before each epoch."""

    def epoch_end(self, run_context):
        """After each epoch."""

    def step_begin(self, run_context):
        """Before each step."""

    def step_end(self, run_context):
        """After each step."""

    def end(self, run_context):
        """After the last epoch."""

    def on_train_begin(self, run_context):
        """Before training."""
        self.begin(run_context)

    def on_train_epoch_begin(self, run_context):
        """Before each epoch of training."""
        self.epoch_begin(run_context)

    def on_train_epoch_end(self, run_context):
        """After each epoch of training, and its evaluation."""
        self.epoch_end(run_context)

    def on_train_step_begin(self, run_context):
        """Before each training step."""
        self.step_begin(run_context)

    def on_train_step_end(self, run_context):
        """After each training step."""
        self.step_end(run_context)

    def on_train_end(self, run_context):
        """After training."""
        self.end(run_context)

    def on_eval_begin(self, run_context):
        """Before an evaluation."""
        self.begin(run_context)

    def on_eval_epoch_begin(self, run_context):
        """Before its one epoch."""
        self.epoch_begin(run_context)

    def on_eval_epoch_end(self, run_context):
        """After its one epoch, when metrics are known."""
        self.epoch_end(run_context)

    def on_eval_step_begin(self, run_context):
        """Before each step of an evaluation."""
        self.step_begin(run_context)

    def on_eval_step_end(self, run_context):
        """After each step of an evaluation."""
        self.step_end(run_context)

    def on_eval_end(self, run_context):
        """After an evaluation."""
        self.end(run_context)

    def state(self):
        """A dict of the numbers and tensors that a resumed run has to know. ModelCheckpoint saves
        it."""
        return {}

    def load_state(self, state):
        """Takes up the saved values of state(), as tensors; called after on_train_begin."""


def _places(callbacks):
    """Each callback with what its entries in a checkpoint begin with: its number among those of its
    class, so that others may come and go between runs."""
    seen = {}
    for c in callbacks:
        kind = type(c).__name__
        yield c, f"{seen.get(kind, 0)}.{kind}."
        seen[kind] = seen.get(kind, 0) + 1


def run_state(params):
    """[(name, tensor)]: the last loss and the state of the callbacks."""
    loss, out = params["net_outputs"], []
    loss = loss[0] if isinstance(loss, (tuple, list)) else loss
    if isinstance(loss, Tensor):
        out.append(("loss", loss))
    for c, place in _places(params["list_callback"]):
        for name, value in c.state().items():
            if not isinstance(value, Tensor):
                value = Tensor(np.asarray(value))
            out.append((place + name, value))
    return out


def restore_run(params, state):
    """Gives callbacks their part of what run_state gave."""
    state = dict(state)
    if "loss" in state:
        params["net_outputs"] = state["loss"]
    for c, place in _places(params["list_callback"]):
        own = {k[len(place) :]: v for k, v in state.items() if k.startswith(place)}
        if own:
            c.load_state(own)


class _TrainingCallback(Callback):
    """A callback whose short methods run in training alone."""

    def _nothing(self, run_context):
        """Nothing: evaluation is not this callback's business."""

    on_eval_begin = on_eval_epoch_begin = on_eval_step_begin = _nothing
    on_eval_step_end = on_eval_epoch_end = on_eval_end = _nothing


def _positive(owner, name, value, least=1):
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{owner}: '{name}' must be an int, got {type(value).__name__}")
    if value < least:
        raise ValueError(f"{owner}: '{name}' must be at least {least}, got {value}")
    return value


def _loss_of(params):
    """The mean of the first output of the step, as a float."""
    loss = params["net_outputs"]
    if isinstance(loss, (tuple, list)):
        loss = loss[0]
    if not isinstance(loss, Tensor):
        raise TypeError(f"the network gives no loss: {type(loss).__name__}")
    return float(loss.asnumpy().mean())


def _reached(p, every):
    """Whether a multiple of `every` is among the steps since the last step_begin."""
    return p.cur_step_num // every != (p.cur_step_num - p.steps_in_call) // every


class LossMonitor(_TrainingCallback):
    """Prints the loss every per_print_times steps. ValueError when it is not finite."""

    @entry
    def __init__(self, per_print_times=1):
        self._per_print_times = _positive("LossMonitor", "per_print_times", per_print_times)

    def step_end(self, run_context):
        """Checks and prints the loss."""
        p = run_context.original_args()
        loss = _loss_of(p)
        where = f"epoch: {p.cur_epoch_num} step: {p.cur_step_in_epoch}"
        if not math.isfinite(loss):
            raise ValueError(
                f"{where}: the loss is {loss}; training stops\n"
                "  Try a smaller learning rate or clipped gradients; look for log(0) or x / 0."
            )
        if _reached(p, self._per_print_times):
            print(f"{where}, loss is {loss}", flush=True)

    def on_train_epoch_end(self, run_context):
        """Prints the metrics of this epoch's evaluation."""
        super().on_train_epoch_end(run_context)
        p = run_context.original_args()
        results = p.get("eval_results")
        if results:
            print(f"Eval result: epoch {p.cur_epoch_num}, metrics: {results}")


class TimeMonitor(_TrainingCallback):
    """Prints the time of each epoch and, on average, of its steps (or of data_size steps)."""

    @entry
    def __init__(self, data_size=None):
        self.data_size = (
            None if data_size is None else _positive("TimeMonitor", "data_size", data_size)
        )

    def epoch_begin(self, run_context):
        """Starts the clock."""
        self._began = time.monotonic()
        self._first = run_context.original_args().cur_step_num

    def epoch_end(self, run_context):
        """Prints the times."""
        ms = (time.monotonic() - self._began) * 1000
        steps = self.data_size or max(1, run_context.original_args().cur_step_num - self._first)
        print(f"Train epoch time: {ms:.3f} ms, per step time: {ms / steps:.3f} ms", flush=True)


class LambdaCallback(Callback):
    """A function for each moment; each gets the RunContext."""

    @entry
    def __init__(
        self,
        on_train_epoch_begin=None,
        on_train_epoch_end=None,
        on_train_step_begin=None,
        on_train_step_end=None,
        on_train_begin=None,
        on_train_end=None,
        on_eval_epoch_begin=None,
        on_eval_epoch_end=None,
        on_eval_step_begin=None,
        on_eval_step_end=None,
        on_eval_begin=None,
        on_eval_end=None,
    ):
        for name, function in dict(locals()).items():
            if name == "self" or function is None:
                continue
            if not callable(function):
                raise TypeError(f"LambdaCallback: '{name}' must be a function, got {function!r}")
            setattr(self, name, function)


class History(_TrainingCallback):
    """epoch: {"epoch": numbers of epochs}; history: the loss ("net_output") and metrics of each."""

    def __init__(self):
        self.epoch, self.history = {"epoch": []}, {}

    def begin(self, run_context):
        """Forgets earlier runs."""
        self.epoch, self.history = {"epoch": []}, {}

    def state(self):
        """Epochs and those values that are numbers."""
        out = {"epoch": self.epoch["epoch"]}
        for name, values in self.history.items():
            values = np.asarray(values)
            if values.dtype.kind in "biufc":
                out["history." + name] = values
        return out

    def load_state(self, state):
        """Goes on behind the epochs of the run that was saved."""
        for name, values in state.items():
            if name == "epoch":
                self.epoch["epoch"] = values.asnumpy().tolist()
            else:
                self.history[name.removeprefix("history.")] = list(values.asnumpy())

    def epoch_end(self, run_context):
        """Adds an epoch."""
        p = run_context.original_args()
        self.epoch["epoch"].append(p.cur_epoch_num)
        values = dict(p.get("eval_results") or {})
        if p.get("net_outputs") is not None:
            values["net_output"] = _loss_of(p)
        for name, value in values.items():
            self.history.setdefault(name, []).append(value)


class ProgressBar(_TrainingCallback):
    """Shows how training proceeds: on a terminal a line with a bar, the mean loss and the time
    left, written over itself; a line that stays every `keep_every` epochs (0: about ten in all);
    the learning curve at the end."""

    @entry
    def __init__(self, keep_every=0):
        self._lines = _mycel.terminal.ProgressLines(keep_every)

    def begin(self, run_context):
        """Starts anew."""
        self._lines.begin(run_context.original_args().epoch_num)

    def step_end(self, run_context):
        """Draws the passing line."""
        p = run_context.original_args()
        self._lines.step(p.cur_epoch_num, p.cur_step_in_epoch, p.batch_num, _loss_of(p))

    def epoch_end(self, run_context):
        """Writes a line that stays."""
        p = run_context.original_args()
        self._lines.epoch_end(p.cur_epoch_num, dict(p.get("eval_results") or {}))

    def end(self, run_context):
        """Draws the curve."""
        self._lines.end()


class LearningRateScheduler(_TrainingCallback):
    """Sets the learning rate after each step to learning_rate_function(rate now, number of the
    step)."""

    @entry
    def __init__(self, learning_rate_function):
        if not callable(learning_rate_function):
            raise TypeError("LearningRateScheduler: 'learning_rate_function' must be a function")
        self.learning_rate_function = learning_rate_function

    def step_end(self, run_context):
        """Sets the rate of the next step."""
        p = run_context.original_args()
        rate = _rate(p.optimizer, "LearningRateScheduler")
        new = self.learning_rate_function(float(rate.asnumpy()), p.cur_step_num)
        rate.set_data(Tensor(float(new), rate.dtype))


def _rate(optimizer, owner):
    rate = getattr(optimizer, "learning_rate", None)
    if not isinstance(rate, Parameter) or rate.ndim != 0:
        raise ValueError(
            f"{owner}: the optimizer's learning rate must be one number, not a schedule"
        )
    return rate


class _Watching(_TrainingCallback):
    """Looks at one number after each epoch."""

    def _watch(self, monitor, mode, min_delta, patience):
        owner = type(self).__name__
        if not isinstance(monitor, str):
            raise TypeError(f"{owner}: 'monitor' must be a str, got {type(monitor).__name__}")
        if mode not in ("auto", "min", "max"):
            raise ValueError(f'{owner}: \'mode\' must be "auto", "min" or "max", got {mode!r}')
        self.monitor, self.patience = monitor, _positive(owner, "patience", patience, 0)
        self.mode, self.min_delta = mode, abs(min_delta)
        self._up = mode == "max" or (mode == "auto" and "acc" in monitor)
        self._best, self.wait = (-math.inf if self._up else math.inf), 0

    def _now(self, run_context):
        p = run_context.original_args()
        known = {f"eval_{k}": v for k, v in (p.get("eval_results") or {}).items()}
        known["loss"] = _loss_of(p)
        if self.monitor not in known:
            raise ValueError(
                f"{type(self).__name__}: there is no '{self.monitor}' to watch; "
                f"there is {', '.join(known)}\n  Values that begin with eval_ come from Model.fit "
                "with a validation in each epoch."
            )
        return float(known[self.monitor])

    def _better(self, value):
        best, delta = self._best, self.min_delta
        return value - delta > best if self._up else value + delta < best

    def state(self):
        """The best number and how long it has stood."""
        return {"best": self._best, "wait": self.wait}

    def load_state(self, state):
        """Takes them up."""
        self._best, self.wait = float(state["best"].asnumpy()), int(state["wait"].asnumpy())


class EarlyStopping(_Watching):
    """Stops when `monitor` ("loss", or "eval_" and a metric) has not become better by min_delta
    for `patience` epochs, or than `baseline`. restore_best_weights: the network gets the best
    epoch's values."""

    @entry
    def __init__(
        self,
        monitor="eval_loss",
        min_delta=0,
        patience=0,
        verbose=False,
        mode="auto",
        baseline=None,
        restore_best_weights=False,
    ):
        self._watch(monitor, mode, min_delta, patience)
        self.baseline, self.verbose = baseline, bool(verbose)
        self.restore_best_weights = bool(restore_best_weights)
        self.stopped_epoch, self._weights = 0, None

    def begin(self, run_context):
        """Forgets earlier runs."""
        self._watch(self.monitor, self.mode, self.min_delta, self.patience)
        self.stopped_epoch, self._weights = 0, None
        if self.baseline is not None:
            self._best = self.baseline

    def epoch_end(self, run_context):
        """Looks at the number."""
        p, value = run_context.original_args(), self._now(run_context)
        if self._better(value):
            self._best, self.wait = value, 0
            if self.restore_best_weights:
                self._weights = [q.value() for q in p.network.get_parameters()]
            return
        self.wait += 1
        if self.wait < self.patience:
            return
        self.stopped_epoch = p.cur_epoch_num
        run_context.request_stop()
        for q, best in zip(p.network.get_parameters(), self._weights or ()):
            q.set_data(best)

    def state(self):
        """Also the best epoch's weights."""
        best = {f"weights.{i}": v for i, v in enumerate(self._weights or ())}
        return super().state() | best

    def load_state(self, state):
        """Takes them up."""
        super().load_state(state)
        best = {int(k[8:]): v for k, v in state.items() if k.startswith("weights.")}
        self._weights = [v for _, v in sorted(best.items())] or None

    def end(self, run_context):
        """Says where training stopped, when verbose."""
        self._weights = None
        if self.verbose and self.stopped_epoch:
            print(f"EarlyStopping: stopped after epoch {self.stopped_epoch}")


class ReduceLROnPlateau(_Watching):
    """Multiplies the learning rate by `factor`, down to min_lr, when `monitor` has not become
    better by min_delta for `patience` epochs; then waits `cooldown` epochs."""

    @entry
    def __init__(
        self,
        monitor="eval_loss",
        factor=0.1,
        patience=10,
        verbose=False,
        mode="auto",
        min_delta=0.0001,
        cooldown=0,
        min_lr=0,
    ):
        if not 0 < factor < 1:
            raise ValueError(f"ReduceLROnPlateau: 'factor' must be between 0 and 1, got {factor}")
        self._watch(monitor, mode, min_delta, patience)
        self.factor, self.verbose, self.min_lr = factor, bool(verbose), min_lr
        self.cooldown = _positive("ReduceLROnPlateau", "cooldown", cooldown, 0)
        self.cooldown_counter = 0

    def begin(self, run_context):
        """Forgets earlier runs."""
        self._watch(self.monitor, self.mode, self.min_delta, self.patience)
        self.cooldown_counter = 0

    def epoch_end(self, run_context):
        """Looks at the number."""
        value = self._now(run_context)
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.wait = 0
        if self._better(value):
            self._best, self.wait = value, 0
        elif self.cooldown_counter == 0:
            self.wait += 1
            if self.wait >= self.patience:
                self._reduce(run_context.original_args())

    def state(self):
        """Also how long it waits."""
        return super().state() | {"cooldown": self.cooldown_counter}

    def load_state(self, state):
        """Takes them up."""
        super().load_state(state)
        self.cooldown_counter = int(state["cooldown"].asnumpy())

    def _reduce(self, p):
        rate = _rate(p.optimizer, "ReduceLROnPlateau")
        now = float(rate.asnumpy())
        if now > self.min_lr:
            rate.set_data(Tensor(max(now * self.factor, self.min_lr), rate.dtype))
            if self.verbose:
                print(
                    f"ReduceLROnPlateau: epoch {p.cur_epoch_num}, "
                    f"learning rate {float(rate.asnumpy())}"
                )
        self.cooldown_counter, self.wait = self.cooldown, 0


__getattr__ = _published_modules.names_of("train")
__all__ = [
    "Callback",
    "EarlyStopping",
    "History",
    "LambdaCallback",
    "LearningRateScheduler",
    "LossMonitor",
    "ProgressBar",
    "ReduceLROnPlateau",
    "RunContext",
    "TimeMonitor",
]
