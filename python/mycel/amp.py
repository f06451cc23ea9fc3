"""Automatic mixed precision, see mycel.train.amp."""

from mycel.train.amp import *  # noqa: F403
