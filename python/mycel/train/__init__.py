"""Training: Model, callbacks, checkpoints, metrics."""

from mycel._where import missing
from mycel.common.model_file import export, load
from mycel.nn import metrics as _metrics
from mycel.nn.metrics import *
from mycel.train import (
    batches,
    callback,
    loss_scale_manager,
    model_checkpoint,
    serialization,
    sinks,
    summary,
)
from mycel.train.amp import build_train_network
from mycel.train.batches import *
from mycel.train.callback import *
from mycel.train.loss_scale_manager import *
from mycel.train.model import Model
from mycel.train.model_checkpoint import *
from mycel.train.serialization import *
from mycel.train.sinks import *
from mycel.train.summary import *

__all__ = [
    "Model",
    "build_train_network",
    "export",
    "load",
    *callback.__all__,
    *batches.__all__,
    *loss_scale_manager.__all__,
    *model_checkpoint.__all__,
    *serialization.__all__,
    *sinks.__all__,
    *summary.__all__,
    *_metrics.__all__,
]


def __getattr__(name):
    return missing("mycel.train", name, lambda: __all__)
