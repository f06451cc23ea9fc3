"""ModelCheckpoint: a callback that saves training runs so that they can go on later."""

import os
import time

from mycel import _mycel
from mycel._mycel import entry
from mycel.nn.cell import Cell
from mycel.train import serialization
from mycel.train.callback import _positive, _reached, _TrainingCallback, run_state


class CheckpointConfig:
    """When ModelCheckpoint saves: every save_checkpoint_steps steps, or save_checkpoint_seconds
    seconds when steps are None or 0. keep_checkpoint_max: how many of the files it wrote stay.
    saved_network: a Cell to save alone, without the state of training. append_info:
    "epoch_num", "step_num" and dicts of numbers."""

    @entry
    def __init__(
        self,
        save_checkpoint_steps=1,
        save_checkpoint_seconds=0,
        keep_checkpoint_max=5,
        keep_checkpoint_per_n_minutes=0,
        integrated_save=True,
        async_save=False,
        saved_network=None,
        append_info=None,
        enc_key=None,
        enc_mode="AES-GCM",
        exception_save=False,
    ):
        for name, value in (
            ("keep_checkpoint_per_n_minutes", keep_checkpoint_per_n_minutes),
            ("async_save", async_save),
            ("enc_key", enc_key),
            ("exception_save", exception_save),
        ):
            if value:
                raise NotImplementedError(f"CheckpointConfig: {name} is not supported")
        if not isinstance(integrated_save, bool):
            raise TypeError("CheckpointConfig: 'integrated_save' must be True or False")
        if saved_network is not None and not isinstance(saved_network, Cell):
            raise TypeError("CheckpointConfig: 'saved_network' must be a Cell or None")
        owner = "CheckpointConfig"
        self.save_checkpoint_steps = _positive(
            owner, "save_checkpoint_steps", save_checkpoint_steps or 0, 0
        )
        seconds = _positive(owner, "save_checkpoint_seconds", save_checkpoint_seconds or 0, 0)
        self.save_checkpoint_seconds = 0 if self.save_checkpoint_steps else seconds
        if not self.save_checkpoint_steps and not self.save_checkpoint_seconds:
            raise ValueError(
                "CheckpointConfig: neither steps nor seconds between checkpoints are given"
            )
        self.keep_checkpoint_max = _positive(owner, "keep_checkpoint_max", keep_checkpoint_max, 1)
        self.integrated_save, self.saved_network = integrated_save, saved_network
        self.append_info = list(append_info or [])
        for item in self.append_info:
            if not isinstance(item, dict) and item not in ("epoch_num", "step_num"):
                raise ValueError(
                    'CheckpointConfig: append_info knows "epoch_num", "step_num" and dicts, '
                    f"got {item!r}"
                )


class ModelCheckpoint(_TrainingCallback):
    """Saves "<directory>/<prefix>-<epoch>_<step of the epoch>.ckpt" as `config` says and at the
    end. Model.resume goes on from such a file."""

    @entry
    def __init__(self, prefix="CKP", directory=None, config=None):
        if not isinstance(prefix, str) or not prefix or "/" in prefix:
            raise ValueError(
                f"ModelCheckpoint: 'prefix' must be the start of a file name, got {prefix!r}"
            )
        if config is not None and not isinstance(config, CheckpointConfig):
            raise TypeError("ModelCheckpoint: 'config' must be a CheckpointConfig or None")
        self._prefix, self._directory = prefix, os.path.abspath(directory or os.getcwd())
        self._config = config or CheckpointConfig()
        self._files, self.latest_ckpt_file_name = [], ""

    def begin(self, run_context):
        """Makes the directory."""
        os.makedirs(self._directory, exist_ok=True)
        self._time, self._step = time.monotonic(), run_context.original_args().cur_step_num

    def step_end(self, run_context):
        """Saves when it is time."""
        p, config = run_context.original_args(), self._config
        by_step = config.save_checkpoint_steps and _reached(p, config.save_checkpoint_steps)
        seconds = config.save_checkpoint_seconds
        if by_step or (seconds and time.monotonic() - self._time >= seconds):
            self._save(p)

    def end(self, run_context):
        """Saves what the last steps did."""
        if run_context.original_args().cur_step_num != self._step:
            self._save(run_context.original_args())

    def _extra(self, p):
        out = {}
        for item in self._config.append_info:
            if isinstance(item, dict):
                out.update(item)
            else:
                out[item] = p.cur_epoch_num if item == "epoch_num" else p.cur_step_num
        return serialization._appended(out, "CheckpointConfig: 'append_info'")

    def _save(self, p):
        name = f"{self._prefix}-{p.cur_epoch_num}_{p.cur_step_in_epoch}.ckpt"
        path, extra = os.path.join(self._directory, name), self._extra(p)
        if self._config.saved_network is not None:
            entries, states, progress = serialization._entries(self._config.saved_network), [], None
        else:
            entries, states = training_entries(p.network, p.train_network)
            progress = (
                p.cur_epoch_num - 1,
                p.cur_step_in_epoch,
                p.cur_step_num,
                *_mycel.random_state(),
                run_state(p),
            )
        names = [*states, *(n for n, _ in extra)]
        _mycel.train.save(path, entries + extra, names, progress, {})
        self.latest_ckpt_file_name, self._time, self._step = path, time.monotonic(), p.cur_step_num
        self._files = [f for f in self._files if f != path] + [path]
        while len(self._files) > self._config.keep_checkpoint_max:
            old = self._files.pop(0)
            if os.path.exists(old):
                os.remove(old)


def training_entries(network, train_network):
    """([(name, tensor)] of a training network, names of those that are not the network's own)."""
    own = {id(p) for p in network.get_parameters()}
    everything = [*network.get_parameters()]
    everything += [p for p in train_network.get_parameters() if id(p) not in own]
    states = [p.name for p in everything if id(p) not in own]
    return [(p.name, p.value()) for p in everything], states


__all__ = ["CheckpointConfig", "ModelCheckpoint"]
