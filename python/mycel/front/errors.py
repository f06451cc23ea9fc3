"""Errors of the front end: every one names the user's line. Interpreted code has no Python frames;
`mycel._where` asks here, and tracebacks get frames that stand for it."""

import ast
import sys
import types


def locate(activation):
    """The text of `mycel._where.locate` for interpreted code."""
    from mycel._where import short_path

    source, node = activation.source, activation.node
    line = getattr(node, "lineno", source.first_line)
    text = f"{short_path(source.filename)}:{line}"
    if not source.is_lambda or source.name:
        text += f" in {source.name}"
    raw = source.lines[line - 1].rstrip() if 0 < line <= len(source.lines) else ""
    if not raw.strip():
        return text
    text += f"\n    {raw.strip()}"
    if node is None or isinstance(node, ast.FunctionDef):
        return text
    encoded, indent = raw.encode(), len(raw) - len(raw.lstrip())
    begin = len(encoded[: node.col_offset].decode(errors="replace")) - indent
    last = node.end_col_offset if node.end_lineno == line else len(encoded)
    if isinstance(node, (ast.If, ast.While, ast.For, ast.Try, ast.With)):
        last = len(encoded)
    end = len(encoded[:last].decode(errors="replace"))
    return text + "\n    " + " " * max(0, begin) + "^" * max(1, end - indent - begin)


def location_id(activation):
    """The number of the source line that an activation runs, for the graph's nodes."""
    from mycel import _mycel
    from mycel._where import short_path

    node, source = activation.node, activation.source
    text = f"{short_path(source.filename)}:{node.lineno} in {source.name}"
    return _mycel.intern_location(text)


def with_place(kind, message, hint=""):
    """An exception in the house's form: message, the user's line, what to write instead."""
    from mycel._where import locate as locate_user

    place = locate_user()
    text = message + (f"\n  At {place}" if place else "")
    return kind(text + (f"\n  {hint}" if hint else ""))


def refuse(message, hint=""):
    """An error about code that cannot be compiled."""
    return with_place(NotImplementedError, message, hint)


def note_frame(error, activation):
    """Remembers that an exception came through an activation."""
    trail = error.__dict__.setdefault("_front_trail", [])
    node = activation.node
    line = getattr(node, "lineno", activation.source.first_line)
    trail.append((activation.source.filename, line, activation.source.name))


def _frame_at(filename, line, name):
    code = compile("\n" * (line - 1) + "f = g()", filename, "exec")
    code = code.replace(co_name=name.split(".")[-1])
    space = {"g": lambda: sys._getframe(1)}
    exec(code, space)
    return space["f"]


def rebuild_traceback(error):
    """The exception with a traceback whose innermost entries are the interpreted frames."""
    trail = error.__dict__.pop("_front_trail", None)
    if not trail:
        return error
    following = None
    for filename, line, name in trail:  # innermost first
        frame = _frame_at(filename, line, name)
        following = types.TracebackType(following, frame, frame.f_lasti, line)
    return error.with_traceback(following)
