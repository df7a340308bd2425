# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the papers' figures as this machine has them, drawn from the outputs that docs/papers/reproduction.md stands on.
# Invariant: what is drawn stands in a kept output; a picture that no output has any more is removed.
# Must not know: how anything was measured; what docs/papers/lab.md says of a picture.
"""usage: python3 bench/paper_pictures.py

Draws docs/pictures/paper-*.svg from docs/results/raw/reproduction-*.txt, hoard-example.txt and short-lived.txt."""

import re
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / folder) for folder in ("suite", "../test/programs")]

try:
    from draw import exhibits, lifetimes, stacks
    from draw.canvas import Picture, save
except ModuleNotFoundError as problem:
    if str(problem.name).partition(".")[0] != "matplotlib":
        raise
    sys.exit("paper_pictures.py: no pictures: python3-matplotlib is not installed; run: scripts/setup bench")
from box import Box
from fragmentation_parts import Fragmentation
from granary_results.intervals import Interval
from papers import PAPERS
from papers.exhibit import EXTERNAL, Exhibit, Number, Paper
from reproduction import A_CURVE, NOT_MEASURED, NUMBERS, Compared, View, in_the_papers_words

RESULTS, PICTURES = HERE.parent / "docs" / "results" / "raw", HERE.parent / "docs" / "pictures"
BEGIN = "paper-"
SUITE = re.compile(r"--suite (\w+)")
EXHIBIT = r"(?P<names>(?:figure|table|section) [^:]*)"
VIEW = re.compile(rf"{EXHIBIT}: (?:throughput|solver throughput|time|peak resident memory|single runs) "
                  r"over \S")
NUMBERS_OF = re.compile(rf"{EXHIBIT}: {NUMBERS}")
COMPARED = re.compile(r"(?P<what>[a-z ]+), (?P<of>[^;]*)(?:; (?P<at>.*))?")
CELLS = re.compile(r" {2,}")
NUMBER = re.compile(r"(\d+\.\d+)(?: \[(\d+\.\d+) (\d+\.\d+)\])?")
BOX = re.compile(r"\d+\.\d+(?: \d+\.\d+){4}")
LEAST = 0.005  # what an output rounds to 0.00 is below it; a logarithmic axis has no zero
# Of the tables that bench/fragmentation.py prints, and which exhibits ask for them, by the output.
HELD, ROOM = "A/U, of those that can be asked", "room in blocks over requested bytes"
HELD_AS = "held by the allocator over in use, both at most (A/U)"
PARTS_AS = "bytes over requested; filled internal, pale external"
PARTS_ARE = "Headers are in the external part. recycle-N has N threads, consume-N has N consumers."
FRAGMENTATION = {"reproduction-fragmentation": ("hoard", "table 6")}
PARTED = {"reproduction-containers": ("wasik", "figure 7.10")}

# What test/lab/claims/hoard_example_test.cpp prints.
EXAMPLE, EXAMPLE_OF = "hoard-example.txt", ("hoard", "figure 1")
EXAMPLE_NOTE = "freed blocks that t1 (violet), t2 (orange), both (green) find"
STEP = re.compile(r"(?P<name>[a-z-]+), (?P<step>.*): found by t1 (\d+), by t2 (\d+), by both (\d+)")
# What bench/short_lived.py prints.
SHORT_LIVED, SHORT_LIVED_OF = "short-lived.txt", ("wasik", "figure A.9")
STRETCH = re.compile(r"^(?P<name>[a-z0-9-]+): allocated at .*\n(?P<points>.+)$", re.MULTILINE)

Key = tuple[str, str]  # a suite, and the first of an exhibit's names


def cell(text: str) -> Interval | Box | None:
    if BOX.fullmatch(text):
        return Box(*(max(float(number), LEAST) for number in text.split()))
    found = NUMBER.fullmatch(text)
    if not found:
        return None
    value, low, high = (max(float(number or found[1]), LEAST) for number in found.groups())
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


def cases_of(lines: list[str]) -> list[str]:
    """A table of bench/fragmentation.py without its mean."""
    return [line for line in lines if not line.startswith("mean")]


def parts_of(paragraphs: list[list[str]], paper: Paper, exhibit: Exhibit) -> tuple[View, list[Compared]]:
    """Internal and external fragmentation by the paper's allocators, and the paper's numbers beside ours: geometric means
    over the cases."""
    room, external = (view_of(title, cases_of(next(lines[1:] for lines in paragraphs if lines[0].startswith(title))))
                      for title in (ROOM, f"{EXTERNAL}:"))
    names = [name for name in external.names if name in paper.stands_for.values()]
    cases = exhibit.counted[0].cases

    def value(view: View, case: str, name: str) -> float:
        return view.rows[case][view.names.index(name)].value

    rows = {case: [Fragmentation(value(room, case, name) - 1, value(external, case, name)) for name in names]
            for case in cases}

    def compared(number: Number) -> Compared:
        top, bottom = (paper.stands_for[name] for name in (number.top, number.bottom))
        ratio = statistics.geometric_mean(value(external, case, top) / value(external, case, bottom) for case in cases)
        return Compared("fragmentation", f"external, {number.top} / {number.bottom}, {len(cases)} runs", number.theirs_at, number.theirs,
                        Interval(ratio, ratio, ratio), ", ".join(cases))

    return View(PARTS_AS, names, rows), [compared(number) for number in exhibit.counted]


