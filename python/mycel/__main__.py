"""`mycel` and `python -m mycel`: hand over to the C++ program in the package's bin folder."""

import os
import sys
from pathlib import Path


def main() -> None:
    program = Path(__file__).with_name("bin") / "mycel"
    try:
        os.execv(program, ["mycel", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"mycel: cannot start {program}: {error.strerror}")


if __name__ == "__main__":
    main()
