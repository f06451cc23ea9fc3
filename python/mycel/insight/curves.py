"""Curves of recorded runs as a picture, for notebooks."""

import os

from mycel import _mycel
from mycel._mycel import entry


class Plot:
    """A picture of curves: notebooks show it; save() writes it."""

    def __init__(self, svg):
        self.svg = svg

    def _repr_html_(self):
        return f'<div lang="{"zh" if "训练曲线" in self.svg else "en"}">{self.svg}</div>'

    def __repr__(self):
        return f"Plot({len(self.svg)} bytes of SVG; .save('curves.svg') writes it)"

    def save(self, path):
        """Writes an SVG file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)


@entry
def plot(run, tags=None, *, runs=None, logarithmic=False, language=None):
    """The curves of a recorded run, or of all runs below a folder, as a picture.

    run: the folder of a run, or one with runs below it. tags: a scalar's name or a list; all by
    default. runs: names of runs below the folder; all by default. language: "en" or "zh"; by
    default that of the environment (LANG).
    """
    for name, value in (("tags", tags), ("runs", runs)):
        listed = [value] if isinstance(value, str) else value
        if listed is not None and not all(isinstance(v, str) for v in listed):
            raise TypeError(f"plot: {name!r} must be a str or a list of str")
    if language is None:
        spoken = os.environ.get("LC_ALL") or os.environ.get("LANG") or ""
        language = "zh" if spoken.startswith("zh") else "en"
    if language not in ("en", "zh"):
        raise ValueError(f"plot: 'language' must be 'en' or 'zh', got {language!r}")
    as_list = lambda v: [] if v is None else [v] if isinstance(v, str) else list(v)  # noqa: E731
    return Plot(
        _mycel.insight.plot_svg(
            os.fspath(run), as_list(runs), as_list(tags), bool(logarithmic), language == "zh"
        )
    )


__all__ = ["Plot", "plot"]