Found = View | list[Compared]


def shown_in(name: str, text: str) -> Iterator[tuple[Key, Found]]:
    """What can be drawn of one output, which may be of several commands."""
    for part in re.split(r"^(?=\$ )", text, flags=re.M):
        suite = SUITE.search(part.partition("\n")[0])
        if name in PARTED and part:
            key = PARTED[name]
            paragraphs = [paragraph.strip("\n").split("\n") for paragraph in part.split("\n\n")]
            yield from ((key, found) for found in parts_of(paragraphs, PAPERS[key[0]], exhibit_of(key)))
        for paragraph in part.split("\n\n"):
            title, *lines = paragraph.strip("\n").split("\n")
            if suite and (found := VIEW.match(title)):
                yield (suite[1], found["names"].split(", ")[0]), view_of(title, lines)
            elif suite and (found := NUMBERS_OF.match(title)):
                yield (suite[1], found["names"].split(", ")[0]), compared_of(lines)
            elif name in FRAGMENTATION and title.startswith(HELD):
                yield FRAGMENTATION[name], view_of(HELD_AS, cases_of(lines))


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


def of_today(views: list[View], paper: Paper) -> list[View]:
    """Those with today's stand-ins, if there are any: an older one would be drawn under the same names."""
    return [view for view in views if paper.of_run(view.names).stands_for == paper.stands_for] or views


def caption(key: Key, paper: Paper, exhibit: Exhibit) -> str:
    of = "Counted bytes" if key in (*FRAGMENTATION.values(), *PARTED.values()) else "Medians with 95 % intervals"
    says = f" The paper: {exhibit.says}" if exhibit.says else ""
    parts = f" {PARTS_ARE}" if key in PARTED.values() else ""
    return f"{of}, on two CPUs; the paper's machine: {paper.machine}.{parts}{says}"


def named(key: Key) -> tuple[str, str]:
    """Of a picture the name and the title."""
    paper, exhibit = PAPERS[key[0]], exhibit_of(key)
    return (f"{BEGIN}{key[0]}-{key[1].replace(' ', '-')}",
            f"{paper.title.partition(':')[0]}, {exhibit.name}: {exhibit.title}")


def example(results: Path) -> Picture:
    """Figure 1 of Hoard: a panel for each allocator, a row for each step."""
    by_name: dict[str, dict[str, tuple[int, int, int]]] = {}
    for found in STEP.finditer((results / EXAMPLE).read_text()):
        by_name.setdefault(found["name"], {})[found["step"]] = tuple(map(int, found.groups()[2:]))
    name, title = named(EXAMPLE_OF)
    return Picture(name, title, f"Counted by address, after each step. The paper: {exhibit_of(EXAMPLE_OF).says}",
                   [stacks.of_example(each, EXAMPLE_NOTE, steps) for each, steps in by_name.items()], is_headed=True)


def short_lived(results: Path) -> Picture:
    """Figure A.9 of the thesis: a panel for each program."""
    name, title = named(SHORT_LIVED_OF)
    return Picture(name, title, f"Counted in calls of malloc and free. The thesis: {exhibit_of(SHORT_LIVED_OF).says}",
                   [lifetimes.panel(found["name"], [tuple(map(int, point.split(","))) for point in found["points"].split()])
                    for found in STRETCH.finditer((results / SHORT_LIVED).read_text())], is_headed=True)


def pictures(results: Path = RESULTS) -> list[Picture]:
    """One for each exhibit, with what all outputs have of it."""
    found: dict[Key, list[Found]] = {}
    for file in sorted(results.glob("reproduction-*.txt")):
        for key, shown in shown_in(file.stem, file.read_text()):
            found.setdefault(key, []).append(shown)
    made = [example(results), short_lived(results)]
    for key, shown in sorted(found.items()):
        paper, exhibit = PAPERS[key[0]], exhibit_of(key)
        views = [in_the_papers_words(each, paper, exhibit)
                 for each in of_today([each for each in shown if isinstance(each, View)], paper)]
        compared = all_compared([each for each in shown if isinstance(each, list)])
        if not views and not any(each.ours for each in compared):
            continue  # the paper alone
        made.append(exhibits.picture(*named(key), caption(key, paper, exhibit), compared, views))
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
