"""Log lines of programs, on standard error. Warnings and errors are shown; GLOG_v=0, 1, 2, 3 or 4
in the environment (or MYCEL_LOG_LEVEL=debug, info, warning, error, off) shows more or less. Texts
take arguments as in Python's logging: `log.info("step %s", n)`."""

import traceback

from mycel import _mycel

_DEBUG, _INFO, _WARNING, _ERROR = range(4)


def _log(level, msg, args, exc_info=None, stack_info=False):
    if not _mycel.log_enabled("user", level):
        return
    text = str(msg)
    if args:
        text %= args[0] if len(args) == 1 and isinstance(args[0], dict) else args
    if exc_info:
        error = exc_info if isinstance(exc_info, BaseException) else None
        text += "\n" + (
            "".join(traceback.format_exception(error)) if error else traceback.format_exc()
        )
    if stack_info:
        text += "\n" + "".join(traceback.format_stack()[:-2])
    _mycel.log(level, "user", text.rstrip("\n"))


def debug(msg, *args, **kwargs):
    """A line of level debug. exc_info: an error, or True for the one being handled; stack_info:
    whether to show where it was called."""
    _log(_DEBUG, msg, args, **kwargs)


def info(msg, *args, **kwargs):
    """A line of level info; options as debug."""
    _log(_INFO, msg, args, **kwargs)


def warning(msg, *args, **kwargs):
    """A line of level warning; options as debug."""
    _log(_WARNING, msg, args, **kwargs)


def error(msg, *args, **kwargs):
    """A line of level error; options as debug."""
    _log(_ERROR, msg, args, **kwargs)


def critical(msg, *args, **kwargs):
    """A line of level error: there is none above it."""
    _log(_ERROR, msg, args, **kwargs)


def get_level():
    """The least level that is shown, as the text of a number: "0" (debug) to "4" (nothing)."""
    return str(_mycel.user_log_level())


def get_log_config():
    """The settings, by the names that they have in the environment."""
    return {"GLOG_v": get_level(), "GLOG_logtostderr": "1"}


__all__ = ["critical", "debug", "error", "get_level", "get_log_config", "info", "warning"]
