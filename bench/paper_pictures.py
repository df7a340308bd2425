# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the papers' figures as this machine has them, drawn from the outputs that docs/papers/reproduction.md stands on.
# Invariant: what is drawn stands in a kept output; a picture that no output has any more is removed.
# Must not know: how anything was measured; what docs/papers/lab.md says of a picture.
"""usage: python3 bench/paper_pictures.py

Draws docs/pictures/paper-*.svg from docs/results/raw/reproduction-*.txt."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / folder) for folder in ("suite", "../test/programs")]

try:
    from draw import exhibits
    from draw.canvas import Picture, save
except ModuleNotFoundError as problem:
    if str(problem.name).partition(".")[0] != "matplotlib":
        raise
    sys.exit("paper_pictures.py: no pictures: python3-matplotlib is not installed; run: scripts/setup bench")
from intervals import Interval
from papers import PAPERS
from papers.exhibit import Exhibit
from reproduction import View

RESULTS, PICTURES = HERE.parent / "docs" / "results" / "raw", HERE.parent / "docs" / "pictures"
BEGIN = "paper-"
SUITE = re.compile(r"--suite (\w+)")
VIEW = re.compile(r"(?P<names>(?:figure|table) [^:]*): (?:throughput|time|peak resident memory) over \S")
CELLS = re.compile(r" {2,}")
NUMBER = re.compile(r"(\d+\.\d+)(?: \[(\d+\.\d+) (\d+\.\d+)\])?")
# What bench/fragmentation.py prints first of its tables, and which exhibits ask for it, by the output.
HELD = "A/U, of those that can be asked"
HELD_AS = "held by the allocator over in use, both at most (A/U)"
FRAGMENTATION = {"reproduction-containers": ("wasik", "figure 7.10"), "reproduction-fragmentation": ("hoard", "table 6")}

Key = tuple[str, str]  # a suite, and the first of an exhibit's names


def cell(text: str) -> Interval | None:
    found = NUMBER.fullmatch(text)
    if not found:
        return None
    value, low, high = (float(number or found[1]) for number in found.groups())
    return Interval(value, low, high, found[2] is not None)


def view_of(title: str, lines: list[str]) -> View:
    """A table of a kept output: the names, then a case and its cells in each line."""
    names = lines[0].split()
    rows = {}
    for line in lines[1:]:
        case, *cells = CELLS.split(line.strip())
        if len(cells) != len(names):
            raise ValueError(f"{title}: {case}: {len(cells)} cells for {len(names)} allocators")
        rows[case] = [cell(text) for text in cells]
    return View(title, names, rows)


def views_of(name: str, text: str) -> Iterator[tuple[Key, View]]:
    """Those of one output, which may be of several commands."""
    for part in re.split(r"^(?=\$ )", text, flags=re.M):
        suite = SUITE.search(part.partition("\n")[0])
        for paragraph in part.split("\n\n"):
            title, *lines = paragraph.strip("\n").split("\n")
            if suite and (found := VIEW.match(title)):
                yield (suite[1], found["names"].split(", ")[0]), view_of(title, lines)
            elif name in FRAGMENTATION and title.startswith(HELD):
                cases = [line for line in lines if not line.startswith("mean")]
                yield FRAGMENTATION[name], view_of(HELD_AS, cases)


def exhibit_of(key: Key) -> Exhibit:
    suite, name = key
    return next(exhibit for exhibit in PAPERS[suite].exhibits if exhibit.names()[0] == name)


def pictures(results: Path = RESULTS) -> list[Picture]:
    """One for each exhibit, with what all outputs have of it."""
    found: dict[Key, list[View]] = {}
    for file in sorted(results.glob("reproduction-*.txt")):
        for key, view in views_of(file.stem, file.read_text()):
            found.setdefault(key, []).append(view)
    made = []
    for key, views in sorted(found.items()):
        exhibit = exhibit_of(key)
        of = "Counted bytes" if key in FRAGMENTATION.values() else "Medians with 95 % intervals"
        says = f" The paper: {exhibit.says}" if exhibit.says else ""
        made.append(exhibits.picture(f"{BEGIN}{key[0]}-{key[1].replace(' ', '-')}", f"{exhibit.name}: {exhibit.title}",
                                     f"{of}, on two CPUs.{says}", views))
    return made


def main() -> int:
    made = pictures()
    for picture in made:
        save(picture, PICTURES)
    for path in PICTURES.glob(f"{BEGIN}*.svg"):
        if path.stem not in {picture.name for picture in made}:
            path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
