# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: a run of the bench as pandas data frames: trials, cases, allocators, medians and ratios with their intervals.
# Invariant: a median and a ratio are those that the bench prints, by the module intervals; what a run does not have is
#    not in a frame.
# Must not know: how a run was measured; how its numbers are drawn.
"""A run as data frames.

    from granary_results import frames
    run = frames.read("RUN.json")           # or RUN.json.gz
    frames.trials(run)                      # one row for each trial
    frames.ratios(run, over="system")       # time of each allocator over one of them, with 95 % intervals
"""

from collections.abc import Iterator
from pathlib import Path

import pandas

from .intervals import Interval, Samples, median, ratio
from .results import Results

COST, PEAK = "cost", "peak_kib"  # time for an operation in seconds, and peak memory
COLUMNS = ["value", "low", "high", "is_known"]  # of an interval


def read(path: str | Path) -> Results:
    """A file of granary bench --json, compressed or not. ValueError says in one line why a file is none."""
    return Results.load(Path(path))


def trials(run: Results) -> pandas.DataFrame:
    """One row for each trial: all that the launcher measured."""
    return pandas.DataFrame(run.trials)


def cases(run: Results) -> pandas.DataFrame:
    return pandas.DataFrame.from_dict(run.cases, orient="index").rename_axis("case")


def allocators(run: Results) -> pandas.DataFrame:
    return pandas.DataFrame(run.allocators).set_index("name").rename_axis("allocator")


def measured(run: Results, key: str) -> Samples:
    samples = run.samples(key)
    if not samples:
        raise ValueError(f"no trial of the run has {key!r}; frames.trials(run).columns has the names")
    return samples


def framed(rows: Iterator[tuple[str, str, Interval]]) -> pandas.DataFrame:
    """One row for each case and allocator. Of too few rounds the bounds say nothing, and `is_known` is False."""
    table = [(case, allocator, found.value, found.low, found.high, found.is_known) for case, allocator, found in rows]
    return pandas.DataFrame(table, columns=["case", "allocator", *COLUMNS]).set_index(["case", "allocator"])


def medians(run: Results, key: str = COST) -> pandas.DataFrame:
    """The median over the rounds."""
    return framed((case, allocator, median(rounds)) for case, by in measured(run, key).items()
                  for allocator, rounds in by.items())


def ratios(run: Results, over: str, key: str = COST) -> pandas.DataFrame:
    """The median of each allocator over that of one of them."""
    samples = measured(run, key)
    if over not in run.names():
        raise ValueError(f"{over}: not an allocator of the run; it has {', '.join(run.names())}")

    def rows() -> Iterator[tuple[str, str, Interval]]:
        for case, by in samples.items():
            for allocator in by:
                if over in by and (found := ratio(samples, [[case]], allocator, over)):
                    yield case, allocator, found

    return framed(rows())


def means(run: Results, over: str, key: str = COST) -> pandas.DataFrame:
    """The geometric mean of the ratios: each family of cases counts the same, each case the same in its family."""
    samples = measured(run, key)
    groups = run.counted(list(samples))
    found = {name: ratio(samples, groups, name, over) for name in run.names() if groups}
    table = {name: [mean.value, mean.low, mean.high, mean.is_known] for name, mean in found.items() if mean}
    return pandas.DataFrame.from_dict(table, orient="index", columns=COLUMNS).rename_axis("allocator")


def written(frame: pandas.DataFrame) -> pandas.Series:
    """Each interval as the bench writes it: value [low high]."""
    texts = [str(Interval(*row)) for row in frame[COLUMNS].itertuples(index=False)]
    return pandas.Series(texts, index=frame.index, dtype=object)


def table(frame: pandas.DataFrame) -> pandas.DataFrame:
    """Written intervals: an allocator in each row, a case in each column, in the order of the frame; - for none."""
    rows, columns = (list(dict.fromkeys(frame.index.get_level_values(level))) for level in ("allocator", "case"))
    return written(frame).unstack("case").reindex(index=rows, columns=columns).fillna("-")


def error_bars(frame: pandas.DataFrame) -> list[pandas.Series]:
    """How far an interval goes below and above its value, as matplotlib's errorbar wants it."""
    # A bound that equals the value may be computed some last digits beyond it.
    return [(frame["value"] - frame["low"]).clip(lower=0), (frame["high"] - frame["value"]).clip(lower=0)]
