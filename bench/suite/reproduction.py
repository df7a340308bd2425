# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: a paper's tables and figures beside what was measured: its numbers and ours as ratios, and every allocator
#    over the paper's base.
# Invariant: a number of ours comes from trials of this run, with its interval; what was not measured is said to be so.
# Must not know: how it is shown; which papers there are.
"""A run, read as a paper."""

import statistics
from dataclasses import dataclass, field

from black_box import Cell, Table
from box import Box, box_of
from fragmentation_parts import Fragmentation
from granary_results.intervals import Interval, Samples, ratio
from papers.exhibit import (CPUS, MEMORY, MEMORY_OVER_BASE, OVER_BASE, OVER_BASE_ALONE, OVER_ITSELF, RUNS,
                            SOLVER_OVER_BASE_ALONE, SOLVER_THROUGHPUT, THROUGHPUT, TIME, TIME_OVER_BASE, Exhibit, Number,
                            Paper)
from granary_results.results import Results

ALONE = 1
KEYS = {TIME: "cost", THROUGHPUT: "cost", SOLVER_THROUGHPUT: "solve_seconds", MEMORY: "peak_kib"}
VIEWED = {OVER_BASE: THROUGHPUT, OVER_BASE_ALONE: THROUGHPUT, OVER_ITSELF: THROUGHPUT, TIME_OVER_BASE: TIME,
          MEMORY_OVER_BASE: MEMORY, SOLVER_OVER_BASE_ALONE: SOLVER_THROUGHPUT, RUNS: THROUGHPUT}
INVERSE = (THROUGHPUT, SOLVER_THROUGHPUT)  # of what is measured
NOT_MEASURED = "not measured"
A_CURVE = "a curve"
NUMBERS = "their numbers and ours"

# What a cell of a view can be.
Shape = Interval | Box | Fragmentation

# Of a side of a ratio: what it was measured with, case and allocator.
Side = tuple[str, str]


@dataclass(frozen=True)
class View:
    """`rows`: case to a ratio, or what else a cell can be, for each of `names`; None: not measured, or held against
    itself."""

    title: str
    names: list[str]
    rows: dict[str, list[Shape | None]]

    def table(self) -> Table:
        return Table(self.title, self.names, {case: [interval and str(interval) for interval in found]
                                              for case, found in self.rows.items()})


@dataclass(frozen=True)
class Compared:
    """One of the paper's numbers beside ours. `of`: two of the paper's allocators, and what they ran; `at`: on what, in
    the paper's words. `theirs` is None if the paper's text has only the shape of it; `ours` if it was not measured."""

    what: str
    of: str
    at: str
    theirs: float | None
    ours: Interval | None
    cases: str

    def row(self) -> tuple[str, list[Cell]]:
        title = f"{self.what}, {self.of}"
        return f"{title}; {self.at}" if self.at else title, [
            A_CURVE if self.theirs is None else f"{self.theirs:.2f}", str(self.ours) if self.ours else NOT_MEASURED,
            self.cases if self.ours else None]


@dataclass(frozen=True)
class Shown:
    """An exhibit: its names, a title, sentences and tables. `compared` and `views` are what of the tables can be
    drawn."""

    name: str
    title: str
    sentences: list[str]
    tables: list[Table]
    compared: list[Compared] = field(default_factory=list)
    views: list[View] = field(default_factory=list)


def in_the_papers_words(view: View, paper: Paper, exhibit: Exhibit) -> View:
    """The allocators under the paper's names. Left out is an allocator with options that the exhibit does not
    show."""
    paper = paper.of_run(view.names)
    names = {ours: theirs for theirs, ours in reversed(paper.stands_for.items())}
    in_numbers = (name for number in exhibit.numbers for name in (number.top, number.bottom))
    asked = {paper.stands_for[name] for name in (*in_numbers, *exhibit.variants)}
    kept = [place for place, name in enumerate(view.names) if ":" not in name.partition(":")[2] or name in asked]
    base = paper.stands_for[paper.base]
    return View(view.title.replace(f"{base}'s", f"{paper.base}'s"),
                [names.get(view.names[place], view.names[place]) for place in kept],
                {case: [found[place] for place in kept] for case, found in view.rows.items()})


def over(samples: Samples, what: str, tops: list[Side], bottoms: list[Side]) -> Interval | None:
    """The geometric mean of the ratios of pairs of sides, in `what`; None: one of them was not measured."""
    made: Samples = {}
    for number, (top, bottom) in enumerate(zip(tops, bottoms)):
        top, bottom = (bottom, top) if what in INVERSE else (top, bottom)
        made[str(number)] = {"top": samples.get(top[0], {}).get(top[1], {}),
                             "bottom": samples.get(bottom[0], {}).get(bottom[1], {})}
        if not all(made[str(number)].values()):
            return None
    return ratio(made, [list(made)], "top", "bottom") if made else None


