"""Signatures of classes that come from C++ records."""

import inspect


def signature_of(args, *before):
    """An inspect.Signature of a record's arguments, after the parameters named in `before`."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(name, kind) for name in before]
    open_default = False
    for name, has_default, default in args:
        open_default |= has_default
        value = default if has_default else (None if open_default else inspect.Parameter.empty)
        parameters.append(inspect.Parameter(name, kind, default=value))
    return inspect.Signature(parameters)


def documentation(record):
    """The text of a class: the record's, and its arguments."""
    lines = [record["doc"], ""]
    if record.get("in"):
        lines.append(f"Inputs: {', '.join(record['in'])}.")
    for name, has_default, default in record["args"]:
        lines.append(f"{name}: {f'default {default!r}' if has_default else 'required'}.")
    return "\n".join(lines)
