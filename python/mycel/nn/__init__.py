"""Networks: cells, layers, losses, optimizers, learning rates, metrics and training steps."""

from mycel._where import missing
from mycel.nn import probability
from mycel.nn.cell import Cell, GraphCell
from mycel.nn.container import CellList, SequentialCell
from mycel.nn.dynamic_lr import *
from mycel.nn.layer import *
from mycel.nn.learning_rate_schedule import LearningRateSchedule
from mycel.nn.loss import LossBase
from mycel.nn.metrics import *
from mycel.nn.optim import *
from mycel.nn.pooling import *
from mycel.nn.recurrent import GRU, LSTM, RNN, LSTMCell
from mycel.nn.resize import ResizeBilinear, Upsample
from mycel.nn.sampled import *
from mycel.nn.sparse import SparseTensorDenseMatmul, SparseToDense
from mycel.nn.transformer import *
from mycel.nn.wrap import (
    DistributedGradReducer,
    DynamicLossScaleUpdateCell,
    FixedLossScaleUpdateCell,
    ForwardValueAndGrad,
    Jvp,
    ParameterUpdate,
    TimeDistributed,
    TrainOneStepCell,
    TrainOneStepWithLossScaleCell,
    Vjp,
    WithEvalCell,
    WithGradCell,
    WithLossCell,
)


def __getattr__(name):
    return missing("mycel.nn", name, lambda: [n for n in globals() if not n.startswith("_")])
