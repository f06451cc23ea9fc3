"""Checks the house rules that a compiler cannot see: who may include whom, file sizes, file names.

Levels (docs/design.md, section 2): a C++ file includes files of lower levels, of its own folder, or
of a sibling named in SIBLINGS below. Headers of a foreign library stay in the one folder that wraps
it. Run from anywhere: `tools/check_layers.py [tree]`; prints one line a violation, exits 1 on any.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

# Room -> level. A room not named here is an error, so a new one gets a level on its first day.
LEVELS = {
    "base": 0,
    "tensor": 1,
    "ir": 2,
    "loops": 2,
    "ops": 3,  # records and room headers; *.cpu.cc is at KERNEL_LEVEL
    "autodiff": 4,
    "passes": 4,
    "parallel": 4,
    "backend": 5,
    "runtime": 6,
    "nn": 7,
    "train": 7,
    "data": 7,  # but see MAX_INCLUDED: base and tensor only
    "interop": 7,
    "lite": 7,
    "insight": 7,
    "cli": 8,
    "suites": 8,
    "python": 8,
    "include": 8,  # the one header of C++ users
    # What stands beside the rooms may see everything.
    "tests": 9,
    "examples": 9,
    "bench": 9,
    "tools": 9,
}
KERNEL_LEVEL = 5

# The highest level a room may include where that is less than "everything below".
MAX_INCLUDED = {"data": 1}

# Rooms of equal level that may be included, one way only: room -> the siblings it may see.
SIBLINGS = {
    "ir": {"loops"},  # an op record names its loop kernels
    "autodiff": {"passes"},  # transforms expand composite ops first and drop dead code last
    "train": {"nn", "data"},  # Model drives layers and reads datasets
    "lite": {"interop"},
    "insight": {"nn", "train", "data"},  # a callback records a run, its network and its pipeline
}

# A family of ops: nothing outside src/ops names one.
OPS_FAMILY = re.compile(r"ops/[^/]+/")

# Headers generated from the op records (mycel/ops.h …) are for the rooms that see every op.
GENERATED_PREFIX = "mycel/"
GENERATED_MIN_LEVEL = 6
GENERATED_ANYWHERE = {"mycel/version.h"}

# Foreign headers -> the only folders that may include them.
FOREIGN = [
    (r"llvm/|llvm-c/", ["src/loops/llvm/"], "LLVM"),
    (r"dnnl|oneapi/dnnl/", ["src/backend/cpu/onednn/"], "oneDNN"),
    (r"(unsupported/)?Eigen/", ["src/ops/linalg/", "src/ops/fft/", "src/data/audio/"], "Eigen"),
    (r"nanobind/|Python\.h$", ["python/bind/"], "nanobind and Python"),
    (r"mpi\.h$", ["src/runtime/mpi/"], "MPI"),
    (r"cuda|cublas|cudnn|nccl|nvrtc", ["src/backend/cuda/"], "CUDA"),
    (r"protozero/", ["src/insight/events/"], "protozero"),
    (r"sqlite3\.h$", ["src/insight/store/", "src/data/files/mindrecord/"], "SQLite"),
    (r"httplib\.h$", ["src/lite/serve/http/", "src/insight/server/"], "cpp-httplib"),
    (r"google/protobuf|\.pb\.h$", ["src/interop/onnx/", "src/interop/tensorflow/"], "protobuf"),
    (r"CLI/", ["src/cli/", "examples/"], "CLI11"),
    (r"gtest/|gmock/", [], "GoogleTest"),
]

MAX_LINES = 1000
# Names that the published API gives.
PUBLISHED_FOLDERS = ("python/mycel/common/",)
VAGUE_NAMES = {"util", "utils", "helper", "helpers", "common", "misc"}
TOP_FOLDERS = ["include", "src", "suites", "python", "tests", "examples", "bench", "tools"]
COUNTED_SUFFIXES = {".h", ".cc", ".cu", ".fbs", ".py", ".ts", ".tsx", ".js", ".css"}
SKIPPED_FOLDERS = {"node_modules", "dist", "__pycache__"}

INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)')


@dataclass(frozen=True)
class Violation:
    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}" if self.line else f"{self.path}: {self.text}"


def is_test(path: str) -> bool:
    return path.endswith("_test.cc") or path.startswith("tests/")


def room_of(path: str) -> str:
    """The room of a path from the top of the tree: src/nn/dense.h -> nn, suites/x/y.h -> suites."""
    parts = path.split("/")
    return parts[1] if parts[0] == "src" else parts[0]


def room_of_include(target: str) -> str | None:
    """The room that `#include "target"` names; None when it is a header beside the file."""
    first = target.split("/")[0]
    if first == "bind":  # python/bind writes its own headers from python/
        return "python"
    return first if "/" in target else None


def level_of(path: str, room: str) -> int:
    if is_test(path):
        return LEVELS["tests"]
    if room == "ops" and path.endswith((".cpu.cc", ".cuda.cc", ".cpu.h")):
        return KERNEL_LEVEL
    return LEVELS[room]


def check_own_include(path: str, target: str) -> str | None:
    """Says what is wrong with `#include "target"` in path; None when nothing is."""
    if target.startswith(GENERATED_PREFIX):
        room = room_of(path)
        if target in GENERATED_ANYWHERE or level_of(path, room) >= GENERATED_MIN_LEVEL:
            return None
        return (
            f'includes "{target}", which is generated from the op records; only rooms from level '
            f"{GENERATED_MIN_LEVEL} on (runtime, nn, …) may"
        )
    room, seen = room_of(path), room_of_include(target)
    if seen is None or seen == room:
        return None
    if seen not in LEVELS:
        return f'includes "{target}": {seen}/ is not a room; is the path written from src/?'
    if path.endswith(".op.cc") and seen == "backend":
        return f'includes "{target}": a record file never sees a backend (Lite links it without)'
    if room == "ops" and level_of(path, room) == KERNEL_LEVEL and seen == "backend":
        return None
    if OPS_FAMILY.match(target) and room != "ops" and not is_test(path):
        return (
            f'includes "{target}": levels above the op rooms see op records and mycel/ops.h, '
            "never one family"
        )
    if seen in SIBLINGS.get(room, ()):
        return None
    mine, theirs = level_of(path, room), level_of(target, seen)
    limit = MAX_INCLUDED.get(room, mine - 1) if not is_test(path) else mine
    if theirs <= limit:
        return None
    return (
        f'includes "{target}": {room} is level {mine} and may include levels up to {limit}, '
        f"{seen} is level {theirs}"
    )


def check_foreign_include(path: str, target: str) -> str | None:
    for pattern, folders, name in FOREIGN:
        if not re.match(pattern, target):
            continue
        if name == "GoogleTest":
            return None if is_test(path) else f"includes <{target}>: only *_test.cc and tests/ may"
        if not any(path.startswith(folder) for folder in folders):
            return f"includes <{target}>: {name} headers belong to {' and '.join(folders)} alone"
    return None


def check_includes(path: str, lines: list[str]) -> list[Violation]:
    found = []
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        own, foreign = match.groups()
        text = check_foreign_include(path, own or foreign)
        if text is None and own is not None:
            text = check_own_include(path, own)
        if text is not None:
            found.append(Violation(path, number, text))
    return found


def check_file(tree: Path, file: Path) -> list[Violation]:
    path = file.relative_to(tree).as_posix()
    found = []
    named_by_us = path
    for folder in PUBLISHED_FOLDERS:
        named_by_us = named_by_us.removeprefix(folder)
    vague = VAGUE_NAMES.intersection(re.split(r"[_.\-/]", named_by_us.lower()))
    if vague:
        word = sorted(vague)[0]
        found.append(Violation(path, 0, f"'{word}' says nothing; name the file after what it does"))
    if file.suffix not in COUNTED_SUFFIXES:
        return found
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    if len(lines) > MAX_LINES:
        found.append(
            Violation(path, 0, f"{len(lines)} lines; the limit is {MAX_LINES}: find the seam")
        )
    if file.suffix not in {".h", ".cc", ".cu"}:
        return found
    if room_of(path) not in LEVELS:
        found.append(Violation(path, 0, f"'{room_of(path)}' has no level: name it in LEVELS"))
        return found
    return found + check_includes(path, lines)


def check_tree(tree: Path) -> list[Violation]:
    found = []
    for top in TOP_FOLDERS:
        for file in sorted((tree / top).rglob("*")):
            if file.is_file() and not SKIPPED_FOLDERS.intersection(file.parts):
                found += check_file(tree, file)
    return found


def main() -> int:
    tree = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1]).resolve()
    found = check_tree(tree)
    for violation in found:
        print(violation)
    print(f"check_layers: {len(found)} violation{'' if len(found) == 1 else 's'}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
