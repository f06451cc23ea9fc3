"""Mycel: an AI framework. Networks, training and operations under the names of the published
API."""

import os as _os

from mycel import _mycel, _published_modules

_published_modules.install()
_mycel.set_package_folder(_os.path.dirname(_os.path.abspath(__file__)))

from mycel import context
from mycel.common import *
from mycel.common import (
    COOTensor,
    CSRTensor,
    Parameter,
    ParameterTuple,
    RowTensor,
    SparseTensor,
    Tensor,
    from_dlpack,
    from_numpy,
    get_seed,
    jit,
    jit_class,
    ms_class,
    ms_function,
    mutable,
    set_seed,
)
from mycel.common.dtype import dtype_to_nptype, dtype_to_pytype, get_py_obj_dtype, pytype_to_dtype
from mycel.context import *

__version__ = _mycel.__version__

# Subpackages and the published top-level names that live in them; loaded when first asked for.
_SUBPACKAGES = (
    "amp", "array_api", "boost", "common", "communication", "dataset", "experimental", "insight",
    "lite", "log", "mindrecord", "nn", "numpy", "onnx", "ops", "parallel", "profiler", "rewrite",
    "scipy", "tensorflow", "tflite", "train",
)  # fmt: skip
_HOMES = {
    "grad": "ops",
    "value_and_grad": "ops",
    "vjp": "ops",
    "jvp": "ops",
    "vmap": "ops",
    "jacfwd": "ops",
    "jacrev": "ops",
    "Model": "train",
    "export": "common.model_file",
    "load": "common.model_file",
    "Profiler": "profiler",
    "set_dump": "insight",
    "get_level": "log",
    "run_check": "_run_check",
    "get_log_config": "log",
}
_SEARCHED = ("train", "nn", "ops", "parallel", "boost", "rewrite")


def __getattr__(name):
    import importlib
    import importlib.util

    if name in _SUBPACKAGES and importlib.util.find_spec(f"mycel.{name}"):
        return importlib.import_module(f"mycel.{name}")
    if not name.startswith("_"):
        for home in (_HOMES[name],) if name in _HOMES else _SEARCHED:
            if importlib.util.find_spec(f"mycel.{home}") is None:
                continue
            module = importlib.import_module(f"mycel.{home}")
            if name in getattr(module, "__all__", ()) or home == _HOMES.get(name):
                value = getattr(module, name, None)
                if value is not None:
                    globals()[name] = value
                    return value
    from mycel._where import missing

    return missing("mycel", name, __dir__)


if _os.environ.get("MYCEL_PROFILER_OPTIONS"):
    from mycel import profiler as _profiler

    _profiler._start_from_environment()


def __dir__():
    return sorted({*(n for n in globals() if not n.startswith("_")), *_SUBPACKAGES, *_HOMES})
