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
from granary_results.intervals import Interval
from papers import PAPERS
from papers.exhibit import Exhibit, Paper
from reproduction import A_CURVE, NOT_MEASURED, NUMBERS, Compared, View, in_the_papers_words

RESULTS, PICTURES = HERE.parent / "docs" / "results" / "raw", HERE.parent / "docs" / "pictures"
BEGIN = "paper-"
SUITE = re.compile(r"--suite (\w+)")
VIEW = re.compile(r"(?P<names>(?:figure|table) [^:]*): (?:throughput|time|peak resident memory) over \S")
NUMBERS_OF = re.compile(rf"(?P<names>(?:figure|table) [^:]*): {NUMBERS}")
COMPARED = re.compile(r"(?P<what>[a-z]+), (?P<of>[^;]*)(?:; (?P<at>.*))?")
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


def compared_of(lines: list[str]) -> list[Compared]:
    """The rows below the head of a table of numbers."""
    rows = []
    for line in lines[1:]:
        title, theirs, ours, cases = CELLS.split(line.strip())
        found = COMPARED.fullmatch(title)
        if not found:
            raise ValueError(f"{title}: no quantity and allocators")
        rows.append(Compared(found["what"], found["of"], found["at"] or "", None if theirs == A_CURVE else float(theirs),
                             None if ours == NOT_MEASURED else cell(ours), cases))
    return rows


Found = View | list[Compared]


def shown_in(name: str, text: str) -> Iterator[tuple[Key, Found]]:
    """What can be drawn of one output, which may be of several commands."""
    for part in re.split(r"^(?=\$ )", text, flags=re.M):
        suite = SUITE.search(part.partition("\n")[0])
        for paragraph in part.split("\n\n"):
            title, *lines = paragraph.strip("\n").split("\n")
            if suite and (found := VIEW.match(title)):
                yield (suite[1], found["names"].split(", ")[0]), view_of(title, lines)
            elif suite and (found := NUMBERS_OF.match(title)):
                yield (suite[1], found["names"].split(", ")[0]), compared_of(lines)
            elif name in FRAGMENTATION and title.startswith(HELD):
                cases = [line for line in lines if not line.startswith("mean")]
                yield FRAGMENTATION[name], view_of(HELD_AS, cases)


def exhibit_of(key: Key) -> Exhibit:
    suite, name = key
    return next(exhibit for exhibit in PAPERS[suite].exhibits if exhibit.names()[0] == name)


def all_compared(tables: list[list[Compared]]) -> list[Compared]:
    """Each number once: several outputs measured some of them."""
    found: dict[tuple[str, str, str], Compared] = {}
    for row in (row for table in tables for row in table):
        key = (row.what, row.of, row.at)
        if key not in found or not found[key].ours:
            found[key] = row
    return list(found.values())


def caption(key: Key, paper: Paper, exhibit: Exhibit) -> str:
    of = "Counted bytes" if key in FRAGMENTATION.values() else "Medians with 95 % intervals"
    says = f" The paper: {exhibit.says}" if exhibit.says else ""
    return f"{of}, on two CPUs; the paper's machine: {paper.machine}.{says}"


def pictures(results: Path = RESULTS) -> list[Picture]:
    """One for each exhibit, with what all outputs have of it."""
    found: dict[Key, list[Found]] = {}
    for file in sorted(results.glob("reproduction-*.txt")):
        for key, shown in shown_in(file.stem, file.read_text()):
            found.setdefault(key, []).append(shown)
    made = []
    for key, shown in sorted(found.items()):
        paper, exhibit = PAPERS[key[0]], exhibit_of(key)
        views = [in_the_papers_words(each, paper, exhibit) for each in shown if isinstance(each, View)]
        compared = all_compared([each for each in shown if isinstance(each, list)])
        if not views and not any(each.ours for each in compared):
            continue  # the paper alone
        made.append(exhibits.picture(f"{BEGIN}{key[0]}-{key[1].replace(' ', '-')}",
                                     f"{paper.title.partition(':')[0]}, {exhibit.name}: {exhibit.title}",
                                     caption(key, paper, exhibit), compared, views))
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
