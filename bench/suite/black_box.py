# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: what every allocator shows from outside besides the metrics: cache lines shared by threads, how long single
#    calls take, address space, memory over what was asked for, memory that stays after a burst.
# Invariant: a table has a row for each allocator of the run and no figure that was not measured; one without any figure
#    is left out.
# Must not know: how a table is shown.
"""Black-box figures, as tables."""

import math
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from granary_results.intervals import Samples, ratio
from granary_results.results import KIBIBYTES, NANOSECONDS, Results, in_units

SYSTEM = "system"
PERCENTILES = {"p50": "p50", "p99": "p99", "p999": "p99.9", "max": "max"}
CALLS = ("malloc", "free")
ENOUGH_REQUESTED = 16 << 20  # bytes; of less, resident memory is the program's own for the most part

# What an allocator's cell says; None where nothing was measured.
Cell = str | None
Column = Callable[[str], Cell]


@dataclass(frozen=True)
class Table:
    """`rows`: allocator to its cells, of which each has a title in `head`."""

    name: str
    head: list[str]
    rows: dict[str, list[Cell]]


def table(results: Results, name: str, columns: dict[str, Column]) -> Iterator[Table]:
    """One, or none when no cell says anything."""
    rows = {allocator: [column(allocator) for column in columns.values()] for allocator in results.names()}
    if any(cell is not None for row in rows.values() for cell in row):
        yield Table(name, list(columns), rows)


def summarised(samples: Samples, case: str, summary: Callable, shown: Callable[[float], str]) -> Column:
    """Of each allocator's values in a case."""
    by = samples.get(case, {})
    return lambda allocator: shown(summary(by[allocator].values())) if allocator in by else None


def shared_lines(results: Results) -> Iterator[Table]:
    """A mean is 0 only where none was ever seen."""
    samples = results.samples("shared_lines", zeros=True)
    cases = [case for case in samples if results.cases[case]["threads"] != 1]
    yield from table(results, "Cache lines shared by blocks in use of two threads: mean over all samples",
                     {case: summarised(samples, case, statistics.fmean, "{:.2g}".format) for case in cases})


def single_calls(results: Results) -> Iterator[Table]:
    samples = {(call, key): results.samples(f"{call}_{key}_ns") for call in CALLS for key in PERCENTILES}
    for case in results.cases:
        yield from table(results, f"Time of single calls in {case}, with the reading of the clock: medians of trials",
                         {f"{call} {words}": summarised(samples[call, key], case, statistics.median,
                                                        lambda value: in_units(value, NANOSECONDS))
                          for call in CALLS for key, words in PERCENTILES.items()})


def against_system(results: Results, key: str, shown: Callable) -> Column:
    samples = results.samples(key)
    groups = results.counted(list(samples))

    def cell(allocator: str) -> Cell:
        found = ratio(samples, groups, allocator, SYSTEM) if SYSTEM in results.names() else None
        return found and shown(found)

    return cell


def over_requested(results: Results) -> tuple[str, Column]:
    """A column with its title."""
    found: Samples = {}
    for trial in results.trials:
        requested, peak = trial.get("requested_peak_bytes", 0), trial.get("peak_kib")
        if peak and requested >= ENOUGH_REQUESTED:
            of_case = found.setdefault(trial["case"], {})
            of_case.setdefault(trial["allocator"], {})[trial["round"]] = peak * 1024 / requested
    groups = results.counted(list(found))

    def factor(allocator: str, case: str) -> float:
        return math.log(statistics.median(found[case][allocator].values()))

    def cell(allocator: str) -> Cell:
        if not groups or not all(allocator in found[case] for group in groups for case in group):
            return None
        means = (statistics.fmean(factor(allocator, case) for case in group) for group in groups)
        return f"{math.exp(statistics.fmean(means)):.2f}"

    number = sum(map(len, groups))
    return f"RSS / requested ({number} case{'' if number == 1 else 's'})", cell


def memory(results: Results) -> Iterator[Table]:
    yield from table(results, "Peak RSS and VSZ: geometric means, families weighted equally; RSS / requested in cases "
                     f"that request {ENOUGH_REQUESTED >> 20} MiB or more",
                     {f"RSS / {SYSTEM}": against_system(results, "peak_kib", str),
                      f"VSZ / {SYSTEM}": against_system(results, "peak_virtual_kib", lambda it: f"{it.value:,.2f}"),
                      **dict([over_requested(results)])})


def after_burst(results: Results) -> Iterator[Table]:
    """What stays, and the pages that hold a live block, below which no allocator comes without moving blocks."""
    columns = {}
    for title, key in (("{}", "idle_rss_kib"), ("{}, pages in use", "floor_kib")):
        samples = results.samples(key)
        columns |= {title.format(case): summarised(samples, case, statistics.median,
                                                   lambda value: in_units(value, KIBIBYTES)) for case in samples}
    yield from table(results, "Memory after a burst, when most blocks are freed: medians of the trials", columns)


def tables(results: Results) -> list[Table]:
    return [found for part in (shared_lines, single_calls, memory, after_burst) for found in part(results)]
