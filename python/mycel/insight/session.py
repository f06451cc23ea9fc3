"""Debugger: the callback that shows every tensor of a run. The work is done by a C++ session
(src/insight/debug); what is here names scopes and checks arguments."""

import contextlib
import json
import os

from mycel import _mycel
from mycel._mycel import Tensor, entry
from mycel._where import locate
from mycel.nn import _compile
from mycel.nn.cell import Cell
from mycel.train.callback import Callback

_debug = _mycel.debug
_SAVED = ("tensor", "statistic", "full")


def _first_line():
    return locate().split("\n", 1)[0]


def _source(path):
    """The text of a file that a tensor's line names."""
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def _watchpoint(given):
    from mycel.insight.debugger import Watchpoint

    if isinstance(given, Watchpoint):
        return given._plain()
    if isinstance(given, str):
        return {"condition": given}
    if isinstance(given, dict):
        return given
    kind = type(given).__name__
    raise TypeError(
        f"Debugger: a watchpoint is a condition's name, a dict or a Watchpoint, got {kind}"
    )


def dump_plan(steps="all", scopes=(), saved_data="tensor", folder=""):
    """What Debugger(dump=…) takes: which steps ("all" or "1|5-8"), tensors of which scopes (all by
    default), "tensor", "statistic" or "full" (both), and a folder ("": inside the run's)."""
    if saved_data not in _SAVED:
        raise ValueError(f"dump_plan: 'saved_data' must be one of {_SAVED}, got {saved_data!r}")
    return {
        "steps": steps,
        "scopes": list(scopes),
        "what": saved_data,
        "folder": os.fspath(folder),
        "shift": 0,
    }


class Debugger(Callback):
    """Debugs a run: every tensor of a step can be looked at on the Debugger page of `mycel insight
    summary_dir`, watchpoints find values that are wrong and stop the program there.

    watchpoints: conditions' names, dicts {"condition", "parameters", "scopes"} or Watchpoints;
    by default operator_overflow, gradient_vanishing and weight_not_changed. pause: "hit" stops at
    hits, "start" before the first step too, "never" only notes hits. online: whether pages may
    connect. dump: a dump_plan, or None. keep_bytes: how much of a step is kept in memory.

    With Model it is a callback. In a loop of one's own: `with Debugger(dir).watch(net) as d:`
    and, around each step, `with d.step(n) as s:` with `s.loss(loss)` inside.
    """

    @entry
    def __init__(
        self,
        summary_dir,
        watchpoints=("operator_overflow", "gradient_vanishing", "weight_not_changed"),
        pause="hit",
        online=True,
        dump=None,
        keep_bytes=2 << 30,
    ):
        if pause not in ("start", "hit", "never"):
            raise ValueError(f"Debugger: 'pause' must be start, hit or never, got {pause!r}")
        if isinstance(keep_bytes, bool) or not isinstance(keep_bytes, int) or keep_bytes < 1:
            raise ValueError(f"Debugger: 'keep_bytes' must be an int above 0, got {keep_bytes!r}")
        if dump is not None and not isinstance(dump, dict):
            raise TypeError("Debugger: 'dump' must be a dump_plan or None")
        if isinstance(watchpoints, (str, dict)):
            watchpoints = (watchpoints,)
        self._watchpoints = [_watchpoint(w) for w in watchpoints]
        for w in self._watchpoints:
            _debug.check_watchpoint(json.dumps(w))
        self._options = {
            "folder": os.fspath(summary_dir),
            "pause": pause,
            "online": bool(online),
            "keep_bytes": keep_bytes,
            "dump": dump,
            "watchpoints": self._watchpoints,
        }
        self._session, self._marked, self._parameters = None, [], []

    # -- callback ----------------------------------------

    def on_train_begin(self, run_context):
        """Opens the session and names the scopes."""
        p = run_context.original_args()
        if sum(isinstance(c, Debugger) for c in p.list_callback) > 1:
            raise ValueError("Debugger: a run has one; the list of callbacks has more")
        if p.dataset_sink_mode:
            raise ValueError(
                "Debugger: dataset_sink_mode=True runs many steps in one call; train without it"
            )
        self._open(p.train_network, p.network, p.get("loss_fn"), p.get("optimizer"))

    def on_train_step_begin(self, run_context):
        """Shows the tensors of this step."""
        self._session.begin_step(run_context.original_args()["cur_step_num"])

    def on_train_step_end(self, run_context):
        """Looks at weights and loss."""
        out = run_context.original_args().get("net_outputs")
        out = out[0] if isinstance(out, (tuple, list)) and out else out
        self._end_step(out if isinstance(out, Tensor) else None)

    def on_train_end(self, run_context):
        """Ends the session."""
        self.close()

    def _run_is_over(self):
        self.close()  # also where an error has ended it

    def __exit__(self, *error):
        self.close()

    # -- loops of one's own ----------------------------------------

    def __enter__(self):
        return self

    @entry
    def watch(self, network, loss_fn=None, optimizer=None):
        """Opens the session for a network that a loop of one's own trains; gives the debugger."""
        if not isinstance(network, Cell):
            raise TypeError(f"Debugger.watch: 'network' must be a Cell, got {network!r}")
        self._open(network, network, loss_fn, optimizer)
        return self

    @contextlib.contextmanager
    def step(self, number):
        """One step: what is computed inside is shown."""
        if self._session is None:
            raise RuntimeError("Debugger.step: call watch(network) first")
        self._session.begin_step(int(number))
        step = _Step()
        yield step
        self._end_step(step._loss)

    @property
    def hits(self):
        """What watchpoints have found, as dicts."""
        return [] if self._hits is None else self._hits()

    @entry
    def close(self):
        """Ends the session; the network is as before."""
        session, self._session = self._session, None
        if session is None:
            return
        session.detach()
        for cell, before in self._marked:
            cell.__dict__.update(_scope=None, _special=before)
        self._marked = []
        _compile.changed()
        found = json.loads(session.hits())
        self._hits = lambda: found
        session.close()

    # -- inside ----------------------------------------

    _hits = None

    def _open(self, whole, network, loss_fn, optimizer):
        self.close()
        options = dict(self._options)
        if options["dump"] is not None and options["dump"].get("marked"):
            options["dump"] = {**options["dump"], "scopes": _marked_scopes(network)}
        session = self._session = _debug.Session(json.dumps(options), _source, _first_line)
        self._hits = lambda: json.loads(session.hits())
        roots = [(network, network.cls_name)]
        roots += [(c, c.cls_name) for c in (loss_fn, optimizer) if isinstance(c, Cell)]
        for root, top in roots:
            for path, cell in root.cells_and_names():
                if cell.__dict__.get("_scope") is not None:
                    continue  # it has its place already
                scope = f"{top}/{path.replace('.', '/')}" if path else top
                self._marked.append((cell, cell.__dict__["_special"]))
                cell.__dict__.update(_scope=scope, _special=True)
                session.describe_scope(scope, cell.cls_name)
        self._parameters = list(whole.get_parameters())
        self._trainable = {id(p) for p in network.trainable_params()}
        _compile.changed()
        session.attach()

    def _end_step(self, loss):
        for p in self._parameters:
            self._session.parameter(p.name, p.value(), id(p) in self._trainable)
        if loss is not None and loss.size:
            self._session.loss(loss)
        self._session.end_step()


