"""Checks the pages: every relative link of every tracked *.md file leads to a file, every
`#anchor` to a heading. Prints one line a broken link, exits 1 on any. No network."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")
FENCE = re.compile(r"^\s*(```|~~~)")


def prose_lines(page: Path):
    """The lines outside code blocks, numbered, with `inline code` blanked."""
    fenced = False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            yield number, re.sub(r"`[^`]*`", "``", line), line


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, made as code hosts make them."""
    found: dict[str, int] = {}
    result = set()
    for _, _, line in prose_lines(page):
        if match := re.match(r"#+\s+(.*)", line):
            name = re.sub(r"[^\w\- ]", "", match[1].strip().lower()).replace(" ", "-")
            count = found[name] = found.get(name, -1) + 1
            result.add(f"{name}-{count}" if count else name)
    return result


def check_page(tree: Path, page: Path) -> list[str]:
    broken = []
    for number, line, _ in prose_lines(page):
        for target in LINK.findall(line):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            goal = (page.parent / path).resolve() if path else page
            where = f"{page.relative_to(tree)}:{number}"
            if not goal.exists():
                broken.append(f"{where}: {target}: there is no such file")
            elif anchor and goal.suffix == ".md" and anchor not in anchors(goal):
                broken.append(f"{where}: {target}: {goal.name} has no heading #{anchor}")
    return broken


def main() -> int:
    tree = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1]).resolve()
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.md"],
        cwd=tree,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    pages = [tree / name for name in listed if (tree / name).exists()]
    broken = [line for page in pages for line in check_page(tree, page)]
    for line in broken:
        print(line)
    print(f"check_docs: {len(pages)} pages, {len(broken)} broken links")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
