"""Groups of processes that train together. A process that was started alone is a world of one:
collective ops give what it put in."""

from mycel.communication.management import *
from mycel.communication.management import __all__, _is_initialized