class _Step:
    """What `with d.step(n) as s` gives."""

    _loss = None

    def loss(self, value):
        """Says which tensor is the loss."""
        if not isinstance(value, Tensor):
            raise TypeError(f"loss: a Tensor was expected, got {type(value).__name__}")
        self._loss = value


def _marked_scopes(network):
    scopes = [
        f"{network.cls_name}/{path.replace('.', '/')}" if path else network.cls_name
        for path, cell in network.cells_and_names()
        if cell.__dict__.get("_dumped")
    ]
    return scopes or ["-"]  # nothing


@entry
def set_dump(target, enabled=True):
    """Marks a cell and those inside it: their tensors are dumped when the configuration that
    MYCEL_DUMP_CONFIG names has dump_mode 2."""
    if not isinstance(target, Cell):
        raise ValueError(f"set_dump: 'target' must be a Cell, got {type(target).__name__}")
    if not isinstance(enabled, bool):
        raise ValueError(f"set_dump: 'enabled' must be a bool, got {enabled!r}")
    for _, cell in target.cells_and_names():
        cell.__dict__["_dumped"] = enabled


_COMMON = {
    "op_debug_mode": 0,
    "dump_mode": None,
    "path": None,
    "net_name": "Net",
    "iteration": "all",
    "saved_data": "tensor",
    "input_output": 0,
    "kernels": [],
    "support_device": [0],
    "file_format": "npy",
}


def dump_of_config(path):
    """The Debugger that a published dump configuration (a JSON file) asks for, or None where it is
    switched off."""
    with open(path, encoding="utf-8") as f:
        try:
            config = json.load(f)
        except ValueError as error:
            raise ValueError(f"{path}: no JSON: {error}") from None
    if not isinstance(config, dict) or not isinstance(config.get("common_dump_settings"), dict):
        raise ValueError(f"{path}: 'common_dump_settings' is missing")
    given = config["common_dump_settings"]
    for key in given:
        if key not in _COMMON:
            raise ValueError(f"{path}: there is no setting '{key}'; {', '.join(_COMMON)}")
    common = {**_COMMON, **given}
    if not (config.get("e2e_dump_settings") or {"enable": True}).get("enable", True):
        return None
    if common["dump_mode"] not in (0, 1, 2):
        raise ValueError(f"{path}: 'dump_mode' must be 0, 1 or 2, got {common['dump_mode']!r}")
    if not isinstance(common["path"], str) or not os.path.isabs(common["path"]):
        raise ValueError(f"{path}: 'path' must be an absolute path, got {common['path']!r}")
    if common["op_debug_mode"] != 0:
        raise ValueError(f"{path}: 'op_debug_mode' is 0 here: watchpoints find overflow")
    if common["input_output"] not in (0, 2):
        raise ValueError(f"{path}: 'input_output' is 0 or 2: results are dumped and name operands")
    if common["saved_data"] not in _SAVED:
        raise ValueError(f"{path}: 'saved_data' must be one of {_SAVED}")
    if common["file_format"] != "npy":
        raise ValueError(f"{path}: 'file_format' is npy")
    plan = dump_plan(common["iteration"], saved_data=common["saved_data"])
    plan["shift"] = 1  # published iterations count from 0, steps from 1
    if common["dump_mode"] == 1:
        plan["scopes"] = [f"*{k}*" for k in common["kernels"]]
    plan["marked"] = common["dump_mode"] == 2
    folder = os.path.join(common["path"], str(common["net_name"]))
    return Debugger(folder, watchpoints=(), pause="never", online=False, dump=plan)


def from_environment():
    """The callbacks that MYCEL_DEBUGGER=DIR (with MYCEL_DEBUGGER_PAUSE) and MYCEL_DUMP_CONFIG=FILE
    ask for."""
    folder, config = os.environ.get("MYCEL_DEBUGGER"), os.environ.get("MYCEL_DUMP_CONFIG")
    if folder:
        return [Debugger(folder, pause=os.environ.get("MYCEL_DEBUGGER_PAUSE", "hit"))]
    found = dump_of_config(config) if config else None
    return [] if found is None else [found]


__all__ = ["Debugger", "dump_plan", "from_environment", "set_dump"]
