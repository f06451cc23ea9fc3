"""Operations on tensors.

Functions come straight from the op records (`ops.add`), classes from the records' primitive lines
(`ops.Add()`), what is irregular from the modules beside this one. Names are made when first asked
for; `dir(mycel.ops)` lists all."""

from mycel import _mycel
from mycel._where import missing
from mycel.ops import _orders, _published, composite, primitive
from mycel.ops._buffers import *
from mycel.ops._collective import *
from mycel.ops._depthwise import *
from mycel.ops._distributions import *
from mycel.ops._forms import *
from mycel.ops._host import *
from mycel.ops._jacobian import hessian, jacfwd, jacrev, linearize
from mycel.ops._jet import derivative, jet
from mycel.ops._linalg import *
from mycel.ops._loops import *
from mycel.ops._published import *
from mycel.ops._random import *
from mycel.ops._rearranged import *
from mycel.ops._sequences import *
from mycel.ops._sparse import *
from mycel.ops._summary import *
from mycel.ops._transforms import GradOperation, grad, grad_all, jvp, value_and_grad, vjp
from mycel.ops._updates import *
from mycel.ops._values import *
from mycel.ops._vmap import vmap
from mycel.ops._windows import *
from mycel.ops.composite import *
from mycel.ops.primitive import (
    Primitive,
    PrimitiveWithCheck,
    PrimitiveWithInfer,
    prim_attr_register,
)

globals().update(_orders.made())

_functions = {}  # public function name -> record
for _record, _, _, _alias, _internal in _mycel.records():
    if not _internal:
        _functions[_record] = _record
    for _name in _alias.split():
        _functions.setdefault(_name, _record)
_classes = primitive.declared()
del _record, _alias, _internal, _name


def __getattr__(name):
    if name in _functions:
        value = _mycel.op(_functions[name])
    elif name in _classes:
        value = primitive.make_class(name, _classes[name])
    elif name in ("functional", "operations", "_grad_ops", "_inner_ops"):
        import importlib

        value = importlib.import_module(f"mycel.ops.{name}")
    else:
        value = missing("mycel.ops", name, __dir__)
    globals()[name] = value
    return value


def __dir__():
    own = [n for n in globals() if not n.startswith("_")]
    return sorted({*own, *_functions, *_classes})
