"""Drawing in a terminal: progress bars, curves of Unicode blocks, pictures of grey values."""

from mycel._mycel import terminal as _terminal

Screen = _terminal.Screen
bar = _terminal.bar
curve = _terminal.curve
picture = _terminal.picture

__all__ = ["Screen", "bar", "curve", "picture"]
