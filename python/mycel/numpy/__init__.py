"""The NumPy-like module: NumPy's functions, on tensors.

Arguments that NumPy takes as arrays may be tensors, numbers, nested lists or NumPy arrays; lists
and numbers become int32, float32, bool or complex64. dtypes meet as `promote_types` says: the float
type stays when it meets integers. Every function works eagerly and in compiled code, and
differentiates where its formula does."""

from mycel.numpy.creations import *
from mycel.numpy.differences import *
from mycel.numpy.dtypes import *
from mycel.numpy.histograms import *
from mycel.numpy.indexing import *
from mycel.numpy.logic import *
from mycel.numpy.manipulation import *
from mycel.numpy.math import *
from mycel.numpy.padding import *
from mycel.numpy.polynomials import *
from mycel.numpy.products import *
from mycel.numpy.random import *
from mycel.numpy.reductions import *
from mycel.numpy.statistics import *
from mycel.numpy.windows import *
