"""Where the user's program stands: the innermost frame of the Python stack outside this package."""

import linecache
import os
import sys

PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def user_frame():
    """The innermost frame that is not the package's, or None."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    return frame


def _innermost():
    """The innermost place of the user's program: a frame, an activation of interpreted code, or
    None."""
    front = sys.modules.get("mycel.front.activation")
    call = front.CALL_CODE if front is not None else None
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        if frame.f_code is call and "activation" in frame.f_locals:
            return frame.f_locals["activation"]
        frame = frame.f_back
    return frame


def short_path(path: str) -> str:
    """The path as a user would type it: relative when it lies below the working directory."""
    try:
        relative = os.path.relpath(path)
    except ValueError:
        return path
    return path if relative.startswith(os.pardir) else relative


def _columns(frame, line: int):
    """First and last column of the expression that runs in `frame`, in characters, or None."""
    positions = getattr(frame.f_code, "co_positions", None)
    if positions is None or frame.f_lasti < 0:
        return None
    for i, (first, last, begin, end) in enumerate(positions()):
        if i == frame.f_lasti // 2:
            if first != line or begin is None or end is None:
                return None
            return begin, end if last == line else None
    return None


def locate() -> str:
    """`file:line in function`, the source line, and a caret under the expression; "" without a
    frame."""
    frame = _innermost()
    if frame is None:
        return ""
    if not hasattr(frame, "f_code"):
        from mycel.front.errors import locate as locate_interpreted

        return locate_interpreted(frame)
    code, line = frame.f_code, frame.f_lineno
    name = getattr(code, "co_qualname", code.co_name).replace("<locals>.", "")
    text = f"{short_path(code.co_filename)}:{line}"
    if name != "<module>":
        text += f" in {name}"
    raw = linecache.getline(code.co_filename, line, frame.f_globals).rstrip()
    source = raw.strip()
    if not source:
        return text
    text += f"\n    {source}"
    columns = _columns(frame, line)
    if columns is None:
        return text
    # Positions count bytes of UTF-8 from the start of the line.
    encoded, indent = raw.encode(), len(raw) - len(raw.lstrip())
    begin = len(encoded[: columns[0]].decode(errors="replace")) - indent
    end = len(raw) if columns[1] is None else len(encoded[: columns[1]].decode(errors="replace"))
    return text + "\n    " + " " * begin + "^" * max(1, end - indent - begin)


def no_attribute(module, name, known):
    """The AttributeError of a module without `name`, with the nearest of the names it has."""
    hint = ""
    if not name.startswith("__"):
        import difflib

        by_lower = {k.lower(): k for k in known}
        near = difflib.get_close_matches(name.lower(), by_lower, 1)
        hint = f"\n  Did you mean '{by_lower[near[0]]}'?" if near else ""
    return AttributeError(f"{module} has no '{name}'{hint}")


def missing(module, name, known):
    """What a module gives for a name that it lacks: what stands for a refused one, else an
    AttributeError. known: gives the names that it has."""
    from mycel._refused import refused

    found = refused(module, name)
    if found is None:
        raise no_attribute(module, name, known())
    return found
