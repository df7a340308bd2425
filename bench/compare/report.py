# SPDX-License-Identifier: Apache-2.0 OR MIT
# What:      the comparison as text and as numbers: a row for each program, a column for each other allocator.
# Invariant: a ratio below 1 means that Granary needs less; an interval that contains 1 is "no difference".
# Must not know: how the samples came about.
"""Tables of ratios, and what the bars say about them."""

import statistics
from dataclasses import dataclass

from intervals import Interval, Samples, best, ratio

OURS = "granary"


@dataclass(frozen=True)
class Metric:
    """What is compared. A bar of None is only shown, not judged."""

    key: str
    title: str
    unit: str
    digits: int
    mean_bar: float | None = None
    program_bar: float | None = None  # no program's interval may lie wholly above it


class Report:
    """One metric of one set of programs on several allocators."""

    def __init__(self, metric: Metric, samples: Samples):
        self.metric = metric
        self.samples = samples
        self.programs = list(samples)
        self.others = [name for name in samples[self.programs[0]] if name != OURS]
        self.best = best(samples, self.others)
        self.ratios = {program: self._against_others([program]) for program in self.programs}
        self.means = self._against_others(self.programs)

    def _against_others(self, programs: list[str]) -> dict[str, Interval]:
        return {other: ratio(self.samples, programs, OURS, other) for other in self.others}

    def text(self) -> str:
        return "\n".join([f"{self.metric.title}: Granary's median, and its ratio to the others'; 95 % intervals",
                          *self._table(), *self._verdicts()])

    def _table(self) -> list[str]:
        header = ["", f"{OURS} {self.metric.unit}", *(f"/ {other}" for other in self.others)]
        rows = [[program, self._median(program), *map(str, self.ratios[program].values())] for program in self.programs]
        if len(self.programs) > 1:
            rows.append(["geometric mean", "", *map(str, self.means.values())])
        return aligned([header, *rows])

    def _median(self, program: str) -> str:
        return f"{statistics.median(self.samples[program][OURS]):,.{self.metric.digits}f}"

    def _verdicts(self) -> list[str]:
        mean = self.means[self.best]
        lines = [f"best of the four: {self.best}; against it {mean}"]
        if self.metric.mean_bar is not None:
            word = "met" if mean.value <= self.metric.mean_bar else "MISSED"
            lines[0] += f"; bar {self.metric.mean_bar:.2f}: {word}"
        if self.metric.program_bar is not None:
            over = self.over_program_bar()
            word = f"MISSED by {', '.join(over)}" if over else "met"
            lines.append(f"no program's interval wholly above {self.metric.program_bar:.2f}: {word}")
        return lines

    def over_program_bar(self) -> list[str]:
        return [name for name in self.programs if self.ratios[name][self.best].low > self.metric.program_bar]

    def numbers(self) -> dict:
        """The summary for the JSON file."""
        def plain(intervals: dict[str, Interval]) -> dict[str, list[float]]:
            return {name: [round(x, 4) for x in (i.value, i.low, i.high)] for name, i in intervals.items()}
        return {"metric": self.metric.key, "best_of_the_four": self.best, "geometric_means": plain(self.means),
                "ratios": {program: plain(found) for program, found in self.ratios.items()}}


def aligned(rows: list[list[str]]) -> list[str]:
    """Columns of equal width, the first to the left, the others to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))])
            for row in rows]
