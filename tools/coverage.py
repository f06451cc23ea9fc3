"""Writes the names of the published API into docs/coverage.md: how many of each module are here,
which are refused and why, which are missing.

    python tools/coverage.py [--check]

Published names stand in tools/published_names.txt, reasons in python/mycel/_refused.py. With
--check nothing is written; exits with 1 if the page is not up to date."""

import argparse
import collections
import importlib
import re
import sys
from pathlib import Path

import mycel
from mycel._refused import Refused
from mycel.nn import Cell

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "coverage.md"
BEGIN, END = "<!-- names: written by tools/coverage.py -->", "<!-- end of names -->"
CLASSES = {
    "mycel.Tensor methods": mycel.Tensor,
    "mycel.nn.Cell methods": Cell,
    "mycel.Parameter methods": mycel.Parameter,
    "mycel.Model methods": mycel.Model,
}
# Operators that Python makes of others: x += y is x = x + y.
REBINDING = re.compile(r"__i(add|floordiv|matmul|mod|mul|sub|truediv)__")


def published():
    """{module: names} in order."""
    out, section = {}, None
    for line in (ROOT / "tools" / "published_names.txt").read_text().splitlines():
        if line.startswith("["):
            section = out.setdefault(line.strip("[]"), [])
        elif section is not None and not line.startswith("#"):
            section += line.split()
    return out


def look_up(module, name):
    """The object of a published name, or None."""
    if module in CLASSES:
        if module == "mycel.nn.Cell methods":
            return getattr(Cell, name, getattr(Cell(), name, None))
        return getattr(CLASSES[module], name, True if REBINDING.fullmatch(name) else None)
    try:
        home = importlib.import_module(module)
    except ModuleNotFoundError:
        return None
    return getattr(home, name, None)


def exists(module, name):
    """Whether a name is there, even with the value None."""
    if look_up(module, name) is not None:
        return True
    try:
        return module not in CLASSES and hasattr(importlib.import_module(module), name)
    except ModuleNotFoundError:
        return False


def wrapped(names):
    return ", ".join(f"`{n}`" for n in sorted(names))


def text():
    """The part of the page between the marks."""
    rows, refusals, absent = [], collections.defaultdict(list), {}
    for module, names in published().items():
        refused = [n for n in names if isinstance(look_up(module, n), Refused)]
        missing = [n for n in names if n not in refused and not exists(module, n)]
        works = len(names) - len(refused) - len(missing)
        rows.append(f"| `{module}` | {len(names)} | {works} | {len(refused)} | {len(missing)} |")
        for n in refused:
            home = module.removeprefix("mycel.").removesuffix(" methods")
            refusals[look_up(module, n).reason].append(f"{home}.{n}")
        if missing:
            absent[module] = missing
    out = [
        BEGIN,
        "",
        "| Module | Published names | work | refused | missing |",
        "|---|---|---|---|---|",
    ]
    out += rows
    out += [
        "",
        "Refused, with the reason that their error gives:",
        "",
        "| Names | Reason |",
        "|---|---|",
    ]
    out += [f"| {wrapped(names)} | {reason} |" for reason, names in sorted(refusals.items())]
    out += ["", "Missing: these names do not exist yet.", "", "| Module | Names |", "|---|---|"]
    out += [f"| `{module}` | {wrapped(names)} |" for module, names in absent.items()]
    return "\n".join([*out, "", END])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    page = PAGE.read_text()
    before, rest = page.split(BEGIN)
    now = before + text() + rest.split(END)[1]
    if options.check:
        if now != page:
            print("docs/coverage.md is not up to date: run python tools/coverage.py")
        return int(now != page)
    PAGE.write_text(now)
    return 0


if __name__ == "__main__":
    sys.exit(main())
