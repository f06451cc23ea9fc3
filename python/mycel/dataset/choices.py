"""The enumerations of arguments, made from the records of the C++ pipeline."""

import enum

from mycel import _mycel

# Members of one choice whose values are strings are strings themselves, as published.
ALL = {}
for _name, _doc, _members in _mycel.data.choices():
    if isinstance(_members[0][1], str):
        _made = enum.Enum(_name, _members, type=str)
    else:
        _made = enum.IntEnum(_name, _members)
    _made.__doc__ = _doc
    _made.__module__ = __name__  # where pickle finds it
    _made._member_name = property(lambda self: self.name)
    ALL[_name] = _made

globals().update(ALL)
Shuffle = ALL["Shuffle"]
