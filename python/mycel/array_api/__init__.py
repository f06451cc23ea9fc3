"""The Python array API standard, version 2025.12, over Mycel's tensors, which are its arrays:
`x.__array_namespace__()` is this module. What the standard leaves open (mixing integers and floats,
dtypes outside of a function's) is an error here."""

import math as _math

from mycel._mycel import Tensor as Array
from mycel.array_api._creation import *
from mycel.array_api._dtypes import *
from mycel.array_api._dtypes import __array_namespace_info__
from mycel.array_api._elementwise import *
from mycel.array_api._manipulation import *
from mycel.array_api._products import *
from mycel.array_api._searching import *
from mycel.array_api._statistics import *

__array_api_version__ = "2025.12"
e, inf, nan, newaxis, pi = _math.e, _math.inf, _math.nan, None, _math.pi

from mycel.array_api import fft, linalg