class Reading:
    """A run and the paper that it is read as."""

    def __init__(self, results: Results, paper: Paper):
        self.results, self.paper = results, paper.of_run(results.names())
        self.samples = {what: results.samples(key) for what, key in KEYS.items()}
        self.base = self.paper.stands_for[paper.base]

    def case(self, label: str, threads: int | None) -> str | None:
        """A workload with so many threads, or a program."""
        return next((name for name, facts in self.results.cases.items()
                     if facts["label"] == label and facts["threads"] in (threads, None)), None)

    def cases(self, label: str) -> list[str]:
        return [name for name, facts in self.results.cases.items() if facts["label"] == label]

    def cases_of(self, number: Number, wanted: tuple[int, ...]) -> list[str]:
        """Those that were measured of the numbers of threads that are wanted."""
        cpus = self.results.machine.get("cpus", 0)
        wanted = [cpus if threads == CPUS else threads for threads in wanted or (ALONE,)]
        found = [self.case(label, threads) for label in number.cases for threads in wanted]
        return list(dict.fromkeys(case for case in found if case))

    def compared(self, number: Number) -> Compared:
        top, bottom = (self.paper.stands_for[name] for name in (number.top, number.bottom))
        cases = self.cases_of(number, number.threads)
        below = self.cases_of(number, (ALONE,)) if number.alone else cases
        found = over(self.samples[number.what], number.what, [(case, top) for case in cases],
                     [(case, bottom) for case in below]) if len(cases) == len(below) else None
        return Compared(number.what, f"{number.top} / {number.bottom}, {', '.join(number.cases)}", number.theirs_at,
                        number.theirs, found, ", ".join(cases))

    def bottom_of(self, view: str, case: str, allocator: str) -> Side | None:
        """What an allocator's figure in a case is held against."""
        alone = self.case(self.results.cases[case]["label"], ALONE)
        if view == OVER_ITSELF:
            return None if alone in (case, None) else (alone, allocator)
        if view in (OVER_BASE_ALONE, SOLVER_OVER_BASE_ALONE):
            return alone and (alone, self.base)
        return case, self.base

    def box(self, case: str, allocator: str) -> Box | None:
        """The throughput of single runs over the base's median with one thread, or of the same program."""
        alone = self.case(self.results.cases[case]["label"], ALONE)
        costs, base = (self.samples[THROUGHPUT].get(of, {}).get(name, {})
                       for of, name in ((case, allocator), (alone, self.base)))
        return box_of([statistics.median(base.values()) / cost for cost in costs.values()]) if costs and base else None

    def view(self, exhibit: Exhibit, view: str) -> View | None:
        """None where nothing is known."""
        what, names = VIEWED[view], self.results.names()
        rows: dict[str, list[Shape | None]] = {}
        for case in (case for label in exhibit.cases for case in self.cases(label)):
            if view == RUNS:
                if any(boxes := [self.box(case, name) for name in names]):
                    rows[case] = boxes
                continue
            bottoms = [self.bottom_of(view, case, name) for name in names]
            found = [over(self.samples[what], what, [(case, name)], [bottom]) if bottom else None
                     for name, bottom in zip(names, bottoms)]
            if any(found):
                rows[case] = found
        return View(f"{exhibit.name}: {view.replace('the base', self.base)}", names, rows) if rows else None

    def exhibit(self, exhibit: Exhibit) -> Shown:
        told = [f"The paper: {exhibit.says}"] if exhibit.says else []
        if exhibit.why_not:
            told.append(f"Not reproduced: {exhibit.why_not}.")
        if exhibit.elsewhere:
            told.append(f"See: {exhibit.elsewhere}.")
        compared = [self.compared(number) for number in exhibit.numbers]
        rows = dict(each.row() for each in compared)
        tables = [Table(f"{exhibit.name}: {NUMBERS}", ["theirs", "ours", "measured in"], rows)] if rows else []
        views = [view for each in exhibit.views if (view := self.view(exhibit, each))]
        tables += [view.table() for view in views]
        if exhibit.cases and not any(self.cases(label) for label in exhibit.cases):
            told.append(f"Not measured: {', '.join(exhibit.cases)}.")
        return Shown(exhibit.name, f"{exhibit.name}: {exhibit.title} ({exhibit.where})", told, tables, compared,
                     [in_the_papers_words(view, self.paper, exhibit) for view in views])

    def who_stands_for_whom(self) -> list[str]:
        """What must be known before the ratios."""
        measured = self.results.names()
        told = [f"{theirs} = {ours}" + ("" if ours in measured else f" ({NOT_MEASURED})")
                for theirs, ours in self.paper.stands_for.items()]
        return [f"The paper's machine: {self.paper.machine}. Compare only ratios and the shapes of curves.",
                f"The paper's allocators and their stand-ins here: {', '.join(told)}. The base is {self.paper.base}.",
                *(f"No allocator here stands for {theirs}: {why}." for theirs, why in self.paper.without.items())]

    def all(self) -> list[Shown]:
        """Of the whole paper; what is alike and needs no table comes together, last."""
        found = [self.exhibit(exhibit) for exhibit in self.paper.exhibits if exhibit.cases]
        told = {}
        for exhibit in self.paper.exhibits:
            if not exhibit.cases:
                sentence = " ".join(self.exhibit(exhibit).sentences)
                told.setdefault(sentence, []).extend(exhibit.names())
        rest = [f"{', '.join(names)}: {sentence}" for sentence, names in told.items()]
        return [Shown("", f"{self.paper.title} ({self.paper.source})", self.who_stands_for_whom(), []), *found,
                *([Shown("", "What is measured elsewhere or not at all", rest, [])] if rest else [])]
